"""Keeps the place in a colony's log over reconnections: what is new, what is a repetition, what is missing.

Sans I/O. The rules are those of spec 3.3: remember (epoch, seq), drop what is not above seq, start anew when the
epoch differs. Numbers are counted without a hole, so that a jump means that something was lost on the way. It is asked
for once more, from the place that was reached; what is missing then is lost.
"""

from enum import Enum, auto

from msgspec import Struct, field

REMEMBERED = 512
"""Events whose time is remembered: one that comes again with another time is another event."""


class Verdict(Enum):
    """What to do with an event."""

    TAKE = auto()
    DROP = auto()
    """It was had before."""
    GAP = auto()
    """Events before it are missing: ask again from the place; this one comes again then."""
    LOST = auto()
    """Take it; what `Place.missing` names was asked for again in vain."""
    RESTART = auto()
    """The numbers began anew in the same run: what was had is of a log that is no more."""


class Place(Struct):
    """The place in one colony's log. `epoch` 0 means that nothing was had yet."""

    epoch: int = 0
    seq: int = 0
    missing: tuple[int, int] | None = None
    """First and last number of the newest hole, None where there is none."""
    _asked_again_from: int | None = None
    _times: dict[int, float | None] = field(default_factory=dict[int, float | None])

    def start_run(self, epoch: int) -> bool:
        """Notes the run that a connection is about; True when it is another one, so that all had before is past."""
        if epoch == self.epoch:
            return False
        self.epoch, self.seq, self.missing, self._asked_again_from = epoch, 0, None, None
        self._times.clear()
        return True

    def start_at(self, oldest_seq: int) -> None:
        """Notes that a page of history begins here: what lies before is older, not missing."""
        if self.seq == 0:
            self.seq = max(oldest_seq - 1, 0)

    def judge(self, seq: int, at: float | None, *, is_live: bool) -> Verdict:
        """What to do with the event of this number and time; moves the place when it is taken.

        Before `is_live` the server repeats its log, maybe from before the place; afterwards it sends only new events.
        """
        if seq <= self.seq:
            if seq in self._times:
                return Verdict.DROP if self._times[seq] == at else Verdict.RESTART
            return Verdict.RESTART if is_live else Verdict.DROP
        verdict = self._reach(seq - 1)
        if verdict is not Verdict.GAP:
            self.seq = seq
            self._times[seq] = at
            if len(self._times) > REMEMBERED:
                del self._times[next(iter(self._times))]
        return verdict

    def replayed(self, seq: int) -> Verdict:
        """What to do when the server has sent its log up to this number: a hole at the end is a hole too."""
        return self._reach(seq)

    def _reach(self, seq: int) -> Verdict:
        """Whether everything up to `seq` was had, asked for in vain, or has to be asked for."""
        if seq <= self.seq:
            return Verdict.TAKE
        if self._asked_again_from != self.seq:
            self._asked_again_from = self.seq
            return Verdict.GAP
        self.missing = (self.seq + 1, seq)
        self.seq = seq
        return Verdict.LOST
