"""What a person typed and has not sent: kept until it is sent or emptied, over restarts of every face."""

import json
from collections.abc import Sequence
from typing import cast

from colonizer_client.answers import Chosen
from colonizer_client.clock import Clock
from colonizer_client.identity import ColonyKey
from colonizer_client.mothership import wire
from colonizer_client.mothership.models import OpenQuestion
from colonizer_client.store import Store
from colonizer_config.value import Value

MESSAGE = "message"


class Drafts(Value):
    """The drafts in a store. Each method raises StoreError when the store cannot be used."""

    store: Store
    clock: Clock

    def message(self, key: ColonyKey) -> str:
        """The half-typed message to a colony, empty where there is none."""
        return wire.raw(self._read(key, MESSAGE))

    def keep_message(self, key: ColonyKey, text: str) -> None:
        """Keeps a half-typed message; an empty one is forgotten."""
        self._keep(key, MESSAGE, text or None)

    def card(self, key: ColonyKey, question: OpenQuestion) -> tuple[Chosen, ...]:
        """What was chosen and typed in the card of this very question, one entry for each prompt."""
        kept = [_chosen(value) for value in wire.sequence(self._read(key, _about(question.fingerprint)))]
        count = max(len(question.prompts), 1)
        return tuple((kept + [Chosen()] * count)[:count])

    def keep_card(self, key: ColonyKey, question: OpenQuestion, chosen: Sequence[Chosen]) -> None:
        """Keeps what is chosen and typed; an untouched card is forgotten."""
        touched = any(given.labels or given.other for given in chosen)
        body = [{"labels": list(given.labels), "other": given.other} for given in chosen] if touched else None
        self._keep(key, _about(question.fingerprint), body)

    def forget_card(self, key: ColonyKey, fingerprint: str) -> None:
        """Forgets the card's draft: it was delivered."""
        self._keep(key, _about(fingerprint), None)

    def has_card(self, key: ColonyKey, question: OpenQuestion) -> bool:
        """Whether something is kept for this very question."""
        return self._read(key, _about(question.fingerprint)) is not None

    def _read(self, key: ColonyKey, about: str) -> object:
        rows = self.store.rows("SELECT body FROM drafts WHERE endpoint = ? AND colony = ? AND about = ?", *key, about)
        try:
            return cast(object, json.loads(str(rows[0][0]))) if rows else None
        except ValueError:
            return None

    def _keep(self, key: ColonyKey, about: str, body: object | None) -> None:
        if body is None:
            self.store.write(
                lambda db: db.execute(
                    "DELETE FROM drafts WHERE endpoint = ? AND colony = ? AND about = ?", (*key, about)
                )
            )
            return
        text = json.dumps(body)
        self.store.write(
            lambda db: db.execute(
                "INSERT OR REPLACE INTO drafts VALUES (?, ?, ?, ?, ?)", (*key, about, text, self.clock.now())
            )
        )


def _about(fingerprint: str) -> str:
    return f"question {fingerprint}"


def _chosen(value: object) -> Chosen:
    fields = wire.mapping(value)
    labels = tuple(label for label in wire.sequence(fields.get("labels")) if isinstance(label, str))
    return Chosen(labels, wire.raw(fields.get("other")))
