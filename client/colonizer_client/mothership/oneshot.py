"""The small transport of plain commands: one request, one connection, the standard library only."""

import http.client
import json
import socket
from collections.abc import Generator
from contextlib import contextmanager, suppress
from threading import Event, Timer
from typing import Any, TypeVar

from colonizer_client.errors import NoReply, Unreachable, Unreadable
from colonizer_client.mothership.calls import Call
from colonizer_client.mothership.replies import Reply, refuse_encoding
from colonizer_client.mothership.transport import REPLY_LIMIT_BYTES, REQUEST_TIMEOUT_S, Server, words_of
from colonizer_config.address import SocketAddress
from colonizer_config.token import Token

T = TypeVar("T")


class OneShot:
    """Runs calls one after the other, each on a connection of its own. It never follows a redirect."""

    def __init__(self, server: Server, token: Token, *, timeout_s: float = REQUEST_TIMEOUT_S) -> None:
        self.server = server
        self._token = token
        self._timeout_s = timeout_s

    def run(self, call: Call[T]) -> T:
        """The call's result.

        Raises:
            ClientError: Unreachable, NoReply, a refusal, a fault, or an unreadable reply.
        """
        return call.read(self._send(call))

    def _send(self, call: "Call[Any]") -> Reply:
        connection = _connection(self.server, self._timeout_s)
        try:
            connection.connect()
        except OSError as problem:
            connection.close()
            raise Unreachable(words_of(problem)) from problem
        try:
            with _deadline(connection.sock, self._timeout_s):
                return self._exchange(connection, call)
        except (OSError, http.client.HTTPException) as problem:
            raise NoReply(words_of(problem)) from problem
        finally:
            connection.close()

    def _exchange(self, connection: http.client.HTTPConnection, call: "Call[Any]") -> Reply:
        headers = {**call.headers, "Authorization": f"Bearer {self._token.reveal()}", "Accept-Encoding": "identity"}
        body = None
        if call.body is not None:
            body = json.dumps(call.body, ensure_ascii=True).encode()
            headers["Content-Type"] = "application/json"
        connection.request(call.method, _prefix(self.server) + call.path, body=body, headers=headers)
        with connection.getresponse() as response:
            refuse_encoding(response.getheader("Content-Encoding") or "")
            received = response.read(REPLY_LIMIT_BYTES + 1)
            if len(received) > REPLY_LIMIT_BYTES:
                raise Unreadable(f"a reply of more than {REPLY_LIMIT_BYTES // 2**20} MiB")
            if response.length:  # where a limit is given, the library takes a short body for a whole one
                raise http.client.IncompleteRead(received, response.length)
            content_type, date = response.getheader("Content-Type") or "", response.getheader("Date") or ""
        return Reply(response.status, received, content_type, date)


@contextmanager
def _deadline(connected: socket.socket, timeout_s: float) -> Generator[None]:
    """Ends the connection after a while, which is a TimeoutError: the socket's own limit begins anew with each byte."""
    expired = Event()

    def expire() -> None:
        expired.set()
        with suppress(OSError):
            connected.shutdown(socket.SHUT_RDWR)

    timer = Timer(timeout_s, expire)
    timer.daemon = True
    timer.start()
    try:
        yield
    except (OSError, http.client.HTTPException) as problem:
        raise (TimeoutError() if expired.is_set() else problem) from problem
    finally:
        timer.cancel()
    if expired.is_set():
        raise TimeoutError


def _connection(server: Server, timeout_s: float) -> http.client.HTTPConnection:
    if isinstance(server, SocketAddress):
        return _UnixConnection(str(server.path), timeout_s)
    kind = http.client.HTTPSConnection if server.scheme == "https" else http.client.HTTPConnection
    return kind(server.host, server.port, timeout=timeout_s)


def _prefix(server: Server) -> str:
    return "" if isinstance(server, SocketAddress) else server.path.rstrip("/")


class _UnixConnection(http.client.HTTPConnection):
    def __init__(self, path: str, timeout_s: float) -> None:
        super().__init__("localhost", timeout=timeout_s)
        self._path = path

    def connect(self) -> None:
        self.sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self.sock.settimeout(self.timeout)
        self.sock.connect(self._path)
