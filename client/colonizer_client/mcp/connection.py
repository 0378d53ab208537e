"""How an MCP server is reached: a command on stdio, or a URL over TCP or a Unix socket, spoken through the MCP SDK.

Importing this loads the SDK, which takes most of a second: the first connection imports it, in a thread.
"""

import asyncio
import logging
from collections.abc import AsyncGenerator, AsyncIterator, Generator, Mapping
from contextlib import AbstractContextManager, AsyncExitStack, asynccontextmanager, contextmanager, nullcontext
from typing import Any, cast

import anyio
import httpx2
from mcp import Client, MCPError
from mcp.client.session import MessageHandlerFnT
from mcp.client.streamable_http import streamable_http_client
from mcp_types import CONNECTION_CLOSED, REQUEST_TIMEOUT, Implementation, JSONRPCResponse
from mcp_types.version import HANDSHAKE_PROTOCOL_VERSIONS
from pydantic import ValidationError

from colonizer_client.errors import ClientError, Forbidden, NoReply, SignInNeeded, ToolFailed, Unreachable, Unreadable
from colonizer_client.mcp.child import Child, Received, Streams, started
from colonizer_client.mcp.mending import Mending
from colonizer_client.mothership import wire
from colonizer_client.mothership.transport import REPLY_LIMIT_BYTES, words_of
from colonizer_client.reconnection import leaves
from colonizer_config.address import HttpAddress, SocketAddress, StdioAddress
from colonizer_config.token import Token
from colonizer_config.version import __version__

OPENING_TIMEOUT_S = 60.0
"""A stock kernel takes up to 8 s to start; one that is silent when asked in the new way is asked in the old one
10 s later."""

CONNECT_TIMEOUT_S = 10.0
READ_TIMEOUT_S = 120.0

_LEGACY, _AUTO = "legacy", "auto"

_FOREIGN = (MCPError, ValidationError, httpx2.HTTPError, OSError, anyio.ClosedResourceError, anyio.BrokenResourceError)
"""What the libraries below raise when a connection or a call fails."""

for _name in ("mcp", "httpx2", "httpcore2", "anyio"):
    # Without any handler Python writes warnings to stderr, which is the person's screen.
    logging.getLogger(_name).addHandler(logging.NullHandler())


class Connection:
    """An open connection to one MCP server."""

    def __init__(self, client: Client, door: "_Door") -> None:
        self.client = client
        self._door = door

    @property
    def name(self) -> str:
        """The server's own name and version, safe to show; empty where it tells none."""
        info = self.client.server_info
        return "" if info is None else wire.line(f"{info.name} {info.version}", limit=100)

    @property
    def mode(self) -> str:
        """How to connect to it the next time: in which era of the protocol it speaks."""
        return _LEGACY if self.client.protocol_version in HANDSHAKE_PROTOCOL_VERSIONS else ""

    def talking(self) -> AbstractContextManager[None]:
        """Turns into ClientError what the SDK raises when a call over this connection fails."""
        return _translated(self._door)

    @property
    def is_over(self) -> bool:
        """Whether it is known that nothing comes any more; of a URL that is never known before it is asked."""
        return self._door.child is not None and self._door.child.is_over

    async def over(self) -> None:
        """Returns when nothing comes any more from the process; of a URL never."""
        await (asyncio.Event() if self._door.child is None else self._door.child.over).wait()


@asynccontextmanager
async def open_stdio(
    address: StdioAddress,
    environment: Mapping[str, str],
    mode: str,
    mending: Mending,
    on_notice: MessageHandlerFnT | None = None,
) -> AsyncGenerator[Connection]:
    """The connection to a command's process, which ends with it.

    Raises:
        Unreachable: The command cannot be run, ended at once, or does not answer.
        Unreadable: What it says is no MCP.
    """
    door = _Door()
    with _translated(door):
        async with started(address, environment, mending) as (child, streams):
            door.child = child
            async with _opened(streams, door, mode, on_notice) as opened:
                yield opened


@asynccontextmanager
async def open_http(
    address: HttpAddress | SocketAddress,
    token: Token | None,
    mode: str,
    mending: Mending,
    on_notice: MessageHandlerFnT | None = None,
    *,
    route: str,
) -> AsyncGenerator[Connection]:
    """The connection to a URL, or to a route behind the local engine's private socket.

    Raises:
        SignInNeeded: It asks for another token.
        Unreachable: Nothing answers there.
        Unreadable: What answers is no MCP.
    """
    door = _Door()
    url = f"http://localhost{route}" if isinstance(address, SocketAddress) else address.base_url
    on_socket = (
        httpx2.AsyncHTTPTransport(uds=str(address.path), verify=False) if isinstance(address, SocketAddress) else None
    )
    http = httpx2.AsyncClient(
        headers={} if token is None else {"Authorization": f"Bearer {token.reveal()}"},
        transport=on_socket,
        trust_env=isinstance(address, HttpAddress) and not address.is_loopback,
        verify=url.startswith("https:"),
        timeout=httpx2.Timeout(READ_TIMEOUT_S, connect=CONNECT_TIMEOUT_S),
        event_hooks={"response": [door.note]},
    )
    with _translated(door):
        # An orderly farewell could hold up the end of the program; a server forgets a session by itself.
        async with (
            http,
            streamable_http_client(url, http_client=http, terminate_on_close=False) as (incoming, outgoing),
        ):
            streams = cast("Streams", (_Mended(incoming, mending), outgoing))
            async with _opened(streams, door, mode, on_notice) as opened:
                yield opened


