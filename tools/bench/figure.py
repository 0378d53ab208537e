"""A figure as it is printed, and what is made of several measurements."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import median

__all__ = ["Figure", "median", "percentile"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Figure:
    """One measured figure."""

    name: str
    value: float
    unit: str
    target: float | None = None
    """The most that it may be."""
    peer: float | None = None
    """The same of the peer, measured in the same run."""
    peer_name: str = ""
    note: str = ""

    def print(self) -> None:
        """Prints the figure as one line of JSON."""
        shown = {
            "name": self.name,
            "value": _rounded(self.value),
            "unit": self.unit,
            "target": self.target,
            "peer": None if self.peer is None else _rounded(self.peer),
            "ratio": None if not self.peer else round(self.value / self.peer, 2),
        }
        shown |= {name: words for name, words in (("peer_name", self.peer_name), ("note", self.note)) if words}
        print(json.dumps(shown), flush=True)


def percentile(values: Sequence[float], part: float) -> float:
    """The value below which this part of the values lies, 0..1."""
    ordered = sorted(values)
    return ordered[min(int(part * len(ordered)), len(ordered) - 1)]


def _rounded(value: float) -> float:
    return round(value, 2 if abs(value) < 100 else 1)
