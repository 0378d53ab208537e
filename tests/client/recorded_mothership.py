"""A mothership over a real socket that answers and sends what was recorded, one step after the other."""

import asyncio
import json
from collections import Counter, deque
from collections.abc import AsyncGenerator, AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path

from client.cockpits import Direct
from client.fleet_server import OWNER, Message, Receive, Send
from client.hand_clock import LONG_S
from colonizer_client.mothership.http import HttpTransport
from colonizer_client.mothership.transport import Socket
from colonizer_config.address import SocketAddress
from colonizer_engines.daemon.listeners import private_socket
from colonizer_engines.daemon.server import Listener
from recorded import Json

STREAM = "/api/stream"
GONE: Json = {"status": 404, "content_type": "application/json", "json": {"error": "no such session"}}


def events_of(colony: str) -> str:
    """The path of a colony's events socket."""
    return f"/api/sessions/{colony}/events"


@dataclass(eq=False)
class Line:
    """One open socket. What is None ends it."""

    query: str
    outgoing: "asyncio.Queue[str | None]" = field(default_factory=lambda: asyncio.Queue())


@dataclass
class RecordedMothership:
    address: SocketAddress
    replies: dict[tuple[str, str], deque[Json]] = field(default_factory=dict[tuple[str, str], deque[Json]])
    """What the next requests of a method and path get, each once."""
    asked_by: dict[str, Json] = field(default_factory=dict[str, Json])
    """Each colony's open question, as its event told it."""
    lines: dict[str, Line] = field(default_factory=dict[str, Line])
    """The newest socket of each path."""
    heard: list[Json] = field(default_factory=list[Json])
    requests: list[tuple[str, str, object]] = field(default_factory=list[tuple[str, str, object]])
    """Methods, paths with their queries, and bodies."""
    sent: Counter[str] = field(default_factory=Counter[str])
    """Frames by path."""
    taken: Counter[str] = field(default_factory=Counter[str])
    """Frames by path that the client had done with."""
    _news: asyncio.Event = field(default_factory=asyncio.Event)

    def reply_once(self, method: str, path: str, response: Json) -> None:
        self.replies.setdefault((method, path), deque()).append(response)

    async def send(self, path: str, frame: object) -> None:
        """Sends a frame, and returns when the client has done with it."""
        (await self.line(path)).outgoing.put_nowait(json.dumps(frame))
        self.sent[path] += 1
        await self.until(lambda: self.taken[path] >= self.sent[path])

    async def line(self, path: str) -> Line:
        """The open socket of a path."""
        await self.until(lambda: path in self.lines)
        return self.lines[path]

    def end(self, path: str) -> None:
        """Closes the socket of a path."""
        self.lines.pop(path).outgoing.put_nowait(None)

    def note_taken(self, path: str) -> None:
        self.taken[path] += 1
        self._news.set()

    async def until(self, holds: Callable[[], object]) -> None:
        async with asyncio.timeout(LONG_S):
            while not holds():
                self._news.clear()
                await self._news.wait()

    async def __call__(self, scope: Message, receive: Receive, send: Send) -> None:
        path, query = scope["raw_path"].decode(), scope["query_string"].decode()
        if scope["type"] == "websocket":
            await self._serve(path, query, receive, send)
            return
        content = b""
        while (message := await receive())["type"] == "http.request":
            content += message.get("body", b"")
            if not message.get("more_body"):
                break
        whole = f"{path}?{query}" if query else path
        self.requests.append((scope["method"], whole, json.loads(content) if content else None))
        response = self._reply(scope["method"], path, whole)
        body = json.dumps(response["json"]) if "json" in response else response.get("text", "")
        headers = [(b"content-length", str(len(body.encode())).encode())]
        if response.get("content_type"):
            headers.append((b"content-type", response["content_type"].encode()))
        await send({"type": "http.response.start", "status": response["status"], "headers": headers})
        await send({"type": "http.response.body", "body": body.encode()})

    def _reply(self, method: str, path: str, whole: str) -> Json:
        if waiting := self.replies.get((method, whole)):
            return waiting.popleft()
        colony = path.split("/")[3] if path.count("/") > 2 else ""
        asked = self.asked_by.get(colony)
        match path.split("/")[2:]:
            case ["tokens", "self"]:
                return _found(OWNER)
            case ["version"]:
                return _found({"version": "v0.2.23"})
            case ["sessions", _, "question"]:
                return {"status": 204} if asked is None else _found(asked)
            case ["sessions", _, "events"]:
                return _found({"events": [] if asked is None else [{"type": "question", "seq": 1, **asked}]})
            case _:
                return GONE

    async def _serve(self, path: str, query: str, receive: Receive, send: Send) -> None:
        await receive()
        if waiting := self.replies.get(("WS", path)):
            refused = waiting.popleft()
            await send({"type": "websocket.http.response.start", "status": refused["status"], "headers": []})
            await send({"type": "websocket.http.response.body", "body": refused["text"].encode()})
            return
        await send({"type": "websocket.accept"})
        line = self.lines[path] = Line(query)
        self.sent[path] = self.taken[path] = 0
        self._news.set()
        sending = asyncio.create_task(_send_on(line, send))
        try:
            while (message := await receive())["type"] != "websocket.disconnect":
                self.heard.append(json.loads(message["text"]))
                self._news.set()
        finally:
            if self.lines.get(path) is line:
                del self.lines[path]
            self._news.set()
            sending.cancel()
            await asyncio.wait([sending])


class CountingTransport(HttpTransport):
    """Tells of each frame that the client has done with."""

    done: Callable[[str], None]

    @asynccontextmanager
    async def socket(self, path: str) -> AsyncGenerator[Socket, None]:
        async with super().socket(path) as socket:
            yield CountingSocket(socket, lambda: self.done(path.partition("?")[0]))


@dataclass
class CountingSocket:
    inner: Socket
    done: Callable[[], None]

    async def __aiter__(self) -> AsyncIterator[str | bytes]:
        async for message in self.inner:
            yield message
            self.done()  # the reader asks for the next one

    async def send(self, text: str) -> None:
        await self.inner.send(text)


@dataclass
class Counting(Direct):
    """Connects to a recorded mothership."""

    mothership: RecordedMothership | None = None

    async def open(self, notice: Callable[[str], None]) -> HttpTransport:
        assert self.mothership is not None
        transport = CountingTransport(self.server, self.token)
        transport.done = self.mothership.note_taken
        self.opened.append(transport)
        return transport


def _found(value: object) -> Json:
    return {"status": 200, "content_type": "application/json", "json": value}


async def _send_on(line: Line, send: Send) -> None:
    while (text := await line.outgoing.get()) is not None:
        await send({"type": "websocket.send", "text": text})
    await send({"type": "websocket.close"})


@asynccontextmanager
async def recorded_mothership(path: Path) -> AsyncGenerator[RecordedMothership, None]:
    mothership = RecordedMothership(SocketAddress(path))
    listener = Listener(mothership)
    with private_socket(path) as listening:
        serving = asyncio.create_task(listener.run_on(listening))
        try:
            yield mothership
        finally:
            for line in mothership.lines.values():
                line.outgoing.put_nowait(None)
            listener.force_exit = True
            listener.stop()
            await serving
