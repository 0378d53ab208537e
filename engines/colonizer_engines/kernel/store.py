"""The database of a colony kernel: the one module that knows SQL.

Each call is one transaction. The database is locked for as long as it is open, so one process owns it.
"""

import sqlite3
from collections.abc import Iterator

import msgspec

from colonizer_engines.kernel.agents import HISTORY_LIMIT, RECENT_LIMIT, Agent
from colonizer_engines.kernel.colony import CHANGES_LIMIT, CONSEQUENCES_LIMIT, Colony, Journal
from colonizer_engines.kernel.errors import DatabaseUnusable, StorageFull, StoreError, StoreHeld
from colonizer_engines.kernel.ledger import Cost
from colonizer_engines.kernel.records import AnyChange, Consequence, Recorded
from colonizer_engines.kernel.roles import Role
from colonizer_engines.kernel.signals import Decay, SignalType, Source, key_of
from colonizer_engines.kernel.trace import Trace
from colonizer_engines.sqlite_file import Errors, Kind, SqliteFile

_TABLES = """
CREATE TABLE state (one INTEGER PRIMARY KEY CHECK (one = 1), body BLOB NOT NULL);
CREATE TABLE traces (key TEXT PRIMARY KEY, body BLOB NOT NULL) WITHOUT ROWID;
CREATE TABLE agents (number INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, body BLOB NOT NULL);
CREATE TABLE consequences (number INTEGER PRIMARY KEY, agent TEXT NOT NULL, body BLOB NOT NULL);
CREATE INDEX consequences_of_agent ON consequences (agent, number);
CREATE TABLE changes (last INTEGER PRIMARY KEY, body BLOB NOT NULL);
"""


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


class Store(SqliteFile):
    """The open database.

    Raises:
        StoreHeld: From `open`: another process has it.
        StorageFull: From `open`: it cannot be made; from `keep`: nothing of the call is kept.
        DatabaseUnusable: From every method, when the file is damaged, newer than this program, or not ours.
    """

    kind = Kind(
        application_id=0x434C4B4E,
        version=1,
        tables=_TABLES,
        errors=Errors(full=StorageFull, held=StoreHeld, unusable=DatabaseUnusable, other=StoreError),
        exclusive=True,
        any_thread=True,
    )

    def __init__(self, connection: sqlite3.Connection) -> None:
        super().__init__(connection)
        self._encoder = msgspec.json.Encoder()
        self._state = msgspec.json.Decoder(_State)
        self._trace = msgspec.json.Decoder(_KeptTrace)
        self._agent = msgspec.json.Decoder(_KeptAgent)
        self._consequence = msgspec.json.Decoder(Consequence)
        self._changes = msgspec.json.Decoder(list[AnyChange])

    # Keeping

    def keep(self, colony: Colony, journal: Journal) -> None:
        """Keeps all that one call touched, or nothing of it."""
        with self.transaction():
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
        with self._translated("the kernel's state"):
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
