"""A colony's state: a shape, a word and a role for each, and none of them alone."""

from itertools import combinations
from typing import Any

import pytest
from rich.cells import cell_len

from colonizer_client.identity import EndpointName
from colonizer_client.mothership.models import Attention, Parked, Superseded
from colonizer_client.mothership.status import KNOWN
from colonizer_client.snapshot import Health
from colonizer_tui.present.states import GLYPHS, Glyphs, Look, is_stale, is_unsandboxed, last_look, look
from moments import HQ, LOCAL, NOW, ROCKET_QUESTION, THREE_QUESTIONS, colony, endpoint, question

LOOKS = {
    "queued": ("queued", "queued"),
    "blocked": ("blocked", "blocked"),
    "starting": ("underway", "starting"),
    "running": ("running", "running"),
    "waiting_for_answer": ("asks", "asks"),
    "idle": ("idle", "idle"),
    "publishing": ("underway", "publishing"),
    "pr_opened": ("open", "pr open"),
    "merged": ("done", "merged"),
    "closed": ("closed", "closed"),
    "no_changes": ("nothing", "no changes"),
    "parked": ("parked", "parked"),
    "stopped": ("stopped", "stopped"),
    "failed": ("failed", "failed"),
}


def test_the_table_of_this_test_holds_every_known_status() -> None:
    assert LOOKS.keys() == KNOWN


@pytest.mark.parametrize("status", LOOKS)
def test_a_status_has_its_shape_and_its_word(status: str) -> None:
    shown = look(colony("a", status, 1), None)
    assert (shown.glyph, shown.word) == LOOKS[status]


@pytest.mark.parametrize(("status", "word"), [("dreaming", "dreaming"), ("half_asleep", "half asleep")])
def test_a_status_of_tomorrow_is_its_own_word(status: str, word: str) -> None:
    assert look(colony("a", status, 1), None) == Look("unknown", word, "muted")


@pytest.mark.parametrize("name", GLYPHS)
def test_a_glyph_is_one_cell_and_its_stand_in_is_ascii(name: str) -> None:
    assert cell_len(Glyphs()[name]) == 1
    stand_in = Glyphs(ascii=True)[name]
    assert stand_in.isascii()
    assert stand_in.isprintable()


@pytest.mark.parametrize("is_ascii", [False, True])
def test_two_states_never_look_the_same_without_colours(is_ascii: bool) -> None:
    glyphs = Glyphs(is_ascii)
    everyone = [look(colony("a", status, 1), None) for status in (*LOOKS, "dreaming")]
    for one, other in combinations(everyone, 2):
        assert one.word != other.word
        assert glyphs[one.glyph] != glyphs[other.glyph] or one.glyph == other.glyph


@pytest.mark.parametrize(
    ("status", "changes", "word", "role", "is_urgent"),
    [
        ("failed", {"unseen_failure": True}, "failed", "danger", True),
        ("failed", {"unseen_failure": False}, "failed", "muted", False),
        ("running", {"attention": Attention("control_defeat")}, "held", "danger", True),
        ("waiting_for_answer", {"attention": Attention("secret_found")}, "held", "danger", True),
        ("merged", {"attention": Attention("control_defeat")}, "merged", "ok", False),
        ("running", {"attention": Attention("stalled")}, "stalled", "attention", False),
        ("running", {"attention": Attention("of_tomorrow")}, "of tomorrow", "attention", False),
        ("running", {"attention": Attention("model_error")}, "running", "active", False),
        ("parked", {"attention": Attention("idle_timeout")}, "parked", "muted", False),
        ("parked", {"attention": Attention("hold_timeout")}, "parked", "attention", False),
        ("pr_opened", {"attention": Attention("stalled")}, "pr open", "info", False),
        ("waiting_for_answer", {"suspended": True}, "asks", "attention", True),
        (
            "waiting_for_answer",
            {"suspended": True, "answered_while_suspended": True},
            "answered",
            "muted",
            False,
        ),
        ("stopped", {"superseded": Superseded("the same issue", "https://x/1")}, "covered", "muted", False),
        ("stopped", {"superseded": Superseded("the same issue", "https://x/1", kept=True)}, "stopped", "muted", False),
        ("parked", {"parked": Parked("hold_timeout")}, "parked", "muted", False),
    ],
)
def test_what_a_person_has_to_do_goes_before_the_status(
    status: str, changes: dict[str, Any], word: str, role: str, is_urgent: bool
) -> None:
    shown = look(colony("a", status, 1, **changes), None)
    assert (shown.word, shown.role, shown.is_urgent) == (word, role, is_urgent)


def test_a_card_of_several_questions_tells_how_many() -> None:
    asks = colony("a", "waiting_for_answer", 1)
    assert look(asks, THREE_QUESTIONS).word == "asks 3"
    assert look(asks, ROCKET_QUESTION).word == "asks"
    assert look(asks, question()).word == "asks"


ASKS = colony("a", "waiting_for_answer", 1)


def test_a_live_host_leaves_its_rows_as_they_are() -> None:
    assert last_look(ASKS, THREE_QUESTIONS, endpoint()) == look(ASKS, THREE_QUESTIONS)


def test_a_host_that_was_never_heard_of_is_not_called_stale_while_it_connects() -> None:
    assert not is_stale(endpoint(health=Health.CONNECTING, as_of=None))


@pytest.mark.parametrize("health", [Health.SILENT, Health.SIGNED_OUT, Health.CONNECTING])
def test_of_a_host_that_does_not_answer_the_last_known_word_is_shown_dimmed(health: Health) -> None:
    shown = last_look(ASKS, THREE_QUESTIONS, endpoint(health=health, as_of=NOW - 40))
    assert shown == Look("unknown", "asks 3", "stale")


@pytest.mark.parametrize("health", [Health.SILENT, Health.SIGNED_OUT])
def test_a_silent_host_that_was_never_heard_of_is_stale(health: Health) -> None:
    assert is_stale(endpoint(health=health, as_of=None))


def test_a_removed_host_is_stale() -> None:
    assert is_stale(None)


@pytest.mark.parametrize(
    ("host", "status", "sandbox", "is_so"),
    [
        (LOCAL, "running", "none", True),
        (LOCAL, "running", "bwrap", False),
        (LOCAL, "stopped", "none", False),
        (HQ, "running", "none", False),
    ],
)
def test_an_agent_is_unsandboxed_while_it_works_on_this_machine_without_one(
    host: EndpointName, status: str, sandbox: str, is_so: bool
) -> None:
    assert is_unsandboxed(colony("a", status, 1, host=host, sandbox=sandbox), endpoint(host)) is is_so
