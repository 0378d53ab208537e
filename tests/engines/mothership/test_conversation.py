"""Questions and answers, messages and notes: nothing accepted is lost, doubled, or given to the wrong question."""

import asyncio
import json
from collections.abc import AsyncGenerator
from pathlib import Path

import psutil
import pytest

from colonizer_engines.mothership.question import Answer, OpenQuestion, answer_on_record, asked, decided
from served_mothership import Json, Served, Step, asks, next_frame, say, served, task

pytestmark = pytest.mark.anyio

WORKING = say("status", state="working")
TURN_END = say("turn_end", is_error=False)
NOTHING = "no question is pending for this colony"
ANOTHER = "the colony is asking a different question now; re-read GET /api/sessions/{id}/question and answer that one"


@pytest.fixture
async def mothership(tmp_path: Path) -> AsyncGenerator[Served, None]:
    async with served(tmp_path) as found:
        yield found


async def asking(mothership: Served, *texts: str, **more: object) -> str:
    """A colony that has asked `q1`."""
    colony = await mothership.launch(WORKING, *asks("q1", *(texts or ("Really?",)), **more))
    await mothership.status(colony, "waiting_for_answer")
    return colony


async def question_of(mothership: Served, colony: str) -> Json | None:
    reply = await mothership.call("GET", f"/api/sessions/{colony}/question")
    assert reply.status_code in (200, 204)
    return reply.json() if reply.status_code == 200 else None


async def test_a_question_is_served_as_it_was_asked(mothership: Served) -> None:
    colony = await asking(mothership, risk="publish_affecting", kind="exec_policy", message_id="m")
    assert await question_of(mothership, colony) == {
        "question_id": "q1",
        "risk": "publish_affecting",
        "questions": [
            {
                "question": "Really?",
                "header": "About Really?",
                "multi_select": False,
                "options": [{"label": "Yes"}, {"label": "No"}],
            }
        ],
    }


@pytest.mark.parametrize(
    ("risk", "shown"), [(None, "workspace_write"), ("read_only", "read_only"), ("dire", "unknown"), (7, "unknown")]
)
async def test_a_missing_risk_is_ordinary_and_a_strange_one_unknown(
    mothership: Served, risk: object, shown: str
) -> None:
    colony = await asking(mothership, risk=risk)
    question = await question_of(mothership, colony)
    assert question is not None
    assert question["risk"] == shown


async def test_an_answer_reaches_the_agent_once_and_goes_on_record(mothership: Served) -> None:
    colony = await asking(mothership)
    reply = await mothership.answer(colony, "q1", **{"Really?": "Yes"})
    assert (reply.status_code, reply.content) == (204, b"")
    # It is closed before the agent says so.
    again = await mothership.answer(colony, "q1", **{"Really?": "No"})
    assert (again.status_code, again.json()["error"]) == (409, NOTHING)
    answered = await mothership.said(colony, "question_answered")
    assert (answered["answers"], answered["origin"]) == ({"Really?": "Yes"}, "user")
    heard = [event["command"] for event in mothership.events(colony, "heard")]
    answers = [command for command in heard if command["type"] == "answer"]
    assert answers == [{"type": "answer", "question_id": "q1", "answers": {"Really?": "Yes"}, "response": None}]
    (record,) = mothership.session(colony)["answered_questions"]
    assert record.pop("answered_at")
    assert record == {"question_id": "q1", "header": "About Really?", "question": "Really?", "answer": "Yes"}
    assert mothership.mothership.fleet.get(colony).unheard_answers == ()


async def test_of_two_answers_at_once_one_wins(mothership: Served) -> None:
    colony = await asking(mothership)
    replies = await asyncio.gather(*(mothership.answer(colony, "q1", **{"Really?": "Yes"}) for _ in range(5)))
    assert sorted(reply.status_code for reply in replies) == [204, 409, 409, 409, 409]


async def test_an_answer_to_another_question_is_refused(mothership: Served) -> None:
    colony = await asking(mothership)
    question = await question_of(mothership, colony)
    assert question is not None
    others: list[Json] = [
        {"question_id": "q0", "answers": {}},
        {"question_id": "q1", "answers": {}, "questions": []},
        {"question_id": "q1", "answers": {}, "questions": [{"question": "Really?"}]},
    ]
    for body in others:
        reply = await mothership.call("POST", f"/api/sessions/{colony}/answer", body)
        assert (reply.status_code, reply.json()["error"]) == (409, ANOTHER)
    assert await question_of(mothership, colony) == question
    meant = {"question_id": "q1", "answers": {"Really?": ["Yes", "No"]}, "questions": question["questions"]}
    assert (await mothership.call("POST", f"/api/sessions/{colony}/answer", meant)).status_code == 204
    # On record as it was sent, as the published program keeps it.
    assert mothership.session(colony)["answered_questions"][0]["answer"] == ["Yes", "No"]


