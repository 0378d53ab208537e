"""One entry of ours in the settings file of another program, put there and taken back.

What was changed is noted in a file of ours. As long as nobody else changed that file, taking the entry back gives the
file that was there before, byte for byte; otherwise only the entry goes, and what was made to hold it.
"""

import contextlib
import hashlib
import json
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, cast

import msgspec

from colonizer_config.atomic_write import only_writer, rewrite
from colonizer_config.entry_format import EntryFormat
from colonizer_config.errors import SettingsError
from colonizer_config.private_file import read_private, write_private
from colonizer_config.settings import read_text
from colonizer_config.value import Value

FILE_LIMIT_BYTES = 64 * 1024 * 1024
"""Some programs keep their whole past in the file of their settings."""


class Note(Value):
    """What was changed. It never holds the entry itself, in which there may be a token."""

    entry: str
    """A digest of the entry."""
    text: str
    """A digest of the whole text with the entry."""
    start: int
    """Where the text was changed, in characters."""
    length: int
    """How many characters were put there."""
    replaced: str
    """What had been there."""
    held: int
    """How many of the keys, from the outside in, led somewhere before."""
    former: Any
    """What the entry of this name had said, None where there was none."""
    made_file: bool
    made_folder: bool


class EntryEdit:
    """A change of one entry; nothing is written before `save`.

    Args:
        path: The file of the other program; it need not be there.
        keys: The keys under which the entry lies.
        form: How the file is written.
        notes: The folder in which we note what we changed.

    Raises:
        SettingsError: The file cannot be read, or is broken, which has to be mended by hand first.
        SecretError: Our note cannot be read.
    """

    def __init__(self, path: Path, keys: Sequence[str], form: EntryFormat, notes: Path) -> None:
        self.path = path
        self._keys = tuple(keys)
        self._form = form
        self._named = str(path)
        self._opened = self._text = read_text(path, FILE_LIMIT_BYTES)
        self.found: Any = self._value(self._opened)
        """What the entry of this name says in the file, None where there is none."""
        name = hashlib.sha256(ascii((str(path.absolute()), self._keys)).encode("ascii")).hexdigest()[:32]
        self._note_file = notes / f"{name}.json"
        self._noted = self._note = _read_note(self._note_file)

    @property
    def is_ours(self) -> bool:
        """Whether the entry is as we put it there."""
        return self._noted is not None and self.found is not None and self._noted.entry == _digest(_plain(self.found))

    @property
    def restores(self) -> bool:
        """Whether taking the entry back puts another one of its name back."""
        return self.is_ours and self._noted is not None and self._noted.former is not None

    @property
    def changes(self) -> bool:
        """Whether `save` would change the file."""
        return self._text != self._opened

    @property
    def text(self) -> str | None:
        """The text that the file will have, None where there will be none."""
        return self._text

    def put(self, value: Mapping[str, object]) -> None:
        """Puts the entry there. One of ours is taken back first; any other of its name is replaced.

        Raises:
            SettingsError: The file is written in a way in which we cannot change it.
        """
        if self.found == value:
            return
        before = self._without() if self.is_ours else self._opened
        text = self._form.put(before or "", self._keys, value, self._named)
        if self._value(text) != value:
            raise SettingsError(f"{self.path} is written in a way that cannot be changed here: do it by hand")
        start, length, replaced = _splice(before or "", text)
        self._text = text
        self._note = Note(
            entry=_digest(_plain(value)),
            text=_digest(text),
            start=start,
            length=length,
            replaced=replaced,
            held=self._held(before),
            former=self._value(before),
            made_file=before is None,
            made_folder=self._noted.made_folder if self.is_ours and self._noted else not self.path.parent.exists(),
        )

    def take_back(self) -> None:
        """Takes the entry out, whoever put it there; what ours replaced is there again.

        Raises:
            SettingsError: As `put`.
        """
        self._text = self._without()
        self._note = None

    def save(self) -> None:
        """Writes the file whole, or removes it where we made it. A link to the file stays a link.

        Raises:
            SettingsError: The file was changed by somebody else since it was read, or it cannot be written; it is as
                it was.
            ConfigError: Our note cannot be written; the file is as it was.
        """
        if not self.changes and self._note is self._noted:
            return
        try:
            target = self.path.resolve()
            if self._text is None and self._opened is None:
                self._write_note(None)
                return
            target.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            with only_writer(target.parent):
                if read_text(self.path, FILE_LIMIT_BYTES) != self._opened:
                    raise SettingsError(f"{self.path} was changed meanwhile: nothing was written, look at it again")
                self._replace(target)
        except OSError as problem:
            raise SettingsError(f"cannot write {self.path}: {problem.strerror or problem}") from problem

    def _replace(self, target: Path) -> None:
        """Notes first what will be changed: a change that is not noted could not be taken back exactly."""
        self._write_note(self._note)
        try:
            if self._text is None:
                target.unlink()
                if self._noted is not None and self._noted.made_folder:
                    with contextlib.suppress(OSError):  # others put something there
                        target.parent.rmdir()
            elif self.changes:
                rewrite(target, self._text.encode())
        except BaseException:
            self._write_note(self._noted)
            raise

    def _write_note(self, note: Note | None) -> None:
        if note is not None:
            # Only ASCII is kept in private files, and the text around the entry is in any language.
            write_private(self._note_file, json.dumps(msgspec.to_builtins(note)))
        else:
            with contextlib.suppress(FileNotFoundError):
                os.unlink(self._note_file)

    def _without(self) -> str | None:
        """The text without the entry, None where the file goes with it."""
        text, note = self._opened, self._noted
        if text is None or self.found is None:
            return text
        if note is None or not self.is_ours:
            return self._form.remove(text, self._keys, self._named)
        if _digest(text) == note.text and not (note.made_file and self.path.is_symlink()):
            before = f"{text[: note.start]}{note.replaced}{text[note.start + note.length :]}"
            return None if note.made_file else before
        former: object = note.former
        if isinstance(former, Mapping):
            return self._form.put(text, self._keys, cast(Mapping[str, object], former), self._named)
        text = self._form.remove(text, self._keys, self._named)
        for depth in range(len(self._keys) - 1, note.held, -1):
            text = self._form.remove_empty(text, self._keys[:depth], self._named)
        return text

    def _value(self, text: str | None) -> Any:
        return None if text is None else self._form.value(text, self._keys, self._named)

    def _held(self, text: str | None) -> int:
        depths = range(len(self._keys), 0, -1)
        there = (n for n in depths if self._form.value(text or "", self._keys[:n], self._named) is not None)
        return next(there, 0)


def _read_note(file: Path) -> Note | None:
    """The note, None where there is none, or where it is none of ours and so tells nothing."""
    text = read_private(file)
    try:
        return None if text is None else msgspec.json.decode(text, type=Note)
    except msgspec.DecodeError:
        return None


def _splice(before: str, after: str) -> tuple[int, int, str]:
    """Where the texts differ, how much the second one has there, and what the first one has."""
    start = _alike(before, after)
    same = _alike(before[start:][::-1], after[start:][::-1])
    return start, len(after) - same - start, before[start : len(before) - same]


def _alike(one: str, other: str) -> int:
    """With how many characters both begin."""
    same, most = 0, min(len(one), len(other))
    while same < most:
        middle = (same + most + 1) // 2
        if one[same:middle] == other[same:middle]:
            same = middle
        else:
            most = middle - 1
    return same


def _plain(value: object) -> str:
    """The value as one text, whatever the order of its keys and the way in which it is written."""
    return json.dumps(value, sort_keys=True, default=str)


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()
