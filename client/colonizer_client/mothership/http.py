"""The pooled transport: one HTTP client for each server, and its WebSockets.

The libraries are imported when the first transport opens, in a thread: they cost more than the first picture of the
terminal face may.
"""

import asyncio
import importlib
import json
import sys
import time
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import asynccontextmanager
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any, TypeVar

from colonizer_client.errors import ClientError, NoReply, Unreachable, Unreadable
from colonizer_client.mothership.calls import Call
from colonizer_client.mothership.recorder import Recorder
from colonizer_client.mothership.replies import Reply, clock_skew_s, refuse_encoding, refuse_socket
from colonizer_client.mothership.transport import (
    CLOSE_TIMEOUT_S,
    CONNECT_TIMEOUT_S,
    FRAME_LIMIT_BYTES,
    REPLY_LIMIT_BYTES,
    REQUEST_TIMEOUT_S,
    Server,
    Socket,
    base_url,
    socket_url,
    words_of,
)
from colonizer_client.tunnel import Tunnel
from colonizer_config.address import SocketAddress
from colonizer_config.token import Token

if TYPE_CHECKING:
    import httpx

T = TypeVar("T")

IDLE_S = 4.0
"""How long an unused connection is kept: less than the 5 s after which common servers close theirs."""

SOCKET_PING_S = 20.0
"""Both the interval of our pings and the time that an answer to one may take."""

BROKEN_PROTOCOL = frozenset({1002, 1003, 1007, 1009})
"""With these codes we close a socket that breaks the protocol or whose message is too large."""


async def open_transport(server: Server, token: Token, tunnel: Tunnel | None = None) -> "HttpTransport":
    """A transport, its libraries loaded. Nothing is connected yet. It closes the tunnel that leads to the server.

    Raises:
        Unreachable: The environment names a proxy that cannot be used.
    """
    for name in ("httpx", "websockets.asyncio.client"):
        await asyncio.to_thread(importlib.import_module, name)
    try:
        return HttpTransport(server, token, tunnel)
    except (ImportError, ValueError) as problem:
        raise Unreachable(f"the proxy of this environment cannot be used: {words_of(problem)}") from problem


class HttpTransport:
    """Carries calls by httpx and sockets by websockets, to one server. It never follows a redirect."""

    def __init__(self, server: Server, token: Token, tunnel: Tunnel | None = None) -> None:
        import httpx

        _spare_searches()
        self.server = server
        self.recorder: Recorder | None = None
        """Who looks at what passes; None for nobody."""
        self.token_place = ""
        """Where the token is kept, in words; empty where that is nothing to tell."""
        self._token = token
        self._tunnel = tunnel
        self.latency_s: float | None = None
        """How long the last reply took, request to headers."""
        self.skew_s: float | None = None
        """How far the server's clock is ahead of ours, by the `Date` of its last reply; whole seconds."""
        self._headers = {"Authorization": f"Bearer {token.reveal()}", "Accept-Encoding": "identity"}
        on_socket = isinstance(server, SocketAddress)
        self._http = httpx.AsyncClient(
            base_url=base_url(server),
            headers=self._headers,
            transport=httpx.AsyncHTTPTransport(uds=str(server.path), verify=False) if on_socket else None,
            timeout=httpx.Timeout(REQUEST_TIMEOUT_S, connect=CONNECT_TIMEOUT_S),
            limits=httpx.Limits(max_connections=16, max_keepalive_connections=8, keepalive_expiry=IDLE_S),
            follow_redirects=False,
            trust_env=not _stays_here(server),
            # A TLS context takes 50 ms to make; it is made where it is used.
            verify=base_url(server).startswith("https://"),
        )

    def record(self, recorder: Recorder | None) -> None:
        """Shows what passes from now on to this recorder, or to nobody."""
        self.recorder = recorder
        if recorder is not None:
            recorder.know(self._token)

    async def run(self, call: Call[T], *, timeout_s: float = REQUEST_TIMEOUT_S) -> T:
        """The call's result; raises as `Transport.run` says."""
        if self.recorder is None:
            return call.read(await self._send(call, timeout_s))
        return call.read(await self._send_recorded(call, timeout_s, self.recorder))

    @asynccontextmanager
    async def socket(self, path: str) -> AsyncGenerator[Socket, None]:
        """Opens a WebSocket on the server."""
        from websockets.exceptions import InvalidHandshake, InvalidMessage, InvalidStatus, WebSocketException

        try:
            connection = await _connect(self.server, path, self._headers)
        except InvalidStatus as refused:
            answered = refused.response
            self._note_socket(path, f"refused: {answered.status_code}", is_fault=True)
            refuse_socket(answered.status_code, answered.body, answered.headers.get("Content-Type", ""))
        except (TimeoutError, InvalidMessage, EOFError) as problem:
            words = self._words("no answer from", problem)
            self._note_socket(path, words, is_fault=True)
            raise NoReply(words) from problem
        except (OSError, InvalidHandshake, WebSocketException) as problem:
            words = self._words("nothing answers on", problem)
            self._note_socket(path, words, is_fault=True)
            raise Unreachable(words) from problem
        self._note_socket(path, "open")
        try:
            yield _WebSocket(connection, self, path)
        finally:
            await connection.close()
            self._note_socket(path, "closed")

    async def close(self) -> None:
        """Closes all connections."""
        await self._http.aclose()
        if self._tunnel is not None:
            await asyncio.to_thread(self._tunnel.close)

    def _words(self, what: str, problem: BaseException) -> str:
        """What happened, with the words of the tunnel rather than those of its near end."""
        if self._tunnel is None:
            return f"{what} {self.server}: {words_of(problem)}"
        return f"{what} {self._tunnel.address}: {self._tunnel.words or words_of(problem)}"

    def _note_socket(self, path: str, outcome: str, *, is_fault: bool = False) -> None:
        if self.recorder is not None:
            self.recorder.socket(path, outcome, is_fault=is_fault)

    async def _send_recorded(self, call: "Call[Any]", timeout_s: float, recorder: Recorder) -> Reply:
        started = time.monotonic()
        outcome, heard, is_fault = "given up", b"", True
        try:
            reply = await self._send(call, timeout_s)
            outcome, heard, is_fault = str(reply.status), reply.body, reply.status >= 300
        except ClientError as problem:
            outcome = str(problem)
            raise
        finally:
            recorder.exchanged(
                call.method,
                call.path,
                outcome,
                duration_s=time.monotonic() - started,
                sent=call.body,
                heard=heard,
                is_fault=is_fault,
            )
        return reply

    async def _send(self, call: "Call[Any]", timeout_s: float) -> Reply:
        import httpx

        if self._http.is_closed:
            raise Unreachable(f"the connection to {self.server} is closed")
        content = None if call.body is None else json.dumps(call.body, ensure_ascii=True).encode()
        headers = dict(call.headers)
        if content is not None:
            headers["Content-Type"] = "application/json"
        request = self._http.build_request(call.method, call.path, content=content, headers=headers)
        try:
            async with asyncio.timeout(timeout_s):
                try:
                    return await self._exchange(request)
                except httpx.RemoteProtocolError:
                    # The server may close an unused connection just when it is used again; to read twice is harmless.
                    if call.method != "GET" or self._http.is_closed:
                        raise
                    return await self._exchange(request)
        except (httpx.ConnectError, httpx.ConnectTimeout, httpx.PoolTimeout, httpx.UnsupportedProtocol) as problem:
            raise Unreachable(self._words("nothing answers on", problem)) from problem
        except (httpx.HTTPError, TimeoutError) as problem:
            raise NoReply(self._words("no answer from", problem)) from problem

    async def _exchange(self, request: "httpx.Request") -> Reply:
        started = time.monotonic()
        response = await self._http.send(request, stream=True)
        try:
            self.latency_s = time.monotonic() - started
            self._note_date(response.headers.get("Date", ""))
            return await self._read(response)
        finally:
            await response.aclose()
            if self._http.is_closed:
                # Closed while this request was connecting, the pool has never known its connection.
                await response.extensions["network_stream"].aclose()

    async def _read(self, response: "httpx.Response") -> Reply:
        refuse_encoding(response.headers.get("Content-Encoding", ""))
        body = bytearray()
        async for chunk in response.aiter_raw():
            body += chunk
            if len(body) > REPLY_LIMIT_BYTES:
                raise Unreadable(f"a reply of more than {REPLY_LIMIT_BYTES // 2**20} MiB")
        return Reply(
            status=response.status_code,
            body=bytes(body),
            content_type=response.headers.get("Content-Type", ""),
            date=response.headers.get("Date", ""),
        )

    def _note_date(self, date: str) -> None:
        self.skew_s = clock_skew_s(date, time.time())


