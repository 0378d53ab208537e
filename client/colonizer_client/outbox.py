"""Answers and messages on their way: stored before they are sent, sent once, and settled with proof.

    queued ──claim──> sending ──2xx──> confirmed
      ^                  │ └──4xx──> refused            the server's words; the draft is kept
      │                  └─no reply, 409─> unsure ──ask the server──> confirmed     ours is on its record
      │                                                          ├──> elsewhere     somebody else's is
      │                                                          ├──> refused       it is no longer asked
      │                                                          └──> the same question is open: once more,
      └─────────────────────────────────────────────────────────────  the second time: undelivered

A row is claimed in one transaction, so that no two faces send it; the rows of a face that died are settled by the next.
What the network did is never guessed: after a lost reply the question and the record of answers are read again.
"""

import json
import sqlite3
import uuid
from collections.abc import Mapping
from functools import cached_property
from typing import Literal, cast

from msgspec.structs import replace

from colonizer_client.answers import AnswerBody
from colonizer_client.claimant import is_alive, new_claimant
from colonizer_client.clock import Clock
from colonizer_client.errors import OnItsWay
from colonizer_client.identity import ColonyId, ColonyKey, EndpointName
from colonizer_client.mothership import wire
from colonizer_client.mothership.models import OpenQuestion
from colonizer_client.store import Store
from colonizer_config.value import Value

Fate = Literal["confirmed", "refused", "elsewhere", "undelivered"]
State = Literal["queued", "sending", "unsure"] | Fate
SETTLED: frozenset[State] = frozenset({"confirmed", "refused", "elsewhere", "undelivered"})

_UNSETTLED = "endpoint = ? AND settled_at IS NULL"


class Delivery(Value):
    """One answer or message and how far it is."""

    id: str
    key: ColonyKey
    kind: Literal["answer", "message"]
    body: Mapping[str, object]
    """What is sent: the JSON of an answer with its question's `fingerprint` and time, or the `text` of a message."""
    state: State
    words: str = ""
    """Why it was refused, or what is known while it is not settled."""
    attempts: int = 0
    """How often it was sent so that it may have arrived."""
    created_at: float = 0.0
    settled_at: float | None = None

    @property
    def is_settled(self) -> bool:
        """Whether its fate is known."""
        return self.state in SETTLED

    @property
    def fingerprint(self) -> str:
        """The fingerprint of the question that it answers, empty for a message."""
        return wire.raw(self.body.get("fingerprint"))

    def answers(self, question: OpenQuestion) -> bool:
        """Whether it answers this question, and not the same one that was asked at another time."""
        is_same_time = None in (self.asked_at, question.asked_at) or self.asked_at == question.asked_at
        return self.fingerprint == question.fingerprint and is_same_time

    @property
    def asked_at(self) -> float | None:
        """When the question was asked, by the server's clock; None while unknown."""
        return wire.number(self.body.get("asked_at"))

    @property
    def text(self) -> str:
        """The text of a message, raw, empty for an answer."""
        return wire.raw(self.body.get("text"))

    def answer(self) -> AnswerBody:
        """The answer's body, as it goes to the server."""
        fields = wire.mapping(self.body.get("answer"))
        answers = {
            text: value if isinstance(value, str) else tuple(map(wire.raw, wire.sequence(value)))
            for text, value in wire.mapping(fields.get("answers")).items()
        }
        response = fields.get("response")
        questions = fields.get("questions")
        return AnswerBody(
            wire.raw(fields.get("question_id")),
            answers,
            response if isinstance(response, str) else None,
            None if questions is None else wire.sequence(questions),
        )


