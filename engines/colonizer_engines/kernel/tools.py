"""The eight tools by name: arguments as they came, values as JSON has them (spec 3, 4)."""

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import cast

from colonizer_engines.kernel.errors import BadArgument, ToolProblem
from colonizer_engines.kernel.kernel import Kernel

Arguments = Mapping[str, object]

_TRUE = frozenset({"true", "1", "yes", "on"})
_FALSE = frozenset({"false", "0", "no", "off"})


@dataclass(frozen=True, slots=True)
class Parameter:
    """One argument of a tool."""

    name: str
    type: str
    """`string`, `boolean` or `number`."""
    default: object = None
    required: bool = True


@dataclass(frozen=True, slots=True)
class Tool:
    """One tool."""

    name: str
    """Without the prefix."""
    parameters: tuple[Parameter, ...]
    run: Callable[[Kernel, dict[str, object]], object]
    lists: bool = False
    """Whether its value is a list."""


def call(kernel: Kernel, name: str, arguments: Arguments) -> object:
    """The value of the named tool, prefix included.

    Raises:
        ToolProblem: There is no such tool, or the arguments do not fit it.
        BadArgument: An argument is refused, where the rules do not answer that with a value.
        StoreError: The call was not kept.
    """
    prefix = kernel.rules.tool_prefix
    tool = TOOLS.get(name.removeprefix(prefix)) if name.startswith(prefix) else None
    if tool is None:
        raise ToolProblem("NOT_FOUND", f"there is no tool {name!r}")
    taken = _taken(tool, arguments)
    try:
        return tool.run(kernel, taken)
    except BadArgument as problem:
        if not kernel.rules.errors_in_band:
            raise
        failed = {"error": str(problem)}
        return [failed] if tool.lists else failed


def _taken(tool: Tool, arguments: Arguments) -> dict[str, object]:
    """The arguments in their types, defaults filled in."""
    taken: dict[str, object] = {}
    broken: list[tuple[str, str]] = []
    for parameter in tool.parameters:
        if parameter.name not in arguments:
            if parameter.required:
                broken.append(("<root>", f"<root>: '{parameter.name}' is a required property"))
            taken[parameter.name] = parameter.default
            continue
        value = _coerced(parameter, arguments[parameter.name])
        if not _fits(parameter, value):
            broken.append((parameter.name, f"{parameter.name}: {value!r} is not of type '{parameter.type}'"))
        taken[parameter.name] = value
    if broken:
        raise ToolProblem("VALIDATION_ERROR", "; ".join(words for _, words in broken), broken)
    if unknown := [name for name in arguments if name not in taken]:
        raise ToolProblem("EXECUTION_ERROR", f"{tool.name} takes no argument {unknown[0]!r}")
    return taken


def _coerced(parameter: Parameter, value: object) -> object:
    """The value, read where it is a text that stands for another type."""
    if not isinstance(value, str):
        return value
    if parameter.type == "boolean" and (word := value.lower()) in _TRUE | _FALSE:
        return word in _TRUE
    if parameter.type == "number":
        try:
            return float(value)
        except ValueError:
            return value
    return value


def _fits(parameter: Parameter, value: object) -> bool:
    if parameter.type == "string":
        return isinstance(value, str)
    if parameter.type == "boolean":
        return isinstance(value, bool)
    return isinstance(value, int | float) and not isinstance(value, bool)


def _propose(kernel: Kernel, taken: dict[str, object]) -> object:
    evidence = cast("str", taken.pop("evidence"))
    try:
        given = _parsed(evidence) if evidence.strip() else None
    except ValueError:
        raise BadArgument("evidence", "evidence must be JSON") from None
    return kernel.propose(**cast("dict[str, str]", taken), evidence=given)


def _record(kernel: Kernel, taken: dict[str, object]) -> object:
    passed = cast("bool", taken.pop("tests_passed"))
    feedback = cast("float", taken.pop("human_feedback"))
    return kernel.record_outcome(**cast("dict[str, str]", taken), tests_passed=passed, human_feedback=feedback)


def _profile(kernel: Kernel, taken: dict[str, object]) -> object:
    return kernel.agent_profile(**cast("dict[str, str]", taken))


def _query(kernel: Kernel, taken: dict[str, object]) -> object:
    return kernel.pheromone_query(**cast("dict[str, str]", taken))


def _falsify(kernel: Kernel, taken: dict[str, object]) -> object:
    try:
        plan = _parsed(cast("str", taken["plan_json"]))
    except ValueError:
        raise BadArgument("plan_json", "plan_json must be JSON") from None
    if not isinstance(plan, dict):
        raise BadArgument("plan_json", f"plan_json must hold an object, not {type(plan).__name__}")
    return kernel.falsify_plan(cast("dict[str, object]", plan))


def _parsed(text: str) -> object:
    """The JSON value.

    Raises:
        ValueError: It is none, or is nested too deep.
    """
    try:
        return json.loads(text)
    except RecursionError:
        raise ValueError("nested too deep") from None


def _text(*names: str) -> tuple[Parameter, ...]:
    return tuple(Parameter(name, "string") for name in names)


_ALL = (
    Tool(
        "colony_propose_action",
        (
            *_text("agent_id", "action_type", "target", "rationale", "rollback_plan"),
            Parameter("evidence", "string", "{}", required=False),
        ),
        _propose,
    ),
    Tool(
        "colony_record_outcome",
        (
            *_text("agent_id", "action_type", "target", "actual_outcome"),
            Parameter("tests_passed", "boolean"),
            Parameter("human_feedback", "number", 0.0, required=False),
        ),
        _record,
    ),
    Tool("colony_agent_profile", _text("agent_id"), _profile),
    Tool("colony_status", (), lambda kernel, _: kernel.status()),
    Tool("colony_pheromone_query", _text("location", "signal_type"), _query, lists=True),
    Tool("colony_falsify_plan", _text("plan_json"), _falsify),
    Tool("colony_pruning_report", (), lambda kernel, _: kernel.pruning_report()),
    Tool("colony_tick", (), lambda kernel, _: kernel.tick()),
)

TOOLS: Mapping[str, Tool] = {tool.name: tool for tool in _ALL}
"""By name, without the prefix."""
