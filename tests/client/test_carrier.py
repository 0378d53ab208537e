from pathlib import Path
from typing import Any

import pytest

from client.cockpits import Direct, connected, is_live, is_signed_out, is_silent, until
from client.fleet_server import HANG, FleetServer
from client.hand_clock import HandClock
from client.samples import HQ, key, prompt, question_body
from colonizer_client.answers import Chosen

pytestmark = pytest.mark.anyio

STREAM = "/api/stream"


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
