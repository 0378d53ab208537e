"""Readers of outside JSON: what is missing or of the wrong type becomes unknown, and never an exception.

A body is parsed once, by msgspec; what msgspec refuses as a whole for one lone surrogate, one NaN, one endless number
or broken UTF-8 is read again by the tolerant parser of the standard library.
"""

import json
import math
from collections.abc import Mapping, Sequence
from datetime import datetime
from sys import intern
from typing import cast

import msgspec

from colonizer_client.errors import NotJson, Unreadable
from colonizer_client.text import safe_line, safe_text

TITLE_LIMIT = 300
LINE_LIMIT = 2_000
EXCERPT_LIMIT = 200

DEPTH_LIMIT = 100
"""What is nested deeper could not be compared, hashed or sent back within Python's own limits."""

DIGITS_LIMIT = 300
"""Digits of an integer that are read at all; see `integer` for those that mean something."""


def parse(body: bytes) -> object:
    """The JSON value of a body.

    Raises:
        NotJson: It is none.
        Unreadable: It is nested beyond reason.
    """
    try:
        value = _parsed(body)
    except (ValueError, RecursionError) as problem:
        raise NotJson(f"not JSON: {excerpt(body)}") from problem
    if body.count(b"[") + body.count(b"{") > DEPTH_LIMIT and not _ends_in_time(value):
        raise Unreadable(f"JSON that is nested beyond reason: {excerpt(body)}")
    return value


def _parsed(body: bytes) -> object:
    try:
        return cast(object, msgspec.json.decode(body))
    except (msgspec.MsgspecError, RecursionError, UnicodeDecodeError):
        return cast(object, json.loads(body.decode("utf-8", "replace"), parse_int=_bounded_integer))


def _bounded_integer(digits: str) -> int | None:
    return int(digits) if len(digits) <= DIGITS_LIMIT else None


def _ends_in_time(value: object) -> bool:
    """Whether the value has at most `DEPTH_LIMIT` levels."""
    level = [value]
    for _ in range(DEPTH_LIMIT):
        level = [
            child
            for node in level
            if isinstance(node, dict | list)
            for child in (node.values() if isinstance(node, dict) else cast("list[object]", node))
            if isinstance(child, dict | list)
        ]
        if not level:
            return True
    return False


def excerpt(body: bytes) -> str:
    """The beginning of a body that could not be read, safe to show."""
    return safe_line(body[: EXCERPT_LIMIT * 4].decode("utf-8", "replace").strip(), limit=EXCERPT_LIMIT)


def mapping(value: object) -> Mapping[str, object]:
    """The object, else an empty one."""
    return cast(Mapping[str, object], value) if isinstance(value, Mapping) else {}


def maybe_mapping(value: object) -> Mapping[str, object] | None:
    """The object, else None."""
    return cast(Mapping[str, object], value) if isinstance(value, Mapping) else None


def sequence(value: object) -> Sequence[object]:
    """The array, else an empty one."""
    return cast(Sequence[object], value) if isinstance(value, list) else ()


def mappings(values: object) -> tuple[Mapping[str, object], ...]:
    """The objects of an array; what is no object is left out."""
    return tuple(cast(Mapping[str, object], value) for value in sequence(values) if isinstance(value, Mapping))


def raw(value: object) -> str:
    """The string as it came, else an empty one. Never draw it."""
    return value if isinstance(value, str) else ""


def line(value: object, limit: int = LINE_LIMIT) -> str:
    """The string as one safe line, else an empty one."""
    return safe_line(value, limit=limit) if isinstance(value, str) else ""


def shown(value: object, limit: int = LINE_LIMIT) -> str:
    """The string or whole number as one safe line, else an empty one."""
    return line(value, limit) if integer(value) is None else str(value)


def word(value: object) -> str:
    """A short string that many rows share, safe, and held once in memory."""
    return intern(safe_line(value, limit=100)) if isinstance(value, str) else ""


def text(value: object, limit: int | None = None) -> str:
    """The string as safe lines, else an empty one."""
    return safe_text(value, limit=limit) if isinstance(value, str) else ""


def flag(value: object) -> bool:
    """Whether the value is true itself."""
    return value is True


def integer(value: object) -> int | None:
    """The whole number of at most 64 bits, else None. A boolean is none."""
    if isinstance(value, bool) or not isinstance(value, int):
        return None
    return value if -(2**63) <= value < 2**64 else None


def number(value: object) -> float | None:
    """The finite number, else None. A boolean is none."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    try:
        found = float(value)
    except OverflowError:
        return None
    return found if math.isfinite(found) else None


def moment(value: object) -> float | None:
    """The seconds since 1970 that an RFC 3339 string names, else None."""
    if not isinstance(value, str) or len(value) > 64:
        return None
    try:
        found = datetime.fromisoformat(value)
        return found.timestamp() if found.tzinfo else None
    except (ValueError, OverflowError, OSError):
        return None


def words(values: object, limit: int = TITLE_LIMIT) -> tuple[str, ...]:
    """The strings of an array as safe lines; what is no string is left out."""
    return tuple(safe_line(value, limit=limit) for value in sequence(values) if isinstance(value, str))