async def test_a_dismissal_is_passed_on_and_decides_nothing(mothership: Served) -> None:
    colony = await asking(mothership)
    body: Json = {"question_id": "q1", "answers": {}, "response": "Never mind."}
    assert (await mothership.call("POST", f"/api/sessions/{colony}/answer", body)).status_code == 204
    answered = await mothership.said(colony, "question_answered")
    assert (answered["answers"], answered["response"]) == ({}, "Never mind.")
    assert "answered_questions" not in mothership.session(colony)


@pytest.mark.parametrize(
    ("closing", "reason"),
    [
        (say("tool_result", tool_call_id="q1", output="gone", is_error=True), "tool_resolved"),
        (say("question_answered", question_id="q1", answers={}, response=None), None),
        (say("question_closed", question_id="q1", reason="its own"), "its own"),
    ],
)
async def test_what_closes_a_question(mothership: Served, closing: list[object], reason: str | None) -> None:
    colony = await mothership.launch(*asks("q1", "Really?"), closing, TURN_END)
    await mothership.said(colony, "turn_end")
    assert await question_of(mothership, colony) is None
    assert [event["reason"] for event in mothership.events(colony, "question_closed")] == ([reason] if reason else [])


async def test_the_end_of_a_turn_closes_only_what_held_a_tool_call(mothership: Served) -> None:
    colony = await mothership.launch(*asks("q1", "Really?"), TURN_END)
    await mothership.said(colony, "turn_end")
    assert await question_of(mothership, colony) is not None


async def test_a_newer_question_takes_the_place_of_an_older_one(mothership: Served) -> None:
    colony = await mothership.launch(*asks("q1", "First?"), *asks("q2", "Second?"), TURN_END)
    await mothership.said(colony, "turn_end")
    reply = await mothership.answer(colony, "q1", **{"First?": "Yes"})
    assert reply.json()["error"] == ANOTHER


async def test_a_stopped_colony_shows_its_question_and_takes_no_answer(mothership: Served) -> None:
    colony = await asking(mothership)
    await mothership.call("POST", f"/api/sessions/{colony}/stop")
    assert await question_of(mothership, colony) is not None
    reply = await mothership.answer(colony, "q1", **{"Really?": "Yes"})
    assert (reply.status_code, reply.json()["error"]) == (
        409,
        "the colony is stopped and cannot take an answer; resume it first",
    )


async def test_the_next_run_closes_what_the_earlier_one_asked(mothership: Served) -> None:
    colony = await mothership.launch(WORKING)
    await mothership.status(colony, "running")
    await mothership.call("POST", f"/api/sessions/{colony}/messages", {"id": "m", "text": task(*asks("q1", "Really?"))})
    await mothership.status(colony, "waiting_for_answer")
    await mothership.call("POST", f"/api/sessions/{colony}/stop")
    await mothership.call("POST", f"/api/sessions/{colony}/resume")
    assert await question_of(mothership, colony) is None


async def next_run(mothership: Served, colony: str, *steps: Step) -> None:
    """Ends the run of a colony and has the next one do something else."""
    await mothership.call("POST", f"/api/sessions/{colony}/stop")
    await mothership.call("POST", f"/api/sessions/{colony}/resume")
    await mothership.status(colony, "waiting_for_answer", "running", "idle")
    await mothership.call("POST", f"/api/sessions/{colony}/messages", {"id": "m", "text": task(*steps)})


async def test_a_question_that_an_earlier_run_had_decided_is_answered_from_the_record(mothership: Served) -> None:
    colony = await asking(mothership)
    await mothership.answer(colony, "q1", **{"Really?": "Yes"})
    await next_run(mothership, colony, *asks("q2", "Really?"), TURN_END)
    answered = await mothership.said(colony, "question_answered", question_id="q2")
    assert (answered["answers"], answered["response"]) == ({"Really?": "Yes"}, "")
    assert await question_of(mothership, colony) is None
    assert any(line.startswith("answered from the record: ") for line in mothership.log(colony))


async def test_in_the_run_that_asked_it_the_same_question_is_asked_again(mothership: Served) -> None:
    colony = await asking(mothership)
    await mothership.answer(colony, "q1", **{"Really?": "Yes"})
    again = task(*asks("q2", "Really?"))
    await mothership.call("POST", f"/api/sessions/{colony}/messages", {"id": "m", "text": again})
    await mothership.said(colony, "question", question_id="q2")
    question = await question_of(mothership, colony)
    assert question is not None
    assert question["question_id"] == "q2"


CONFIRM: Json = {"header": "Confirm", "question": "Format the code?", "options": [{"label": "Yes"}, {"label": "No"}]}


