"""The last line: the keys that help most now."""

from collections.abc import Sequence

from colonizer_tui.keys import Action, Keymap
from colonizer_tui.present.line import Line, Span, spread, width_of


def footer(hints: Sequence[tuple[Action, str]], keymap: Keymap, width: int) -> Line:
    """The hints from the left as far as there is room, and the way to all keys on the right.

    A hint comes with the reason why its key does nothing now, which dims it.
    """
    rest = (Span(keymap.shown("help"), "key"), Span(" help ", "muted"))
    left: list[Span] = [Span(" ")]
    for action, reason in hints:
        hint = (
            Span(action.shown, "key-off" if reason else "key"),
            Span(f" {action.label}  ", "key-off" if reason else "muted"),
        )
        if width_of(left) + width_of(hint) + width_of(rest) > width:
            break
        left += hint
    return spread(tuple(left), rest, width)
