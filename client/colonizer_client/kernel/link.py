"""The supervised connection to one kernel: it keeps the hub's picture of it true while somebody watches.

Nothing is started before somebody looks. An embedded kernel tells its whole field and every change; any other is asked
for its status every second, and for its cells one by one.
"""

import asyncio
import random
from collections.abc import Callable
from typing import TypeVar

from msgspec.structs import replace

from colonizer_client.clock import Clock
from colonizer_client.endpoint_state import EndpointState, Health
from colonizer_client.errors import (
    BadRequest,
    ClientError,
    ConsentNeeded,
    Forbidden,
    NotOffered,
    RateLimited,
    SignInNeeded,
    StoreError,
    ToolFailed,
    Unreachable,
    Unreadable,
)
from colonizer_client.kernel import calls
from colonizer_client.kernel.calls import Call
from colonizer_client.kernel.models import Name
from colonizer_client.kernel.pace import Pacer
from colonizer_client.kernel.picture import Picture
from colonizer_client.kernel.sampler import Sampler, Step
from colonizer_client.kernel.session import Connector, KernelSession
from colonizer_client.kernel.view import Condition, KernelView
from colonizer_client.mcp.consents import ConsentAsked
from colonizer_client.reconnection import BACKOFF_LIMIT_S, BackOff, leaves, unless_woken

T = TypeVar("T")

POLL_S = 1.0
SAMPLE_S = 0.1
"""Between two steps of sampling: half of the calls that the pace allows are left for the person."""

REST_S = 0.5
"""How often a sampler without anything to do looks again."""

GATHER_S = 0.2
"""Changes that come within this are taken together."""

PROFILES_S = 1.0
LIMITED_PAUSE_S = 5.0

_FAILED_CALL = (ToolFailed, Unreadable, BadRequest, NotOffered)
"""What one call's failure says nothing about the connection."""


