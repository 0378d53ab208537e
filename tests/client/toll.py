"""What a storm cost."""

from collections import Counter
from dataclasses import dataclass, field


@dataclass
class Toll:
    """What went wrong in some runs, and what was met in them."""

    runs: int = 0
    lost: int = 0
    """What did not arrive and of which that was not said, or what arrived and of which that was denied."""
    doubled: int = 0
    misdirected: int = 0
    faults: Counter[str] = field(default_factory=Counter[str])
    failed: list[int] = field(default_factory=list[int])
    """The seeds of the storms in which something went wrong."""

    def add(self, other: "Toll") -> None:
        self.runs += other.runs
        self.lost += other.lost
        self.doubled += other.doubled
        self.misdirected += other.misdirected
        self.faults += other.faults
        self.failed += other.failed

    @property
    def is_clean(self) -> bool:
        return not (self.lost or self.doubled or self.misdirected)
