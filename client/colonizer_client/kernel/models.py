"""What a colony kernel answers, one record for each value of its tools (kernel spec 4).

Texts named plainly are safe to show; what goes back to a server is kept raw beside them. Times are Unix seconds by
the kernel's clock, strengths 0..10, and `None` means unknown.
"""

from collections.abc import Mapping
from enum import StrEnum

from colonizer_config.value import Value


class Name(Value, gc=False):
    """The name of a place, an agent or an action, as it came from outside."""

    raw: str
    """To be sent back; never drawn."""
    shown: str


class SignalType(StrEnum):
    """What a trace says about its place; in the order of a heatmap's columns."""

    SUCCESS = "success"
    FAILURE = "failure"
    RISK = "risk"
    NEED = "need"
    DEPENDENCY = "dependency"
    HUMAN_PRIORITY = "human_priority"


SIGNAL_TYPES = tuple(SignalType)
COLUMNS: Mapping[SignalType, int] = {signal: column for column, signal in enumerate(SIGNAL_TYPES)}


class Decision(StrEnum):
    """What the gate says of an action."""

    EXECUTE = "execute"
    HOLD = "hold"
    REFUSE = "refuse"


class Role(StrEnum):
    """What an agent is trusted to be, lowest first."""

    SANDBOX = "sandbox"
    REPAIR_ANT = "repair_ant"
    MEMORY_ANT = "memory_ant"
    DISPATCHER = "dispatcher"
    GUARD_ANT = "guard_ant"


ATTACK_VECTORS = (
    "no_rollback",
    "no_test_value",
    "scope_creep",
    "false_metric",
    "circular_architecture",
    "dependency_risk",
    "security_risk",
    "over_broad_module",
    "hidden_maintenance_cost",
    "premature_abstraction",
)
"""The ten ways in which a plan is attacked, in the order of the findings (kernel spec 7)."""

SEVERITY_WEIGHTS: Mapping[str, float] = {"low": 0.05, "medium": 0.20, "high": 0.45, "critical": 1.0}


class Trace(Value, gc=False):
    """One trace of the field (`colony_pheromone_query`)."""

    place: Name
    signal: SignalType
    strength: float
    decay: float
    """How fast it fades, as a multiple of the kernel's base evaporation: 3, 1 or 0.2."""
    source: str
    evidence: Mapping[str, str]
    """Keys and values as safe lines, values that are no texts as JSON."""
    last_reinforced: float | None


class TopSignal(Value, gc=False):
    """One of the ten strongest traces."""

    place: Name
    signal: SignalType
    strength: float
    updated_at: float | None


class Consequence(Value, gc=False):
    """The outcome of an action, as an agent reported it."""

    id: str
    agent: Name
    action: str
    target: Name
    tests_passed: bool
    trust_delta: float
    """What it added to the agent's trust, before that was cut to 0..1."""
    recorded_at: float
    outcome: str = ""
    """What happened, in words; a remote kernel does not tell."""
    feedback: float | None = None
    """-1..1; None where the kernel does not tell."""
    has_gap_before: bool = False
    """Older ones may be missing before this one: more were recorded at once than a kernel lists."""


class Budget(Value, gc=False):
    """One dimension of what a period may cost."""

    name: str
    used: float
    ceiling: float


class Budgets(Value, gc=False):
    """What the running period cost, in the kernel's order."""

    rows: tuple[Budget, ...] = ()
    period_start: float | None = None
    period_s: float = 86_400.0

    @property
    def ends_at(self) -> float | None:
        """When the period begins anew."""
        return None if self.period_start is None else self.period_start + self.period_s

    @property
    def is_moved(self) -> bool:
        """Whether anything was used; where outcomes cost nothing nothing ever is (kernel spec 6)."""
        return any(row.used for row in self.rows)


class Status(Value, gc=False):
    """The colony in short (`colony_status`, `colony_tick`)."""

    tick: int
    total_signals: int
    top: tuple[TopSignal, ...]
    budgets: Budgets
    roles: Mapping[str, int]
    """Agents by role."""
    recent: tuple[Consequence, ...]
    """The last ten outcomes, newest first."""
    pruning_candidates: int


class Profile(Value, gc=False):
    """An agent's record (`colony_agent_profile`)."""

    agent: Name
    role: str
    """One of `Role`, or a word that we do not know."""
    trust: float
    """0..1"""
    proposals: int
    accepted: int
    history: tuple[str, ...]
    """Ids of its outcomes, oldest first, at most the newest 200."""
    last_updated: float | None


