"""The supervised connection to one mothership: it keeps the hub's picture of it true.

One link is one task with its own back-off, so that a slow or dead mothership touches no other. An owner's link follows
the live stream; any other token polls the list. Beside the feed it reads open questions, follows the logs of opened
colonies, and carries what lies in the outbox.
"""

import asyncio
import random
from collections.abc import Awaitable, Callable
from typing import Protocol, TypeVar

from msgspec.structs import replace

from colonizer_client.clock import Clock
from colonizer_client.errors import (
    ClientError,
    Forbidden,
    NoReply,
    Refusal,
    ServerFault,
    SignInNeeded,
    Unreachable,
    Unreadable,
)
from colonizer_client.identity import ColonyId, ColonyKey, EndpointName
from colonizer_client.mothership import calls, stream, wire
from colonizer_client.mothership.calls import Call
from colonizer_client.mothership.carrier import Carrier
from colonizer_client.mothership.decode import Rows
from colonizer_client.mothership.follow import Follower
from colonizer_client.mothership.http import HttpTransport
from colonizer_client.mothership.models import Colony, Standing
from colonizer_client.mothership.questions import QuestionReader
from colonizer_client.mothership.recorder import Recorder
from colonizer_client.outbox import Outbox
from colonizer_client.reconnection import BACKOFF_LIMIT_S, BackOff, leaves, unless_woken
from colonizer_client.snapshot import (
    ColoniesListed,
    ColonyChanged,
    ColonyRemoved,
    EndpointChanged,
    EndpointState,
    Health,
    HubEvent,
)

T = TypeVar("T")

