"""What a runner wrote, as lines and as events (spec 8.2): pure functions over hostile bytes."""

import json
from collections.abc import Mapping
from typing import Literal, NamedTuple, cast

import msgspec

Event = Mapping[str, object]
"""A decoded JSON object with a string `type`."""

Stream = Literal["stdout", "stderr"]

LINE_LIMIT_BYTES = 256 * 1024
"""A longer line becomes a warning (spec 13.3)."""

QUOTE_LIMIT = 500
"""Characters of a line that a warning repeats."""

_LONGEST_CHARACTER_BYTES = 4

_NESTING_LIMIT = 64
"""A deeper value would exhaust the stack of whoever walks through it."""


class Line(NamedTuple):
    """One line without its end."""

    stream: Stream
    text: bytes
    """The whole line, or its beginning when it was cut."""
    cut: bool


class LineSplitter:
    """The lines of one stream, made of chunks; it never holds more than one line of the limit."""

    def __init__(self, stream: Stream) -> None:
        self._stream: Stream = stream
        self._unfinished = bytearray()
        self._skipping = False

    def feed(self, chunk: bytes) -> list[Line]:
        """The lines that the chunk ends, blank ones left out, and a cut one as soon as the limit is passed."""
        *ended, rest = chunk.split(b"\n")
        lines: list[Line] = []
        for piece in ended:
            lines += self._extend(piece)
            lines += self._end()
        return lines + self._extend(rest)

    def finish(self) -> list[Line]:
        """The last line, when nothing ended it."""
        return self._end()

    def _extend(self, piece: bytes) -> list[Line]:
        if self._skipping:
            return []
        self._unfinished += piece
        if len(self._unfinished) <= LINE_LIMIT_BYTES:
            return []
        beginning = bytes(self._unfinished[: QUOTE_LIMIT * _LONGEST_CHARACTER_BYTES])
        self._unfinished.clear()
        self._skipping = True
        return [Line(self._stream, beginning, cut=True)]

    def _end(self) -> list[Line]:
        text = bytes(self._unfinished)
        self._unfinished.clear()
        self._skipping = False
        return [Line(self._stream, text, cut=False)] if text.strip() else []


def event_of(line: Line) -> Event:
    """The event that the line is, or a `log` warning that quotes it."""
    if line.cut:
        return _warning(f"agent runner wrote a line over {LINE_LIMIT_BYTES // 1024} KiB, cut: {quote(line)}")
    if line.stream == "stderr":
        return _warning(line.text.decode(errors="replace").rstrip())
    event = _decoded(line.text)
    return _warning(f"agent runner wrote a non-event line: {quote(line)}") if event is None else event


def quote(line: Line) -> str:
    """The beginning of the line as text, 500 characters at most."""
    return line.text[: QUOTE_LIMIT * _LONGEST_CHARACTER_BYTES].decode(errors="replace").strip()[:QUOTE_LIMIT]


def _warning(message: str) -> Event:
    return {"type": "log", "level": "warn", "message": message}


def _decoded(text: bytes) -> Event | None:
    try:
        value = cast(object, msgspec.json.decode(text))
    except (msgspec.DecodeError, RecursionError):
        value = _mended(text)
    if not isinstance(value, dict):
        return None
    event = cast("dict[str, object]", value)
    if not isinstance(event.get("type"), str):
        return None
    deep = text.count(b"[") + text.count(b"{") > _NESTING_LIMIT and _is_deeper(event, _NESTING_LIMIT)
    return None if deep else event


def _mended(text: bytes) -> object:
    """The value with null for NaN and `?` or U+FFFD for what is no character; None when it is no JSON even so.

    JavaScript programs cut texts between two surrogates; losing a question over that would leave a colony hanging.
    """
    try:
        lenient: object = json.loads(text.decode(errors="replace"), parse_constant=lambda _: None)
        return cast(object, msgspec.json.decode(json.dumps(lenient, ensure_ascii=False).encode(errors="replace")))
    except (ValueError, RecursionError):  # msgspec's errors are ValueErrors
        return None


def _is_deeper(value: object, limit: int) -> bool:
    level: list[object] = [value]
    for _ in range(limit):
        level = [child for parent in level for child in _children(parent)]
        if not level:
            return False
    return True


def _children(value: object) -> list[object]:
    if isinstance(value, dict):
        return list(cast("dict[str, object]", value).values())
    return cast("list[object]", value) if isinstance(value, list) else []
