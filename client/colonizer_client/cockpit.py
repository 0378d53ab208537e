"""The running client layer: the hub, one link for each endpoint, drafts and the outbox. Faces talk to this."""

import asyncio
import uuid
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from typing import TypeVar

from colonizer_client import answers
from colonizer_client.answers import AnswerBody, Chosen
from colonizer_client.approvals.desk import ApprovalDesk
from colonizer_client.clock import Clock, SystemClock
from colonizer_client.drafts import Drafts
from colonizer_client.errors import ClientError, StoreError, Unreachable
from colonizer_client.hub import Hub, Subscription
from colonizer_client.identity import ColonyKey, EndpointName
from colonizer_client.kernel.desk import Kernels
from colonizer_client.kernel.offer_desk import OfferDesk
from colonizer_client.mothership import calls
from colonizer_client.mothership.calls import Call
from colonizer_client.mothership.link import Connector, MothershipLink
from colonizer_client.mothership.models import (
    Colony,
    LaunchOrder,
    Leftovers,
    LocalRepository,
    OpenQuestion,
    TokenOrder,
    TokenRecord,
)
from colonizer_client.mothership.recorder import Recorder
from colonizer_client.outbox import Delivery, Outbox
from colonizer_client.reconnection import supervise
from colonizer_client.snapshot import (
    ApprovalsChanged,
    ColoniesListed,
    ColonyChanged,
    DeliveryChanged,
    DetailRead,
    DiffChanged,
    DiffState,
    EndpointChanged,
    EndpointRemoved,
    EndpointState,
    HubEvent,
    Snapshot,
    TranscriptChanged,
)
from colonizer_client.store import Store
from colonizer_client.threads import OwnThreads
from colonizer_config.token import Token

T = TypeVar("T")

CLOSED_KEPT = 8
"""Transcripts of colonies that were closed last and can be seen at once when they are opened again."""


