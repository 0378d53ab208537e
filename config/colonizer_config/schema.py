"""Rules for values that come from a settings file, and the words for what breaks them."""

import re
from collections.abc import Callable, Iterable, Mapping
from datetime import date, datetime, time
from enum import StrEnum
from typing import Any, TypeAlias, TypeVar, cast

from colonizer_config.errors import SettingsError
from colonizer_config.toml_text import KeyPath, line_of
from colonizer_config.value import Value

T = TypeVar("T")
Word = TypeVar("Word", bound=StrEnum)

_KINDS: tuple[tuple[type | tuple[type, ...], str], ...] = (
    (bool, "true or false"),
    (int, "a whole number"),
    (float, "a number with a fraction"),
    (str, "a string"),
    (list, "an array"),
    (dict, "a table"),
    ((datetime, date, time), "a date or time"),
)
"""What a person calls each type; a boolean is a whole number to Python, so it comes first."""


class At(Value):
    """A place in the text of a settings file, which is what an error names."""

    file: str
    text: str
    path: KeyPath = ()

    def inside(self, *keys: str | int) -> "At":
        """The place of a key or an element within this one."""
        return At(self.file, self.text, self.path + keys)

    def error(self, problem: str) -> SettingsError:
        """The error that says what is wrong here."""
        line = line_of(self.text, self.path) or 1
        return SettingsError(f"{self.file}, line {line}: {problem}", line=line)

    def mismatch(self, expected: str, found: object) -> SettingsError:
        """The error for a value of another type. The value is not repeated: it could be a secret in the wrong place."""
        kind = next((words for types, words in _KINDS if isinstance(found, types)), "something else")
        return self.error(f"{self} is {kind}, where {expected} is expected")

    def __str__(self) -> str:
        keys = [key for key in self.path if isinstance(key, str)]
        return ".".join(_shown(key) for key in keys) or "the file"


Rule: TypeAlias = Callable[[object, At], T]
"""Makes a value of the file into one of ours, or raises the `SettingsError` that says what it should be."""


def text(pattern: str = ".*", expected: str = "a string in one line that is not empty") -> Rule[str]:
    """A string in one line that is not empty and matches the pattern; `expected` says so in words."""
    matches = re.compile(pattern).fullmatch

    def read(value: object, at: At) -> str:
        if not isinstance(value, str):
            raise at.mismatch("a string", value)
        if not value.strip() or not value.isprintable() or not matches(value):
            raise at.error(f"{at} must be {expected}")
        return value

    return read


def choice(words: type[Word]) -> Rule[Word]:
    """One of a few words."""

    def read(value: object, at: At) -> Word:
        if not isinstance(value, str):
            raise at.mismatch("a string", value)
        try:
            return words(value)
        except ValueError:
            raise at.error(f"{at} cannot be that; {_instead(value, words, 'word')}") from None

    return read


def flag(value: object, at: At) -> bool:
    """True or false."""
    if not isinstance(value, bool):
        raise at.mismatch("true or false", value)
    return value


def count(low: int, high: int) -> Rule[int]:
    """A whole number from `low` to `high`."""

    def read(value: object, at: At) -> int:
        if not isinstance(value, int) or isinstance(value, bool):
            raise at.mismatch("a whole number", value)
        if not low <= value <= high:
            raise at.error(f"{at} must be from {low} to {high}")
        return value

    return read


def command(value: object, at: At) -> tuple[str, ...]:
    """A program and its arguments, in an array that no shell reads."""
    words: list[str] = []
    for word in _array(value, at):
        if not isinstance(word, str):
            raise at.mismatch("an array of strings", word)
        if "\0" in word:
            raise at.error(f"{at} holds a NUL character, which no process can be given")
        words.append(word)
    if not words or not words[0].strip():
        raise at.error(f"{at} begins with the program to run")
    return tuple(words)


def several(rule: Rule[T]) -> Rule[tuple[T, ...]]:
    """An array of values that follow one rule."""

    def read(value: object, at: At) -> tuple[T, ...]:
        return tuple(rule(item, at.inside(index)) for index, item in enumerate(_array(value, at)))

    return read


def named(name: Rule[str], rule: Rule[T]) -> Rule[Mapping[str, T]]:
    """A table whose keys the person chooses."""

    def read(value: object, at: At) -> Mapping[str, T]:
        rows = _table(value, at).items()
        return {name(key, at.inside(key)): rule(item, at.inside(key)) for key, item in rows}

    return read


def table(
    make: Callable[..., T],
    rules: Mapping[str, Rule[Any]],
    *,
    required: tuple[str, ...] = (),
    check: Callable[[T, At], None] | None = None,
) -> Rule[T]:
    """A table with known keys.

    Args:
        make: Makes the result of the values, by their keys; it has the defaults of keys that are left out.
        rules: Every key and what its value has to be.
        required: The keys that may not be left out.
        check: Raises `at.error(…)` where values that are right one by one do not go together.
    """

    def read(value: object, at: At) -> T:
        rows = _table(value, at)
        for key in rows:
            if key not in rules:
                raise at.inside(key).error(f"unknown key {at.inside(key)}; {_instead(key, rules, 'key')}")
        for key in required:
            if key not in rows:
                raise at.error(f"{at} has no {key}")
        made = make(**{key: rules[key](item, at.inside(key)) for key, item in rows.items()})
        if check is not None:
            check(made, at)
        return made

    return read


def nearest(word: str, valid: Iterable[str]) -> str | None:
    """The valid word that was probably meant."""
    import difflib  # loaded where something is wrong

    return next(iter(difflib.get_close_matches(word, list(valid), n=1)), None)


def _instead(word: str, valid: Iterable[str], what: str) -> str:
    known = list(valid)
    close = nearest(word, known)
    return f"the nearest valid {what} is {close}" if close else f"valid {what}s are {', '.join(known)}"


def _array(value: object, at: At) -> list[object]:
    if not isinstance(value, list):
        raise at.mismatch("an array", value)
    return cast(list[object], value)


def _table(value: object, at: At) -> dict[str, object]:
    if not isinstance(value, dict):
        raise at.mismatch("a table", value)
    return cast(dict[str, object], value)


def _shown(key: str) -> str:
    """A key of the file on one line of a terminal, whatever it holds."""
    bare = key if re.fullmatch(r"[A-Za-z0-9_-]+", key) else ascii(key)
    return bare if len(bare) <= 60 else f"{bare[:59]}…"
