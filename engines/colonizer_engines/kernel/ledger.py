"""The resource ledger: what a period may cost, and what it did (spec 6)."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields
from operator import attrgetter
from typing import Any, cast

from colonizer_engines.kernel.errors import BadArgument

_FRACTIONS = frozenset({"risk_level", "merge_risk", "security_exposure"})
"""Dimensions that go from 0 to 1; their sums stay at 1."""

PERIOD_S = 86400.0


@dataclass(frozen=True, slots=True)
class Cost:
    """What an action takes of each dimension, in the order in which they are checked."""

    llm_calls: int = 0
    runtime_seconds: float = 0.0
    risk_level: float = 0.0
    human_attention_minutes: float = 0.0
    merge_risk: float = 0.0
    doc_debt: float = 0.0
    security_exposure: float = 0.0

    def __post_init__(self) -> None:
        """Checks every dimension.

        Raises:
            BadArgument: One is negative, no number, or a fraction above 1.
        """
        for name in DIMENSIONS:
            amount = getattr(self, name)
            if not amount >= 0 or (name in _FRACTIONS and amount > 1):
                raise BadArgument(name, f"{name} must be {'0..1' if name in _FRACTIONS else '0 or more'}, not {amount}")

    def plus(self, other: "Cost") -> "Cost":
        """Both together."""
        sums = zip(DIMENSIONS, _amounts(self), _amounts(other), strict=True)
        return Cost(**{name: min(a + b, 1) if name in _FRACTIONS else a + b for name, a, b in sums})


DIMENSIONS = tuple(field.name for field in fields(Cost))

_amounts: Callable[[Cost], tuple[Any, ...]] = attrgetter(*DIMENSIONS)
"""All dimensions of a cost, each in its own type."""

NOTHING = Cost()

CEILINGS = Cost(
    llm_calls=500,
    runtime_seconds=3600.0,
    risk_level=0.8,
    human_attention_minutes=120.0,
    merge_risk=0.7,
    doc_debt=1000.0,
    security_exposure=0.5,
)


class Ledger:
    """What was used of each dimension since the period began."""

    def __init__(self, now: float, ceilings: Cost = CEILINGS, period_s: float = PERIOD_S) -> None:
        """`period_s` 0 means a period without end; `now` is in Unix seconds."""
        self.ceilings = ceilings
        self.period_s = period_s
        self.period_start = now
        self.used = NOTHING

    def violated(self, estimate: Cost, now: float) -> str | None:
        """The first dimension that the estimate would take beyond its ceiling."""
        self.roll(now)
        rows = zip(DIMENSIONS, _amounts(self.used), _amounts(estimate), _amounts(self.ceilings), strict=True)
        for name, used, asked, ceiling in rows:
            if used + asked > ceiling and not (name in _FRACTIONS and ceiling == 1):
                return name
        return None

    def consume(self, cost: Cost, now: float) -> None:
        """Adds the cost to what was used."""
        self.roll(now)
        self.used = self.used.plus(cost)

    def roll(self, now: float) -> bool:
        """Whether the period was over; a new one began now then."""
        if not self.period_s or now - self.period_start < self.period_s:
            return False
        self.restart(now)
        return True

    def restart(self, now: float) -> None:
        """Begins a new period."""
        self.period_start = now
        self.used = NOTHING

    def usage(self, now: float) -> dict[str, object]:
        """Used and ceiling by dimension, and `period_start` among them, as the wire has it."""
        self.roll(now)
        rows: dict[str, object] = {
            name: {"used": _shown(getattr(self.used, name)), "max": getattr(self.ceilings, name)} for name in DIMENSIONS
        }
        return rows | {"period_start": self.period_start}


def reported_cost(value: object) -> Cost | None:
    """The cost that a caller's value states; None where it states none, or none that is valid."""
    if not isinstance(value, Mapping):
        return None
    amounts = cast("Mapping[str, object]", value)
    if not amounts or not amounts.keys() <= set(DIMENSIONS):
        return None
    try:
        return Cost(**cast("dict[str, int]", dict(amounts)))
    except (BadArgument, TypeError):
        return None


def _shown(amount: float) -> float:
    return amount if isinstance(amount, int) else round(amount, 3)