class Outbox:
    """The stored deliveries of one face. Every method raises StoreError when the store cannot be used."""

    def __init__(self, store: Store, clock: Clock) -> None:
        self._store = store
        self._clock = clock

    def put_answer(self, key: ColonyKey, question: OpenQuestion, answer: AnswerBody) -> Delivery:
        """The stored answer, not sent yet; the same one on its way already is returned instead of a second.

        Raises:
            OnItsWay: Another answer to the same question is not settled yet.
        """
        body = {"fingerprint": question.fingerprint, "asked_at": question.asked_at, "answer": answer.to_json()}

        def put(db: sqlite3.Connection) -> Delivery:
            for other in self._select(_UNSETTLED + " AND colony = ? AND kind = 'answer'", *key):
                if other.fingerprint == question.fingerprint:
                    if other.body.get("answer") != json.loads(json.dumps(body["answer"])):
                        raise OnItsWay("another answer to this question is on its way")
                    return other
            return self._insert(db, key, "answer", body)

        return self._store.write(put)

    def put_message(self, key: ColonyKey, text: str) -> Delivery:
        """The stored message, not sent yet. Its id makes a second sending harmless."""
        return self._store.write(lambda db: self._insert(db, key, "message", {"text": text}))

    def unsettled(self, endpoint: EndpointName) -> list[Delivery]:
        """What is on its way to one endpoint, oldest first."""
        return self._select(_UNSETTLED, endpoint)

    def next_for(self, key: ColonyKey) -> Delivery | None:
        """The oldest delivery on its way to one colony."""
        found = self._select(_UNSETTLED + " AND colony = ?", *key)
        return found[0] if found else None

    def get(self, delivery_id: str) -> Delivery | None:
        """One delivery as it is stored now."""
        found = self._select("id = ?", delivery_id)
        return found[0] if found else None

    def claim(self, delivery: Delivery) -> Delivery | None:
        """The delivery, now ours to send; None when another living face has it, or it is settled.

        One that a dead face was sending comes back as `unsure`: what became of it has to be asked.
        """

        def claim(db: sqlite3.Connection) -> Delivery | None:
            row = db.execute("SELECT state, claimant, attempts FROM outbox WHERE id = ?", (delivery.id,)).fetchone()
            if row is None:
                return None
            state, claimant, attempts = cast("tuple[State, str, int]", row)
            if state in SETTLED or (claimant not in ("", self._claimant) and is_alive(claimant)):
                return None
            was_queued = state == "queued"
            mine = replace(
                delivery, state="sending" if was_queued else "unsure", attempts=attempts + 1 if was_queued else attempts
            )
            db.execute(
                "UPDATE outbox SET state = ?, claimant = ?, attempts = ? WHERE id = ?",
                (mine.state, self._claimant, mine.attempts, mine.id),
            )
            return mine

        return self._store.write(claim)

    def take_back(self, delivery: Delivery, words: str) -> Delivery:
        """The delivery, queued again: it was not sent, or was turned away unread."""
        return self._move(replace(delivery, state="queued", words=words, attempts=delivery.attempts - 1), claimant="")

    def put_back(self, delivery: Delivery, words: str) -> Delivery:
        """The delivery, queued again: it was sent, and to send it once more is harmless."""
        return self._move(replace(delivery, state="queued", words=words), claimant="")

    def mark_unsure(self, delivery: Delivery, words: str) -> Delivery:
        """The delivery, its fate unknown until the server can be asked."""
        return self._move(replace(delivery, state="unsure", words=words), claimant=self._claimant)

    def settle(self, delivery: Delivery, state: Fate, words: str) -> Delivery:
        """The delivery with its fate."""
        settled_at = self._clock.now()
        return self._move(replace(delivery, state=state, words=words, settled_at=settled_at), claimant="")

    @cached_property
    def _claimant(self) -> str:
        return new_claimant()

    def _move(self, moved: Delivery, *, claimant: str) -> Delivery:
        """The delivery as it is stored now: as given, unless another face took it over meanwhile."""
        is_ours = self._store.write(
            lambda db: (
                db.execute(
                    "UPDATE outbox SET state = ?, words = ?, attempts = ?, claimant = ?, settled_at = ? "
                    "WHERE id = ? AND claimant = ?",
                    (moved.state, moved.words, moved.attempts, claimant, moved.settled_at, moved.id, self._claimant),
                ).rowcount
            )
        )
        return moved if is_ours else self.get(moved.id) or moved

    def _insert(
        self, db: sqlite3.Connection, key: ColonyKey, kind: Literal["answer", "message"], body: Mapping[str, object]
    ) -> Delivery:
        delivery = Delivery(uuid.uuid4().hex, key, kind, body, "queued", created_at=self._clock.now())
        db.execute(
            "INSERT INTO outbox (id, endpoint, colony, kind, body, state, created_at) VALUES (?, ?, ?, ?, ?, ?, ?)",
            (delivery.id, *key, kind, json.dumps(body), "queued", delivery.created_at),
        )
        return delivery

    def _select(self, condition: str, *arguments: object) -> list[Delivery]:
        columns = "id, endpoint, colony, kind, body, state, words, attempts, created_at, settled_at"
        rows = self._store.rows(f"SELECT {columns} FROM outbox WHERE {condition} ORDER BY rowid", *arguments)
        return [_from_row(row) for row in rows]


def _from_row(row: tuple[object, ...]) -> Delivery:
    delivery_id, endpoint, colony, kind, body, state, words, attempts, created_at, settled_at = row
    return Delivery(
        id=str(delivery_id),
        key=ColonyKey(EndpointName(str(endpoint)), ColonyId(str(colony))),
        kind="answer" if kind == "answer" else "message",
        body=_parsed(str(body)),
        state=cast(State, state),
        words=str(words),
        attempts=int(cast(int, attempts)),
        created_at=float(cast(float, created_at)),
        settled_at=None if settled_at is None else float(cast(float, settled_at)),
    )


def _parsed(body: str) -> Mapping[str, object]:
    try:
        return wire.mapping(json.loads(body))
    except ValueError:
        return {}  # a damaged row: its server refuses it, and the person is told
