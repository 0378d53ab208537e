"""What an agent asks of a kernel, and what it reports."""

import msgspec

from colonizer_engines.kernel.errors import BadArgument
from colonizer_engines.kernel.ledger import Cost, reported_cost
from colonizer_engines.kernel.plan import Plan
from colonizer_engines.kernel.rules import PROPOSAL_ESTIMATE


class Proposal(msgspec.Struct, frozen=True, gc=False):
    """An action that an agent would like to take."""

    agent_id: str
    action_type: str
    target: str
    rationale: str
    rollback_plan: str
    evidence: object = None
    """Any JSON value; one that is empty, zero or null counts as none."""
    expected_outcome: str = "stated by the caller"
    estimate: Cost = PROPOSAL_ESTIMATE

    def __post_init__(self) -> None:
        """Checks that it says who, what, where and why.

        Raises:
            BadArgument: One of these is empty.
        """
        _need(self, "agent_id", "action_type", "target", "rationale")

    @property
    def missing(self) -> tuple[str, ...]:
        """The fields that would complete it."""
        given = {
            "rollback_plan": self.rollback_plan.strip(),
            "evidence": self.evidence,
            "expected_outcome": self.expected_outcome.strip(),
        }
        return tuple(name for name, value in given.items() if not value)

    @property
    def plan(self) -> Plan:
        """What of it is attacked."""
        fields = {
            "target": self.target,
            "rationale": self.rationale,
            "rollback_plan": self.rollback_plan,
            "action_type": self.action_type,
        }
        return Plan.of(fields)


class Outcome(msgspec.Struct, frozen=True, gc=False):
    """What an agent reports of an action."""

    agent_id: str
    action_type: str
    target: str
    actual_outcome: str
    tests_passed: bool
    repair_needed: bool
    feedback: float
    """-1..1."""
    estimate: Cost
    cost: object = None
    """A mapping of dimensions to amounts; anything else leaves the estimate to count."""

    def __post_init__(self) -> None:
        """Checks that it says who, what, where and with what result.

        Raises:
            BadArgument: One of these is empty.
        """
        _need(self, "agent_id", "action_type", "target", "actual_outcome")

    @property
    def consumed(self) -> Cost:
        """What it took of the budget."""
        return reported_cost(self.cost) or self.estimate


def _need(call: Proposal | Outcome, *names: str) -> None:
    for name in names:
        if not getattr(call, name):
            raise BadArgument(name, f"{name} must not be empty")
