"""Which words of a diff's lines changed, found for one hunk at a time, when it comes into sight."""

import re
from collections.abc import Iterator, Sequence
from difflib import SequenceMatcher
from itertools import pairwise
from typing import NamedTuple, TypeAlias

from colonizer_tui.present.line import Line, Span

LINE_LIMIT = 2_000
"""A longer line is left without marks: it is data, and would take long."""

HUNK_LIMIT = 100_000
"""A hunk with more characters than this is left without marks: finding them would hold up the keys."""

TOKENS_LIMIT = 60
"""Where more than this differ in the middle of a line, the middle is marked whole."""

WORK_LIMIT = 40_000
"""How many pairs of tokens are compared in one hunk; what is left then has its middle marked whole."""

LEAST_KEPT = 0.3
"""Lines that have less than this share in common are two lines, not one that changed."""

_TOKENS = re.compile(r"\w+|\s+|[^\w\s]")


class Stretch(NamedTuple):
    """A piece of a line's text, from the character `start` to that before `end`."""

    start: int
    end: int


Stretches: TypeAlias = Sequence[Stretch]


def marked(lines: Sequence[str], shown: Sequence[Line]) -> list[Line]:
    """The shown lines of a hunk with the mark of changed words laid over them.

    Args:
        lines: The lines as the diff has them, each with its sign.
        shown: The same lines as they are drawn, without their signs.
    """
    drawn = list(shown)
    if sum(map(len, lines)) > HUNK_LIMIT:
        return drawn
    left = WORK_LIMIT
    for removed, added in _pairs(lines):
        old, new = lines[removed][1:], lines[added][1:]
        gone, come, cost = changed(old, new, left)
        left -= cost
        drawn[removed] = _over(drawn[removed], gone, "removed-word")
        drawn[added] = _over(drawn[added], come, "added-word")
    return drawn


def changed(old: str, new: str, work: int = WORK_LIMIT) -> tuple[Stretches, Stretches, int]:
    """What of the old and of the new line is not in the other one, and how much work it was to find that.

    Nothing, where the lines have too little in common. No more than `work` is done.
    """
    if max(len(old), len(new)) > LINE_LIMIT:
        return (), (), 0
    before, after = _TOKENS.findall(old), _TOKENS.findall(new)
    start = _common(before, after)
    end = _common(before[start:][::-1], after[start:][::-1])
    gone, come = before[start : len(before) - end], after[start : len(after) - end]
    cost = len(gone) * len(come)
    if max(len(gone), len(come)) > TOKENS_LIMIT or cost > work:
        blocks, cost = [(0, len(gone), 0, len(come))], 0
    else:
        matcher = SequenceMatcher(None, gone, come, autojunk=False)
        blocks = [block[1:] for block in matcher.get_opcodes() if block[0] != "equal"]
    lost = _stretches(before, [(start + first, start + last) for first, last, _, _ in blocks])
    won = _stretches(after, [(start + first, start + last) for _, _, first, last in blocks])
    if _share_kept(old, lost) < LEAST_KEPT or _share_kept(new, won) < LEAST_KEPT:
        return (), (), cost
    return lost, won, cost


def _pairs(lines: Sequence[str]) -> Iterator[tuple[int, int]]:
    """Removed and added lines that stand for each other: the first of each run, the second, and so on."""
    removed: list[int] = []
    added: list[int] = []
    for place, line in enumerate((*lines, " ")):
        sign = line[:1]
        if sign == "-" and not added:
            removed.append(place)
        elif sign == "+":
            added.append(place)
        elif sign != "\\":  # git's remark about a missing line feed stands between them
            yield from zip(removed, added, strict=False)
            removed, added = [place] if sign == "-" else [], []


def _common(one: Sequence[str], other: Sequence[str]) -> int:
    """How many tokens both begin with."""
    for count, (left, right) in enumerate(zip(one, other, strict=False)):
        if left != right:
            return count
    return min(len(one), len(other))


def _stretches(tokens: Sequence[str], blocks: Sequence[tuple[int, int]]) -> list[Stretch]:
    """The blocks of tokens as pieces of the line; those with nothing but blanks between them are one."""
    ends = [0]
    for token in tokens:
        ends.append(ends[-1] + len(token))
    found: list[Stretch] = []
    for first, last in blocks:
        if first == last:
            continue
        piece = Stretch(ends[first], ends[last])
        between = "".join(tokens[ends.index(found[-1].end) : first]) if found else "x"
        if not between.strip():
            found[-1] = Stretch(found[-1].start, piece.end)
        else:
            found.append(piece)
    return found


def _share_kept(text: str, lost: Stretches) -> float:
    """The share of a line's letters that did not change; blanks count for nothing."""
    whole = len("".join(text.split()))
    if not whole:
        return 1.0
    gone = sum(len("".join(text[piece.start : piece.end].split())) for piece in lost)
    return 1 - gone / whole


def _over(line: Line, stretches: Stretches, mark: str) -> Line:
    """The line with the mark laid over its stretches."""
    if not stretches:
        return line
    spans: list[Span] = []
    at = 0
    for piece in line:
        cuts = {0, len(piece.text)}
        cuts |= {edge - at for stretch in stretches for edge in stretch if 0 < edge - at < len(piece.text)}
        edges = sorted(cuts)
        for start, end in pairwise(edges):
            is_in = any(stretch.start <= at + start < stretch.end for stretch in stretches)
            spans.append(Span(piece.text[start:end], f"{piece.role}+{mark}" if is_in else piece.role))
        at += len(piece.text)
    return tuple(spans)
