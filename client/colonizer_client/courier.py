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

LATE_PAUSES_S = (RECORD_DELAY_S, 4.0, 10.0, 10.0, 10.0, 10.0)
"""Between looks for an answer that nobody replied to: what was held up on the way may arrive when we have given up."""

GATEWAY_FAULTS = frozenset({502, 504})
"""With these a proxy speaks for a server that has not."""


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
        return await self._take_up(delivery, ask)

    async def _take_up(self, delivery: Delivery, ask: Ask, *, may_come: bool | None = None) -> Delivery:
        """`may_come` says whether it was sent before and may still arrive; None where that is not known."""
        claimed = self._outbox.claim(delivery)
        if claimed is None:
            return self._reported(self._outbox.get(delivery.id) or delivery)
        self._report(claimed)
        is_unsure = claimed.state == "unsure"
        if may_come is None:
            may_come = is_unsure or claimed.attempts > 1
        if claimed.kind == "answer" and is_unsure:
            return await self._find_out(claimed, ask, may_come=may_come)
        return await self._bring(claimed, ask, may_come=may_come)

    async def _bring(self, delivery: Delivery, ask: Ask, *, may_come: bool) -> Delivery:
        try:
            words = await _send(delivery, ask)
        except (SignInNeeded, Unreachable) as problem:
            self._reported(self._outbox.take_back(delivery, str(problem)))
            raise
        except (NoReply, ServerFault, Unreadable) as problem:
            if delivery.kind == "message":
                return self._after_silence(delivery, problem)
            unsure = self._reported(self._outbox.mark_unsure(delivery, f"no reply ({problem}): asking the server"))
            return await self._find_out(unsure, ask, problem, may_come=may_come or _is_silence(problem))
        except ClientError as refusal:
            if delivery.kind == "answer" and (may_come or isinstance(refusal, Conflict)):
                unsure = self._reported(self._outbox.mark_unsure(delivery, str(refusal)))
                return await self._find_out(unsure, ask, refusal, may_come=may_come)
            return self._settle(delivery, "refused", str(refusal))
        return self._settle(delivery, "confirmed", words)

    def _after_silence(self, message: Delivery, problem: ClientError) -> Delivery:
        if message.attempts >= MESSAGE_ATTEMPTS:
            return self._settle(message, "undelivered", f"no reply, {message.attempts} times ({problem})")
        return self._reported(self._outbox.put_back(message, f"no reply ({problem}): it is sent again"))

    async def _find_out(
        self, answer: Delivery, ask: Ask, problem: ClientError | None = None, *, may_come: bool
    ) -> Delivery:
        """Asks for an answer until its fate is known; one that is still open and was not refused is sent once more.

        A refusal as such does not tell: the answer before it, whose reply was lost, may have closed the question.
        """
        may_resend = answer.attempts < ANSWER_ATTEMPTS and not isinstance(problem, Refusal)
        # No record tells of a dismissal, however long it is waited for.
        pauses = LATE_PAUSES_S if may_come and answer.answer().answers else LATE_PAUSES_S[:1]
        try:
            finding = await self._look(answer, ask)
            for pause in pauses:
                if finding.is_known or (finding is Finding.OPEN and (may_resend or not may_come)):
                    break
                await self._clock.sleep(pause)
                finding = await self._look(answer, ask)
        except NotFound:
            return self._settle(answer, "refused", "the colony is gone")
        if finding is Finding.OPEN and may_resend:
            again = self._outbox.put_back(answer, "no reply: asked the server, still open: sent once more")
            return await self._take_up(self._reported(again), ask, may_come=may_come)
        return self._settle(answer, *_fate(finding, answer, problem))

    async def _look(self, answer: Delivery, ask: Ask) -> "Finding":
        """Reads the question, then the record: an answer that lands in between is on record then."""
        question = await ask(calls.question(answer.key.colony))
        is_open = question is not None and question.fingerprint == answer.fingerprint
        record = whose(answer, await ask(calls.colony(answer.key.endpoint, answer.key.colony)))
        if is_open and answer.asked_at is None:
            # What is on record may belong to an earlier run, in which the same was asked.
            return Finding.UNCLEAR if record is Record.OURS else Finding.OPEN
        match record:
            case Record.OURS:
                return Finding.OURS
            case Record.ANOTHER:
                return Finding.ANOTHER
            case Record.NONE:
                return Finding.OPEN if is_open else Finding.CLOSED

    def _settle(self, delivery: Delivery, fate: Fate, words: str) -> Delivery:
        return self._reported(self._outbox.settle(delivery, fate, words))

    def _reported(self, delivery: Delivery) -> Delivery:
        self._report(delivery)
        return delivery


class Finding(Enum):
    """What the server tells of an answer."""

    OURS = auto()
    """It was taken."""
    ANOTHER = auto()
    """Somebody else's was taken."""
    OPEN = auto()
    """Its question is still asked."""
    UNCLEAR = auto()
    """Its question is asked, and an answer like it is on record: for an earlier question, or for the one before."""
    CLOSED = auto()
    """Its question is not asked any more, and no answer to it is on record."""

    @property
    def is_known(self) -> bool:
        """Whether nothing can change it any more."""
        return self in (Finding.OURS, Finding.ANOTHER)


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
    records = [
        record
        for record in detail.answered
        if record.question_id == answer.question_id
        and (asked_at is None or record.answered_at is None or record.answered_at >= asked_at)
    ]
    if asked_at is not None:
        records.reverse()  # the first answer closed the question; a later one is to the same asked again
    on_record = {record.text_raw: record.answer_raw for record in records}
    ours = wire.mapping(answer.to_json()["answers"])
    if not on_record:
        return Record.NONE
    return Record.OURS if ours and all(on_record.get(text) == value for text, value in ours.items()) else Record.ANOTHER


def _is_silence(problem: ClientError) -> bool:
    """Whether the mothership itself said nothing, so that the request may still be on its way."""
    return isinstance(problem, NoReply) or (isinstance(problem, ServerFault) and problem.status in GATEWAY_FAULTS)


def _fate(finding: Finding, answer: Delivery, problem: ClientError | None) -> tuple[Fate, str]:
    """The end of an answer for which nothing more can be done, in a word and in words."""
    match finding:
        case Finding.OURS:
            return "confirmed", "the server has it on record"
        case Finding.ANOTHER:
            return "elsewhere", "answered elsewhere"
        case _ if isinstance(problem, Refusal):
            return "refused", str(problem)
        case Finding.OPEN | Finding.UNCLEAR:
            why = "" if problem is None else f" ({problem})"
            return "undelivered", f"no reply: asked the server, still open, not sent again{why}"
        case Finding.CLOSED if not answer.answer().answers:
            words = "no reply, and the question is closed; whether by this answer is not on the server's record"
            return "undelivered", words
        case Finding.CLOSED:
            return "refused", "the question is no longer asked"


async def _send(delivery: Delivery, ask: Ask) -> str:
    """What is to be known of a delivery that was taken."""
    if delivery.kind == "answer":
        await ask(calls.answer(delivery.key.colony, delivery.answer()))
        return "delivered"
    delivered = await ask(calls.message(delivery.key.colony, delivery.id, delivery.text))
    return "kept as a note for its next run" if delivered.pending_notes else "delivered"
