"""A server that answers what it was told to answer, and remembers what it was asked."""

import json
import socketserver
import threading
from collections.abc import Generator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path


@dataclass(frozen=True)
class Reply:
    status: int = 200
    text: str = ""
    content_type: str | None = "application/json"

    @classmethod
    def json(cls, value: object, status: int = 200) -> "Reply":
        return cls(status, json.dumps(value))


@dataclass(frozen=True)
class Asked:
    method: str
    path: str
    token: str
    sent: object


NOT_FOUND = Reply.json({"error": "no such session"}, 404)


@dataclass
class ScriptedMothership:
    replies: Mapping[tuple[str, str], Reply]
    """By method and path; what is missing is not found."""
    asked: list[Asked] = field(default_factory=list[Asked])
    host: str = ""
    """Where it is, as `--host` takes it."""

    @property
    def port(self) -> str:
        return self.host.rpartition(":")[2]


@contextmanager
def scripted_mothership(
    replies: Mapping[tuple[str, str], Reply], socket: Path | None = None
) -> Generator[ScriptedMothership]:
    """A server on loopback, or on a Unix socket."""
    mothership = ScriptedMothership(replies)

    class Handler(BaseHTTPRequestHandler):
        def answer(self) -> None:
            body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
            token = (self.headers.get("Authorization") or "").removeprefix("Bearer ")
            mothership.asked.append(Asked(self.command, self.path, token, json.loads(body) if body else None))
            reply = mothership.replies.get((self.command, self.path), NOT_FOUND)
            self.send_response(reply.status)
            if reply.content_type is not None:
                self.send_header("Content-Type", reply.content_type)
            self.send_header("Content-Length", str(len(reply.text.encode())))
            if 300 <= reply.status < 400:
                self.send_header("Location", "/elsewhere")
            self.end_headers()
            self.wfile.write(reply.text.encode())

        do_GET = do_POST = do_DELETE = answer

        def log_request(self, code: object = "-", size: object = "-") -> None: ...

    with _OnSocket(str(socket), Handler) if socket else ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        mothership.host = f"127.0.0.1:{server.server_port}"
        serving = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        serving.start()
        try:
            yield mothership
        finally:
            server.shutdown()
            serving.join()


class _OnSocket(socketserver.ThreadingUnixStreamServer):
    server_port = 0
    daemon_threads = True
