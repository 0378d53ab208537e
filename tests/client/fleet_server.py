"""A mothership over a real socket whose every word a test chooses."""

import asyncio
import json
from collections.abc import AsyncGenerator, Awaitable, Callable, MutableMapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeAlias
from urllib.parse import parse_qs

from client.hand_clock import LONG_S
from client.samples import Json, session
from colonizer_config.address import SocketAddress
from colonizer_engines.daemon.listeners import private_socket
from colonizer_engines.daemon.server import Listener

Message: TypeAlias = MutableMapping[str, Any]
Receive: TypeAlias = Callable[[], Awaitable[Message]]
Send: TypeAlias = Callable[[Message], Awaitable[None]]

OWNER: Json = {"owner": True, "scope": "owner", "orgs": [], "repos": []}
READER: Json = {"owner": False, "scope": "read", "name": "reader", "orgs": [], "repos": []}

HANG = 0
"""The status of an answer that never comes."""


class RawFrame(dict[str, Any]):
    """A frame that goes out as the text that it is."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.text = text


@dataclass
class Log:
    epoch: int = 1
    events: list[Json] = field(default_factory=list[Json])
    host_lines: list[Json] = field(default_factory=list[Json])


@dataclass(eq=False)
class Socket:
    path: str
    outgoing: "asyncio.Queue[Json | int]" = field(default_factory=lambda: asyncio.Queue())
    heard: list[Json] = field(default_factory=list[Json])
    loop: asyncio.AbstractEventLoop = field(default_factory=asyncio.get_running_loop)

    def say(self, what: Json | int) -> None:
        """Has it sent next, a frame or the code of the end; the test may run in another thread than the server."""
        self.loop.call_soon_threadsafe(self.outgoing.put_nowait, what)


@dataclass
class FleetServer:
    address: SocketAddress
    standing: Json = field(default_factory=lambda: OWNER)
    sessions: dict[str, Json] = field(default_factory=dict[str, Json])
    questions: dict[str, Json] = field(default_factory=dict[str, Json])
    logs: dict[str, Log] = field(default_factory=dict[str, Log])
    replies: dict[tuple[str, str], tuple[int, object]] = field(
        default_factory=dict[tuple[str, str], tuple[int, object]]
    )
    """By method and path, in place of what would be answered: status (or HANG) and body."""
    edit: Callable[[str, list[Json]], list[Json]] = lambda path, frames: frames
    """What a new socket of this path and query is sent, in place of these frames."""
    asked: list[str] = field(default_factory=list[str])
    """Methods and paths with their queries; a socket's method is WS."""
    sent: list[Json] = field(default_factory=list[Json])
    """The bodies that came."""
    sockets: list[Socket] = field(default_factory=list[Socket])
    _news: asyncio.Event = field(default_factory=asyncio.Event)
    _moment: int = 0

    def put(self, colony: str, **fields: object) -> None:
        """Changes a colony, and tells every socket that would be told."""
        self.sessions[colony] = session(colony) | self.sessions.get(colony, {}) | {"updated_at": self.now()} | fields
        frame = {"type": "session", "session": self.sessions[colony]}
        self.push("/api/stream", frame)
        self.push(f"/api/sessions/{colony}/events", frame)

    def remove(self, colony: str) -> None:
        del self.sessions[colony]
        self.push("/api/stream", {"type": "session_removed", "id": colony})

    def say(self, colony: str, kind: str, /, **body: object) -> Json:
        """Appends an event to a colony's log and sends it to those who follow."""
        log = self.logs.setdefault(colony, Log())
        event = {"type": kind, "seq": len(log.events) + 1, "ts": self.now(), "origin": "agent", **body}
        log.events.append(event)
        self.push(f"/api/sessions/{colony}/events", event)
        return event

    def push(self, path: str, frame: Json) -> None:
        for socket in self.at(path):
            socket.say(frame)

    def end(self, path: str, code: int = 1000) -> None:
        """Closes the sockets of a path."""
        for socket in self.at(path):
            self.sockets.remove(socket)
            socket.say(code)

    def now(self) -> str:
        self._moment += 1
        return f"2026-11-30T12:{self._moment // 60:02}:{self._moment % 60:02}Z"

    def count(self, what: str) -> int:
        return sum(asked.split("?")[0] == what for asked in self.asked)

    def posts(self) -> list[str]:
        """The paths that something was posted to, oldest first."""
        return [asked.removeprefix("POST ") for asked in self.asked if asked.startswith("POST ")]

    async def until(self, holds: Callable[[], object]) -> None:
        """Returns when a request, a message or the end of a socket made the condition hold."""
        async with asyncio.timeout(LONG_S):
            while not holds():
                self._news.clear()
                await self._news.wait()

    async def until_asked(self, what: str, times: int = 1) -> None:
        """Returns when it was asked for that often."""
        await self.until(lambda: self.count(what) >= times)

    def at(self, path: str) -> list[Socket]:
        """The open sockets of a path."""
        return [socket for socket in self.sockets if socket.path == path]

    async def until_followed(self, path: str) -> None:
        """Returns when a socket of the path is open and was sent what there is."""
        await self.until(lambda: self.at(path))

    async def __call__(self, scope: MutableMapping[str, Any], receive: Receive, send: Send) -> None:
        path, query = str(scope["path"]), scope["query_string"].decode()
        method = str(scope.get("method", "WS"))
        self.asked.append(f"{method} {path}" + (f"?{query}" if query else ""))
        self._news.set()
        status, body = self.replies.get((method, path), (None, None))
        if status == HANG:
            await asyncio.Event().wait()
        elif scope["type"] == "websocket":
            await self._serve(Socket(path), query, status, body, receive, send)
        else:
            content = b""
            while (message := await receive())["type"] == "http.request":
                content += message.get("body", b"")
                if not message.get("more_body"):
                    break
            if content:
                self.sent.append(json.loads(content))
            if status is None:
                status, body = self._answer(method, path, query)
            await _respond(send, "http.response", status, body)

    def _answer(self, method: str, path: str, query: str) -> tuple[int, object]:
        parts = path.strip("/").split("/")
        colony = parts[2] if len(parts) > 2 else ""
        match method, *parts[1:2], *parts[3:]:
            case "GET", "tokens":
                return 200, self.standing
            case "GET", "version":
                return 200, {"version": "v0.2.23"}
            case "GET", "status":
                return 200, {"sandbox": {"provider": "bwrap"}}
            case "GET", "sessions" if not colony:
                return 200, list(self.sessions.values())
            case "GET", "sessions" if colony in self.sessions:
                return 200, self.sessions[colony]
            case "GET", "sessions", "question":
                return (200, self.questions[colony]) if colony in self.questions else (204, None)
            case "GET", "sessions", "events":
                return 200, self._page(colony, query)
            case _:
                return 404, {"error": "no such session"}

    def _page(self, colony: str, query: str) -> Json:
        log, asked = self.logs.get(colony, Log()), parse_qs(query)
        before = int(asked.get("before", [str(len(log.events) + 1)])[0])
        page = [event for event in log.events if event["seq"] < before][-int(asked["limit"][0]) :]
        oldest = page[0]["seq"] if page else None
        offset = (oldest or 1) - 1
        return {"events": page, "has_more": offset > 0, "oldest_seq": oldest, "epoch": log.epoch, "offset": offset}

    def _opening(self, path: str, query: str) -> list[Json]:
        if path == "/api/stream":
            return [{"type": "sessions", "sessions": list(self.sessions.values())}, {"type": "orgs", "orgs": []}]
        colony, asked = path.split("/")[3], {name: int(value[0]) for name, value in parse_qs(query).items()}
        log = self.logs.setdefault(colony, Log())
        cursor = 0 if asked.get("epoch") not in (0, None, log.epoch) else asked.get("since", 0)
        frames: list[Json] = [{"type": "run_epoch", "epoch": log.epoch}]
        if colony in self.sessions:
            frames.append({"type": "session", "session": self.sessions[colony]})
        frames += log.host_lines
        events = [event for event in log.events if event["seq"] > cursor]
        if "limit" in asked and cursor == 0:
            events = events[-asked["limit"] :]
            oldest = events[0]["seq"] if events else 0
            more = {"has_more": oldest > 1, "oldest_seq": oldest, "epoch": log.epoch, "offset": max(oldest - 1, 0)}
            frames.append({"type": "history", **more})
        return [*frames, *events, {"type": "replay_done", "seq": events[-1]["seq"] if events else cursor}]

    async def _serve(
        self, socket: Socket, query: str, status: int | None, body: object, receive: Receive, send: Send
    ) -> None:
        await receive()
        if status is not None:
            await _respond(send, "websocket.http.response", status, body)
            return
        await send({"type": "websocket.accept"})
        for frame in self.edit(f"{socket.path}?{query}", self._opening(socket.path, query)):
            text = frame.text if isinstance(frame, RawFrame) else json.dumps(frame)
            await send({"type": "websocket.send", "text": text})
        self.sockets.append(socket)
        self._news.set()
        sending = asyncio.create_task(_send_on(socket, send))
        try:
            while (message := await receive())["type"] != "websocket.disconnect":
                socket.heard.append(json.loads(message["text"]))
                self._news.set()
        finally:
            if socket in self.sockets:
                self.sockets.remove(socket)
            self._news.set()
            sending.cancel()
            await asyncio.wait([sending])


async def _send_on(socket: Socket, send: Send) -> None:
    while not isinstance(frame := await socket.outgoing.get(), int):
        await send({"type": "websocket.send", "text": json.dumps(frame)})
    await send({"type": "websocket.close", "code": frame})


async def _respond(send: Send, kind: str, status: int, body: object) -> None:
    content = b"" if body is None else body.encode() if isinstance(body, str) else json.dumps(body).encode()
    type_ = b"text/plain" if isinstance(body, str) else b"application/json"
    headers = [(b"content-type", type_), (b"content-length", str(len(content)).encode())]
    await send({"type": f"{kind}.start", "status": status, "headers": headers})
    await send({"type": f"{kind}.body", "body": content})


@asynccontextmanager
async def fleet_server(path: Path, kind: type[FleetServer] = FleetServer) -> AsyncGenerator[FleetServer, None]:
    server = kind(SocketAddress(path))
    listener = Listener(server)
    with private_socket(path) as listening:
        serving = asyncio.create_task(listener.run_on(listening))
        try:
            yield server
        finally:
            for socket in list(server.sockets):
                server.end(socket.path)
            listener.force_exit = True
            listener.stop()
            await serving
