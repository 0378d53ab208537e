"""The text of a TOML file as a row of statements: which line says what.

The TOML parsers give values without their places. A fault is shown with its line, and an edit must leave every other
line as it is; both need the places. The text has to be valid TOML.
"""

import re
import tomllib
from collections.abc import Iterator, Mapping
from typing import Any, TypeAlias, cast

from colonizer_config.errors import SettingsError
from colonizer_config.value import Value

KeyPath: TypeAlias = tuple[str | int, ...]
"""Where a value is: keys, and indexes of arrays from 0."""

# Strings and comments come first, so that what looks like a bracket or a sign inside them counts for nothing.
_LEXEME = re.compile(
    r'"""(?:\\.|[^\\])*?"{3,5}'
    r"|'''.*?'{3,5}"
    r'|"(?:\\.|[^"\\\n])*"'
    r"|'[^'\n]*'"
    r"|\#[^\n]*"
    r"|[\[\]{}=\n]",
    re.DOTALL,
)


class Statement(Value):
    """One header, one key with its value, or one line with neither; with its line end."""

    text: str
    line: int
    """Its first line in the file, from 1."""
    table: KeyPath
    """The table in which it stands; of a header, the table that it opens."""
    path: KeyPath
    """What it defines: dotted keys in full, without what is inside its value. Empty for a blank or comment line."""

    @property
    def is_entry(self) -> bool:
        """Whether it is a key with its value."""
        return len(self.path) > len(self.table)

    @property
    def is_header(self) -> bool:
        """Whether it opens a table."""
        return bool(self.path) and self.path == self.table

    @property
    def keys(self) -> KeyPath:
        """The entry's key as it is written, relative to its table."""
        return self.path[len(self.table) :]


def toml_values(text: str, file: str) -> dict[str, Any]:
    """What a TOML text says; `file` is the name that errors give it.

    Raises:
        SettingsError: It is no TOML.
    """
    try:
        return tomllib.loads(text)
    except RecursionError:
        raise SettingsError(f"{file} is nested too deeply") from None
    except ValueError as problem:
        # Besides its own errors the parser lets through those of Python's numbers, which have no line.
        said = re.fullmatch(r"(.*?) \(at line (\d+), column \d+\)", str(problem), re.DOTALL)
        line = int(said[2]) if said else len(text.splitlines()) or 1
        words = said[1] if said else str(problem)
        raise SettingsError(f"{file}, line {line}: this is not TOML: {words}", line=line) from None


def statements(text: str) -> tuple[Statement, ...]:
    """The statements of a valid TOML text; their texts joined are the text."""
    found: list[Statement] = []
    table: KeyPath = ()
    lengths: dict[KeyPath, int] = {}
    line = 1
    for part, equals in _parts(text):
        head = part.lstrip()
        path: KeyPath = ()
        if head.startswith("["):
            table = path = _opened(part, lengths)
        elif equals is not None:
            path = table + _chain(tomllib.loads(f"{part[:equals]}=0"))
        found.append(Statement(part, line, table, path))
        line += part.count("\n")
    return tuple(found)


def line_of(text: str, path: KeyPath) -> int | None:
    """The line, from 1, of what `path` leads to; where that has no line of its own, of what it lies in."""
    rows = [row for row in statements(text) if row.path]
    exact = next((row for row in rows if row.path[: len(path)] == path), None)
    if exact is not None:
        return exact.line if path else None
    around = [row for row in rows if path[: len(row.path)] == row.path]
    return max(around, key=lambda row: len(row.path)).line if around else None


def _parts(text: str) -> Iterator[tuple[str, int | None]]:
    """Each statement's text, with the place of the sign that ends its key."""
    start = depth = 0
    equals: int | None = None
    for lexeme in _LEXEME.finditer(text):
        match lexeme[0]:
            case "[" | "{":
                depth += 1
            case "]" | "}":
                depth -= 1
            case "=" if equals is None and depth == 0:
                equals = lexeme.start() - start
            case "\n" if depth == 0:
                yield text[start : lexeme.end()], equals
                start, equals = lexeme.end(), None
            case _:
                pass
    if start < len(text):
        yield text[start:], equals


def _opened(header: str, lengths: dict[KeyPath, int]) -> KeyPath:
    """The table that a header opens; `lengths` counts the elements of each array of tables so far."""
    *around, last = _chain(tomllib.loads(header))
    path: KeyPath = ()
    for key in around:
        path = _newest((*path, key), lengths)
    path += (last,)
    if header.lstrip().startswith("[["):
        lengths[path] = lengths.get(path, 0) + 1
        return _newest(path, lengths)
    return path


def _newest(path: KeyPath, lengths: Mapping[KeyPath, int]) -> KeyPath:
    return (*path, lengths[path] - 1) if path in lengths else path


def _chain(nested: Mapping[str, Any]) -> tuple[str, ...]:
    """The keys from the outside in, of tables that hold one key each."""
    keys: list[str] = []
    inner: object = nested
    while isinstance(inner, dict) and inner:
        [(key, value)] = cast(dict[str, object], inner).items()
        keys.append(key)
        inner = cast(list[object], value)[0] if isinstance(value, list) else value
    return tuple(keys)
