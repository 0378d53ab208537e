"""Brings what lies in the outbox to its mothership, and finds out what became of it."""

from collections.abc import Callable
from enum import Enum, auto

from colonizer_client.clock import Clock
from colonizer_client.errors import (
    ClientError,
    Conflict,
    NoReply,
    NotFound,
    Refusal,
    ServerFault,
    SignInNeeded,
    Unreachable,
    Unreadable,
)
from colonizer_client.mothership import calls, wire
from colonizer_client.mothership.calls import Ask
from colonizer_client.mothership.models import ColonyDetail
from colonizer_client.outbox import Delivery, Fate, Outbox

ANSWER_ATTEMPTS = 2
"""An answer is sent once more when its reply was lost and its question is still open; then a person decides."""

MESSAGE_ATTEMPTS = 5
"""A message's id makes its resend harmless; a server that never says what became of it is given up nevertheless."""

RECORD_DELAY_S = 1.0
"""A question can be closed a moment before its answer is on the server's record."""


class Courier:
    """Settles deliveries. `report` is told of every change of one."""

    def __init__(self, outbox: Outbox, report: Callable[[Delivery], None], clock: Clock) -> None:
        self._outbox = outbox
        self._report = report
        self._clock = clock

    async def deliver(self, delivery: Delivery, ask: Ask) -> Delivery:
        """The delivery after it was taken as far as it goes now; one that is not settled has to be brought again.

        Raises:
            SignInNeeded: The token is refused; the delivery waits until the person has signed in.
            ClientError: The mothership cannot be asked, or does not tell (LinkError, ServerFault, …); the delivery
                waits. StoreError: the outbox cannot be written.
        """
        claimed = self._outbox.claim(delivery)
        if claimed is None:
            return self._reported(self._outbox.get(delivery.id) or delivery)
        self._report(claimed)
        if claimed.kind == "answer" and claimed.state == "unsure":
            return await self._find_out(claimed, ask)
        return await self._bring(claimed, ask)

    async def _bring(self, delivery: Delivery, ask: Ask) -> Delivery:
        try:
            words = await _send(delivery, ask)
        except (SignInNeeded, Unreachable) as problem:
            self._reported(self._outbox.take_back(delivery, str(problem)))
            raise
        except (NoReply, ServerFault, Unreadable) as problem:
            return await self._after_silence(delivery, ask, problem)
        except ClientError as refusal:
            if delivery.kind == "answer" and isinstance(refusal, Conflict):
                unsure = self._reported(self._outbox.mark_unsure(delivery, str(refusal)))
                return await self._find_out(unsure, ask, refusal)
            return self._settle(delivery, "refused", str(refusal))
        return self._settle(delivery, "confirmed", words)

    async def _after_silence(self, delivery: Delivery, ask: Ask, problem: ClientError) -> Delivery:
        if delivery.kind == "answer":
            words = f"no reply ({problem}): asking the server"
            return await self._find_out(self._reported(self._outbox.mark_unsure(delivery, words)), ask, silence=problem)
        if delivery.attempts >= MESSAGE_ATTEMPTS:
            return self._settle(delivery, "undelivered", f"no reply, {delivery.attempts} times ({problem})")
        return self._reported(self._outbox.put_back(delivery, f"no reply ({problem}): it is sent again"))

    async def _find_out(
        self, delivery: Delivery, ask: Ask, refusal: Refusal | None = None, silence: ClientError | None = None
    ) -> Delivery:
        """Reads the question again, then the record: an answer that lands in between is on record then.

        A refusal as such does not tell: the answer before it, whose reply was lost, may have closed the question.
        """
        try:
            question = await ask(calls.question(delivery.key.colony))
            if question is None or question.fingerprint != delivery.fingerprint:
                return await self._look_up(delivery, ask, refusal)
        except NotFound:
            return self._settle(delivery, "refused", "the colony is gone")
        if refusal is not None:
            return self._settle(delivery, "refused", str(refusal))
        if delivery.attempts >= ANSWER_ATTEMPTS:
            why = "" if silence is None else f" ({silence})"
            return self._settle(delivery, "undelivered", f"no reply: asked the server, still open, not sent again{why}")
        words = "no reply: asked the server, still open: sent once more"
        return await self.deliver(self._reported(self._outbox.put_back(delivery, words)), ask)

    async def _look_up(self, delivery: Delivery, ask: Ask, refusal: Refusal | None) -> Delivery:
        """Settles an answer whose question is closed, by the server's record of answers."""
        whose = await self._on_record(delivery, ask)
        if whose is Record.NONE:
            await self._clock.sleep(RECORD_DELAY_S)
            whose = await self._on_record(delivery, ask)
        if whose is Record.OURS:
            return self._settle(delivery, "confirmed", "the server has it on record")
        if whose is Record.ANOTHER:
            return self._settle(delivery, "elsewhere", "answered elsewhere")
        if refusal is not None:
            return self._settle(delivery, "refused", str(refusal))
        if not delivery.answer().answers:
            words = "no reply, and the question is closed; whether by this answer is not on the server's record"
            return self._settle(delivery, "undelivered", words)
        return self._settle(delivery, "refused", "the question is no longer asked")

    async def _on_record(self, delivery: Delivery, ask: Ask) -> "Record":
        return whose(delivery, await ask(calls.colony(delivery.key.endpoint, delivery.key.colony)))

    def _settle(self, delivery: Delivery, fate: Fate, words: str) -> Delivery:
        return self._reported(self._outbox.settle(delivery, fate, words))

    def _reported(self, delivery: Delivery) -> Delivery:
        self._report(delivery)
        return delivery


class Record(Enum):
    """Whose answer to a question the server has on record."""

    OURS = auto()
    ANOTHER = auto()
    NONE = auto()


def whose(delivery: Delivery, detail: ColonyDetail) -> Record:
    """Whose answer to the delivery's question is on record: ours has the same question texts and the same values.

    What was answered before the question was asked belongs to an earlier run, in which its id meant another one.
    """
    answer = delivery.answer()
    asked_at = delivery.asked_at
    on_record = {
        record.text_raw: record.answer_raw
        for record in detail.answered
        if record.question_id == answer.question_id
        and (asked_at is None or record.answered_at is None or record.answered_at >= asked_at)
    }
    ours = wire.mapping(answer.to_json()["answers"])
    if not on_record:
        return Record.NONE
    return Record.OURS if ours and all(on_record.get(text) == value for text, value in ours.items()) else Record.ANOTHER


async def _send(delivery: Delivery, ask: Ask) -> str:
    """What is to be known of a delivery that was taken."""
    if delivery.kind == "answer":
        await ask(calls.answer(delivery.key.colony, delivery.answer()))
        return "delivered"
    delivered = await ask(calls.message(delivery.key.colony, delivery.id, delivery.text))
    return "kept as a note for its next run" if delivered.pending_notes else "delivered"
