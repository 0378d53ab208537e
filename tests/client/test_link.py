import asyncio
from collections.abc import AsyncGenerator
from pathlib import Path
from typing import Any

import pytest

from client.cockpits import Direct, cockpit_at, connected, running, until
from client.fleet_server import HANG, READER, FleetServer, fleet_server
from client.hand_clock import LONG_S, HandClock
from client.raw_server import free_port
from client.samples import HQ, key, prompt, question_body, session
from colonizer_client.answers import Chosen
from colonizer_client.errors import ClientError, Conflict, Unreachable, Unreadable
from colonizer_client.identity import ColonyId, ColonyKey, EndpointName
from colonizer_client.mothership import wire
from colonizer_client.mothership.link import BACKOFF_FIRST_S, BACKOFF_LIMIT_S, POLL_S
from colonizer_client.snapshot import EndpointState, Health, Snapshot
from colonizer_config.address import HttpAddress, SocketAddress

pytestmark = pytest.mark.anyio

STREAM = "/api/stream"


@pytest.fixture
async def server(tmp_path: Path) -> AsyncGenerator[FleetServer, None]:
    async with fleet_server(tmp_path / "s") as made:
        yield made


@pytest.fixture
def clock() -> HandClock:
    return HandClock()


def health(snapshot: Snapshot) -> Health:
    return snapshot.endpoints[HQ].health


def is_live(snapshot: Snapshot) -> bool:
    return health(snapshot) is Health.LIVE


def is_silent(snapshot: Snapshot) -> bool:
    return health(snapshot) is Health.SILENT and snapshot.endpoints[HQ].retry_at is not None


def is_signed_out(snapshot: Snapshot) -> bool:
    return health(snapshot) is Health.SIGNED_OUT


def error(snapshot: Snapshot) -> str:
    return snapshot.endpoints[HQ].error


# The feed.


async def test_an_owner_follows_the_stream(server: FleetServer, tmp_path: Path, clock: HandClock) -> None:
    server.put("a")
    async with connected(Direct(server.address), tmp_path, clock) as cockpit:
        snapshot = await until(cockpit, is_live)
        state = snapshot.endpoints[HQ]
        assert set(snapshot.colonies) == {key("a")}
        assert (state.version, state.is_polled, state.error, state.as_of) == ("0.2.23", False, "", clock.now())
        assert state.standing is not None
        assert state.standing.is_owner
        await server.until_followed(STREAM)
        server.put("b")
        server.put("a", status="idle")
        await until(cockpit, lambda now: {"running", "idle"} == {each.status for each in now.colonies.values()})
        server.remove("a")
        await until(cockpit, lambda now: set(now.colonies) == {key("b")})
    assert server.count("GET /api/sessions") == 0


async def test_after_a_lag_the_whole_list_replaces_what_was_had(
    server: FleetServer, tmp_path: Path, clock: HandClock
) -> None:
    server.put("a")
    async with connected(Direct(server.address), tmp_path, clock) as cockpit:
        await server.until_followed(STREAM)
        server.push(STREAM, {"type": "sessions", "sessions": [session("z"), {"id": 5}]})
        snapshot = await until(cockpit, lambda now: set(now.colonies) == {key("z")})
        assert (await until(cockpit, lambda now: now.endpoints[HQ].unreadable_rows)).endpoints[HQ].unreadable_rows == 1
        assert is_live(snapshot)


async def test_a_frame_that_cannot_be_read_is_counted_and_the_stream_goes_on(
    server: FleetServer, tmp_path: Path, clock: HandClock
) -> None:
    async with connected(Direct(server.address), tmp_path, clock) as cockpit:
        await server.until_followed(STREAM)
        server.push(STREAM, {"type": "session", "session": {"id": None}})
        server.push(STREAM, {"type": "tomorrow"})
        server.put("a")
        snapshot = await until(cockpit, lambda now: key("a") in now.colonies)
        assert snapshot.endpoints[HQ].unreadable_rows == 1
        assert server.count(f"WS {STREAM}") == 1