def _spare_searches() -> None:
    """Marks sniffio as missing where it is: httpcore imports it several times in each request to hear that it is.

    Each time Python would look through every folder of its path.
    """
    if "sniffio" not in sys.modules and find_spec("sniffio") is None:
        sys.modules["sniffio"] = None  # type: ignore[assignment]  # what `import` takes for missing


class _WebSocket:
    """A socket whose end is an end, however it came about."""

    def __init__(self, connection: Any, transport: HttpTransport, path: str) -> None:
        self._connection = connection
        self._transport = transport
        self._path = path

    async def __aiter__(self) -> AsyncIterator[str | bytes]:
        from websockets.exceptions import ConnectionClosed

        try:
            async for message in self._connection:
                if (recorder := self._transport.recorder) is not None:
                    recorder.frame(self._path, message)
                yield message
        except ConnectionClosed as end:
            if end.sent is not None and end.sent.code in BROKEN_PROTOCOL and not end.rcvd_then_sent:
                raise Unreadable(f"the socket broke its protocol: {words_of(end)}") from end

    async def send(self, text: str) -> None:
        from websockets.exceptions import ConnectionClosed

        try:
            await self._connection.send(text)
        except ConnectionClosed as problem:
            raise NoReply("the socket closed while something was sent") from problem
        if (recorder := self._transport.recorder) is not None:
            recorder.frame(self._path, text, is_sent=True)


async def _connect(server: Server, path: str, headers: dict[str, str]) -> Any:
    from websockets.asyncio.client import connect

    class ConnectHere(connect):
        """Connects where it was told to and nowhere else: the token goes with the first request."""

        def process_redirect(self, exc: Exception) -> Exception | str:
            return exc

    url = socket_url(server, path)
    options: dict[str, Any] = {
        "additional_headers": {"Authorization": headers["Authorization"]},
        "max_size": FRAME_LIMIT_BYTES,
        "open_timeout": CONNECT_TIMEOUT_S,
        "close_timeout": CLOSE_TIMEOUT_S,
        "ping_interval": SOCKET_PING_S,
        "ping_timeout": SOCKET_PING_S,
        "compression": None,
        "user_agent_header": None,
    }
    if isinstance(server, SocketAddress):
        return await ConnectHere(url, unix=True, path=str(server.path), **options)
    return await ConnectHere(url, proxy=None if _stays_here(server) else True, **options)


def _stays_here(server: Server) -> bool:
    """Whether the server is on this machine, so that no proxy may lie between."""
    return isinstance(server, SocketAddress) or server.is_loopback
