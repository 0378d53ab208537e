"""Every recorded call of the real program, answered by the embedded kernel with its rules."""

from pathlib import Path
from typing import Any

import pytest

from colonizer_engines.kernel.errors import ToolProblem
from colonizer_engines.kernel.kernel import Kernel
from colonizer_engines.kernel.rules import CODOMYRMEX_1_3
from colonizer_engines.kernel.tools import call
from engines.kernel.vectors import Time, cases, differences, placed, tool_name
from recorded import Json

_CASES = cases("calls")


@pytest.mark.parametrize("case", _CASES)
def test_answers_as_the_recorded_program(case: str, tmp_path: Path) -> None:
    time = Time()
    kernel = Kernel(CODOMYRMEX_1_3, clock=time)
    for row in _CASES[case]:
        time.offset_s = row.get("clock_offset_s", 0.0)
        ours = _answer(kernel, placed(row, tmp_path))
        assert differences(row, ours) == [], f"step {row['step']}: {row['note']}"


def _answer(kernel: Kernel, row: Json) -> Any:
    name = tool_name(row)
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
