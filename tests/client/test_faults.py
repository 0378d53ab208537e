"""What a network and a server can do to a cockpit, over real sockets: said in words, and nobody else's trouble."""

import asyncio
import time
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from email.utils import formatdate
from functools import partial
from pathlib import Path

import pytest

from client.bad_wire import bad_wire
from client.cockpits import Direct, connected, error, is_live, is_signed_out, is_silent, running, until
from client.cockpits import cockpit_at as made_cockpit
from client.fleet_server import FleetServer, Log, RawFrame
from client.hand_clock import HandClock, HastyClock
from client.raw_server import Exchange, Script, free_port, raw_server
from client.samples import HQ, key, question_body, session
from client.test_sockets import handshake
from colonizer_client.answers import Chosen
from colonizer_client.cockpit import Cockpit
from colonizer_client.errors import ClientError
from colonizer_client.identity import ColonyId, ColonyKey, EndpointName
from colonizer_client.mothership import http, link
from colonizer_client.snapshot import EndpointState, Health, Phase, Snapshot
from colonizer_config.address import HttpAddress

pytestmark = pytest.mark.anyio

LAB = EndpointName("lab")
STREAM = "/api/stream"
ANSWER = "/api/sessions/a/answer"
DAY_S = 86_400


@asynccontextmanager
async def beside_a_good_one(
    server: FleetServer, bad: object, folder: Path, clock: HandClock
) -> AsyncGenerator[Cockpit]:
    """A cockpit with `hq` at the bad address and `lab` at the server."""
    cockpit = made_cockpit(folder, clock)
    cockpit.add(EndpointState(HQ, "bad"), Direct(bad))  # type: ignore[arg-type]  # every kind of server
    cockpit.add(EndpointState(LAB, "good"), Direct(server.address))
    async with running(cockpit):
        yield cockpit


# Servers that are none.


async def says(exchange: Exchange, *, data: bytes, hangs: bool = False) -> None:
    await exchange.say(data)
    if hangs:
        await asyncio.Event().wait()
    exchange.writer.close()


async def drips(exchange: Exchange) -> None:
    await exchange.say(b"HTTP/1.1 200 OK\r\ncontent-length: 100000\r\n\r\n")
    while True:
        await exchange.say(b" ")
        await asyncio.sleep(0.01)


async def answers(exchange: Exchange, *, status: int = 200, body: bytes, **headers: str) -> None:
    await exchange.reply(status, body, **headers)


HEAD = b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\n"
BAD_SERVERS: dict[str, tuple[Script, str]] = {
    "closes at once": (partial(says, data=b""), "no answer from"),
    "says nothing": (partial(says, data=b"", hangs=True), "it took too long"),
    "speaks something else": (partial(says, data=b"SSH-2.0-OpenSSH_9.9\r\n"), "no answer from"),
    "breaks off in the head": (partial(says, data=b"HTTP/1.1 200 OK\r\ncont"), "no answer from"),
    "breaks off in the body": (partial(says, data=HEAD + b"content-length: 99\r\n\r\n{"), "no answer from"),
    "never ends its body": (drips, "it took too long"),
    "a length that is none": (partial(says, data=HEAD + b"content-length: many\r\n\r\n{}"), "no answer from"),
    "chunks that are none": (partial(says, data=HEAD + b"transfer-encoding: chunked\r\n\r\nzz\r\n"), "no answer from"),
    "a page of html": (partial(answers, body=b"<html>welcome</html>"), "with something but JSON: <html>welcome"),
    "a proxy's 502": (partial(answers, status=502, body=b"<html>", content_type="text/html"), "502 Bad Gateway"),
    "a redirect": (partial(answers, status=302, body=b"", location="http://evil.example/"), "check the address"),
    "a status of tomorrow": (partial(answers, status=299, body=b"[[["), "299"),
    "nested beyond reason": (partial(answers, body=b"[" * 5_000 + b"]" * 5_000), "with something but JSON: [[["),
    "a bomb": (partial(answers, body=b"\x1f\x8b", content_encoding="gzip"), "encoding that was not asked for"),
    "another JSON": (partial(answers, body=b'{"error": null}'), "not a list of colonies"),
}


