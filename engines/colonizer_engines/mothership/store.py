"""The database of the embedded mothership: the one module that knows SQL.

A write-ahead log with `synchronous=NORMAL`: what is committed survives the death of this process (`kill -9` included),
since the kernel has it; only a power cut can take the last moments, and then whole transactions.
All calls are short and made from the event loop; the engine owns the one connection.
"""

import os
import sqlite3
from collections.abc import Generator, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import msgspec

from colonizer_engines.mothership.colony import Colony
from colonizer_engines.mothership.errors import DatabaseUnusable, StorageFull, StoreError
from colonizer_engines.mothership.session import ColonyId
from colonizer_engines.mothership.tokens import TokenId, TokenRecord
from colonizer_engines.mothership.wire import encode

_APPLICATION_ID = 0x434C4E5A
_SCHEMA_VERSION = 1

_SCHEMA = """
CREATE TABLE colonies (id TEXT PRIMARY KEY, record BLOB NOT NULL) WITHOUT ROWID;
CREATE TABLE events (
    colony TEXT NOT NULL, epoch INTEGER NOT NULL, seq INTEGER NOT NULL,
    type TEXT NOT NULL, settler TEXT, body BLOB NOT NULL,
    PRIMARY KEY (colony, epoch, seq)
) WITHOUT ROWID;
CREATE TABLE harness_log (number INTEGER PRIMARY KEY, colony TEXT NOT NULL, body BLOB NOT NULL);
CREATE INDEX harness_log_of_colony ON harness_log (colony, number);
CREATE TABLE message_ids (colony TEXT NOT NULL, id TEXT NOT NULL, PRIMARY KEY (colony, id)) WITHOUT ROWID;
CREATE TABLE tokens (id TEXT PRIMARY KEY, digest TEXT NOT NULL UNIQUE, record BLOB NOT NULL) WITHOUT ROWID;
CREATE TABLE repositories (name TEXT PRIMARY KEY, git_dir TEXT NOT NULL, top TEXT NOT NULL) WITHOUT ROWID;
"""

PIECE_BYTES = 4 * 1024 * 1024
"""How much of a log is taken into memory at once: an agent may write lines of 256 KiB."""

_FULL = {sqlite3.SQLITE_FULL, sqlite3.SQLITE_IOERR, sqlite3.SQLITE_READONLY, sqlite3.SQLITE_CANTOPEN}
_DAMAGED = {sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB}


@dataclass(frozen=True, slots=True)
class EventRow:
    """One numbered event of one run, as it goes over the wire."""

    colony: ColonyId
    epoch: int
    seq: int
    type: str
    settler: str | None
    """The id of the subagent that it belongs to."""
    body: bytes


@dataclass(frozen=True, slots=True)
class KnownRepository:
    """A repository that colonies may be launched on."""

    name: str
    git_dir: str
    top: str


