"""A plan as a person types it, and what the ten attacks make of it."""

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import cast

from colonizer_client.kernel.models import ATTACK_VECTORS, Decision, Finding, PlanReview
from colonizer_config.value import Value
from colonizer_tui.present.kernel.verdicts import look
from colonizer_tui.present.line import Line, Span, column, line, wrap
from colonizer_tui.present.states import Glyphs

KEYS = (
    "action_type", "target", "rationale", "rollback_plan", "scope", "tests", "metrics", "expected_outcome",
    "dependencies", "owner", "agent_id",
)  # fmt: skip
"""What a plan may say; the first ones are those that most plans need."""

TEMPLATE = "".join(f"{key}: \n" for key in KEYS)

_LISTS = frozenset({"tests", "dependencies"})
"""What is a list where it is written with commas."""

_VECTOR_WIDTH = 26
_ROLES = {"low": "muted", "medium": "attention", "high": "danger", "critical": "danger-strong"}


class Typed(Value):
    """What a text says: a plan, or why it is none."""

    plan: Mapping[str, object] | None = None
    error: str = ""

    @property
    def is_blank(self) -> bool:
        """Nothing is filled in yet."""
        return not self.error and not self.plan


def parse(text: str) -> Typed:
    """The plan in a text: JSON, or a line `key: value` for each thing that it says.

    A line that begins with none of the keys goes on with the one before. What is left blank is not said at all.
    """
    if text.lstrip().startswith("{"):
        return _parse_json(text)
    said: dict[str, list[str]] = {}
    last = ""
    for row in text.splitlines():
        key, colon, value = row.partition(":")
        if colon and key.strip().lower() in KEYS:
            last = key.strip().lower()
            said[last] = [value.strip()]
        elif last:
            said[last].append(row.strip())
        elif row.strip():
            return Typed(error=f"begin with one of these, and a colon: {', '.join(KEYS[:4])}, …")
    whole = {key: "\n".join(rows).strip() for key, rows in said.items()}
    return Typed({key: _value(key, value) for key, value in whole.items() if value})


def _parse_json(text: str) -> Typed:
    try:
        found: object = json.loads(text)
    except ValueError as problem:
        return Typed(error=f"no JSON yet: {problem}")
    except RecursionError:
        return Typed(error="this JSON is nested too deeply")
    return Typed(cast("dict[str, object]", found)) if isinstance(found, dict) else Typed(error="a plan is an object")


def _value(key: str, text: str) -> object:
    return [part.strip() for part in text.replace("\n", ",").split(",") if part.strip()] if key in _LISTS else text


def caption(width: int, *, is_wide: bool) -> Line:
    """How a plan is written, and what is beside it."""
    told = " the plan, a line “key: text” each, or JSON; blank is not said at all"
    return (Span(column(told, width // 2) + "   the ten attacks" if is_wide else told, "dim"),)


def row(vector: str, review: PlanReview | None, width: int, glyphs: Glyphs) -> Line:
    """One of the ten attacks, and what it found."""
    name = vector.replace("_", " ")
    if review is None:
        return line(Span(f"{glyphs['unknown']} ", "dim"), Span(column(name, _VECTOR_WIDTH), "muted"))
    found = review.of_vector(vector)
    if not found:
        return line(Span(f"{glyphs['yes']} ", "ok"), Span(column(name, _VECTOR_WIDTH), "muted"))
    worst = max(found, key=lambda finding: finding.weight)
    role = _ROLES.get(worst.severity, "attention")
    more = f" (+{len(found) - 1})" if len(found) > 1 else ""
    return line(
        Span(f"{glyphs['no']} ", role),
        Span(column(name, _VECTOR_WIDTH), "strong"),
        Span(column(worst.severity, 9), role),
        Span(worst.claim + more),
    )


def others(review: PlanReview | None) -> Sequence[str]:
    """Attacks that found something and are none of the ten."""
    if review is None:
        return ()
    return tuple(dict.fromkeys(one.vector for one in review.findings if one.vector not in ATTACK_VECTORS))


def outcome(review: PlanReview | None, error: str, width: int, glyphs: Glyphs) -> Sequence[Line]:
    """What all attacks amount to; the mean is what is recommended by, the greatest what the gate looks at."""
    if error:
        return [(Span(f" {part}", "attention"),) for part in wrap(error, width - 2, 2)]
    if review is None:
        return [(Span(" fill in what you plan: it is attacked while you type, and nothing is stored", "muted"),)]
    bar = min(max((width - 44) // 2, 8), 20)
    numbers = line(
        Span(" mean ", "muted"), *_meter(review.mean, bar, glyphs), Span(f" {review.mean:.2f}", "strong"),
        Span("   greatest ", "muted"), *_meter(review.maximum, bar, glyphs), Span(f" {review.maximum:.2f}", "strong"),
    )  # fmt: skip
    verdict = _verdict(review)
    told = line(
        Span(" recommended: ", "muted"), *look(review.recommendation, glyphs), Span(" verdict: ", "muted"), verdict
    )
    clash = review.verdict == "FAIL" and review.recommendation is Decision.EXECUTE
    note = Span("   by the mean; one grave finding is enough to fail", "muted") if clash else Span("")
    return [numbers, (*told, note)]


def _verdict(review: PlanReview) -> Span:
    roles = {"PASS": "ok", "CONDITIONAL": "attention", "FAIL": "danger"}
    return Span(review.verdict.lower() or "not told", roles.get(review.verdict, "muted"))


def _meter(share: float, width: int, glyphs: Glyphs) -> Line:
    filled = max(round(min(share, 1.0) * width), 1) if share > 0 else 0
    role = "danger" if share >= 0.75 else "attention" if share >= 0.4 else "ok"
    return Span(glyphs["fast"] * filled, role), Span(glyphs["slow"] * (width - filled), "faint")


def advice(found: Sequence[Finding], width: int, most: int) -> Sequence[Line]:
    """What is wrong by one attack, and what would mend it."""
    return list(_advice(found, width))[:most]


def _advice(found: Sequence[Finding], width: int) -> Iterator[Line]:
    for finding in found:
        yield from ((Span(f" {part}", "strong"),) for part in wrap(finding.claim, width - 2))
        yield from ((Span(f" {part}", "info"),) for part in wrap(finding.remediation, width - 2))
        for key, value in finding.evidence.items():
            yield from ((Span(f"   {part}", "muted"),) for part in wrap(f"{key}: {value}", width - 4, 2))
