"""The last line: the keys that help most now."""

from collections.abc import Sequence

from colonizer_config.value import Value
from colonizer_tui.present.line import CUT, Line, Span, spread, width_of


class KeyHint(Value):
    """A key and what it does where you are."""

    key: str
    """As a person reads it; several keys may be named at once."""
    label: str
    reason: str = ""
    """Why it does nothing now, which dims it."""

    def pieces(self) -> Line:
        """As it is drawn."""
        return (
            Span(self.key, "key-off" if self.reason else "key"),
            Span(f" {self.label}  ", "key-off" if self.reason else "muted"),
        )


def footer(hints: Sequence[KeyHint], rest: KeyHint | None, width: int) -> Line:
    """The hints from the left, and the way to all keys on the right; where room is short, the dimmed ones go first.

    A key is there whole or not at all; `…` beside the way to all keys says that some are not.
    """
    right: Line = () if rest is None else (*rest.pieces()[:-1], Span(f" {rest.label} ", "muted"))
    more = Span(f"{CUT}  ", "muted")
    room = width - 2 - width_of(right)  # a blank before the hints, and one after them
    sizes = [width_of(hint.pieces()) for hint in hints]
    shown: set[int] = set(range(len(hints)))
    if sum(sizes) > room:
        right, room = (more, *right), room - width_of((more,))
        shown.clear()
        for place in sorted(range(len(hints)), key=lambda place: bool(hints[place].reason)):
            room -= sizes[place]
            if room < 0:
                break
            shown.add(place)
    left = [piece for place in sorted(shown) for piece in hints[place].pieces()]
    return spread((Span(" "), *left), right, width)
