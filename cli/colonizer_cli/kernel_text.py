"""What a kernel told, as lines for people; ASCII but for what came from outside."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TypeVar

from colonizer_client.kernel.decode import GateReply
from colonizer_client.kernel.gate import (
    BUDGET_PART,
    COMPLETENESS_WEIGHT,
    RISK_PARTS,
    TRUST_PARTS,
    outcomes_to_next_role,
    parts_of,
    proposals_to_leave_sandbox,
    ways_from,
)
from colonizer_client.kernel.glance import Field, Row
from colonizer_client.kernel.models import (
    ATTACK_VECTORS,
    SEVERITY_WEIGHTS,
    SIGNAL_TYPES,
    PlanReview,
    Profile,
    ProposalOrder,
    PruningReport,
    Recorded,
    Status,
)
from colonizer_client.kernel.preset import HAZARD_HIGH, HAZARD_LOW, Preset
from colonizer_client.text import safe_line

T = TypeVar("T")

ABSENT, NOT_TOLD = "-", "?"

_HEADINGS = ("success", "failure", "risk", "need", "depends", "human")
"""Of the columns, in the order of `SIGNAL_TYPES`."""

_PARTS = {"budget": BUDGET_PART, "risk": RISK_PARTS[0], "trust": TRUST_PARTS[0], "completeness": COMPLETENESS_WEIGHT}
"""The parts of a score by their names in `ScoreParts`, and the most that each can be."""


def status_lines(status: Status, kernel: str, preset: Preset, now: float) -> Iterator[str]:
    """The colony in short, a label before each line."""
    yield _labelled("kernel", kernel)
    yield _labelled("tick", f"{status.tick}, {_count(status.total_signals, 'trace')}")
    for label, top in _first_labelled("strongest", status.top):
        yield _labelled(label, f"{_strength(top.strength):>5}  {top.signal:14}  {top.place.shown}")
    if preset.feeds_budgets or status.budgets.is_moved:
        for label, row in _first_labelled("budget", status.budgets.rows):
            yield _labelled(label, f"{row.name:24} {row.used:g} of {row.ceiling:g}")
        if (ends_at := status.budgets.ends_at) is not None:
            yield _labelled("", f"the period ends in {_span(max(ends_at - now, 0))}")
    else:
        yield _labelled("budget", "never used: this kernel charges nothing for outcomes")
    yield _labelled("roles", ", ".join(f"{role} {number}" for role, number in status.roles.items()) or "no agents")
    for label, outcome in _first_labelled("outcomes", status.recent):
        passed = "passed" if outcome.tests_passed else "failed"
        words = f"{passed}  {outcome.trust_delta:+.2f}  {outcome.agent.shown}: {outcome.action} {outcome.target.shown}"
        yield _labelled(label, words)
    yield _labelled("to prune", str(status.pruning_candidates))


def heat_lines(rows: Iterable[Row]) -> Iterator[str]:
    """The heatmap: a heading, and a line for each place. `!` marks a hazard from 3 on, `!!` one from 6 on."""
    yield "   hazard  " + "".join(f"{heading:>7}  " for heading in _HEADINGS) + "place"
    for row in rows:
        cells = "".join(f"{_strength(strength):>7}  " for strength in row.strengths)
        yield f"{_mark(row.hazard)} {_strength(row.hazard):>6}  {cells}{row.place.shown}"


def agent_lines(profiles: Iterable[Profile], preset: Preset) -> Iterator[str]:
    """A heading, and a line for each agent, the most trusted first."""
    yield f"trust  {'role':12}  {'passed':>6}  {'proposed':>8}  {'next role, after':32}  agent"
    for profile in sorted(profiles, key=lambda profile: (-profile.trust, profile.agent.shown)):
        counts = f"{profile.accepted:>6}  {profile.proposals:>8}"
        ahead = _ahead(profile, preset)
        yield f"{profile.trust:5.2f}  {profile.role or '?':12}  {counts}  {ahead:32}  {profile.agent.shown}"


def _ahead(profile: Profile, preset: Preset) -> str:
    """The next role, and what leads there."""
    following = outcomes_to_next_role(profile, preset)
    if following is None:
        return "-"
    role, outcomes = following
    needed = [_count(outcomes, "passed outcome")] if outcomes else []
    proposals = proposals_to_leave_sandbox(profile)
    if proposals and not preset.counts_outcomes:
        needed.append(_count(proposals, "proposal"))
    return f"{role}, {' and '.join(needed) or 'its next call'}"


def review_lines(review: PlanReview) -> Iterator[str]:
    """What the ten attacks on a plan found, the gravest first, and what they did not find."""
    verdict = f", verdict {review.verdict}" if review.verdict else ""
    severity = f"mean severity {review.mean:.2f}, gravest {review.maximum:.2f}"
    yield f"{review.recommendation}: {severity}{verdict}"
    for finding in sorted(review.findings, key=lambda finding: -finding.weight):
        yield f"{_mark_severity(finding.weight)} {finding.severity or '?':8}  {finding.vector:23}  {finding.claim}"
        if finding.remediation:
            yield f"{'':14}do: {finding.remediation}"
    held = [vector for vector in ATTACK_VECTORS if not review.of_vector(vector)]
    if held:
        yield f"not found: {', '.join(held)}"


def verdict_lines(order: ProposalOrder, reply: GateReply) -> Iterator[str]:
    """A verdict with what lies behind it, what it asks for, and what would turn it into EXECUTE."""
    parts = parts_of(reply.score, order, budget_approved=reply.budget_approved)
    yield f"{reply.decision}: score {reply.score:.2f}, {safe_line(order.action)} {safe_line(order.target)}"
    if parts is None:
        yield _labelled("score", "settled before it was scored, or scored by other rules")
    else:
        for label, (part, most) in _first_labelled("score", tuple(_PARTS.items())):
            yield _labelled(label, f"{part:12} {getattr(parts, part):.4f} of {most:.2f}")
    if reply.severity:
        yield _labelled("gravest", f"{reply.severity:.2f}")
    if reply.reason:
        yield _labelled("reason", reply.reason)
    for label, words in _first_labelled("to do", reply.required_evidence):
        yield _labelled(label, words)
    ways = ways_from(reply.decision, parts)
    for label, lift in _first_labelled("would execute if", ways.alone):
        yield _labelled(label or "or if", lift.value)
    for label, lift in _first_labelled("would execute if", ways.together):
        yield _labelled(label or "and", lift.value)


def recorded_line(agent: str, recorded: Recorded) -> str:
    """What an outcome did to its agent."""
    return (
        f"recorded {recorded.consequence_id}: {safe_line(agent)} has trust {recorded.trust:.2f}, role {recorded.role}"
    )


def pruning_lines(report: PruningReport, kept: Mapping[str, str]) -> Iterator[str]:
    """The modules that may go, the surest first, and those that are left alone, with the reason."""
    if report.candidates:
        yield f"{'sure':>5}  {'calls':>6}  {'unused for':>10}  module"
    for found in report.candidates:
        age = "-" if found.last_used is None else _span(max(report.generated_at - found.last_used, 0))
        copy = f", a copy of {found.duplicate_of}" if found.duplicate_of else ""
        yield f"{found.confidence:5.2f}  {found.calls:6}  {age:>10}  {found.place.shown}: {found.reason}{copy}"
    for place, why in kept.items():
        yield f"{'kept':>5}  {'':6}  {'':10}  {place}: {why}"


def field_json(kernel: str, field: Field, rows: Sequence[Row]) -> object:
    """The field as `--json` prints it: null is not told, 0 absent."""
    places = [
        {"location": row.place.raw, "hazard": row.hazard, **dict(zip(SIGNAL_TYPES, row.strengths, strict=True))}
        for row in rows
    ]
    return {"kernel": kernel, "tick": field.tick, "whole": field.is_whole, "places": places}


def _first_labelled(label: str, rows: Sequence[T]) -> Iterator[tuple[str, T]]:
    """Each row with its label: the first with this one, the others with none."""
    for number, row in enumerate(rows):
        yield ("" if number else label), row


def _labelled(label: str, words: str) -> str:
    return f"{label:16}  {words}"


def _strength(strength: float | None) -> str:
    return NOT_TOLD if strength is None else f"{strength:.1f}" if strength else ABSENT


def _mark(hazard: float | None) -> str:
    return "  " if hazard is None or hazard < HAZARD_LOW else "! " if hazard < HAZARD_HIGH else "!!"


def _mark_severity(weight: float) -> str:
    return "!!" if weight >= SEVERITY_WEIGHTS["critical"] else "! " if weight >= SEVERITY_WEIGHTS["high"] else "  "


def _count(number: int, what: str) -> str:
    return f"{number} {what}" if number == 1 else f"{number} {what}s"


def _span(seconds: float) -> str:
    minutes = int(seconds // 60)
    if minutes < 120:
        return f"{minutes} min"
    return f"{minutes // 60} h" if minutes < 48 * 60 else f"{minutes // 1440} days"
