"""The laws and the gate as a screen knows them, held against the engine that has them from the recorded program."""

import math
from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from colonizer_client.kernel.gate import Lift, outcomes_to_next_role, parts_of, ways_to_execute
from colonizer_client.kernel.models import Decision, Name, Profile, ProposalOrder, ScoreParts, Verdict
from colonizer_client.kernel.preset import CODOMYRMEX, SEED, Law, Preset
from colonizer_engines.kernel import gate as engine_gate
from colonizer_engines.kernel.evaporation import Evaporation
from colonizer_engines.kernel.roles import Role, infer_role
from colonizer_engines.kernel.rules import CODOMYRMEX_1_3
from colonizer_engines.kernel.rules import SEED as SEED_RULES

LAWS: list[tuple[Law, Evaporation]] = [(SEED.law, SEED_RULES.law), (CODOMYRMEX.law, CODOMYRMEX_1_3.law)]
DECAYS = (3.0, 1.0, 0.2)


@pytest.mark.parametrize(("law", "engine"), LAWS)
@given(hundredths=st.integers(2, 1000), decay=st.sampled_from(DECAYS), ticks=st.integers(0, 600))
def test_a_trace_fades_as_in_the_engine(
    law: Law, engine: Evaporation, hundredths: int, decay: float, ticks: int
) -> None:
    strength = hundredths / 100
    lifetime = engine.lifetime(strength, decay)
    left = law.after(strength, decay, ticks)
    if ticks < lifetime:
        # The last tick of a linear law may leave nothing but rounding.
        assert math.isclose(left, engine.after(strength, decay, ticks), abs_tol=1e-9)
    else:
        assert left == 0
    assert 0 <= lifetime - law.ticks_until(0, strength, decay) <= 1


@pytest.mark.parametrize(("law", "engine"), LAWS)
@given(hundredths=st.integers(2, 1000), decay=st.sampled_from(DECAYS), level=st.sampled_from([3.0, 6.0]))
def test_the_ticks_until_a_level_are_those_after_which_a_trace_is_below_it(
    law: Law, engine: Evaporation, hundredths: int, decay: float, level: float
) -> None:
    strength = hundredths / 100
    ticks = law.ticks_until(level, strength, decay)
    assert engine.after(strength, decay, ticks) < level + 1e-9
    assert ticks == 0 or engine.after(strength, decay, ticks - 1) >= level - 1e-9


def case(trust: float, failures: int, hazard: float, missing: tuple[str, ...]) -> engine_gate.Case:
    return engine_gate.Case(
        violated_budget=None,
        role=Role.DISPATCHER,
        trust=trust,
        recent_failures=failures,
        risk=hazard,
        failure=0.0,
        missing=missing,
        findings=1,
        max_severity="high",
    )


CASES = [
    (trust, failures, hazard, missing)
    for trust, failures, hazard, missing in product(
        (0.4, 0.8), (0, 3), (0.0, 4.0, 7.0), ((), ("evidence",), ("evidence", "rollback_plan"))
    )
]


def order(missing: tuple[str, ...]) -> ProposalOrder:
    rollback = "" if "rollback_plan" in missing else "git revert HEAD"
    return ProposalOrder("a", "b", "c", "d", rollback, "{}" if "evidence" in missing else '{"tests": 1}')


def test_the_parts_of_a_score_are_found_from_their_sum() -> None:
    for trust, failures, hazard, missing in CASES:
        said = engine_gate.judge(case(trust, failures, hazard, missing))
        found = parts_of(said.score, order(missing), budget_approved=True)
        assert said.parts is not None
        assert found is not None
        for part in ("budget", "risk", "trust", "completeness"):
            assert math.isclose(getattr(found, part), getattr(said.parts, part), abs_tol=1e-9)
    assert parts_of(0.0, order(()), budget_approved=True) is None
    assert parts_of(0.123, order(()), budget_approved=True) is None, "it scores by other rules"


def verdict(said: engine_gate.Verdict) -> Verdict:
    parts = said.parts
    return Verdict(
        number=1,
        at=0.0,
        tick=0,
        agent=Name("a", "a"),
        action="b",
        target=Name("c", "c"),
        decision=Decision(said.decision.value),
        score=said.score,
        reason="",
        required_evidence=(),
        parts=None if parts is None else ScoreParts(parts.budget, parts.risk, parts.trust, parts.completeness),
        budget_approved=True,
        severity=0.45,
    )


def lifted(
    lifts: tuple[Lift, ...], trust: float, failures: int, hazard: float, missing: tuple[str, ...]
) -> engine_gate.Verdict:
    """What the engine says once these were done."""
    trust = 0.6 if Lift.FULL_TRUST in lifts else trust
    failures = 0 if Lift.FEWER_FAILURES in lifts else failures
    hazard = 5.9 if Lift.HAZARD_BELOW_6 in lifts else hazard
    hazard = 2.9 if Lift.HAZARD_BELOW_3 in lifts else hazard
    return engine_gate.judge(case(trust, failures, hazard, () if Lift.MISSING_FIELDS in lifts else missing))


def test_what_is_said_to_make_it_execute_makes_the_engine_execute() -> None:
    for given_case in CASES:
        said = engine_gate.judge(case(*given_case))
        ways = ways_to_execute(verdict(said))
        if said.decision is engine_gate.Decision.EXECUTE:
            assert ways.alone == ways.together == ()
            continue
        assert ways.alone or ways.together, given_case
        for lift in ways.alone:
            assert lifted((lift,), *given_case).decision is engine_gate.Decision.EXECUTE, (given_case, lift)
        if ways.together:
            assert lifted(ways.together, *given_case).decision is engine_gate.Decision.EXECUTE, given_case
        for lift in set(Lift) - set(ways.alone):
            assert lifted((lift,), *given_case).decision is not engine_gate.Decision.EXECUTE, (given_case, lift)


@pytest.mark.parametrize(("preset", "counts"), [(SEED, False), (CODOMYRMEX, True)])
def test_so_many_passed_outcomes_lead_to_the_next_role(preset: Preset, counts: bool) -> None:
    for hundredths, proposals in product(range(0, 101), (0, 2, 5)):
        trust = hundredths / 100
        role = infer_role(trust, proposals)
        profile = Profile(Name("a", "a"), role.value, trust, proposals, 0, (), None)
        found = outcomes_to_next_role(profile, preset)
        if found is None:
            assert role is Role.GUARD_ANT
            continue
        _, outcomes = found
        after = trust + 0.04 * outcomes + 1e-9
        counted = proposals + outcomes if counts else max(proposals, 3)
        assert infer_role(after, counted) is not Role.SANDBOX
        assert list(Role).index(infer_role(after, counted)) > list(Role).index(role), (trust, proposals)
