"""Brings what lies in the outbox to its mothership, and finds out what became of it."""

from collections.abc import Awaitable, Callable
from typing import Protocol, TypeVar

from colonizer_client.errors import ClientError, LinkError, NotFound, Refusal, ServerFault, SignInNeeded, Unreadable
from colonizer_client.mothership import calls, wire
from colonizer_client.mothership.calls import Call
from colonizer_client.mothership.models import ColonyDetail
from colonizer_client.outbox import Delivery, Fate, Outbox

T = TypeVar("T")

ATTEMPTS = 2
"""An answer is sent once more when its reply was lost and its question is still open; then a person decides."""


class Asker(Protocol):
    """Runs calls against the one mothership that a delivery is for."""

    async def __call__(self, call: Call[T], /) -> T:
        """The call's result; raises ClientError."""
        ...


class Courier:
    """Settles deliveries. `report` is told of every change of one."""

    def __init__(self, outbox: Outbox, report: Callable[[Delivery], None]) -> None:
        self._outbox = outbox
        self._report = report

    async def deliver(self, delivery: Delivery, ask: Asker) -> None:
        """Takes one delivery as far as it goes now.

        Raises:
            LinkError: The mothership could not be asked; the delivery waits for the next connection.
            SignInNeeded: The token is refused; the delivery waits until the person has signed in.
            StoreError: The outbox cannot be written.
        """
        claimed = self._outbox.claim(delivery)
        if claimed is None:
            return
        self._report(claimed)
        if claimed.kind == "message":
            await self._bring_message(claimed, ask)
        elif claimed.state == "unsure":
            await self._find_out(claimed, ask)
        else:
            await self._bring_answer(claimed, ask)

    async def _bring_answer(self, delivery: Delivery, ask: Asker) -> None:
        send = calls.answer(delivery.key.colony, delivery.answer())
        unsure = await self._send(delivery, lambda: ask(send), "delivered")
        if unsure is not None:
            await self._find_out(unsure, ask)

    async def _bring_message(self, delivery: Delivery, ask: Asker) -> None:
        """A message's id makes its resend harmless, so that a lost reply is answered by sending it again."""
        send = calls.message(delivery.key.colony, delivery.id, delivery.text)
        kept = ""

        async def sending() -> None:
            nonlocal kept
            delivered = await ask(send)
            if delivered.pending_notes:
                kept = "kept as a note for its next run"

        unsure = await self._send(delivery, sending, lambda: kept or "delivered")
        if unsure is not None:
            again = self._outbox.put_back(unsure, "no reply: sent again")
            self._report(again)
            if delivery.attempts < ATTEMPTS:
                await self.deliver(again, ask)

    async def _send(
        self, delivery: Delivery, send: Callable[[], Awaitable[object]], words: str | Callable[[], str]
    ) -> Delivery | None:
        """Sends and settles; the delivery comes back as unsure where no reply tells its fate."""
        try:
            await send()
        except SignInNeeded as refusal:
            self._report(self._outbox.put_back(delivery, str(refusal)))
            raise
        except Refusal as refusal:
            self._settle(delivery, "refused", str(refusal))
            return None
        except (LinkError, ServerFault, Unreadable) as problem:
            unsure = self._outbox.mark_unsure(delivery, f"no reply ({problem}): asking the server")
            self._report(unsure)
            return unsure
        except ClientError as problem:
            self._settle(delivery, "refused", str(problem))
            return None
        self._settle(delivery, "confirmed", words if isinstance(words, str) else words())
        return None

    async def _find_out(self, delivery: Delivery, ask: Asker) -> None:
        """Reads the question again. It is read before the record: an answer that lands in between is on record then."""
        colony = delivery.key.colony
        try:
            question = await ask(calls.question(colony))
            if question is None or question.fingerprint != delivery.fingerprint:
                detail = await ask(calls.colony(delivery.key.endpoint, colony))
                if is_on_record(delivery, detail):
                    self._settle(delivery, "confirmed", "no reply, but the server has it on record")
                else:
                    self._settle(delivery, "elsewhere", "answered elsewhere")
                return
        except NotFound:
            self._settle(delivery, "refused", "the colony is gone")
            return
        if delivery.attempts >= ATTEMPTS:
            self._settle(delivery, "undelivered", "no reply: asked the server, still open, not sent again")
            return
        again = self._outbox.put_back(delivery, "no reply: asked the server, still open: sent once more")
        self._report(again)
        await self.deliver(again, ask)

    def _settle(self, delivery: Delivery, fate: Fate, words: str) -> None:
        self._report(self._outbox.settle(delivery, fate, words))


def is_on_record(delivery: Delivery, detail: ColonyDetail) -> bool:
    """Whether the server's record holds this very answer: same question id, same texts, same values."""
    answer = delivery.answer()
    on_record = {
        wire.raw(record.raw.get("question")): record.raw.get("answer")
        for record in detail.answered
        if record.question_id == answer.question_id
    }
    ours = answer.to_json()["answers"]
    return bool(on_record) and all(
        text in on_record and on_record[text] == value for text, value in wire.mapping(ours).items()
    )