class Cockpit:
    """Everything a face needs, for one event loop.

    `open_store` gives the cockpit's database; where it raises StoreError the cockpit runs without drafts, sends no
    answers and says so in `store_error`.
    """

    def __init__(self, open_store: Callable[[], Store], clock: Clock | None = None) -> None:
        self.clock = clock or SystemClock()
        self.hub = Hub()
        self.store_error = ""
        self._links: dict[EndpointName, MothershipLink] = {}
        self._store: Store | None = None
        self._outbox: Outbox | None = None
        self._open_store = open_store
        self._tasks: asyncio.TaskGroup | None = None
        self._running: dict[EndpointName, asyncio.Task[None]] = {}
        self._closed: deque[ColonyKey] = deque()
        self.kernels = Kernels(self.hub.post, lambda: self.store, self.clock)
        """The colony kernels, and what is done with them."""
        self.offers = OfferDesk(self.hub, self.kernels, lambda: self.store, self.clock)
        """What colonies came to, offered to be recorded in a kernel."""
        self.approvals = ApprovalDesk(lambda: self.store, self.clock)
        """The calls of agents that wait for the person."""

    @property
    def snapshot(self) -> Snapshot:
        """Everything that is known now."""
        return self.hub.snapshot

    @property
    def store(self) -> Store:
        """The cockpit's database.

        Raises:
            StoreError: It cannot be used.
        """
        if self._store is None:
            try:
                self._store = self._open_store()
                self.store_error = ""
            except StoreError as problem:
                self.store_error = str(problem)
                raise
        return self._store

    @property
    def drafts(self) -> Drafts:
        """What was typed and not sent; raises StoreError when the database cannot be used."""
        return Drafts(self.store, self.clock)

    def subscribe(self) -> Subscription:
        """A view of the hub for one reader."""
        return self.hub.subscribe()

    def add(self, state: EndpointState, connector: Connector) -> None:
        """Adds a mothership; it is connected to as soon as the cockpit runs.

        One that is there under this name is let go, with all that was known through it; logs that are open stay open.
        """
        before = self._let_go(state.name)

        def post(event: HubEvent) -> None:
            if self._links.get(state.name) is link:
                self.hub.post(event)

        link = MothershipLink(state, connector, post, self._opened_outbox, self.clock)
        self._links[state.name] = link
        if before is not None:
            self.hub.post(ColoniesListed(state.name, ()))
            for colony in before.followed:
                link.follow(colony)
        self.hub.post(EndpointChanged(state))
        if (outbox := self._opened_outbox()) is not None:
            for delivery in outbox.unsettled(state.name):
                self.hub.post(DeliveryChanged(delivery))
        self._start(link)

    def remove(self, endpoint: EndpointName) -> None:
        """Lets go of a mothership and of what was known through it. What was typed for it stays in the store."""
        self._let_go(endpoint)
        self.hub.post(EndpointRemoved(endpoint))

    def rename(self, endpoint: EndpointName, name: EndpointName) -> None:
        """Lets go of a mothership that is to be added again under another name: what was typed for it goes along.

        Raises:
            StoreError: That cannot be written; the mothership is let go all the same.
        """
        self.remove(endpoint)
        self.store.rename_endpoint(endpoint, name)

    def _let_go(self, endpoint: EndpointName) -> MothershipLink | None:
        running = self._running.pop(endpoint, None)
        if running is not None:
            running.cancel()
        return self._links.pop(endpoint, None)

    async def run(self) -> None:
        """Keeps every link up until it is cancelled. The loop is given threads that its end does not wait for."""
        asyncio.get_running_loop().set_default_executor(OwnThreads())
        try:
            async with asyncio.TaskGroup() as tasks:
                self._tasks = tasks
                for link in self._links.values():
                    self._start(link)
                self.kernels.start(tasks)
                self.offers.start(tasks)
                tasks.create_task(self._follow_approvals())
                await asyncio.Event().wait()
        finally:
            self._tasks = None
            self._running.clear()
            self.kernels.stop()
            self.offers.stop()
            if self._store is not None:
                self._store.close()
            self._store = self._outbox = None

    async def _follow_approvals(self) -> None:
        async for waiting in self.approvals.changes():
            self.hub.post(ApprovalsChanged(waiting))

    def reconnect(self, endpoint: EndpointName) -> None:
        """Connects anew at once, with the token that is kept now."""
        self._link(endpoint).reconnect()

    def record(self, endpoint: EndpointName) -> Recorder:
        """Records what goes over the wire to a mothership, until `stop_recording`."""
        recorder = Recorder(self.clock)
        self._link(endpoint).record(recorder)
        return recorder

    def stop_recording(self, endpoint: EndpointName) -> None:
        """Records no more; what was recorded goes with the recorder."""
        link = self._links.get(endpoint)
        if link is not None:
            link.record(None)

    def open(self, key: ColonyKey) -> None:
        """Follows the colony's log from now on."""
        self._link(key.endpoint).follow(key.colony)
        if key in self._closed:
            self._closed.remove(key)

    def close(self, key: ColonyKey) -> None:
        """Lets go of the colony's log; what was read of the last few stays to be seen."""
        link = self._links.get(key.endpoint)
        if link is None:
            return  # it went with its mothership
        link.unfollow(key.colony)
        if key not in self._closed:
            self._closed.append(key)
        while len(self._closed) > CLOSED_KEPT:
            self.hub.post(TranscriptChanged(self._closed.popleft(), None))

    async def load_older(self, key: ColonyKey) -> None:
        """Reads the next older page of an opened colony's log."""
        await self._link(key.endpoint).load_older(key.colony)

    async def read_detail(self, key: ColonyKey) -> None:
        """Reads what only the answer for one colony holds.

        Raises:
            ClientError: It cannot be read.
        """
        detail = await self._run(key.endpoint, calls.colony(key.endpoint, key.colony))
        self.hub.post(DetailRead(key, detail))
        self.hub.post(ColonyChanged(detail.colony))

    async def read_diff(self, key: ColonyKey) -> None:
        """Reads the colony's diff; a failure is said in its state and the last one kept, as when it is left."""
        had = self.snapshot.diffs.get(key, DiffState())
        self.hub.post(DiffChanged(key, DiffState(had.diff, had.as_of, is_loading=True)))
        try:
            diff = await self._run(key.endpoint, calls.diff(key.colony))
        except ClientError as problem:
            self.hub.post(DiffChanged(key, DiffState(had.diff, had.as_of, error=str(problem))))
        except asyncio.CancelledError:
            self.hub.post(DiffChanged(key, had))
            raise
        else:
            self.hub.post(DiffChanged(key, DiffState(diff, self.clock.now())))

    def answer(self, key: ColonyKey, question: OpenQuestion, chosen: Sequence[Chosen]) -> Delivery:
        """Puts the answer to a whole card on its way; the hub tells of its fate.

        Raises:
            UnmatchedAnswer: A prompt is not answered.
            OnItsWay: Another answer to the same question is being delivered.
            StoreError: It cannot be stored, so that it is not sent either.
        """
        return self._post_answer(key, question, answers.from_card(question, chosen))

    def say(self, key: ColonyKey, text: str) -> Delivery:
        """Puts a message to the agent on its way.

        Raises:
            StoreError: It cannot be stored, so that it is not sent either.
        """
        return self._send(self._stored_outbox().put_message(key, text))

    async def interrupt(self, key: ColonyKey) -> None:
        """Stops the colony's turn, not the colony."""
        await self._link(key.endpoint).interrupt(key.colony)

    async def stop(self, key: ColonyKey) -> bool:
        """Stops the colony; True when it had ended already."""
        colony, had_ended = await self._run(key.endpoint, calls.stop(key.endpoint, key.colony))
        self.hub.post(ColonyChanged(colony))
        return had_ended

    async def resume(self, key: ColonyKey, agent_env: Mapping[str, str] | None = None) -> Colony:
        """Starts or queues the colony's next run."""
        return await self._changing(key, calls.resume(key.endpoint, key.colony, agent_env))

    async def keep(self, key: ColonyKey) -> Colony:
        """Keeps a superseded colony."""
        return await self._changing(key, calls.keep(key.endpoint, key.colony))

    async def clean_up(self, key: ColonyKey) -> Colony:
        """Removes the colony's worktree and artifacts; the branch stays."""
        return await self._changing(key, calls.clean_up(key.endpoint, key.colony))

    async def publish(self, key: ColonyKey) -> Colony:
        """Publishes the colony's work as a pull request."""
        return await self._changing(key, calls.publish(key.endpoint, key.colony))

    async def leftovers(self, key: ColonyKey) -> Leftovers:
        """What cleaning up would lose. Only the local engine tells.

        Raises:
            ClientError: The mothership does not tell (`NotFound`), or any other failure.
        """
        return await self._run(key.endpoint, calls.leftovers(key.colony))

    async def launch(self, endpoint: EndpointName, order: LaunchOrder) -> Colony:
        """Starts a colony.

        Raises:
            Conflict: Among others, another colony holds the issue: see `decode.holder` of its body.
            ClientError: Any other refusal, or no connection.
        """
        colony = await self._run(endpoint, calls.launch(endpoint, order))
        self.hub.post(ColonyChanged(colony))
        return colony

    async def mark_seen(self, key: ColonyKey) -> None:
        """Notes that a person looked at the colony's failure."""
        await self._run(key.endpoint, calls.seen(key.colony))
        await self.read_detail(key)

    async def prewarm(self, key: ColonyKey) -> None:
        """Asks for a suspended colony to be brought back before it is answered."""
        await self._run(key.endpoint, calls.prewarm(key.colony))

    async def repositories(self, endpoint: EndpointName) -> tuple[LocalRepository, ...]:
        """The repositories that the local engine knows."""
        return await self._run(endpoint, calls.local_repositories())

    async def add_repository(self, endpoint: EndpointName, path: str) -> LocalRepository:
        """Makes the repository around an absolute path known to the local engine.

        Raises:
            ClientError: There is none, or none in which colonies can work, among others.
        """
        return await self._run(endpoint, calls.add_local_repository(path))

    async def tokens(self, endpoint: EndpointName) -> tuple[TokenRecord, ...]:
        """The scoped tokens of a mothership, for its owner."""
        return await self._run(endpoint, calls.tokens())

    async def mint_token(self, endpoint: EndpointName, order: TokenOrder) -> Token:
        """Makes a scoped token. It is told this once."""
        return await self._run(endpoint, calls.mint_token(order))

    async def revoke_token(self, endpoint: EndpointName, token: TokenRecord) -> None:
        """Revokes a scoped token: from now on it opens nothing."""
        await self._run(endpoint, calls.revoke_token(token.id_raw))

    def idempotency_key(self) -> str:
        """A key that makes the repetition of one launch harmless."""
        return uuid.uuid4().hex

    def _post_answer(self, key: ColonyKey, question: OpenQuestion, body: AnswerBody) -> Delivery:
        return self._send(self._stored_outbox().put_answer(key, question, body))

    def _send(self, delivery: Delivery) -> Delivery:
        self.hub.post(DeliveryChanged(delivery))
        self._link(delivery.key.endpoint).fill_outbox()
        return delivery

    async def _changing(self, key: ColonyKey, call: Call[Colony]) -> Colony:
        colony = await self._run(key.endpoint, call)
        self.hub.post(ColonyChanged(colony))
        return colony

    async def _run(self, endpoint: EndpointName, call: Call[T]) -> T:
        return await self._link(endpoint).run_call(call)

    def _link(self, endpoint: EndpointName) -> MothershipLink:
        link = self._links.get(endpoint)
        if link is None:
            raise Unreachable(f"{endpoint} is not connected to")
        return link

    def _stored_outbox(self) -> Outbox:
        outbox = self._opened_outbox()
        if outbox is None:
            raise StoreError(f"nothing is sent that cannot be stored first: {self.store_error}")
        return outbox

    def _opened_outbox(self) -> Outbox | None:
        if self._outbox is None:
            try:
                self._outbox = Outbox(self.store, self.clock)
            except StoreError:
                return None
        return self._outbox

    def _start(self, link: MothershipLink) -> None:
        if self._tasks is not None and link.name not in self._running:
            self._running[link.name] = self._tasks.create_task(supervise(link))
