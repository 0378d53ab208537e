"""The server that the mothership is served with: how it refuses, and how it ends."""

import asyncio
import logging
import os
import socket

import pytest
from starlette.applications import Starlette
from starlette.responses import PlainTextResponse
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


async def test_a_refused_upgrade_is_answered_and_is_no_fault_in_the_log(caplog: pytest.LogCaptureFixture) -> None:
    async def refuse(websocket: WebSocket) -> None:
        await websocket.send_denial_response(PlainTextResponse("no such session", 404))

    listening = socket.create_server(("127.0.0.1", 0))
    listener = Listener(Starlette(routes=[WebSocketRoute("/", refuse)]))
    with caplog.at_level(logging.INFO):
        serving = asyncio.create_task(listener.run_on(listening))
        async with asyncio.timeout(10):
            reader, writer = await asyncio.open_connection(*listening.getsockname())
            writer.write(HANDSHAKE)
            answer = await reader.read()
            writer.close()
            listener.stop()
            await serving
    assert answer.startswith(b"HTTP/1.1 404 ")
    assert answer.endswith(b"\r\n\r\nno such session")
    assert answer.count(b"HTTP/1.1") == 1
    assert [record.getMessage() for record in caplog.records if record.levelno >= logging.WARNING] == []
