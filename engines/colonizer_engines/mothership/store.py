"""The database of the embedded mothership: the one module that knows SQL.

All calls are short and made from the event loop; the engine owns the one connection.
"""

import sqlite3
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import msgspec

from colonizer_engines.lenient_json import encode
from colonizer_engines.mothership.colony import Colony
from colonizer_engines.mothership.errors import DatabaseUnusable, StorageFull, StoreError
from colonizer_engines.mothership.session import ColonyId
from colonizer_engines.mothership.tokens import TokenId, TokenRecord
from colonizer_engines.sqlite_file import Errors, Kind, SqliteFile

_TABLES = """
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


class Store(SqliteFile):
    """The open database.

    Raises:
        StorageFull: From every writing method: nothing of the transaction is kept.
        DatabaseUnusable: From every method, when the file turns out to be damaged.
    """

    kind = Kind(
        application_id=0x434C4E5A,
        version=1,
        tables=_TABLES,
        errors=Errors(full=StorageFull, held=StoreError, unusable=DatabaseUnusable, other=StoreError),
        # A deleted colony's words shall not stay readable in the file.
        pragmas=("secure_delete = ON",),
    )

    def __init__(self, connection: sqlite3.Connection) -> None:
        super().__init__(connection)
        self._colony_decoder = msgspec.json.Decoder(Colony)
        self._token_decoder = msgspec.json.Decoder(TokenRecord)

    # Colonies

    def colonies(self) -> list[Colony]:
        """All colonies, in no order."""
        with self._translated("the colonies"):
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
        with self._translated("the message ids"):
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
        with self._translated("the events"):
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
        with self._translated("the events"):
            (count,) = self._connection.execute(
                "SELECT COUNT(*) FROM events WHERE colony = ? AND epoch = ? AND type = ?", (colony, epoch, kind)
            ).fetchone()
        return int(count)

    def settler_events(self, colony: ColonyId, epoch: int) -> Iterator[EventRow]:
        """All events of subagents in the run but the pieces of their texts, oldest first."""
        where = "epoch = ? AND settler IS NOT NULL AND type != 'assistant_text_delta' ORDER BY seq"
        return self._events(where, colony, epoch)

    def _events(self, where: str, colony: ColonyId, *values: object) -> Iterator[EventRow]:
        with self._translated("the events"):
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
        with self._translated("the log"):
            rows = self._connection.execute(
                "SELECT body FROM harness_log WHERE colony = ? ORDER BY number DESC LIMIT ?", (colony, limit)
            ).fetchall()
        return [body for (body,) in reversed(rows)]

    # Tokens

    def tokens(self) -> dict[str, TokenRecord]:
        """All scoped tokens by the SHA-256 of their secret."""
        with self._translated("the tokens"):
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
        with self._translated("the repositories"):
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
