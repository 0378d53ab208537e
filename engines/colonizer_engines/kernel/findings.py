"""What an attack on a plan finds, and how grave it is (spec 7)."""

from collections.abc import Mapping
from enum import StrEnum

import msgspec


class Severity(StrEnum):
    """How grave a finding is."""

    LOW = "low"
    MEDIUM = "medium"
    HIGH = "high"
    CRITICAL = "critical"


WEIGHTS: Mapping[Severity, float] = {
    Severity.LOW: 0.05,
    Severity.MEDIUM: 0.20,
    Severity.HIGH: 0.45,
    Severity.CRITICAL: 1.0,
}


class AttackVector(StrEnum):
    """The ways in which a plan is attacked."""

    DEPENDENCY_RISK = "dependency_risk"
    SECURITY_RISK = "security_risk"
    CIRCULAR_ARCHITECTURE = "circular_architecture"
    FALSE_METRIC = "false_metric"
    OVER_BROAD_MODULE = "over_broad_module"
    HIDDEN_MAINTENANCE_COST = "hidden_maintenance_cost"
    NO_ROLLBACK = "no_rollback"
    NO_TEST_VALUE = "no_test_value"
    SCOPE_CREEP = "scope_creep"
    PREMATURE_ABSTRACTION = "premature_abstraction"


class Finding(msgspec.Struct, frozen=True, gc=False):
    """One assumption of a plan that does not hold."""

    claim: str
    """The assumption."""
    vector: AttackVector
    severity: Severity
    evidence: Mapping[str, object]
    remediation: str
