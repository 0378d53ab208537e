"""The ladder of roles, and how an outcome moves an agent's trust (spec 10, 11)."""

import math
from enum import StrEnum

START_TRUST = 0.1
MIN_PROPOSALS = 3
"""Below this many an agent stays in the sandbox."""


class Role(StrEnum):
    """What an agent is trusted to be."""

    SANDBOX = "sandbox"
    REPAIR_ANT = "repair_ant"
    MEMORY_ANT = "memory_ant"
    DISPATCHER = "dispatcher"
    GUARD_ANT = "guard_ant"


LADDER = (
    (0.70, Role.GUARD_ANT),
    (0.50, Role.DISPATCHER),
    (0.35, Role.MEMORY_ANT),
    (0.20, Role.REPAIR_ANT),
)
"""The trust from which on a role is held, highest first."""

_APPROVING = frozenset({"good", "approve", "yes", "+"})
_REJECTING = frozenset({"bad", "reject", "no", "-"})


def infer_role(trust: float, proposals: int) -> Role:
    """The role of an agent with this trust, 0..1, and this many proposals."""
    if proposals < MIN_PROPOSALS:
        return Role.SANDBOX
    return next((role for mark, role in LADDER if trust >= mark), Role.SANDBOX)


def trust_delta(*, tests_passed: bool, repair_needed: bool, feedback: float) -> float:
    """What the outcome adds to the agent's trust; `feedback` is -1..1."""
    delta = 0.04 if tests_passed else -0.08
    if repair_needed:
        delta += -0.05
    return delta + 0.03 * feedback


def clamp_trust(trust: float) -> float:
    """The trust within 0..1."""
    return max(0.0, min(1.0, trust))


def clamp_feedback(feedback: float) -> float:
    """The feedback within -1..1; what is no number counts as 1."""
    return 1.0 if math.isnan(feedback) else max(-1.0, min(1.0, feedback))


def feedback_in_words(said: str | float | None) -> float:
    """The feedback, -1..1, that a person meant; 0 where it is none."""
    if said is None:
        return 0.0
    word = str(said).strip().lower()
    if word in _APPROVING:
        return 1.0
    if word in _REJECTING:
        return -1.0
    try:
        return clamp_feedback(float(word))
    except ValueError:
        return 0.0