class Store:
    """The open database.

    Raises:
        StorageFull: From every writing method: nothing of the transaction is kept.
        DatabaseUnusable: From every method, when the file turns out to be damaged.
    """

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection
        self._colony_decoder = msgspec.json.Decoder(Colony)
        self._token_decoder = msgspec.json.Decoder(TokenRecord)

    @classmethod
    def open(cls, path: Path) -> "Store":
        """The database at `path`, made where there is none.

        Raises:
            DatabaseUnusable: It is damaged, newer than this program, or not ours; the file is left as it is.
            StorageFull: It cannot be made.
        """
        with _translated(f"the database {path}"):
            _make_private(path)
            connection = sqlite3.connect(path, isolation_level=None)
            try:
                _prepare(connection, path)
            except BaseException:
                connection.close()
                raise
        return cls(connection)

    def close(self) -> None:
        """Closes the database; what is committed is in the main file then."""
        self._connection.close()

    def limit_pages(self, pages: int) -> None:
        """Gives the database at most so many pages of 4 KiB, for tests of a full disk."""
        self._connection.execute(f"PRAGMA max_page_count = {int(pages)}")

    @contextmanager
    def transaction(self) -> Generator[None]:
        """Everything written inside is kept together, or nothing of it is."""
        with _translated("the database"):
            self._connection.execute("BEGIN IMMEDIATE")
            try:
                yield
                self._connection.execute("COMMIT")
            except BaseException:
                # A full disk makes SQLite roll back by itself.
                if self._connection.in_transaction:
                    self._connection.execute("ROLLBACK")
                raise

    # Colonies

    def colonies(self) -> list[Colony]:
        """All colonies, in no order."""
        with _translated("the colonies"):
            rows = self._connection.execute("SELECT record FROM colonies").fetchall()
            return [self._colony_decoder.decode(record) for (record,) in rows]

    def put_colony(self, colony: Colony) -> None:
        """Writes the colony's record."""
        self._connection.execute(
            "INSERT INTO colonies VALUES (?, ?) ON CONFLICT (id) DO UPDATE SET record = excluded.record",
            (colony.id, encode(colony)),
        )

    def delete_colony(self, colony: ColonyId) -> None:
        """Removes the colony's record, events, log and message ids."""
        self._connection.execute("DELETE FROM colonies WHERE id = ?", (colony,))
        for table in ("events", "harness_log", "message_ids"):
            self._connection.execute(f"DELETE FROM {table} WHERE colony = ?", (colony,))

    def add_message_id(self, colony: ColonyId, message: str) -> bool:
        """Whether the id is new to the colony; from now on it is not."""
        before = self._connection.total_changes
        self._connection.execute("INSERT OR IGNORE INTO message_ids VALUES (?, ?)", (colony, message))
        return self._connection.total_changes > before

    def knows_message_id(self, colony: ColonyId, message: str) -> bool:
        """Whether a message with this id was accepted before."""
        with _translated("the message ids"):
            found = self._connection.execute(
                "SELECT 1 FROM message_ids WHERE colony = ? AND id = ?", (colony, message)
            ).fetchone()
        return found is not None

    # Events

    def append_events(self, rows: Iterable[EventRow]) -> None:
        """Adds events at the ends of their runs."""
        self._connection.executemany(
            "INSERT INTO events VALUES (?, ?, ?, ?, ?, ?)",
            [(row.colony, row.epoch, row.seq, row.type, row.settler, row.body) for row in rows],
        )

    def last_seq(self, colony: ColonyId, epoch: int) -> int:
        """The number of the run's last event; 0 where it has none."""
        with _translated("the events"):
            (seq,) = self._connection.execute(
                "SELECT MAX(seq) FROM events WHERE colony = ? AND epoch = ?", (colony, epoch)
            ).fetchone()
        return seq or 0

    def events_after(self, colony: ColonyId, epoch: int, seq: int, limit: int) -> list[EventRow]:
        """Up to `limit` events of the run after `seq`, oldest first; fewer where they are large."""
        found = self._events("epoch = ? AND seq > ? ORDER BY seq LIMIT ?", colony, epoch, seq, limit)
        return _no_more_than(PIECE_BYTES, found)

    def events_before(
        self, colony: ColonyId, epoch: int, seq: int, limit: int, limit_bytes: int = PIECE_BYTES
    ) -> list[EventRow]:
        """Up to `limit` events of the run before `seq`, newest first; fewer where they are large."""
        found = self._events("epoch = ? AND seq < ? ORDER BY seq DESC LIMIT ?", colony, epoch, seq, limit)
        return _no_more_than(limit_bytes, found)

    def last_event(self, colony: ColonyId, epoch: int, kind: str, before: int) -> EventRow | None:
        """The run's newest event of this type before the number."""
        where = "epoch = ? AND seq < ? AND type = ? ORDER BY seq DESC LIMIT 1"
        return next(self._events(where, colony, epoch, before, kind), None)

    def events_of_type(self, colony: ColonyId, epoch: int, kind: str) -> Iterator[EventRow]:
        """All events of this type in the run, oldest first."""
        return self._events("epoch = ? AND type = ? ORDER BY seq", colony, epoch, kind)

    def count_events(self, colony: ColonyId, epoch: int, kind: str) -> int:
        """How many events of this type the run has."""
        with _translated("the events"):
            (count,) = self._connection.execute(
                "SELECT COUNT(*) FROM events WHERE colony = ? AND epoch = ? AND type = ?", (colony, epoch, kind)
            ).fetchone()
        return int(count)

    def settler_events(self, colony: ColonyId, epoch: int) -> Iterator[EventRow]:
        """All events of subagents in the run but the pieces of their texts, oldest first."""
        where = "epoch = ? AND settler IS NOT NULL AND type != 'assistant_text_delta' ORDER BY seq"
        return self._events(where, colony, epoch)

    def _events(self, where: str, colony: ColonyId, *values: object) -> Iterator[EventRow]:
        with _translated("the events"):
            rows = self._connection.execute(
                f"SELECT colony, epoch, seq, type, settler, body FROM events WHERE colony = ? AND {where}",
                (colony, *values),
            )
            for row in rows:
                yield EventRow(*row)

    # The harness's log

    def append_log(self, lines: Iterable[tuple[ColonyId, bytes]]) -> None:
        """Adds lines to the logs of colonies."""
        self._connection.executemany("INSERT INTO harness_log (colony, body) VALUES (?, ?)", lines)

    def last_log_lines(self, colony: ColonyId, limit: int) -> list[bytes]:
        """The newest lines of the colony's log, oldest of them first."""
        with _translated("the log"):
            rows = self._connection.execute(
                "SELECT body FROM harness_log WHERE colony = ? ORDER BY number DESC LIMIT ?", (colony, limit)
            ).fetchall()
        return [body for (body,) in reversed(rows)]

    # Tokens

    def tokens(self) -> dict[str, TokenRecord]:
        """All scoped tokens by the SHA-256 of their secret."""
        with _translated("the tokens"):
            rows = self._connection.execute("SELECT digest, record FROM tokens").fetchall()
            return {digest: self._token_decoder.decode(record) for digest, record in rows}

    def put_token(self, digest: str, record: TokenRecord) -> None:
        """Writes a scoped token."""
        self._connection.execute("INSERT INTO tokens VALUES (?, ?, ?)", (record.id, digest, encode(record)))

    def delete_token(self, token: TokenId) -> None:
        """Removes a scoped token."""
        self._connection.execute("DELETE FROM tokens WHERE id = ?", (token,))

    # Repositories

    def repositories(self) -> list[KnownRepository]:
        """The repositories that colonies may be launched on, by name."""
        with _translated("the repositories"):
            rows = self._connection.execute("SELECT name, git_dir, top FROM repositories ORDER BY name").fetchall()
        return [KnownRepository(*row) for row in rows]

    def put_repository(self, repository: KnownRepository) -> None:
        """Writes a repository."""
        self._connection.execute(
            "INSERT INTO repositories VALUES (?, ?, ?)"
            " ON CONFLICT (name) DO UPDATE SET git_dir = excluded.git_dir, top = excluded.top",
            (repository.name, repository.git_dir, repository.top),
        )

    def delete_repository(self, name: str) -> None:
        """Forgets a repository; nothing of it is touched."""
        self._connection.execute("DELETE FROM repositories WHERE name = ?", (name,))


