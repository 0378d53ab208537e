"""A status that explains itself."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from colonizer_engines.mothership.clock import rfc3339
from colonizer_engines.mothership.colony import Colony
from colonizer_engines.mothership.diagnosis import diagnose, duration
from colonizer_engines.mothership.question import OpenQuestion
from colonizer_engines.mothership.session import BootPhase, BootTiming, ColonyId, Session, Status
from colonizer_engines.mothership.transcript import summary

NOW = datetime(2026, 11, 30, 12, tzinfo=UTC)
SESSION = Session(
    id=ColonyId("a1b2c3d4"), repo="a/b", org="a", branch="x", worktree="/w", created_at="x", updated_at=rfc3339(NOW)
)
RECENT = [{"type": "tool_call", "summary": "Bash"}]


def words(session: Session, question: OpenQuestion | None = None, recent: list[dict[str, str]] = RECENT) -> str | None:
    found = diagnose(Colony(session=session, question=question), session, recent, NOW, storage_failing=False)
    return None if found is None else f"{found['state']}: {found['text']}"


def ago(**span: float) -> str:
    return rfc3339(NOW - timedelta(**span))


@pytest.mark.parametrize(
    "status", ["blocked", "parked", "publishing", "pr_opened", "merged", "closed", "no_changes", "stopped", "failed"]
)
def test_what_is_over_or_set_aside_needs_no_explanation(status: Status) -> None:
    assert words(replace(SESSION, status=status)) is None


def test_a_queued_colony_waits_for_a_slot_or_says_what_else() -> None:
    assert words(replace(SESSION, status="queued")) == "queued: queued, waiting for a free slot"
    assert words(replace(SESSION, status="queued", blocked_reason="needs X")) == "queued: queued: needs X"


def test_a_colony_that_boots_tells_how_far_it_is() -> None:
    booting = replace(SESSION, status="starting", boot_attempt_started_at=int(NOW.timestamp()) - 12)
    assert words(booting) == "booting: booting for 12s; first phase running"
    timed = replace(booting, boot_timing=BootTiming(phases=(BootPhase("worktree", 9000),)))
    assert words(timed) == "booting: booting for 12s; worktree done, next phase running 3s"


def test_a_colony_that_waits_names_what_it_waits_for() -> None:
    asked = OpenQuestion("q", "read_only", ({"question": "Which\x1b one?"}, {"header": "Base"}), False, True)
    assert words(replace(SESSION, status="waiting_for_answer"), asked) == (
        "waiting_on_human: waiting for an answer: Which one?; Base"
    )
    assert words(replace(SESSION, status="waiting_for_answer")) == "waiting_on_human: waiting for an answer"
    assert words(replace(SESSION, status="idle")) == "waiting_on_human: idle, waiting for the next message"
    held = replace(SESSION, status="idle", attention={"reason": "autopilot_held"})
    assert words(held) == "waiting_on_human: autopilot held, waiting for the next message"


def test_a_colony_that_runs_is_at_work_until_it_is_silent_for_too_long() -> None:
    assert words(replace(SESSION, status="running", last_activity_at=ago(minutes=2))) == (
        "working: working (last activity 2m ago)"
    )
    silent = replace(SESSION, status="running", last_activity_at=ago(minutes=20))
    assert words(silent) == "stuck: no activity for 20m; last event: tool_call: Bash"
    assert words(silent, recent=[]) == "stuck: no activity for 20m; no events yet"


@pytest.mark.parametrize(
    ("seconds", "shown"),
    [(0, "0s"), (45.9, "45s"), (60, "1m"), (720, "12m"), (3600, "1h"), (11100, "3h 5m"), (187200, "2d 4h"), (-5, "0s")],
)
def test_spans_read_as_people_say_them(seconds: float, shown: str) -> None:
    assert duration(seconds) == shown


@pytest.mark.parametrize(
    ("event", "shown"),
    [
        ({"type": "assistant_text", "text": "a\n b\tc"}, "a b c"),
        ({"type": "status", "state": "idle"}, "idle"),
        ({"type": "tool_result", "output": "x" * 300}, "x" * 200 + "…"),
        ({"type": "tool_result"}, "tool_result"),
        ({"type": "question", "questions": [{"question": "A?"}, {"header": "B"}, 7]}, "A?; B"),
        ({"type": "turn_end", "result": None}, "ok"),
        ({"type": "finding", "title": "A bug"}, "A bug"),
        ({"type": "question_answered", "answers": {}}, "question_answered"),
        ({"type": "log", "message": "\x1b[2J\x9bbell\x07"}, "[2J bell"),
    ],
)
def test_an_event_is_one_line(event: dict[str, object], shown: str) -> None:
    assert summary(event) == shown