@pytest.mark.parametrize(
    ("more", "risk"),
    [
        ({"question": "Delete the database?"}, "workspace_write"),
        ({"header": "Sure"}, "workspace_write"),
        ({"options": [{"label": "Blue"}, {"label": "No"}]}, "workspace_write"),
        ({}, "publish_affecting"),
        ({}, "credential_adjacent"),
        ({}, "a risk of tomorrow"),
    ],
)
def test_one_yes_answers_nothing_else(more: Json, risk: str) -> None:
    def question(prompt: Json, risk: str) -> OpenQuestion:
        found = asked({"question_id": "q", "questions": [prompt], "risk": risk})
        assert found is not None
        return found

    first = question(CONFIRM, "workspace_write")
    decisions = decided(first, Answer("q", {"Format the code?": "Yes"}, None), "2026-11-30T12:00:00Z", run=1)
    assert answer_on_record(first, decisions, run=2) is not None
    assert answer_on_record(first, decisions, run=1) is None
    assert answer_on_record(question(CONFIRM | more, risk), decisions, run=2) is None


@pytest.mark.parametrize("more", [{"risk": "credential_adjacent"}, {"kind": "exec_policy"}])
async def test_a_question_about_keys_or_commands_is_asked_each_time(
    mothership: Served, more: dict[str, object]
) -> None:
    colony = await asking(mothership, **more)
    await mothership.answer(colony, "q1", **{"Really?": "Yes"})
    await mothership.said(colony, "question_answered")
    again = task(*asks("q2", "Really?", **more))
    await mothership.call("POST", f"/api/sessions/{colony}/messages", {"id": "m", "text": again})
    await mothership.said(colony, "question", question_id="q2")
    question = await question_of(mothership, colony)
    assert question is not None
    assert question["question_id"] == "q2"


async def test_at_most_fifty_decisions_are_kept(mothership: Served) -> None:
    texts = [f"Number {number}?" for number in range(60)]
    colony = await asking(mothership, *texts)
    await mothership.answer(colony, "q1", **dict.fromkeys(texts, "Yes"))
    kept = mothership.session(colony)["answered_questions"]
    assert [record["question"] for record in kept] == texts[10:]


async def test_an_answer_that_the_agent_never_confirmed_opens_its_next_run(mothership: Served) -> None:
    colony = await mothership.launch(WORKING, *asks("q1", "Really?"), ["deaf"])
    await mothership.status(colony, "waiting_for_answer")
    assert (await mothership.answer(colony, "q1", **{"Really?": "Yes"})).status_code == 204
    mark = mothership.mothership.fleet.get(colony).process
    assert mark is not None
    psutil.Process(mark.pid).kill()
    await mothership.status(colony, "failed")
    await mothership.call("POST", f"/api/sessions/{colony}/resume")
    heard = await mothership.said(colony, "heard")
    assert "You asked: Really?; the answer is: Yes" in heard["command"]["text"]
    await mothership.until(lambda: mothership.mothership.fleet.get(colony).unheard_answers == ())


async def test_a_message_is_delivered_once_whatever_is_sent_again(mothership: Served) -> None:
    colony = await mothership.launch(TURN_END)
    await mothership.said(colony, "turn_end")
    body = {"id": "m-1", "text": "  go on \n"}
    first = await mothership.call("POST", f"/api/sessions/{colony}/messages", body)
    assert (first.status_code, first.json()) == (200, {"id": "u-m-1", "duplicate": False, "pending_notes": 0})
    again = await mothership.call("POST", f"/api/sessions/{colony}/messages", body)
    assert (again.status_code, again.json()) == (200, {"id": "u-m-1", "duplicate": True, "pending_notes": 0})
    echoed = await mothership.said(colony, "user_message", id="u-m-1")
    assert (echoed["text"], echoed["origin"]) == ("go on", "user")
    after = task(say("marker"))
    await mothership.call("POST", f"/api/sessions/{colony}/messages", {"id": "m-2", "text": after})
    await mothership.said(colony, "marker")
    assert len([event for event in mothership.events(colony, "user_message") if event["id"] == "u-m-1"]) == 1


async def test_a_message_to_a_colony_that_is_being_started_waits_for_its_agent(mothership: Served) -> None:
    colony = await mothership.launch(TURN_END)
    reply = await mothership.call("POST", f"/api/sessions/{colony}/messages", {"id": "early", "text": "Also this."})
    assert reply.status_code == 200
    await mothership.said(colony, "user_message", id="u-early")
    order = [event["id"] for event in mothership.events(colony, "user_message")]
    assert order == ["initial", "u-early"]


