"""What a trace can say, who can leave it, and how fast it fades (spec 5)."""

from collections.abc import Mapping
from enum import Enum, StrEnum


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

    TEST = "test"
    HUMAN = "human"
    SECURITY = "security"
    AGENT = "agent"
    RUNTIME = "runtime"


SOURCE_WEIGHTS: Mapping[Source, float] = {
    Source.TEST: 1.5,
    Source.HUMAN: 2.0,
    Source.SECURITY: 1.5,
    Source.AGENT: 1.0,
    Source.RUNTIME: 1.0,
}
"""What a deposit's strength is multiplied by."""


class Decay(float, Enum):
    """How fast a trace fades, as a multiple of the base evaporation."""

    FAST = 3.0
    NORMAL = 1.0
    SLOW = 0.2


MAX_STRENGTH = 10.0
"""What a trace cannot exceed."""

MAX_DEPOSIT = 1e6
"""What one deposit is cut at before its weights."""

REINFORCEMENT = 0.15
"""What a reinforced trace gains."""


def key_of(location: str, kind: SignalType) -> str:
    """The name under which a location's trace of this type is kept and shown."""
    return location + ":" + kind
