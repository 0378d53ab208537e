import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from client.hostile import WRONG, is_shown_safely
from client.samples import HQ, prompt, session
from colonizer_client.errors import Unreadable
from colonizer_client.mothership import frames
from colonizer_client.mothership.events import (
    Answered,
    Asked,
    Event,
    Noted,
    QuestionClosed,
    StateChanged,
    TextDelta,
    TextFinal,
    Thought,
    ToolCalled,
    ToolReturned,
    TurnEnded,
    UserSaid,
)
from recorded import Json, pages
from recorded import frames as recorded_frames


def event(kind: str, /, **body: object) -> Event | None:
    found = frames.numbered({"type": kind, "seq": 1, "ts": "2026-11-30T10:00:00Z", "origin": "agent", **body})
    assert found is not None
    assert found.seq == 1
    return found.event


def noted(kind: str, /, **body: object) -> tuple[str, str, str]:
    found = event(kind, **body)
    assert isinstance(found, Noted)
    return found.level, found.text, found.body


def test_every_recorded_frame_is_read_and_safe_to_show() -> None:
    unknown = {
        raw["type"]
        for raw in recorded_frames()
        if (read := frames.frame(HQ, json.dumps(raw))) is None
        or (isinstance(read, frames.Numbered) and read.event is None)
    }
    assert unknown == {"agent_session", "from_the_future", "session_removed", "memory_proposed"}
    for raw in recorded_frames():
        read = frames.frame(HQ, json.dumps(raw))
        if isinstance(read, frames.Numbered):
            assert read.seq == raw["seq"]
            assert read.event is None or is_shown_safely(read.event)


def test_every_event_of_the_recorded_pages_is_read() -> None:
    for page in pages():
        read = [frames.numbered(raw) for raw in page["events"]]
        assert [each.seq for each in read if each is not None] == [raw["seq"] for raw in page["events"]]
        facts = frames.history(page)
        assert (facts.has_more, facts.oldest_seq, facts.epoch, facts.offset) == tuple(
            page[name] for name in ("has_more", "oldest_seq", "epoch", "offset")
        )


FIRST_OF_EACH: dict[str, Json] = {}
for _raw in recorded_frames():
    FIRST_OF_EACH.setdefault(_raw["type"], _raw)


@given(st.data())
def test_a_field_of_any_wrong_type_makes_no_event_unreadable_beyond_its_own_note(data: st.DataObject) -> None:
    raw = FIRST_OF_EACH[data.draw(st.sampled_from(sorted(set(FIRST_OF_EACH) - {"session"})))]
    name = data.draw(st.sampled_from(sorted(raw)))
    try:
        read = frames.frame(HQ, json.dumps(raw | {name: data.draw(st.sampled_from(WRONG))}))
    except Unreadable:
        assert name == "type"
        return
    if isinstance(read, frames.Numbered) and read.event is not None:
        assert is_shown_safely(read.event)


@pytest.mark.parametrize("message", ["", "x", "[]", "5", "null", "{", b"\xff\xfe", "[" * 5000])
def test_a_frame_that_is_no_object_is_unreadable(message: str | bytes) -> None:
    with pytest.raises(Unreadable):
        frames.frame(HQ, message)


def test_frames_outside_the_log_are_read() -> None:
    assert frames.frame(HQ, '{"type":"run_epoch","epoch":3}') == frames.RunEpoch(3)
    assert frames.frame(HQ, '{"type":"run_epoch","epoch":"x"}') == frames.RunEpoch(1)
    assert frames.frame(HQ, '{"type":"replay_done","seq":9}') == frames.ReplayDone(9)
    found = frames.frame(HQ, json.dumps({"type": "session", "session": session("a")}))
    assert isinstance(found, frames.SessionFrame)
    assert found.colony.key == (HQ, "a")
    log = frames.frame(
        HQ, json.dumps({"type": "harness_log", "level": "warn", "message": "a\x1bb", "ts": "2026-11-30T10:00:00Z"})
    )
    assert isinstance(log, frames.Hosted)
    assert (log.note.level, log.note.text) == ("warn", "a␛b")
    assert frames.frame(HQ, '{"type":"memory_proposed","proposal":{}}') is None
    assert frames.frame(HQ, '{"type":"history","has_more":true,"oldest_seq":7,"epoch":2,"offset":6}') == frames.History(
        True, 7, 2, 6
    )
    with pytest.raises(Unreadable):
        frames.frame(HQ, '{"type":"session","session":{}}')


