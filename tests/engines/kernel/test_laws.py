"""What holds for every kernel, whatever is asked of it."""

import math
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from colonizer_engines.kernel.evaporation import Evaporation
from colonizer_engines.kernel.field import Deposit, Field
from colonizer_engines.kernel.kernel import Kernel
from colonizer_engines.kernel.records import Judged, Recorded
from colonizer_engines.kernel.rules import SEED, Rules
from colonizer_engines.kernel.signals import FAST, NORMAL, SLOW, Decay, SignalType, Source
from colonizer_engines.kernel.store import Store
from colonizer_engines.kernel.wire import PRESETS
from engines.kernel.kernels import GOOD_RATIONALE, GOOD_ROLLBACK

Call = Callable[[Kernel], object]

_untimed = settings(deadline=None)
_RULES = {name: preset.rules for name, preset in PRESETS.items()}
_laws = pytest.mark.parametrize("law", [rules.law for rules in _RULES.values()], ids=_RULES.keys())
_presets = pytest.mark.parametrize("rules", _RULES.values(), ids=_RULES.keys())
_decays = st.sampled_from((FAST, NORMAL, SLOW))
_strengths = st.floats(0.0, 10.0, exclude_min=True, allow_subnormal=False)
_names = st.sampled_from(("a", "b", "c.d"))


@_laws
@_untimed
@given(strength=_strengths | st.sampled_from((0.5, 1.0, 2.25, 3.0, 6.0, 10.0)), decay=_decays)
def test_a_trace_lives_exactly_as_long_as_counting_its_ticks_says(
    law: Evaporation, strength: float, decay: Decay
) -> None:
    field = Field(law)
    field.deposit(Deposit("l", SignalType.RISK, strength, decay, Source.AGENT, {}), 0.0)
    expected = 0
    while not field.advance():
        expected += 1
        left = field.strength("l", SignalType.RISK)
        assert left == law.after(strength, decay, expected)
        assert left > getattr(law, "gone_at", 0.0)
    assert law.after(strength, decay, expected + 1) <= getattr(law, "gone_at", 0.0)
    assert len(field) == 0


@_laws
@_untimed
@given(strength=_strengths, decay=_decays)
def test_a_trace_only_gets_weaker(law: Evaporation, strength: float, decay: Decay) -> None:
    assert law.after(strength, decay, 1) < strength


@st.composite
def _fields(draw: st.DrawFn) -> list[Deposit | None]:
    """Deposits, and None for a tick."""
    deposit = st.builds(
        Deposit,
        location=st.sampled_from([f"place {number}" for number in range(30)]),
        kind=st.sampled_from(SignalType),
        strength=st.sampled_from((0.0, 0.3, 1.0, 3.0)) | st.floats(0, 1e9),
        decay=_decays,
        source=st.sampled_from(Source),
        evidence=st.just({}),
        trust=st.floats(0, 1),
    )
    return draw(st.lists(deposit | st.none(), max_size=120))


@_laws
@_untimed
@given(steps=_fields(), asked=st.sets(st.integers(0, 120)))
def test_the_strongest_are_those_that_a_sort_of_all_finds(
    law: Evaporation, steps: list[Deposit | None], asked: set[int]
) -> None:
    field = Field(law)
    for number, step in enumerate(steps):
        if step is None:
            field.advance()
        else:
            field.deposit(step, float(number))
        if number in asked:
            found = [field.strength_of(trace) for trace in field.strongest(10)]
            everything = sorted((field.strength_of(trace) for trace in field), reverse=True)
            assert [round(strength, 9) for strength in found] == [round(strength, 9) for strength in everything[:10]]
    assert all(0 < field.strength_of(trace) <= 10 for trace in field)


