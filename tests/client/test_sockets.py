import asyncio
import base64
import hashlib
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
from colonizer_client.errors import (
    ClientError,
    Forbidden,
    NoReply,
    NotFound,
    ServerFault,
    SignInNeeded,
    Unreachable,
    Unreadable,
)
from colonizer_client.mothership import http
from colonizer_client.mothership.http import HttpTransport, open_transport
from colonizer_client.mothership.transport import CLOSE_TIMEOUT_S, Server
from colonizer_config.address import HttpAddress, SocketAddress

pytestmark = pytest.mark.anyio

PATH = "/api/stream"
SHORT_S = 0.3
Talk = Callable[[ServerConnection], Awaitable[None]]


@asynccontextmanager
async def transport_to(server: Server) -> AsyncGenerator[HttpTransport, None]:
    transport = await open_transport(server, TOKEN)
    try:
        yield transport
    finally:
        await transport.close()


@asynccontextmanager
async def talking(talk: Talk, at: Path | None = None) -> AsyncGenerator[HttpTransport, None]:
    """A transport to a server that talks so on each of its sockets."""
    serving = serve(talk, "127.0.0.1", 0, max_size=None) if at is None else unix_serve(talk, str(at), max_size=None)
    async with serving as server:
        port = 0 if at is not None else cast("int", next(iter(server.sockets)).getsockname()[1])
        address = HttpAddress("http", "127.0.0.1", port) if at is None else SocketAddress(at)
        async with transport_to(address) as transport:
            yield transport


async def heard(transport: HttpTransport) -> list[str | bytes]:
    """All messages until the socket ends."""
    async with asyncio.timeout(LONG_S), transport.socket(PATH) as socket:
        return [message async for message in socket]


async def refusal(server: Server) -> ClientError:
    """The error of opening a socket, which gives no token away."""
    async with transport_to(server) as transport:
        with pytest.raises(ClientError) as caught:
            await heard(transport)
    assert SECRET not in "".join(traceback.format_exception(caught.value))
    return caught.value


@pytest.mark.parametrize("over_tcp", [True, False])
async def test_messages_are_heard_as_they_were_sent_until_the_server_closes(tmp_path: Path, over_tcp: bool) -> None:
    async def talk(connection: ServerConnection) -> None:
        assert connection.request is not None
        assert connection.request.path == PATH
        assert connection.request.headers["Authorization"] == f"Bearer {SECRET}"
        assert "Sec-WebSocket-Extensions" not in connection.request.headers
        await connection.send("one")
        await connection.send(b"two")

    async with talking(talk, None if over_tcp else tmp_path / "s") as transport:
        assert await heard(transport) == ["one", b"two"]


async def test_what_is_sent_arrives() -> None:
    async def echo(connection: ServerConnection) -> None:
        async for message in connection:
            await connection.send(message)

    async with talking(echo) as transport, transport.socket(PATH) as socket, asyncio.timeout(LONG_S):
        await socket.send('{"type":"interrupt"}')
        assert await anext(aiter(socket)) == '{"type":"interrupt"}'


async def test_a_frame_of_five_megabytes_is_heard() -> None:
    async with talking(lambda connection: connection.send("x" * 5_000_000)) as transport:
        assert [len(message) for message in await heard(transport)] == [5_000_000]


