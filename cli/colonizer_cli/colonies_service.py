"""The tools over colonies, in the local engine for every `colonizer mcp` of this person (design §7)."""

import asyncio
import importlib
from collections.abc import AsyncGenerator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from typing import TYPE_CHECKING

from starlette.requests import Request
from starlette.responses import Response
from starlette.types import ASGIApp

from colonizer_config.address import SocketAddress
from colonizer_config.errors import ConfigError
from colonizer_config.paths import EngineFolder, Paths
from colonizer_config.token import Token
from colonizer_engines.daemon.handed import Handed
from colonizer_engines.daemon.token_file import kept_token
from colonizer_engines.host_names import HostNames
from colonizer_engines.mcp_wire import COLONIES_PATH, SESSION
from colonizer_engines.mothership.api.routes import Call, Route
from colonizer_engines.mothership.errors import Refusal
from colonizer_engines.mothership.tokens import Scope

if TYPE_CHECKING:
    from colonizer_cli.catalogue_wiring import CatalogueWiring
    from colonizer_client.store import Store
    from colonizer_server.serve import ColonyServer
    from colonizer_server.session import Session


class ColoniesService:
    """Serves each client with the session that its carrier tells.

    It loads the SDK and the client layer for the first one: an engine that nobody asks stays small.
    """

    def __init__(self, own: SocketAddress, folder: EngineFolder, paths: Paths) -> None:
        self._own = own
        self._folder = folder
        self._paths = paths
        self._store: Store | None = None
        self._wiring: CatalogueWiring | None = None
        self._loading = asyncio.Lock()
        self._lines: ASGIApp | None = None
        self._open = AsyncExitStack()

    def routes(self, names: HostNames) -> Sequence[Route]:
        """What the engine's table has of it: the private socket's alone, for carriers of this person."""
        del names
        return (Route("POST", COLONIES_PATH, Scope.OWNER, self._answer, private=True),)

    async def run(self) -> None:
        """Returns when it is cancelled; all sessions end then."""
        async with self._open:
            await asyncio.get_running_loop().create_future()

    async def _answer(self, call: Call) -> Response:
        lines = await self._loaded()
        self._session(call.request)
        return Handed(lines)

    async def _loaded(self) -> ASGIApp:
        async with self._loading:
            if self._lines is None:
                # The SDK is large; what is connected to the engine shall not wait for it.
                for name in ("colonizer_engines.serve", "colonizer_server.resource_serving"):
                    await asyncio.to_thread(importlib.import_module, name)
                from colonizer_engines.serve import over_lines

                self._lines = await self._open.enter_async_context(over_lines(self._served))
            return self._lines

    @asynccontextmanager
    async def _served(self, request: Request) -> "AsyncGenerator[ColonyServer]":
        from colonizer_client.clock import SystemClock
        from colonizer_server.approver import Approver
        from colonizer_server.policy import SettingsInForce
        from colonizer_server.resource_serving import server_of
        from colonizer_server.session import asking

        session = self._session(request)
        approver = Approver(session, SettingsInForce(self._paths.settings), self._opened_store, SystemClock())
        catalogue = self._catalogues().tools(session)
        async with AsyncExitStack() as stack:
            if catalogue is not None:
                await stack.enter_async_context(self._catalogues().pool.used())
            mothership = await stack.enter_async_context(asking(session))
            yield server_of(mothership, session.scope, session.resources_of, approver, catalogue)

    def _catalogues(self) -> "CatalogueWiring":
        from colonizer_cli.catalogue_wiring import CatalogueWiring

        if self._wiring is None:
            self._wiring = CatalogueWiring(self._paths, self._own, self._token, self._opened_store)
        return self._wiring

    def _opened_store(self) -> "Store":
        """The database of approvals and consents; raises StoreError."""
        from colonizer_client.store import Store

        if self._store is None:
            self._store = Store(self._folder.cockpit_db)
            self._open.callback(self._store.close)
        return self._store

    def _token(self) -> Token:
        return Token(kept_token(self._folder.token))

    def _session(self, request: Request) -> "Session":
        from colonizer_client.errors import Unreadable
        from colonizer_server.session import Session

        try:
            return Session.from_header(request.headers.get(SESSION, ""), self._own, self._token())
        except (ConfigError, Unreadable) as problem:
            raise Refusal(400, f"no session: {problem}", plain=True) from problem
