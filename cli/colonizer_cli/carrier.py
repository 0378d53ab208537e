"""Carries the lines of an MCP client on stdio to the local engine, where the server is: thin, and soon there.

The engine may end and be started again meanwhile. What it had not answered then is answered here with an error, and
the next message starts it again; a client that opened with a handshake is introduced to the new one as to the old.
"""

import json
import socket
import threading
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from http.client import HTTPConnection, HTTPException, HTTPResponse
from typing import BinaryIO, cast

from colonizer_client.engine import LocalEngine
from colonizer_client.errors import ClientError, EngineUnavailable
from colonizer_engines.mcp_wire import LISTENING, MESSAGE_LIMIT_BYTES

CONNECTION_LOST = -32000
INVALID_REQUEST = -32600
"""Codes of JSON-RPC errors, as the SDK uses them."""

LAST_ANSWERS_S = 65.0
"""How long what is still open may take once the client has said all; a little more than the engine grants it."""

DYING_S = 2.0
"""How long an engine may take to let go of everything."""

_LOST = "the local engine ended before it answered; whether the call was carried out is not known"
_REFUSAL_LIMIT_BYTES = 2000

Message = Mapping[str, object]


class Carrier:
    """Carries between one client and whichever engine runs; `outgoing` is what the client reads."""

    def __init__(
        self, engine: LocalEngine, path: str, outgoing: BinaryIO, headers: Mapping[str, str] | None = None
    ) -> None:
        self._engine = engine
        self._path = path
        self._outgoing = outgoing
        self._headers = headers or {}
        """What the engine is told with each session beside its lines."""
        self.was_asked = False
        """Whether the client has asked anything."""
        self._line: _Line | None = None
        self._handshake: list[bytes] = []
        """What opened the session, in the order in which it was said."""
        self._lock = threading.Lock()
        """Held to write to the client, and over `_open`."""
        self._open: set[str] = set()
        """The ids of requests that nobody has answered yet, as JSON; whoever takes one out answers it."""
        self._listening: set[str] = set()
        """Those that are answered when the client has said all."""

    def carry(self, incoming: BinaryIO) -> None:
        """Carries until the client has said all, and has its answers."""
        for line in incoming:
            message = _parsed(line)
            if message:
                self._take(line.rstrip(b"\n") + b"\n", message)
        with self._lock:
            self._open -= self._listening
        if self._line is not None:
            self._line.finish(LAST_ANSWERS_S)

    def _take(self, line: bytes, message: Message) -> None:
        request, method = _request_id(message), message.get("method")
        self.was_asked |= request is not None
        if len(line) > MESSAGE_LIMIT_BYTES:
            self._refuse(request, INVALID_REQUEST, f"a message has at most {MESSAGE_LIMIT_BYTES} bytes")
            return
        if method == "initialize":
            self._handshake = []
        try:
            connected = self._connected()
        except (ClientError, HTTPException, OSError) as problem:
            self._refuse(request, CONNECTION_LOST, f"the local engine cannot be reached: {problem}")
            return
        if method in ("initialize", "notifications/initialized"):
            self._handshake.append(line)
        if request is not None:
            with self._lock:
                self._open.add(request)
                if method == LISTENING:
                    self._listening.add(request)
        try:
            connected.send(line)
        except OSError:
            self._lose(connected)

    def _connected(self) -> "_Line":
        """The line to the engine, which is started where it does not run, and told what opened the session."""
        if self._line is None or self._line.lost:
            self._line = self._opened()
            self._line.listen(self._hear, self._lose)
            for said in self._handshake:
                self._line.send(said)
        return self._line

    def _opened(self) -> "_Line":
        deadline = time.monotonic() + DYING_S
        while True:
            self._engine.ensure_running()
            try:
                return _Line(self._engine, self._path, self._headers)
            except (HTTPException, OSError):
                # Nothing was said yet. An engine that is just dying still takes connections for a moment.
                if time.monotonic() > deadline:
                    raise
                time.sleep(0.02)

    def _hear(self, line: bytes) -> None:
        """Hands on what the engine says, but no answer that nobody waits for, as to a handshake made again."""
        message = _parsed(line) or {}
        with self._lock:
            if "method" not in message:
                answered = json.dumps(message.get("id"))
                if answered not in self._open:
                    return
                self._open.discard(answered)
                self._listening.discard(answered)
            self._write(line)

    def _lose(self, line: "_Line") -> None:
        """Answers what the engine will not answer any more; the next message gets a new line."""
        with self._lock:
            if line.lost:
                return  # what is open now was asked of its successor
            line.lost = True
            lost, self._open, self._listening = self._open, set(), set()
            for request in sorted(lost):
                self._write(_failure(request, CONNECTION_LOST, _LOST))

    def _refuse(self, request: str | None, code: int, words: str) -> None:
        """Answers what the engine is not asked."""
        with self._lock:
            if request is not None:
                self._write(_failure(request, code, words))

    def _write(self, line: bytes) -> None:
        with suppress(BrokenPipeError):  # the client is gone, and so will be its end of stdin
            self._outgoing.write(line)
            self._outgoing.flush()


