"""Hands HTTP requests on to the local engine's private socket, for those who may not have all that lies behind it."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import h11
from starlette.datastructures import Headers
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from colonizer_engines.mcp_wire import MESSAGE_LIMIT_BYTES

_HANDED_ON = frozenset({"accept", "content-type", "last-event-id"})
_HANDED_BACK = frozenset({b"content-type", b"mcp-session-id", b"cache-control"})
_PIECE_BYTES = 64 * 1024


@dataclass(frozen=True, slots=True)
class Relay:
    """The application that asks the engine whatever it is asked itself."""

    socket: Path
    path: str
    """The route of the engine that answers."""
    ready: Callable[[], str]
    """Starts the engine where it does not run, and gives its token; blocks, and raises an OSError in words."""

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """One request."""
        request = Request(scope, receive)
        with suppress(ClientDisconnect):
            body = await _body(request)
            if body is None:
                await Response("Request body too large", 413)(scope, receive, send)
                return
            asking = asyncio.create_task(self._ask(request, body, send))
            leaving = asyncio.create_task(_gone(receive))
            try:
                await asyncio.wait((asking, leaving), return_when=asyncio.FIRST_COMPLETED)
            finally:
                asking.cancel()
                leaving.cancel()
                await asyncio.wait((asking, leaving))
            if not asking.cancelled():
                asking.result()

    async def _ask(self, request: Request, body: bytes, send: Send) -> None:
        """Hands back what the engine answers; says so where it does not, as long as nothing is handed back yet."""
        begun = False
        try:
            async for event in self._answer(request, body):
                begun = True
                await _hand_back(event, send)
        except (OSError, h11.RemoteProtocolError) as problem:
            if begun:
                raise
            words = f"the local engine does not answer: {problem}"
            await Response(words, 502, media_type="text/plain")(request.scope, request.receive, send)

    async def _answer(self, request: Request, body: bytes) -> AsyncIterator[h11.Event]:
        token = await asyncio.to_thread(self.ready)
        reader, writer = await asyncio.open_unix_connection(self.socket)
        try:
            engine = h11.Connection(h11.CLIENT)
            headers = [*_handed_on(request.headers), ("host", "local"), ("authorization", f"Bearer {token}")]
            headers += [("content-length", str(len(body))), ("connection", "close")]
            asked = h11.Request(method=request.method, target=self.path, headers=headers)
            for part in (asked, h11.Data(data=body), h11.EndOfMessage()):
                writer.write(engine.send(part) or b"")
            while engine.their_state not in (h11.DONE, h11.MUST_CLOSE, h11.CLOSED):
                event = engine.next_event()
                if event is h11.NEED_DATA:
                    engine.receive_data(await reader.read(_PIECE_BYTES))
                elif isinstance(event, h11.Event):
                    yield event
        finally:
            writer.close()


async def _hand_back(event: h11.Event, send: Send) -> None:
    if isinstance(event, h11.Response):
        headers = [(name, value) for name, value in event.headers if name in _HANDED_BACK]
        await send({"type": "http.response.start", "status": event.status_code, "headers": headers})
    elif isinstance(event, h11.Data):
        await send({"type": "http.response.body", "body": bytes(event.data), "more_body": True})
    elif isinstance(event, h11.EndOfMessage):
        await send({"type": "http.response.body", "body": b""})


def _handed_on(headers: Headers) -> list[tuple[str, str]]:
    return [(name, value) for name, value in headers.items() if name in _HANDED_ON or name.startswith("mcp-")]


async def _body(request: Request) -> bytes | None:
    """The body, None where it is too large."""
    taken = b""
    async for piece in request.stream():
        taken += piece
        if len(taken) > MESSAGE_LIMIT_BYTES:
            return None
    return taken


async def _gone(receive: Receive) -> None:
    """Returns when the client has left."""
    while (await receive())["type"] != "http.disconnect":
        pass
