"""Every recorded call of the real program, answered by the embedded kernel with its rules."""

import json
from pathlib import Path
from typing import Any

import pytest

from colonizer_engines.kernel.errors import ToolProblem
from colonizer_engines.kernel.kernel import Kernel
from colonizer_engines.kernel.rules import CODOMYRMEX_1_3
from colonizer_engines.kernel.tools import call
from engines.kernel.vectors import cases, differences
from recorded import Json

_CASES = cases("calls")

START = 1_796_025_868.0


class Time:
    """A clock that stands where it was put, and goes on a little with every look."""

    def __init__(self) -> None:
        self.offset_s = 0.0
        self._looks = 0

    def __call__(self) -> float:
        self._looks += 1
        return START + self.offset_s + self._looks / 1000


@pytest.mark.parametrize("case", _CASES)
def test_answers_as_the_recorded_program(case: str, tmp_path: Path) -> None:
    time = Time()
    kernel = Kernel(CODOMYRMEX_1_3, clock=time)
    for row in _CASES[case]:
        time.offset_s = row.get("clock_offset_s", 0.0)
        ours = _answer(kernel, _placed(row, tmp_path))
        assert differences(row, ours) == [], f"step {row['step']}: {row['note']}"


def _placed(row: Json, root: Path) -> Json:
    """The row with its fixture's files written, and their folder in its arguments."""
    for name, text in row.get("fixture", {}).items():
        path = Path(name.replace("{root}", str(root)))
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    placed: Json = json.loads(json.dumps(row).replace("{root}", str(root)))
    return placed


def _answer(kernel: Kernel, row: Json) -> Any:
    name = row["tool"]
    if (row["case"], row["step"]) != ("wire_unknown_tool", 1):  # that one call was made by the bare name
        name = f"codomyrmex.{name}"
    try:
        answer = call(kernel, name, row["arguments"])
    except ToolProblem as problem:
        assert row["is_error"]
        return _envelope(problem, name)
    assert not row["is_error"]
    return answer


def _envelope(problem: ToolProblem, tool: str) -> Json:
    """The problem as the recorded program puts it."""
    envelope: Json = {"code": problem.code, "message": str(problem), "correlation_id": "0" * 12, "tool_name": tool}
    if problem.code == "EXECUTION_ERROR":
        envelope["module"] = "TypeError"
    if problem.constraints:
        envelope["field_errors"] = [{"field": field, "constraint": words} for field, words in problem.constraints]
    return envelope
