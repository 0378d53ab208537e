"""A pool of servers of one test, whose commands the person agreed to."""

from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import ExitStack, asynccontextmanager
from pathlib import Path

import psutil

from client.catalogue import six_hundred
from colonizer_client.catalogue.access import OwnAccess, Reachable
from colonizer_client.catalogue.catalogue import Catalogue, CatalogueCall, Result
from colonizer_client.catalogue.pool import Pool
from colonizer_client.clock import SystemClock
from colonizer_client.identity import EndpointName
from colonizer_client.mcp import consents
from colonizer_client.store import Store
from colonizer_config.address import HttpAddress, SocketAddress, StdioAddress
from colonizer_config.endpoints import Endpoint, Origin
from colonizer_config.paths import Paths
from colonizer_config.secrets import TokenStore
from colonizer_config.settings import Kind
from colonizer_config.token import Token

OBJECT = {"type": "object"}
READS = {"readOnlyHint": True}


def row(name: str, **more: object) -> dict[str, object]:
    return {"name": name, "inputSchema": OBJECT, **more}


class Servers:
    """The servers of one test, whose commands the person agreed to."""

    def __init__(self, folder: Path, stack: ExitStack) -> None:
        self.folder = folder
        self.store = Store(folder / "cockpit.db")
        stack.callback(self.store.close)
        self.reachable: list[Reachable] = []
        paths = Paths(folder, folder, folder, folder)
        engine = SocketAddress(folder / "no.sock")
        access = OwnAccess(engine, lambda: Token("a-token"), TokenStore(paths), lambda: self.store)
        self.pool = Pool(access, SystemClock())

    def add(
        self, name: str, address: StdioAddress | SocketAddress | HttpAddress, *, agreed: bool = True, **env: str
    ) -> None:
        endpoint = Endpoint(EndpointName(name), Kind.MCP, address, Origin.SETTINGS, ("work",))
        self.reachable.append(Reachable(endpoint, {"HOME": "/", **env}))
        if agreed and isinstance(address, StdioAddress):
            consents.agree(self.store, endpoint.name, address)

    def plan(self, name: str, *rows: object) -> None:
        self.add(name, six_hundred.command(self.folder, name, list(rows)))

    def catalogue(self) -> Catalogue:
        return Catalogue(self.pool, lambda: self.reachable)

    def heard(self, name: str) -> list[str]:
        return (self.folder / f"{name}.heard").read_text(encoding="utf-8").split()


@asynccontextmanager
async def servers(folder: Path) -> AsyncGenerator[Servers]:
    with ExitStack() as stack:
        found = Servers(folder, stack)
        async with found.pool.used():
            yield found
        assert not psutil.Process().children(), "all ended with the last user"


async def nobody(progress: float, total: float | None, message: str | None) -> None:
    del progress, total, message


async def let_all_through(call: CatalogueCall, run: Callable[[], Awaitable[Result]]) -> Result:
    """The gate that stops nothing."""
    del call
    return await run()
