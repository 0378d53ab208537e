"""Handing requests on to an engine: one that answers, one that is not there, one that dies meanwhile."""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path

import httpx
import pytest

from colonizer_engines.daemon.relay import Relay

pytestmark = pytest.mark.anyio

_WHOLE = b"HTTP/1.1 200 OK\r\ncontent-type: text/plain\r\nx-inner: 1\r\ncontent-length: 2\r\n\r\nok"


@asynccontextmanager
async def engine_that_says(path: Path, answer: bytes) -> AsyncGenerator[list[bytes]]:
    """What an engine hears that says the same to everybody, and leaves."""
    heard: list[bytes] = []

    async def answer_one(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        heard.append(await reader.readuntil(b"\r\n\r\n"))
        writer.write(answer)
        await writer.drain()
        writer.close()

    async with await asyncio.start_unix_server(answer_one, path):
        yield heard


async def asked(relay: Relay) -> httpx.Response:
    async with httpx.AsyncClient(transport=httpx.ASGITransport(relay), base_url="http://here") as http:
        headers = {"mcp-session-id": "7", "cookie": "mine", "authorization": "Bearer outer"}
        return await http.post("/mcp", content=b"question", headers=headers)


async def test_the_engine_is_asked_with_its_own_token_and_nothing_else_of_the_client(tmp_path: Path) -> None:
    socket = tmp_path / "engine.sock"
    async with engine_that_says(socket, _WHOLE) as heard:
        answer = await asked(Relay(socket, "/inner", lambda: "inner"))
    assert (answer.status_code, answer.text, "x-inner" in answer.headers) == (200, "ok", False)
    head = heard[0].lower()
    assert head.startswith(b"post /inner http/1.1\r\n")
    assert b"authorization: bearer inner\r\n" in head
    assert b"mcp-session-id: 7\r\n" in head
    assert b"outer" not in head
    assert b"cookie" not in head


@pytest.mark.parametrize("answer", [b"", b"rubbish\r\n\r\n", b"HTTP/1.1 200 OK\r\ncont"])
async def test_an_engine_that_does_not_answer_is_told(tmp_path: Path, answer: bytes) -> None:
    socket = tmp_path / "engine.sock"
    async with engine_that_says(socket, answer):
        found = await asked(Relay(socket, "/inner", lambda: "inner"))
    assert (found.status_code, found.text.startswith("the local engine does not answer: ")) == (502, True)


async def test_an_engine_that_cannot_be_started_is_told(tmp_path: Path) -> None:
    def ready() -> str:
        raise ConnectionError("it has no folder")

    found = await asked(Relay(tmp_path / "engine.sock", "/inner", ready))
    assert (found.status_code, found.text) == (502, "the local engine does not answer: it has no folder")


async def test_an_answer_that_breaks_off_is_no_whole_one(tmp_path: Path) -> None:
    socket = tmp_path / "engine.sock"
    async with engine_that_says(socket, _WHOLE[:-1]):
        with pytest.raises(Exception, match="without sending complete message body"):
            await asked(Relay(socket, "/inner", lambda: "inner"))
