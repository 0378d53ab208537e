"""The actuation gate: whether an action may go ahead (spec 8)."""

from collections.abc import Sequence
from enum import StrEnum

import msgspec

from colonizer_engines.kernel.roles import Role

EXECUTE_AT = 0.75
HOLD_AT = 0.50
TRUST_FLOOR = 0.30
TRUST_FULL = 0.60
HAZARD_LOW = 3.0
HAZARD_HIGH = 6.0
FAILURE_LIMIT = 3
"""So many failures among the last ten outcomes lower the trust term."""


class Decision(StrEnum):
    """What the gate says."""

    EXECUTE = "execute"
    HOLD = "hold"
    REFUSE = "refuse"


class Case(msgspec.Struct, frozen=True, gc=False):
    """What the gate looks at."""

    violated_budget: str | None
    """The dimension that the estimate would take beyond its ceiling."""
    role: Role
    trust: float
    recent_failures: int
    """How many of the agent's last ten outcomes failed."""
    risk: float
    failure: float
    """The strengths of both hazards at the target, 0..10."""
    missing: Sequence[str]
    """The fields among rollback_plan, evidence and expected_outcome that are blank."""
    findings: int
    max_severity: str
    """The gravest finding's severity in words."""
    critical_remedies: Sequence[str] = ()
    """What would clear the critical findings."""

    @property
    def hazard(self) -> float:
        """The stronger of both hazards."""
        return max(self.risk, self.failure)


class Score(msgspec.Struct, frozen=True, gc=False):
    """The parts of a score, each already weighted; together 0..1."""

    budget: float
    risk: float
    trust: float
    completeness: float

    @property
    def total(self) -> float:
        """All parts together."""
        return self.budget + self.risk + self.trust + self.completeness


class Verdict(msgspec.Struct, frozen=True, gc=False):
    """What the gate said, and why."""

    decision: Decision
    score: float
    reason: str
    required_evidence: tuple[str, ...] = ()
    parts: Score | None = None
    """Where the score came from; None where the case was settled before it was scored."""


def judge(case: Case) -> Verdict:
    """The verdict on the case."""
    return _settled(case) or _scored(case)


def _settled(case: Case) -> Verdict | None:
    """The verdict of the rules that come before any score."""
    if case.violated_budget:
        reason = f"the budget of {case.violated_budget} would be exceeded"
        return Verdict(Decision.HOLD, 0.0, reason, ("budget_recovered",))
    if case.role is Role.SANDBOX:
        needed = ("earn_higher_role_via_trust_growth", "accumulate_accepted_proposals")
        return Verdict(Decision.REFUSE, 0.0, "SANDBOX role: no write-path gate passes", needed)
    if case.trust < TRUST_FLOOR:
        reason = f"trust {case.trust:.3f} is below the floor of {TRUST_FLOOR}"
        return Verdict(Decision.REFUSE, 0.0, reason, ("trust_above_0.30",))
    if case.critical_remedies:
        reason = "a critical finding: destructive, without a way back, in a sensitive area"
        return Verdict(Decision.REFUSE, 0.0, reason, tuple(case.critical_remedies))
    return None


def _scored(case: Case) -> Verdict:
    risk_term = 0.0 if case.hazard >= HAZARD_HIGH else 0.5 if case.hazard >= HAZARD_LOW else 1.0
    trust_term = 1.0 if case.trust >= TRUST_FULL else 0.5
    if case.recent_failures >= FAILURE_LIMIT:
        trust_term = max(0.0, trust_term - 0.25)
    completeness = max(0.0, 1 - 0.35 * len(case.missing))
    parts = Score(0.30 * 1.0, 0.30 * risk_term, 0.25 * trust_term, 0.15 * completeness)
    score = parts.total
    reason = _reason(case, score, trust_reduced=trust_term < 1)
    if score >= EXECUTE_AT:
        return Verdict(Decision.EXECUTE, score, reason, (), parts)
    if score >= HOLD_AT:
        needed = _needed(case, trust_reduced=trust_term < 1, hazardous=risk_term < 1)
        return Verdict(Decision.HOLD, score, reason, needed, parts)
    return Verdict(Decision.REFUSE, score, reason, (), parts)


_MISSING_WORDS = {
    "rollback_plan": "add_concrete_rollback_plan",
    "evidence": "supply_supporting_evidence",
    "expected_outcome": "define_expected_outcome",
}


def _needed(case: Case, *, trust_reduced: bool, hazardous: bool) -> tuple[str, ...]:
    needed = [words for name, words in _MISSING_WORDS.items() if name in case.missing]
    if trust_reduced:
        needed.append("increase_trust_score_via_accepted_proposals")
    if hazardous:
        needed.append("wait_for_risk_pheromone_to_decay_or_address_root_cause")
    if case.findings:
        needed.append("resolve_falsification_findings")
    return tuple(needed) or ("additional_evidence", "trust_improvement")


def _reason(case: Case, score: float, *, trust_reduced: bool) -> str:
    """The score beside its threshold, and what took from it."""
    threshold = EXECUTE_AT if score >= EXECUTE_AT else HOLD_AT
    said = [f"score {score:.3f} {'reaches' if score >= threshold else 'is below'} {threshold:.2f}"]
    if case.hazard >= HAZARD_LOW:
        said.append(f"hazard {case.hazard:.2f} at the target (risk {case.risk:.2f}, failure {case.failure:.2f})")
    if trust_reduced and case.recent_failures >= FAILURE_LIMIT:
        said.append(f"trust {case.trust:.3f} counts less after {case.recent_failures} recent failures")
    elif trust_reduced:
        said.append(f"trust {case.trust:.3f} is below {TRUST_FULL:.2f}")
    if case.missing:
        said.append("missing: " + ", ".join(case.missing))
    if case.findings:
        said.append(f"{case.findings} findings, max severity {case.max_severity}")
    return "; ".join(said)
