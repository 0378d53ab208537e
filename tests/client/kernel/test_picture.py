"""What is remembered of a kernel: marks of traces, gaps, warnings; and how much of it at most."""

from collections.abc import Iterator

import pytest
from msgspec.structs import replace

from colonizer_client.endpoint_state import EndpointState
from colonizer_client.identity import EndpointName
from colonizer_client.kernel.agents import CONSEQUENCES_KEPT
from colonizer_client.kernel.changes import Changes, Judged, Marked, Matrix, OutcomeKept, Ticked, Trail
from colonizer_client.kernel.field import MARKS_KEPT
from colonizer_client.kernel.models import (
    Budgets,
    Consequence,
    Decision,
    Name,
    Profile,
    PruningReport,
    SignalType,
    Status,
    TopSignal,
    Trace,
)
from colonizer_client.kernel.picture import PULSES_KEPT, VERDICTS_KEPT, Picture
from colonizer_client.kernel.preset import CODOMYRMEX
from colonizer_client.kernel.view import Capabilities, CautionKind, KernelView

NOON = 1_796_040_000.0
PLACE = Name("a.b", "a.b")
ANT = Name("ant", "ant")


def picture(*, embedded: bool = False) -> Picture:
    made = Picture(EndpointState(EndpointName("ant"), "somewhere", "kernel"))
    made.opened(CODOMYRMEX, Capabilities(is_embedded=embedded, has_operator_calls=embedded))
    return made


def status(tick: int, *recent: Consequence, top: tuple[TopSignal, ...] = (), total: int = 3) -> Status:
    return Status(tick, total, top, Budgets(), {}, recent, 0)


def trace(strength: float, decay: float = 1.0) -> Trace:
    return Trace(PLACE, SignalType.FAILURE, strength, decay, "test", {}, NOON)


def row(number: int, passed: bool = True) -> Consequence:
    return Consequence(str(number), ANT, "merge_pr", PLACE, passed, 0.04, NOON + number)


def judged(number: int, decision: Decision = Decision.HOLD) -> Judged:
    return Judged(number, 0, NOON, ANT, "merge_pr", PLACE, decision, 0.7, None, "", (), 0.0, 0.0, 0.3, 1, 0.45)


def kinds(view: KernelView) -> set[CautionKind]:
    return {found.kind for found in view.cautions}


def test_a_mark_is_made_where_the_law_did_not_say_it_already() -> None:
    made = picture()
    steps = ((0, 6.0, 1), (1, 5.9, 1), (5, 5.5, 1), (5, 8.0, 2), (6, 7.9, 2), (9, 0.0, 3))
    for tick, strength, marks in steps:
        made.take_status(status(tick), NOON + tick, NOON + tick)
        made.take_trace(PLACE, SignalType.FAILURE, trace(strength) if strength else None, NOON + tick)
        cell = made.refresh(NOON + tick).places["a.b"].cell(SignalType.FAILURE)
        assert cell is not None
        assert len(cell.marks) == marks, tick
        assert cell.checked_tick == tick
    place = made.view.places["a.b"]
    seen = [place.strength(SignalType.FAILURE, tick, CODOMYRMEX.law) for tick in (0, 4, 5, 8, 9, 20)]
    assert [None if found is None else round(found, 9) for found in seen] == [6.0, 5.6, 8.0, 7.7, 0.0, 0.0]
    assert place.strength(SignalType.FAILURE, -1, CODOMYRMEX.law) is None
    assert place.strength(SignalType.NEED, 9, CODOMYRMEX.law) is None


def test_a_strength_without_its_decay_is_shown_and_asked_for_first() -> None:
    made = picture()
    top = TopSignal(PLACE, SignalType.RISK, 4.0, NOON)
    made.take_status(status(0, top=(top,)), NOON, NOON)
    cell = made.refresh(NOON).places["a.b"].cell(SignalType.RISK)
    assert cell is not None
    assert cell.strength_at(0, CODOMYRMEX.law) == 4.0
    assert cell.ticks_until(3.0, 0, CODOMYRMEX.law) is None
    assert list(made.urgent) == [(PLACE, SignalType.RISK)]
    made.urgent.clear()
    made.take_trace(PLACE, SignalType.RISK, replace(trace(4.0, 3.0), signal=SignalType.RISK), NOON)
    made.take_status(status(1, top=(replace(top, strength=3.7),)), NOON + 1, NOON + 1)
    assert not made.urgent, "the law said so"
    cell = made.refresh(NOON).places["a.b"].cell(SignalType.RISK)
    assert cell is not None
    assert cell.ticks_until(3.0, 1, CODOMYRMEX.law) == 3


def test_what_did_not_change_stays_the_same_object() -> None:
    made = picture()
    made.take_status(status(0, row(1)), NOON, NOON)
    made.take_trace(PLACE, SignalType.FAILURE, trace(6.0), NOON)
    before = made.refresh(NOON)
    assert made.refresh(NOON) is before
    made.take_trace(Name("c", "c"), SignalType.FAILURE, None, NOON)
    after = made.refresh(NOON)
    assert after.places is not before.places
    assert after.places["a.b"] is before.places["a.b"]
    assert after.agents is before.agents
    assert after.consequences is before.consequences
    assert list(before.places) == ["a.b"], "a view never changes"


