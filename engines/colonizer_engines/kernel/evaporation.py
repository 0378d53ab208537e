"""The laws by which traces fade: what a strength becomes, and when a trace is gone.

Strengths are those of one step after the other, never of one product: a recorded strength differs from the
product in its last bits, and so does the tick at which the trace goes.
"""

import math
from dataclasses import dataclass
from functools import lru_cache
from typing import Protocol

_UNSURE = 1e-9
"""How near to a whole number of ticks the quotient leaves open which tick is the last; 501 roundings stay below it."""


class Evaporation(Protocol):
    """How traces fade, tick by tick."""

    def after(self, strength: float, decay: float, ticks: int) -> float:
        """The strength that is left after so many ticks, all of which the trace outlives."""
        ...

    def lifetime(self, strength: float, decay: float) -> int:
        """The number of ticks at whose last one the trace goes; at least 1."""
        ...

    def rank(self, strength: float, decay: float, tick: int) -> float:
        """A number that does not change as the trace fades, larger for a stronger trace of the same `decay`."""
        ...

    @property
    def described(self) -> dict[str, object]:
        """`kind`, `base` and `gone_at`, by which another program can foretell a strength."""
        ...


@dataclass(frozen=True, slots=True)
class LinearEvaporation:
    """Every tick takes the same off; a trace goes at 0."""

    base: float
    """What a tick takes from a trace of NORMAL decay."""

    def after(self, strength: float, decay: float, ticks: int) -> float:
        """The strength that is left after so many ticks."""
        loss = self.base * decay
        for _ in range(ticks):
            strength -= loss
        return strength

    def lifetime(self, strength: float, decay: float) -> int:
        """The number of ticks at whose last one nothing is left."""
        ticks = strength / (self.base * decay)
        whole = math.ceil(ticks - _UNSURE)
        if whole == math.ceil(ticks + _UNSURE) and whole > 0:
            return whole
        return _counted_linear(strength, self.base * decay)

    def rank(self, strength: float, decay: float, tick: int) -> float:
        """The strength that the trace would have had at tick 0."""
        return strength + self.base * decay * tick

    @property
    def described(self) -> dict[str, object]:
        """The law in numbers."""
        return {"kind": "linear", "base": self.base, "gone_at": 0.0}


@lru_cache(maxsize=4096)
def _counted_linear(strength: float, loss: float) -> int:
    ticks = 1
    strength -= loss
    while strength > 0:
        strength -= loss
        ticks += 1
    return ticks


@dataclass(frozen=True, slots=True)
class ProportionalEvaporation:
    """Every tick takes the same share; a trace goes when no more than `gone_at` is left."""

    base: float
    """The share that a tick takes from a trace of NORMAL decay."""
    gone_at: float

    def after(self, strength: float, decay: float, ticks: int) -> float:
        """The strength that is left after so many ticks."""
        kept = 1 - self.base * decay
        for _ in range(ticks):
            strength *= kept
        return strength

    def lifetime(self, strength: float, decay: float) -> int:
        """The number of ticks at whose last one no more than `gone_at` is left."""
        kept = 1 - self.base * decay
        if strength > self.gone_at:
            ticks = math.log(self.gone_at / strength) / math.log(kept)
            whole = math.ceil(ticks - _UNSURE)
            if whole == math.ceil(ticks + _UNSURE) and whole > 0:
                return whole
        return _counted_proportional(strength, kept, self.gone_at)

    def rank(self, strength: float, decay: float, tick: int) -> float:
        """The logarithm of the strength that the trace would have had at tick 0."""
        return math.log(strength) - math.log(1 - self.base * decay) * tick

    @property
    def described(self) -> dict[str, object]:
        """The law in numbers."""
        return {"kind": "proportional", "base": self.base, "gone_at": self.gone_at}


@lru_cache(maxsize=4096)
def _counted_proportional(strength: float, kept: float, gone_at: float) -> int:
    ticks = 1
    strength *= kept
    while strength > gone_at:
        strength *= kept
        ticks += 1
    return ticks
