import asyncio
import gzip
import json
import socket
import traceback
from collections.abc import Generator
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

import pytest

from client.hand_clock import LONG_S
from client.raw_server import SECRET, TOKEN, Exchange, RawServer, Script, free_port, raw_server
from client.samples import HQ, session
from colonizer_client.errors import (
    ClientError,
    Conflict,
    Forbidden,
    NoReply,
    NotFound,
    ServerFault,
    SignInNeeded,
    TooMany,
    Unreachable,
    Unreadable,
)
from colonizer_client.identity import ColonyId
from colonizer_client.mothership import calls, http, oneshot
from colonizer_client.mothership.calls import Call
from colonizer_client.mothership.http import open_transport
from colonizer_client.mothership.models import LaunchOrder
from colonizer_client.mothership.oneshot import OneShot
from colonizer_client.mothership.transport import Server
from colonizer_config.address import HttpAddress, SocketAddress
from colonizer_config.token import Token
from served_mothership import OWNER, served

pytestmark = pytest.mark.anyio
T = TypeVar("T")

SHORT_S = 0.3
"""For what never comes."""

STATUS = calls.server_status()


@dataclass
class Wire:
    """One of the two transports, over TCP or a Unix socket."""

    is_pooled: bool
    folder: Path | None

    def server(self, script: Script) -> AbstractAsyncContextManager[RawServer]:
        return raw_server(script, "127.0.0.1" if self.folder is None else self.folder / "s")

    async def run(self, server: Server, call: Call[T], timeout_s: float = LONG_S) -> T:
        if not self.is_pooled:
            return await asyncio.to_thread(OneShot(server, TOKEN, timeout_s=timeout_s).run, call)
        transport = await open_transport(server, TOKEN)
        try:
            return await transport.run(call, timeout_s=timeout_s)
        finally:
            await transport.close()

    async def failure(self, server: Server, call: Call[Any], timeout_s: float = LONG_S) -> ClientError:
        """The call's error, which gives no token away."""
        with pytest.raises(ClientError) as caught:
            await self.run(server, call, timeout_s)
        assert SECRET not in "".join(traceback.format_exception(caught.value))
        assert str(caught.value)
        return caught.value


@pytest.fixture(params=["pooled over tcp", "pooled over a socket", "one shot over tcp", "one shot over a socket"])
def wire(request: pytest.FixtureRequest, tmp_path: Path) -> Wire:
    name = str(request.param)
    return Wire(name.startswith("pooled"), tmp_path if name.endswith("socket") else None)


async def test_a_call_goes_out_as_it_is_meant_and_its_reply_comes_back(wire: Wire) -> None:
    async def script(exchange: Exchange) -> None:
        await exchange.reply(200, json.dumps(session("new")).encode())

    order = LaunchOrder("acme/widgets", "Grüße\n", idempotency_key="once")
    async with wire.server(script) as server:
        assert (await wire.run(server.address, calls.launch(HQ, order))).key.colony == "new"
    (exchange,) = server.exchanges
    assert exchange.line == "POST /api/sessions HTTP/1.1"
    assert exchange.header("authorization") == f"Bearer {SECRET}"
    assert exchange.header("accept-encoding") == "identity"
    assert exchange.header("content-type") == "application/json"
    assert exchange.header("idempotency-key") == "once"
    assert json.loads(exchange.body) == calls.launch(HQ, order).body
    assert exchange.body.isascii()


async def test_a_call_without_a_body_sends_none(wire: Wire) -> None:
    async with wire.server(lambda exchange: exchange.reply(204)) as server:
        await wire.run(server.address, calls.seen(ColonyId("a b")))
    (exchange,) = server.exchanges
    assert exchange.line == "POST /api/sessions/a%20b/seen HTTP/1.1"
    assert exchange.body == b""
    assert exchange.header("content-type") is None


@pytest.mark.parametrize(
    ("status", "kind"),
    [
        (401, SignInNeeded),
        (403, Forbidden),
        (404, NotFound),
        (409, Conflict),
        (429, TooMany),
        (500, ServerFault),
        (503, ServerFault),
    ],
)
async def test_a_refusal_comes_with_the_servers_words(wire: Wire, status: int, kind: type[ClientError]) -> None:
    async with wire.server(
        lambda exchange: exchange.reply(status, b"not \x1btoday", content_type="text/plain")
    ) as server:
        found = await wire.failure(server.address, STATUS)
    assert type(found) is kind
    assert str(found) == "not ␛today"


