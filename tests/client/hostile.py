"""Values of every wrong type and kind, and whether what came of them is safe to show."""

from typing import cast

from msgspec import Struct
from msgspec.structs import asdict

WRONG: list[object] = [
    None, True, 0, -1, 2**64, 1.5, float("nan"), float("inf"), "", "\ud800\x1b[2J", "x" * 5000, [], [None], [[]], {},
    {"reason": 5, "since": [], "at": {}, "retry_at": "soon"}, {"reason": "\x1b]0;x\x07", "kept": "yes"}, [{"id": 1}],
]  # fmt: skip
"""For any field of the wire."""


def is_raw(name: str) -> bool:
    return "raw" in name or name in ("id", "block", "call_id", "question_id")


def is_shown_safely(value: object) -> bool:
    """Whether no text that is drawn holds a control."""
    if isinstance(value, str):
        return all(line.isprintable() for line in value.split("\n"))
    if isinstance(value, dict):
        fields = cast("dict[str, object]", value)
        return all(is_shown_safely(inner) for name, inner in fields.items() if not is_raw(name))
    if isinstance(value, Struct):
        return is_shown_safely(asdict(value))
    return not isinstance(value, list | tuple) or all(map(is_shown_safely, cast("list[object]", value)))
