"""The server that the mothership is served with: how it ends."""

import asyncio
import os
import socket

import pytest
from starlette.applications import Starlette
from starlette.routing import WebSocketRoute
from starlette.websockets import WebSocket, WebSocketDisconnect

from colonizer_engines.daemon.server import Listener

pytestmark = pytest.mark.anyio

HANDSHAKE = (
    b"GET / HTTP/1.1\r\nHost: localhost\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n"
    b"Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: MDEyMzQ1Njc4OWFiY2RlZg==\r\n\r\n"
)
CLOSE_FRAME = b"\x88\x80" + os.urandom(4)


async def test_a_listener_stops_while_a_socket_is_half_closed() -> None:
    """The other side has said goodbye, and reads no more of what is still to be sent to it."""
    accepted, said_goodbye = asyncio.Event(), asyncio.Event()

    async def flood(websocket: WebSocket) -> None:
        await websocket.accept()
        accepted.set()
        await websocket.send_bytes(bytes(8_000_000))
        try:
            await websocket.receive_bytes()
        except WebSocketDisconnect:
            said_goodbye.set()

    listening = socket.create_server(("127.0.0.1", 0))
    listener = Listener(Starlette(routes=[WebSocketRoute("/", flood)]))
    serving = asyncio.create_task(listener.run_on(listening))
    with socket.create_connection(listening.getsockname()) as client:
        client.sendall(HANDSHAKE)
        async with asyncio.timeout(10):
            await accepted.wait()
            client.sendall(CLOSE_FRAME)
            await said_goodbye.wait()
            listener.stop()
            await serving
