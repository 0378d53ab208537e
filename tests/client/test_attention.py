from typing import Any

import pytest

from client.samples import HQ, colony, key, question
from colonizer_client.attention import Urgency, inbox, narrowed, needs_you, waiting_since
from colonizer_client.identity import ColonyKey
from colonizer_client.mothership import decode, wire
from colonizer_client.mothership.models import OpenQuestion
from colonizer_client.mothership.status import KNOWN, TERMINAL, Risk
from recorded import listed_sessions

NOW = wire.moment("2026-11-30T12:00:00Z") or 0.0
STALLED = {"attention": {"reason": "stalled"}}
ASLEEP = {"suspended": {"at": None, "reason": "waiting_for_answer", "path": "session_resume"}}
ANSWERED = {"pending_answer": {"question_id": "q-1", "prompt": "…"}}


def because(reason: str) -> dict[str, Any]:
    return {"attention": {"reason": reason}}


@pytest.mark.parametrize(
    ("status", "more", "needed"),
    [
        ("running", {}, False),
        ("waiting_for_answer", {}, True),
        ("waiting_for_answer", ASLEEP | ANSWERED, False),
        ("waiting_for_answer", ASLEEP, True),
        ("waiting_for_answer", ASLEEP | {"prewarm": {"requested_at": None}}, True),
        ("waiting_for_answer", ANSWERED, True),
        ("running", STALLED, True),
        ("running", because("nudges_exhausted"), True),
        ("running", because("model_error"), False),
        ("starting", because("model_error"), False),
        ("idle", because("model_error"), True),
        ("parked", because("idle_timeout"), False),
        ("parked", because("provider_retry"), True),
        ("parked", because("hold_timeout"), True),
        ("blocked", {}, False),
        ("queued", because("provider_quota_exhausted"), True),
        ("pr_opened", STALLED, False),
        ("failed", {"unseen_failure": True}, True),
        ("failed", {"unseen_failure": True} | STALLED, True),
        ("failed", {"unseen_failure": False}, False),
        ("failed", {}, False),
        ("failed", STALLED, False),
        ("merged", {"unseen_failure": True}, False),
        ("stopped", {"unseen_failure": True} | STALLED, False),
        ("idle", because("control_defeat"), True),
        ("hibernating", {}, False),
        ("hibernating", STALLED, True),
        ("running", {"attention": {}}, True),
        ("running", {"attention": []}, False),
        ("waiting_for_answer", {"suspended": False, "pending_answer": 0}, True),
    ],
)
def test_the_rule_of_who_needs_a_person(status: str, more: dict[str, Any], needed: bool) -> None:
    assert needs_you(colony(status=status, **more)) is needed


@pytest.mark.parametrize("status", sorted(KNOWN - {"failed", "waiting_for_answer"}))
def test_without_attention_only_questions_and_unseen_failures_need_a_person(status: str) -> None:
    assert not needs_you(colony(status=status, unseen_failure=True))


@pytest.mark.parametrize("status", sorted(TERMINAL - {"failed"}))
def test_no_attention_makes_an_ended_colony_need_a_person(status: str) -> None:
    assert not needs_you(colony(status=status, **because("control_defeat")))


def listed(*colonies: Any) -> tuple[set[str], set[str]]:
    shown, old = narrowed(colonies, NOW)
    return {each.key.colony for each in shown}, {each.key.colony for each in old}


FAILED: dict[str, Any] = {"status": "failed", "unseen_failure": True}


@pytest.mark.parametrize(
    "error",
    [
        "No branch to build on: the parent is gone",
        "this colony cannot be stacked on a1",
        "the parent was STOPPED OR PARKED, SO this one ended",
    ],
)
def test_a_failure_that_only_follows_from_the_parents_is_left_out(error: str) -> None:
    assert listed(colony("a", **FAILED, error=error), colony("b", **FAILED, error="boot failed")) == ({"b"}, set())
    assert listed(colony("a", status="waiting_for_answer", error=error)) == ({"a"}, set())


HOLDING = (
    "queued",
    "blocked",
    "starting",
    "running",
    "waiting_for_answer",
    "idle",
    "publishing",
    "pr_opened",
    "merged",
)


@pytest.mark.parametrize("status", sorted(KNOWN))
def test_a_failure_is_left_out_where_a_newer_colony_has_its_issue(status: str) -> None:
    old = colony("old", **FAILED, issue=7, created_at="2026-11-30T10:00:00Z")
    newer = colony("newer", status=status, issue=7, created_at="2026-11-30T10:00:01Z")
    assert ("old" in listed(old, newer)[0]) is (status not in HOLDING)
    earlier = colony("earlier", status=status, issue=7, created_at="2026-11-30T09:59:59Z")
    assert "old" in listed(old, earlier)[0]


