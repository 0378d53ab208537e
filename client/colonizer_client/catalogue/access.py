"""How each server of the catalogue is reached, and what has to be there before: consent, a token, variables."""

import asyncio
import importlib
from collections.abc import Callable, Mapping
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from typing import TYPE_CHECKING, Protocol, TypeVar

from colonizer_client.errors import ConsentNeeded, SignInNeeded
from colonizer_client.mcp import consents
from colonizer_client.store import Store
from colonizer_config.address import HttpAddress, SocketAddress, StdioAddress
from colonizer_config.endpoints import Endpoint
from colonizer_config.errors import ConfigError
from colonizer_config.secrets import TokenStore
from colonizer_config.token import Token
from colonizer_config.value import Value

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator

    from colonizer_client.catalogue.server import OpenServer

T = TypeVar("T")

_SERVER = "colonizer_client.catalogue.server"

AGENTS_ROUTE = "/mcp/kernel/carried"
"""Where the embedded kernel is without the operator's calls."""


class Reachable(Value):
    """A server of the catalogue, as one caller may reach it."""

    endpoint: Endpoint
    environment: Mapping[str, str]
    """The caller's `HOME`, and the values of the variables that the server's command is given."""

    @property
    def identity(self) -> tuple[object, ...]:
        """The same for those who can share one connection."""
        return self.endpoint.name, self.endpoint.address.identity, tuple(sorted(self.environment.items()))


class Access(Protocol):
    """Opens connections to servers."""

    def open(
        self, server: Reachable, mode: str, on_change: Callable[[], None]
    ) -> "AbstractAsyncContextManager[OpenServer]":
        """A connection, for the task that enters it alone; `on_change` is told when its tools are other ones.

        Raises:
            ClientError: It is not agreed to, there is no token, or nothing answers.
        """
        ...


class OwnAccess:
    """Access with the person's own tokens and consents; `socket` is the local engine's."""

    def __init__(
        self,
        socket: SocketAddress,
        socket_token: Callable[[], Token],
        tokens: TokenStore,
        open_store: Callable[[], Store],
    ) -> None:
        self._socket = socket
        self._socket_token = socket_token
        self._tokens = tokens
        self._open_store = open_store

    @asynccontextmanager
    async def open(self, server: Reachable, mode: str, on_change: Callable[[], None]) -> "AsyncGenerator[OpenServer]":
        """The connection."""
        # The SDK takes most of a second to load.
        await asyncio.to_thread(importlib.import_module, _SERVER)
        from colonizer_client.catalogue.server import over_http, over_stdio

        match server.endpoint.address:
            case StdioAddress() as command:
                self._refuse_unless_agreed(server.endpoint, command)
                opening = over_stdio(command, server.environment, mode, on_change)
            case SocketAddress():
                opening = over_http(self._socket, self._read(self._socket_token), mode, on_change, AGENTS_ROUTE)
            case HttpAddress() as address:
                token = await asyncio.to_thread(self._kept, server.endpoint)
                opening = over_http(address, token, mode, on_change)
            case _:
                raise AssertionError("an MCP server is reached by a command or a URL")
        async with opening as opened:
            yield opened

    def _refuse_unless_agreed(self, endpoint: Endpoint, command: StdioAddress) -> None:
        if consents.asked(self._open_store(), endpoint.name, command) is not None:
            asks = f"in a terminal `colonizer connect test {endpoint.name}` asks"
            raise ConsentNeeded(f"not started: nobody agreed to its command; {asks}")

    def _kept(self, endpoint: Endpoint) -> Token | None:
        found = self._read(lambda: self._tokens.for_endpoint(endpoint))
        return found.token if found else None

    @staticmethod
    def _read(read: Callable[[], T]) -> T:
        try:
            return read()
        except ConfigError as problem:
            raise SignInNeeded(str(problem), status=401) from problem
