"""From the values of a kernel's tools to models (kernel spec 4). Rows are read one by one; a bad one costs no other."""

import json
from collections.abc import Callable, Mapping
from enum import StrEnum
from typing import TypeVar

from colonizer_client.errors import Unreadable
from colonizer_client.kernel.models import (
    Budget,
    Budgets,
    Calmed,
    Candidate,
    Consequence,
    Decision,
    Finding,
    Name,
    PlanReview,
    Profile,
    PruningReport,
    Recorded,
    ScoreParts,
    SignalType,
    Status,
    TopSignal,
    Trace,
)
from colonizer_client.mothership import wire
from colonizer_client.text import safe_line
from colonizer_config.value import Value

E = TypeVar("E", bound=StrEnum)
M = TypeVar("M")

NAME_LIMIT = 1_000_000
"""Characters; kernels take whatever fits into a message, and what they keep has to be seen. It is shown cut."""

SHOWN_NAME_LIMIT = 300
ROWS_LIMIT = 1_000
"""Of a list in one reply, beyond what any kernel tells."""

EVIDENCE_ROWS = 32
EVIDENCE_LIMIT = 500


class GateReply(Value):
    """What a kernel answers to a proposal."""

    decision: Decision
    score: float
    reason: str
    required_evidence: tuple[str, ...]
    budget_approved: bool | None
    severity: float


def name(value: object) -> Name | None:
    """The name, None where it is none that could be shown and sent back."""
    if not isinstance(value, str) or not value or len(value) > NAME_LIMIT:
        return None
    return Name(value, safe_line(value, limit=SHOWN_NAME_LIMIT))


def status(value: object) -> Status:
    """The colony in short.

    Raises:
        Unreadable: There is no tick.
    """
    fields = wire.mapping(value)
    tick = wire.integer(fields.get("tick_count"))
    if tick is None or tick < 0:
        raise Unreadable("the kernel's status has no tick")
    summary = wire.mapping(fields.get("pheromone_summary"))
    return Status(
        tick=tick,
        total_signals=wire.integer(summary.get("total_signals")) or 0,
        top=rows(summary.get("top_signals"), _top_signal),
        budgets=_budgets(fields.get("budget_usage")),
        roles={
            safe_line(role, limit=100): count
            for role, number in list(wire.mapping(fields.get("role_distribution")).items())[:EVIDENCE_ROWS]
            if (count := wire.integer(number)) is not None
        },
        recent=rows(fields.get("recent_consequences"), consequence),
        pruning_candidates=wire.integer(fields.get("pruning_candidates_count")) or 0,
    )


def _top_signal(row: Mapping[str, object]) -> TopSignal | None:
    # The location beside the key is cut at the key's first colon by some kernels (kernel spec 4).
    raw, _, kind = wire.raw(row.get("key")).rpartition(":")
    place, signal = name(raw or row.get("location")), member(SignalType, kind or row.get("signal_type"))
    strength = wire.number(row.get("strength"))
    if place is None or signal is None or strength is None:
        return None
    return TopSignal(place, signal, strength, wire.number(row.get("updated_at")))


def _budgets(value: object) -> Budgets:
    fields = wire.mapping(value)
    dimensions: list[Budget] = []
    for dimension, row in list(fields.items())[:EVIDENCE_ROWS]:
        used = wire.number(wire.mapping(row).get("used"))
        ceiling = wire.number(wire.mapping(row).get("max"))
        if used is not None and ceiling is not None:
            dimensions.append(Budget(safe_line(dimension, limit=100), used, ceiling))
    return Budgets(tuple(dimensions), wire.number(fields.get("period_start")))


def consequence(row: Mapping[str, object]) -> Consequence | None:
    """One outcome, as a status or the operator's call tells it; None where it is unreadable."""
    agent, target = name(row.get("agent_id")), name(row.get("target"))
    told_id = wire.word(row.get("consequence_id", row.get("id")))
    delta, at = wire.number(row.get("trust_delta")), wire.number(row.get("recorded_at"))
    if agent is None or target is None or not told_id or delta is None or at is None:
        return None
    return Consequence(
        id=told_id,
        agent=agent,
        action=wire.line(row.get("action_type"), SHOWN_NAME_LIMIT),
        target=target,
        tests_passed=wire.flag(row.get("tests_passed")),
        trust_delta=delta,
        recorded_at=at,
        outcome=wire.line(row.get("actual_outcome")),
        feedback=wire.number(row.get("human_feedback")),
    )


def trace(value: object) -> Trace | None:
    """The only row of a query's answer, None for an empty one.

    Raises:
        Unreadable: The answer is no list of traces.
    """
    found = wire.mappings(value)
    if not found and value != []:
        raise Unreadable("the kernel's answer is no list of traces")
    if not found:
        return None
    row = found[0]
    place, signal = name(row.get("location")), member(SignalType, row.get("signal_type"))
    strength, decay = wire.number(row.get("strength")), wire.number(row.get("decay_rate"))
    if place is None or signal is None or strength is None or decay is None:
        raise Unreadable("the kernel's answer is no trace")
    return Trace(
        place=place,
        signal=signal,
        strength=strength,
        decay=decay,
        source=wire.word(row.get("source")),
        evidence=evidence(row.get("evidence")),
        last_reinforced=wire.number(row.get("last_reinforced")),
    )


