from pathlib import Path
from typing import Any

import pytest

from client.cockpits import Direct, connected, error, is_live, is_signed_out, until
from client.fleet_server import HANG, FleetServer
from client.hand_clock import HandClock
from client.samples import key, prompt, question_body
from colonizer_client.mothership import wire

pytestmark = pytest.mark.anyio

STREAM = "/api/stream"


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
