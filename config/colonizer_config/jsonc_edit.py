"""Changes of a JSON text that leave everything else in it as it is: comments, order, blanks and line ends.

A change adds, replaces or cuts one member of an object by its place. Each function takes and gives a valid text.
"""

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple, cast

from colonizer_config.errors import SettingsError
from colonizer_config.jsonc_text import JsonValue, Member, json_values, line_at, skipped

_INDENTED = re.compile(r'^([ \t]+)"', re.MULTILINE)
_REST_OF_LINE = re.compile(r"(?:[ \t]*/\*[^\r\n]*?\*/)*[ \t]*//[^\r\n]*|(?:[ \t]*/\*[^\r\n]*?\*/)+")
_UNIT = "  "


def set_member(text: str, path: Sequence[str], value: object, file: str) -> str:
    """The text with that value at `path`: in the place of an older one, else behind its neighbours.

    Raises:
        SettingsError: It is no JSON, or what leads there is no object, or is there twice.
    """
    style = _Style.of(text)
    root = json_values(text, file, path)
    if root is None:
        gap = style.line_end if text.strip() and not text.endswith("\n") else ""
        return f"{text}{gap}{style.written(_nested(path, value), '')}{style.line_end}"
    holder, rest = _deepest(text, root, path, file)
    if not rest:
        place = holder.start
        return f"{text[:place]}{style.written(value, _indent_at(text, place))}{text[holder.end :]}"
    return _added(text, holder, rest[0], _nested(rest[1:], value), style)


def remove_member(text: str, path: Sequence[str], file: str) -> str:
    """The text without the member at `path`; comments beside it stay.

    Raises:
        SettingsError: As `set_member`.
    """
    root = json_values(text, file, path)
    if root is None:
        return text
    holder, rest = _deepest(text, root, path[:-1], file)
    if rest:
        return text
    if holder.members is None:
        raise _misplaced(text, holder, path[:-1], file)
    found = _only(text, holder, path[-1], file)
    return text if found is None else _cut(text, holder, found)


def remove_empty(text: str, path: Sequence[str], file: str) -> str:
    """The text without the object at `path`, where it holds neither members nor comments.

    Raises:
        SettingsError: As `set_member`.
    """
    root = json_values(text, file, path)
    if root is None:
        return text
    found, rest = _deepest(text, root, path, file)
    return text if rest or text[found.start : found.end] != "{}" else remove_member(text, path, file)


def member_value(text: str, path: Sequence[str], file: str) -> Any:
    """What is at `path`, None where nothing is.

    Raises:
        SettingsError: As `set_member`.
    """
    root = json_values(text, file, path)
    if root is None:
        return None
    found, rest = _deepest(text, root, path, file)
    return None if rest else found.value


class _Style(NamedTuple):
    """How the text is laid out."""

    unit: str
    """One step of indentation."""
    line_end: str

    @classmethod
    def of(cls, text: str) -> "_Style":
        found = _INDENTED.search(text)
        return cls(found[1] if found else _UNIT, "\r\n" if "\r\n" in text else "\n")

    def written(self, value: object, indent: str) -> str:
        """The value as it stands in a line that is indented so: objects over several lines, the rest in one."""
        if not isinstance(value, Mapping) or not value:
            return json.dumps(value, ensure_ascii=False)
        inner = indent + self.unit
        members = cast(Mapping[str, object], value).items()
        rows = (f"{inner}{_key(key)}: {self.written(of, inner)}" for key, of in members)
        return f"{{{self.line_end}{f',{self.line_end}'.join(rows)}{self.line_end}{indent}}}"


def _deepest(text: str, root: JsonValue, path: Sequence[str], file: str) -> tuple[JsonValue, Sequence[str]]:
    """The value farthest along the path, and the keys behind it that are not there."""
    here = root
    for number, key in enumerate(path):
        if here.members is None:
            raise _misplaced(text, here, path[:number], file)
        member = _only(text, here, key, file)
        if member is None:
            return here, path[number:]
        here = member.of
    return here, ()


def _misplaced(text: str, found: JsonValue, path: Sequence[str], file: str) -> SettingsError:
    line = line_at(text, found.start)
    name = ".".join(path) or "the file"
    return SettingsError(f"{file}, line {line}: {name} is no object", line=line)


def _only(text: str, holder: JsonValue, key: str, file: str) -> Member | None:
    """The member of that name. Readers differ in which of two they take, so two are refused."""
    found = holder.named(key)
    if len(found) > 1:
        line = line_at(text, found[1].start)
        raise SettingsError(f"{file}, line {line}: {_key(key)} is there twice", line=line)
    return found[0] if found else None


def _added(text: str, holder: JsonValue, key: str, value: object, style: _Style) -> str:
    members = holder.members or ()
    if not members:
        return _filled(text, holder, key, value, style)
    last = members[-1]
    begin = last.of.end if last.comma is None else last.comma + 1
    place = _line_rest(text, begin)
    before, after = text[:begin] + ("," if last.comma is None else "") + text[begin:place], text[place:]
    closing = "" if last.comma is None else ","
    if "\n" not in text[holder.start : holder.end]:
        inline = json.dumps(value, ensure_ascii=False)
        return f"{before} {_key(key)}: {inline}{closing}{after}"
    indent = _indent_at(text, last.start)
    return f"{before}{style.line_end}{indent}{_key(key)}: {style.written(value, indent)}{closing}{after}"


def _filled(text: str, holder: JsonValue, key: str, value: object, style: _Style) -> str:
    """The text with the first member of an empty object, which may hold comments."""
    outer = _indent_at(text, holder.start)
    indent = outer + style.unit
    place = _line_rest(text, holder.start + 1)
    rest = text[place : holder.end - 1]
    if "\n" not in rest:
        rest = f"{rest.rstrip()}{style.line_end}{outer}"
    entry = f"{style.line_end}{indent}{_key(key)}: {style.written(value, indent)}"
    return f"{text[:place]}{entry}{rest}{text[holder.end - 1 :]}"


def _cut(text: str, holder: JsonValue, member: Member) -> str:
    members = holder.members or ()
    place = members.index(member)
    end = member.of.end if member.comma is None else member.comma + 1
    between = text[member.of.end : end].rstrip(",")
    before, after = text[: member.start], between + text[end:]
    if member.comma is None and place and (comma := members[place - 1].comma) is not None:
        before = before[:comma] + before[comma + 1 :]
    follows = after.lstrip(" \t")
    bare = before.rstrip()
    if follows.startswith(("\n", "\r")):
        before, after = bare, follows
    elif follows.startswith("}") and "\n" not in before[len(bare) :]:
        before = bare
    else:
        after = follows
    if len(bare) == holder.start + 1 and follows.lstrip().startswith("}"):
        before, after = bare, follows.lstrip()
    return before + after


def _line_rest(text: str, place: int) -> int:
    """The end of the comments that stand in the same line behind the place, which belong to what is before it."""
    found = _REST_OF_LINE.match(text, place)
    return place if found is None or skipped(text, place) < found.end() else found.end()


def _indent_at(text: str, place: int) -> str:
    """The blanks with which the line of the place begins."""
    line = text[text.rfind("\n", 0, place) + 1 : place]
    return line[: len(line) - len(line.lstrip(" \t"))]


def _nested(path: Sequence[str], value: object) -> object:
    for key in reversed(path):
        value = {key: value}
    return value


def _key(key: str) -> str:
    return json.dumps(key, ensure_ascii=False)
