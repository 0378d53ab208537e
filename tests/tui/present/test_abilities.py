"""What can be done with a colony: each action in each status, and by whom."""

from collections.abc import Mapping
from collections.abc import Set as AbstractSet
from typing import Any

import pytest
from msgspec.structs import replace

from colonizer_client.mothership.models import Parked, Standing, Superseded
from colonizer_client.mothership.status import KNOWN
from colonizer_client.snapshot import Health
from colonizer_tui.present.abilities import ACTIONS, ALLOWED, host_refusal, refusal
from moments import HQ, ROCKET_QUESTION, colony, endpoint

STATUSES: tuple[str, ...] = (
    "queued", "blocked", "starting", "running", "waiting_for_answer", "idle", "publishing", "pr_opened", "merged",
    "closed", "no_changes", "parked", "stopped", "failed", "dreaming",
)  # fmt: skip

POSSIBLE: Mapping[str, AbstractSet[str]] = {
    "answer": {"waiting_for_answer"},
    "message": set(STATUSES) - {"merged", "closed", "no_changes", "pr_opened", "publishing"},
    "interrupt": {"running", "waiting_for_answer"},
    "stop": {"queued", "blocked", "starting", "running", "waiting_for_answer", "idle", "parked", "dreaming"},
    "resume": {"parked", "stopped", "failed"},
    "publish": {"running", "waiting_for_answer", "idle", "stopped", "failed", "no_changes", "parked"},
    "diff": set(STATUSES),
    "clean_up": {"pr_opened", "merged", "closed", "no_changes", "stopped", "failed"},
}
"""In which status an action is possible for an owner, on a colony with a worktree (spec 3.1)."""

COVERED = Superseded("files", "https://github.example/acme/widgets/pull/9")


def why_not(action: str, status: str = "running", **changes: Any) -> str:
    return refusal(action, colony("a", status, 1, **changes), endpoint(HQ), ROCKET_QUESTION)


def test_the_tables_of_this_test_are_whole() -> None:
    assert set(STATUSES) == KNOWN | {"dreaming"}
    assert POSSIBLE.keys() | {"keep"} == set(ACTIONS)


@pytest.mark.parametrize("status", STATUSES)
@pytest.mark.parametrize("action", POSSIBLE)
def test_an_action_is_possible_in_its_statuses_and_else_says_why_not(action: str, status: str) -> None:
    reason = why_not(action, status)
    assert (reason == ALLOWED) is (status in POSSIBLE[action])
    if reason:
        assert "_" not in reason
        assert status.replace("_", " ") in reason or "pull request" in reason


@pytest.mark.parametrize("action", ACTIONS)
@pytest.mark.parametrize("health", [Health.SILENT, Health.SIGNED_OUT, Health.CONNECTING])
def test_nothing_is_possible_on_a_host_that_does_not_answer(health: Health, action: str) -> None:
    away = endpoint(HQ, health=health, error="it took too long")
    for status in STATUSES:
        one = colony("a", status, 1)
        assert refusal(action, one, away, ROCKET_QUESTION)
        assert refusal(action, one, None, ROCKET_QUESTION)


@pytest.mark.parametrize(
    ("scope", "possible"),
    [
        ("read", {"diff"}),
        ("operate", {"answer", "message", "interrupt", "stop", "keep", "diff"}),
        ("launch", {"answer", "message", "interrupt", "stop", "keep", "publish", "diff"}),
        ("of_tomorrow", {"diff"}),
    ],
)
def test_a_token_reaches_what_its_scope_allows(scope: str, possible: set[str]) -> None:
    host = endpoint(HQ, standing=Standing(is_owner=False, scope=scope))
    for action in ACTIONS:
        status = "stopped" if action in ("clean_up", "resume") else "waiting_for_answer"
        reason = refusal(action, colony("a", status, 1, superseded=COVERED), host, ROCKET_QUESTION)
        may = action in possible or (action == "resume" and "stop" in possible)
        assert (reason == ALLOWED) is may
        if reason:
            assert f"has scope {scope}" in reason


def test_a_launch_needs_its_scope() -> None:
    def of(scope: str) -> str:
        return host_refusal("colonize", endpoint(HQ, standing=Standing(is_owner=False, scope=scope)))

    assert of("launch") == ALLOWED
    assert of("operate") == "the token of hq has scope operate; this needs launch"
    assert host_refusal("colonize", endpoint(HQ)) == ALLOWED