async def test_a_scoped_token_polls_the_list(server: FleetServer, tmp_path: Path, clock: HandClock) -> None:
    server.standing = READER
    server.put("a")
    async with connected(Direct(server.address), tmp_path, clock) as cockpit:
        snapshot = await until(cockpit, is_live)
        assert snapshot.endpoints[HQ].is_polled
        assert set(snapshot.colonies) == {key("a")}
        server.put("b")
        assert POLL_S in await clock.until_sleeping()
        clock.move(POLL_S)
        await until(cockpit, lambda now: set(now.colonies) == {key("a"), key("b")})
    assert server.count(f"WS {STREAM}") == 0


@pytest.mark.parametrize("status", [403, 404, 405, 200])
async def test_an_owner_of_a_server_without_the_stream_polls(
    server: FleetServer, tmp_path: Path, clock: HandClock, status: int
) -> None:
    server.replies["WS", STREAM] = (status, "no stream here")
    server.put("a")
    async with connected(Direct(server.address), tmp_path, clock) as cockpit:
        snapshot = await until(cockpit, is_live)
        assert snapshot.endpoints[HQ].is_polled
        assert set(snapshot.colonies) == {key("a")}


@pytest.mark.parametrize("status", [404, 500])
async def test_an_older_server_without_a_version_is_good_enough(
    server: FleetServer, tmp_path: Path, clock: HandClock, status: int
) -> None:
    server.replies["GET", "/api/version"] = (status, "no such route")
    async with connected(Direct(server.address), tmp_path, clock) as cockpit:
        assert (await until(cockpit, is_live)).endpoints[HQ].version == ""


@pytest.mark.parametrize(("status", "shown"), [(200, "bwrap"), (500, "")])
async def test_the_local_engine_says_what_confines_its_agents(
    server: FleetServer, tmp_path: Path, clock: HandClock, status: int, shown: str
) -> None:
    if status != 200:
        server.replies["GET", "/api/status"] = (status, "broken")
    async with connected(
        Direct(server.address, notice="of another version"), tmp_path, clock, is_local=True
    ) as cockpit:
        state = (await until(cockpit, is_live)).endpoints[HQ]
        assert (state.sandbox, state.notice) == (shown, "of another version")


# Failure.


@pytest.mark.parametrize(
    ("status", "route"), [(401, "/api/tokens/self"), (403, "/api/tokens/self"), (401, STREAM), (401, "/api/version")]
)
async def test_a_refused_token_stops_all_traffic_until_the_person_acts(
    server: FleetServer, tmp_path: Path, clock: HandClock, status: int, route: str
) -> None:
    server.replies["WS" if route == STREAM else "GET", route] = (status, "sign in first")
    connector = Direct(server.address)
    async with connected(connector, tmp_path, clock) as cockpit:
        assert error(await until(cockpit, is_signed_out)) == "sign in first"
        asked = len(server.asked)
        clock.move(3600)
        await asyncio.sleep(0)
        assert (len(server.asked), clock.pauses) == (asked, [])
        with pytest.raises(Unreachable, match="sign in first"):
            await cockpit.stop(key("a"))
        server.replies.clear()
        cockpit.reconnect(HQ)
        await until(cockpit, is_live)
    assert len(connector.opened) == 2


@pytest.mark.parametrize("status", [401, 403])
async def test_a_list_that_is_refused_stops_all_traffic(
    server: FleetServer, tmp_path: Path, clock: HandClock, status: int
) -> None:
    server.standing = READER
    server.replies["GET", "/api/sessions"] = (status, "not for you")
    async with connected(Direct(server.address), tmp_path, clock) as cockpit:
        assert error(await until(cockpit, is_signed_out)) == "not for you"
        assert clock.pauses == []


async def test_another_refusal_is_the_answer_to_that_one_call(
    server: FleetServer, tmp_path: Path, clock: HandClock
) -> None:
    server.put("a")
    server.replies["POST", "/api/sessions/a/stop"] = (403, "your scope does not cover this")
    server.replies["POST", "/api/sessions/a/keep"] = (409, {"error": "nothing to keep"})
    async with connected(Direct(server.address), tmp_path, clock) as cockpit:
        await until(cockpit, is_live)
        with pytest.raises(ClientError, match="your scope"):
            await cockpit.stop(key("a"))
        with pytest.raises(Conflict, match="nothing to keep"):
            await cockpit.keep(key("a"))
        assert is_live(cockpit.snapshot)


