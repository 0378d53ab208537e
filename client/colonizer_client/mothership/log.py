"""Keeps the place in a colony's log over reconnections: what is new, what is a repetition, what is missing.

Sans I/O. The rules are those of spec 3.3: remember (epoch, seq), drop what is not above seq, start anew when the
epoch differs. Numbers are counted without a hole, so that a jump means that something was lost on the way.
"""

from dataclasses import dataclass
from enum import Enum, auto


class Verdict(Enum):
    """What to do with a frame."""

    TAKE = auto()
    DROP = auto()
    """It was had before."""
    GAP = auto()
    """Take it, but events before it are missing: see `Place.missing`."""


@dataclass(slots=True)
class Place:
    """The place in one colony's log. `epoch` 0 means that nothing was had yet."""

    epoch: int = 0
    seq: int = 0
    missing: tuple[int, int] | None = None
    """First and last number of the newest hole, None where there is none."""

    def start_run(self, epoch: int) -> bool:
        """Notes the run that a connection is about; True when it is another one, so that all had before is past."""
        if epoch == self.epoch:
            return False
        self.epoch, self.seq, self.missing = epoch, 0, None
        return True

    def start_at(self, oldest_seq: int) -> None:
        """Notes that a page of history begins here: what lies before is older, not missing."""
        if self.seq == 0:
            self.seq = max(oldest_seq - 1, 0)

    def judge(self, seq: int) -> Verdict:
        """What to do with the event of this number; moves the place when it is taken."""
        if seq <= self.seq:
            return Verdict.DROP
        jumped = seq > self.seq + 1
        if jumped:
            self.missing = (self.seq + 1, seq - 1)
        self.seq = seq
        return Verdict.GAP if jumped else Verdict.TAKE
