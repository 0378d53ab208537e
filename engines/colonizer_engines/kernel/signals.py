"""What a trace can say, who can leave it, and how fast it fades (spec 5)."""

from enum import StrEnum
from typing import NewType


class SignalType(StrEnum):
    """What a trace says about its location."""

    FAILURE = "failure"
    SUCCESS = "success"
    RISK = "risk"
    NEED = "need"
    DEPENDENCY = "dependency"
    HUMAN_PRIORITY = "human_priority"


class Source(StrEnum):
    """Who left a trace."""

    weight: float
    """What a deposit's strength is multiplied by."""

    def __new__(cls, value: str, weight: float) -> "Source":
        """The source with this name and weight."""
        source = str.__new__(cls, value)
        source._value_ = value
        source.weight = weight
        return source

    TEST = "test", 1.5
    HUMAN = "human", 2.0
    SECURITY = "security", 1.5
    AGENT = "agent", 1.0
    RUNTIME = "runtime", 1.0


Decay = NewType("Decay", float)
"""How fast a trace fades, as a multiple of the base evaporation."""

FAST = Decay(3.0)
NORMAL = Decay(1.0)
SLOW = Decay(0.2)

MAX_STRENGTH = 10.0
"""What a trace cannot exceed."""

MAX_DEPOSIT = 1e6
"""What one deposit is cut at before its weights."""

REINFORCEMENT = 0.15
"""What a reinforced trace gains."""


def key_of(location: str, kind: SignalType) -> str:
    """The name under which a location's trace of this type is kept and shown."""
    return location + ":" + kind
