"""Why a colony is as it is: a case for each status and each reason of the specification, in words that fit it."""

from typing import Any

import pytest

from colonizer_client.attention import Ground, LeftOut, ground
from colonizer_client.mothership.models import Attention, Colony, ColonyDetail, Parked, Superseded
from colonizer_client.mothership.status import KNOWN
from colonizer_client.snapshot import ColonyChanged, DetailRead, EndpointChanged, Health, HubEvent, Snapshot, fold
from colonizer_tui.keys import keymap
from colonizer_tui.present.abilities import ACTIONS
from colonizer_tui.present.explain import (
    ACTS,
    GROUNDS,
    LEFT_OUT,
    REASONS,
    SECURITY,
    STATUSES,
    UNHEARD_OF,
    UNKNOWN_REASON,
    explanation,
    reason_case,
)
from colonizer_tui.present.line import text_of, width_of
from colonizer_tui.present.states import Glyphs
from colonizer_tui.present.view import View
from moments import HQ, NOW, colony, endpoint, silent

OF_THE_SPECIFICATION = {
    "stalled", "nudges_exhausted", "waiting_for_answer", "turn_lost_after_subagent", "autopilot_held", "hold_timeout",
    "hold_parked_unanswered", "provider_quota_exhausted", "provider_retry", "provider_outage", "waiting_for_account",
    "agent_failed", "model_error", "idle_timeout", "control_defeat", "exec_policy_loop", "looping",
    "operator_escalation", "judge_unreachable", "no_push_access", "repo_pr_rate_limit",
    "repo_cache_corruption_unrecoverable", "verify_failed_repeatedly",
}  # fmt: skip
"""Every reason for attention (spec 1.4, 13.1)."""


def said(one: Colony, *events: HubEvent, width: int = 72) -> str:
    """The explanation as one line of text, blanks run together."""
    snapshot, _ = fold(Snapshot(), [EndpointChanged(endpoint(HQ)), ColonyChanged(one), *events])
    shown = explanation(one, View(snapshot, NOW), keymap({}), width, Glyphs())
    assert all(width_of(line) <= width for line in shown)
    return " ".join(" ".join(map(text_of, shown)).split())


def told(status: str, **changes: Any) -> str:
    return said(colony("a", status, 30, **changes))


def test_there_is_a_case_for_every_status_every_reason_and_every_part_of_the_rule() -> None:
    assert STATUSES.keys() == KNOWN
    assert REASONS.keys() == OF_THE_SPECIFICATION
    assert GROUNDS.keys() == set(Ground)
    assert LEFT_OUT.keys() == set(LeftOut)
    assert ACTS.keys() == set(ACTIONS)


def test_no_two_cases_say_the_same() -> None:
    for table in (STATUSES, REASONS):
        assert len({case.what for case in table.values()}) == len(table)


@pytest.mark.parametrize("status", [*sorted(KNOWN), "dreaming"])
def test_a_status_says_what_it_is_what_comes_next_and_whether_it_needs_you(status: str) -> None:
    case = STATUSES.get(status, UNHEARD_OF)
    text = told(status)
    since = "for 40 min, since 11:20" if status in ("queued", "blocked") else "for 30 min, since 11:30"
    for words in (case.what, case.next, GROUNDS[ground(colony("a", status, 30))], since):
        assert words in text


@pytest.mark.parametrize("reason", sorted(OF_THE_SPECIFICATION))
@pytest.mark.parametrize("status", ["running", "idle", "parked"])
def test_a_reason_says_why_in_its_own_words_and_in_those_of_the_mothership(reason: str, status: str) -> None:
    text = told(status, attention=Attention(reason, NOW - 600, "its own detail"))
    assert f"{reason.replace('_', ' ')}: {REASONS[reason].what}" in text
    assert "The mothership says: its own detail" in text
    assert REASONS[reason].next in text
    assert "for 10 min, since 11:50" in text


@pytest.mark.parametrize("reason", sorted(OF_THE_SPECIFICATION))
def test_a_colony_that_is_parked_says_why_though_nothing_marks_it(reason: str) -> None:
    text = told("parked", parked=Parked(reason, NOW - 7_200))
    assert REASONS[reason].what in text
    assert REASONS[reason].next in text
    assert "for 2 h, since 10:00" in text
    assert "It does not need you" in text


@pytest.mark.parametrize(
    ("reason", "case"), [("secret_in_diff", SECURITY), ("credential_probe", SECURITY), ("moonstruck", UNKNOWN_REASON)]
)
def test_a_reason_of_tomorrow_is_told_as_what_can_be_known_of_it(reason: str, case: object) -> None:
    assert reason_case(reason) is case


