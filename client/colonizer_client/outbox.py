"""Answers and messages on their way: stored before they are sent, sent once, and settled with proof.

    queued ──claim──> sending ──2xx──> confirmed
      ^                  │ └──4xx──> refused            the server's words; the draft is kept
      │                  └─no reply─> unsure ──ask the server──> confirmed
      │                                                     ├──> elsewhere     somebody else answered
      │                                                     └──> the same question is open: once more,
      └────────────────────────────────────────────────────────  the second time: undelivered

A row is claimed by compare-and-set, so that no two faces send it; the rows of a face that died are settled by the next.
What the network did is never guessed: after a lost reply the question is read again.
"""

import json
import os
import uuid
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Literal, cast

import psutil

from colonizer_client.answers import AnswerBody
from colonizer_client.clock import Clock
from colonizer_client.identity import ColonyId, ColonyKey, EndpointName
from colonizer_client.mothership import wire
from colonizer_client.store import Store

Fate = Literal["confirmed", "refused", "elsewhere", "undelivered"]
State = Literal["queued", "sending", "unsure"] | Fate
SETTLED: frozenset[State] = frozenset({"confirmed", "refused", "elsewhere", "undelivered"})


@dataclass(frozen=True, slots=True)
class Delivery:
    """One answer or message and how far it is."""

    id: str
    key: ColonyKey
    kind: Literal["answer", "message"]
    body: Mapping[str, object]
    """What is sent: the JSON of an answer with the `fingerprint` of its question, or the `text` of a message."""
    state: State
    words: str = ""
    """Why it was refused, or what is known while it is not settled."""
    attempts: int = 0
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
            wire.sequence(cast(object, questions)) if isinstance(questions, list) else None,
        )


class Outbox:
    """The stored deliveries of one face. Every method raises StoreError when the store cannot be used."""

    def __init__(self, store: Store, clock: Clock) -> None:
        self._store = store
        self._clock = clock
        self._claimant = f"{_process_name(os.getpid())} {uuid.uuid4().hex[:8]}"

    def put_answer(self, key: ColonyKey, fingerprint: str, answer: AnswerBody) -> Delivery:
        """The stored answer, not sent yet. An unsettled one for the same question is returned instead of a second."""
        for delivery in self.unsettled(key.endpoint):
            if delivery.key == key and delivery.kind == "answer" and delivery.fingerprint == fingerprint:
                return delivery
        return self._put(key, "answer", {"fingerprint": fingerprint, "answer": answer.to_json()})

    def put_message(self, key: ColonyKey, text: str) -> Delivery:
        """The stored message, not sent yet. Its id makes a second sending harmless."""
        return self._put(key, "message", {"text": text})

    def unsettled(self, endpoint: EndpointName) -> list[Delivery]:
        """What is on its way to one endpoint, oldest first."""
        return self._select("endpoint = ? AND settled_at IS NULL", endpoint)

    def get(self, delivery_id: str) -> Delivery | None:
        """One delivery as it is stored now."""
        found = self._select("id = ?", delivery_id)
        return found[0] if found else None

    def claim(self, delivery: Delivery) -> Delivery | None:
        """The delivery, now ours to send; None when another living face has it, or it is settled.

        One that a dead face was sending comes back as `unsure`: what became of it has to be asked.
        """
        rows = self._store.rows("SELECT state, claimant, attempts FROM outbox WHERE id = ?", delivery.id)
        if not rows:
            return None
        state, claimant, attempts = str(rows[0][0]), str(rows[0][1]), int(cast(int, rows[0][2]))
        if state in SETTLED or (claimant and claimant != self._claimant and _is_alive(claimant)):
            return None
        mine: State = "sending" if state == "queued" else "unsure"
        changed = self._store.write(
            lambda db: (
                db.execute(
                    "UPDATE outbox SET state = ?, claimant = ?, attempts = ? "
                    "WHERE id = ? AND state = ? AND claimant = ? AND attempts = ?",
                    (mine, self._claimant, attempts + (mine == "sending"), delivery.id, state, claimant, attempts),
                ).rowcount
            )
        )
        return replace(delivery, state=mine, attempts=attempts + (mine == "sending")) if changed else None

    def put_back(self, delivery: Delivery, words: str) -> Delivery:
        """The delivery, queued again: it is known that the server does not have it."""
        return self._move(delivery, "queued", words, claimant="")

    def mark_unsure(self, delivery: Delivery, words: str) -> Delivery:
        """The delivery, its fate unknown until the server can be asked."""
        return self._move(delivery, "unsure", words, claimant=self._claimant)

    def settle(self, delivery: Delivery, state: Fate, words: str) -> Delivery:
        """The delivery with its fate."""
        return self._move(delivery, state, words, claimant="", settled_at=self._clock.now())

    def _move(
        self, delivery: Delivery, state: State, words: str, *, claimant: str, settled_at: float | None = None
    ) -> Delivery:
        self._store.write(
            lambda db: db.execute(
                "UPDATE outbox SET state = ?, words = ?, claimant = ?, settled_at = ? WHERE id = ?",
                (state, words, claimant, settled_at, delivery.id),
            )
        )
        return replace(delivery, state=state, words=words, settled_at=settled_at)

    def _put(self, key: ColonyKey, kind: Literal["answer", "message"], body: Mapping[str, object]) -> Delivery:
        delivery = Delivery(uuid.uuid4().hex, key, kind, body, "queued", created_at=self._clock.now())
        self._store.write(
            lambda db: db.execute(
                "INSERT INTO outbox (id, endpoint, colony, kind, body, state, created_at) VALUES (?, ?, ?, ?, ?, ?, ?)",
                (delivery.id, *key, kind, json.dumps(body), "queued", delivery.created_at),
            )
        )
        return delivery

    def _select(self, condition: str, *arguments: object) -> list[Delivery]:
        columns = "id, endpoint, colony, kind, body, state, words, attempts, created_at, settled_at"
        rows = self._store.rows(f"SELECT {columns} FROM outbox WHERE {condition} ORDER BY created_at", *arguments)
        return [_from_row(row) for row in rows]


def _from_row(row: tuple[object, ...]) -> Delivery:
    delivery_id, endpoint, colony, kind, body, state, words, attempts, created_at, settled_at = row
    return Delivery(
        id=str(delivery_id),
        key=ColonyKey(EndpointName(str(endpoint)), ColonyId(str(colony))),
        kind="answer" if kind == "answer" else "message",
        body=wire.mapping(json.loads(str(body))),
        state=cast(State, state),
        words=str(words),
        attempts=int(cast(int, attempts)),
        created_at=float(cast(float, created_at)),
        settled_at=None if settled_at is None else float(cast(float, settled_at)),
    )


def _process_name(pid: int) -> str:
    """A name that no later process with the same id shares."""
    return f"{pid} {psutil.Process(pid).create_time():.2f}"


def _is_alive(claimant: str) -> bool:
    process, _, _ = claimant.rpartition(" ")
    pid, _, _ = process.partition(" ")
    try:
        return pid.isdigit() and _process_name(int(pid)) == process
    except psutil.Error:
        return False
