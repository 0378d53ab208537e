"""How a WebSocket is served until one side has had enough."""

import asyncio
from collections.abc import Coroutine
from contextlib import suppress
from typing import Any

from starlette.websockets import WebSocket, WebSocketDisconnect

_FAREWELL_S = 5.0


async def until_first(*work: Coroutine[Any, Any, None]) -> None:
    """Nothing, once one of the pieces of work is done; the others are cancelled then.

    Raises:
        WebSocketDisconnect: The client is gone.
    """
    tasks = [asyncio.create_task(piece) for piece in work]
    try:
        done, _ = await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.wait(tasks)
    for task in done:
        task.result()


async def hang_up(socket: WebSocket) -> None:
    """Closes the socket without a code (1005 for the client), as the published program does."""
    # A client that does not read any more cannot be told either.
    with suppress(WebSocketDisconnect, RuntimeError, TimeoutError):
        async with asyncio.timeout(_FAREWELL_S):
            await socket.send({"type": "websocket.close", "code": None})
