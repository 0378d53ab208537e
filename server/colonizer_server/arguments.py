"""The arguments of a tool: their JSON schemas, and how they are read (spec 5.3).

What cannot be read is told in the words of the published program, which come from its JSON library.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias, cast

from colonizer_server.errors import ToolError

Kind: TypeAlias = Literal["string", "boolean", "u64", "object"]

_DIALECT = "https://json-schema.org/draft/2020-12/schema"
_JSON_TYPES: Mapping[Kind, str] = {"string": "string", "boolean": "boolean", "u64": "integer", "object": "object"}
_EXPECTED: Mapping[Kind, str] = {"string": "a string", "boolean": "a boolean", "u64": "u64", "object": "a map"}
_U64_LIMIT = 2**64


@dataclass(frozen=True, slots=True)
class Parameter:
    """One argument of a tool. Where it is not required, null means the same as leaving it out."""

    name: str
    description: str
    kind: Kind = "string"
    required: bool = False

    @property
    def schema(self) -> dict[str, object]:
        """Its JSON schema."""
        of = _JSON_TYPES[self.kind]
        bounds: dict[str, object] = {"format": "uint64", "minimum": 0} if self.kind == "u64" else {}
        return {"type": of if self.required else [of, "null"], "description": self.description, **bounds}


@dataclass(frozen=True, slots=True)
class Arguments:
    """What a call brought, every value of its parameter's kind; what is left out is not there."""

    given: Mapping[str, object]

    def text(self, name: str) -> str:
        """A required text."""
        value = self.given[name]
        assert isinstance(value, str)
        return value

    def maybe_text(self, name: str) -> str | None:
        """A text that may be left out."""
        value = self.given.get(name)
        return value if isinstance(value, str) else None

    def maybe_number(self, name: str) -> int | None:
        """A number that may be left out."""
        value = self.given.get(name)
        return value if isinstance(value, int) else None

    def fields(self, name: str) -> Mapping[str, object]:
        """An object that is empty where it is left out."""
        value = self.given.get(name)
        return cast("Mapping[str, object]", value) if isinstance(value, Mapping) else {}

    def maybe_flag(self, name: str) -> bool | None:
        """A flag that may be left out."""
        value = self.given.get(name)
        return value if isinstance(value, bool) else None

    def flag(self, name: str) -> bool:
        """A flag that is false where it is left out."""
        return self.maybe_flag(name) or False


def schema_of(parameters: Sequence[Parameter]) -> dict[str, object]:
    """The JSON schema of a tool's arguments."""
    required = [parameter.name for parameter in parameters if parameter.required]
    properties = {parameter.name: parameter.schema for parameter in parameters}
    schema: dict[str, object] = {"$schema": _DIALECT, "type": "object", "properties": properties}
    return {**schema, "required": required} if required else schema


def read(parameters: Sequence[Parameter], given: Mapping[str, object]) -> Arguments:
    """The arguments of one call; what no parameter is called is ignored.

    Raises:
        ToolError: One is missing, or of another kind. Nothing is converted: `"5"` is no number.
    """
    known = {parameter.name: parameter for parameter in parameters}
    taken: dict[str, object] = {}
    for name, value in given.items():
        parameter = known.get(name)
        if parameter is None or (value is None and not parameter.required):
            continue
        taken[name] = _checked(parameter.kind, value)
    for parameter in parameters:
        if parameter.required and parameter.name not in taken:
            raise _unreadable(f"missing field `{parameter.name}`")
    return Arguments(taken)


def _checked(kind: Kind, value: object) -> object:
    if kind == "string" and isinstance(value, str):
        return value
    if kind == "boolean" and isinstance(value, bool):
        return value
    if kind == "object" and isinstance(value, Mapping):
        return cast("Mapping[str, object]", value)
    if kind == "u64" and isinstance(value, int) and not isinstance(value, bool):
        if 0 <= value < _U64_LIMIT:
            return value
        if -(2**63) <= value < 0:
            raise _unreadable(f"invalid value: integer `{value}`, expected u64")
    raise _unreadable(f"invalid type: {_described(value)}, expected {_EXPECTED[kind]}")


def _described(value: object) -> str:
    match value:
        case None:
            return "null"
        case bool():
            return f"boolean `{str(value).lower()}`"
        case int() if -(2**63) <= value < _U64_LIMIT:
            return f"integer `{value}`"
        case int() | float():
            return f"floating point `{float(value)}`"
        case str():
            return f"string {json.dumps(value, ensure_ascii=False)}"
        case Mapping():
            return "map"
        case _:
            return "sequence"


def _unreadable(words: str) -> ToolError:
    return ToolError(f"failed to deserialize parameters: {words}")
