"""A colony's state as the values of the tools."""

from collections.abc import Sequence
from itertools import islice

from colonizer_engines.kernel.agents import Agent
from colonizer_engines.kernel.colony import Colony, Judgement
from colonizer_engines.kernel.falsification import mean_weight, recommendation, verdict
from colonizer_engines.kernel.findings import Finding
from colonizer_engines.kernel.plan import Plan
from colonizer_engines.kernel.pruning import Candidate
from colonizer_engines.kernel.records import Consequence
from colonizer_engines.kernel.replies import (
    FindingReply,
    MatrixReply,
    OutcomeReply,
    PlanReply,
    ProfileReply,
    ProposalReply,
    PruningReply,
    RecentConsequence,
    SignalReply,
    StatusReply,
    TopSignal,
)
from colonizer_engines.kernel.signals import SignalType
from colonizer_engines.kernel.trace import Trace

_TOP_LIMIT = 10


def proposal_reply(judgement: Judgement) -> ProposalReply:
    """The verdict."""
    return {
        "decision": judgement.verdict.decision.value,
        "gate_score": judgement.verdict.score,
        "reason": judgement.verdict.reason,
        "required_evidence": list(judgement.verdict.required_evidence),
        "budget_approved": judgement.budget_approved,
        "falsification_severity": judgement.severity,
    }


def outcome_reply(consequence: Consequence, agent: Agent) -> OutcomeReply:
    """What the outcome did to its agent."""
    return {
        "status": "recorded",
        "consequence_id": consequence.id,
        "trust_score": round(agent.trust, 4),
        "role": agent.role.value,
    }


def profile_reply(agent: Agent) -> ProfileReply:
    """The agent's record."""
    return {
        "agent_id": agent.id,
        "role": agent.role.value,
        "trust_score": agent.trust,
        "total_proposals": agent.proposals,
        "accepted_proposals": agent.accepted,
        "consequence_history": list(agent.history),
        "last_updated": agent.last_updated,
    }


def status_reply(colony: Colony, now: float) -> StatusReply:
    """The colony in short."""
    return {
        "tick_count": colony.field.tick,
        "pheromone_summary": {
            "total_signals": len(colony.field),
            "top_signals": [_top_signal(colony, trace) for trace in colony.field.strongest(_TOP_LIMIT)],
        },
        "budget_usage": colony.ledger.usage(now),
        "role_distribution": colony.agents.distribution(),
        "recent_consequences": [_recent(row) for row in islice(reversed(colony.consequences), _TOP_LIMIT)],
        "pruning_candidates_count": colony.pruning_count,
    }


def signal_reply(colony: Colony, trace: Trace) -> SignalReply:
    """One trace."""
    return {
        "location": trace.location,
        "signal_type": trace.kind.value,
        "strength": colony.field.strength_of(trace),
        "decay_rate": trace.decay,
        "source": trace.source.value,
        "evidence": trace.evidence,
        "last_reinforced": trace.last_reinforced,
    }


def plan_reply(plan: Plan, findings: Sequence[Finding]) -> PlanReply:
    """What the attacks on the plan amount to."""
    score = mean_weight(findings)
    return {
        "plan_summary": plan.summary,
        "findings": [_finding(item) for item in findings],
        "verdict": verdict(findings),
        "required_changes": [item.remediation for item in findings],
        "severity_score": score,
        "recommendation": recommendation(score).value,
    }


def pruning_reply(candidates: Sequence[Candidate], now: float) -> PruningReply:
    """The modules that may go."""
    return {
        "candidates": [
            {
                "module_path": candidate.module.path,
                "last_used": candidate.module.last_used,
                "call_count": candidate.module.call_count,
                "duplicate_of": candidate.module.duplicate_of,
                "reason": candidate.reason,
                "confidence": candidate.confidence,
            }
            for candidate in candidates
        ],
        "total_candidates": len(candidates),
        "generated_at": now,
    }


def matrix_reply(colony: Colony) -> MatrixReply:
    """The whole field, its locations in the order of their names."""
    column = {kind: number for number, kind in enumerate(SignalType)}
    locations = sorted({trace.location for trace in colony.field})
    row = {location: number for number, location in enumerate(locations)}
    strengths, rates, moments = ([[0.0] * len(column) for _ in locations] for _ in range(3))
    for trace in colony.field:
        at, across = row[trace.location], column[trace.kind]
        strengths[at][across] = colony.field.strength_of(trace)
        rates[at][across] = trace.decay
        moments[at][across] = trace.last_reinforced
    return {
        "tick": colony.field.tick,
        "last_change": colony.changes_made,
        "locations": locations,
        "signal_types": [kind.value for kind in SignalType],
        "strengths": strengths,
        "decay_rates": rates,
        "last_reinforced": moments,
    }


def _top_signal(colony: Colony, trace: Trace) -> TopSignal:
    location, kind = colony.rules.split_key(trace.key)
    return {
        "key": trace.key,
        "location": location,
        "signal_type": kind,
        "strength": colony.field.strength_of(trace),
        "updated_at": trace.updated_at,
    }


def _recent(row: Consequence) -> RecentConsequence:
    return {
        "consequence_id": row.id,
        "agent_id": row.agent_id,
        "action_type": row.action_type,
        "target": row.target,
        "tests_passed": row.tests_passed,
        "trust_delta": row.trust_delta,
        "recorded_at": row.recorded_at,
    }


def _finding(finding: Finding) -> FindingReply:
    return {
        "claim": finding.claim,
        "attack_vector": finding.vector.value,
        "severity": finding.severity.value,
        "evidence": finding.evidence,
        "remediation": finding.remediation,
    }
