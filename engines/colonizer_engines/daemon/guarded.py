"""An MCP server over HTTP for programs on this machine: who may ask it, and how long it is there."""

import asyncio
import hmac
import signal
import socket

from starlette.datastructures import Headers
from starlette.responses import Response
from starlette.types import ASGIApp, Receive, Scope, Send

from colonizer_engines.daemon.server import Listener
from colonizer_engines.host_names import HostNames

PATH = "/mcp"


class Guard:
    """Lets through what names this host, was not sent by somebody else's page, and has the token."""

    def __init__(self, app: ASGIApp, token: str, names: HostNames) -> None:
        self._app = app
        self._authorization = f"Bearer {token}".encode()
        self._names = names

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """One request."""
        if scope["type"] != "http":
            await send({"type": "websocket.close"})
            return
        refusal = self._refusal(str(scope["path"]), Headers(scope=scope))
        await (refusal or self._app)(scope, receive, send)

    def _refusal(self, path: str, headers: Headers) -> Response | None:
        if not self._names.allow_host(headers.get("host", "")):
            return Response("Host not allowed", 403, media_type="text/plain")
        if not self._names.allow_origin(headers.get("origin")):
            return Response("Origin not allowed", 403, media_type="text/plain")
        if not hmac.compare_digest(headers.get("authorization", "").encode(), self._authorization):
            challenge = {"WWW-Authenticate": "Bearer"}
            return Response("missing or wrong token", 401, challenge, media_type="text/plain")
        return None if path == PATH else Response("not found", 404, media_type="text/plain")


async def serve_until_told(app: ASGIApp, listening: socket.socket) -> None:
    """Serves on a port that is open already, until this process is told to end."""
    listener = Listener(app)
    for number in (signal.SIGTERM, signal.SIGINT):
        asyncio.get_running_loop().add_signal_handler(number, listener.stop)
    await listener.run_on(listening)
