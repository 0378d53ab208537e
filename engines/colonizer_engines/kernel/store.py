"""The database of a colony kernel: the one module that knows SQL.

A write-ahead log with `synchronous=NORMAL`: what is committed survives the death of this process (`kill -9` included),
since the operating system has it; only a power cut can take the last moments, and then whole calls.
The database is locked for as long as it is open, so one process owns it.
"""

import os
import sqlite3
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from pathlib import Path

import msgspec

from colonizer_engines.kernel.agents import HISTORY_LIMIT, RECENT_LIMIT, Agent
from colonizer_engines.kernel.colony import CHANGES_LIMIT, CONSEQUENCES_LIMIT, Colony, Journal
from colonizer_engines.kernel.errors import DatabaseUnusable, StorageFull, StoreError, StoreHeld
from colonizer_engines.kernel.ledger import Cost
from colonizer_engines.kernel.records import AnyChange, Consequence, Recorded
from colonizer_engines.kernel.roles import Role
from colonizer_engines.kernel.signals import Decay, SignalType, Source, key_of
from colonizer_engines.kernel.trace import Trace

_APPLICATION_ID = 0x434C4B4E
_SCHEMA_VERSION = 1

_SCHEMA = """
CREATE TABLE state (one INTEGER PRIMARY KEY CHECK (one = 1), body BLOB NOT NULL);
CREATE TABLE traces (key TEXT PRIMARY KEY, body BLOB NOT NULL) WITHOUT ROWID;
CREATE TABLE agents (number INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, body BLOB NOT NULL);
CREATE TABLE consequences (number INTEGER PRIMARY KEY, agent TEXT NOT NULL, body BLOB NOT NULL);
CREATE INDEX consequences_of_agent ON consequences (agent, number);
CREATE TABLE changes (last INTEGER PRIMARY KEY, body BLOB NOT NULL);
"""

_FULL = {sqlite3.SQLITE_FULL, sqlite3.SQLITE_IOERR, sqlite3.SQLITE_READONLY, sqlite3.SQLITE_CANTOPEN}
_HELD = {sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED}
_DAMAGED = {sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB}


class _State(msgspec.Struct, frozen=True):
    """What a colony has beside its rows."""

    tick: int
    used: Cost
    period_start: float
    pruning_count: int
    changes_made: int


class _KeptTrace(msgspec.Struct, frozen=True, array_like=True):
    """One trace as its row has it."""

    location: str
    kind: SignalType
    order: int
    strength: float
    as_of: int
    decay: float
    source: Source
    evidence: dict[str, object]
    updated_at: float
    last_reinforced: float


class _KeptAgent(msgspec.Struct, frozen=True, array_like=True):
    """One agent as its row has it; its outcomes are those of its consequences."""

    role: Role
    trust: float
    proposals: int
    accepted: int
    last_updated: float