def test_an_action_whose_scope_is_not_known_yet_is_tried() -> None:
    assert host_refusal("stop", endpoint(HQ, standing=None)) == ALLOWED


@pytest.mark.parametrize("action", ACTIONS)
def test_without_a_colony_the_reason_says_so(action: str) -> None:
    assert refusal(action, None, endpoint(HQ), None) == "no colony is selected"


def test_what_does_not_depend_on_the_colony_is_not_judged_by_it() -> None:
    assert refusal("find", colony("a", "merged", 1), None, None) == ALLOWED


def test_a_question_that_is_not_read_yet_cannot_be_answered() -> None:
    asking = colony("a", "waiting_for_answer", 1)
    assert refusal("answer", asking, endpoint(HQ), None) == "its question is not read yet"


@pytest.mark.parametrize(
    ("status", "changes", "possible"),
    [
        ("waiting_for_answer", {"suspended": True}, True),
        ("waiting_for_answer", {"suspended": True, "answered_while_suspended": True}, False),
        ("starting", {"suspended": True}, True),
        ("running", {"suspended": True}, True),
        ("running", {}, False),
        ("parked", {"parked": Parked("hold_timeout", on_question=True)}, True),
        ("parked", {"parked": Parked("hold_timeout")}, False),
        ("stopped", {"suspended": True}, False),
    ],
)
def test_a_question_is_answered_where_the_colony_takes_it(status: str, changes: dict[str, Any], possible: bool) -> None:
    assert (why_not("answer", status, **changes) == ALLOWED) is possible


@pytest.mark.parametrize(
    ("status", "changes", "reason"),
    [
        ("stopped", {"has_worktree": True}, ALLOWED),
        ("stopped", {"has_worktree": False}, "it never had a worktree: launch it again"),
        ("stopped", {"cleaned_up": True}, "its worktree is gone"),
        ("stopped", {"cleaned_up": True, "has_worktree": False, "pr_url": "https://x/1"}, ALLOWED),
        ("pr_opened", {"cleaned_up": True, "pr_url": "https://x/1"}, ALLOWED),
        ("waiting_for_answer", {"suspended": True}, ALLOWED),
        ("idle", {}, "it is idle: only a stopped, failed or parked colony is resumed"),
    ],
)
def test_a_colony_is_resumed_where_its_worktree_is_or_can_be_made_again(
    status: str, changes: dict[str, Any], reason: str
) -> None:
    assert why_not("resume", status, **changes) == reason


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"has_worktree": False}, "it has no worktree yet"),
        ({"cleaned_up": True}, "its worktree was cleaned up"),
    ],
)
def test_without_a_worktree_there_is_no_diff(changes: dict[str, Any], reason: str) -> None:
    assert why_not("diff", "running", **changes) == reason


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"has_worktree": False}, "there is nothing to clean up"),
        ({"cleaned_up": True}, "it is cleaned up already"),
    ],
)
def test_what_is_gone_is_not_cleaned_up(changes: dict[str, Any], reason: str) -> None:
    assert why_not("clean_up", "stopped", **changes) == reason


def test_a_turn_that_sleeps_is_not_interrupted() -> None:
    assert why_not("interrupt", "waiting_for_answer", suspended=True) == "no turn runs: it sleeps until it is answered"


def test_a_colony_whose_work_is_covered_can_be_kept_once() -> None:
    assert why_not("keep", "stopped") == "no other work covers it: there is nothing to keep"
    assert why_not("keep", "stopped", superseded=COVERED) == ALLOWED
    assert why_not("keep", "stopped", superseded=replace(COVERED, kept=True)) == "it is kept already"


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"suspended": True}, "it sleeps"),
        ({"cleaned_up": True}, "cleaned up"),
        ({"has_worktree": False}, "no worktree"),
    ],
)
def test_what_cannot_be_published_says_why(changes: dict[str, Any], words: str) -> None:
    assert words in why_not("publish", "waiting_for_answer", **changes)


def test_a_pull_request_that_is_there_is_opened_and_not_published_again() -> None:
    assert "o opens it" in why_not("publish", "pr_opened", pr_url=COVERED.pr_url)
