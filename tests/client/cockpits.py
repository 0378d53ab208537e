"""Cockpits that run in a test."""

import asyncio
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path

from client.hand_clock import LONG_S
from client.samples import HQ
from colonizer_client.clock import Clock
from colonizer_client.cockpit import Cockpit
from colonizer_client.errors import ClientError
from colonizer_client.mothership.http import HttpTransport, open_transport
from colonizer_client.mothership.transport import Server
from colonizer_client.snapshot import EndpointState, Health, Snapshot
from colonizer_client.store import Store
from colonizer_config.token import Token


@dataclass
class Direct:
    """Connects to a server with a token; keeps every transport that it opened."""

    server: Server
    token: Token = field(default_factory=lambda: Token("0" * 63 + "1"))
    opened: list[HttpTransport] = field(default_factory=list[HttpTransport])
    failure: ClientError | Exception | None = None
    notice: str = ""

    async def open(self, notice: Callable[[str], None]) -> HttpTransport:
        if self.failure is not None:
            raise self.failure
        if self.notice:
            notice(self.notice)
        self.opened.append(await open_transport(self.server, self.token))
        return self.opened[-1]


@asynccontextmanager
async def running(cockpit: Cockpit) -> AsyncGenerator[Cockpit, None]:
    """Runs the cockpit, and ends it."""
    task = asyncio.create_task(cockpit.run())
    try:
        yield cockpit
    finally:
        task.cancel()
        async with asyncio.timeout(LONG_S):
            await asyncio.wait([task])
        if not task.cancelled():
            task.result()


def cockpit_at(folder: Path, clock: Clock) -> Cockpit:
    return Cockpit(lambda: Store(folder / "cockpit.db"), clock)


@asynccontextmanager
async def connected(connector: Direct, folder: Path, clock: Clock, **state: object) -> AsyncGenerator[Cockpit, None]:
    """A running cockpit with the one endpoint `hq`."""
    cockpit = cockpit_at(folder, clock)
    cockpit.add(EndpointState(HQ, str(connector.server), **state), connector)  # type: ignore[arg-type]  # its own names
    async with running(cockpit):
        yield cockpit


async def until(cockpit: Cockpit, holds: Callable[[Snapshot], object]) -> Snapshot:
    """The first snapshot for which the condition holds."""
    subscription = cockpit.subscribe()
    try:
        async with asyncio.timeout(LONG_S):
            while not holds(snapshot := subscription.take()[0]):
                await subscription.changed()
        return snapshot
    finally:
        cockpit.hub.unsubscribe(subscription)


def health(snapshot: Snapshot) -> Health:
    return snapshot.endpoints[HQ].health


def is_live(snapshot: Snapshot) -> bool:
    return health(snapshot) is Health.LIVE


def is_silent(snapshot: Snapshot) -> bool:
    return health(snapshot) is Health.SILENT and snapshot.endpoints[HQ].retry_at is not None


def is_signed_out(snapshot: Snapshot) -> bool:
    return health(snapshot) is Health.SIGNED_OUT


def error(snapshot: Snapshot) -> str:
    return snapshot.endpoints[HQ].error