def _no_more_than(limit_bytes: int, rows: Iterator[EventRow]) -> list[EventRow]:
    """The first of the rows, up to this size together, and at least one."""
    taken: list[EventRow] = []
    size = 0
    for row in rows:
        size += len(row.body)
        if taken and size > limit_bytes:
            break
        taken.append(row)
    return taken


def _make_private(path: Path) -> None:
    """Makes an empty file that only this user can read; the files that SQLite puts beside it get the same mode."""
    try:
        os.close(os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600))
    except OSError as problem:
        raise StorageFull(f"the database {path} cannot be opened: {problem.strerror}") from problem


def _prepare(connection: sqlite3.Connection, path: Path) -> None:
    """Checks that the database is ours and whole, and makes the tables where it is new."""
    (found,) = connection.execute("PRAGMA application_id").fetchone()
    (version,) = connection.execute("PRAGMA user_version").fetchone()
    (tables,) = connection.execute("SELECT COUNT(*) FROM sqlite_schema").fetchone()
    if tables and found != _APPLICATION_ID:
        raise DatabaseUnusable(f"{path} is a database of another program; move it away")
    if version > _SCHEMA_VERSION:
        raise DatabaseUnusable(f"{path} was written by a newer colonizer; update this one")
    if tables:
        (verdict,) = connection.execute("PRAGMA quick_check(1)").fetchone()
        if verdict != "ok":
            raise DatabaseUnusable(_damaged(str(path), verdict))
    connection.execute("PRAGMA journal_mode = WAL")
    connection.execute("PRAGMA synchronous = NORMAL")
    # A deleted colony's words shall not stay readable in the file.
    connection.execute("PRAGMA secure_delete = ON")
    if not tables:
        connection.executescript(
            f"BEGIN; {_SCHEMA} PRAGMA application_id = {_APPLICATION_ID};"
            f" PRAGMA user_version = {_SCHEMA_VERSION}; COMMIT;"
        )


@contextmanager
def _translated(subject: str) -> Generator[None]:
    """Turns SQLite's errors into ours."""
    try:
        yield
    except sqlite3.Error as problem:
        code = (getattr(problem, "sqlite_errorcode", None) or 0) & 0xFF
        if code in _FULL:
            raise StorageFull(f"{subject} cannot be written: {problem}") from problem
        if code in _DAMAGED:
            raise DatabaseUnusable(_damaged(subject, problem)) from problem
        raise StoreError(f"{subject}: {problem}") from problem
    except msgspec.DecodeError as problem:
        raise DatabaseUnusable(_damaged(subject, problem)) from problem


def _damaged(subject: str, words: object) -> str:
    said = " ".join(str(words).split())
    return f"{subject} is damaged ({said}); nothing was changed: put a copy back, or move the file away to start anew"