async def test_a_frame_beyond_the_limit_is_said_and_not_taken_for_an_end(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(http, "FRAME_LIMIT_BYTES", 1000)
    async with talking(lambda connection: connection.send("x" * 1001)) as transport:
        with pytest.raises(Unreadable, match="protocol"):
            await heard(transport)


async def test_a_server_that_goes_away_without_a_word_is_an_end() -> None:
    async def drop(connection: ServerConnection) -> None:
        await connection.send("last words")
        connection.transport.abort()

    async with talking(drop) as transport:
        assert (await heard(transport))[:1] in ([], ["last words"])


@pytest.mark.parametrize("code", [1000, 1001, 1008, 1011, 4000])
async def test_whatever_the_server_closes_with_is_an_end(code: int) -> None:
    async with talking(lambda connection: connection.close(code, "why")) as transport:
        assert await heard(transport) == []


async def test_a_ping_is_answered() -> None:
    async def ping(connection: ServerConnection) -> None:
        async with asyncio.timeout(LONG_S):
            await (await connection.ping())
        await connection.send("answered")

    async with talking(ping) as transport:
        assert await heard(transport) == ["answered"]


async def test_sending_over_a_closed_socket_says_so() -> None:
    async with talking(lambda connection: connection.close()) as transport, transport.socket(PATH) as socket:
        async with asyncio.timeout(LONG_S):
            assert [message async for message in socket] == []
        with pytest.raises(NoReply):
            await socket.send("late")


@pytest.mark.parametrize(
    ("status", "kind"),
    [
        (401, SignInNeeded),
        (403, Forbidden),
        (404, NotFound),
        (500, ServerFault),
        (503, ServerFault),
        (302, Unreadable),
        (200, Unreadable),
    ],
)
async def test_a_refused_socket_tells_the_servers_words(status: int, kind: type[ClientError]) -> None:
    async with raw_server(lambda exchange: exchange.reply(status, b"no \x1b", content_type="text/plain")) as server:
        found = await refusal(server.address)
    assert type(found) is kind
    if status >= 400:
        assert str(found) == "no ␛"


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
async def test_no_redirect_of_a_socket_is_followed_with_the_token(status: int) -> None:
    async with raw_server(lambda exchange: exchange.reply(404)) as elsewhere:
        target = f"{elsewhere.address}{PATH}".replace("http", "ws")
        async with raw_server(lambda exchange: exchange.reply(status, location=target)) as server:
            assert isinstance(await refusal(server.address), Unreadable)
    assert elsewhere.exchanges == []


@pytest.mark.parametrize("at", ["tcp", "socket"])
async def test_a_socket_to_a_server_that_is_not_there_is_unreachable(tmp_path: Path, at: str) -> None:
    absent = HttpAddress("http", "127.0.0.1", free_port()) if at == "tcp" else SocketAddress(tmp_path / "no.sock")
    assert isinstance(await refusal(absent), Unreachable)


async def saying(exchange: Exchange, *, data: bytes) -> None:
    await exchange.say(data)
    exchange.writer.close()


@pytest.mark.parametrize("data", [b"", b"HTTP/1.1", b"\x00garbage\r\n\r\n", b"SSH-2.0-x\r\n"])
async def test_a_server_that_breaks_off_the_handshake_gave_no_reply(data: bytes) -> None:
    async with raw_server(partial(saying, data=data)) as server:
        assert isinstance(await refusal(server.address), NoReply)


async def test_a_server_that_never_answers_the_handshake_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(http, "CONNECT_TIMEOUT_S", SHORT_S)

    async def silent(exchange: Exchange) -> None:
        await exchange.reader.read()

    async with raw_server(silent) as server:
        found = await refusal(server.address)
    assert isinstance(found, NoReply)
    assert "it took too long" in str(found)


async def handshake(exchange: Exchange, *, then: bytes, hangs: bool = False) -> None:
    """Opens the socket and says some bytes; then it goes with the client's next word, or never."""
    key = (exchange.header("sec-websocket-key") or "") + "258EAFA5-E914-47DA-95CA-C5AB0DC85B11"
    accept = base64.b64encode(hashlib.sha1(key.encode()).digest()).decode()
    upgrade = "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
    await exchange.say(f"{upgrade}Sec-WebSocket-Accept: {accept}\r\n\r\n".encode() + then)
    await exchange.reader.read(1)
    if hangs:
        await asyncio.Event().wait()
    exchange.writer.close()


@pytest.mark.parametrize(
    "then", [b"\x81\x02\xff\xfe", b"\xf1\x00", b"\x83\x00"], ids=["utf-8", "reserved-bits", "reserved-opcode"]
)
async def test_bytes_that_are_no_frame_break_the_protocol(then: bytes) -> None:
    async with raw_server(partial(handshake, then=then)) as server, transport_to(server.address) as transport:
        with pytest.raises(Unreadable, match="protocol"):
            await heard(transport)


async def test_leaving_a_socket_does_not_wait_for_a_server_that_hangs() -> None:
    script = partial(handshake, then=b"\x81\x02hi", hangs=True)
    async with raw_server(script) as server, transport_to(server.address) as transport, asyncio.timeout(LONG_S):
        async with transport.socket(PATH) as socket:
            heard_first = await anext(aiter(socket))
        assert heard_first == "hi"
    assert CLOSE_TIMEOUT_S < 0.3


@pytest.mark.parametrize("proxy", ["socks5://127.0.0.1:1", "nonsense://x"])
async def test_a_proxy_that_no_socket_can_use_is_said_in_words(proxy: str, monkeypatch: pytest.MonkeyPatch) -> None:
    async with transport_to(HttpAddress("http", "mothership.example", 7878)) as transport:
        monkeypatch.setenv("ALL_PROXY", proxy)
        with pytest.raises(ClientError):
            await heard(transport)