@pytest.mark.parametrize("name", BAD_SERVERS)
async def test_a_server_that_is_none_is_said_in_words_and_is_nobody_elses_trouble(
    name: str, server: FleetServer, tmp_path: Path, clock: HandClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(link, "STANDING_TIMEOUT_S", 2.0)
    script, words = BAD_SERVERS[name]
    async with raw_server(script) as bad, beside_a_good_one(server, bad.address, tmp_path, clock) as cockpit:
        state = (await until(cockpit, is_silent)).endpoints[HQ]
        assert words in state.error
        assert state.error.isprintable()
        assert state.error == state.fault
        asked = len(bad.exchanges)
        server.put("a")
        snapshot = await until(cockpit, lambda now: ColonyKey(LAB, ColonyId("a")) in now.colonies)
        assert snapshot.endpoints[LAB].health is Health.LIVE
        assert len(bad.exchanges) == asked <= 4, "it is asked again when its time has come"


async def test_a_port_on_which_nothing_listens_is_said_and_is_nobody_elses_trouble(
    server: FleetServer, tmp_path: Path, clock: HandClock
) -> None:
    address = HttpAddress("http", "127.0.0.1", free_port())
    async with beside_a_good_one(server, address, tmp_path, clock) as cockpit:
        assert "Connection refused" in error(await until(cockpit, is_silent))
        await until(cockpit, lambda now: now.endpoints[LAB].health is Health.LIVE)


# Frames.


@pytest.mark.parametrize(
    "frame",
    [
        "{", "null", "5", '"x"', "[]", "[[[[", '{"type": 5}', '{"type": "session"}', '{"type": "session_removed"}',
        '{"type": "session", "session": {"id": ""}}', '{"type": "sessions", "sessions": 5}', "\x00", "{}" * 9,
        '{"type": "session", "session": ' + "[" * 3_000 + "]" * 3_000 + "}",
    ],
)  # fmt: skip
async def test_a_frame_that_says_nothing_changes_nothing_and_the_stream_goes_on(
    frame: str, server: FleetServer, tmp_path: Path, clock: HandClock
) -> None:
    server.put("a")
    server.edit = lambda path, frames: [*frames, RawFrame(frame)]
    async with connected(Direct(server.address), tmp_path, clock) as cockpit:
        await until(cockpit, lambda now: key("a") in now.colonies)
        await server.until_followed(STREAM)
        server.put("b")
        snapshot = await until(cockpit, lambda now: key("b") in now.colonies)
        assert set(snapshot.colonies) == {key("a"), key("b")}
        assert server.count(f"WS {STREAM}") == 1


def fragments() -> bytes:
    """The beginning of a message that goes on and on."""
    return b"\x01\x01x" + b"\x00\x7e\xff\xff" + b"x" * 65_535


@pytest.mark.parametrize(
    "then",
    [b"\x81\x7f\x00\x00\x01\x00\x00\x00\x00\x00", fragments() * 3, b"\xff\xff\xff", b"\x81\x02\xff\xfe"],
    ids=["announces a terabyte", "never ends", "no frame", "no text"],
)
async def test_a_socket_that_breaks_its_protocol_or_all_bounds_is_given_up_and_tried_again_later(
    then: bytes, tmp_path: Path, clock: HandClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(http, "FRAME_LIMIT_BYTES", 100_000)

    async def script(exchange: Exchange) -> None:
        if STREAM in exchange.line:
            await handshake(exchange, then=then)
        elif "self" in exchange.line:
            await exchange.reply(200, b'{"owner": true, "scope": "owner"}')
        elif "version" in exchange.line:
            await exchange.reply(200, b'{"version": "1"}')
        else:
            await exchange.reply(500, b'{"error": "no list either"}')

    async with raw_server(script) as server, connected(Direct(server.address), tmp_path, clock) as cockpit:
        assert error(await until(cockpit, is_silent)) == "no list either"
        assert [exchange.line.split()[1] for exchange in server.exchanges][-2:] == [STREAM, "/api/sessions"]


async def test_values_that_nobody_knows_yet_are_shown_and_stop_nothing(
    server: FleetServer, tmp_path: Path, clock: HandClock
) -> None:
    odd = "from_tomorrow"
    server.standing = {"owner": False, "scope": odd, "name": odd, "orgs": [odd], "repos": [odd], "max_concurrent": odd}
    server.put("a", status=odd, ci_state=odd, attention={"reason": odd}, parked={"reason": odd}, agent=odd)
    server.put("b", status="waiting_for_answer")
    server.questions["b"] = question_body("q-1", risk=odd)
    server.say("b", odd, text=odd)
    server.say("b", "status", state=odd)
    async with connected(Direct(server.address), tmp_path, clock) as cockpit:
        snapshot = await until(cockpit, lambda now: is_live(now) and key("b") in now.questions)
        standing = snapshot.endpoints[HQ].standing
        assert standing is not None
        assert not standing.covers("read")
        assert snapshot.colonies[key("a")].status == odd
        assert snapshot.questions[key("b")].risk.words == "unknown risk"
        cockpit.open(key("b"))
        await until(cockpit, lambda now: key("b") in now.transcripts and now.transcripts[key("b")].phase is Phase.LIVE)


# Requests and replies that are lost.


async def answered(cockpit: Cockpit) -> Snapshot:
    """The moment when the answer to the question of colony `a` is settled."""
    snapshot = await until(cockpit, lambda now: key("a") in now.questions)
    sent = cockpit.answer(key("a"), snapshot.questions[key("a")], [Chosen(("main",))])
    return await until(cockpit, lambda now: now.deliveries[sent.id].is_settled)


def asks(server: FleetServer) -> None:
    server.put("a", status="waiting_for_answer")
    server.questions["a"] = question_body("q-1")
    server.replies["POST", ANSWER] = (204, None)


async def test_an_answer_whose_reply_is_lost_is_confirmed_by_the_record_and_sent_once(
    server: FleetServer, tmp_path: Path
) -> None:
    asks(server)
    async with bad_wire(server.address) as wire:
        wire.replies_to_lose.append(f"POST {ANSWER}")
        async with connected(Direct(wire.address), tmp_path, HastyClock()) as cockpit:
            await until(cockpit, lambda now: key("a") in now.questions)
            del server.questions["a"]
            record = {"question_id": "q-1", "header": "Base", "question": "Which base?", "answer": "main"}
            server.sessions["a"]["answered_questions"] = [record]
            (delivery,) = (await answered(cockpit)).deliveries.values()
        assert (delivery.state, wire.lost) == ("confirmed", [f"POST {ANSWER}"])
    assert server.count(f"POST {ANSWER}") == 1


async def test_an_answer_that_is_lost_on_its_way_is_sent_once_more_and_arrives_once(
    server: FleetServer, tmp_path: Path
) -> None:
    asks(server)
    async with bad_wire(server.address) as wire:
        wire.requests_to_lose.append(f"POST {ANSWER}")
        async with connected(Direct(wire.address), tmp_path, HastyClock()) as cockpit:
            (delivery,) = (await answered(cockpit)).deliveries.values()
        assert (delivery.state, wire.lost) == ("confirmed", [f"POST {ANSWER}"])
    assert server.count(f"POST {ANSWER}") == 1


async def test_of_two_cockpits_that_answer_at_once_one_is_told_that_it_was_too_late(
    server: FleetServer, tmp_path: Path
) -> None:
    asks(server)
    first, second = tmp_path / "first", tmp_path / "second"
    async with (
        connected(Direct(server.address), first, HastyClock()) as one,
        connected(Direct(server.address), second, HastyClock()) as other,
    ):
        question = (await until(other, lambda now: key("a") in now.questions)).questions[key("a")]
        (won,) = (await answered(one)).deliveries.values()
        server.replies["POST", ANSWER] = (409, {"error": "no question is open"})
        sent = other.answer(key("a"), question, [Chosen(("dev",))])
        lost = (await until(other, lambda now: now.deliveries[sent.id].is_settled)).deliveries[sent.id]
    assert (won.state, lost.state, lost.words) == ("confirmed", "refused", "no question is open")
    assert server.count(f"POST {ANSWER}") == 2


# Clocks, and servers of other times.


@pytest.mark.parametrize("skew_s", [DAY_S, -DAY_S])
async def test_a_clock_that_is_a_day_off_is_told_and_is_no_failure(
    skew_s: int, server: FleetServer, tmp_path: Path, clock: HandClock
) -> None:
    server.put("a", status="waiting_for_answer")
    server.questions["a"] = question_body("q-1")
    async with bad_wire(server.address) as wire:

        def shifted(head: str) -> str:
            lines = [line for line in head.split("\r\n") if not line.lower().startswith("date:")]
            return "\r\n".join([lines[0], f"date: {formatdate(time.time() + skew_s, usegmt=True)}", *lines[1:]])

        wire.edit_head = shifted
        async with connected(Direct(wire.address), tmp_path, clock) as cockpit:
            snapshot = await until(cockpit, lambda now: is_live(now) and now.endpoints[HQ].skew_s is not None)
            assert abs((snapshot.endpoints[HQ].skew_s or 0) - skew_s) < 60
            assert snapshot.endpoints[HQ].error == ""
            await until(cockpit, lambda now: key("a") in now.questions)
            server.replies["GET", "/api/tokens/self"] = (401, "missing or invalid API token")
            cockpit.reconnect(HQ)
            assert error(await until(cockpit, is_signed_out)) == "missing or invalid API token"


async def test_a_log_whose_run_is_numbered_lower_than_before_begins_anew(
    server: FleetServer, tmp_path: Path, clock: HandClock
) -> None:
    events = "/api/sessions/a/events"
    server.put("a")
    server.logs["a"] = Log(epoch=7)
    for number in range(5):
        server.say("a", "assistant_text", message_id=f"m{number}", text=f"old {number}")
    async with connected(Direct(server.address), tmp_path, clock) as cockpit:
        await until(cockpit, is_live)
        cockpit.open(key("a"))
        await server.until_followed(events)
        server.logs["a"] = Log(epoch=1)
        server.say("a", "assistant_text", message_id="n", text="new")
        server.end(events)
        (pause, *_) = await clock.until_sleeping()
        clock.move(pause)
        state = (await until(cockpit, lambda now: now.transcripts[key("a")].epoch == 1)).transcripts[key("a")]
        await until(cockpit, lambda now: now.transcripts[key("a")].phase is Phase.LIVE)
        assert [entry.body for entry in state.transcript if entry.body] == ["new"]


async def test_a_mothership_without_half_of_the_routes_is_listed_and_says_what_it_cannot(
    server: FleetServer, tmp_path: Path, clock: HandClock
) -> None:
    page = "<html>the cockpit of an older version</html>"
    server.put("a", status="waiting_for_answer")
    for route in ("tokens/self", "version", "tokens", "sessions/a/question", "sessions/a/events", "sessions/a/diff"):
        server.replies["GET", f"/api/{route}"] = (200, page)
    for route in ("sessions/a/events", "stream"):
        server.replies["WS", f"/api/{route}"] = (404, page)
    for route in ("messages", "answer", "seen", "prewarm", "stop"):
        server.replies["POST", f"/api/sessions/a/{route}"] = (405, "method not allowed")
    async with connected(Direct(server.address), tmp_path, clock) as cockpit:
        state = (await until(cockpit, is_live)).endpoints[HQ]
        assert (state.standing, state.version, state.is_polled) == (None, "", True)
        cockpit.open(key("a"))
        await until(cockpit, lambda now: key("a") in now.transcripts and now.transcripts[key("a")].error)
        await cockpit.read_diff(key("a"))
        assert "something but JSON" in cockpit.snapshot.diffs[key("a")].error
        with pytest.raises(ClientError, match="method not allowed"):
            await cockpit.stop(key("a"))
        with pytest.raises(ClientError, match="something but JSON"):
            await cockpit.tokens(HQ)
        sent = cockpit.say(key("a"), "hello")
        delivery = (await until(cockpit, lambda now: now.deliveries[sent.id].is_settled)).deliveries[sent.id]
        assert (delivery.state, delivery.words) == ("refused", "method not allowed")
        assert is_live(cockpit.snapshot)


# Many.


@pytest.mark.parametrize("at_once", [True, False], ids=["in one list", "one by one"])
async def test_ten_thousand_colonies_that_appear_at_once_are_all_there(
    at_once: bool, server: FleetServer, tmp_path: Path, clock: HandClock
) -> None:
    many = [session(f"{number:08x}", issue_title=f"number {number}") for number in range(10_000)]
    async with connected(Direct(server.address), tmp_path, clock) as cockpit:
        await server.until_followed(STREAM)
        if at_once:
            server.push(STREAM, {"type": "sessions", "sessions": many})
        else:
            for one in many:
                server.push(STREAM, {"type": "session", "session": one})
        snapshot = await until(cockpit, lambda now: len(now.colonies) == 10_000)
        assert snapshot.endpoints[HQ].unreadable_rows == 0
        assert is_live(snapshot)


async def test_of_ten_hosts_the_bad_ones_delay_neither_the_good_ones_nor_the_end(
    server: FleetServer, tmp_path: Path, clock: HandClock
) -> None:
    async def hang(exchange: Exchange) -> None:
        await exchange.reader.read()

    async def refuse(exchange: Exchange) -> None:
        await exchange.reply(401, b"missing or invalid API token", content_type="text/plain")

    server.put("a")
    cockpit = made_cockpit(tmp_path, clock)
    async with raw_server(hang) as hanging, raw_server(refuse) as refusing:
        dead = HttpAddress("http", "127.0.0.1", free_port())
        places = [*[dead] * 3, *[hanging.address] * 3, *[refusing.address] * 2, *[server.address] * 2]
        for number, place in enumerate(places):
            cockpit.add(EndpointState(EndpointName(f"host-{number}"), str(place)), Direct(place))

        def healths(now: Snapshot) -> list[Health]:
            return [state.health for state in now.endpoints.values()]

        wanted = [*[Health.SILENT] * 3, *[Health.CONNECTING] * 3, *[Health.SIGNED_OUT] * 2, *[Health.LIVE] * 2]
        async with running(cockpit):
            await until(cockpit, lambda now: healths(now) == wanted)
            clock.move(60)
            await asyncio.sleep(0)
            assert len(refusing.exchanges) == 2, "who refuses the token is left alone"