@asynccontextmanager
async def _opened(
    streams: Streams, door: "_Door", mode: str, on_notice: MessageHandlerFnT | None
) -> AsyncGenerator[Connection]:
    async with AsyncExitStack() as stack:
        client = Client(
            cast("Any", nullcontext(streams)),
            mode=mode or _AUTO,
            client_info=Implementation(name="colonizer", version=__version__),
            message_handler=on_notice,
            cache=None,
        )
        async with asyncio.timeout(OPENING_TIMEOUT_S):
            await stack.enter_async_context(client)
        yield Connection(client, door)


class _Door:
    """What is known of the way to a server beside the protocol: its last refusal by HTTP, or how its process ended."""

    def __init__(self) -> None:
        self.child: Child | None = None
        self._refusal: ClientError | None = None

    async def note(self, response: httpx2.Response) -> None:
        """Looks at each response before it is read."""
        if not response.headers.get("content-type", "").startswith("text/event-stream"):
            response.stream = _Bounded(cast("httpx2.AsyncByteStream", response.stream))
        if response.request.method == "POST":
            is_refusal = response.status_code in (401, 403, 404, 503)
            said = wire.excerpt(await response.aread()) if is_refusal else ""
            self._refusal = _http_refusal(response.status_code, said)

    @property
    def words(self) -> str:
        """What the process said at its end, empty where there is none."""
        return "" if self.child is None else self.child.last_words

    def take_refusal(self) -> ClientError | None:
        """The last refusal, once."""
        refusal, self._refusal = self._refusal, None
        return refusal


def _http_refusal(status: int, said: str) -> ClientError | None:
    match status:
        case 401:
            return SignInNeeded(f"the server refused the token: {said}", status=401)
        case 403:
            return Forbidden(f"the server refused us: {said}", status=403)
        case 404:
            return Unreachable("no MCP server answers at this address, or it was started anew")
        case 503:
            return Unreachable(said or "the server cannot serve at the moment")
        case _:
            return None


class _Bounded(httpx2.AsyncByteStream):
    """A body that may not be endless."""

    def __init__(self, body: httpx2.AsyncByteStream) -> None:
        self._body = body

    async def __aiter__(self) -> AsyncIterator[bytes]:
        left = REPLY_LIMIT_BYTES
        async for chunk in self._body:
            left -= len(chunk)
            if left < 0:
                raise httpx2.StreamError(f"a reply of more than {REPLY_LIMIT_BYTES // 2**20} MiB")
            yield chunk

    async def aclose(self) -> None:
        await self._body.aclose()


class _Mended:
    """A stream of messages, each repaired as it is taken."""

    def __init__(self, stream: Any, mending: Mending) -> None:
        self._stream = stream
        self._mending = mending

    async def receive(self) -> Received:
        while True:
            item = cast("Received", await self._stream.receive())
            if isinstance(item, Exception):
                self._mending.noise += 1
                continue
            if isinstance(item.message, JSONRPCResponse):
                self._mending.mend(item.message.result)
            return item

    def __aiter__(self) -> "_Mended":
        return self

    async def __anext__(self) -> Received:
        try:
            return await self.receive()
        except anyio.EndOfStream:
            raise StopAsyncIteration from None

    async def __aenter__(self) -> "_Mended":
        await self._stream.__aenter__()
        return self

    async def __aexit__(self, *problem: Any) -> bool | None:
        return cast("bool | None", await self._stream.__aexit__(*problem))

    async def aclose(self) -> None:
        await self._stream.aclose()

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)


@contextmanager
def _translated(door: _Door) -> Generator[None]:
    """Turns what the libraries below raise into our errors."""
    try:
        yield
    except (*_FOREIGN, ExceptionGroup) as problem:
        causes = list(leaves(problem))
        ours = next((cause for cause in causes if isinstance(cause, ClientError)), None)
        theirs = next((cause for cause in causes if isinstance(cause, _FOREIGN)), None)
        if ours is None and theirs is None:
            raise  # a fault of our own
        raise door.take_refusal() or ours or _translation(cast("Exception", theirs), door.words) from problem


def _translation(problem: Exception, last_words: str) -> ClientError:
    match problem:
        case MCPError() if problem.code == CONNECTION_CLOSED:
            return NoReply(f"the connection ended: {last_words or wire.line(problem.message)}")
        case MCPError() if problem.code == REQUEST_TIMEOUT:
            return NoReply("the server did not answer in time")
        case MCPError():
            return ToolFailed(wire.line(problem.message) or "the server refused it", code=str(problem.code))
        case ValidationError():
            return Unreadable("the server's reply is none that the protocol knows")
        case TimeoutError():
            return Unreachable(
                f"it did not answer in time: {last_words}" if last_words else "it did not answer in time"
            )
        case httpx2.ConnectError() | httpx2.ConnectTimeout() | httpx2.PoolTimeout() | httpx2.UnsupportedProtocol():
            return Unreachable(f"nothing answers there: {words_of(problem)}")
        case _:
            return NoReply(f"the connection ended: {last_words or words_of(problem)}")