POLL_S = 3.0
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
        self._clock = clock
        self._chance = chance or random.Random()
        self._wake = asyncio.Event()
        self._transport: HttpTransport | None = None
        self._recorder: Recorder | None = None
        self._known: frozenset[ColonyId] = frozenset()
        """The colonies of the last whole list."""
        self._back_off = BackOff(self._chance)
        self._questions = QuestionReader(self.name, self.run_call, post, clock)
        self._carrier = Carrier(self.name, outbox, self.run_call, post, self._questions.read_again, clock)
        self._followers: dict[ColonyId, Follower] = {}
        self._tasks: asyncio.TaskGroup | None = None
        self._following: dict[ColonyId, asyncio.Task[None]] = {}

    async def run(self) -> None:
        """Keeps the connection up until it is cancelled."""
        while True:
            self._wake.clear()
            self._set(health=Health.CONNECTING, retry_at=None)
            if await unless_woken(self._attempt(), self._wake):
                await self._wait()

    async def run_call(self, call: Call[T], /) -> T:
        """The result of one call over the open connection.

        Raises:
            ClientError: The link is not up (Unreachable), or the call's own errors.
        """
        if self._transport is None:
            raise Unreachable(self._state.error or f"{self.name} is not connected")
        result = await self._transport.run(call)
        self._note_measures()
        return result

    def reconnect(self) -> None:
        """Connects anew at once, with the token that is kept now: also after a refused one, also while it is up."""
        self._back_off.reset()
        self._wake.set()

    def record(self, recorder: Recorder | None) -> None:
        """Shows what passes from now on, over reconnections, to this recorder, or to nobody."""
        self._recorder = recorder
        if self._transport is not None:
            self._transport.record(recorder)

    @property
    def followed(self) -> tuple[ColonyId, ...]:
        """The colonies whose logs are followed."""
        return tuple(self._followers)

    async def woken(self) -> None:
        """Returns when `reconnect` was called."""
        self._wake.clear()
        await self._wake.wait()

    def fail(self, words: str) -> None:
        """Notes a fault of our own, which ends all traffic until the person acts."""
        self._set(health=Health.SIGNED_OUT, error=words, retry_at=None)

    def fill_outbox(self) -> None:
        """Says that something was put into the outbox."""
        self._carrier.fill()

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
            raise Unreachable("open the colony first: an interrupt goes over its log's socket")
        await follower.send({"type": "interrupt"})

    async def _attempt(self) -> None:
        """One connection, from its beginning to its end; its failure becomes the link's state in words."""
        transport = None
        try:
            self._set(notice="")
            self._transport = transport = await self._connector.open(self._notice)
            transport.record(self._recorder)
            await self._serve(transport, await self._standing(transport))
        except* ClientError as ended:
            self._note_end(tuple(leaves(ended)))
        finally:
            self._transport = None
            if transport is not None:
                await transport.close()

    def _note_end(self, causes: tuple[BaseException, ...]) -> None:
        """A refused token outweighs what else failed: nothing is asked again until the person acts.

        Of other refusals only those of the token's standing and of the list come this far.
        """
        if self._state.health is Health.LIVE and self._clock.now() - self._state.since > BACKOFF_LIMIT_S:
            self._back_off.reset()
        refused = [cause for cause in causes if isinstance(cause, SignInNeeded | Forbidden)]
        health = Health.SIGNED_OUT if refused else Health.SILENT
        error = str((refused or causes)[0])
        self._set(health=health, error=error, fault=error, fault_at=self._clock.now())

    async def _standing(self, transport: HttpTransport) -> Standing | None:
        """What the token may do, None where an older server does not tell."""
        try:
            return await transport.run(calls.standing(), timeout_s=STANDING_TIMEOUT_S)
        except (SignInNeeded, Forbidden):
            raise
        except (Refusal, Unreadable):
            return None

    async def _serve(self, transport: HttpTransport, standing: Standing | None) -> None:
        version = await _or(transport.run(calls.server_version()), "")
        if self._state.version not in ("", version):
            told = version or "one that is not told"
            self._notice(f"it came back as another version: {told} after {self._state.version}")
        self._set(
            standing=standing,
            version=version,
            is_polled=standing is not None and not standing.is_owner,
            token_place=transport.token_place,
        )
        if self._state.is_local:
            status = await _or(transport.run(calls.server_status()), {})
            self._set(sandbox=wire.word(wire.mapping(status.get("sandbox")).get("provider")))
        try:
            async with asyncio.TaskGroup() as tasks:
                self._tasks = tasks
                tasks.create_task(self._questions.run())
                tasks.create_task(self._carrier.run())
                for colony in self._followers:
                    self._start_following(colony)
                await self._feed(transport, standing)
                raise NoReply("the live stream ended")
        finally:
            self._tasks = None
            self._following.clear()

    async def _feed(self, transport: HttpTransport, standing: Standing | None) -> None:
        if standing is None or standing.is_owner:
            try:
                await self._stream(transport)
                return
            except SignInNeeded:
                raise
            except (Refusal, Unreadable):
                self._set(is_polled=True)  # an older server without the stream, or a token that may not see it
        rows = Rows(self.name)
        while True:
            self._listed(*await transport.run(calls.colonies(self.name, rows)))
            await self._clock.sleep(POLL_S)

    async def _stream(self, transport: HttpTransport) -> None:
        async with transport.socket(calls.stream_path()) as socket:
            async for message in socket:
                try:
                    self._take(stream.frame(self.name, message))
                except Unreadable:
                    self._set(unreadable_rows=self._state.unreadable_rows + 1)

    def _take(self, frame: stream.StreamFrame | None) -> None:
        match frame:
            case stream.Listed(colonies, unreadable):
                self._listed(colonies, unreadable)
            case stream.Changed(colony):
                self._changed(colony)
            case stream.Removed(colony_id):
                self._questions.forget(colony_id)
                self._post(ColonyRemoved(ColonyKey(self.name, colony_id)))
            case None:
                pass

    def _listed(self, colonies: tuple[Colony, ...], unreadable: int) -> None:
        before, self._known = self._known, frozenset(colony.key.colony for colony in colonies)
        if self._state.health is not Health.LIVE and before and self._known.isdisjoint(before):
            self._notice("none of the colonies known before is there: it may be another mothership")
        self._post(ColoniesListed(self.name, colonies))
        self._questions.consider_all(colonies)
        self._set(health=Health.LIVE, error="", retry_at=None, as_of=self._clock.now(), unreadable_rows=unreadable)

    def _changed(self, colony: Colony) -> None:
        self._post(ColonyChanged(colony))
        self._questions.consider(colony)

    def _start_following(self, colony: ColonyId) -> None:
        if self._tasks is not None and self._transport is not None and colony not in self._following:
            following = self._followers[colony].run(self._transport, self._seen_in_log)
            try:
                self._following[colony] = self._tasks.create_task(following)
            except RuntimeError:  # this connection is ending; the next one has it followed
                following.close()

    def _seen_in_log(self, colony: Colony | None, colony_id: ColonyId) -> None:
        if colony is not None:
            self._changed(colony)
        else:
            self._questions.read_again(colony_id)

    async def _wait(self) -> None:
        if self._state.health is Health.SIGNED_OUT:
            await self._wake.wait()
            return
        pause = self._back_off.pause_s()
        self._set(retry_at=self._clock.now() + pause)
        await unless_woken(self._clock.sleep(pause), self._wake)

    def _notice(self, words: str) -> None:
        self._set(notice=" · ".join(filter(None, (self._state.notice, words))))

    def _note_measures(self) -> None:
        transport = self._transport
        if transport is not None and transport.latency_s != self._state.latency_s:
            self._set(latency_s=transport.latency_s, skew_s=transport.skew_s)

    def _set(self, **changes: object) -> None:
        changed = replace(self._state, **changes)
        if changed.health is not self._state.health:
            changed = replace(changed, since=self._clock.now())
        if changed != self._state:
            self._state = changed
            self._post(EndpointChanged(changed))


async def _or(reading: Awaitable[T], default: T) -> T:
    """What is read, or a default where an older server has no such route."""
    try:
        return await reading
    except SignInNeeded:
        raise
    except (Refusal, ServerFault, Unreadable):
        return default
