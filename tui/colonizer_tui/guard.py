"""The last wall before the terminal: whatever a line holds, no control character leaves.

Texts are made safe where they are decoded; this catches what did not come that way, such as what the person pasted
into a field. Nothing shifts: all characters removed here have no width, and half a character becomes a sign of one.
"""

from rich.segment import Segment
from textual.color import Color
from textual.filter import LineFilter

from colonizer_tui.printable import printable

_MOVING = str.maketrans("", "", "\t\n")
"""A line on the screen has none: they would move the cursor."""


_STAND_INS = {
    "~": "…",
    "-": "—–−─━═▔▁",
    "|": "│┃║▏▎▍▌▋▊▕",
    "+": "╭╮╰╯┌┐└┘├┤┬┴┼✓",
    "#": "▂▃▄▅▆▇█",
    ">": "≥→",
    "<": "≤",
    "^": "↑",
    "v": "↓",
    "x": "×✗",
    ".": "·",
    '"': "“”„",
    "'": "‘’",
}
_ASCII = str.maketrans({sign: plain for plain, signs in _STAND_INS.items() for sign in signs})
"""What our own texts and borders are drawn with, each in one cell, and what stands for it."""


class ControlGuard(LineFilter):
    """Removes control and direction characters, and links, from everything that is drawn.

    Where only ASCII is drawn, our own signs become ASCII too; letters of other scripts stay what they are.
    """

    def __init__(self, *, ascii: bool = False) -> None:  # noqa: A002  # the setting's name
        super().__init__()
        self._ascii = ascii

    def apply(self, segments: list[Segment], background: Color) -> list[Segment]:
        """The same list where nothing was to be removed."""
        del background
        if self._ascii and not all(text.isascii() for text, _, _ in segments):
            segments = [
                segment if segment.control else Segment(segment.text.translate(_ASCII), segment.style)
                for segment in segments
            ]
        if all(text.isprintable() and (style is None or style.link is None) for text, style, _ in segments):
            return segments
        return [
            segment
            if segment.control
            else Segment(printable(segment.text).translate(_MOVING), segment.style and segment.style.update_link(None))
            for segment in segments
        ]
