"""The columns of the heatmap."""

from colonizer_client.kernel.models import SignalType
from colonizer_config.value import Value


class Column(Value):
    """A column of the heatmap."""

    title: str
    short: str
    """Its title where there is little room."""
    family: str
    """Its colours."""
    signals: tuple[SignalType, ...]
    """The traces of which it shows the stronger one."""


HEAT_COLUMNS = (
    Column("hazard", "haz", "hazard", (SignalType.FAILURE, SignalType.RISK)),
    Column("failure", "fail", "hazard", (SignalType.FAILURE,)),
    Column("risk", "risk", "hazard", (SignalType.RISK,)),
    Column("success", "succ", "success", (SignalType.SUCCESS,)),
    Column("need", "need", "need", (SignalType.NEED,)),
    Column("depend", "dep", "need", (SignalType.DEPENDENCY,)),
    Column("human", "hum", "human", (SignalType.HUMAN_PRIORITY,)),
)
"""All columns; the first one is what the gate looks at."""

HAZARD, SUCCESS = 0, 3
