"""An agent's prose with the few marks of Markdown that help reading in a terminal.

It is no Markdown parser: nothing is nested, nothing is hidden, no link is followed. A text of any content comes out
with all its characters, only in other roles.
"""

import re

from colonizer_tui.present.line import Line, Span, wrap

_FENCE = re.compile(r"\s*(```|~~~)")
_HEADING = re.compile(r"#{1,6} ")
_MARKS = re.compile(r"(`[^`\n]+`|\*\*[^*\n]+\*\*)")


def lines(text: str, width: int) -> list[Line]:
    """The text in lines of at most `width` cells."""
    shown: list[Line] = []
    in_code = False
    for paragraph in text.split("\n"):
        if _FENCE.match(paragraph):
            in_code = not in_code
            shown += [(Span(part, "dim"),) for part in wrap(paragraph, width)]
        elif in_code:
            shown += [(Span(part, "info"),) for part in wrap(paragraph, width)]
        elif _HEADING.match(paragraph):
            shown += [(Span(part, "strong"),) for part in wrap(paragraph, width)]
        else:
            shown += [_marked(part) for part in wrap(paragraph, width)]
    return shown


def _marked(text: str) -> Line:
    if "`" not in text and "**" not in text:
        return (Span(text),) if text else ()
    return tuple(Span(part, _role(part)) for part in _MARKS.split(text) if part)


def _role(part: str) -> str:
    if len(part) > 2 and part[0] == part[-1] == "`":
        return "info"
    return "strong" if len(part) > 4 and part.startswith("**") and part.endswith("**") else ""
