import asyncio
from pathlib import Path

import pytest

from client.cockpits import (
    Direct,
    cockpit_at,
    connected,
    error,
    is_live,
    is_signed_out,
    is_silent,
    running,
    until,
)
from client.fleet_server import HANG, READER, FleetServer, fleet_server
from client.hand_clock import LONG_S, HandClock
from client.raw_server import free_port
from client.samples import HQ, key, prompt, question_body, session
from colonizer_client.errors import ClientError, Conflict, Unreachable, Unreadable
from colonizer_client.identity import ColonyId, ColonyKey, EndpointName
from colonizer_client.mothership.link import POLL_S
from colonizer_client.mothership.questions import SECOND_LOOK_S
from colonizer_client.reconnection import BACKOFF_FIRST_S, BACKOFF_LIMIT_S
from colonizer_client.snapshot import EndpointState, Health
from colonizer_config.address import HttpAddress, SocketAddress

pytestmark = pytest.mark.anyio

STREAM = "/api/stream"


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


async def test_a_question_that_is_not_there_though_the_list_says_so_is_looked_for_once_more_before_the_next_list(
    server: FleetServer, tmp_path: Path, clock: HandClock
) -> None:
    server.standing = READER
    server.put("a", status="waiting_for_answer")
    reading = "GET /api/sessions/a/question"
    async with connected(Direct(server.address), tmp_path, clock) as cockpit:
        await server.until_asked(reading)
        server.questions["a"] = question_body("q-1", prompt("Which?", "x"))
        while not any(abs(pause - SECOND_LOOK_S) < 0.001 for pause in clock.pauses):
            await clock.until_sleeping(len(clock.pauses) + 1)
        clock.move(SECOND_LOOK_S)
        await until(cockpit, lambda now: now.questions)
        assert server.count(reading) == 2
    assert server.count("GET /api/sessions") == 1


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


# Older servers, and others than before.


@pytest.mark.parametrize(("status", "body"), [(404, {"error": "no such API route"}), (200, "<html>the cockpit</html>")])
async def test_an_owner_of_a_server_that_does_not_tell_the_tokens_standing_is_served_all_the_same(
    server: FleetServer, tmp_path: Path, clock: HandClock, status: int, body: object
) -> None:
    server.replies["GET", "/api/tokens/self"] = (status, body)
    server.put("a")
    async with connected(Direct(server.address), tmp_path, clock) as cockpit:
        snapshot = await until(cockpit, is_live)
        assert (snapshot.endpoints[HQ].standing, set(snapshot.colonies)) == (None, {key("a")})


async def test_a_page_of_html_for_everything_is_no_mothership(
    server: FleetServer, tmp_path: Path, clock: HandClock
) -> None:
    for route in ("/api/tokens/self", "/api/version", "/api/sessions"):
        server.replies["GET", route] = (200, "<html>a router's own page</html>")
    server.replies["WS", STREAM] = (200, "<html>a router's own page</html>")
    async with connected(Direct(server.address), tmp_path, clock) as cockpit:
        assert "with something but JSON: <html>a router's own page" in error(await until(cockpit, is_silent))
        assert len(server.asked) == 4


async def test_a_host_that_comes_back_as_another_one_shows_none_of_the_rows_before_and_says_so(
    server: FleetServer, tmp_path: Path, clock: HandClock
) -> None:
    server.put("a", status="waiting_for_answer")
    server.questions["a"] = question_body("q-1")
    async with connected(Direct(server.address), tmp_path, clock) as cockpit:
        await until(cockpit, lambda now: key("a") in now.questions)
        assert cockpit.snapshot.endpoints[HQ].notice == ""
        server.sessions.clear()
        server.put("z")
        server.replies["GET", "/api/version"] = (200, {"version": "v0.1.9"})
        cockpit.reconnect(HQ)
        snapshot = await until(cockpit, lambda now: is_live(now) and key("z") in now.colonies)
        assert (set(snapshot.colonies), dict(snapshot.questions)) == ({key("z")}, {})
        state = snapshot.endpoints[HQ]
        assert state.version == "0.1.9"
        assert state.notice == (
            "it came back as another version: 0.1.9 after 0.2.23"
            " · none of the colonies known before is there: it may be another mothership"
        )
        cockpit.reconnect(HQ)
        await server.until_asked("GET /api/version", 3)
        assert (await until(cockpit, is_live)).endpoints[HQ].notice == ""
