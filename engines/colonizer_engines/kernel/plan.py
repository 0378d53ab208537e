"""A plan as it came from outside: a JSON object whose values may be of any type."""

import re
from collections.abc import Mapping
from typing import cast

import msgspec

_WORD = re.compile(r"\w+")
_SEPARATORS = re.compile(r"[,;\n]")


class Plan(msgspec.Struct, frozen=True, gc=False):
    """The fields of a plan, the usual ones as text. Absent is the empty text, null is the word None (spec 7)."""

    fields: Mapping[str, object]
    agent_id: str
    action_type: str
    target: str
    rationale: str
    rollback_plan: str
    scope: str
    words: frozenset[str]
    """All words, in small letters, of action type, target, rationale and scope."""

    @classmethod
    def of(cls, fields: Mapping[str, object]) -> "Plan":
        """The plan with these fields."""

        def text(name: str) -> str:
            return as_text(fields[name]) if name in fields else ""

        action_type, target, rationale, scope = map(text, ("action_type", "target", "rationale", "scope"))
        words = frozenset(_WORD.findall(f"{action_type} {target} {rationale} {scope}".lower()))
        return cls(fields, text("agent_id"), action_type, target, rationale, text("rollback_plan"), scope, words)

    @property
    def summary(self) -> str:
        """The plan in one line."""
        agent = self.agent_id if "agent_id" in self.fields else "unknown-agent"
        action = self.action_type if "action_type" in self.fields else "action"
        target = self.target if "target" in self.fields else "unknown"
        return f"{agent}: {action} on {target}"

    @property
    def dependencies(self) -> tuple[str, ...]:
        """What the plan says that it depends on."""
        given = self.fields.get("dependencies")
        if isinstance(given, str):
            names = _SEPARATORS.split(given)
        elif isinstance(given, list):
            names = [as_text(name) for name in cast("list[object]", given)]
        else:
            return ()
        return tuple(stripped for name in names if (stripped := name.strip()))

    def text(self, name: str) -> str:
        """A field as text; the empty text where it is absent."""
        return as_text(self.fields[name]) if name in self.fields else ""


def as_text(value: object) -> str:
    """The value as text; the items of a list stand one after another."""
    if isinstance(value, str):
        return value
    if isinstance(value, list):
        return " ".join(as_text(item) for item in cast("list[object]", value))
    return str(value)