class KernelLink:
    """The connection to one kernel. `post` takes each new view; `consent` says what has to be agreed to first."""

    def __init__(
        self,
        state: EndpointState,
        connector: Connector,
        post: Callable[[KernelView], None],
        clock: Clock,
        consent: Callable[[], ConsentAsked | None] = lambda: None,
        chance: random.Random | None = None,
    ) -> None:
        self._state = state
        self._connector = connector
        self._post = post
        self._clock = clock
        self._consent = consent
        self._back_off = BackOff(chance or random.Random())
        self._pacer = Pacer(clock)
        self.picture = Picture(state)
        self._sampler = Sampler(self.picture)
        self._session: KernelSession | None = None
        self._mode = ""
        self._wake = asyncio.Event()
        self._wanted = asyncio.Event()
        self._watched = asyncio.Event()
        self._settled = asyncio.Event()
        """The last attempt has come to an end, or is live."""
        self._watchers = 0
        self._last_change = 0
        self._posted: KernelView | None = None

    async def run(self) -> None:
        """Keeps the connection up, once it is wanted, until it is cancelled."""
        while True:
            await self._wanted.wait()
            self._wake.clear()
            if not self._may_start():
                self._settled.set()
                await self._wake.wait()
                continue
            self._set(health=Health.CONNECTING, retry_at=None)
            if await unless_woken(self._attempt(), self._wake):
                self._settled.set()
                await self._wait()

    def watch(self) -> None:
        """Connects where that was not done yet, and reads on from now on; to be undone by `unwatch`."""
        self._watchers += 1
        self._watched.set()
        self.want()

    def unwatch(self) -> None:
        """Reads no more once nobody watches; the connection stays."""
        self._watchers = max(self._watchers - 1, 0)
        if not self._watchers:
            self._watched.clear()

    @property
    def watchers(self) -> int:
        """How many watch."""
        return self._watchers

    def want(self) -> None:
        """Connects where that was not done yet."""
        if not self._wanted.is_set():
            self._wanted.set()
            self.picture.set(is_wanted=True)
            self.publish()

    def reconnect(self) -> None:
        """Connects anew at once."""
        self._back_off.reset()
        self._settled.clear()
        self._wake.set()
        self.want()

    async def ready(self) -> None:
        """Returns when the kernel can be called.

        Raises:
            ClientError: It cannot be connected to, or not before the person acts.
        """
        self.want()
        while self._session is None:
            await self._settled.wait()
            self._refuse_unless_live()

    async def run_call(self, call: Call[T]) -> T:
        """The result of one call over the open connection.

        Raises:
            ClientError: There is none (Unreachable, ConsentNeeded), or the call's own errors.
        """
        self.want()
        self._refuse_unless_live()
        assert self._session is not None, "a live connection has one"
        try:
            return await self._session.run(call)
        except RateLimited:
            self.picture.note_limited(self._clock.now())
            self.publish()
            raise

    def sample_first(self, places: list[Name]) -> None:
        """Has these places sampled before others."""
        self._sampler.put_first(places)

    async def woken(self) -> None:
        """Returns when `reconnect` was called."""
        self._wake.clear()
        await self._wake.wait()

    def fail(self, words: str) -> None:
        """Notes a fault of our own, which ends all traffic until the person acts."""
        self._set(health=Health.SIGNED_OUT, error=words, retry_at=None)
        self._settled.set()

    def publish(self) -> None:
        """Hands on the view of all that is known now, where it is another one."""
        view = self.picture.refresh(self._clock.now())
        if view is not self._posted:
            self._posted = view
            self._post(view)

    def _may_start(self) -> bool:
        """Whether nothing has to be agreed to first."""
        try:
            consent = self._consent()
        except StoreError as problem:
            self._set(health=Health.SIGNED_OUT, error=f"it cannot be told what was agreed to: {problem}")
            return False
        self.picture.set(consent=consent)
        self.publish()
        return consent is None

    def _refuse_unless_live(self) -> None:
        """Raises why there is no connection."""
        if self._session is not None:
            return
        view = self.picture.view
        if view.condition is Condition.CONSENT_NEEDED:
            raise ConsentNeeded(f"{self._state.name} is not started: {view.health_words}")
        raise Unreachable(self._state.error or f"{self._state.name} is not connected yet")

    async def _attempt(self) -> None:
        """One connection, from its beginning to its end; its failure becomes the link's state in words."""
        try:
            async with self._connector.open(self._mode) as wire:
                self._mode = wire.facts.mode
                session = KernelSession(wire, self._pacer, is_embedded=self._connector.is_embedded)
                self.picture.opened(session.preset, session.capabilities)
                await self._serve(session)
        except* ClientError as ended:
            self._note_end(tuple(leaves(ended)))
        finally:
            self._session = None

    def _note_end(self, causes: tuple[BaseException, ...]) -> None:
        """What the person has to act on outweighs what else failed: nothing is asked again until then."""
        if self._state.health is Health.LIVE and self._clock.now() - self._state.since > BACKOFF_LIMIT_S:
            self._back_off.reset()
        final = [cause for cause in causes if isinstance(cause, SignInNeeded | Forbidden | NotOffered)]
        health = Health.SIGNED_OUT if final else Health.SILENT
        error = str((final or causes)[0])
        self._set(health=health, error=error, fault=error, fault_at=self._clock.now())

    async def _wait(self) -> None:
        if self._state.health is Health.SIGNED_OUT:
            await self._wake.wait()
            return
        pause = self._back_off.pause_s()
        self._set(retry_at=self._clock.now() + pause)
        await unless_woken(self._clock.sleep(pause), self._wake)

    async def _serve(self, session: KernelSession) -> None:
        has_stream = session.capabilities.has_operator_calls
        if has_stream:
            await self._catch_up(session)
        await self._read_status(session)
        self._session = session
        self._set(health=Health.LIVE, error="", retry_at=None)
        self._settled.set()
        async with asyncio.TaskGroup() as tasks:
            tasks.create_task(self._poll(session))
            tasks.create_task(self._follow(session) if has_stream else self._sample(session))

    # What is read while somebody watches

    async def _poll(self, session: KernelSession) -> None:
        while True:
            await self._clock.sleep(POLL_S)
            await self._watched.wait()
            try:
                await self._read_status(session)
            except RateLimited:
                self.picture.note_limited(self._clock.now())
                self.publish()
                await self._clock.sleep(LIMITED_PAUSE_S)
            except _FAILED_CALL as problem:
                self._set(notice=f"its status cannot be read: {problem}")

    async def _read_status(self, session: KernelSession) -> None:
        asked_at = self._clock.now()
        status = await session.run(calls.status())
        now = self._clock.now()
        self.picture.take_status(status, asked_at, now)
        self._set(as_of=now, latency_s=session.latency_s, notice="")

    async def _sample(self, session: KernelSession) -> None:
        while True:
            await self._watched.wait()
            step = self._sampler.next(self._clock.now())
            if step is None:
                await self._clock.sleep(REST_S)
                continue
            try:
                await self._take(step, session)
            except RateLimited:
                self.picture.note_limited(self._clock.now())
                await self._clock.sleep(LIMITED_PAUSE_S)
            except _FAILED_CALL:
                pass  # the next round asks for it again
            self.publish()
            await self._clock.sleep(SAMPLE_S)

    async def _take(self, step: Step, session: KernelSession) -> None:
        match step:
            case Name():
                profile = await session.run(calls.profile(step.raw))
                self.picture.take_profile(profile, self._clock.now())
            case (place, signal):
                trace = await session.run(calls.query(place.raw, signal))
                self.picture.take_trace(place, signal, trace, self._clock.now())

    async def _catch_up(self, session: KernelSession) -> None:
        """Reads what the kernel remembers of its changes, and then all that there is now."""
        await self._read_changes(session, wait_s=0)
        outcomes = await session.run(calls.consequences())
        self.picture.take_outcomes(outcomes)
        await self._read_profiles(session)
        matrix = await session.run(calls.matrix())
        self.picture.take_matrix(matrix, self._clock.now())
        self.publish()

    async def _follow(self, session: KernelSession) -> None:
        read_profiles_at = self._clock.now()
        while True:
            await self._watched.wait()
            wait_s = PROFILES_S if self.picture.stale_agents else calls.LONGEST_WAIT_S
            await self._read_changes(session, wait_s=wait_s)
            if self.picture.stale_agents and self._clock.now() - read_profiles_at >= PROFILES_S:
                read_profiles_at = self._clock.now()
                await self._read_profiles(session)
            self.publish()
            await self._clock.sleep(GATHER_S)

    async def _read_changes(self, session: KernelSession, wait_s: float) -> None:
        """Reads every change after the last one that is known."""
        while True:
            page = await session.run(calls.changes_after(self._last_change, wait_s))
            wait_s, now = 0.0, self._clock.now()
            is_other = page.last < self._last_change
            first = page.changes[0].number if page.changes else self._last_change + 1
            has_gap = 0 < self._last_change < first - 1
            if is_other or has_gap:
                self.picture.lost_track(now, is_other=is_other)
            if is_other:
                self._last_change = 0
                continue
            self.picture.take_changes(page.changes, now)
            if page.changes:
                self._last_change = page.changes[-1].number
            if has_gap:
                self.picture.take_matrix(await session.run(calls.matrix()), self._clock.now())
            if self._last_change >= page.last or not page.changes:
                return

    async def _read_profiles(self, session: KernelSession) -> None:
        for profile in await session.run(calls.profiles()):
            self.picture.take_profile(profile, self._clock.now())
        self.picture.stale_agents.clear()

    def _set(self, **changes: object) -> None:
        changed = replace(self._state, **changes)
        if changed.health is not self._state.health:
            changed = replace(changed, since=self._clock.now())
        self._state = changed
        self.picture.set(link=changed)
        self.publish()
