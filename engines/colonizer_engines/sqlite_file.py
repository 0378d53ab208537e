"""The SQLite files of the engines: opened as ours or not at all, and their errors in our words.

A write-ahead log with `synchronous=NORMAL`: what is committed survives the death of this process (`kill -9` included),
since the operating system has it; only a power cut can take the last moments, and then whole transactions.
"""

import os
import sqlite3
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar, Self

import msgspec

_FULL = {sqlite3.SQLITE_FULL, sqlite3.SQLITE_IOERR, sqlite3.SQLITE_READONLY, sqlite3.SQLITE_CANTOPEN}
_HELD = {sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED}
_DAMAGED = {sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB}


@dataclass(frozen=True, slots=True, kw_only=True)
class Errors:
    """What an engine raises where its database does not take or give something."""

    full: type[Exception]
    """There is no room, or the disk does not take writes."""
    held: type[Exception]
    """Another process is at it."""
    unusable: type[Exception]
    """The file is damaged, newer than this program, or not ours."""
    other: type[Exception]


@dataclass(frozen=True, slots=True, kw_only=True)
class Kind:
    """One kind of database."""

    application_id: int
    version: int
    tables: str
    """The SQL that makes them."""
    errors: Errors
    pragmas: tuple[str, ...] = ()
    """What is set on each connection beside the journal."""
    exclusive: bool = False
    """Whether the database is locked for as long as it is open, so that one process owns it."""
    any_thread: bool = False
    """Whether other threads than the opening one may use it, one at a time."""


class SqliteFile:
    """An open database; each engine derives its own."""

    kind: ClassVar[Kind]

    _file: tuple[Path, int] | None = None
    """The path, and the number of the file that was there when it was opened."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection

    @classmethod
    def open(cls, path: Path) -> Self:
        """The database at `path`, made where there is none.

        Raises:
            Exception: One of the kind's errors; the file is left as it is.
        """
        kind = cls.kind
        with _translated(f"the database {path}", kind.errors):
            _make_private(path, kind)
            # One that waits for a lock would have its thread wait; what is to be owned is refused at once.
            patience_s = 0.0 if kind.exclusive else 5.0
            connection = sqlite3.connect(
                path, isolation_level=None, timeout=patience_s, check_same_thread=not kind.any_thread
            )
            try:
                _prepare(connection, path, kind)
            except BaseException:
                connection.close()
                raise
        opened = cls(connection)
        opened._file = path, path.stat().st_ino
        return opened

    def close(self) -> None:
        """Closes the database; what is committed is in the main file then."""
        self._connection.close()

    def limit_pages(self, pages: int) -> None:
        """Gives the database at most so many pages of 4 KiB, for tests of a full disk."""
        self._connection.execute(f"PRAGMA max_page_count = {int(pages)}")

    @contextmanager
    def transaction(self) -> Generator[None]:
        """Everything written inside is kept together, or nothing of it is."""
        self._refuse_where_lost()
        with self._translated("the database"):
            self._connection.execute("BEGIN IMMEDIATE")
            try:
                yield
                self._connection.execute("COMMIT")
            except BaseException:
                # A full disk makes SQLite roll back by itself.
                if self._connection.in_transaction:
                    self._connection.execute("ROLLBACK")
                raise

    def _refuse_where_lost(self) -> None:
        """SQLite goes on writing into a file that was deleted, and all of it is gone when the last process ends."""
        if self._file is None:
            return
        path, number = self._file
        try:
            is_there = path.stat().st_ino == number
        except OSError:
            is_there = False
        if not is_there:
            lost = "was deleted or replaced while it was in use; nothing is written any more"
            raise self.kind.errors.unusable(f"the database {path} {lost}: put it back, or end the engine to begin anew")

    @contextmanager
    def _translated(self, subject: str) -> Generator[None]:
        """Turns the errors of what is done inside into the kind's; `subject` is what their words are about."""
        with _translated(subject, self.kind.errors):
            yield


def _make_private(path: Path, kind: Kind) -> None:
    """Makes an empty file that only this user can read; the files that SQLite puts beside it get the same mode."""
    try:
        os.close(os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600))
    except OSError as problem:
        raise kind.errors.full(f"the database {path} cannot be opened: {problem.strerror}") from problem


def _prepare(connection: sqlite3.Connection, path: Path, kind: Kind) -> None:
    """Checks that the database is ours and whole, and makes the tables where it is new."""
    if kind.exclusive:
        connection.execute("PRAGMA locking_mode = EXCLUSIVE")
    (found,) = connection.execute("PRAGMA application_id").fetchone()
    (version,) = connection.execute("PRAGMA user_version").fetchone()
    (tables,) = connection.execute("SELECT COUNT(*) FROM sqlite_schema").fetchone()
    if tables and found != kind.application_id:
        raise kind.errors.unusable(f"{path} is a database of another program; move it away")
    if version > kind.version:
        raise kind.errors.unusable(f"{path} was written by a newer colonizer; update this one")
    if tables:
        (verdict,) = connection.execute("PRAGMA quick_check(1)").fetchone()
        if verdict != "ok":
            raise kind.errors.unusable(_damaged(str(path), verdict))
    for pragma in ("journal_mode = WAL", "synchronous = NORMAL", *kind.pragmas):
        connection.execute(f"PRAGMA {pragma}")
    if kind.exclusive:
        # Taking the lock for writing once keeps it until the database is closed.
        connection.execute("BEGIN IMMEDIATE")
        connection.execute("COMMIT")
    if not tables:
        connection.executescript(
            f"BEGIN; {kind.tables} PRAGMA application_id = {kind.application_id};"
            f" PRAGMA user_version = {kind.version}; COMMIT;"
        )


@contextmanager
def _translated(subject: str, errors: Errors) -> Generator[None]:
    try:
        yield
    except sqlite3.Error as problem:
        code = (getattr(problem, "sqlite_errorcode", None) or 0) & 0xFF
        if code in _FULL:
            raise errors.full(f"{subject} cannot be written: {problem}") from problem
        if code in _HELD:
            raise errors.held(f"{subject} is in use by another process") from problem
        if code in _DAMAGED:
            raise errors.unusable(_damaged(subject, problem)) from problem
        raise errors.other(f"{subject}: {problem}") from problem
    except msgspec.MsgspecError as problem:
        raise errors.unusable(_damaged(subject, problem)) from problem


def _damaged(subject: str, words: object) -> str:
    said = " ".join(str(words).split())
    return f"{subject} is damaged ({said}); nothing was changed: put a copy back, or move the file away to start anew"
