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

_TAIL_BYTES = 4096
_TAIL_LINES = 5

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

    def feed(self, chunk: bytes, limit: int) -> tuple[list[Line], bytes]:
        """The lines that the chunk ends, and what is left of it after `limit` line ends.

        Blank lines are left out; a line that gets too long is there as soon as it is.
        """
        pieces = chunk.split(b"\n", limit)
        left, rest = (pieces.pop(), b"") if len(pieces) > limit else (b"", pieces.pop())
        lines: list[Line] = []
        for piece in pieces:
            lines += self._extend(piece)
            lines += self._end()
        return lines + self._extend(rest), left

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


class LastWords:
    """The last lines that one stream had outside the contract, from the end of its bytes."""

    def __init__(self, stream: Stream) -> None:
        self._stream: Stream = stream
        self._tail = b""

    def hear(self, chunk: bytes) -> None:
        """Remembers the end of what was heard."""
        self._tail = (self._tail + chunk[-_TAIL_BYTES:])[-_TAIL_BYTES:]

    def __str__(self) -> str:
        """Five lines at most, as one without controls, 500 characters at most; the newest are kept."""
        lines = self._tail.decode(errors="replace").split("\n")
        if self._stream == "stdout":
            inside = 1 if len(self._tail) == _TAIL_BYTES else 0  # the first line can be the inside of an event
            lines = [line for line in lines[inside:] if not line.lstrip().startswith("{")]
        said = [line for line in lines if line.strip()]
        words = " | ".join("".join(c if c.isprintable() else " " for c in line.strip()) for line in said[-_TAIL_LINES:])
        return words if len(words) <= QUOTE_LIMIT else "…" + words[1 - QUOTE_LIMIT :]


def event_of(line: Line) -> Event:
    """The event that the line is, or a `log` warning that quotes it."""
    if line.cut:
        return _warning(f"agent runner wrote a line over {LINE_LIMIT_BYTES // 1024} KiB, cut: {_quote(line.text)}")
    if line.stream == "stderr":
        return _warning(line.text.decode(errors="replace").rstrip())
    event = _decoded(line.text)
    return _warning(f"agent runner wrote a non-event line: {_quote(line.text)}") if event is None else event


def _quote(text: bytes) -> str:
    return text[: QUOTE_LIMIT * _LONGEST_CHARACTER_BYTES].decode(errors="replace").strip()[:QUOTE_LIMIT]


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


def _is_deeper(value: Event, limit: int) -> bool:
    level: list[Mapping[str, object] | list[object]] = [value]
    for _ in range(limit):
        children = [child for parent in level for child in (parent if isinstance(parent, list) else parent.values())]
        level = [child for child in children if isinstance(child, dict | list)]
        if not level:
            return False
    return True
