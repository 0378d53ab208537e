"""The values of the eight tools, and of what only the operator may ask (spec 4)."""

from collections.abc import Mapping
from typing import TypedDict


class ProposalReply(TypedDict):
    """The gate's verdict on a proposal."""

    decision: str
    gate_score: float
    reason: str
    required_evidence: list[str]
    budget_approved: bool
    falsification_severity: float


class OutcomeReply(TypedDict):
    """What an outcome did to its agent; `trust_score` has four decimals."""

    status: str
    consequence_id: str
    trust_score: float
    role: str


class ProfileReply(TypedDict):
    """An agent's record."""

    agent_id: str
    role: str
    trust_score: float
    total_proposals: int
    accepted_proposals: int
    consequence_history: list[str]
    last_updated: float


class TopSignal(TypedDict):
    """One of the strongest traces."""

    key: str
    location: str
    signal_type: str
    strength: float
    updated_at: float


class PheromoneSummary(TypedDict):
    """The field in short."""

    total_signals: int
    top_signals: list[TopSignal]


class RecentConsequence(TypedDict):
    """One of the newest outcomes."""

    consequence_id: str
    agent_id: str
    action_type: str
    target: str
    tests_passed: bool
    trust_delta: float
    recorded_at: float


class StatusReply(TypedDict):
    """The colony in short."""

    tick_count: int
    pheromone_summary: PheromoneSummary
    budget_usage: Mapping[str, object]
    role_distribution: Mapping[str, int]
    recent_consequences: list[RecentConsequence]
    pruning_candidates_count: int


class SignalReply(TypedDict):
    """One trace."""

    location: str
    signal_type: str
    strength: float
    decay_rate: float
    source: str
    evidence: Mapping[str, object]
    last_reinforced: float


class FindingReply(TypedDict):
    """One assumption of a plan that does not hold."""

    claim: str
    attack_vector: str
    severity: str
    evidence: Mapping[str, object]
    remediation: str


class PlanReply(TypedDict):
    """What the attacks on a plan amount to."""

    plan_summary: str
    findings: list[FindingReply]
    verdict: str
    required_changes: list[str]
    severity_score: float
    recommendation: str


class CandidateReply(TypedDict):
    """One module that may go."""

    module_path: str
    last_used: float
    call_count: int
    duplicate_of: str | None
    reason: str
    confidence: float


class PruningReply(TypedDict):
    """The modules that may go, the surest first."""

    candidates: list[CandidateReply]
    total_candidates: int
    generated_at: float


class MatrixReply(TypedDict):
    """The whole field: `strengths` has a row for each location and a column for each signal type; 0 is no trace."""

    tick: int
    last_change: int
    """The number of the newest change that is in it."""
    locations: list[str]
    signal_types: list[str]
    strengths: list[list[float]]
    decay_rates: list[list[float]]
    last_reinforced: list[list[float]]


class CalmReply(TypedDict):
    """What a reset took away."""

    reset_reason: str
    tick_count_before: int
    signals_cleared: int
