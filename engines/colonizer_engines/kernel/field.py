"""The pheromone field: traces by location and signal type, and how they grow and fade (spec 5).

A tick costs what it removes: each trace stands in the bucket of the tick at which it goes.
"""

import math
from collections.abc import Iterable, Iterator, Mapping
from itertools import takewhile

import msgspec

from colonizer_engines.kernel.errors import BadArgument
from colonizer_engines.kernel.evaporation import Evaporation
from colonizer_engines.kernel.ranking import Ranking
from colonizer_engines.kernel.signals import (
    MAX_DEPOSIT,
    MAX_STRENGTH,
    REINFORCEMENT,
    Decay,
    SignalType,
    Source,
    key_of,
)
from colonizer_engines.kernel.trace import Trace

_DEPENDENCY = f":{SignalType.DEPENDENCY}"
"""What a key holds that stands for a dependency; a location may hold it too (spec 12)."""


class Deposit(msgspec.Struct, frozen=True, gc=False):
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


class Field:
    """All traces, at one tick."""

    def __init__(self, law: Evaporation) -> None:
        self._law = law
        self._traces: dict[str, Trace] = {}
        self._dependencies: dict[str, Trace] = {}
        """Those traces whose keys stand for dependencies, in the order of their last deposits."""
        self._dying: dict[int, dict[Trace, None]] = {}
        self._ranking = Ranking()
        self._unranked: dict[Trace, None] = {}
        """Traces that grew since somebody asked for the strongest."""
        self._appeared = 0
        self._tick = 0

    def __len__(self) -> int:
        """The number of traces."""
        return len(self._traces)

    def __iter__(self) -> Iterator[Trace]:
        """All traces, oldest first."""
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
        """The trace that the deposit made or made stronger; None where nothing came of it.

        Raises:
            BadArgument: The location is empty, or the strength is negative or no number.
        """
        if not deposit.location:
            raise BadArgument("location", "location must not be empty")
        if not deposit.strength >= 0:
            raise BadArgument("strength", f"strength must be 0 or more, not {deposit.strength}")
        added = min(deposit.strength, MAX_DEPOSIT) * deposit.source.weight * deposit.trust
        key = key_of(deposit.location, deposit.kind)
        trace = self._traces.get(key)
        if trace is None:
            if added <= 0:
                return None
            trace = self._appear(key, deposit)
        strength = self.strength_of(trace)
        trace.decay, trace.source, trace.evidence = deposit.decay, deposit.source, deposit.evidence
        trace.last_reinforced = now
        if _DEPENDENCY in key:
            self._dependencies.pop(key, None)
            self._dependencies[key] = trace
        self._grow(trace, strength + added, now)
        return trace

    def reinforce(self, location: str, kind: SignalType, now: float) -> Trace | None:
        """The location's trace of this type, made a little stronger; None where it has none."""
        trace = self._traces.get(key_of(location, kind))
        if trace is not None:
            self._grow(trace, self.strength_of(trace) + REINFORCEMENT, now)
        return trace

    def advance(self) -> tuple[Trace, ...]:
        """The traces that this tick removed."""
        self._tick += 1
        gone = tuple(self._dying.pop(self._tick, ()))
        if len(gone) == len(self._traces):
            self._forget_all()
            return gone
        for trace in gone:
            del self._traces[trace.key]
            trace.rank = math.nan
        if self._unranked:
            for trace in gone:
                self._unranked.pop(trace, None)
        if self._dependencies:
            for trace in gone:
                self._dependencies.pop(trace.key, None)
        return gone

    def clear(self) -> int:
        """How many traces there were; none is left, and the ticks start anew."""
        cleared = len(self._traces)
        self._forget_all()
        self._tick = 0
        return cleared

    def restore(self, traces: Iterable[Trace], tick: int) -> None:
        """Takes over what an earlier field had at this tick, in place of all that is here."""
        self.clear()
        self._tick = tick
        for trace in sorted(traces, key=lambda trace: trace.order):
            self._traces[trace.key] = trace
            self._appeared = trace.order + 1
            self.strength_of(trace)
            self._schedule(trace)
        self._unranked = dict.fromkeys(self._traces.values())
        dependencies = [(key, trace) for key, trace in self._traces.items() if _DEPENDENCY in key]
        self._dependencies.update(sorted(dependencies, key=lambda pair: pair[1].last_reinforced))

    def strongest(self, limit: int) -> list[Trace]:
        """Up to `limit` traces, strongest first; ties by age."""
        for trace in self._unranked:
            trace.rank = self._law.rank(self.strength_of(trace), trace.decay, self._tick)
        self._ranking.put(self._unranked)
        self._unranked.clear()
        return self.by_strength(self._ranking.candidates(limit, len(self._traces)))[:limit]

    def by_strength(self, traces: Iterable[Trace]) -> list[Trace]:
        """The traces, strongest first; ties by age."""
        return sorted(traces, key=lambda trace: (-self.strength_of(trace), trace.order))

    def dependencies_before(self, moment: float) -> list[Trace]:
        """The traces that stand for dependencies and were last deposited before the moment, in Unix seconds."""
        return list(takewhile(lambda trace: trace.last_reinforced < moment, self._dependencies.values()))

    def pressure(self, location: str, kind: SignalType) -> list[Trace]:
        """The traces of this type at the location and below it (after `.` or `/`), strongest first."""
        below = (location + ".", location + "/")
        return self.by_strength(
            trace
            for trace in self._traces.values()
            if trace.kind is kind and (trace.location == location or (location and trace.location.startswith(below)))
        )

    def _appear(self, key: str, deposit: Deposit) -> Trace:
        trace = self._traces[key] = Trace(
            key,
            deposit.location,
            deposit.kind,
            self._appeared,
            0.0,
            self._tick,
            deposit.decay,
            deposit.source,
            deposit.evidence,
            0.0,
            0.0,
        )
        self._appeared += 1
        return trace

    def _grow(self, trace: Trace, strength: float, now: float) -> None:
        trace.strength = min(strength, MAX_STRENGTH)
        trace.updated_at = now
        self._unranked[trace] = None
        self._schedule(trace)

    def _schedule(self, trace: Trace) -> None:
        """Puts the trace into the bucket of the tick at which it goes."""
        dies_at = self._tick + self._law.lifetime(trace.strength, trace.decay)
        if dies_at == trace.dies_at:
            return
        bucket = self._dying.get(trace.dies_at)
        if bucket is not None:
            del bucket[trace]
            if not bucket:
                del self._dying[trace.dies_at]
        trace.dies_at = dies_at
        self._dying.setdefault(dies_at, {})[trace] = None

    def _forget_all(self) -> None:
        self._traces.clear()
        self._dependencies.clear()
        self._dying.clear()
        self._ranking.clear()
        self._unranked.clear()
