"""The attack on a whole plan: all findings, and what they amount to (spec 7)."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from colonizer_engines.kernel.attacks import AttackRules, attack, import_circle
from colonizer_engines.kernel.findings import WEIGHTS, AttackVector, Finding, Severity
from colonizer_engines.kernel.gate import Decision
from colonizer_engines.kernel.import_circles import find_import_circle
from colonizer_engines.kernel.plan import Plan

_HOLD_AT = 0.4
_REFUSE_AT = 0.75


@dataclass(frozen=True, slots=True)
class RepositoryAccess:
    """Which folders a plan may have walked."""

    anywhere: bool = False
    allowed: tuple[Path, ...] = ()

    def folder(self, plan: Plan) -> Path | None:
        """The folder that the plan names, where it may be walked."""
        named = plan.fields.get("repo_root") or plan.fields.get("_repo_root")
        if not isinstance(named, str):
            return None
        try:
            real = Path(named).resolve()
        except (OSError, RuntimeError, ValueError):
            return None
        if self.anywhere:
            return real
        return real if any(real == folder or folder in real.parents for folder in self.allowed) else None


def findings_of(plan: Plan, rules: AttackRules, access: RepositoryAccess) -> tuple[Finding, ...]:
    """Everything that the attacks find, in their order."""
    found = list(attack(plan, rules))
    folder = access.folder(plan)
    circle = find_import_circle(folder, plan.target) if folder and plan.target else ()
    if circle:
        circular = AttackVector.CIRCULAR_ARCHITECTURE
        later = (at for at, finding in enumerate(found) if _ORDER.index(finding.vector) > _ORDER.index(circular))
        found.insert(next(later, len(found)), import_circle(circle))
    return tuple(found)


_ORDER = (
    AttackVector.NO_ROLLBACK,
    AttackVector.NO_TEST_VALUE,
    AttackVector.SCOPE_CREEP,
    AttackVector.FALSE_METRIC,
    AttackVector.CIRCULAR_ARCHITECTURE,
    AttackVector.DEPENDENCY_RISK,
    AttackVector.SECURITY_RISK,
    AttackVector.OVER_BROAD_MODULE,
    AttackVector.HIDDEN_MAINTENANCE_COST,
    AttackVector.PREMATURE_ABSTRACTION,
)


def mean_weight(findings: Sequence[Finding]) -> float:
    """The plan's severity score, 0..1."""
    return sum(WEIGHTS[finding.severity] for finding in findings) / len(findings) if findings else 0.0


def max_weight(findings: Iterable[Finding]) -> float:
    """The gravest finding's weight, 0..1, which is what the gate is told."""
    return max((WEIGHTS[finding.severity] for finding in findings), default=0.0)


def recommendation(score: float) -> Decision:
    """What a plan with this severity score should do."""
    if score < _HOLD_AT:
        return Decision.EXECUTE
    return Decision.HOLD if score < _REFUSE_AT else Decision.REFUSE


def verdict(findings: Sequence[Finding]) -> str:
    """Whether the plan stands: PASS, CONDITIONAL or FAIL."""
    if not findings:
        return "PASS"
    grave = any(finding.severity in (Severity.HIGH, Severity.CRITICAL) for finding in findings)
    return "FAIL" if grave else "CONDITIONAL"
