"""Texts that are made to steer a terminal, values of wrong types, and whether what came of them is safe to show."""

import re
import unicodedata
from collections.abc import Iterator, Mapping
from typing import cast

from msgspec import Struct
from msgspec.structs import asdict

from colonizer_client.identity import ColonyKey
from colonizer_client.mothership.stream import Removed
from colonizer_client.text import MARKS_KEPT

ATTACKS = (
    "\x1b]52;c;UFdORUQ=\x07",
    "\x1b]0;a title\x1b\\",
    "\x1b]8;;http://evil.example/\x1b\\a link\x1b]8;;\x1b\\",
    "\x1bP1;2|a macro\x1b\\",
    "\x1b_a program\x1b\\",
    "\x1b[2J\x1b[H",
    "\x1b[?1049l\x1b[?2004l\x1b[?25h",
    "\x1b[6n\x1b[c",
    "\x1bc",
    "\x1b[31m",
    "\x9b31m\x9d0;a title\x9c\x90q\x9c",
    "\x00\x05\x07\x08\x0b\x0c\x0e\x0f\x7f",
    "\ra fake line\r\nanother\nthird",
    "\ta\tb",
    "\u202eback\u202c\u2066apart\u2069\u061c\u200e\u200f",
    "\u200b\u200c\u200d\u2060\ufeff\u00ad\U000e0041",
    "\u2028\u2029\x85",
    "\udfff\ud800",
    "e" + "\u0301\u0323" * 40,
    "\u3164\u115f\u034f\ufe0f",
    "[/][bold][@click=app.quit]press[/][link=http://evil.example]me[$x]",
    "\ufdfd\U00012031\U0001f468\u200d\U0001f469\u200d\U0001f467字" * 2,
    "\ue000\U000f0000\uffff\ufffe",
)
"""Clipboard, title, link, macro, program, erasure, modes, reports, reset, colour, the same in eight bits, single
controls, fake lines, tabs, direction, zero width, separators, halves of a character, piled marks, fillers, markup,
wide letters, private use."""

WRONG: list[object] = [
    None, True, 0, -1, 2**64, 1.5, float("nan"), float("inf"), "", "\ud800\x1b[2J", "x" * 5000, [], [None], [[]], {},
    {"reason": 5, "since": [], "at": {}, "retry_at": "soon"}, {"reason": "\x1b]0;x\x07", "kept": "yes"}, [{"id": 1}],
]  # fmt: skip
"""For any field of the wire."""


FILLERS = "\u034f\u115f\u1160\u17b4\u17b5\u3164\uffa0\ufe0e\ufe0f\U000e0100"
"""Letters and marks that draw nothing, though Python counts them as printable."""

_FILLER = re.compile(f"[{FILLERS}]")
_PILE = re.compile(f"[\u0300-\u036f]{{{MARKS_KEPT + 1},}}")


def hidden(text: str) -> list[str]:
    """Every character that acts, hides or is no character, with what stands around it."""
    if text.isprintable() and (text.isascii() or _FILLER.search(text) is None):
        return []
    kinds = ("Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp")
    places = [at for at, letter in enumerate(text) if letter in FILLERS or unicodedata.category(letter) in kinds]
    return [text[max(at - 30, 0) : at + 30] for at in places]


def piled(text: str) -> list[str]:
    """Every pile of marks that would spill over the lines around."""
    return [] if text.isascii() else _PILE.findall(text)


def is_raw(name: str) -> bool:
    return "raw" in name or name in ("id", "block", "call_id", "message_id", "question_id")


def is_shown_safely(value: object) -> bool:
    """Whether no text that is drawn holds what acts, hides or piles up."""
    return spoilt_in(value) == []


def spoilt_in(value: object) -> list[str]:
    """What of the texts that are drawn acts, hides or piles up."""
    drawn = " ".join(drawn_texts(value)).replace("\n", " ")
    return hidden(drawn) + piled(drawn)


def drawn_texts(value: object) -> Iterator[str]:
    """Every text of a value that is drawn; an exception's are its words."""
    match value:
        case None | int() | float():
            return
        case str():
            yield value
        case ColonyKey() | Removed():
            return  # ids as they came, to be sent back
        case list() | tuple():
            for inner in cast("list[object]", value):
                yield from drawn_texts(inner)
        case Exception():
            yield str(value)
        case Struct():
            yield from drawn_texts(asdict(value))
        case Mapping():
            for name, inner in cast("Mapping[str, object]", value).items():
                if not is_raw(name):
                    yield from drawn_texts(inner)
        case _:
            return
