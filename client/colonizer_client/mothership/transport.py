"""What carries calls and sockets to one server."""

import os
from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager
from typing import Protocol, TypeAlias, TypeVar, cast

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
    words = _words_of_system(problem)
    if not words:
        problem = problem.__cause__ or problem
        words = str(problem) or type(problem).__name__
    return safe_line(words, limit=200)


def _words_of_system(problem: BaseException) -> str:
    """What the system said, however deep below a library's own words; empty where it said nothing."""
    waiting: list[BaseException] = [problem]
    seen: set[int] = set()
    while waiting:
        found = waiting.pop(0)
        if id(found) in seen:
            continue
        seen.add(id(found))
        if isinstance(found, OSError) and found.strerror:
            # Where a connection fails asyncio says that it failed, in the place of the system's reason.
            is_plain = type(found) is OSError or isinstance(found, ConnectionError)
            return os.strerror(found.errno) if is_plain and found.errno else found.strerror
        if isinstance(found, BaseExceptionGroup):
            waiting += cast("BaseExceptionGroup[BaseException]", found).exceptions
        waiting += filter(None, (found.__cause__, found.__context__))
    return ""


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