@pytest.mark.parametrize("kind", ["jev_ladder", "agent_session", "usage", "from_the_future"])
def test_an_event_of_an_unknown_type_takes_its_number_and_nothing_else(kind: str) -> None:
    assert frames.numbered({"type": kind, "seq": 4, "ts": "2026-11-30T10:00:00Z"}) == frames.Numbered(
        4, 1796032800.0, None
    )


def test_what_the_agent_says_is_read() -> None:
    said = event("user_message", id="u-1\x1b", text="a\tb\x1b")
    assert isinstance(said, UserSaid)
    assert (said.id, said.text) == ("u-1\x1b", "a   b␛")
    delta = event("assistant_text_delta", message_id="m", block_index=2, delta="x\x07")
    assert isinstance(delta, TextDelta)
    assert (delta.block, delta.delta) == (("m", 2), "x␇")
    final = event("assistant_text", message_id="m", block_index=2, text="x")
    assert isinstance(final, TextFinal)
    assert final.block == ("m", 2)
    thought = event("thinking", text="hm")
    assert isinstance(thought, Thought)
    assert (thought.block, thought.text) == (("", 0), "hm")


@pytest.mark.parametrize("state", ["idle", "working", "waiting_for_answer", "error", "exited"])
def test_the_runners_state_is_read(state: str) -> None:
    found = event("status", state=state, detail="why\n")
    assert isinstance(found, StateChanged)
    assert (found.state, found.detail) == (state, "why")


@pytest.mark.parametrize("state", ["hibernating", "", None, 5])
def test_an_unknown_state_of_the_runner_is_no_event(state: object) -> None:
    assert event("status", state=state) is None


@pytest.mark.parametrize(
    ("given", "argument"),
    [
        ({"file_path": "a.py", "command": "ls"}, "ls"),
        ({"pattern": "x", "path": "src"}, "src"),
        ({"path": 5, "other": "first string"}, "first string"),
        ({"n": 5}, ""),
        ({}, ""),
        ({"command": "a\nb\x1b"}, "a b␛"),
        ("text", ""),
        (None, ""),
    ],
)
def test_a_tool_call_shows_the_argument_that_tells_most(given: object, argument: str) -> None:
    found = event("tool_call", tool_call_id="t", name="Bash", input=given)
    assert isinstance(found, ToolCalled)
    assert (found.name, found.argument) == ("Bash", argument)
    assert found.input == (
        json.dumps(given, indent=2).replace("\\u001b", "\\u001b") if isinstance(given, dict) and given else ""
    )


@pytest.mark.parametrize(
    ("body", "output", "is_error", "denial"),
    [
        ({"output": "ok"}, "ok", False, ""),
        ({}, "", False, ""),
        ({"output": {"a": 1}}, '{\n  "a": 1\n}', False, ""),
        ({"output": "no", "is_error": True}, "no", True, ""),
        ({"output": "", "denial": {"class": "egress", "hint": "ask\nfirst"}}, "", False, "egress: ask first"),
        ({"denial": {"class": "policy"}}, "", False, "policy"),
        ({"denial": "no"}, "", False, ""),
    ],
)
def test_a_tool_result_is_read(body: Json, output: str, is_error: bool, denial: str) -> None:
    found = event("tool_result", tool_call_id="t", **body)
    assert isinstance(found, ToolReturned)
    assert (found.output, found.is_error, found.denial) == (
        output,
        is_error,
        denial,
    )


def test_a_question_is_read_with_its_time() -> None:
    found = event("question", question_id="q-1", questions=[prompt()], risk="read_only", blocking=True)
    assert isinstance(found, Asked)
    assert (found.question.question_id, found.question.asked_at, found.question.is_blocking) == (
        "q-1",
        1796032800.0,
        True,
    )
    level, text, _ = noted("question", questions=[])
    assert (level, text) == ("warn", "an unreadable question event: a question without an id")


def test_an_answer_is_read_in_every_shape() -> None:
    found = event(
        "question_answered",
        question_id="q-1",
        answers={"One?": "a", "Two?": ["b", "c"], "Three?": None, "Four?": {"x": 1}},
        response="\x1b",
    )
    assert isinstance(found, Answered)
    assert found.answers == (("One?", "a"), ("Two?", "b, c"), ("Three?", ""), ("Four?", '{ "x": 1 }'))
    assert found.response == "␛"
    closed = event("question_closed", question_id="q-1", reason="tool_resolved")
    assert isinstance(closed, QuestionClosed)
    assert closed.reason == "tool resolved"


