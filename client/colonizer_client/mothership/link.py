"""The supervised connection to one mothership: it keeps the hub's picture of it true.

One link is one task with its own back-off, so that a slow or dead mothership touches no other. An owner's link follows
the live stream; any other token polls the list. Beside the feed it reads open questions, follows the logs of opened
colonies, and carries what lies in the outbox.
"""

import asyncio
import random
from collections.abc import Awaitable, Callable
from dataclasses import replace
from typing import Protocol, TypeVar, cast

from colonizer_client.clock import Clock
from colonizer_client.courier import Courier
from colonizer_client.errors import ClientError, Forbidden, LinkError, NotFound, Refusal, SignInNeeded, Unreadable
from colonizer_client.identity import ColonyId, ColonyKey, EndpointName
from colonizer_client.mothership import calls, decode, wire
from colonizer_client.mothership.calls import Call
from colonizer_client.mothership.follow import Follower
from colonizer_client.mothership.http import HttpTransport
from colonizer_client.mothership.models import Colony, Standing
from colonizer_client.mothership.questions import QuestionReader
from colonizer_client.outbox import Delivery, Outbox
from colonizer_client.snapshot import (
    ColoniesListed,
    ColonyChanged,
    ColonyRemoved,
    DeliveryChanged,
    EndpointChanged,
    EndpointState,
    Health,
    HubEvent,
)

T = TypeVar("T")

POLL_S = 3.0
BACKOFF_FIRST_S = 1.0
BACKOFF_LIMIT_S = 10.0
STANDING_TIMEOUT_S = 10.0


class Connector(Protocol):
    """Opens the transport to one endpoint: finds its token, starts what has to be started."""

    async def open(self, notice: Callable[[str], None]) -> HttpTransport:
        """A transport, ready to be used; `notice` takes something to know that is no failure.

        Raises:
            ClientError: There is no token, or the local engine cannot be started.
        """
        ...


