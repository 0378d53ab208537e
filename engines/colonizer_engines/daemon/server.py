"""Serving an ASGI application on a socket that is open already."""

import asyncio
import contextlib
import socket
from collections.abc import Generator

import uvicorn
from starlette.types import ASGIApp
from uvicorn._types import ASGISendEvent
from uvicorn.protocols.websockets.websockets_sansio_impl import WebSocketsSansIOProtocol
from websockets.protocol import OPEN

PING_S = 20.0
_GOODBYE_S = 2
_IDLE_S = 30
"""How long an unused connection is kept: longer than clients keep theirs, lest one is closed just as it is used."""
_MESSAGE_LIMIT_BYTES = 1024 * 1024


class _Socket(WebSocketsSansIOProtocol):
    """A websocket that may be refused, and that may be half closed when the server stops."""

    async def send(self, message: ASGISendEvent) -> None:
        """Sends what the application says."""
        await super().send(message)
        # After a refusal in full, uvicorn (0.54) would still wait for a handshake, and log that none came.
        if message["type"] == "websocket.http.response.body" and self.close_sent:
            self.handshake_complete = True

    def shutdown(self) -> None:
        """Says goodbye to who has not done so; uvicorn (0.54) would fail to stop at one who has."""
        if self.handshake_complete and self.conn.state is not OPEN:
            self.transport.close()
        else:
            super().shutdown()


class Listener(uvicorn.Server):
    """A server that stops when it is told to: signals are the process's business, and nothing wakes an idle one."""

    def __init__(self, app: ASGIApp) -> None:
        config = uvicorn.Config(
            app,
            ws=_Socket,
            ws_ping_interval=PING_S,
            ws_ping_timeout=PING_S,
            ws_per_message_deflate=False,
            ws_max_size=_MESSAGE_LIMIT_BYTES,
            lifespan="off",
            access_log=False,
            log_config=None,
            log_level="warning",
            server_header=False,
            date_header=False,
            timeout_keep_alive=_IDLE_S,
            timeout_graceful_shutdown=_GOODBYE_S,
        )
        super().__init__(config)
        self._stopping = asyncio.Event()

    async def run_on(self, listening: socket.socket) -> None:
        """Serves until `stop` is called and the connections are closed."""
        await self.serve(sockets=[listening])

    def stop(self) -> None:
        """Has the server close its connections and end."""
        self.should_exit = True
        self._stopping.set()

    async def main_loop(self) -> None:
        """Waits for `stop`, instead of looking ten times a second."""
        await self._stopping.wait()

    @contextlib.contextmanager
    def capture_signals(self) -> Generator[None, None, None]:
        """Leaves signals alone."""
        yield
