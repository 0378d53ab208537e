"""Rules for values that come from a settings file, and the words for what breaks them."""

import difflib
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from datetime import date, datetime, time
from enum import StrEnum
from typing import Any, Generic, Protocol, TypeVar, cast

from colonizer_config.errors import SettingsError
from colonizer_config.toml_text import KeyPath, line_of

T = TypeVar("T")
T_co = TypeVar("T_co", covariant=True)
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


@dataclass(frozen=True, slots=True)
class At:
    """A place in the text of a settings file, which is what an error names."""

    file: str
    text: str
    path: KeyPath = ()

    def inside(self, key: str | int) -> "At":
        """The place of a key or an element within this one."""
        return At(self.file, self.text, (*self.path, key))

    def error(self, problem: str) -> SettingsError:
        """The error that says what is wrong here."""
        line = line_of(self.text, self.path)
        return SettingsError(f"{self.file}, line {line or 1}: {problem}", line=line or 1)

    def mismatch(self, expected: str, found: object) -> SettingsError:
        """The error for a value of another type. The value is not repeated: it could be a secret in the wrong place."""
        kind = next((words for types, words in _KINDS if isinstance(found, types)), "something else")
        return self.error(f"{self} is {kind}, where {expected} is expected")

    def __str__(self) -> str:
        keys = [key for key in self.path if isinstance(key, str)]
        return ".".join(_shown(key) for key in keys) or "the file"


class Rule(Protocol[T_co]):
    """What a value has to be."""

    def read(self, value: object, at: At) -> T_co:
        """The value as our own type.

        Raises:
            SettingsError: It is something else.
        """
        ...


@dataclass(frozen=True, slots=True)
class Text:
    """A string in one line that is not empty."""

    pattern: re.Pattern[str] | None = None
    expected: str = "a string in one line that is not empty"

    def read(self, value: object, at: At) -> str:
        """See `Rule.read`."""
        if not isinstance(value, str):
            raise at.mismatch("a string", value)
        if not value.strip() or not value.isprintable() or (self.pattern and not self.pattern.fullmatch(value)):
            raise at.error(f"{at} must be {self.expected}")
        return value


@dataclass(frozen=True, slots=True)
class Command:
    """A program and its arguments, in an array that no shell reads."""

    def read(self, value: object, at: At) -> tuple[str, ...]:
        """See `Rule.read`."""
        if not isinstance(value, list):
            raise at.mismatch("an array", value)
        words: list[str] = []
        for word in cast(list[object], value):
            if not isinstance(word, str):
                raise at.mismatch("an array of strings", word)
            if "\0" in word:
                raise at.error(f"{at} holds a NUL character, which no process can be given")
            words.append(word)
        if not words or not words[0].strip():
            raise at.error(f"{at} begins with the program to run")
        return tuple(words)


@dataclass(frozen=True, slots=True)
class Choice(Generic[Word]):
    """One of a few words."""

    words: type[Word]

    def read(self, value: object, at: At) -> Word:
        """See `Rule.read`."""
        if not isinstance(value, str):
            raise at.mismatch("a string", value)
        try:
            return self.words(value)
        except ValueError:
            raise at.error(f"{at} cannot be that; {_nearest(value, self.words, 'word')}") from None


@dataclass(frozen=True, slots=True)
class Flag:
    """True or false."""

    def read(self, value: object, at: At) -> bool:
        """See `Rule.read`."""
        if not isinstance(value, bool):
            raise at.mismatch("true or false", value)
        return value


@dataclass(frozen=True, slots=True)
class Count:
    """A whole number from `low` to `high`."""

    low: int
    high: int

    def read(self, value: object, at: At) -> int:
        """See `Rule.read`."""
        if not isinstance(value, int) or isinstance(value, bool):
            raise at.mismatch("a whole number", value)
        if not self.low <= value <= self.high:
            raise at.error(f"{at} must be from {self.low} to {self.high}")
        return value


@dataclass(frozen=True, slots=True)
class Several(Generic[T]):
    """An array of values of one kind."""

    of: Rule[T]

    def read(self, value: object, at: At) -> tuple[T, ...]:
        """See `Rule.read`."""
        if not isinstance(value, list):
            raise at.mismatch("an array", value)
        return tuple(self.of.read(item, at.inside(index)) for index, item in enumerate(cast(list[object], value)))


@dataclass(frozen=True, slots=True)
class Named(Generic[T]):
    """A table whose keys the person chooses."""

    name: Text
    of: Rule[T]

    def read(self, value: object, at: At) -> Mapping[str, T]:
        """See `Rule.read`."""
        if not isinstance(value, dict):
            raise at.mismatch("a table", value)
        rows = cast(dict[str, object], value).items()
        return {self.name.read(key, at.inside(key)): self.of.read(item, at.inside(key)) for key, item in rows}


@dataclass(frozen=True, slots=True)
class Table(Generic[T]):
    """A table with known keys. `make` makes something of its values and has the defaults of keys that are left out."""

    make: Callable[..., T]
    keys: Mapping[str, Rule[Any]]
    required: tuple[str, ...] = ()
    check: Callable[[T, At], None] | None = None
    """Raises `at.error(…)` where values that are right one by one do not go together."""

    def read(self, value: object, at: At) -> T:
        """See `Rule.read`."""
        if not isinstance(value, dict):
            raise at.mismatch("a table", value)
        rows = cast(dict[str, object], value)
        for key in rows:
            if key not in self.keys:
                raise at.inside(key).error(f"unknown key {at.inside(key)}; {_nearest(key, self.keys, 'key')}")
        for key in self.required:
            if key not in rows:
                raise at.error(f"{at} has no {key}")
        made = self.make(**{key: self.keys[key].read(item, at.inside(key)) for key, item in rows.items()})
        if self.check is not None:
            self.check(made, at)
        return made


def nearest(word: str, valid: Iterable[str]) -> str | None:
    """The valid word that was probably meant."""
    return next(iter(difflib.get_close_matches(word, list(valid), n=1)), None)


def _nearest(word: str, valid: Iterable[str], what: str) -> str:
    known = list(valid)
    close = nearest(word, known)
    return f"the nearest valid {what} is {close}" if close else f"valid {what}s are {', '.join(known)}"


def _shown(key: str) -> str:
    """A key of the file on one line of a terminal, whatever it holds."""
    bare = key if re.fullmatch(r"[A-Za-z0-9_-]+", key) else ascii(key)
    return bare if len(bare) <= 60 else f"{bare[:59]}…"
