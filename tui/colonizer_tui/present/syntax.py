"""Syntax colours of a diff's lines, found for one hunk at a time, when it comes into sight."""

from collections.abc import Sequence
from functools import lru_cache
from typing import TYPE_CHECKING

from colonizer_tui.present.line import Line, Span

if TYPE_CHECKING:
    from pygments.lexer import Lexer

LINE_LIMIT = 2_000
"""A longer line is left without colours: it is data, and would take long."""

HUNK_LIMIT = 200_000
"""A hunk with more characters than this is left without colours: finding them would hold up the keys."""


def coloured(path: str, lines: Sequence[str]) -> list[Line]:
    """The lines of a hunk, without their marks, with roles for the tokens of the file's language.

    Old and new lines are read as two texts, so that a string or comment over several lines stays what it is.
    """
    lexer = _lexer(path)
    texts = [line[1:] for line in lines]
    shown: list[Line] = [(Span(text),) for text in texts]
    sizes = [len(text) for text in texts]
    if lexer is None or max(sizes, default=0) > LINE_LIMIT or sum(sizes) > HUNK_LIMIT:
        return shown
    for marks in (" -", " +"):
        places = [place for place, line in enumerate(lines) if line[:1] in marks and line]
        for place, line in zip(places, _tokens(lexer, [texts[place] for place in places]), strict=False):
            if "".join(piece.text for piece in line) == texts[place]:  # lexers leave out or change odd characters
                shown[place] = line
    return shown


@lru_cache(maxsize=64)
def _lexer(path: str) -> "Lexer | None":
    from pygments.lexers import get_lexer_for_filename  # pyright: ignore[reportUnknownVariableType]  # its options are open
    from pygments.util import ClassNotFound

    try:
        return get_lexer_for_filename(path.rpartition("/")[2], stripnl=False, ensurenl=False)
    except ClassNotFound:
        return None


def _tokens(lexer: "Lexer", texts: Sequence[str]) -> list[Line]:
    lines: list[list[Span]] = [[]]
    for kind, value in lexer.get_tokens("\n".join(texts)):
        role = _role(str(kind))
        for place, part in enumerate(value.split("\n")):
            if place:
                lines.append([])
            if part:
                lines[-1].append(Span(part, role))
    return [tuple(line) for line in lines]


@lru_cache(maxsize=256)
def _role(kind: str) -> str:
    for prefix, role in _ROLES:
        if kind.startswith(prefix):
            return role
    return ""


_ROLES = (
    ("Token.Comment", "syntax-comment"),
    ("Token.Keyword.Type", "syntax-type"),
    ("Token.Keyword", "syntax-keyword"),
    ("Token.Literal.String", "syntax-string"),
    ("Token.Literal.Number", "syntax-number"),
    ("Token.Name.Class", "syntax-type"),
    ("Token.Name.Function", "syntax-name"),
    ("Token.Name.Decorator", "syntax-name"),
    ("Token.Name.Tag", "syntax-name"),
    ("Token.Name.Builtin", "syntax-name"),
    ("Token.Operator", "syntax-operator"),
    ("Token.Generic.Heading", "strong"),
)
