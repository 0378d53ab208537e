"""A line of the screen as data: pieces of text with the role that each plays.

Roles are words of `theme.py`; a role never comes from outside. The text is data that has passed `safe_text`, and it is
put into segments as it is: nothing here or later reads it as markup.
"""

import re
from collections.abc import Iterable
from functools import lru_cache
from typing import NamedTuple, TypeAlias

from rich.cells import cell_len, chop_cells, set_cell_size, split_text

CUT = "…"

LETTERS_PER_CELL = 8
"""A text with more characters for each cell is cut unmeasured: to measure megabytes would hold up the keys."""


class Span(NamedTuple):
    """A piece of a line."""

    text: str
    role: str = ""


Line: TypeAlias = tuple[Span, ...]
"""Pieces from left to right."""

EMPTY: Line = ()


def line(*pieces: Span | str) -> Line:
    """The line of these pieces; plain strings have no role."""
    return tuple(Span(piece) if isinstance(piece, str) else piece for piece in pieces)


def text_of(pieces: Iterable[Span]) -> str:
    """The text of the pieces, without their roles."""
    return "".join(piece.text for piece in pieces)


def width_of(pieces: Iterable[Span]) -> int:
    """How many cells the pieces take."""
    return sum(cell_len(piece.text) for piece in pieces)


def cut(text: str, width: int) -> str:
    """The text in at most `width` cells, its loss marked with `…`."""
    if width <= 0:
        return ""
    if len(text) <= width and text.isascii():
        return text
    if len(text) > LETTERS_PER_CELL * width:
        text = text[: LETTERS_PER_CELL * width]
    elif cell_len(text) <= width:
        return text
    return set_cell_size(text, width - 1).rstrip() + CUT


def cut_front(text: str, width: int) -> str:
    """The end of the text in at most `width` cells, the loss before it marked with `…`: of a path its end says most."""
    if cell_len(text[-LETTERS_PER_CELL * max(width, 1) :]) <= width and len(text) <= LETTERS_PER_CELL * max(width, 1):
        return text
    shown = text[-max(width - 1, 0) :] if width > 1 else ""
    while cell_len(shown) > width - 1:
        shown = shown[1:]
    return (CUT + shown)[: max(width, 0)]


def column(text: str, width: int, *, right: bool = False) -> str:
    """The text in exactly `width` cells."""
    shown = cut(text, width)
    padding = " " * (width - cell_len(shown))
    return padding + shown if right else shown + padding


def fit(pieces: Line, width: int) -> Line:
    """The line cut to `width` cells."""
    fitted: list[Span] = []
    left = width
    for piece in pieces:
        size = left + 1 if len(piece.text) > LETTERS_PER_CELL * (left + 1) else cell_len(piece.text)
        if size > left:
            fitted.append(Span(cut(piece.text, left), piece.role))
            break
        fitted.append(piece)
        left -= size
    return tuple(fitted)


def skip(pieces: Line, cells: int) -> Line:
    """The line without its first `cells` cells; a wide character that would be halved leaves a blank."""
    if not cells:
        return pieces
    shown: list[Span] = []
    for piece in pieces:
        start = piece.text[: LETTERS_PER_CELL * (cells + 1)]
        size = cell_len(start)
        if cells >= size:
            cells -= size
        elif cells:
            shown.append(Span(split_text(start, cells)[1] + piece.text[len(start) :], piece.role))
            cells = 0
        else:
            shown.append(piece)
    return tuple(shown)


def labelled(pieces: Line, label: str) -> Line:
    """The line with the letters to jump to it over its first cells, if there are any letters."""
    return (Span(label, "jump"), *skip(pieces, len(label))) if label else pieces


def spread(left: Line, right: Line, width: int) -> Line:
    """The two lines at the two ends of one of `width` cells; the left one gives way."""
    room = width - width_of(right)
    if room <= 0:
        return fit(right, width)
    shown = fit(left, max(room - 1, 0))
    return (*shown, Span(" " * (room - width_of(shown))), *right)


@lru_cache(maxsize=4096)
def wrap(text: str, width: int, at_most: int | None = None) -> tuple[str, ...]:
    """The text in lines of at most `width` cells, broken between words where that is possible.

    Leading blanks of a line are kept, so that code stays readable. Where there would be more than `at_most` lines, the
    last one shows with `…` that something is left out.
    """
    width = max(width, 1)
    wrapped: list[str] = []
    start = text if at_most is None else text[: LETTERS_PER_CELL * width * at_most]
    for paragraph in start.split("\n"):
        if len(paragraph) <= width and (paragraph.isascii() or cell_len(paragraph) <= width):
            wrapped.append(paragraph)
        else:
            wrapped.extend(_wrap_paragraph(paragraph, width))
    if at_most is not None and (len(wrapped) > at_most or len(start) < len(text)):
        wrapped = wrapped[:at_most]
        wrapped[-1] = cut(wrapped[-1], width - 1).removesuffix(CUT) + CUT
    return tuple(wrapped)


def _wrap_paragraph(paragraph: str, width: int) -> list[str]:
    indent = paragraph[: len(paragraph) - len(paragraph.lstrip(" "))][: min(width // 2, max(width - 2, 0))]
    lines: list[str] = []
    current, used = indent, len(indent)
    for word in paragraph[len(indent) :].split(" "):
        size = cell_len(word)
        needs_blank = len(current) > len(indent)
        if used + needs_blank + size <= width:
            current += " " * needs_blank + word
            used += needs_blank + size
            continue
        if needs_blank:
            lines.append(current)
            current, used = indent, len(indent)
        *whole, word = chop_cells(word, width - len(indent)) or [word]
        lines.extend(indent + piece for piece in whole)
        current += word
        used += cell_len(word)
    lines.append(current)
    return lines


def highlight(pieces: Line, needle: str, role: str) -> Line:
    """The line with every occurrence of `needle`, large or small, in this role."""
    if not needle:
        return pieces
    sought = re.compile(f"({re.escape(needle)})", re.IGNORECASE)
    marked: list[Span] = []
    for piece in pieces:
        parts = enumerate(sought.split(piece.text))
        marked.extend(Span(part, role if place % 2 else piece.role) for place, part in parts if part)
    return tuple(marked)