async def test_a_host_that_fails_is_asked_again_later_and_later(tmp_path: Path, clock: HandClock) -> None:
    connector = Direct(SocketAddress(tmp_path / "no.sock"))
    async with connected(connector, tmp_path, clock) as cockpit:
        for failures in range(6):
            snapshot = await until(cockpit, is_silent)
            (pause,) = await clock.until_sleeping()
            longest = min(BACKOFF_FIRST_S * 2**failures, BACKOFF_LIMIT_S)
            assert longest / 2 <= pause <= longest
            assert snapshot.endpoints[HQ].retry_at == clock.now() + pause
            assert "nothing answers" in error(snapshot)
            clock.move(pause)
            await until(cockpit, lambda now: not is_silent(now))
        await until(cockpit, is_silent)
        cockpit.reconnect(HQ)
        await until(cockpit, lambda now: not is_silent(now))
        await until(cockpit, is_silent)
        assert (await clock.until_sleeping())[0] <= BACKOFF_FIRST_S, "who acts begins anew"


async def test_a_person_who_presses_the_key_does_not_wait(
    server: FleetServer, tmp_path: Path, clock: HandClock
) -> None:
    connector = Direct(server.address, failure=Unreachable("down"))
    async with connected(connector, tmp_path, clock) as cockpit:
        assert error(await until(cockpit, is_silent)) == "down"
        connector.failure = None
        cockpit.reconnect(HQ)
        assert error(await until(cockpit, is_live)) == ""


@pytest.mark.parametrize(("lived", "next_pause"), [(0.0, 2 * BACKOFF_FIRST_S), (BACKOFF_LIMIT_S + 1, BACKOFF_FIRST_S)])
async def test_a_connection_that_lived_a_while_makes_up_for_the_failures_before(
    server: FleetServer, tmp_path: Path, clock: HandClock, lived: float, next_pause: float
) -> None:
    connector = Direct(server.address, failure=Unreachable("down"))
    async with connected(connector, tmp_path, clock) as cockpit:
        (pause,) = await clock.until_sleeping()
        connector.failure = None
        clock.move(pause)
        await until(cockpit, is_live)
        await server.until_followed(STREAM)
        clock.move(lived)
        connector.failure = Unreachable("down again")
        server.end(STREAM)
        (pause,) = await clock.until_sleeping()
        assert next_pause / 2 <= pause <= next_pause


async def test_a_stream_that_ends_is_followed_again_and_what_was_missed_is_there(
    server: FleetServer, tmp_path: Path, clock: HandClock
) -> None:
    server.put("a")
    connector = Direct(server.address)
    async with connected(connector, tmp_path, clock) as cockpit:
        await server.until_followed(STREAM)
        server.end(STREAM)
        snapshot = await until(cockpit, is_silent)
        assert error(snapshot) == "the live stream ended"
        assert set(snapshot.colonies) == {key("a")}, "a dead host's rows stay"
        del server.sessions["a"]
        server.put("b", status="idle")
        (pause,) = await clock.until_sleeping()
        clock.move(pause)
        await until(cockpit, lambda now: set(now.colonies) == {key("b")} and is_live(now))
    assert all(transport._http.is_closed for transport in connector.opened)  # pyright: ignore[reportPrivateUsage]  # a leak


async def test_a_server_that_restarts_is_found_again(tmp_path: Path, clock: HandClock) -> None:
    connector = Direct(SocketAddress(tmp_path / "s"))
    cockpit = cockpit_at(tmp_path, clock)
    cockpit.add(EndpointState(HQ, "hq"), connector)
    async with running(cockpit):
        async with fleet_server(tmp_path / "s") as first:
            first.put("a")
            await until(cockpit, lambda now: key("a") in now.colonies)
        await until(cockpit, is_silent)
        async with fleet_server(tmp_path / "s") as second:
            second.put("b")
            (pause,) = await clock.until_sleeping()
            clock.move(pause)
            await until(cockpit, lambda now: set(now.colonies) == {key("b")} and is_live(now))


