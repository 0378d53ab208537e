"""How a kernel's tools look over MCP: two columns of one table, beside the rules (specs kernel §3, kernel rules)."""

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypedDict, cast
from uuid import uuid4

import msgspec

from colonizer_engines.kernel.errors import KernelError, ToolProblem
from colonizer_engines.kernel.rules import CODOMYRMEX_1_3, SEED, Rules
from colonizer_engines.kernel.tools import TOOLS, Parameter, Tool
from colonizer_engines.lenient_json import encode, mended

Schema = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Card:
    """One tool as it is listed."""

    name: str
    description: str
    input_schema: Schema
    output_schema: Schema | None = None


@dataclass(frozen=True, slots=True)
class Answer:
    """What a call is answered with."""

    text: str
    """JSON, or the words of a failure."""
    structured: dict[str, Any] | list[Any] | None = None
    """The value, where it is there beside its text."""
    failed: bool = False


@dataclass(frozen=True, slots=True)
class Wire:
    """How one kind of kernel lists its tools and answers."""

    cards: tuple[Card, ...]
    answered: Callable[[object], Answer]
    """What a value becomes."""
    refused: Callable[[KernelError, str], Answer]
    """What becomes of a call that failed, by its problem and the name that was called."""
    answers_unknown_tools: bool
    """Whether a call of no tool of ours is answered as a failed call, not as a broken protocol."""


@dataclass(frozen=True, slots=True)
class Preset:
    """One kind of kernel: what it does, and how it looks."""

    name: str
    """Its name in the settings."""
    rules: Rules
    wire: Wire


def structured(value: object) -> Answer:
    """The value, and the same JSON as text."""
    text = encode(value)
    return Answer(text.decode(), msgspec.json.decode(text))


def as_text(value: object) -> Answer:
    """The value as text alone: the SDK looks at every number of what is structured, and a field has many."""
    return Answer(encode(value).decode())


def told(problem: KernelError, called: str) -> Answer:
    """The problem in its own words."""
    del called
    return Answer(mended(str(problem)), failed=True)


def _wrapped(value: object) -> Answer:
    """One text that holds the value as `result`."""
    return as_text({"result": value})


def _enveloped(problem: KernelError, called: str) -> Answer:
    """A text that holds the problem in the fields of the recorded program."""
    code = problem.code if isinstance(problem, ToolProblem) else "EXECUTION_ERROR"
    envelope: dict[str, object] = {
        "code": code,
        "message": str(problem),
        "correlation_id": uuid4().hex[:12],
        "tool_name": called,
    }
    if code == "EXECUTION_ERROR":
        envelope["module"] = "TypeError" if isinstance(problem, ToolProblem) else type(problem).__name__
    if isinstance(problem, ToolProblem) and problem.constraints:
        envelope["field_errors"] = [{"field": field, "constraint": words} for field, words in problem.constraints]
    return Answer(encode(envelope).decode(), failed=True)


class _Printed(TypedDict):
    """A tool as the seed prints it."""

    description: str
    input_schema: Schema
    output_schema: Schema


_PRINTED = cast(
    "Mapping[str, _Printed]", json.loads(Path(__file__).with_name("seed_tools.json").read_text(encoding="utf-8"))
)


def _plain_type(parameter: Parameter) -> Schema:
    default = {} if parameter.required else {"default": parameter.default}
    return {"type": parameter.type, **default}


def _plain_schema(tool: Tool) -> Schema:
    """The tool's arguments by their types alone, as the recorded program made it of a signature."""
    return {
        "type": "object",
        "properties": {parameter.name: _plain_type(parameter) for parameter in tool.parameters},
        "required": [parameter.name for parameter in tool.parameters if parameter.required],
    }


SEED_WIRE = Wire(
    cards=tuple(Card(SEED.tool_prefix + name, **_PRINTED[name]) for name in TOOLS),
    answered=structured,
    refused=told,
    answers_unknown_tools=False,
)

CODOMYRMEX_1_3_WIRE = Wire(
    cards=tuple(
        Card(CODOMYRMEX_1_3.tool_prefix + name, _PRINTED[name]["description"], _plain_schema(tool))
        for name, tool in TOOLS.items()
    ),
    answered=_wrapped,
    refused=_enveloped,
    answers_unknown_tools=True,
)

PRESETS: Mapping[str, Preset] = {
    preset.name: preset
    for preset in (Preset("seed", SEED, SEED_WIRE), Preset("codomyrmex-1.3", CODOMYRMEX_1_3, CODOMYRMEX_1_3_WIRE))
}
"""Every kind of kernel."""