class Store:
    """The open database.

    Raises:
        StorageFull: From `keep`: nothing of the call is kept.
        DatabaseUnusable: From every method, when the file turns out to be damaged.
    """

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection
        self._encoder = msgspec.json.Encoder()
        self._state = msgspec.json.Decoder(_State)
        self._trace = msgspec.json.Decoder(_KeptTrace)
        self._agent = msgspec.json.Decoder(_KeptAgent)
        self._consequence = msgspec.json.Decoder(Consequence)
        self._changes = msgspec.json.Decoder(list[AnyChange])

    @classmethod
    def open(cls, path: Path) -> "Store":
        """The database at `path`, made where there is none; no other process can open it until it is closed.

        Raises:
            StoreHeld: Another process has it.
            DatabaseUnusable: It is damaged, newer than this program, or not ours; the file is left as it is.
            StorageFull: It cannot be made.
        """
        with _translated(f"the database {path}"):
            _make_private(path)
            connection = sqlite3.connect(path, isolation_level=None, timeout=0, check_same_thread=False)
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

    # Keeping

    def keep(self, colony: Colony, journal: Journal) -> None:
        """Keeps all that one call touched, or nothing of it."""
        with self._transaction():
            execute = self._connection.execute
            encode = self._encoder.encode
            if colony.rules.field_kept:
                self._keep_traces(journal)
            for agent in journal.agents.values():
                self._keep_agent(agent)
            for change in journal.changes:
                if isinstance(change, Recorded):
                    row = (change.consequence.agent_id, encode(change.consequence))
                    execute("INSERT INTO consequences (agent, body) VALUES (?, ?)", row)
            if journal.changes:
                last = journal.changes[-1].number
                execute("INSERT INTO changes VALUES (?, ?)", (last, encode(journal.changes)))
                if last > CHANGES_LIMIT:
                    execute("DELETE FROM changes WHERE last <= ?", (last - CHANGES_LIMIT,))
            ledger = colony.ledger
            state = _State(
                colony.field.tick, ledger.used, ledger.period_start, colony.pruning_count, colony.changes_made
            )
            execute("INSERT OR REPLACE INTO state VALUES (1, ?)", (encode(state),))

    def _keep_traces(self, journal: Journal) -> None:
        if journal.cleared:
            self._connection.execute("DELETE FROM traces")
        gone = ((key,) for key in journal.removed)
        self._connection.executemany("DELETE FROM traces WHERE key = ?", gone)
        grown = ((key, self._encoder.encode(_kept(trace))) for key, trace in journal.traces.items())
        self._connection.executemany("INSERT OR REPLACE INTO traces VALUES (?, ?)", grown)

    def _keep_agent(self, agent: Agent) -> None:
        kept = _KeptAgent(agent.role, agent.trust, agent.proposals, agent.accepted, agent.last_updated)
        self._connection.execute(
            "INSERT INTO agents (id, body) VALUES (?, ?) ON CONFLICT (id) DO UPDATE SET body = excluded.body",
            (agent.id, self._encoder.encode(kept)),
        )

    # Loading

    def load(self, colony: Colony) -> None:
        """Gives the new colony what was kept, as far as its rules let it outlive a restart."""
        with _translated("the kernel's state"):
            colony.agents.restore(self._agents())
            rows = self._connection.execute(
                "SELECT body FROM consequences ORDER BY number DESC LIMIT ?", (CONSEQUENCES_LIMIT,)
            ).fetchall()
            colony.consequences.extend(self._consequence.decode(body) for (body,) in reversed(rows))
            for (body,) in self._connection.execute("SELECT body FROM changes ORDER BY last"):
                colony.changes.extend(self._changes.decode(body))
            found = self._connection.execute("SELECT body FROM state").fetchone()
            if found is None:
                return
            state = self._state.decode(found[0])
            colony.changes_made = state.changes_made
            if not colony.rules.field_kept:
                # Other rules may have left some, which would come back at another tick than theirs.
                self._connection.execute("DELETE FROM traces")
            else:
                colony.field.restore(self._traces(), state.tick)
                colony.ledger.used, colony.ledger.period_start = state.used, state.period_start
                colony.pruning_count = state.pruning_count

    def _traces(self) -> Iterator[Trace]:
        for (body,) in self._connection.execute("SELECT body FROM traces"):
            kept = self._trace.decode(body)
            yield Trace(
                key=key_of(kept.location, kept.kind),
                location=kept.location,
                kind=kept.kind,
                order=kept.order,
                strength=kept.strength,
                as_of=kept.as_of,
                decay=Decay(kept.decay),
                source=kept.source,
                evidence=kept.evidence,
                updated_at=kept.updated_at,
                last_reinforced=kept.last_reinforced,
            )

    def _agents(self) -> Iterator[Agent]:
        for name, body in self._connection.execute("SELECT id, body FROM agents ORDER BY number").fetchall():
            kept = self._agent.decode(body)
            agent = Agent(name, kept.last_updated, kept.role, kept.trust, kept.proposals, kept.accepted)
            rows = self._connection.execute(
                "SELECT body FROM consequences WHERE agent = ? ORDER BY number DESC LIMIT ?", (name, HISTORY_LIMIT)
            ).fetchall()
            outcomes = [self._consequence.decode(body) for (body,) in reversed(rows)]
            agent.history.extend(outcome.id for outcome in outcomes)
            agent.recent_failures.extend(
                outcome.repair_needed or not outcome.tests_passed for outcome in outcomes[-RECENT_LIMIT:]
            )
            yield agent

    @contextmanager
    def _transaction(self) -> Generator[None]:
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


def _kept(trace: Trace) -> _KeptTrace:
    return _KeptTrace(
        trace.location,
        trace.kind,
        trace.order,
        trace.strength,
        trace.as_of,
        trace.decay,
        trace.source,
        dict(trace.evidence),
        trace.updated_at,
        trace.last_reinforced,
    )


def _make_private(path: Path) -> None:
    """Makes an empty file that only this user can read; the files that SQLite puts beside it get the same mode."""
    try:
        os.close(os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600))
    except OSError as problem:
        raise StorageFull(f"the database {path} cannot be opened: {problem.strerror}") from problem


def _prepare(connection: sqlite3.Connection, path: Path) -> None:
    """Locks the database, checks that it is ours and whole, and makes the tables where it is new."""
    connection.execute("PRAGMA locking_mode = EXCLUSIVE")
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
    # Taking the lock for writing once keeps it until the database is closed.
    connection.execute("BEGIN IMMEDIATE")
    connection.execute("COMMIT")
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
        if code in _HELD:
            raise StoreHeld(f"{subject} is in use by another process") from problem
        if code in _DAMAGED:
            raise DatabaseUnusable(_damaged(subject, problem)) from problem
        raise StoreError(f"{subject}: {problem}") from problem
    except msgspec.MsgspecError as problem:
        raise DatabaseUnusable(_damaged(subject, problem)) from problem


def _damaged(subject: str, words: object) -> str:
    said = " ".join(str(words).split())
    return f"{subject} is damaged ({said}); nothing was changed: put a copy back, or move the file away to start anew"
