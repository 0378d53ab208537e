"""Outside text made safe to show.

Every string that comes from outside passes `safe_text` or `safe_line` once, where it is decoded. What could steer a
terminal, hide, reorder or fake text is shown as a visible sign in place of acting; what cannot be shown at one
reliable width (joiners and variants of emoji) is left out. After that the text is data: it is never read as markup.
"""

import re
import unicodedata
from collections.abc import Iterable

CUT_MARK = "…"
MARKS_KEPT = 3
"""Marks on one letter beyond this are more than orthography stacks: they would spill over the neighbouring lines."""

_EMOJI = "\u2190-\u2bff\U0001f000-\U0001faff"
_JOINING_LETTERS = "\u0600-\u0dff\u1000-\u109f\ufb50-\ufdff\ufe70-\ufefc"

_JOINERS = re.compile(
    f"(?<=[©®‼-㊙{_EMOJI}#*0-9])[\ufe0e\ufe0f]"  # variants of emoji: terminals disagree about their width,
    f"|\u200d(?=[{_EMOJI}])|[\U0001f3fb-\U0001f3ff]"  # as about families and skin tones
    f"|(?<=[{_JOINING_LETTERS}])[\u200c\u200d](?=[{_JOINING_LETTERS}])"  # orthography in Persian, Hindi, …
)

_INVISIBLE = re.compile("[\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u3164\ufe00-\ufe0f\uffa0\U000e0100-\U000e01ef]")
"""Letters and marks that draw nothing, which Python counts as printable: they can carry hidden text."""

_PILE = re.compile(f"[^\0-\u02ff]{{{MARKS_KEPT + 1},}}")
"""A run in which a pile of combining marks may hide."""

_BLANKS = re.compile("[ \t\n]+")


def safe_text(text: str, *, limit: int | None = None) -> str:
    """The text with every control shown, line feeds kept and tabs turned into spaces.

    `limit` counts characters of the input; what is beyond it is cut and marked with `…`.
    """
    text = _cut(text, limit)
    if text.isprintable() and text.isascii():
        return text
    text = text.replace("\r\n", "\n")
    if "\n" in text or "\t" in text:
        return "\n".join(map(_safe_characters, text.expandtabs(4).split("\n")))
    return _safe_characters(text)


def safe_line(text: str, *, limit: int | None = None) -> str:
    """The text as one line without blanks at its ends: as `safe_text`, but line feeds and tabs become single spaces."""
    text = _cut(text, limit)
    if text.isprintable() and text.isascii():
        return text.strip(" ")
    line = _BLANKS.sub(lambda run: run[0] if run[0].isprintable() else " ", text.replace("\r\n", "\n"))
    return _safe_characters(line).strip(" ")


def joined(pieces: Iterable[str]) -> str:
    """The pieces, each of them safe, as one safe text: marks must not pile up over their seams."""
    return _PILE.sub(_without_pile, "".join(pieces))


def has_hidden_characters(text: str) -> bool:
    """Whether the raw text holds characters that a person would not see, or that change the order of what they see."""
    text = _JOINERS.sub("", text)
    return _INVISIBLE.search(text) is not None or any(
        not character.isprintable() and character not in "\n\t" and unicodedata.category(character) != "Zs"
        for character in text
    )


def _cut(text: str, limit: int | None) -> str:
    return text if limit is None or len(text) <= limit else text[:limit] + CUT_MARK


def _safe_characters(line: str) -> str:
    if not line.isascii():
        line = _JOINERS.sub("", line)
        line = _INVISIBLE.sub(lambda found: _bracketed(found[0]), line)
        line = _PILE.sub(_without_pile, line)
    return line if line.isprintable() else "".join(map(_shown, line))


def _without_pile(run: re.Match[str]) -> str:
    kept: list[str] = []
    marks = 0
    for character in run[0]:
        marks = marks + 1 if unicodedata.category(character) in ("Mn", "Me") else 0
        if marks <= MARKS_KEPT:
            kept.append(character)
    return "".join(kept)


def _shown(character: str) -> str:
    if character.isprintable():
        return character
    code = ord(character)
    if code < 0x20:
        return chr(0x2400 + code)
    if code == 0x7F:
        return "␡"
    if unicodedata.category(character) == "Zs":
        return " "
    return _bracketed(character)


def _bracketed(character: str) -> str:
    return f"⟨U+{ord(character):04X}⟩"