async def test_a_server_that_is_not_there_was_sent_nothing(wire: Wire, tmp_path: Path) -> None:
    absent = (
        HttpAddress("http", "127.0.0.1", free_port()) if wire.folder is None else SocketAddress(tmp_path / "no.sock")
    )
    assert isinstance(await wire.failure(absent, STATUS), Unreachable)


async def test_a_stale_socket_file_is_a_server_that_is_not_there(wire: Wire, tmp_path: Path) -> None:
    if wire.folder is None:
        return
    path = tmp_path / "stale.sock"
    with socket.socket(socket.AF_UNIX) as stale:
        stale.bind(str(path))
    assert isinstance(await wire.failure(SocketAddress(path), STATUS), Unreachable)


@pytest.fixture
def deaf() -> Generator[Server]:
    """A host that takes connections and never reads."""
    with socket.create_server(("127.0.0.1", 0)) as listening:
        yield HttpAddress("http", "127.0.0.1", listening.getsockname()[1])


async def test_a_host_that_never_answers_is_given_up(wire: Wire, deaf: Server) -> None:
    found = await wire.failure(deaf, STATUS, SHORT_S)
    assert isinstance(found, NoReply)
    assert "it took too long" in str(found)


async def saying(exchange: Exchange, *, data: bytes) -> None:
    await exchange.say(data)
    exchange.writer.close()


HEAD = b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\n"


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"H",
        b"\x00\x01\x02 garbage\r\n\r\n",
        b"SSH-2.0-OpenSSH_9.2\r\n",
        HEAD + b'content-length: 100\r\n\r\n{"version": "cut',
        HEAD + b"transfer-encoding: chunked\r\n\r\n5\r\n{}",
        HEAD + b"transfer-encoding: chunked\r\n\r\nzz\r\n{}\r\n",
        b"HTTP/1.1 abc OK\r\n\r\n",
        b"HTTP/1.1 200 OK\r\n" + b"x: " + b"y" * 200_000 + b"\r\n\r\n",
    ],
)
async def test_what_is_no_whole_reply_is_no_reply(wire: Wire, data: bytes) -> None:
    async with wire.server(partial(saying, data=data)) as server:
        assert isinstance(await wire.failure(server.address, STATUS), NoReply)


async def test_a_head_that_is_cut_off_is_no_answer(wire: Wire) -> None:
    async with wire.server(partial(saying, data=HEAD)) as server:
        assert isinstance(await wire.failure(server.address, STATUS), NoReply | Unreadable)


async def test_a_reply_that_never_ends_is_given_up(wire: Wire) -> None:
    async def trickling(exchange: Exchange) -> None:
        await exchange.say(HEAD + b"content-length: 1000000\r\n\r\n")
        while True:
            await exchange.say(b" ")
            await asyncio.sleep(SHORT_S / 20)

    async with wire.server(trickling) as server:
        found = await wire.failure(server.address, STATUS, SHORT_S)
    assert isinstance(found, NoReply)
    assert "it took too long" in str(found)


async def test_a_head_that_never_ends_is_given_up(wire: Wire) -> None:
    async def waiting(exchange: Exchange) -> None:
        while True:
            await exchange.say(b"HTTP/1.1 100 Continue\r\n\r\n")
            await asyncio.sleep(SHORT_S / 20)

    async with wire.server(waiting) as server:
        assert isinstance(await wire.failure(server.address, STATUS, SHORT_S), NoReply)


async def test_a_body_whose_end_nobody_names_is_not_taken_for_whole_when_time_is_up(wire: Wire) -> None:
    async def lingering(exchange: Exchange) -> None:
        await exchange.say(b'HTTP/1.0 200 OK\r\n\r\n{"version": "1"}')
        await exchange.reader.read()

    async with wire.server(lingering) as server:
        assert isinstance(await wire.failure(server.address, STATUS, SHORT_S), NoReply)


async def test_a_body_that_is_too_large_is_not_read_to_its_end(wire: Wire, monkeypatch: pytest.MonkeyPatch) -> None:
    for module in (http, oneshot):
        monkeypatch.setattr(module, "REPLY_LIMIT_BYTES", 2**20)

    async def flooding(exchange: Exchange) -> None:
        await exchange.say(HEAD + b"transfer-encoding: chunked\r\n\r\n")
        while True:
            await exchange.say(b"10000\r\n" + b" " * 0x10000 + b"\r\n")

    async with wire.server(flooding) as server:
        found = await wire.failure(server.address, STATUS)
    assert isinstance(found, Unreadable)
    assert "more than 1 MiB" in str(found)


