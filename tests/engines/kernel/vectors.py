"""What the recorded kernel answered, and whether another answer is the same."""

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, TypeGuard

from recorded import Json, rows

_INDEX = re.compile(r"\[\d+\]")
_FACT = re.compile(r"=([^\s>]+)")
"""The values in a token that stands for a free text."""


def cases(name: str) -> dict[str, list[Json]]:
    """The rows of `calls` or `internal` by case, each case of one kernel."""
    found: dict[str, list[Json]] = {}
    for row in rows(f"kernel/{name}"):
        found.setdefault(row["case"], []).append(row)
    return found


START = 1_796_025_868.0


class Time:
    """A clock that stands where it was put, and goes on a little with every look."""

    def __init__(self) -> None:
        self.offset_s = 0.0
        self._looks = 0

    def __call__(self) -> float:
        self._looks += 1
        return START + self.offset_s + self._looks / 1000


def placed(row: Json, root: Path) -> Json:
    """The row with its fixture's files written, and their folder in its arguments."""
    for name, text in row.get("fixture", {}).items():
        path = Path(name.replace("{root}", str(root)))
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    placed: Json = json.loads(json.dumps(row).replace("{root}", str(root)))
    return placed


def tool_name(row: Json) -> str:
    """The name by which the call was made."""
    bare = (row["case"], row["step"]) == ("wire_unknown_tool", 1)
    return row["tool"] if bare else f"codomyrmex.{row['tool']}"


def differences(row: Json, ours: object) -> list[str]:
    """Where the answer is not the recorded one, in words."""
    volatile = {path.partition(" ")[0] for path in row.get("volatile", ())}
    return list(_differences("$", row["result"], ours, volatile, set(row.get("prose", ()))))


def _differences(path: str, theirs: Any, ours: Any, volatile: set[str], prose: set[str]) -> Iterator[str]:
    place = _INDEX.sub("[*]", path)
    if place in volatile:
        if type(theirs) is not type(ours) or (_is_list(theirs) and len(theirs) != len(ours)):
            yield f"{path}: {ours!r} is not like {theirs!r}"
    elif _is_object(theirs) and _is_object(ours):
        if theirs.keys() != ours.keys():
            yield f"{path}: has {sorted(ours)}, not {sorted(theirs)}"
            return
        for name in theirs:
            yield from _differences(f"{path}.{name}", theirs[name], ours[name], volatile, prose)
    elif _is_list(theirs) and _is_list(ours):
        if len(theirs) != len(ours):
            yield f"{path}: {len(ours)} items, not {len(theirs)}: {ours!r}"
            return
        for number, (one, other) in enumerate(zip(theirs, ours, strict=True)):
            yield from _differences(f"{path}[{number}]", one, other, volatile, prose)
    elif place in prose or place.removesuffix("[*]") in prose:
        facts: list[str] = _FACT.findall(str(theirs))
        if not isinstance(ours, str) or not ours or any(fact not in ours for fact in facts):
            yield f"{path}: {ours!r} does not say {theirs!r}"
    elif not _same(theirs, ours):
        yield f"{path}: {ours!r}, not {theirs!r}"


def _is_object(value: Any) -> TypeGuard[Json]:
    return isinstance(value, dict)


def _is_list(value: Any) -> TypeGuard[list[Any]]:
    return isinstance(value, list)


def _same(theirs: Any, ours: Any) -> bool:
    """Whether both are the same, numbers to 1e-9."""
    numbers = (type(theirs) in (int, float)) and (type(ours) in (int, float))
    return abs(theirs - ours) <= 1e-9 if numbers else type(theirs) is type(ours) and theirs == ours