@_laws
@_untimed
@given(steps=_fields())
def test_traces_do_not_depend_on_when_they_are_looked_at(law: Evaporation, steps: list[Deposit | None]) -> None:
    watched, unwatched = Field(law), Field(law)
    for number, step in enumerate(steps):
        for field in (watched, unwatched):
            if step is None:
                field.advance()
            else:
                field.deposit(step, float(number))
        for trace in watched:
            watched.strength_of(trace)
        watched.strongest(3)
    ours, theirs = (
        [(trace.location, trace.kind, field.strength_of(trace)) for trace in field] for field in (watched, unwatched)
    )
    assert ours == theirs


@st.composite
def _calls(draw: st.DrawFn) -> list[Call]:
    """Calls as any agents and operator may make them."""

    def propose(agent: str, target: str, rollback: str) -> Call:
        return lambda kernel: kernel.propose(agent, "delete", target, GOOD_RATIONALE, rollback)

    def record(agent: str, target: str, passed: bool, feedback: float) -> Call:
        return lambda kernel: kernel.record_outcome(
            agent, "patch", target, "done", tests_passed=passed, human_feedback=feedback
        )

    def calm_down() -> Call:
        return lambda kernel: kernel.calm_down("enough")

    call: st.SearchStrategy[Call] = (
        st.builds(propose, _names, _names, st.sampled_from((GOOD_ROLLBACK, "", "short")))
        | st.builds(record, _names, _names, st.booleans(), st.floats(-1, 1))
        | st.sampled_from((Kernel.tick, Kernel.status, Kernel.pruning_report, Kernel.matrix))
        | st.builds(calm_down)
    )
    return draw(st.lists(call, max_size=60))


@_presets
@_untimed
@given(calls=_calls())
def test_trust_scores_and_strengths_stay_in_bounds(rules: Rules, calls: list[Call]) -> None:
    kernel = Kernel(rules)
    for call in calls:
        call(kernel)
    assert all(0 <= profile["trust_score"] <= 1 for profile in kernel.profiles())
    assert all(0 <= strength <= 10 for row in kernel.matrix()["strengths"] for strength in row)
    verdicts = [change for change in kernel.changes_after(0) if isinstance(change, Judged)]
    assert all(0 <= verdict.score <= 1 for verdict in verdicts)
    scored = [verdict for verdict in verdicts if verdict.parts]
    assert all(math.isclose(sum(verdict.parts or ()), verdict.score) for verdict in scored)


@_presets
@_untimed
@given(calls=_calls())
def test_a_settled_decision_never_changes(rules: Rules, calls: list[Call]) -> None:
    kernel = Kernel(rules)
    seen: list[object] = []
    for call in calls:
        call(kernel)
        settled = [change for change in kernel.changes_after(0) if isinstance(change, Judged | Recorded)]
        assert settled[: len(seen)] == seen
        seen = list(settled)


@_presets
@_untimed
@given(calls=_calls())
def test_the_same_calls_come_to_the_same(rules: Rules, calls: list[Call]) -> None:
    one, other = Kernel(rules, clock=lambda: 1.0), Kernel(rules, clock=lambda: 1.0)
    for call in calls:
        call(one)
        call(other)
    assert one.matrix() == other.matrix()
    assert [row["trust_score"] for row in one.profiles()] == [row["trust_score"] for row in other.profiles()]


@settings(max_examples=30, deadline=None)
@given(calls=_calls())
def test_what_is_loaded_is_what_was_kept(calls: list[Call]) -> None:
    with TemporaryDirectory() as folder:
        path = Path(folder, "kernel.db")
        store = Store.open(path)
        kernel = Kernel(SEED, store)
        for call in calls:
            call(kernel)
        before = _everything(kernel)
        store.close()
        store = Store.open(path)
        after = _everything(Kernel(SEED, store))
        store.close()
    assert after == before


def _everything(kernel: Kernel) -> object:
    status = kernel.status()
    if not kernel.changes_after(0):
        status["budget_usage"] = {}  # a kernel of which nothing was asked has no period to remember
    return (status, kernel.matrix(), kernel.profiles(), kernel.consequences(), kernel.changes_after(0))
