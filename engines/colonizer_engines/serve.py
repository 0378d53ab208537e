"""How an engine's MCP server is reached: over stdio, over one request that carries its lines, over streamable HTTP.

Every way serves both eras of the protocol. Loading this module loads the SDK, which takes most of a second.
"""

import json
import os
import select
import sys
from collections.abc import AsyncGenerator, AsyncIterable, AsyncIterator, Awaitable, Callable, Generator
from contextlib import AbstractAsyncContextManager, asynccontextmanager, contextmanager, suppress
from typing import Any, BinaryIO, cast

import anyio
import anyio.to_thread
from mcp.server.lowlevel import Server
from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
from mcp.shared.message import SessionMessage
from mcp_types import (
    CLIENT_CAPABILITIES_META_KEY,
    INVALID_PARAMS,
    INVALID_REQUEST,
    PROTOCOL_VERSION_META_KEY,
    ErrorData,
    JSONRPCError,
    JSONRPCMessage,
    JSONRPCNotification,
    JSONRPCRequest,
    JSONRPCResponse,
    RequestId,
    jsonrpc_message_adapter,
)
from pydantic import ValidationError
from starlette.requests import ClientDisconnect, Request
from starlette.types import ASGIApp, Receive, Scope, Send

from colonizer_engines.lenient_json import encode
from colonizer_engines.mcp_wire import LISTENING, MESSAGE_LIMIT_BYTES

_PIECE_BYTES = 256 * 1024

LAST_ANSWERS_S = 60.0
"""How long what is still open may take once a client has said all."""


async def over_stdio(server: Server[Any]) -> bool:
    """Serves this process's stdin and stdout until stdin ends; what else is printed goes to stderr meanwhile.

    Whether anything was asked.
    """
    was_asked = False
    with _own_stdout() as stdout:

        async def say(line: bytes) -> None:
            # What can be written to takes as much without waiting; to ask a thread for it takes longer than the call.
            if len(line) <= select.PIPE_BUF and select.select((), (stdout,), (), 0)[1]:
                _put(stdout, line)
            else:
                await anyio.to_thread.run_sync(_put, stdout, line)

        try:
            was_asked = await _converse(server, _stdin_lines(), say)
        except* BrokenPipeError:
            was_asked = True  # and the client is gone
    return was_asked


@asynccontextmanager
async def over_lines(serving: Callable[[Request], AbstractAsyncContextManager[Server[Any]]]) -> AsyncGenerator[ASGIApp]:
    """The application that answers a request whose body and reply are the lines of the stdio transport.

    Each client has one request, for as long as its session lasts; all end when this does. `serving` gives the server
    of one request for as long.
    """
    clients: set[anyio.CancelScope] = set()

    async def answer(scope: Scope, receive: Receive, send: Send) -> None:
        async def say(line: bytes) -> None:
            await send({"type": "http.response.body", "body": line, "more_body": True})

        headers = [(b"content-type", b"application/x-ndjson")]
        await send({"type": "http.response.start", "status": 200, "headers": headers})
        request = Request(scope, receive)
        with anyio.CancelScope() as client:
            clients.add(client)
            try:
                async with serving(request) as server:
                    await _converse(server, _lines(request), say)
            finally:
                clients.discard(client)
        await send({"type": "http.response.body", "body": b""})

    try:
        yield answer
    finally:
        for client in tuple(clients):
            client.cancel()


@asynccontextmanager
async def over_http(server: Server[Any]) -> AsyncGenerator[ASGIApp]:
    """The application that answers streamable HTTP on whatever path it is given; who may ask is not its business."""
    manager = StreamableHTTPSessionManager(server, json_response=True, max_request_body_size=MESSAGE_LIMIT_BYTES)
    async with manager.run():
        yield manager.handle_request


async def _converse(server: Server[Any], lines: AsyncIterable[bytes], say: Callable[[bytes], Awaitable[None]]) -> bool:
    """Serves one client that speaks in lines, until it has said all and has its answers; whether it asked anything."""
    to_server, incoming = anyio.create_memory_object_stream[SessionMessage | Exception](0)
    outgoing, from_server = anyio.create_memory_object_stream[SessionMessage](0)
    waiting = _Waiting()
    is_open = False

    async def hear() -> None:
        nonlocal is_open
        async with to_server:
            async for line in lines:
                message = _message(line)
                if message is None:
                    if (request := _request_id(line)) is not None:
                        await say(_line(_refusal(request, INVALID_REQUEST, "Invalid request")))
                    continue
                is_open = is_open or _opens(message)
                if not is_open and isinstance(message, JSONRPCRequest):
                    await say(_line(_before_opening(message)))
                    continue
                waiting.heard(message)
                await to_server.send(SessionMessage(message))
            # The SDK drops what is unanswered when the client has said all, as one does that is fed from a file.
            with anyio.move_on_after(LAST_ANSWERS_S):
                await waiting.over()

    async def speak() -> None:
        async with from_server:
            async for item in from_server:
                await say(_line(item.message))
                waiting.said(item.message)

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(hear)
        tasks.start_soon(speak)
        await server.run(incoming, outgoing, server.create_initialization_options())
        tasks.cancel_scope.cancel()
    return waiting.was_asked