async def test_a_foreign_exception_becomes_the_links_words_and_touches_no_other(
    server: FleetServer, tmp_path: Path, clock: HandClock
) -> None:
    server.put("a")
    broken = Direct(server.address, failure=ZeroDivisionError("secret-of-a-stack"))
    other = EndpointName("other")
    cockpit = cockpit_at(tmp_path, clock)
    cockpit.add(EndpointState(other, "other"), broken)
    cockpit.add(EndpointState(HQ, "hq"), Direct(server.address))
    async with running(cockpit):
        snapshot = await until(cockpit, lambda now: is_live(now) and now.endpoints[other].health is Health.SIGNED_OUT)
        assert (
            snapshot.endpoints[other].error
            == "a fault in this connection (ZeroDivisionError): press r to start it anew"
        )
        broken.failure = None
        cockpit.reconnect(other)
        await until(cockpit, lambda now: now.endpoints[other].health is Health.LIVE)


async def test_a_foreign_exception_within_a_connection_closes_it(
    server: FleetServer, tmp_path: Path, clock: HandClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    connector = Direct(server.address)

    def fail(*arguments: object) -> None:
        raise ZeroDivisionError

    monkeypatch.setattr("colonizer_client.mothership.stream.frame", fail)
    async with connected(connector, tmp_path, clock) as cockpit:
        assert "ZeroDivisionError" in error(await until(cockpit, is_signed_out))
        assert "ExceptionGroup" not in error(cockpit.snapshot)
    assert connector.opened[0]._http.is_closed  # pyright: ignore[reportPrivateUsage]  # a leak


async def test_a_wedged_host_touches_no_other(server: FleetServer, tmp_path: Path, clock: HandClock) -> None:
    wedged_name = EndpointName("wedged")
    async with fleet_server(tmp_path / "wedged") as wedged:
        wedged.replies["GET", "/api/tokens/self"] = (HANG, None)
        cockpit = cockpit_at(tmp_path, clock)
        cockpit.add(EndpointState(wedged_name, "wedged"), Direct(wedged.address))
        cockpit.add(EndpointState(HQ, "hq"), Direct(server.address))
        async with running(cockpit):
            await wedged.until_asked("GET /api/tokens/self")
            await server.until_followed(STREAM)
            server.put("a")
            snapshot = await until(cockpit, lambda now: key("a") in now.colonies)
            assert snapshot.endpoints[wedged_name].health is Health.CONNECTING


async def test_a_call_tells_how_long_the_server_took(server: FleetServer, tmp_path: Path, clock: HandClock) -> None:
    server.put("a")
    async with connected(Direct(server.address), tmp_path, clock) as cockpit:
        await until(cockpit, is_live)
        await cockpit.read_detail(key("a"))
        await until(cockpit, lambda now: now.endpoints[HQ].latency_s is not None)


async def test_an_unreachable_address_is_said_in_words(tmp_path: Path, clock: HandClock) -> None:
    async with connected(Direct(HttpAddress("http", "127.0.0.1", free_port())), tmp_path, clock) as cockpit:
        assert "nothing answers on http://127.0.0.1" in error(await until(cockpit, is_silent))


async def test_an_endpoint_that_is_not_configured_is_not_connected_to(tmp_path: Path, clock: HandClock) -> None:
    cockpit = cockpit_at(tmp_path, clock)
    with pytest.raises(Unreachable, match="nowhere"):
        cockpit.open(ColonyKey(EndpointName("nowhere"), ColonyId("a")))


# Questions.


async def test_open_questions_are_read_with_their_time_and_what_hangs_on_them(
    server: FleetServer, tmp_path: Path, clock: HandClock
) -> None:
    server.questions["a"] = question_body("q-1", prompt("Which?", "x"))
    server.say("a", "question", question_id="q-1", questions=server.questions["a"]["questions"], blocking=True)
    server.say("a", "status", state="waiting_for_answer")
    server.put("a", status="waiting_for_answer")
    async with connected(Direct(server.address), tmp_path, clock) as cockpit:
        asked = (await until(cockpit, lambda now: now.questions)).questions[key("a")]
        assert (asked.question_id, asked.is_blocking) == ("q-1", True)
        assert asked.asked_at == wire.moment("2026-11-30T12:00:01Z")


async def test_a_question_that_is_closed_or_replaced_is_read_again(
    server: FleetServer, tmp_path: Path, clock: HandClock
) -> None:
    server.questions["a"] = question_body("q-1")
    server.put("a", status="waiting_for_answer")
    async with connected(Direct(server.address), tmp_path, clock) as cockpit:
        await until(cockpit, lambda now: now.questions)
        await server.until_followed(STREAM)
        server.questions["a"] = question_body("q-2")
        server.put("a", status="waiting_for_answer")
        await until(cockpit, lambda now: now.questions[key("a")].question_id == "q-2")
        pages = server.count("GET /api/sessions/a/events")
        server.put("a", status="waiting_for_answer", branch="moved")
        await until(cockpit, lambda now: now.colonies[key("a")].branch == "moved")
        await server.until_asked("GET /api/sessions/a/question", 3)
        assert server.count("GET /api/sessions/a/events") == pages, "what is known of it is not read anew"
        server.put("a", status="running")
        await until(cockpit, lambda now: not now.questions)


async def test_a_question_that_is_asked_for_when_the_connection_ends_is_read_with_the_next(
    server: FleetServer, tmp_path: Path, clock: HandClock
) -> None:
    server.questions["a"] = question_body("q-1")
    server.replies["GET", "/api/sessions/a/question"] = (HANG, None)
    server.put("a", status="waiting_for_answer")
    async with connected(Direct(server.address), tmp_path, clock) as cockpit:
        await server.until_asked("GET /api/sessions/a/question")
        await server.until_followed(STREAM)
        server.end(STREAM)
        (pause,) = await clock.until_sleeping()
        server.replies.clear()
        clock.move(pause)
        await until(cockpit, lambda now: now.questions)


@pytest.mark.parametrize("status", [500, 502])
async def test_a_question_that_cannot_be_read_takes_no_connection_down_and_is_read_later(
    server: FleetServer, tmp_path: Path, clock: HandClock, status: int
) -> None:
    for colony in ("a", "b"):
        server.questions[colony] = question_body("q-1")
    server.replies["GET", "/api/sessions/a/question"] = (status, "broken")
    server.put("a", status="waiting_for_answer")
    server.put("b", status="waiting_for_answer")
    async with connected(Direct(server.address), tmp_path, clock) as cockpit:
        snapshot = await until(cockpit, lambda now: key("b") in now.questions)
        assert is_live(snapshot)
        server.replies.clear()
        (pause,) = await clock.until_sleeping()
        clock.move(pause)
        await until(cockpit, lambda now: key("a") in now.questions)
        assert server.count(f"WS {STREAM}") == 1


async def test_a_question_that_is_refused_is_not_asked_for_over_and_over(
    server: FleetServer, tmp_path: Path, clock: HandClock
) -> None:
    server.replies["GET", "/api/sessions/a/question"] = (403, "not for you")
    server.put("a", status="waiting_for_answer")
    server.questions["b"] = question_body("q-1")
    server.put("b", status="waiting_for_answer")
    async with connected(Direct(server.address), tmp_path, clock) as cockpit:
        await until(cockpit, lambda now: key("b") in now.questions)
        assert is_live(cockpit.snapshot)
        assert clock.pauses == []
        server.replies["GET", "/api/sessions/a/question"] = (404, "no such session")
        server.put("a", status="waiting_for_answer")
        await server.until_asked("GET /api/sessions/a/question", 2)
        assert set(cockpit.snapshot.questions) == {key("b")}


@pytest.mark.parametrize("reply", [(403, "no"), (500, "no"), (200, "not json"), (200, {"events": "none"})])
async def test_a_question_whose_event_cannot_be_found_is_shown_without_its_time(
    server: FleetServer, tmp_path: Path, clock: HandClock, reply: tuple[int, Any]
) -> None:
    server.replies["GET", "/api/sessions/a/events"] = reply
    server.questions["a"] = question_body("q-1")
    server.put("a", status="waiting_for_answer")
    async with connected(Direct(server.address), tmp_path, clock) as cockpit:
        snapshot = await until(cockpit, lambda now: now.questions)
        assert snapshot.questions[key("a")].asked_at is None


@pytest.mark.parametrize("route", ["question", "events"])
async def test_a_token_that_is_refused_for_a_question_stops_all_traffic(
    server: FleetServer, tmp_path: Path, clock: HandClock, route: str
) -> None:
    server.replies["GET", f"/api/sessions/a/{route}"] = (401, "revoked")
    server.questions["a"] = question_body("q-1")
    server.put("a", status="waiting_for_answer")
    async with connected(Direct(server.address), tmp_path, clock) as cockpit:
        assert error(await until(cockpit, is_signed_out)) == "revoked"


async def test_a_stopped_colony_shows_no_question_though_the_server_still_has_one(
    server: FleetServer, tmp_path: Path, clock: HandClock
) -> None:
    server.questions["a"] = question_body("q-1")
    server.put("a", status="waiting_for_answer")
    async with connected(Direct(server.address), tmp_path, clock) as cockpit:
        await until(cockpit, lambda now: now.questions)
        await server.until_followed(STREAM)
        server.put("a", status="stopped")
        snapshot = await until(cockpit, lambda now: now.colonies[key("a")].status == "stopped")
        assert snapshot.questions == {}


# The outbox.


async def test_a_message_arrives_while_another_colonys_hangs_and_those_of_one_colony_keep_their_order(
    server: FleetServer, tmp_path: Path, clock: HandClock
) -> None:
    for colony in ("a", "b"):
        server.put(colony)
        server.replies["POST", f"/api/sessions/{colony}/messages"] = (
            200,
            {"id": "x", "duplicate": False, "pending_notes": 0},
        )
    server.replies["POST", "/api/sessions/a/messages"] = (HANG, None)
    async with connected(Direct(server.address), tmp_path, clock) as cockpit:
        await until(cockpit, is_live)
        stuck = [cockpit.say(key("a"), text) for text in ("first", "second")]
        other = cockpit.say(key("b"), "third")
        await until(cockpit, lambda now: now.deliveries[other.id].state == "confirmed")
        await server.until_asked("POST /api/sessions/a/messages")
        states = [cockpit.snapshot.deliveries[delivery.id].state for delivery in stuck]
        assert states == ["sending", "queued"]
        assert server.count("POST /api/sessions/a/messages") == 1


async def test_what_was_on_its_way_when_the_connection_ended_is_brought_with_the_next(
    server: FleetServer, tmp_path: Path, clock: HandClock
) -> None:
    server.put("a")
    server.replies["POST", "/api/sessions/a/messages"] = (HANG, None)
    async with connected(Direct(server.address), tmp_path, clock) as cockpit:
        await server.until_followed(STREAM)
        said = cockpit.say(key("a"), "hello")
        await server.until_asked("POST /api/sessions/a/messages")
        server.end(STREAM)
        await until(cockpit, is_silent)
        server.replies["POST", "/api/sessions/a/messages"] = (200, {"id": "x"})
        cockpit.reconnect(HQ)
        await until(cockpit, lambda now: now.deliveries[said.id].state == "confirmed")
    assert {body["id"] for body in server.sent} == {said.id}


async def test_a_message_that_fails_is_brought_again_without_a_new_connection(
    server: FleetServer, tmp_path: Path, clock: HandClock
) -> None:
    server.put("a")
    server.replies["POST", "/api/sessions/a/messages"] = (500, "broken")
    async with connected(Direct(server.address), tmp_path, clock) as cockpit:
        await until(cockpit, is_live)
        said = cockpit.say(key("a"), "hello")
        await until(
            cockpit, lambda now: now.deliveries[said.id].attempts == 1 and now.deliveries[said.id].state == "queued"
        )
        (pause,) = await clock.until_sleeping()
        server.replies["POST", "/api/sessions/a/messages"] = (200, {"id": "x"})
        clock.move(pause)
        await until(cockpit, lambda now: now.deliveries[said.id].state == "confirmed")
        assert server.count(f"WS {STREAM}") == 1


async def test_an_answer_is_delivered_and_its_question_read_again(
    server: FleetServer, tmp_path: Path, clock: HandClock
) -> None:
    server.questions["a"] = question_body("q-1", prompt("Which?", "x"))
    server.put("a", status="waiting_for_answer")
    server.replies["POST", "/api/sessions/a/answer"] = (204, None)
    async with connected(Direct(server.address), tmp_path, clock) as cockpit:
        asked = (await until(cockpit, lambda now: now.questions)).questions[key("a")]
        del server.questions["a"]
        put = cockpit.answer(key("a"), asked, [Chosen(("x",))])
        assert cockpit.answer(key("a"), asked, [Chosen(("x",))]).id == put.id, "a second enter"
        await until(cockpit, lambda now: now.deliveries[put.id].state == "confirmed" and not now.questions)
    assert server.sent == [
        {"question_id": "q-1", "answers": {"Which?": "x"}, "response": None, "questions": [prompt("Which?", "x")]}
    ]


@pytest.mark.parametrize("reply", [(500, "broken"), (403, "no"), (200, "not json")])
async def test_an_answer_whose_fate_the_server_does_not_tell_takes_no_connection_down(
    server: FleetServer, tmp_path: Path, clock: HandClock, reply: tuple[int, Any]
) -> None:
    server.questions["a"] = question_body("q-1", prompt("Which?", "x"))
    server.put("a", status="waiting_for_answer")
    async with connected(Direct(server.address), tmp_path, clock) as cockpit:
        asked = (await until(cockpit, lambda now: now.questions)).questions[key("a")]
        server.replies["POST", "/api/sessions/a/answer"] = (500, "broken")
        server.replies["GET", "/api/sessions/a/question"] = reply
        put = cockpit.answer(key("a"), asked, [Chosen(("x",))])
        await until(cockpit, lambda now: now.deliveries[put.id].state == "unsure")
        (pause,) = await clock.until_sleeping()
        assert is_live(cockpit.snapshot)
        server.replies = {("POST", "/api/sessions/a/answer"): (204, None)}
        clock.move(pause)
        await until(cockpit, lambda now: now.deliveries[put.id].state == "confirmed")
        assert server.count(f"WS {STREAM}") == 1


async def test_an_outbox_that_cannot_be_written_takes_no_connection_down(
    server: FleetServer, tmp_path: Path, clock: HandClock
) -> None:
    server.put("a")
    server.replies["POST", "/api/sessions/a/messages"] = (200, {"id": "x"})
    async with connected(Direct(server.address), tmp_path, clock) as cockpit:
        await until(cockpit, is_live)
        said = cockpit.say(key("a"), "hello")
        cockpit.store.rows("PRAGMA query_only = 1")
        await until(cockpit, lambda now: "cockpit.db" in now.deliveries[said.id].words)
        assert is_live(cockpit.snapshot)
        cockpit.store.rows("PRAGMA query_only = 0")
        (pause,) = await clock.until_sleeping()
        clock.move(pause)
        await until(cockpit, lambda now: now.deliveries[said.id].state == "confirmed")


async def test_a_token_that_is_refused_for_a_message_keeps_it_until_the_person_signed_in(
    server: FleetServer, tmp_path: Path, clock: HandClock
) -> None:
    server.put("a")
    server.replies["POST", "/api/sessions/a/messages"] = (401, "revoked")
    async with connected(Direct(server.address), tmp_path, clock) as cockpit:
        await until(cockpit, is_live)
        said = cockpit.say(key("a"), "hello")
        snapshot = await until(cockpit, is_signed_out)
        assert snapshot.deliveries[said.id].state == "queued"
        server.replies["POST", "/api/sessions/a/messages"] = (200, {"id": "x"})
        cockpit.reconnect(HQ)
        await until(cockpit, lambda now: now.deliveries[said.id].state == "confirmed")


async def test_calls_that_are_unreadable_say_so(server: FleetServer, tmp_path: Path, clock: HandClock) -> None:
    server.replies["POST", "/api/sessions/a/resume"] = (200, "<html>")
    async with connected(Direct(server.address), tmp_path, clock) as cockpit:
        await until(cockpit, is_live)
        with pytest.raises(Unreadable):
            await cockpit.resume(key("a"))
        assert is_live(cockpit.snapshot)


async def test_leaving_ends_everything_at_once_also_with_a_wedged_host(tmp_path: Path, clock: HandClock) -> None:
    async with fleet_server(tmp_path / "s") as server:
        server.replies["GET", "/api/version"] = (HANG, None)
        connector = Direct(server.address)
        async with asyncio.timeout(LONG_S), connected(connector, tmp_path, clock):
            await server.until_asked("GET /api/version")
        assert connector.opened[0]._http.is_closed  # pyright: ignore[reportPrivateUsage]  # a leak