def test_only_the_same_issue_of_the_same_repository_overtakes() -> None:
    old = colony("old", **FAILED, issue=7)
    later: dict[str, Any] = {"status": "idle", "created_at": "2026-11-30T11:30:00Z"}
    others: list[dict[str, Any]] = [{"issue": 8}, {"issue": 7, "repo": "acme/other"}, {"issue": None}, {"issue": "7"}]
    for other in others:
        assert "old" in listed(old, colony("b", **later, **other))[0]
    assert listed(colony("x", **FAILED), colony("y", **FAILED)) == ({"x", "y"}, set())


def test_of_several_on_one_issue_only_the_newest_is_listed() -> None:
    first = colony("first", status="waiting_for_answer", issue=7, created_at="2026-11-30T10:00:00Z")
    second = colony("second", **FAILED, issue=7, created_at="2026-11-30T11:00:00Z")
    assert listed(first, second) == ({"second"}, set())
    assert listed(second, first) == ({"second"}, set())
    unneeded = colony("third", status="failed", issue=7, created_at="2026-11-30T11:30:00Z")
    assert listed(first, second, unneeded) == ({"second"}, set())


def test_abandoned_questions_of_more_than_three_days_fold_into_one_row() -> None:
    abandoned = FAILED | {"error": "abandoned_question"}
    old = [colony(f"o{day}", **abandoned, updated_at=f"2026-11-{day}T12:00:00Z") for day in (10, 20, 26)]
    exactly = colony("exactly", **abandoned, updated_at="2026-11-27T12:00:00Z")
    other = colony("other", **FAILED, error="boot failed", updated_at="2026-11-01T12:00:00Z")
    assert listed(*old, exactly, other) == ({"exactly", "other"}, {"o10", "o20", "o26"})
    needs = inbox([*old, exactly], {}, NOW)
    assert [need.urgency for need in needs] == [Urgency.UNSEEN_FAILURE, Urgency.OLD_QUESTIONS]
    assert [each.key.colony for each in needs[1].colonies] == ["o26", "o20", "o10"]
    assert needs[1].colony.key.colony == "o26"
    assert needs[1].since == old[0].updated_at


def ordered(needs: Any) -> list[str]:
    return [need.colony.key.colony for need in needs]


def test_the_inbox_goes_by_urgency_then_risk_then_age() -> None:
    waiting = {"status": "waiting_for_answer"}
    colonies = [
        colony("stalled", **STALLED, updated_at="2026-11-30T01:00:00Z"),
        colony("failure", **FAILED, updated_at="2026-11-30T02:00:00Z"),
        colony("unread", **waiting, updated_at="2026-11-30T03:00:00Z"),
        colony("young", **waiting, updated_at="2026-11-30T11:00:00Z"),
        colony("old", **waiting, updated_at="2026-11-30T04:00:00Z"),
        colony("risky", **waiting, updated_at="2026-11-30T11:30:00Z"),
        colony("hold", **because("control_defeat"), updated_at="2026-11-30T11:59:00Z"),
        colony("older-hold", status="waiting_for_answer", **because("secret_found"), updated_at="2026-11-30T11:58:00Z"),
        colony(
            "parked",
            status="parked",
            parked={"reason": "hold_timeout", "question_risk": "read_only"},
            **because("hold_timeout"),
        ),
    ]
    questions: dict[ColonyKey, OpenQuestion] = {
        key("young"): question(risk="read_only"),
        key("old"): question(risk="read_only"),
        key("risky"): question(risk="tomorrow's"),
        key("hold"): question(risk="read_only"),
    }
    needs = inbox(colonies, questions, NOW)
    assert ordered(needs) == ["older-hold", "hold", "risky", "old", "young", "unread", "parked", "failure", "stalled"]
    assert [need.risk for need in needs][:4] == [None, None, Risk.UNKNOWN, Risk.READ_ONLY]


def test_a_failed_colony_under_a_security_hold_is_a_failure() -> None:
    (need,) = inbox([colony(**FAILED, **because("control_defeat"))], {}, NOW)
    assert need.urgency is Urgency.UNSEEN_FAILURE


def test_a_colony_waits_since_its_question_else_its_attention_else_its_last_sign_of_life() -> None:
    asked = decode.asked(question(), 5.0)
    held = colony(
        attention={"reason": "stalled", "since": "2026-11-30T09:00:00Z"}, last_activity_at="2026-11-30T08:00:00Z"
    )
    assert waiting_since(held, asked) == 5.0
    assert waiting_since(held, question()) == wire.moment("2026-11-30T09:00:00Z")
    assert waiting_since(colony(last_activity_at="2026-11-30T08:00:00Z"), None) == wire.moment("2026-11-30T08:00:00Z")
    assert waiting_since(colony(), None) == NOW


def test_the_recorded_fleet_needs_a_person_where_the_published_program_says_so() -> None:
    colonies = [decode.colony(HQ, raw) for raw in listed_sessions()]
    assert {each.key.colony for each in colonies if needs_you(each)} >= {
        each.key.colony
        for each in colonies
        if each.status == "waiting_for_answer" and not each.answered_while_suspended
    }
    assert not any(needs_you(each) for each in colonies if each.status in TERMINAL - {"failed"})
