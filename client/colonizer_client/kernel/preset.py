"""Which rules a kernel goes by, as far as a screen has to know them (kernel spec 5, 8, 10–12; kernel rules).

The engine keeps its own table: a client speaks to kernels that are not ours, and imports none.
"""

import math
from typing import Protocol

from colonizer_config.value import Value

EXECUTE_AT = 0.75
HOLD_AT = 0.50
HAZARD_LOW = 3.0
HAZARD_HIGH = 6.0
STRENGTH_LIMIT = 10.0
TRUST_FLOOR = 0.30
"""Below this the gate refuses whatever else holds."""
TRUST_FULL = 0.60
"""From this on trust counts in full."""
START_TRUST = 0.1
TRUST_PER_PASS = 0.04
MIN_PROPOSALS = 3
"""Below this many an agent stays in the sandbox."""
LADDER = ((0.20, "repair_ant"), (0.35, "memory_ant"), (0.50, "dispatcher"), (0.70, "guard_ant"))
"""The trust from which on a role is held, lowest first."""
FAILURE_LIMIT = 3
FAILURES_COUNTED = 10
"""So many failures among so many of the last outcomes lower the trust term."""
PROTECTED_DEPENDENCY = 2.0

_ROUNDING = 1e-9


class Law(Protocol):
    """How traces fade, tick by tick."""

    def after(self, strength: float, decay: float, ticks: int) -> float:
        """What is left after so many ticks, 0 where the trace is gone; to 1e-9, not to the last bit."""
        ...

    def ticks_until(self, level: float, strength: float, decay: float) -> int:
        """The ticks until the strength is below the level, or until the trace is gone where the level is 0."""
        ...


class LinearLaw(Value):
    """Every tick takes the same off; a trace goes at 0."""

    base: float = 0.1

    def after(self, strength: float, decay: float, ticks: int) -> float:
        """What is left after so many ticks."""
        left = strength - self.base * decay * ticks
        return left if left > _ROUNDING else 0.0

    def ticks_until(self, level: float, strength: float, decay: float) -> int:
        """The ticks until the strength is below the level."""
        loss = self.base * decay
        if strength <= 0 or strength < level or loss <= 0:
            return 0
        ticks = (strength - level) / loss
        # At 0 a trace is gone; at any other level it has to fall below.
        return math.ceil(ticks - _ROUNDING) if level <= 0 else math.floor(ticks + _ROUNDING) + 1


class ProportionalLaw(Value):
    """Every tick takes the same share; a trace goes when no more than `gone_at` is left."""

    base: float = 0.1
    gone_at: float = 0.01

    def after(self, strength: float, decay: float, ticks: int) -> float:
        """What is left after so many ticks."""
        left = strength * self._kept(decay) ** ticks if ticks else strength
        return left if not ticks or left > self.gone_at + _ROUNDING else 0.0

    def ticks_until(self, level: float, strength: float, decay: float) -> int:
        """The ticks until the strength is below the level."""
        if strength <= 0 or strength < level:
            return 0
        kept, is_end = self._kept(decay), level <= self.gone_at
        if not 0 < kept < 1:
            return 0
        ticks = math.log((self.gone_at if is_end else level) / strength) / math.log(kept)
        return max(1, math.ceil(ticks - _ROUNDING) if is_end else math.floor(ticks + _ROUNDING) + 1)

    def _kept(self, decay: float) -> float:
        return 1 - self.base * decay


class Preset(Value):
    """The rules in which kernels differ and that show on a screen."""

    name: str
    law: Law
    feeds_budgets: bool
    """Whether outcomes that come over MCP cost anything."""
    counts_outcomes: bool
    """Whether an outcome counts as a proposal, so that an agent climbs by outcomes alone."""


SEED = Preset("seed", ProportionalLaw(), feeds_budgets=True, counts_outcomes=False)
CODOMYRMEX = Preset("codomyrmex-1.3", LinearLaw(), feeds_budgets=False, counts_outcomes=True)