class ScoreParts(Value, gc=False):
    """Where a score comes from, each part already weighted: together 0..1 (kernel spec 8)."""

    budget: float
    """At most 0.30."""
    risk: float
    """At most 0.30: all below hazard 3, half below 6, else nothing."""
    trust: float
    """At most 0.25."""
    completeness: float
    """At most 0.15."""


class Verdict(Value, gc=False):
    """What the gate said of one action (`colony_propose_action`, or the stream of an embedded kernel)."""

    number: int
    """Counted from 1 on, unique within one view of a kernel; later ones are larger."""
    at: float
    tick: int | None
    agent: Name
    action: str
    target: Name
    decision: Decision
    score: float
    reason: str
    required_evidence: tuple[str, ...]
    """What to do before the action is proposed again, as the kernel words it."""
    parts: ScoreParts | None
    """None where the case was settled before it was scored, or the kernel scores by other rules."""
    budget_approved: bool | None
    severity: float
    """The weight of the gravest finding, 0..1."""
    risk: float | None = None
    failure: float | None = None
    """The strengths of both hazards at the target at that moment; None where the kernel does not tell."""
    trust: float | None = None
    """The agent's trust at that moment."""
    findings: int | None = None
    is_ours: bool = False
    """Proposed from here, not seen in the kernel's stream."""

    @property
    def hazard(self) -> float | None:
        """The stronger of both hazards."""
        return None if self.risk is None or self.failure is None else max(self.risk, self.failure)


class Recorded(Value, gc=False):
    """What an outcome did to its agent (`colony_record_outcome`)."""

    consequence_id: str
    trust: float
    """Rounded to four decimals: compare roles, not this."""
    role: str


class Finding(Value, gc=False):
    """One assumption of a plan that does not hold."""

    claim: str
    vector: str
    """One of `ATTACK_VECTORS`, or a word that we do not know."""
    severity: str
    """One of `SEVERITY_WEIGHTS`, or a word that we do not know."""
    evidence: Mapping[str, str]
    remediation: str

    @property
    def weight(self) -> float:
        """What it counts, 0..1."""
        return SEVERITY_WEIGHTS.get(self.severity, 0.0)


class PlanReview(Value, gc=False):
    """What the attacks on a plan amount to (`colony_falsify_plan`)."""

    findings: tuple[Finding, ...]
    mean: float
    """The mean weight of the findings, on which the recommendation rests."""
    recommendation: Decision
    verdict: str = ""
    """PASS, CONDITIONAL or FAIL; empty where the kernel does not tell. FAIL beside `execute` is common."""
    summary: str = ""
    required_changes: tuple[str, ...] = ()

    @property
    def maximum(self) -> float:
        """The weight of the gravest finding, which is what the gate looks at."""
        return max((finding.weight for finding in self.findings), default=0.0)

    def of_vector(self, vector: str) -> tuple[Finding, ...]:
        """The findings of one of the ten attacks."""
        return tuple(finding for finding in self.findings if finding.vector == vector)


class Candidate(Value, gc=False):
    """One module that may go."""

    place: Name
    last_used: float | None
    calls: int
    duplicate_of: str
    """Empty for nothing."""
    reason: str
    confidence: float
    """0.50..1"""


class PruningReport(Value, gc=False):
    """The modules that may go, the surest first (`colony_pruning_report`)."""

    candidates: tuple[Candidate, ...]
    total: int
    generated_at: float
    protected: Mapping[str, str] = {}
    """Shown name of each place that is left alone though it has a dependency trace, and why; only as far as known."""


class Calmed(Value, gc=False):
    """What a reset took away; trust and history stay (operator only)."""

    tick_before: int
    cleared: int


class ProposalOrder(Value, gc=False):
    """An action to be judged; every text goes to the kernel as it is."""

    agent: str
    action: str
    target: str
    rationale: str
    rollback_plan: str
    evidence: str = "{}"
    """JSON."""


class OutcomeOrder(Value, gc=False):
    """An outcome to be recorded; every text goes to the kernel as it is."""

    agent: str
    action: str
    target: str
    outcome: str
    tests_passed: bool
    feedback: float = 0.0
    """-1..1"""


class DepositOrder(Value, gc=False):
    """A trace that the person leaves (operator only)."""

    place: str
    signal: SignalType
    strength: float
    decay: float = 1.0
    """3, 1 or 0.2."""
    evidence: Mapping[str, str] = {}
