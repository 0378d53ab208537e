"""How the connection to each kind of kernel is opened: what is started before, and where the token is."""

import asyncio
import importlib
from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager

from colonizer_client.engine import LocalEngine
from colonizer_client.errors import SignInNeeded
from colonizer_client.kernel.session import Wire
from colonizer_config.address import HttpAddress, StdioAddress
from colonizer_config.endpoints import Endpoint
from colonizer_config.errors import ConfigError
from colonizer_config.secrets import TokenStore
from colonizer_config.token import Token

_TRANSPORTS = "colonizer_client.kernel.transports"


class EmbeddedConnector:
    """Reaches the kernel of the local engine, which is started where it does not run."""

    is_embedded = True

    def __init__(self, engine: LocalEngine) -> None:
        self._engine = engine

    @asynccontextmanager
    async def open(self, mode: str) -> AsyncGenerator[Wire]:
        """The connection; raises EngineUnavailable among others."""
        await _load()
        from colonizer_client.kernel.transports import open_http

        await asyncio.to_thread(self._engine.ensure_running)
        async with open_http(self._engine.address, self._engine.token(), mode) as wire:
            yield wire


class StdioConnector:
    """Runs a command that the person agreed to. The values of its named variables are taken from `environment`."""

    is_embedded = False

    def __init__(self, address: StdioAddress, environment: Mapping[str, str]) -> None:
        self._address = address
        self._environment = environment

    @asynccontextmanager
    async def open(self, mode: str) -> AsyncGenerator[Wire]:
        """The connection to a new process of the command."""
        await _load()
        from colonizer_client.kernel.transports import open_stdio

        async with open_stdio(self._address, self._environment, mode) as wire:
            yield wire


class UrlConnector:
    """Reaches a kernel by its URL, with the token that is kept for it where there is one.

    A `trial` is a token that is not kept yet: it goes before the kept one.
    """

    is_embedded = False

    def __init__(
        self, endpoint: Endpoint, address: HttpAddress, tokens: TokenStore, trial: Token | None = None
    ) -> None:
        self._endpoint = endpoint
        self._address = address
        self._tokens = tokens
        self._trial = trial

    @asynccontextmanager
    async def open(self, mode: str) -> AsyncGenerator[Wire]:
        """The connection; raises SignInNeeded where the token that is kept cannot be read or is refused."""
        await _load()
        from colonizer_client.kernel.transports import open_http

        token = self._trial or await self._kept()
        async with open_http(self._address, token, mode) as wire:
            yield wire

    async def _kept(self) -> Token | None:
        try:
            found = await asyncio.to_thread(self._tokens.for_endpoint, self._endpoint)
        except ConfigError as problem:
            raise SignInNeeded(str(problem), status=401) from problem
        return found.token if found else None


async def _load() -> None:
    """Loads the MCP SDK, in a thread: it takes most of a second."""
    await asyncio.to_thread(importlib.import_module, _TRANSPORTS)
