"""All colonies, in memory and on disk alike, and the only way to change them.

A change is collected, committed in one transaction, then taken over into memory, and only then told to anybody.
When the commit fails, nothing happened.
"""

import asyncio
from collections.abc import Callable, Generator, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Literal

from colonizer_engines.lenient_json import encode, mended
from colonizer_engines.mothership.clock import Clock, rfc3339
from colonizer_engines.mothership.colony import Colony
from colonizer_engines.mothership.errors import Refusal, StorageFull
from colonizer_engines.mothership.feeds import StreamReader, Watcher
from colonizer_engines.mothership.session import ColonyId, Session, Status
from colonizer_engines.mothership.storage_health import StorageHealth
from colonizer_engines.mothership.store import EventRow, Store
from colonizer_engines.mothership.wire import as_object, session_frame

FULL_DISK_RETRY_S = 5.0
"""How long after a write that failed the next one is tried."""

LogLevel = Literal["debug", "info", "warn", "error"]


@dataclass(frozen=True, slots=True)
class _Frame:
    """Something to tell the events sockets of a colony."""

    colony: ColonyId
    content: bytes | Session
    numbered: bool = False

    def render(self) -> bytes:
        return self.content if isinstance(self.content, bytes) else session_frame(self.content)


class Fleet:
    """Every colony, by id, in the order of their making."""

    def __init__(self, store: Store, clock: Clock) -> None:
        self.store = store
        self.clock = clock
        self.health = StorageHealth()
        self._colonies: dict[ColonyId, Colony] = {}
        self._by_status: dict[Status, dict[ColonyId, None]] = {}
        self._last_seq: dict[ColonyId, int] = {}
        self._last_activity: dict[ColonyId, str] = {}
        self._rows: dict[ColonyId, tuple[Session, str | None, bytes]] = {}
        self._watchers: dict[ColonyId, set[Watcher]] = {}
        self._readers: set[StreamReader] = set()
        self._listeners: list[Callable[[], None]] = []
        self.load()

    def load(self) -> None:
        """Reads everything from the database."""
        colonies = sorted(self.store.colonies(), key=lambda colony: colony.session.created_at)
        self._colonies, self._by_status = {}, {}
        for colony in colonies:
            self._place(colony)
        self._last_seq = {colony.id: self.store.last_seq(colony.id, colony.epoch) for colony in colonies}

    # Reading

    def find(self, colony: str) -> Colony | None:
        """The colony with this id."""
        return self._colonies.get(ColonyId(colony))

    def get(self, colony: str) -> Colony:
        """The colony with this id.

        Raises:
            Refusal: 404, there is none.
        """
        found = self.find(colony)
        if found is None:
            raise Refusal(404, "no such session")
        return found

    def colonies(self) -> Iterator[Colony]:
        """All colonies, newest first."""
        return reversed(self._colonies.values())

    def in_status(self, *statuses: Status) -> list[Colony]:
        """All colonies with one of the statuses, in no order."""
        return [self._colonies[colony] for status in statuses for colony in self._by_status.get(status, ())]

    def shown(self, colony: Colony) -> Session:
        """The colony's Session as of now: while it lives, its last activity is newer than the record."""
        activity = self._last_activity.get(colony.id)
        return colony.session if activity is None else replace(colony.session, last_activity_at=activity)

    def row(self, colony: Colony) -> bytes:
        """The colony's Session as of now, as JSON; encoded once as long as it stays what it is."""
        activity = self._last_activity.get(colony.id)
        session, seen, row = self._rows.get(colony.id, (None, None, b""))
        if session is not colony.session or seen != activity:
            row = encode(self.shown(colony))
            self._rows[colony.id] = (colony.session, activity, row)
        return row

    def last_seq(self, colony: ColonyId) -> int:
        """The number of the last event of the colony's current run."""
        return self._last_seq.get(colony, 0)

    def change_moment(self) -> str:
        """The time that a change of now carries."""
        return rfc3339(self.clock.now())

    # Listening

    def on_change(self, listener: Callable[[], None]) -> None:
        """Has `listener` called after each change."""
        self._listeners.append(listener)

    @contextmanager
    def watching(self, colony: ColonyId) -> Generator[Watcher]:
        """A queue of the colony's frames from now on."""
        watcher = Watcher()
        self._watchers.setdefault(colony, set()).add(watcher)
        try:
            yield watcher
        finally:
            watchers = self._watchers.get(colony)
            if watchers is not None:
                watchers.discard(watcher)
                if not watchers:
                    del self._watchers[colony]

    @contextmanager
    def reading(self) -> Generator[StreamReader]:
        """The changes of all colonies from now on."""
        reader = StreamReader()
        self._readers.add(reader)
        try:
            yield reader
        finally:
            self._readers.discard(reader)

    def end_all_feeds(self) -> None:
        """Ends every socket's feed, since the engine goes away."""
        for watcher in [watcher for watchers in self._watchers.values() for watcher in watchers]:
            watcher.end()
        for reader in self._readers:
            reader.end()

    # Changing

    @contextmanager
    def change(self) -> Generator["Change"]:
        """A set of changes that is kept together when the block ends well, and dropped whole when it raises.

        Raises:
            StoreError: The database did not take it; memory and disk are as before.
        """
        change = Change(self)
        yield change
        try:
            written = change.commit()
        except StorageFull as problem:
            self.health.failed(str(problem), change.moment)
            self._nudge()
            raise
        if written and self.health.failing:
            self.health.worked(change.moment)
            self._nudge()
        self._take_over(change)

    async def insist(self, apply: Callable[["Change"], None], *, unless: asyncio.Event) -> bool:
        """Makes the change however long the disk stays full: what an agent said is not lost, the agent waits.

        Args:
            apply: Fills the change in; called anew at each attempt.
            unless: Set when it is of no use any more; a disk that is full then has the change dropped.

        Returns:
            Whether the change was made.
        """
        while True:
            try:
                with self.change() as change:
                    apply(change)
            except StorageFull:
                if unless.is_set():
                    return False
                await self._sleep_unless(unless)
            else:
                return True

    async def _sleep_unless(self, event: asyncio.Event) -> None:
        waits = [asyncio.ensure_future(self.clock.sleep(FULL_DISK_RETRY_S)), asyncio.ensure_future(event.wait())]
        try:
            await asyncio.wait(waits, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for wait in waits:
                wait.cancel()

    def _place(self, colony: Colony) -> None:
        before = self._colonies.get(colony.id)
        if before is not None:
            del self._by_status[before.session.status][colony.id]
        self._colonies[colony.id] = colony
        self._by_status.setdefault(colony.session.status, {})[colony.id] = None

    def _nudge(self) -> None:
        for reader in self._readers:
            reader.nudge()

    def _take_over(self, change: "Change") -> None:
        for colony in change.colonies.values():
            self._place(colony)
            if not colony.session.live:
                self._last_activity.pop(colony.id, None)
        self._last_seq.update(change.last_seq)
        for gone in change.removed:
            if gone in self._colonies:
                del self._by_status[self._colonies[gone].session.status][gone]
            for facts in (self._colonies, self._last_seq, self._last_activity, self._rows):
                facts.pop(gone, None)
        for colony_id in change.active:
            if self._colonies[colony_id].session.live:
                self._last_activity[colony_id] = change.moment
        self._tell(change)

    def _tell(self, change: "Change") -> None:
        for frame in change.frames:
            watchers = self._watchers.get(frame.colony)
            if watchers:
                content = frame.render()
                for watcher in tuple(watchers):
                    (watcher.offer_event if frame.numbered else watcher.offer)(content)
        for colony in (*change.restarted, *change.removed):
            for watcher in tuple(self._watchers.get(colony, ())):
                watcher.end()
        for reader in self._readers:
            for colony in change.seen:
                reader.changed(colony)
            for colony in change.removed:
                reader.removed(colony)
        if change.seen or change.removed:
            for listener in self._listeners:
                listener()


class Change:
    """What is to change together."""

    def __init__(self, fleet: Fleet) -> None:
        self._fleet = fleet
        self.moment = rfc3339(fleet.clock.now())
        """The time that everything in this change carries."""
        self.colonies: dict[ColonyId, Colony] = {}
        self.last_seq: dict[ColonyId, int] = {}
        self.active: set[ColonyId] = set()
        self.seen: dict[ColonyId, None] = {}
        self.removed: list[ColonyId] = []
        self.restarted: list[ColonyId] = []
        self.frames: list[_Frame] = []
        self._events: list[EventRow] = []
        self._log: list[tuple[ColonyId, bytes]] = []
        self._message_ids: list[tuple[ColonyId, str]] = []

    def colony(self, colony: ColonyId) -> Colony:
        """The colony with what this change did to it so far."""
        return self.colonies.get(colony) or self._fleet.get(colony)

    def put(self, colony: Colony) -> None:
        """Replaces the colony; where its Session is another one, it is stamped and shown to everybody."""
        before = self.colonies.get(colony.id) or self._fleet.find(colony.id)
        if before is None or before.session is not colony.session:
            activity = self.moment if colony.id in self.active else self._fleet.shown(colony).last_activity_at
            session = replace(colony.session, updated_at=self.moment, last_activity_at=activity)
            colony = replace(colony, session=session)
            last = self.frames[-1] if self.frames else None
            if last is not None and last.colony == colony.id and isinstance(last.content, Session):
                self.frames.pop()
            self.frames.append(_Frame(colony.id, session))
            self.seen[colony.id] = None
        self.colonies[colony.id] = colony

    def put_session(self, session: Session) -> None:
        """Replaces the colony's Session."""
        self.put(replace(self.colony(session.id), session=session))

    def restart_log(self, colony: ColonyId) -> None:
        """Begins the next run: its epoch is one higher, its events count from 1, open sockets end."""
        before = self.colony(colony)
        self.colonies[colony] = replace(before, epoch=before.epoch + 1, question=None)
        self.last_seq[colony] = 0
        self.restarted.append(colony)

    def append(self, colony: ColonyId, event: Mapping[str, object], origin: str, own_seq: int | None = None) -> None:
        """Adds an event to the colony's current run; `own_seq` is the number that the agent's line has by itself."""
        seq = self.last_seq.get(colony, self._fleet.last_seq(colony)) + 1
        self.last_seq[colony] = seq
        stamped = {**event, "seq": seq, "ts": self.moment, "origin": origin}
        if event.get("type") == "memory_proposal" and "origin" in event:
            # There the key names who proposes (spec 4.1), and is the body's own.
            stamped["origin"] = event["origin"]
        if own_seq is not None and own_seq != seq:
            stamped["a_seq"] = own_seq
        settler = (as_object(event.get("agent")) or {}).get("id")
        body = encode(stamped)
        epoch = self.colony(colony).epoch
        kind = mended(str(event.get("type")))
        self._events.append(
            EventRow(colony, epoch, seq, kind, mended(settler) if isinstance(settler, str) else None, body)
        )
        self.frames.append(_Frame(colony, body, numbered=True))
        self.active.add(colony)

    def log(self, colony: ColonyId, message: str, level: LogLevel = "info", origin: str = "system") -> None:
        """Adds a line to the colony's harness log."""
        line = encode({"type": "harness_log", "origin": origin, "level": level, "message": message, "ts": self.moment})
        self._log.append((colony, line))
        self.frames.append(_Frame(colony, line))

    def remember_message(self, colony: ColonyId, message: str) -> None:
        """Marks a message id as used."""
        self._message_ids.append((colony, message))

    def remove(self, colony: ColonyId) -> None:
        """Removes the colony with everything that was recorded of it."""
        self.colonies.pop(colony, None)
        self.removed.append(colony)

    def commit(self) -> bool:
        """Whether there was something to write; it is in one transaction then."""
        store = self._fleet.store
        if not (self.colonies or self._events or self._log or self._message_ids or self.removed):
            return False
        with store.transaction():
            for colony in self.colonies.values():
                store.put_colony(colony)
            store.append_events(self._events)
            store.append_log(self._log)
            for colony_id, message in self._message_ids:
                store.add_message_id(colony_id, message)
            for colony_id in self.removed:
                store.delete_colony(colony_id)
        return True
