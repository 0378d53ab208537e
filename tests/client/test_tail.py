import asyncio
import traceback
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path
from typing import cast

import pytest
from websockets.asyncio.server import ServerConnection, serve, unix_serve

from client.hand_clock import LONG_S
from client.raw_server import SECRET, TOKEN, Exchange, free_port, raw_server
from colonizer_client.errors import ClientError, Forbidden, NoReply, NotFound, SignInNeeded, Unreachable, Unreadable
from colonizer_client.mothership import tail
from colonizer_client.mothership.transport import Server
from colonizer_config.address import HttpAddress, SocketAddress

pytestmark = pytest.mark.anyio

PATH = "/api/sessions/a/events"


async def heard(server: Server) -> list[str | bytes]:
    async with asyncio.timeout(LONG_S):
        return await asyncio.to_thread(lambda: list(tail.frames(server, TOKEN, PATH)))


async def failure(server: Server) -> ClientError:
    with pytest.raises(ClientError) as caught:
        await heard(server)
    assert SECRET not in "".join(traceback.format_exception(caught.value))
    return caught.value


@asynccontextmanager
async def talking(talk: Callable[[ServerConnection], Awaitable[None]], at: Path | None) -> AsyncGenerator[Server, None]:
    async with serve(talk, "127.0.0.1", 0) if at is None else unix_serve(talk, str(at)) as server:
        port = 0 if at is not None else cast("int", next(iter(server.sockets)).getsockname()[1])
        yield HttpAddress("http", "127.0.0.1", port) if at is None else SocketAddress(at)


@pytest.mark.parametrize("over_tcp", [True, False])
async def test_frames_are_heard_until_the_server_closes(tmp_path: Path, over_tcp: bool) -> None:
    async def talk(connection: ServerConnection) -> None:
        assert connection.request is not None
        assert connection.request.path == PATH
        assert connection.request.headers["Authorization"] == f"Bearer {SECRET}"
        await connection.send("one")
        await connection.send(b"two")
        await connection.close(1001, "going away")

    async with talking(talk, None if over_tcp else tmp_path / "s") as server:
        assert await heard(server) == ["one", b"two"]


async def test_a_server_that_drops_the_connection_is_an_end() -> None:
    async def talk(connection: ServerConnection) -> None:
        connection.transport.abort()

    async with talking(talk, None) as server:
        assert await heard(server) == []


@pytest.mark.parametrize(
    ("status", "kind"), [(401, SignInNeeded), (403, Forbidden), (404, NotFound), (302, Unreadable), (200, Unreadable)]
)
async def test_a_refusal_tells_the_servers_words(status: int, kind: type[ClientError]) -> None:
    async with raw_server(lambda exchange: exchange.reply(status, b"no \x1b", content_type="text/plain")) as server:
        found = await failure(server.address)
    assert type(found) is kind
    if status >= 400:
        assert str(found) == "no ␛"


async def test_no_redirect_is_followed_with_the_token() -> None:
    async with raw_server(lambda exchange: exchange.reply(404)) as elsewhere:
        target = f"{elsewhere.address}{PATH}".replace("http", "ws")
        async with raw_server(lambda exchange: exchange.reply(307, location=target)) as server:
            assert isinstance(await failure(server.address), Unreadable)
    assert elsewhere.exchanges == []


@pytest.mark.parametrize("over_tcp", [True, False])
async def test_a_server_that_is_not_there_is_unreachable(tmp_path: Path, over_tcp: bool) -> None:
    absent = HttpAddress("http", "127.0.0.1", free_port()) if over_tcp else SocketAddress(tmp_path / "no.sock")
    assert isinstance(await failure(absent), Unreachable)


async def saying(exchange: Exchange, *, data: bytes) -> None:
    await exchange.say(data)
    exchange.writer.close()


@pytest.mark.parametrize("data", [b"", b"HTTP/1.1", b"\x00garbage\r\n\r\n"])
async def test_a_server_that_breaks_off_the_handshake_gave_no_reply(data: bytes) -> None:
    async with raw_server(partial(saying, data=data)) as server:
        assert isinstance(await failure(server.address), NoReply)


async def test_a_server_that_never_answers_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tail, "CONNECT_TIMEOUT_S", 0.3)

    async def silent(exchange: Exchange) -> None:
        await exchange.reader.read()

    async with raw_server(silent) as server:
        assert isinstance(await failure(server.address), NoReply)
