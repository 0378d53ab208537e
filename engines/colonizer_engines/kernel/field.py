"""The pheromone field: traces by location and signal type, and how they grow and fade (spec 5).

A tick costs what it removes: each trace stands in the bucket of the tick at which it goes.
"""

import math
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import takewhile

from colonizer_engines.kernel.errors import BadArgument
from colonizer_engines.kernel.evaporation import Evaporation
from colonizer_engines.kernel.ranking import Ranking
from colonizer_engines.kernel.signals import (
    MAX_DEPOSIT,
    MAX_STRENGTH,
    REINFORCEMENT,
    SOURCE_WEIGHTS,
    Decay,
    SignalType,
    Source,
    key_of,
)
from colonizer_engines.kernel.trace import Trace

_GONE = math.nan


@dataclass(frozen=True, slots=True)
class Deposit:
    """What somebody leaves at a location."""

    location: str
    kind: SignalType
    strength: float
    """Before the weight of the source and the trust."""
    decay: Decay
    source: Source
    evidence: Mapping[str, object]
    trust: float = 1.0
    """How far the one who leaves it is trusted, 0..1."""

    def __post_init__(self) -> None:
        """Checks the place and the strength.

        Raises:
            BadArgument: The location is empty, or the strength is negative or no number.
        """
        if not self.location:
            raise BadArgument("location", "location must not be empty")
        if not self.strength >= 0:
            raise BadArgument("strength", f"strength must be 0 or more, not {self.strength}")


class Field:
    """All traces, at one tick."""

    def __init__(self, law: Evaporation) -> None:
        self._law = law
        self._traces: dict[str, Trace] = {}
        self._dying: dict[int, set[Trace]] = {}
        self._ranking = Ranking()
        self._appeared = 0
        self._tick = 0

    def __len__(self) -> int:
        """The number of traces."""
        return len(self._traces)

    def __iter__(self) -> Iterator[Trace]:
        """All traces, those first that were deposited longest ago."""
        return iter(self._traces.values())

    @property
    def tick(self) -> int:
        """The number of ticks since the start or the last reset."""
        return self._tick

    def find(self, location: str, kind: SignalType) -> Trace | None:
        """The location's trace of this type."""
        return self._traces.get(key_of(location, kind))

    def strength(self, location: str, kind: SignalType) -> float:
        """How strong the location's trace of this type is now; 0 where it has none."""
        trace = self._traces.get(key_of(location, kind))
        return self.strength_of(trace) if trace else 0.0

    def strength_of(self, trace: Trace) -> float:
        """How strong the trace is now."""
        if trace.as_of != self._tick:
            trace.strength = self._law.after(trace.strength, trace.decay, self._tick - trace.as_of)
            trace.as_of = self._tick
        return trace.strength

    def deposit(self, deposit: Deposit, now: float) -> Trace | None:
        """The trace that the deposit made or made stronger; None where nothing came of it."""
        added = min(deposit.strength, MAX_DEPOSIT) * SOURCE_WEIGHTS[deposit.source] * deposit.trust
        trace = self._traces.get(key_of(deposit.location, deposit.kind))
        if trace is None:
            if added <= 0:
                return None
            trace = self._appear(deposit, now)
            strength = 0.0
        else:
            strength = self.strength_of(trace)
        if deposit.decay is not trace.decay:
            trace.decay, trace.rank = deposit.decay, _GONE
        trace.source, trace.evidence = deposit.source, deposit.evidence
        # The traces stand in the order of their last deposits.
        key = key_of(deposit.location, deposit.kind)
        self._traces[key] = self._traces.pop(key)
        trace.updated_at = trace.last_reinforced = now
        self._set_strength(trace, min(strength + added, MAX_STRENGTH))
        return trace

    def reinforce(self, location: str, kind: SignalType, now: float) -> Trace | None:
        """The location's trace of this type, made a little stronger; None where it has none."""
        trace = self._traces.get(key_of(location, kind))
        if trace is not None:
            trace.updated_at = now
            self._set_strength(trace, min(self.strength_of(trace) + REINFORCEMENT, MAX_STRENGTH))
        return trace

    def advance(self) -> tuple[Trace, ...]:
        """The traces that this tick removed."""
        self._tick += 1
        gone = tuple(self._dying.pop(self._tick, ()))
        for trace in gone:
            trace.rank = _GONE
            del self._traces[key_of(trace.location, trace.kind)]
        return gone

    def clear(self) -> int:
        """How many traces there were; none is left, and the ticks start anew."""
        cleared = len(self._traces)
        for trace in self._traces.values():
            trace.rank = _GONE
        self._traces.clear()
        self._dying.clear()
        self._ranking.clear()
        self._tick = 0
        return cleared

    def restore(self, traces: Iterable[Trace], tick: int) -> None:
        """Takes over what an earlier field had at this tick, in place of all that is here."""
        self.clear()
        self._tick = tick
        for trace in sorted(traces, key=lambda trace: trace.last_reinforced):
            self._traces[key_of(trace.location, trace.kind)] = trace
            self._appeared = max(self._appeared, trace.order + 1)
            trace.dies_at = -1
            self._set_strength(trace, self.strength_of(trace))

    def strongest(self, limit: int) -> list[Trace]:
        """Up to `limit` traces, strongest first; ties by age."""
        return self.by_strength(self._ranking.candidates(limit))[:limit]

    def by_strength(self, traces: Iterable[Trace]) -> list[Trace]:
        """The traces, strongest first; ties by age."""
        return sorted(traces, key=lambda trace: (-self.strength_of(trace), trace.order))

    def last_deposited_before(self, moment: float) -> list[Trace]:
        """The traces whose last deposit was before the moment, in Unix seconds."""
        return list(takewhile(lambda trace: trace.last_reinforced < moment, self._traces.values()))

    def pressure(self, location: str, kind: SignalType) -> list[Trace]:
        """The traces of this type at the location and below it (after `.` or `/`), strongest first."""
        below = (location + ".", location + "/")
        return self.by_strength(
            trace
            for trace in self._traces.values()
            if trace.kind is kind and (trace.location == location or (location and trace.location.startswith(below)))
        )

    def _appear(self, deposit: Deposit, now: float) -> Trace:
        trace = Trace(
            location=deposit.location,
            kind=deposit.kind,
            order=self._appeared,
            strength=0.0,
            as_of=self._tick,
            dies_at=-1,
            rank=_GONE,
            decay=deposit.decay,
            source=deposit.source,
            evidence=deposit.evidence,
            updated_at=now,
            last_reinforced=now,
        )
        self._appeared += 1
        self._traces[key_of(deposit.location, deposit.kind)] = trace
        return trace

    def _set_strength(self, trace: Trace, strength: float) -> None:
        trace.strength = strength
        trace.as_of = self._tick
        dies_at = self._tick + self._law.lifetime(strength, trace.decay)
        if dies_at != trace.dies_at:
            self._move(trace, dies_at)
        rank = self._law.rank(strength, trace.decay, self._tick)
        if rank != trace.rank:
            trace.rank = rank
            self._ranking.put(trace, len(self._traces))

    def _move(self, trace: Trace, dies_at: int) -> None:
        bucket = self._dying.get(trace.dies_at)
        if bucket is not None:
            bucket.discard(trace)
            if not bucket:
                del self._dying[trace.dies_at]
        trace.dies_at = dies_at
        self._dying.setdefault(dies_at, set()).add(trace)