def test_an_attention_that_is_left_over_explains_nothing() -> None:
    assert "stalled" not in told("merged", attention=Attention("stalled", NOW))


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"suspended": True}, "Its machine sleeps."),
        ({"suspended": True, "answered_while_suspended": True}, "It goes on with the answer when a slot is free."),
        ({"attention": Attention("waiting_for_answer", NOW - 60)}, "Nothing until it is answered."),
    ],
)
def test_a_question_is_told_by_how_far_it_is(changes: dict[str, Any], words: str) -> None:
    assert words in told("waiting_for_answer", **changes)


def test_a_colony_that_comes_back_by_itself_says_when() -> None:
    text = told("parked", parked=Parked("provider_retry", NOW - 60, NOW + 900))
    assert "It comes back by itself in 15 min, at 12:15." in text
    assert "It comes back" not in told("parked", parked=Parked("provider_retry", NOW - 60, NOW - 30))


@pytest.mark.parametrize(
    ("status", "changes", "words"),
    [
        ("queued", {"queued_behind": "0dd50e5a"}, "It starts when colony 0dd50e5a no longer holds the issue."),
        ("queued", {"blocked_reason": "3 of 3 slots taken"}, "The mothership says: 3 of 3 slots taken"),
        ("failed", {"error": "boot failed"}, "The mothership says: boot failed"),
        ("idle", {"autopilot": True}, "With autopilot it publishes by itself"),
        (
            "stopped",
            {"superseded": Superseded("files", "https://github.example/acme/widgets/pull/9")},
            "https://github.example/acme/widgets/pull/9 covers its work (files). Keep it",
        ),
        ("stopped", {"superseded": Superseded("files", "", kept=True)}, "It is kept all the same."),
        ("starting", {"suspended": True}, "Its machine is being woken."),
    ],
)
def test_what_else_is_known_is_told(status: str, changes: dict[str, Any], words: str) -> None:
    assert words in told(status, **changes)


def test_the_diagnosis_of_the_server_is_quoted_as_its_own() -> None:
    one = colony("a", "running", 30)
    detail = ColonyDetail(one, "", "no activity for 20m; no events yet", (), ())
    assert "hq no activity for 20m; no events yet next" in said(one, DetailRead(one.key, detail))


def test_what_is_known_of_a_host_that_is_gone_is_told_as_old() -> None:
    text = said(colony("a", "running", 30), silent(HQ))
    assert "as of 40 s ago. hq does not answer (it took too long): what follows is how it was when last seen." in text
    assert "next hq is asked again in 4 s; r in Connections (7) asks now." in text
    assert "needs you When last seen: it does not need you" in text
    assert "you can" not in text
    away = EndpointChanged(endpoint(HQ, health=Health.SIGNED_OUT, error="no"))
    text = said(colony("a", "running", 30), away)
    assert "you can" not in text
    assert "until you sign in: l in Connections (7)." in text


def test_only_what_is_possible_is_offered_with_the_key_that_the_person_chose() -> None:
    text = told("running")
    assert "s stop it" in text
    assert "r start its next run" not in text
    one = colony("a", "running", 30)
    snapshot, _ = fold(Snapshot(), [EndpointChanged(endpoint(HQ)), ColonyChanged(one)])
    shown = explanation(one, View(snapshot, NOW), keymap({"stop": "S"}), 72, Glyphs())
    assert any(text_of(line).split()[:2] == ["S", "stop"] for line in shown)


FAILED: dict[str, Any] = {"unseen_failure": True, "error": "boot failed", "issue": 7}


@pytest.mark.parametrize(
    ("why", "changes", "other"),
    [
        (LeftOut.CASCADE, {"error": "its parent was Stopped or parked, so it ended"}, None),
        (LeftOut.OVERTAKEN, {}, colony("b", "running", 1, issue=7)),
        (LeftOut.OLDER, {}, colony("b", "failed", 1, issue=7, unseen_failure=True)),
        (LeftOut.OLD_QUESTION, {"error": "abandoned_question", "updated_at": NOW - 80 * 3600}, None),
        (None, {}, colony("b", "running", 1, issue=8)),
    ],
)
def test_a_colony_that_needs_you_and_is_not_listed_says_why(
    why: LeftOut | None, changes: dict[str, Any], other: Colony | None
) -> None:
    one = colony("a", "failed", 30, **(FAILED | changes))
    text = said(one, *(() if other is None else (ColonyChanged(other),)))
    assert GROUNDS[Ground.UNSEEN_FAILURE] in text
    assert [found for found, words in LEFT_OUT.items() if words in text] == ([] if why is None else [why])


@pytest.mark.parametrize("width", [8, 20, 40, 66, 120])
def test_an_explanation_fits_in_any_width(width: int) -> None:
    one = colony("a", "failed", 30, error="x" * 300, title="A long title " * 20)
    snapshot, _ = fold(Snapshot(), [EndpointChanged(endpoint(HQ)), ColonyChanged(one)])
    assert explanation(one, View(snapshot, NOW), keymap({}), width, Glyphs())