def evidence(value: object) -> Mapping[str, str]:
    """Keys and values of an object as safe lines; what is no text is shown as JSON."""
    return {
        safe_line(key, limit=100): safe_line(found if isinstance(found, str) else _json(found), limit=EVIDENCE_LIMIT)
        for key, found in list(wire.mapping(value).items())[:EVIDENCE_ROWS]
    }


def gate_reply(value: object) -> GateReply:
    """The verdict on a proposal.

    Raises:
        Unreadable: It has no decision or no score that we know.
    """
    fields = wire.mapping(value)
    decision = member(Decision, fields.get("decision"))
    score = wire.number(fields.get("gate_score"))
    if decision is None or score is None:
        raise Unreadable("the kernel's answer is no verdict")
    approved = fields.get("budget_approved")
    return GateReply(
        decision=decision,
        score=score,
        reason=wire.line(fields.get("reason")),
        required_evidence=wire.words(fields.get("required_evidence"))[:EVIDENCE_ROWS],
        budget_approved=approved if isinstance(approved, bool) else None,
        severity=wire.number(fields.get("falsification_severity")) or 0.0,
    )


def recorded(value: object) -> Recorded:
    """What an outcome did to its agent.

    Raises:
        Unreadable: The trust is missing.
    """
    fields = wire.mapping(value)
    trust = wire.number(fields.get("trust_score"))
    if trust is None:
        raise Unreadable("the kernel's answer tells no trust")
    return Recorded(wire.word(fields.get("consequence_id")), trust, wire.word(fields.get("role")))


def profile(value: object) -> Profile:
    """An agent's record.

    Raises:
        Unreadable: It has no agent or no trust.
    """
    fields = wire.mapping(value)
    agent, trust = name(fields.get("agent_id")), wire.number(fields.get("trust_score"))
    if agent is None or trust is None:
        raise Unreadable("the kernel's answer is no agent's record")
    return Profile(
        agent=agent,
        role=wire.word(fields.get("role")),
        trust=trust,
        proposals=wire.integer(fields.get("total_proposals")) or 0,
        accepted=wire.integer(fields.get("accepted_proposals")) or 0,
        history=wire.words(fields.get("consequence_history"), 100)[-ROWS_LIMIT:],
        last_updated=wire.number(fields.get("last_updated")),
    )


def plan_review(value: object) -> PlanReview:
    """What the attacks on a plan amount to.

    Raises:
        Unreadable: There is no recommendation or no score that we know.
    """
    fields = wire.mapping(value)
    mean, advice = wire.number(fields.get("severity_score")), member(Decision, fields.get("recommendation"))
    if mean is None or advice is None:
        raise Unreadable("the kernel's answer is no review of a plan")
    return PlanReview(
        findings=rows(fields.get("findings"), _finding),
        mean=mean,
        recommendation=advice,
        verdict=wire.word(fields.get("verdict")),
        summary=wire.line(fields.get("plan_summary")),
        required_changes=wire.words(fields.get("required_changes"), wire.LINE_LIMIT)[:ROWS_LIMIT],
    )


def _finding(row: Mapping[str, object]) -> Finding | None:
    vector, severity = wire.word(row.get("attack_vector")), wire.word(row.get("severity"))
    if not vector or not severity:
        return None
    claim, remedy = wire.line(row.get("claim")), wire.line(row.get("remediation"))
    return Finding(claim, vector, severity, evidence(row.get("evidence")), remedy)


def pruning_report(value: object) -> PruningReport:
    """The modules that may go.

    Raises:
        Unreadable: There is no time of the report.
    """
    fields = wire.mapping(value)
    at = wire.number(fields.get("generated_at"))
    if at is None:
        raise Unreadable("the kernel's answer is no pruning report")
    candidates = rows(fields.get("candidates"), _candidate)
    total = wire.integer(fields.get("total_candidates"))
    return PruningReport(candidates, len(candidates) if total is None else total, at)


def _candidate(row: Mapping[str, object]) -> Candidate | None:
    place, confidence = name(row.get("module_path")), wire.number(row.get("confidence"))
    if place is None or confidence is None:
        return None
    return Candidate(
        place=place,
        last_used=wire.number(row.get("last_used")) or None,
        calls=wire.integer(row.get("call_count")) or 0,
        duplicate_of=wire.line(row.get("duplicate_of"), SHOWN_NAME_LIMIT),
        reason=wire.line(row.get("reason")),
        confidence=confidence,
    )


def calmed(value: object) -> Calmed:
    """What a reset took away."""
    fields = wire.mapping(value)
    before, cleared = wire.integer(fields.get("tick_count_before")), wire.integer(fields.get("signals_cleared"))
    return Calmed(before or 0, cleared or 0)


def score_parts(value: object) -> ScoreParts | None:
    """The four parts of a score, None where there are none."""
    match [wire.number(part) for part in wire.sequence(value)]:
        case [float(budget), float(risk), float(trust), float(completeness)]:
            return ScoreParts(budget, risk, trust, completeness)
        case _:
            return None


def rows(value: object, read: Callable[[Mapping[str, object]], M | None]) -> tuple[M, ...]:
    """The readable ones of an array's objects."""
    return tuple(found for row in wire.mappings(value)[:ROWS_LIMIT] if (found := read(row)) is not None)


def member(words: type[E], value: object) -> E | None:
    """The word of an enumeration, None where it is none of its words."""
    try:
        return words(value) if isinstance(value, str) else None
    except ValueError:
        return None


def _json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, default=str)
