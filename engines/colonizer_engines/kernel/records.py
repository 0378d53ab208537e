"""What a kernel remembers of its calls: outcomes, and every change of its state in order."""

import msgspec

from colonizer_engines.kernel.signals import SignalType, Source


class Consequence(msgspec.Struct, frozen=True, gc=False):
    """One reported outcome (spec 10)."""

    id: str
    agent_id: str
    action_type: str
    target: str
    actual_outcome: str
    tests_passed: bool
    repair_needed: bool
    human_feedback: float
    """-1..1."""
    trust_delta: float
    """What it added to the agent's trust, before that was cut to 0..1."""
    recorded_at: float
    """Unix seconds."""


class Change(msgspec.Struct, frozen=True, gc=False, tag=True):
    """Something that happened to a kernel's state."""

    number: int
    """Its place among all changes, from 1 on; never used twice."""
    tick: int
    at: float
    """Unix seconds."""


class Marked(Change, frozen=True, gc=False, tag="marked"):
    """A trace appeared or grew; until its next mark, the law alone says how strong it is."""

    location: str
    signal_type: SignalType
    strength: float
    decay: float
    source: Source


class Judged(Change, frozen=True, gc=False, tag="judged"):
    """The gate gave a verdict."""

    proposal_id: str
    agent_id: str
    action_type: str
    target: str
    decision: str
    score: float
    parts: tuple[float, float, float, float] | None
    """Budget, risk, trust and completeness, weighted; None where the case was settled before it was scored."""
    reason: str
    required_evidence: tuple[str, ...]
    risk: float
    failure: float
    trust: float
    findings: int
    severity: float


class Recorded(Change, frozen=True, gc=False, tag="recorded"):
    """An outcome was recorded, and moved the agent's trust."""

    consequence: Consequence
    trust: float
    role: str


class Ticked(Change, frozen=True, gc=False, tag="ticked"):
    """The field moved one tick on; `removed` traces went with it."""

    removed: int


class Pruned(Change, frozen=True, gc=False, tag="pruned"):
    """A pruning report was made."""

    candidates: int


class Calmed(Change, frozen=True, gc=False, tag="calmed"):
    """Traces, budget and ticks were taken back to the start."""

    reason: str
    tick_before: int
    cleared: int


AnyChange = Marked | Judged | Recorded | Ticked | Pruned | Calmed
