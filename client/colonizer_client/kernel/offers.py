"""The offers to record outcomes, kept in the cockpit's database, so that every face makes and settles each once.

    open ──claim──> sent ──recorded──> recorded
      ^              │ └──no reply───> sent        nobody knows: it is not sent again unless the person says so
      │              └──refused or not sent──> open, with the reason
      └──dismiss──> dismissed

A claim is one transaction that comes before the call, so that no two faces record the same.
"""

import sqlite3
import uuid
from collections.abc import Iterable
from typing import cast

import msgspec
from msgspec.structs import replace

from colonizer_client.clock import Clock
from colonizer_client.errors import NotFound, OnItsWay
from colonizer_client.identity import ColonyId, ColonyKey, EndpointName
from colonizer_client.kernel.bridge import Happened, Offer, Seen, State, happened, offered, seen_now
from colonizer_client.mothership.models import Colony
from colonizer_client.store import Store
from colonizer_client.text import safe_line

_COLUMNS = "id, endpoint, colony, run, body, state, words, created_at"


class _Body(msgspec.Struct):
    """What an offer says, apart from what the table has columns for."""

    happened: Happened
    agent: str
    target: str
    outcome: str
    passed: bool | None
    feedback: float


class Offers:
    """The stored offers of one person. Every method raises StoreError when the store cannot be used."""

    def __init__(self, store: Store, clock: Clock) -> None:
        self._store = store
        self._clock = clock
        self._looked_at: dict[ColonyKey, tuple[str, float | None]] = {}
        """What each colony was like that was looked at from here, so that only what changed is looked up."""
        self._met: set[EndpointName] = set()

    def look(self, endpoint: EndpointName, colonies: Iterable[Colony]) -> bool:
        """Makes an offer of each run that has ended since its colony was last looked at; whether there was one.

        What had ended before the bridge first looked at a mothership is none of its business.

        Args:
            endpoint: The mothership.
            colonies: Those of its colonies that may have changed, none for a mothership without any.
        """
        changed = [colony for colony in colonies if self._looked_at.get(colony.key) != _mark(colony)]
        if not changed and endpoint in self._met:
            return False
        now = self._clock.now()

        def look(db: sqlite3.Connection) -> bool:
            since = _since(db, endpoint, now)
            offers = [self._take(db, colony, since, now) for colony in changed]
            return any(offers)

        found = self._store.write(look)
        self._met.add(endpoint)
        self._looked_at.update({colony.key: _mark(colony) for colony in changed})
        return found

    def unsettled(self) -> tuple[Offer, ...]:
        """The offers that wait for the person, oldest first."""
        return self._select("state IN ('open', 'sent') ORDER BY created_at, id")

    def get(self, offer_id: str) -> Offer:
        """One offer.

        Raises:
            NotFound: There is none of that id.
        """
        found = self._select("id = ?", offer_id)
        if not found:
            raise NotFound(f"there is no offer {safe_line(offer_id, limit=60)}", status=404)
        return found[0]

    def claim(self, offer_id: str, *, again: bool = False) -> Offer:
        """The offer, which is about to be sent from here and from nowhere else.

        Args:
            offer_id: The offer.
            again: Also where it was sent before and nobody knows what came of it.

        Raises:
            NotFound: There is none of that id.
            OnItsWay: It was sent already, or is settled.
        """
        self._move(offer_id, "sent", since=("open", "sent") if again else ("open",))
        return self.get(offer_id)

    def reopen(self, offer_id: str, words: str) -> None:
        """Notes why a claimed offer was not recorded."""
        self._move(offer_id, "open", since=("sent",), words=words)

    def doubt(self, offer_id: str, words: str) -> None:
        """Notes that nobody knows whether a claimed offer was recorded."""
        self._move(offer_id, "sent", since=("sent",), words=words)

    def settle(self, offer_id: str) -> None:
        """Notes that a claimed offer was recorded."""
        self._move(offer_id, "recorded", since=("sent",))

    def dismiss(self, offer_id: str) -> Offer:
        """The offer, which is made no more.

        Raises:
            NotFound: There is none of that id.
            OnItsWay: It is settled already.
        """
        offer = self.get(offer_id)
        self._move(offer_id, "dismissed", since=("open", "sent"))
        return replace(offer, state="dismissed")

    def _move(self, offer_id: str, state: State, *, since: tuple[State, ...], words: str = "") -> None:
        settled_at = self._clock.now() if state in ("recorded", "dismissed") else None
        marks = ", ".join("?" * len(since))

        def move(db: sqlite3.Connection) -> bool:
            change = f"UPDATE offers SET state = ?, words = ?, settled_at = ? WHERE id = ? AND state IN ({marks})"
            return db.execute(change, (state, words, settled_at, offer_id, *since)).rowcount > 0

        if not self._store.write(move):
            raise OnItsWay(_REASONS[self.get(offer_id).state])

    def _take(self, db: sqlite3.Connection, colony: Colony, since: float, now: float) -> bool:
        """Notes how a colony is now, and makes an offer where its run has ended; whether it did."""
        key = (colony.key.endpoint, colony.key.colony)
        select = "SELECT status, run, active_at FROM bridge_seen WHERE endpoint = ? AND colony = ?"
        row = db.execute(select, key).fetchone()
        before = None if row is None else Seen(*row)
        seen = seen_now(before, colony)
        insert = "INSERT OR REPLACE INTO bridge_seen VALUES (?, ?, ?, ?, ?)"
        db.execute(insert, (*key, seen.status, seen.run, seen.active_at))
        end = happened(before, colony)
        if end is None or (before is None and colony.created_at < since):
            return False
        return _insert(db, offered(uuid.uuid4().hex[:8], seen.run, end, colony, now))

    def _select(self, where: str, *arguments: object) -> tuple[Offer, ...]:
        return tuple(map(_offer, self._store.rows(f"SELECT {_COLUMNS} FROM offers WHERE {where}", *arguments)))