class MothershipLink:
    """The connection to one mothership. `post` takes what happened, in order."""

    def __init__(
        self,
        state: EndpointState,
        connector: Connector,
        post: Callable[[HubEvent], None],
        outbox: Callable[[], Outbox | None],
        clock: Clock,
        chance: random.Random | None = None,
    ) -> None:
        self.name: EndpointName = state.name
        self._state = state
        self._connector = connector
        self._post = post
        self._outbox = outbox
        self._clock = clock
        self._chance = chance or random.Random()
        self._wake = asyncio.Event()
        self._outbox_filled = asyncio.Event()
        self._transport: HttpTransport | None = None
        self._failures = 0
        self._questions = QuestionReader(self.name, self.run_call, post)
        self._followers: dict[ColonyId, Follower] = {}
        self._tasks: asyncio.TaskGroup | None = None
        self._following: dict[ColonyId, asyncio.Task[None]] = {}

    @property
    def state(self) -> EndpointState:
        """The connection as it is now."""
        return self._state

    async def run(self) -> None:
        """Keeps the connection up until it is cancelled."""
        while True:
            self._wake.clear()
            await self._attempt()
            await self._wait()

    async def run_call(self, call: Call[T], /) -> T:
        """The result of one call over the open connection.

        Raises:
            ClientError: The link is not up (LinkError), or the call's own errors.
        """
        if self._transport is None:
            raise LinkError(self._state.error or f"{self.name} is not connected")
        result = await self._transport.run(call)
        self._note_measures()
        return result

    def reconnect(self) -> None:
        """Tries again at once, also after a refused token."""
        self._wake.set()

    async def woken(self) -> None:
        """Returns when `reconnect` was called."""
        self._wake.clear()
        await self._wake.wait()

    def fail(self, words: str) -> None:
        """Notes a fault of our own, which ends all traffic until the person acts."""
        self._set(health=Health.SIGNED_OUT, error=words, retry_at=None)

    def fill_outbox(self) -> None:
        """Says that something was put into the outbox."""
        self._outbox_filled.set()

    def follow(self, colony: ColonyId) -> None:
        """Follows a colony's log from now on, over reconnections."""
        if colony not in self._followers:
            self._followers[colony] = Follower(ColonyKey(self.name, colony), self._post, self._clock, self._chance)
            self._start_following(colony)

    def unfollow(self, colony: ColonyId) -> None:
        """Lets go of a colony's log."""
        self._followers.pop(colony, None)
        task = self._following.pop(colony, None)
        if task is not None:
            task.cancel()

    async def load_older(self, colony: ColonyId) -> None:
        """Reads the next older page of a followed colony's log."""
        follower = self._followers.get(colony)
        if follower is not None:
            await follower.load_older(self.run_call)

    async def interrupt(self, colony: ColonyId) -> None:
        """Stops the colony's turn, not the colony. There is no route for it: it goes over the events socket.

        Raises:
            ClientError: The log is not followed, or the socket is down.
        """
        follower = self._followers.get(colony)
        if follower is None:
            raise LinkError("open the colony first: an interrupt goes over its log's socket")
        await follower.send({"type": "interrupt"})

    async def _attempt(self) -> None:
        """One connection, from its beginning to its end; its failure becomes the link's state in words."""
        transport = None
        try:
            self._transport = transport = await self._connector.open(self._notice)
            standing = await transport.run(calls.standing(), timeout_s=STANDING_TIMEOUT_S)
            self._failures = 0
            await self._serve(transport, standing)
        except* (SignInNeeded, Forbidden) as refused:
            self._set(health=Health.SIGNED_OUT, error=str(_first(refused)))
        except* ClientError as failed:
            self._set(health=Health.SILENT, error=str(_first(failed)))
        finally:
            self._transport = None
            if transport is not None:
                await transport.close()

    async def _serve(self, transport: HttpTransport, standing: Standing) -> None:
        version = await _or_empty(transport.run(calls.server_version()))
        self._set(standing=standing, version=version, is_polled=not standing.is_owner)
        if self._state.is_local:
            status = await transport.run(calls.server_status())
            self._set(sandbox=wire.word(wire.mapping(status.get("sandbox")).get("provider")))
        try:
            async with asyncio.TaskGroup() as tasks:
                self._tasks = tasks
                tasks.create_task(self._questions.run())
                tasks.create_task(self._carry())
                for colony in self._followers:
                    self._start_following(colony)
                await self._feed(transport, standing)
                raise LinkError("the live stream ended")
        finally:
            self._tasks = None
            self._following.clear()

    async def _feed(self, transport: HttpTransport, standing: Standing) -> None:
        if standing.is_owner:
            try:
                await self._stream(transport)
                return
            except (NotFound, Unreadable):
                self._set(is_polled=True)  # an older server without the stream
        while True:
            colonies, unreadable = await transport.run(calls.colonies(self.name))
            self._listed(colonies, unreadable)
            await self._clock.sleep(POLL_S)

    async def _stream(self, transport: HttpTransport) -> None:
        async with transport.socket(calls.stream_path()) as socket:
            async for message in socket:
                self._take_stream_frame(message)

    def _take_stream_frame(self, message: str | bytes) -> None:
        body = message.encode("utf-8", "surrogatepass") if isinstance(message, str) else message
        try:
            fields = wire.mapping(wire.parse(body))
            match fields.get("type"):
                case "sessions":
                    self._listed(*decode.colonies(self.name, body))
                case "session":
                    self._changed(decode.colony(self.name, fields.get("session")))
                case "session_removed":
                    key = ColonyKey(self.name, ColonyId(wire.raw(fields.get("id"))))
                    self._questions.forget(key.colony)
                    self._post(ColonyRemoved(key))
                case _:
                    return
        except Unreadable:
            self._set(unreadable_rows=self._state.unreadable_rows + 1)

    def _listed(self, colonies: tuple[Colony, ...], unreadable: int) -> None:
        self._post(ColoniesListed(self.name, colonies))
        for colony in colonies:
            self._questions.consider(colony)
        self._set(health=Health.LIVE, error="", retry_at=None, as_of=self._clock.now(), unreadable_rows=unreadable)

    def _changed(self, colony: Colony) -> None:
        self._post(ColonyChanged(colony))
        self._questions.consider(colony)

    async def _carry(self) -> None:
        """Brings what lies in the outbox, each delivery in a task of its own: a slow one holds up no other."""
        carried: dict[str, asyncio.Task[None]] = {}
        async with asyncio.TaskGroup() as tasks:
            while True:
                self._outbox_filled.clear()
                outbox = self._outbox()
                carried = {delivery_id: task for delivery_id, task in carried.items() if not task.done()}
                for delivery in () if outbox is None else outbox.unsettled(self.name):
                    if outbox is not None and delivery.id not in carried:
                        courier = Courier(outbox, lambda changed: self._post(DeliveryChanged(changed)))
                        carried[delivery.id] = tasks.create_task(self._deliver(courier, delivery))
                await self._outbox_filled.wait()

    async def _deliver(self, courier: Courier, delivery: Delivery) -> None:
        while True:
            try:
                await courier.deliver(delivery, self.run_call)
                break
            except LinkError:
                await self._clock.sleep(BACKOFF_FIRST_S)
        self._questions.read_again(delivery.key.colony)

    def _start_following(self, colony: ColonyId) -> None:
        if self._tasks is not None and self._transport is not None and colony not in self._following:
            follower = self._followers[colony]
            task = self._tasks.create_task(follower.run(self._transport, self._seen_in_log))
            self._following[colony] = task

    def _seen_in_log(self, colony: Colony | None, colony_id: ColonyId) -> None:
        if colony is not None:
            self._changed(colony)
        else:
            self._questions.read_again(colony_id)

    async def _wait(self) -> None:
        if self._state.health is Health.SIGNED_OUT:
            await self._wake.wait()
        else:
            self._failures += 1
            longest = min(BACKOFF_FIRST_S * 2 ** (self._failures - 1), BACKOFF_LIMIT_S)
            pause = longest * self._chance.uniform(0.5, 1.0)
            self._set(retry_at=self._clock.now() + pause)
            await self._sleep_or_wake(pause)
        self._set(health=Health.CONNECTING, retry_at=None)

    async def _sleep_or_wake(self, seconds: float) -> None:
        sleeping = asyncio.ensure_future(self._clock.sleep(seconds))
        waking = asyncio.ensure_future(self._wake.wait())
        try:
            await asyncio.wait({sleeping, waking}, return_when=asyncio.FIRST_COMPLETED)
        finally:
            sleeping.cancel()
            waking.cancel()

    def _notice(self, words: str) -> None:
        self._set(notice=words)

    def _note_measures(self) -> None:
        transport = self._transport
        if transport is not None and transport.latency_s != self._state.latency_s:
            self._set(latency_s=transport.latency_s, skew_s=transport.skew_s)

    def _set(self, **changes: object) -> None:
        changed = replace(self._state, **changes)  # type: ignore[arg-type]  # the names are the state's own
        if changed.health is not self._state.health:
            changed = replace(changed, since=self._clock.now())
        if changed != self._state:
            self._state = changed
            self._post(EndpointChanged(changed))


def _first(error: BaseException) -> BaseException:
    """The first error that is no group: a link's end has one cause."""
    while isinstance(error, BaseExceptionGroup):
        error = cast(BaseException, error.exceptions[0])
    return error


async def _or_empty(reading: Awaitable[str]) -> str:
    try:
        return await reading
    except (Refusal, Unreadable):
        return ""  # an older server without the route
