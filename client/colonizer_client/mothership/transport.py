"""What carries calls and sockets to one server."""

from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager
from typing import Protocol, TypeAlias, TypeVar

from colonizer_client.mothership.calls import Call
from colonizer_client.text import safe_line
from colonizer_config.address import HttpAddress, SocketAddress

T = TypeVar("T")

REQUEST_TIMEOUT_S = 30.0
CONNECT_TIMEOUT_S = 10.0
CLOSE_TIMEOUT_S = 0.2
"""A host that does not answer may hold up neither another attempt nor the end of the program."""

REPLY_LIMIT_BYTES = 64 * 1024 * 1024
FRAME_LIMIT_BYTES = 32 * 1024 * 1024


Server: TypeAlias = HttpAddress | SocketAddress
"""Where a transport connects to."""


def base_url(server: Server) -> str:
    """The URL that routes are appended to; behind a Unix socket the host is only a name."""
    return "http://localhost" if isinstance(server, SocketAddress) else server.base_url.rstrip("/")


def socket_url(server: Server, path: str) -> str:
    """The URL of a WebSocket."""
    return base_url(server).replace("http", "ws", 1) + path


def words_of(problem: BaseException) -> str:
    """What a library or the system says of its failure, safe to show."""
    if isinstance(problem, TimeoutError):
        return "it took too long"
    problem = problem.__cause__ or problem
    return safe_line(str(getattr(problem, "strerror", None) or problem) or type(problem).__name__, limit=200)


class Socket(Protocol):
    """An open WebSocket. Iteration ends when the server closes it, for whatever reason."""

    def __aiter__(self) -> AsyncIterator[str | bytes]:
        """The messages as they come."""
        ...

    async def send(self, text: str) -> None:
        """Sends one text message."""
        ...


class Transport(Protocol):
    """Carries calls and sockets to one server with one token."""

    async def run(self, call: Call[T], *, timeout_s: float = REQUEST_TIMEOUT_S) -> T:
        """The call's result.

        Raises:
            ClientError: Unreachable, NoReply, a refusal, a fault, or an unreadable reply.
        """
        ...

    def socket(self, path: str) -> AbstractAsyncContextManager[Socket]:
        """Opens a WebSocket; entering raises like `run`."""
        ...

    async def close(self) -> None:
        """Closes all connections."""
        ...