_REASONS = {
    "open": "this offer was not sent",
    "sent": "this offer is being recorded, or was cut off while it was: look whether the kernel has it",
    "recorded": "this offer is recorded already",
    "dismissed": "this offer was dismissed",
}


def _mark(colony: Colony) -> tuple[str, float | None]:
    """What decides whether a colony has to be looked at; of one that works only that it does."""
    return colony.status, colony.last_activity_at if colony.is_terminal else None


def _since(db: sqlite3.Connection, endpoint: EndpointName, now: float) -> float:
    """When the bridge first looked at a mothership."""
    db.execute("INSERT OR IGNORE INTO bridge_since VALUES (?, ?)", (endpoint, now))
    found = db.execute("SELECT at FROM bridge_since WHERE endpoint = ?", (endpoint,)).fetchone()
    return float(found[0])


def _insert(db: sqlite3.Connection, offer: Offer) -> bool:
    """Keeps an offer, in the place of one of the same run that nobody settled; whether it is kept."""
    body = _Body(offer.happened, offer.agent, offer.target, offer.outcome, offer.passed, offer.feedback)
    text = msgspec.json.encode(body).decode()
    row = (offer.id, *offer.key, offer.run, text, offer.state, offer.words, offer.created_at)
    marks = ", ".join("?" * len(row))
    insert = (
        f"INSERT INTO offers ({_COLUMNS}) VALUES ({marks}) ON CONFLICT (endpoint, colony, run)"
        " DO UPDATE SET id = excluded.id, body = excluded.body, words = '', created_at = excluded.created_at"
        " WHERE offers.state = 'open'"
    )
    return db.execute(insert, row).rowcount > 0


def _offer(row: tuple[object, ...]) -> Offer:
    offer_id, endpoint, colony, run, text, state, words, created_at = row
    body = msgspec.json.decode(str(text), type=_Body)
    return Offer(
        id=str(offer_id),
        key=ColonyKey(EndpointName(str(endpoint)), ColonyId(str(colony))),
        run=int(str(run)),
        happened=body.happened,
        agent=body.agent,
        target=body.target,
        outcome=body.outcome,
        passed=body.passed,
        feedback=body.feedback,
        state=cast("State", state),
        words=str(words),
        created_at=float(str(created_at)),
    )