async def test_a_message_that_the_agent_never_read_becomes_a_note(mothership: Served) -> None:
    colony = await mothership.launch(say("marker"), ["deaf"])
    await mothership.said(colony, "marker")
    await mothership.call("POST", f"/api/sessions/{colony}/messages", {"id": "m", "text": "Do you hear me?"})
    stopping = asyncio.create_task(mothership.call("POST", f"/api/sessions/{colony}/stop"))
    await mothership.status(colony, "stopped")
    assert mothership.session(colony)["pending_notes"] == [{"text": "Do you hear me?", "id": "m"}]
    mark = mothership.mothership.fleet.get(colony).process
    assert mark is not None
    psutil.Process(mark.pid).kill()
    assert (await stopping).status_code == 200


async def test_what_a_token_sends_is_marked_for_the_agent(mothership: Served) -> None:
    colony = await asking(mothership)
    token = mothership.token("operate")
    await mothership.call("POST", f"/api/sessions/{colony}/messages", {"id": "m", "text": "Hello"}, token=token)
    marked = '[external input from API token "a operate token"] Hello'
    assert (await mothership.said(colony, "user_message", id="u-m"))["text"] == marked
    body = {"question_id": "q1", "answers": {"Really?": "Yes"}, "response": ""}
    await mothership.call("POST", f"/api/sessions/{colony}/answer", body, token=token)
    answered = await mothership.said(colony, "question_answered")
    assert answered["answers"] == {"Really?": "Yes"}
    assert answered["response"] == '[external input from API token "a operate token"]'


async def test_commands_over_the_socket_do_the_same(mothership: Served) -> None:
    colony = await asking(mothership)
    async with mothership.connect(f"/api/sessions/{colony}/events") as socket:
        await next_frame(socket, "replay_done")
        for command in ("nonsense", "[]", '{"type": 3}', '{"type":"nope"}'):
            await socket.send(command)
        await socket.send(json.dumps({"type": "interrupt"}))
        await socket.send(json.dumps({"type": "set_model", "model": "big/model[1m]"}))
        await socket.send(json.dumps({"type": "set_model", "model": "not a model"}))
        await socket.send(
            json.dumps({"type": "answer", "question_id": "q1", "answers": {"Really?": "No"}, "response": None})
        )
        await socket.send(json.dumps({"type": "user_message", "text": " Hello "}))
        echoed = await mothership.said(colony, "user_message", text="Hello")
    assert str(echoed["id"]).startswith("u-")
    assert len(str(echoed["id"])) == 10
    heard = [event["command"] for event in mothership.events(colony, "heard")]
    assert [command["type"] for command in heard] == [
        "user_message",
        "interrupt",
        "set_model",
        "answer",
        "user_message",
    ]


async def test_a_stale_answer_over_the_socket_is_not_passed_on(mothership: Served) -> None:
    colony = await asking(mothership)
    async with mothership.connect(f"/api/sessions/{colony}/events") as socket:
        await next_frame(socket, "replay_done")
        await socket.send(
            json.dumps({"type": "answer", "question_id": "q0", "answers": {"Really?": "No"}, "response": None})
        )
        frame = await next_frame(socket, "session")
    assert frame["session"]["status"] == "waiting_for_answer"
    assert await question_of(mothership, colony) is not None


async def test_a_command_to_a_stopped_colony_is_dropped_and_shows_the_colony(mothership: Served) -> None:
    colony = await mothership.launch(TURN_END)
    await mothership.said(colony, "turn_end")
    await mothership.call("POST", f"/api/sessions/{colony}/stop")
    async with mothership.connect(f"/api/sessions/{colony}/events") as socket:
        await next_frame(socket, "replay_done")
        await socket.send(json.dumps({"type": "user_message", "text": "Hello?"}))
        frame = await next_frame(socket)
    assert frame["session"]["status"] == "stopped"
    assert "pending_notes" not in mothership.session(colony)


async def test_a_token_may_watch_or_drive_as_far_as_its_scope_goes(mothership: Served) -> None:
    colony = await asking(mothership)
    async with mothership.connect(f"/api/sessions/{colony}/events", mothership.token("read")) as socket:
        await next_frame(socket, "replay_done")
        await socket.send(json.dumps({"type": "interrupt"}))
        warning = await next_frame(socket, "harness_log")
    assert warning["level"] == "warn"
    assert str(warning["message"]).startswith("this API token's scope (read) can watch this colony but not drive it;")
    async with mothership.connect(f"/api/sessions/{colony}/events", mothership.token("operate")) as socket:
        await next_frame(socket, "replay_done")
        await socket.send(json.dumps({"type": "set_model", "model": "x"}))
        warning = await next_frame(socket, "harness_log")
    assert str(warning["message"]).startswith("switching a colony's model stays with the maintainer;")
    assert all(event["command"]["type"] == "user_message" for event in mothership.events(colony, "heard"))
