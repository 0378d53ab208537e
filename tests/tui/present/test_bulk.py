"""What can be done to many colonies, and how it is told."""

import pytest
from msgspec.structs import replace

from colonizer_client.mothership.models import Colony, Superseded
from colonizer_client.snapshot import Snapshot, fold
from colonizer_tui.present import bulk
from colonizer_tui.present.bulk import DEEDS, Fate, Plan, Stage
from colonizer_tui.present.line import width_of
from colonizer_tui.present.states import Glyphs
from colonizer_tui.present.view import Digests
from moments import HQ, NOW, colony, every_state, key_of, silent

snapshot, topics = fold(Snapshot(), every_state())
VIEW = Digests().view(snapshot, topics, NOW)


def of(*names: str) -> list[Colony]:
    return [VIEW.snapshot.colonies[key_of(name)] for name in names]


def text_of(plan: Plan, width: int = 80) -> str:
    lines = bulk.lines(plan, width, Glyphs())
    return "\n".join("".join(piece.text for piece in line).rstrip() for line in lines)


def test_what_cannot_be_is_left_out_with_the_reason() -> None:
    plan = bulk.plan("stop", of("a1b2c3d4", "5e6f7a8b", "fa11ed00", "9b115400"), VIEW)
    assert [item.colony.shown_id for item in plan.items] == ["a1b2c3d4", "5e6f7a8b"]
    assert [(one.shown_id, reason) for one, reason in plan.left_out] == [
        ("fa11ed00", "it is failed already"),
        ("9b115400", "it is publishing; that cannot be stopped"),
    ]
    assert bulk.title(plan) == "Stop 2 colonies?"
    assert text_of(plan).split("\n") == [
        "   hq · acme/widgets · Greet the world (a1b2c3d4)",
        "   hq · acme/widgets · Choose how to release (5e6f7a8b)",
        "     Its open question stays unanswered; your draft is kept.",
        "",
        "Left out",
        "   hq · acme/widgets · Would not boot (fa11ed00)",
        "     it is failed already",
        "   hq · acme/widgets · On its way (9b115400)",
        "     it is publishing; that cannot be stopped",
    ]


def test_an_answer_is_never_given_to_many() -> None:
    assert set(DEEDS) == {"stop", "resume", "keep", "clean_up"}


def test_a_colony_whose_work_was_covered_is_asked_about_by_itself() -> None:
    covered = colony("0dd50e5a", "stopped", 5, superseded=Superseded("same issue", "https://github.example/p/1"))
    plan = bulk.plan("resume", [covered, replace(covered, superseded=None)], VIEW)
    assert len(plan.items) == 1
    assert [reason for _, reason in plan.left_out] == [
        "https://github.example/p/1 covered its work: keep it first, or resume it by itself"
    ]


def test_on_a_silent_host_nothing_can_be_done() -> None:
    still, more = fold(snapshot, [silent(HQ)])
    view = Digests().view(still, more, NOW)
    plan = bulk.plan("stop", of("a1b2c3d4"), view)
    assert not plan.items
    assert bulk.title(plan) == "There is nothing to stop"
    assert "hq does not answer" in text_of(plan)


def test_a_key_is_dim_only_where_it_can_be_done_to_none() -> None:
    assert bulk.why_not("stop", of("a1b2c3d4", "fa11ed00"), VIEW) == ""
    assert bulk.why_not("stop", of("fa11ed00"), VIEW) == "none of those that are marked: it is failed already"
    assert bulk.count_of("stop", of("a1b2c3d4", "fa11ed00"), VIEW) == 1


@pytest.mark.parametrize(
    ("stage", "fates", "title"),
    [
        (Stage.READING, [], "Stop 3 colonies?"),
        (Stage.DOING, [Fate.DONE, Fate.UNDERWAY], "Stopping 3 colonies: 1 of 3"),
        (Stage.ENDING, [Fate.DONE, Fate.UNDERWAY], "Called off: 1 of 3, waiting for what is under way"),
        (Stage.DONE, [Fate.DONE] * 3, "3 colonies stopped"),
        (Stage.DONE, [Fate.DONE, Fate.FAILED, Fate.DONE], "2 colonies stopped, could not stop 1"),
        (Stage.DONE, [Fate.FAILED] * 3, "Could not stop 3"),
        (Stage.DONE, [Fate.DONE], "1 colony stopped, 2 not begun"),
        (Stage.DONE, [], "0 colonies stopped, 3 not begun"),
    ],
)
def test_the_title_says_how_far_it_is(stage: Stage, fates: list[Fate], title: str) -> None:
    plan = bulk.plan("stop", of("a1b2c3d4", "5e6f7a8b", "1d1e0000"), VIEW)
    plan.stage = stage
    for item, fate in zip(plan.items, fates, strict=False):
        item.fate = fate
    assert bulk.title(plan) == title


def test_each_fault_is_told_below_its_colony() -> None:
    plan = bulk.plan("stop", of("5e6f7a8b", "a1b2c3d4"), VIEW)
    plan.stage = Stage.DONE
    plan.items[0].fate, plan.items[0].error = Fate.FAILED, "out of paper"
    plan.items[1].fate = Fate.DONE
    assert text_of(plan).split("\n") == [
        "✗  hq · acme/widgets · Choose how to release (5e6f7a8b)",
        "     out of paper",
        "✓  hq · acme/widgets · Greet the world (a1b2c3d4)",
    ]
    assert plan.done == {key_of("a1b2c3d4")}


@pytest.mark.parametrize("width", [10, 20, 70])
def test_no_name_is_wider_than_the_box(width: int) -> None:
    long = colony("1", "running", 1, title="日本語 and " * 40)
    lines = bulk.lines(bulk.plan("stop", [long, *of("fa11ed00")], VIEW), width, Glyphs())
    assert all(width_of(line) <= width for line in lines)
