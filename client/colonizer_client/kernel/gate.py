"""What lies behind a verdict: the parts of its score, what would lift it, and what an agent's next role takes."""

import math
from collections.abc import Iterator
from enum import Enum
from itertools import product

from colonizer_client.kernel.models import Decision, Profile, ProposalOrder, ScoreParts, Verdict
from colonizer_client.kernel.preset import EXECUTE_AT, LADDER, MIN_PROPOSALS, TRUST_PER_PASS, Preset
from colonizer_config.value import Value

BUDGET_PART = 0.30
RISK_PARTS = (0.30, 0.15, 0.0)
"""Below hazard 3, below 6, and above."""
TRUST_PARTS = (0.25, 0.1875, 0.125, 0.0625)
"""Full trust, the same with three failures, half trust, and that with three failures."""
COMPLETENESS_WEIGHT = 0.15
LOST_PER_FIELD = 0.35

_ROUNDING = 1e-6


class Lift(Enum):
    """Something that raises a score."""

    HAZARD_BELOW_6 = "hazard below 6"
    HAZARD_BELOW_3 = "hazard below 3"
    FULL_TRUST = "trust 0.60 or more"
    FEWER_FAILURES = "fewer than 3 failures in the last 10"
    MISSING_FIELDS = "rollback plan and evidence filled in"


class Ways(Value):
    """What would make a verdict EXECUTE."""

    alone: tuple[Lift, ...] = ()
    """Each is enough by itself."""
    together: tuple[Lift, ...] = ()
    """Where none is: what is needed all at once."""


def parts_of(score: float, order: ProposalOrder, *, budget_approved: bool | None) -> ScoreParts | None:
    """The parts of a score that a kernel told as one number; None where it scores by other rules, or did not score.

    No two sums of the possible parts are alike once it is known which fields were blank (kernel spec 8).
    """
    if not score or budget_approved is False:
        return None
    blank = sum(not field.strip() for field in (order.rollback_plan, "" if _says_nothing(order) else order.evidence))
    completeness = COMPLETENESS_WEIGHT * max(0.0, 1 - LOST_PER_FIELD * blank)
    for risk, trust in product(RISK_PARTS, TRUST_PARTS):
        if math.isclose(BUDGET_PART + risk + trust + completeness, score, abs_tol=_ROUNDING):
            return ScoreParts(BUDGET_PART, risk, trust, completeness)
    return None


def ways_to_execute(verdict: Verdict) -> Ways:
    """What would make this verdict EXECUTE; nothing where it is, or where it was settled before any score."""
    return ways_from(verdict.decision, verdict.parts)


def ways_from(decision: Decision, parts: ScoreParts | None) -> Ways:
    """What would make a decision with these parts of its score EXECUTE; as `ways_to_execute`."""
    if parts is None or decision is Decision.EXECUTE:
        return Ways()
    lifts = tuple(_lifts(parts))
    lacking = EXECUTE_AT - (parts.budget + parts.risk + parts.trust + parts.completeness) - _ROUNDING
    alone = tuple(lift for lift, gain in lifts if gain >= lacking)
    return Ways(alone) if alone else Ways((), tuple(lift for lift, _ in lifts if lift is not Lift.HAZARD_BELOW_6))


def outcomes_to_next_role(profile: Profile, preset: Preset) -> tuple[str, int] | None:
    """The next role, and how many passed outcomes without feedback lead there; None at the top of the ladder.

    Where outcomes do not count as proposals, an agent also needs proposals to leave the sandbox: they are not counted.
    """
    for mark, role in LADDER:
        if profile.trust < mark or (profile.role == "sandbox" and profile.proposals < MIN_PROPOSALS):
            by_trust = math.ceil((mark - profile.trust) / TRUST_PER_PASS - _ROUNDING)
            by_count = MIN_PROPOSALS - profile.proposals if preset.counts_outcomes else 0
            return role, max(by_trust, by_count, 0)
    return None


def proposals_to_leave_sandbox(profile: Profile) -> int:
    """How many proposals more an agent needs before it can leave the sandbox, whatever its trust."""
    return max(MIN_PROPOSALS - profile.proposals, 0) if profile.role == "sandbox" else 0


def _lifts(parts: ScoreParts) -> Iterator[tuple[Lift, float]]:
    most_risk, half_risk, _ = RISK_PARTS
    full, _, half, half_with_failures = TRUST_PARTS
    if parts.risk < half_risk - _ROUNDING:
        yield Lift.HAZARD_BELOW_6, half_risk - parts.risk
    if parts.risk < most_risk - _ROUNDING:
        yield Lift.HAZARD_BELOW_3, most_risk - parts.risk
    if parts.trust < half + _ROUNDING:
        yield Lift.FULL_TRUST, full - half
    if math.isclose(parts.trust % half, half_with_failures, abs_tol=_ROUNDING):
        yield Lift.FEWER_FAILURES, half_with_failures
    if parts.completeness < COMPLETENESS_WEIGHT - _ROUNDING:
        yield Lift.MISSING_FIELDS, COMPLETENESS_WEIGHT - parts.completeness


def _says_nothing(order: ProposalOrder) -> bool:
    """Whether the evidence is one of those that count as none (kernel spec 4)."""
    return order.evidence.strip() in ("", "{}", "[]", "null", "0", '""', "false")
