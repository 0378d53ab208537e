"""Connections to servers that all callers share: opened at first need, kept, opened anew when dead, closed at rest."""

import asyncio
import random
from collections.abc import AsyncGenerator, Callable, Mapping
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from functools import partial
from typing import TYPE_CHECKING

import anyio

from colonizer_client.catalogue.access import Access, Reachable
from colonizer_client.catalogue.cards import ToolCard, cards_of
from colonizer_client.clock import Clock
from colonizer_client.errors import (
    ClientError,
    ConsentNeeded,
    Forbidden,
    LinkError,
    NoReply,
    SignInNeeded,
    StoreError,
    Unreachable,
)
from colonizer_client.reconnection import BackOff
from colonizer_client.text import safe_line
from colonizer_config.endpoints import Endpoint

if TYPE_CHECKING:
    from colonizer_client.catalogue.server import Heard, OpenServer

START_S = 12.0
"""How long a list waits for a server that starts; it goes on starting, and is asked again by the next one."""

SILENCE_LIMIT_S = 60.0
"""How long a call may show no sign of life; progress is one."""

PROGRESS_LIMIT = 300
IDLE_S = 600.0
LISTING_S = 300.0
"""How long a list of tools counts where nothing says that it changed."""

REFUSED_PAUSE_S = 30.0
"""After a refusal, which does not change before a person acts."""

Opening = Callable[[str, Callable[[], None]], "AbstractAsyncContextManager[OpenServer]"]