class _Waiting:
    """The requests for whose answers a client still waits."""

    def __init__(self) -> None:
        self.was_asked = False
        """Whether there was any."""
        self._ids: set[RequestId] = set()
        self._settled = anyio.Event()

    def heard(self, message: JSONRPCMessage) -> None:
        if isinstance(message, JSONRPCRequest):
            self.was_asked = True
            if message.method != LISTENING:
                self._ids.add(message.id)
        elif isinstance(message, JSONRPCNotification) and message.method == "notifications/cancelled":
            self._settle((message.params or {}).get("requestId"))

    def said(self, message: JSONRPCMessage) -> None:
        if isinstance(message, JSONRPCResponse | JSONRPCError):
            self._settle(message.id)

    async def over(self) -> None:
        """Returns when nothing is waited for."""
        while self._ids:
            self._settled = anyio.Event()
            await self._settled.wait()

    def _settle(self, request: object) -> None:
        self._ids = {waiting for waiting in self._ids if waiting != request}
        self._settled.set()


def _opens(message: JSONRPCMessage) -> bool:
    """Whether it begins a session of the one era or the other. The SDK takes whatever comes first for the older one."""
    if not isinstance(message, JSONRPCRequest):
        return False
    meta = (message.params or {}).get("_meta")
    return message.method == "initialize" or (isinstance(meta, dict) and PROTOCOL_VERSION_META_KEY in meta)


def _before_opening(request: JSONRPCRequest) -> JSONRPCResponse | JSONRPCError:
    """The answer to a request of no era; the session may still be opened."""
    if request.method == "ping":
        return JSONRPCResponse(jsonrpc="2.0", id=request.id, result={})
    needed = f"{PROTOCOL_VERSION_META_KEY}, {CLIENT_CAPABILITIES_META_KEY}"
    words = f"request _meta is missing or has malformed required fields: {needed}; or begin with initialize"
    return _refusal(request.id, INVALID_PARAMS, words)


def _refusal(request: RequestId, code: int, words: str) -> JSONRPCError:
    return JSONRPCError(jsonrpc="2.0", id=request, error=ErrorData(code=code, message=words))


def _line(message: JSONRPCMessage) -> bytes:
    return message.model_dump_json(by_alias=True, exclude_unset=True).encode() + b"\n"


def _message(line: bytes) -> JSONRPCMessage | None:
    """The message; None where the line holds none."""
    try:
        return jsonrpc_message_adapter.validate_json(_mended(line), by_name=False)
    except ValidationError:
        return None


def _request_id(line: bytes) -> RequestId | None:
    """Under which id an answer is waited for to what is no message; None where it cannot be told."""
    try:
        value: object = json.loads(line)
    except (ValueError, RecursionError):
        return None
    found = cast("dict[str, object]", value).get("id") if isinstance(value, dict) and "method" in value else None
    return found if isinstance(found, str | int) and not isinstance(found, bool) else None


def _mended(line: bytes) -> bytes:
    """The line, with a replacement character for half a surrogate pair, for which the SDK refuses a whole message."""
    if b"\\ud" not in line.lower():
        return line
    try:
        return encode(json.loads(line))
    except (ValueError, RecursionError):
        return line


async def _lines(request: Request) -> AsyncIterator[bytes]:
    """The lines of the body as they come, until it or its sender ends, or a line is longer than any message may be."""
    rest = b""
    with suppress(ClientDisconnect):
        async for piece in request.stream():
            *whole, rest = (rest + piece).split(b"\n")
            for line in whole:
                yield line
            if len(rest) > MESSAGE_LIMIT_BYTES:
                return


async def _stdin_lines() -> AsyncIterator[bytes]:
    descriptor, rest = sys.stdin.fileno(), b""
    while piece := await _piece(descriptor):
        *whole, rest = (rest + piece).split(b"\n")
        for line in whole:
            yield line
    if rest:
        yield rest


async def _piece(descriptor: int) -> bytes:
    """What comes next, empty at the end."""
    try:
        await anyio.wait_readable(descriptor)
    except PermissionError:  # a file, which is always readable and says so by refusing to be watched
        return await anyio.to_thread.run_sync(os.read, descriptor, _PIECE_BYTES)
    return os.read(descriptor, _PIECE_BYTES)


def _put(stream: BinaryIO, line: bytes) -> None:
    stream.write(line)
    stream.flush()


@contextmanager
def _own_stdout() -> Generator[BinaryIO]:
    """The stream on which the client listens; stray prints of this process go to stderr while it lasts."""
    sys.stdout.flush()
    with open(os.dup(1), "wb") as kept:
        os.dup2(2, 1)
        try:
            yield kept
        finally:
            os.dup2(kept.fileno(), 1)
