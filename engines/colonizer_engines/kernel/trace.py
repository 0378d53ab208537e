"""One trace of the field."""

import math
from collections.abc import Mapping
from dataclasses import dataclass

from colonizer_engines.kernel.signals import Decay, SignalType, Source


@dataclass(slots=True, eq=False)
class Trace:
    """What one location has of one signal type. A fading trace is not touched: its strength is worked out when read."""

    key: str
    """The name under which it is kept and shown."""
    location: str
    kind: SignalType
    order: int
    """Its place among all traces by the time at which they appeared."""
    strength: float
    """Its strength, 0..10, at the tick `as_of`."""
    as_of: int
    decay: Decay
    source: Source
    evidence: Mapping[str, object]
    """What the newest deposit came with."""
    updated_at: float
    """When it last grew, Unix seconds."""
    last_reinforced: float
    """When it was last deposited, Unix seconds."""
    dies_at: int = -1
    """The tick that removes it; -1 until that is known."""
    rank: float = math.nan
    """The law's number for it; not a number while it has none."""
