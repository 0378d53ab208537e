"""Outside text made safe to show.

Every string that comes from outside passes `safe_text` or `safe_line` once, where it is decoded. What could steer a
terminal, hide, reorder or fake text is shown as a visible sign in place of acting; what cannot be shown at one
reliable width (joiners and variants of emoji) is left out. After that the text is data: it is never read as markup.
"""

import re
import unicodedata

CUT_MARK = "…"

_PRESENTATION = re.compile("[\ufe0e\ufe0f\U0001f3fb-\U0001f3ff]|\u200d(?=[\u2190-\u2bff\U0001f000-\U0001faff])")
"""Variation selectors, skin tones and emoji joiners: terminals disagree about the width of what they make."""

_COMBINING = re.compile("[\u0300-\u036f\u0483-\u0489\u1ab0-\u1aff\u1dc0-\u1dff\u20d0-\u20ff\ufe20-\ufe2f]{3,}")
"""More marks on one letter than any orthography stacks: they would spill over the neighbouring lines."""

_BRACKETED = "⟨U+{:04X}⟩"


def safe_text(text: str, *, limit: int | None = None) -> str:
    """The text with every control shown, line feeds kept and tabs turned into spaces.

    `limit` counts characters of the input; what is beyond it is cut and marked with `…`.
    """
    if limit is not None and len(text) > limit:
        text = text[:limit] + CUT_MARK
    if text.isprintable() and text.isascii():
        return text
    text = text.replace("\r\n", "\n")
    if "\n" in text or "\t" in text:
        return "\n".join(map(_safe_characters, text.expandtabs(4).split("\n")))
    return _safe_characters(text)


def safe_line(text: str, *, limit: int | None = None) -> str:
    """The text as one line: as `safe_text`, with line feeds and tabs turned into single spaces."""
    if limit is not None and len(text) > limit:
        text = text[:limit] + CUT_MARK
    if text.isprintable() and text.isascii():
        return text
    return _safe_characters(re.sub(r"\s*[\n\t]\s*", " ", text.replace("\r\n", "\n").strip("\r\n\t ")))


def has_hidden_characters(text: str) -> bool:
    """Whether the raw text holds characters that a person would not see, or that change the order of what they see."""
    return any(
        not character.isprintable() and character not in "\n\t" and unicodedata.category(character) != "Zs"
        for character in text
    )


def _safe_characters(line: str) -> str:
    if not line.isascii():
        line = _PRESENTATION.sub("", line)
        line = _COMBINING.sub(lambda run: run[0][:2], line)
    return line if line.isprintable() else "".join(map(_shown, line))


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
    return _BRACKETED.format(code)