async def test_a_compressed_body_is_refused_unopened(wire: Wire) -> None:
    bomb = gzip.compress(b" " * 2**24)
    async with wire.server(lambda exchange: exchange.reply(200, bomb, content_encoding="gzip")) as server:
        found = await wire.failure(server.address, STATUS)
    assert isinstance(found, Unreadable)
    assert "encoding" in str(found)


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
async def test_no_redirect_is_followed_with_the_token(wire: Wire, status: int) -> None:
    async with raw_server(lambda exchange: exchange.reply(200, b"{}")) as elsewhere:
        target = f"{elsewhere.address}/api/status"
        async with wire.server(lambda exchange: exchange.reply(status, location=target)) as server:
            found = await wire.failure(server.address, STATUS)
    assert isinstance(found, Unreadable)
    assert "token" in str(found)
    assert elsewhere.exchanges == []


async def test_a_page_with_200_is_no_answer(wire: Wire) -> None:
    page = b"<!doctype html><title>Colonizer</title>"
    async with wire.server(lambda exchange: exchange.reply(200, page, content_type="text/html")) as server:
        assert isinstance(await wire.failure(server.address, STATUS), Unreadable)


async def test_a_proxy_of_the_environment_is_not_asked_for_this_machine(
    wire: Wire, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with raw_server(lambda exchange: exchange.reply(200, b"{}")) as proxy:
        for name in ("http_proxy", "HTTP_PROXY", "all_proxy", "ALL_PROXY"):
            monkeypatch.setenv(name, str(proxy.address))
        async with wire.server(lambda exchange: exchange.reply(200, b'{"here": 1}')) as server:
            assert await wire.run(server.address, STATUS) == {"here": 1}
    assert proxy.exchanges == []


async def test_a_server_below_a_path_is_asked_below_it() -> None:
    async with raw_server(lambda exchange: exchange.reply(200, b"{}")) as server:
        assert isinstance(server.address, HttpAddress)
        below = HttpAddress("http", server.address.host, server.address.port, "/hq/")
        for is_pooled in (True, False):
            await Wire(is_pooled, None).run(below, STATUS)
    assert [exchange.line for exchange in server.exchanges] == ["GET /hq/api/status HTTP/1.1"] * 2


@pytest.mark.parametrize("is_pooled", [True, False])
async def test_a_server_on_ipv6_is_reached(is_pooled: bool) -> None:
    async with raw_server(lambda exchange: exchange.reply(200, b"{}"), "::1") as server:
        assert await Wire(is_pooled, None).run(server.address, STATUS) == {}


@pytest.mark.parametrize("over_tcp", [True, False])
@pytest.mark.parametrize("is_pooled", [True, False])
async def test_the_embedded_mothership_answers_both(tmp_path: Path, over_tcp: bool, is_pooled: bool) -> None:
    async with served(tmp_path, over_tcp=over_tcp) as mothership:
        base = mothership.http.base_url
        server: Server = HttpAddress("http", base.host, base.port) if over_tcp else SocketAddress(mothership.socket)

        def run(call: Call[T], token: str = OWNER) -> Any:
            async def pooled() -> T:
                transport = await open_transport(server, Token(token))
                try:
                    return await transport.run(call)
                finally:
                    await transport.close()

            return pooled() if is_pooled else asyncio.to_thread(OneShot(server, Token(token)).run, call)

        assert (await run(calls.standing())).is_owner
        assert await run(calls.colonies(HQ)) == ((), 0)
        with pytest.raises(SignInNeeded):
            await run(calls.standing(), "f" * 64)
        with pytest.raises(NotFound):
            await run(calls.question(ColonyId("ffffffff")))


# What only the pooled transport does.


async def test_connections_are_kept_and_figures_noted() -> None:
    ports: set[object] = set()

    async def script(exchange: Exchange) -> None:
        ports.add(exchange.writer.get_extra_info("peername"))
        await exchange.reply(200, b"{}", date="Mon, 30 Nov 2026 10:00:00 GMT")

    async with raw_server(script) as server:
        transport = await open_transport(server.address, TOKEN)
        assert (transport.latency_s, transport.skew_s) == (None, None)
        await transport.run(STATUS)
        await transport.run(STATUS)
        assert len(ports) == 1
        assert transport.latency_s is not None
        assert transport.skew_s is not None
        await transport.close()


async def test_what_is_read_is_read_again_where_a_kept_connection_had_ended_and_what_is_sent_is_not() -> None:
    seen: list[object] = []

    async def script(exchange: Exchange) -> None:
        connection = exchange.writer.get_extra_info("peername")
        if connection in seen:
            exchange.writer.close()
        else:
            await exchange.reply(200, b"{}")
        seen.append(connection)

    async with raw_server(script) as server:
        transport = await open_transport(server.address, TOKEN)
        await transport.run(STATUS)
        await transport.run(STATUS)
        assert [exchange.line for exchange in server.exchanges] == ["GET /api/status HTTP/1.1"] * 3
        with pytest.raises(NoReply):
            await transport.run(calls.stop(HQ, ColonyId("a1b2c3d4")))
        assert len(server.exchanges) == 4
        await transport.close()


@pytest.mark.parametrize("date", ["", "yesterday", "Mon, 30 Nov 99999 10:00:00 GMT"])
async def test_a_date_that_is_none_tells_no_skew(date: str) -> None:
    async with raw_server(lambda exchange: exchange.reply(200, b"{}", date=date)) as server:
        transport = await open_transport(server.address, TOKEN)
        await transport.run(STATUS)
        assert transport.skew_s is None
        await transport.close()


async def test_calls_in_flight_when_the_transport_closes_have_no_reply() -> None:
    asked = asyncio.Event()

    async def silent(exchange: Exchange) -> None:
        asked.set()
        await exchange.reader.read()

    async with raw_server(silent) as server:
        transport = await open_transport(server.address, TOKEN)
        running = asyncio.create_task(transport.run(STATUS))
        async with asyncio.timeout(LONG_S):
            await asked.wait()
            await transport.close()
            with pytest.raises(NoReply):
                await running


@pytest.mark.parametrize("turns", range(2, 7))
async def test_what_a_server_drops_is_not_read_again_over_a_transport_that_is_closed_meanwhile(turns: int) -> None:
    async def close_after_turns() -> None:
        for _ in range(turns):  # of the loop: the transport closes a little earlier or later than it hears of the end
            await asyncio.sleep(0)
        await transport.close()

    async def hang_up(exchange: Exchange) -> None:
        exchange.writer.close()
        closing.append(asyncio.create_task(close_after_turns()))

    closing: list[asyncio.Task[None]] = []
    async with raw_server(hang_up) as server:
        transport = await open_transport(server.address, TOKEN)
        with pytest.raises(NoReply):
            await transport.run(STATUS)
        await asyncio.wait(closing)


@pytest.mark.filterwarnings("error::pytest.PytestUnraisableExceptionWarning")
@pytest.mark.parametrize("turns", range(4))
async def test_no_connection_stays_open_that_was_made_while_the_transport_closed(turns: int, tmp_path: Path) -> None:
    ended = asyncio.Event()

    async def script(exchange: Exchange) -> None:
        await exchange.reply(200, b"{}")
        await exchange.reader.read()
        ended.set()

    async with raw_server(script, tmp_path / "s") as server:
        transport = await open_transport(server.address, TOKEN)
        running = asyncio.create_task(transport.run(STATUS))
        for _ in range(turns):
            await asyncio.sleep(0)
        await transport.close()
        (outcome,) = await asyncio.gather(running, return_exceptions=True)
        assert not isinstance(outcome, BaseException) or isinstance(outcome, ClientError)
        if server.exchanges:
            async with asyncio.timeout(LONG_S):
                await ended.wait()


async def test_a_call_over_a_closed_transport_was_not_sent() -> None:
    async with raw_server(lambda exchange: exchange.reply(200, b"{}")) as server:
        transport = await open_transport(server.address, TOKEN)
        await transport.close()
        with pytest.raises(Unreachable):
            await transport.run(STATUS)
    assert server.exchanges == []


@pytest.mark.parametrize("proxy", ["socks5://127.0.0.1:1", "nonsense://x"])
async def test_a_proxy_that_cannot_be_used_is_said_in_words(proxy: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ALL_PROXY", proxy)
    with pytest.raises(Unreachable, match="proxy"):
        await open_transport(HttpAddress("http", "mothership.example", 7878), TOKEN)


@pytest.mark.parametrize("is_pooled", [True, False])
async def test_a_server_of_https_that_speaks_no_tls_is_told_nothing(is_pooled: bool) -> None:
    heard = bytearray()

    async def plain(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        heard.extend(await reader.read(4096))
        writer.write(b"HTTP/1.1 400 Bad Request\r\ncontent-length: 0\r\n\r\n")
        writer.close()

    async with await asyncio.start_server(plain, "127.0.0.1", 0) as server:
        secure = HttpAddress("https", "127.0.0.1", server.sockets[0].getsockname()[1])
        assert isinstance(await Wire(is_pooled, None).failure(secure, STATUS), Unreachable)
    assert heard
    assert SECRET.encode() not in heard
