"""Every call that we make of a kernel: its tool, its arguments, and how its value is read. Nothing here does I/O."""

import json
from collections.abc import Callable, Mapping, Sequence
from typing import Generic, TypeVar

from colonizer_client.errors import BadRequest
from colonizer_client.kernel import changes, decode
from colonizer_client.kernel.changes import Changes, Matrix
from colonizer_client.kernel.decode import GateReply
from colonizer_client.kernel.models import (
    Calmed,
    Consequence,
    DepositOrder,
    OutcomeOrder,
    PlanReview,
    Profile,
    ProposalOrder,
    PruningReport,
    Recorded,
    SignalType,
    Status,
    Trace,
)
from colonizer_client.mothership import wire
from colonizer_config.value import Value

T = TypeVar("T")

TOOLS = frozenset(
    {
        "colony_propose_action",
        "colony_record_outcome",
        "colony_agent_profile",
        "colony_status",
        "colony_pheromone_query",
        "colony_falsify_plan",
        "colony_pruning_report",
        "colony_tick",
    }
)
"""Bare names of the tools that every kernel has, whatever it puts before them."""

OPERATOR_TOOLS = frozenset(
    {
        "operator_matrix",
        "operator_history",
        "operator_deposit",
        "operator_calm_down",
        "operator_changes",
        "operator_profiles",
        "operator_consequences",
        "operator_protections",
    }
)
"""Tools that the local engine has beside them, on its private socket."""

LONGEST_WAIT_S = 20.0
"""A question for changes is answered after this long also where there are none."""

_DECAYS = {3.0: "fast", 1.0: "normal", 0.2: "slow"}


class Call(Value, Generic[T]):
    """One call of a tool."""

    tool: str
    """Its bare name."""
    read: Callable[[object], T]
    """From the tool's value to ours; raises Unreadable."""
    arguments: Mapping[str, object] = {}
    waits_s: float = 0.0
    """How long the kernel may take on purpose."""
    leaves: str = ""
    """What may be so all the same where no reply comes."""

    def checked(self) -> "Call[T]":
        """The call, where its arguments can be sent.

        Raises:
            BadRequest: One holds half a character, or a number that JSON has not.
        """
        try:
            json.dumps(self.arguments, ensure_ascii=False, allow_nan=False).encode()
        except (ValueError, RecursionError):
            raise BadRequest("this holds what cannot be sent: half a character, or a number without end") from None
        return self

    def as_json(self) -> "Call[object]":
        """The same call, its value taken as it came once it could be read: raw, never to be drawn."""

        def read(value: object) -> object:
            self.read(value)
            return value

        return Call(self.tool, read, self.arguments, self.waits_s, self.leaves)


def status() -> Call[Status]:
    """The colony in short."""
    return Call("colony_status", decode.status)


def tick() -> Call[Status]:
    """Moves the field one tick on."""
    return Call("colony_tick", decode.status, leaves="it may have ticked all the same")


def query(place: str, signal: SignalType) -> Call[Trace | None]:
    """The place's trace of one type."""
    return Call("colony_pheromone_query", decode.trace, {"location": place, "signal_type": signal.value})


def profile(agent: str) -> Call[Profile]:
    """An agent's record."""
    return Call("colony_agent_profile", decode.profile, {"agent_id": agent})


def propose(order: ProposalOrder) -> Call[GateReply]:
    """Has an action judged."""
    arguments = {
        "agent_id": order.agent,
        "action_type": order.action,
        "target": order.target,
        "rationale": order.rationale,
        "rollback_plan": order.rollback_plan,
        "evidence": order.evidence,
    }
    leaves = "it may have been judged all the same, and left its traces"
    return Call("colony_propose_action", decode.gate_reply, arguments, leaves=leaves)


def record(order: OutcomeOrder) -> Call[Recorded]:
    """Records an outcome."""
    arguments = {
        "agent_id": order.agent,
        "action_type": order.action,
        "target": order.target,
        "actual_outcome": order.outcome,
        "tests_passed": order.tests_passed,
        "human_feedback": order.feedback,
    }
    leaves = "it may have been recorded all the same: look into the outcomes before you send it again"
    return Call("colony_record_outcome", decode.recorded, arguments, leaves=leaves)


def falsify(plan: Mapping[str, object]) -> Call[PlanReview]:
    """Attacks a plan; nothing is stored.

    Raises:
        BadRequest: The plan is nothing that JSON can hold.
    """
    try:
        text = json.dumps(plan, allow_nan=False)
    except (TypeError, ValueError, RecursionError):
        raise BadRequest("this plan is nothing that can be sent as JSON") from None
    return Call("colony_falsify_plan", decode.plan_review, {"plan_json": text})


def pruning_report() -> Call[PruningReport]:
    """The modules that may go."""
    return Call("colony_pruning_report", decode.pruning_report)


def matrix() -> Call[Matrix]:
    """The whole field."""
    return Call("operator_matrix", changes.matrix)


def changes_after(number: int, wait_s: float = 0.0) -> Call[Changes]:
    """The changes after one, at most 1000; waits for the next one where there is none yet."""
    return Call("operator_changes", changes.changes, {"after": number, "wait_s": wait_s}, waits_s=wait_s)


def profiles() -> Call[tuple[Profile, ...]]:
    """The records of all agents."""
    return Call("operator_profiles", changes.profiles)


def consequences() -> Call[tuple[Consequence, ...]]:
    """The newest outcomes, newest first."""
    return Call("operator_consequences", changes.consequences)


def protections(places: Sequence[str]) -> Call[Mapping[str, str]]:
    """Why those of the places that a pruning report leaves alone are left alone, by their raw names."""
    return Call("operator_protections", changes.protections, {"locations": list(places)})


def deposit(order: DepositOrder) -> Call[Trace | None]:
    """Leaves a trace.

    Raises:
        BadRequest: The decay is none of the three.
    """
    decay = _DECAYS.get(order.decay)
    if decay is None:
        raise BadRequest("a trace fades by 3, 1 or 0.2")
    arguments = {
        "location": order.place,
        "signal_type": order.signal.value,
        "strength": order.strength,
        "decay": decay,
        "evidence": dict(order.evidence),
    }
    leaves = "the trace may be there all the same"
    return Call(
        "operator_deposit", lambda told: decode.trace(wire.mapping(told).get("signals")), arguments, leaves=leaves
    )


def calm_down(reason: str) -> Call[Calmed]:
    """Takes traces, budget and ticks back to the start."""
    return Call("operator_calm_down", decode.calmed, {"reason": reason}, leaves="it may have calmed down all the same")