class PooledServer:
    """One server, and the connection to it while there is one. One task owns each connection."""

    def __init__(self, endpoint: Endpoint, opening: Opening, clock: Clock) -> None:
        self.endpoint = endpoint
        self._opening = opening
        self._clock = clock
        self._back_off = BackOff(random.Random())
        self._coming: asyncio.Future[OpenServer] | None = None
        """The connection, or the one to come; None where there is none."""
        self._started_at = 0.0
        self._owner: asyncio.Task[None] | None = None
        self._owners = set[asyncio.Task[None]]()
        """The current owner, and those that still close."""
        self._mode = ""
        self._words = ""
        """Why the last attempt failed."""
        self._try_at = clock.monotonic()
        self._cards: tuple[ToolCard, ...] | None = None
        self._changes = 0
        self._listed_at = 0.0
        self._listing = asyncio.Lock()
        self._calls = 0
        self._used_at = 0.0

    async def tools(self) -> tuple[ToolCard, ...]:
        """The cards of its tools, as they are now; the same tuple until they change.

        Raises:
            ClientError: It cannot be reached, or does not list them.
        """
        opened = await self._connected(START_S)
        async with self._listing:
            if self._cards is not None and self._clock.monotonic() - self._listed_at <= LISTING_S:
                return self._cards
            try:
                return await self._list(opened)
            except LinkError:
                self._drop(opened)
            return await self._list(await self._connected(START_S))

    async def call(self, card: ToolCard, arguments: Mapping[str, object], heard: "Heard") -> Mapping[str, object]:
        """The result of a tool, as it came.

        What got lost on its way is sent again where nothing was sent before, or where doing it twice is harmless.

        Raises:
            ClientError: It cannot be reached, shows no sign of life, or refuses the call.
        """
        loop = asyncio.get_running_loop()
        limit = asyncio.timeout(None)

        async def alive(progress: float, total: float | None, message: str | None) -> None:
            limit.reschedule(loop.time() + SILENCE_LIMIT_S)
            await heard(progress, total, None if message is None else safe_line(message, limit=PROGRESS_LIMIT))

        self._calls += 1
        try:
            opened = await self._connected()
            async with limit:
                limit.reschedule(loop.time() + SILENCE_LIMIT_S)
                try:
                    return await opened.call(card.raw_tool, arguments, alive)
                except LinkError as problem:
                    self._drop(opened)
                    if not (isinstance(problem, Unreachable) or card.is_repeatable):
                        raise
                opened = await self._connected()
                return await opened.call(card.raw_tool, arguments, alive)
        except TimeoutError as problem:
            words = f"no sign of life for {SILENCE_LIMIT_S:.0f} s; whether the call was carried out is not known"
            raise NoReply(words) from problem
        finally:
            self._calls -= 1
            self._used_at = self._clock.monotonic()

    async def close(self) -> None:
        """Ends the connection."""
        owners = tuple(self._owners)
        for owner in owners:
            owner.cancel()
        if owners:
            await asyncio.wait(owners)

    async def _list(self, opened: "OpenServer") -> tuple[ToolCard, ...]:
        changes = self._changes
        rows = await opened.tools()
        # Each schema takes some two milliseconds to be looked through.
        cards = await asyncio.to_thread(cards_of, self.endpoint.name, rows)
        self._listed_at = self._clock.monotonic()
        self._cards = cards if self._changes == changes else None  # changed while it was read
        return cards

    async def _connected(self, patience_s: float | None = None) -> "OpenServer":
        """The connection, opened where there is none; who has no patience left leaves while it is opened."""
        now = self._used_at = self._clock.monotonic()
        if self._current is not None and self._current.is_over:
            self._drop(self._current)
        if self._coming is None:
            self._start(now)
        assert self._coming is not None, "just started"
        left_s = None if patience_s is None else max(self._started_at + patience_s - now, 0)
        done, _ = await asyncio.wait({self._coming}, timeout=left_s)
        if not done:
            raise Unreachable("it is still starting: ask again in a while")
        return done.pop().result()

    @property
    def _current(self) -> "OpenServer | None":
        coming = self._coming
        is_open = coming is not None and coming.done() and coming.exception() is None
        return coming.result() if coming is not None and is_open else None

    def _start(self, now: float) -> None:
        if now < self._try_at:
            raise Unreachable(f"{self._words} (tried again in {self._try_at - now:.0f} s at the earliest)")
        self._coming = asyncio.get_running_loop().create_future()
        self._started_at = now
        self._owner = asyncio.create_task(self._own(self._coming))
        self._owners.add(self._owner)
        self._owner.add_done_callback(self._owners.discard)

    def _drop(self, lost: "OpenServer") -> None:
        """Lets go of a connection that is of no use any more, unless there is another one already."""
        if self._current is lost and self._owner is not None:
            self._coming = None
            self._owner.cancel()

    async def _own(self, coming: "asyncio.Future[OpenServer]") -> None:
        """Opens one connection, keeps it, and closes it."""
        try:
            async with self._opening(self._mode, self._forget_cards) as opened:
                self._mode = opened.mode
                self._forget_cards()
                self._back_off.reset()
                coming.set_result(opened)
                await self._until_over(opened)
        except ClientError as problem:
            if not coming.done():
                self._words, self._try_at = str(problem), self._clock.monotonic() + self._pause_s(problem)
                coming.set_exception(problem)
        finally:
            if self._coming is coming:
                self._coming = None
            if not coming.done():
                coming.set_exception(Unreachable("the connection was closed before it was open"))
            coming.exception()  # whether or not somebody still waits

    async def _until_over(self, opened: "OpenServer") -> None:
        ends = {asyncio.ensure_future(opened.over()), asyncio.ensure_future(self._at_rest())}
        following = asyncio.ensure_future(opened.follow(self._forget_cards))
        try:
            await asyncio.wait(ends, return_when=asyncio.FIRST_COMPLETED)
        finally:
            if self._current is opened:
                self._coming = None  # who comes now does not get what is about to be closed
            for task in (*ends, following):
                task.cancel()
            await asyncio.wait({*ends, following})

    async def _at_rest(self) -> None:
        """Returns when it was not used for a while."""
        while (left_s := IDLE_S if self._calls else self._used_at + IDLE_S - self._clock.monotonic()) > 0:
            await self._clock.sleep(left_s)

    def _forget_cards(self) -> None:
        self._cards = None
        self._changes += 1

    def _pause_s(self, problem: ClientError) -> float:
        """How long to leave it alone after this."""
        match problem:
            case SignInNeeded() | Forbidden():
                return REFUSED_PAUSE_S
            case ConsentNeeded() | StoreError():
                return 0.0  # nothing was asked of the server
            case _:
                return self._back_off.pause_s()


class Pool:
    """The servers of all callers of this process."""

    def __init__(self, access: Access, clock: Clock) -> None:
        self._access = access
        self._clock = clock
        self._servers: dict[tuple[object, ...], PooledServer] = {}
        self._users = 0

    def server(self, reachable: Reachable) -> PooledServer:
        """The server, shared with whoever reaches it in the same way."""
        found = self._servers.get(reachable.identity)
        if found is None:
            opening = partial(self._access.open, reachable)
            found = self._servers[reachable.identity] = PooledServer(reachable.endpoint, opening, self._clock)
        return found

    @asynccontextmanager
    async def used(self) -> AsyncGenerator[None]:
        """Keeps what is open while it lasts; the last user closes all."""
        self._users += 1
        try:
            yield
        finally:
            self._users -= 1
            if not self._users:
                servers, self._servers = self._servers, {}
                with anyio.CancelScope(shield=True):
                    await asyncio.gather(*(server.close() for server in servers.values()))
