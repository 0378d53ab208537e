"""The course of a strength as a row of little bars."""

from collections.abc import Sequence

from colonizer_client.kernel.preset import STRENGTH_LIMIT
from colonizer_tui.present.states import Glyphs

_BARS = (" ▁▂▃▄▅▆▇█", " .:-=+*#@")
"""From nothing to the greatest strength; and in ASCII."""


def spark(strengths: Sequence[float | None], glyphs: Glyphs, most: float = STRENGTH_LIMIT) -> str:
    """One bar for each strength; a dot where it is not known."""
    bars = _BARS[glyphs.ascii]
    return "".join(glyphs["unknown"] if one is None else bars[_height(one / most)] for one in strengths)


def _height(share: float) -> int:
    """A trace that there is, is seen."""
    return 0 if share <= 0 else min(max(round(share * 8), 1), 8)
