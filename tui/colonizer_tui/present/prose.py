"""An agent's prose with the few marks of Markdown that help reading in a terminal.

It is no Markdown parser: nothing is nested and no link is followed. Of a text of any content only the marks around
`code` and **strong** words are left out; the viewer shows them too.
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
    return tuple(_unmarked(part) for part in _MARKS.split(text) if part)


def _unmarked(part: str) -> Span:
    if _MARKS.fullmatch(part) is None:
        return Span(part)
    return Span(part[1:-1], "info") if part[0] == "`" else Span(part[2:-2], "strong")