def test_outcomes_that_a_status_could_not_list_are_marked_as_a_gap() -> None:
    made = picture()
    made.take_status(status(0, *map(row, (3, 2, 1))), NOON, NOON)
    made.take_status(status(0, *map(row, range(12, 2, -1))), NOON, NOON)
    assert not any(kept.has_gap_before for kept in made.refresh(NOON).consequences)
    made.take_status(status(0, *map(row, range(30, 20, -1))), NOON, NOON)
    view = made.refresh(NOON)
    assert [kept.id for kept in view.consequences if kept.has_gap_before] == ["21"]
    assert [int(kept.id) for kept in view.consequences] == [*range(1, 13), *range(21, 31)]
    assert not view.agents["ant"].is_whole
    history = tuple(map(str, range(21, 31)))
    made.take_profile(Profile(ANT, "sandbox", 0.2, 30, 20, history, NOON), NOON)
    assert made.refresh(NOON).agents["ant"].is_whole


def test_a_status_that_was_overtaken_is_no_restart() -> None:
    made = picture()
    made.take_status(status(5), NOON, NOON)
    made.take_status(status(6), NOON + 1, NOON + 2)
    made.take_status(status(5), NOON + 1.5, NOON + 3)
    view = made.refresh(NOON + 3)
    assert view.tick == 6
    assert not any(pulse.is_restart for pulse in view.pulses)
    made.take_status(status(5), NOON + 4, NOON + 5)
    view = made.refresh(NOON + 5)
    assert view.tick == 5
    assert view.pulses[-1].is_restart


def test_what_is_kept_is_bounded() -> None:
    made = picture(embedded=True)
    numbers = range(1, 3_001)
    changes: Iterator[Changes] = (
        Changes(
            (
                Marked(number, number, NOON, PLACE, SignalType.RISK, 5.0 + number % 2, 1.0, "agent"),
                judged(number),
                OutcomeKept(number, number, NOON, row(number), 0.5, "dispatcher"),
                Ticked(number, number, NOON, 0),
            ),
            number,
        )
        for number in numbers
    )
    for page in changes:
        made.take_changes(page.changes, NOON)
    view = made.refresh(NOON)
    cell = view.places["a.b"].cell(SignalType.RISK)
    assert cell is not None
    assert len(cell.marks) == MARKS_KEPT
    assert len(view.verdicts) == VERDICTS_KEPT
    assert len(view.consequences) == CONSEQUENCES_KEPT
    assert len(view.pulses) == PULSES_KEPT
    assert view.verdicts[-1].number == len(numbers)


def test_a_matrix_tells_what_is_absent_and_keeps_what_was() -> None:
    made = picture(embedded=True)
    made.take_changes((Marked(1, 0, NOON, PLACE, SignalType.RISK, 5.0, 1.0, "agent"),), NOON)
    other = Name("c", "c")
    trail = Trail(other, SignalType.NEED, 2.0, 0.2, NOON)
    made.take_matrix(Matrix(4, (other,), (trail,), 9), NOON)
    view = made.refresh(NOON)
    assert view.sampling.sampled == view.sampling.cells == 12
    assert view.places["a.b"].strength(SignalType.RISK, 0, view.preset.law) == 5.0
    assert view.places["a.b"].strength(SignalType.RISK, 4, view.preset.law) == 0.0
    assert view.places["c"].strength(SignalType.NEED, 4, view.preset.law) == 2.0
    assert view.places["c"].hazard(4, view.preset.law) == 0.0
    made.take_pruning(PruningReport((), 0, NOON), {"c": "others depend on it"})
    pruned = made.refresh(NOON).pruning
    assert pruned is not None
    assert pruned.protected == {"c": "others depend on it"}


def limited(made: Picture) -> None:
    made.note_limited(NOON)


def missed(made: Picture) -> None:
    made.lost_track(NOON, is_other=False)


def restarted(made: Picture) -> None:
    made.take_status(status(5), NOON - 2, NOON - 2)
    made.take_status(status(0), NOON - 1, NOON)


def without_tick(made: Picture) -> None:
    made.take_status(status(5), NOON - 700, NOON - 700)


def stuck(made: Picture) -> None:
    made.take_profile(Profile(ANT, "sandbox", 0.1, 5, 0, (), NOON), NOON)


def without_outcome(made: Picture) -> None:
    made.take_changes((judged(number, Decision.REFUSE) for number in range(3)), NOON)


def held(made: Picture) -> None:
    made.take_changes((OutcomeKept(1, 0, NOON, row(9), 0.2, "sandbox"),), NOON)
    made.take_changes((judged(number) for number in range(3)), NOON)


def hidden_failures(made: Picture) -> None:
    for number, strength in enumerate((3.0, 4.5)):
        made.take_changes((Ticked(number, number, NOON, 0),), NOON)
        made.take_changes((Marked(number, number, NOON, PLACE, SignalType.FAILURE, strength, 1.0, "test"),), NOON)
    made.take_changes((Marked(3, 1, NOON, PLACE, SignalType.SUCCESS, 8.0, 1.0, "test"),), NOON)


@pytest.mark.parametrize(
    ("happens", "kind"),
    [
        (limited, CautionKind.RATE_LIMITED),
        (missed, CautionKind.GAP),
        (restarted, CautionKind.RESTARTED),
        (without_tick, CautionKind.NO_TICK),
        (stuck, CautionKind.TRUST_STUCK),
        (without_outcome, CautionKind.NO_OUTCOMES),
        (held, CautionKind.REPEATED_HOLD),
        (hidden_failures, CautionKind.FAILURES_BELOW_SUCCESS),
    ],
)
def test_what_a_person_should_look_at_is_said(happens: object, kind: CautionKind) -> None:
    made = picture(embedded=True)
    assert kinds(made.refresh(NOON - 10)) == set()
    assert callable(happens)
    happens(made)
    assert kinds(made.refresh(NOON)) == {kind}