def test_the_end_of_a_turn_is_read_and_unknown_figures_stay_unknown() -> None:
    found = event(
        "turn_end",
        is_error=False,
        result="done",
        cost_usd=0.25,
        duration_ms=1500,
        model_usage={"opus": {}, "haiku\x1b": {}},
    )
    assert isinstance(found, TurnEnded)
    assert (found.run_cost_usd, found.duration_s, found.models, found.result) == (0.25, 1.5, ("opus", "haiku␛"), "done")
    bare = event("turn_end", is_error=True, result=None, cost_usd=None, duration_ms=None)
    assert isinstance(bare, TurnEnded)
    assert (bare.is_error, bare.run_cost_usd, bare.duration_s, bare.models) == (True, None, None, ())


CLOSED = "the watchdog closed a turn that never ended"


@pytest.mark.parametrize(
    ("kind", "body", "expected"),
    [
        ("log", {"level": "error", "message": "boom"}, ("error", "boom", "")),
        ("log", {"level": "shouting", "message": "boom"}, ("info", "boom", "")),
        ("log", {"level": "debug", "message": "boom"}, ("debug", "boom", "")),
        ("model_changed", {"model": "opus", "previous": None}, ("info", "model opus", "")),
        ("model_changed", {"model": "opus", "previous": "haiku"}, ("info", "model haiku → opus", "")),
        ("memory_proposal", {"title": "T", "content": "C\nD"}, ("info", "proposed a memory note: T", "C\nD")),
        ("vault_proposal", {"title": "T", "reason": "R", "body": "B"}, ("info", "proposed a vault note: T", "R\n\nB")),
        ("finding", {"title": "T", "body": "B", "evidence": "E"}, ("info", "reported a finding: T", "B\n\nE")),
        ("path_policy", {"access": "write", "policy": "masked", "path": "a"}, ("info", "masked path: write a", "")),
        ("boundary", {"kind": "egress_denied", "detail": "x"}, ("warn", "refused (egress denied): x", "")),
        ("github_action", {"tool": "comment", "body": "B"}, ("info", "asked the host to: comment", "B")),
        ("loop_next", {"reason": "R", "delay_minutes": 5}, ("info", "asks to run again: R", "")),
        ("loop_stop", {"reason": "R"}, ("info", "asks to end its loop: R", "")),
        ("verification", {"verdict": "confirmed", "summary": "S"}, ("info", "verification: confirmed", "S")),
        ("screening", {"outcome": "clean"}, ("info", "screening: clean", "")),
        ("promptdecode", {"outcome": "found"}, ("warn", "hidden characters in the prompt: found", "")),
        ("watchdog_turn_end", {"after_secs": 9}, ("info", f"{CLOSED}, after 9 s", "")),
        ("watchdog_turn_end", {}, ("info", CLOSED, "")),
        ("validated", {"title": "T", "severity": "high"}, ("info", "finding confirmed: T", "")),
        ("rejected", {"title": "T", "reason": "R"}, ("info", "finding rejected: T", "R")),
        ("fix_colony", {"title": "T", "session": "s", "issue": 7}, ("info", "a colony fixes it: T", "7")),
        ("review", {"title": "T", "verdict": "good"}, ("info", "review: T", "good")),
        ("merged", {"title": "T", "pr": 5}, ("info", "merged: T", "5")),
        ("merged", {}, ("info", "merged", "")),
    ],
)  # fmt: skip
def test_each_quiet_event_is_one_line_and_what_it_unfolds_to(
    kind: str, body: Json, expected: tuple[str, str, str]
) -> None:
    assert noted(kind, **body) == expected


def test_a_settler_is_known_by_the_key_that_the_main_agent_lacks() -> None:
    def settler(agent: Any) -> object:
        found = event("thinking", text="x", agent=agent)
        assert isinstance(found, Thought)
        return found.stamp.settler and (
            found.stamp.settler.id,
            found.stamp.settler.name,
            found.stamp.settler.description,
        )

    assert settler({"id": "t\x1b", "name": "explorer\x1b", "description": "looks"}) == ("t\x1b", "explorer␛", "looks")
    assert settler({"id": "t", "name": None, "type": "general"}) == ("t", "general", "")
    assert settler({"id": "t"}) == ("t", "settler", "")
    nobody: list[object] = [None, {}, {"id": 5}, "x", []]
    assert [settler(agent) for agent in nobody] == [None] * 5