class _Line:
    """One request to the engine whose body and reply last as long as the session.

    Raises:
        EngineUnavailable: The engine refuses it; the text is its own words.
        OSError: It is gone.
    """

    def __init__(self, engine: LocalEngine, path: str, headers: Mapping[str, str]) -> None:
        self.lost = False
        """Whether the engine has said its last word."""
        connection = HTTPConnection("local")
        self._socket = connection.sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self._socket.connect(str(engine.address.path))
        connection.putrequest("POST", path)
        connection.putheader("Authorization", f"Bearer {engine.token().reveal()}")
        for name, value in headers.items():
            connection.putheader(name, value)
        connection.putheader("Content-Type", "application/x-ndjson")
        connection.putheader("Transfer-Encoding", "chunked")
        connection.endheaders()
        self._reply = connection.getresponse()
        if self._reply.status != 200:
            words = self._reply.read(_REFUSAL_LIMIT_BYTES).decode("utf-8", "replace").strip()
            raise EngineUnavailable(f"{words or self._reply.reason}; see `colonizer engine status`")

    def send(self, line: bytes) -> None:
        """Says one line."""
        self._socket.sendall(b"%x\r\n%s\r\n" % (len(line), line))

    def listen(self, hear: Callable[[bytes], None], lose: "Callable[[_Line], None]") -> None:
        """Has a thread hand over each line, and tell when there are no more."""
        self._listener = threading.Thread(target=self._listen, args=(self._reply, hear, lose), daemon=True)
        self._listener.start()

    def finish(self, patience_s: float) -> None:
        """Says that nothing more comes, and waits for the engine's last line."""
        try:
            self._socket.sendall(b"0\r\n\r\n")
        except OSError:
            return  # then the engine is gone, and the listener knows
        finally:
            self._listener.join(patience_s)

    def _listen(self, reply: HTTPResponse, hear: Callable[[bytes], None], lose: "Callable[[_Line], None]") -> None:
        try:
            while (line := reply.readline()).endswith(b"\n"):
                hear(line)
        except (HTTPException, OSError):
            pass  # it ended in the middle of a line
        with suppress(OSError):
            self._socket.shutdown(socket.SHUT_RDWR)
        lose(self)


def _parsed(line: bytes) -> Message | None:
    """The message, None where the line holds none."""
    try:
        value: object = json.loads(line)
    except (ValueError, RecursionError):
        return None
    return cast("Message", value) if isinstance(value, dict) else None


def _request_id(message: Message) -> str | None:
    """The id under which an answer is waited for, as JSON; the SDK answers none of another type."""
    request = message.get("id") if "method" in message else None
    return json.dumps(request) if isinstance(request, str | int) else None


def _failure(request: str, code: int, words: str) -> bytes:
    error = {"code": code, "message": words}
    return f'{{"jsonrpc":"2.0","id":{request},"error":{json.dumps(error)}}}\n'.encode()
