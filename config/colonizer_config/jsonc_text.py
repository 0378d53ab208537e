"""The text of a JSON file with its places: which characters say what.

It may hold comments (`//` and `/* */`) and commas before a closing bracket, as configuration files of editors and
agents do. An edit must leave every other character as it is, so each value comes with where it begins and ends.
"""

import json
import re
from collections.abc import Sequence
from typing import Any, NoReturn

from colonizer_config.errors import SettingsError
from colonizer_config.value import Value

NESTING_LIMIT = 200
"""Far deeper than any configuration."""

BYTE_ORDER_MARK = "\ufeff"

_BETWEEN = re.compile(r"(?:[ \t\r\n]+|//[^\r\n]*|/\*.*?\*/)*", re.DOTALL)
_STRING = re.compile(r'"(?:[^"\\\x00-\x1f]|\\(?:["\\/bfnrt]|u[0-9A-Fa-f]{4}))*"')
_SCALAR = re.compile(r"-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?|true|false|null")


class JsonValue(Value):
    """A value and its place in the text."""

    start: int
    end: int
    """Behind its last character."""
    value: Any
    """What it says; of a key that an object has twice, the last one."""
    members: "tuple[Member, ...] | None" = None
    """The members of an object in their order, None where it is something else, or off the way that was asked for."""

    def named(self, key: str) -> "tuple[Member, ...]":
        """The members of that name: none, one, or where somebody erred more."""
        return tuple(member for member in self.members or () if member.key == key)


class Member(Value):
    """A key of an object, with its value."""

    key: str
    start: int
    """Where the key begins."""
    of: JsonValue
    comma: int | None
    """Where the comma behind it is, None where there is none."""


def _refuse(name: str) -> NoReturn:
    """Refuses `NaN` and its like, which Python reads and JSON has not."""
    raise ValueError(name)


_PLAIN = json.JSONDecoder(parse_constant=_refuse)


def json_values(text: str, file: str, way: Sequence[str] = ()) -> JsonValue | None:
    """The value of the text, None where it holds nothing but blanks and comments.

    Args:
        text: The text.
        file: The name that errors give it.
        way: The keys of the objects whose members are wanted, from the outside in.

    Raises:
        SettingsError: It is no JSON, comments and closing commas allowed for.
    """
    return _Scanner(text, file).document(way)


def skipped(text: str, place: int) -> int:
    """The place of what comes next behind blanks and comments."""
    return _matched(_BETWEEN, text, place)


def line_at(text: str, place: int) -> int:
    """The line, from 1, in which the place is."""
    return text.count("\n", 0, place) + 1


def _matched(pattern: re.Pattern[str], text: str, place: int) -> int:
    found = pattern.match(text, place)
    return place if found is None else found.end()


class _Scanner:
    """Reads one text from its beginning to its end."""

    def __init__(self, text: str, file: str) -> None:
        self._text = text
        self._file = file

    def document(self, way: Sequence[str]) -> JsonValue | None:
        start = skipped(self._text, len(BYTE_ORDER_MARK) if self._text.startswith(BYTE_ORDER_MARK) else 0)
        if start == len(self._text):
            return None
        value = self._value(start, 0, way)
        end = skipped(self._text, value.end)
        if end != len(self._text):
            self._fault(end, "nothing more is expected")
        return value

    def _value(self, place: int, depth: int, way: Sequence[str] | None) -> JsonValue:
        """The value at the place; `way` is None where no members are wanted."""
        if depth > NESTING_LIMIT:
            self._fault(place, "it is nested too deeply")
        if way is None and (plain := self._plain(place)) is not None:
            return plain
        match self._text[place : place + 1]:
            case "{":
                return self._object(place, depth, way)
            case "[":
                return self._array(place, depth)
            case '"':
                end = self._string_end(place)
            case _:
                end = _matched(_SCALAR, self._text, place)
                if end == place:
                    self._fault(place, "a value is expected")
        try:
            return JsonValue(place, end, json.loads(self._text[place:end]))
        except ValueError:  # a number of more digits than Python reads
            self._fault(place, "this number is too long")

    def _plain(self, place: int) -> JsonValue | None:
        """The value at the place where it is JSON without comments, which is read far faster; None elsewhere."""
        try:
            value, end = _PLAIN.raw_decode(self._text, place)
        except (ValueError, RecursionError):
            return None
        return JsonValue(place, end, value)

    def _object(self, start: int, depth: int, way: Sequence[str] | None) -> JsonValue:
        members: list[Member] = []
        place = skipped(self._text, start + 1)
        while not self._is_at(place, "}"):
            if members and members[-1].comma is None:
                self._fault(place, "a comma or } is expected")
            if not self._is_at(place, '"'):
                self._fault(place, "a key in double quotes or } is expected")
            key_end = self._string_end(place)
            colon = skipped(self._text, key_end)
            if not self._is_at(colon, ":"):
                self._fault(colon, "a colon is expected behind the key")
            key = json.loads(self._text[place:key_end])
            inner = way[1:] if way and key == way[0] else None
            value = self._value(skipped(self._text, colon + 1), depth + 1, inner)
            after = skipped(self._text, value.end)
            comma = after if self._is_at(after, ",") else None
            members.append(Member(key, place, value, comma))
            place = after if comma is None else skipped(self._text, comma + 1)
        return JsonValue(start, place + 1, {member.key: member.of.value for member in members}, tuple(members))

    def _array(self, start: int, depth: int) -> JsonValue:
        values: list[Any] = []
        parted = True
        place = skipped(self._text, start + 1)
        while not self._is_at(place, "]"):
            if not parted:
                self._fault(place, "a comma or ] is expected")
            value = self._value(place, depth + 1, None)
            values.append(value.value)
            place = skipped(self._text, value.end)
            parted = self._is_at(place, ",")
            if parted:
                place = skipped(self._text, place + 1)
        return JsonValue(start, place + 1, values)

    def _string_end(self, place: int) -> int:
        end = _matched(_STRING, self._text, place)
        if end == place:
            self._fault(place, "this string is not closed in its line, or holds what no JSON string does")
        return end

    def _is_at(self, place: int, mark: str) -> bool:
        return self._text.startswith(mark, place)

    def _fault(self, place: int, words: str) -> NoReturn:
        """Names the line. What stands there is not repeated: it could be a secret."""
        if self._is_at(place, "/*"):
            words = "this comment is not closed"
        elif place == len(self._text):
            words = f"the file ends where {words}" if words.endswith("expected") else words
        line = line_at(self._text, place)
        raise SettingsError(f"{self._file}, line {line}: this is not JSON: {words}", line=line)
