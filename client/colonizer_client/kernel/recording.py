"""How an offer becomes an outcome that a kernel keeps: claimed first, then logged, then sent, once."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress

from colonizer_client.audit import AuditLog
from colonizer_client.clock import Clock
from colonizer_client.errors import UNKNOWN_FATE, ClientError, StoreError
from colonizer_client.identity import EndpointName
from colonizer_client.kernel.bridge import Offer
from colonizer_client.kernel.models import OutcomeOrder, Recorded
from colonizer_client.kernel.offers import Offers
from colonizer_client.store import Store
from colonizer_config.value import Value


class Acceptance(Value):
    """A person's word on an offer."""

    passed: bool
    """Whether the colony's tests passed."""
    feedback: float | None = None
    """What they think of the work, -1..1; None is what the offer says."""
    again: bool = False
    """Also where it was sent before and nobody knows what came of it."""


class Bridge:
    """The offers of one person, and the log of what became of them.

    `who` names the person's face in the log. Methods raise StoreError where the database or the log cannot be used;
    its words say whether anything was sent.
    """

    def __init__(self, store: Store, clock: Clock, who: str) -> None:
        self.offers = Offers(store, clock)
        self._log = AuditLog.beside(store.path, clock)
        self._clock = clock
        self._who = who

    async def accept(
        self,
        offer_id: str,
        word: Acceptance,
        kernel: EndpointName,
        record: Callable[[OutcomeOrder], Awaitable[Recorded]],
    ) -> Recorded:
        """What the outcome did to its agent.

        Args:
            offer_id: The offer.
            word: What the person says of it.
            kernel: The name of the kernel to which `record` leads.
            record: Records an outcome; raises ClientError.

        Raises:
            NotFound: There is no such offer.
            OnItsWay: It was sent already, or is settled.
            StoreError: It could not be noted here; the words say whether the kernel recorded it.
            ClientError: It could not be recorded, or nobody knows (NoReply): the offer says so.
        """
        offer = self.offers.claim(offer_id, again=word.again)
        order = offer.order(word.passed, word.feedback)
        try:
            self._note(offer, kernel, "asked", arguments=_arguments(order))
        except StoreError as problem:
            words = f"nothing is sent that cannot be logged: {problem}"
            self.offers.reopen(offer_id, words)
            raise StoreError(words) from problem
        began = self._clock.monotonic()
        try:
            recorded = await record(order)
        except asyncio.CancelledError:
            with suppress(StoreError):
                self._note(offer, kernel, "cut off")
            raise
        except ClientError as problem:
            # What cannot be noted still counts as sent; why it was not recorded is what the person has to know.
            with suppress(StoreError):
                self._note_failure(offer, kernel, problem)
            raise
        told = {"consequence_id": recorded.consequence_id, "trust": recorded.trust, "role": recorded.role}
        latency_ms = round((self._clock.monotonic() - began) * 1000, 1)
        try:
            self.offers.settle(offer_id)
            self._note(offer, kernel, "recorded", told=told, latency_ms=latency_ms)
        except StoreError as problem:
            words = (
                f"{kernel} recorded it, which could not be noted here: {problem}. Do not record it again: dismiss it"
            )
            raise StoreError(words) from problem
        return recorded

    def dismiss(self, offer_id: str, kernel: EndpointName) -> Offer:
        """The offer, which was for that kernel and is made no more.

        Raises:
            NotFound: There is none of that id.
            OnItsWay: It is settled already.
        """
        offer = self.offers.dismiss(offer_id)
        self._note(offer, kernel, "dismissed")
        return offer

    def _note_failure(self, offer: Offer, kernel: EndpointName, problem: ClientError) -> None:
        is_open = not isinstance(problem, UNKNOWN_FATE)
        (self.offers.reopen if is_open else self.offers.doubt)(offer.id, str(problem))
        self._note(offer, kernel, "failed" if is_open else "not known", words=str(problem))

    def _note(self, offer: Offer, kernel: EndpointName, result: str, **more: object) -> None:
        self._log.append(
            {
                "who": self._who,
                "what": "colony_record_outcome",
                "kernel": kernel,
                "offer": offer.id,
                "colony": str(offer.key),
                "run": offer.run,
                "result": result,
                **more,
            }
        )


def _arguments(order: OutcomeOrder) -> Mapping[str, object]:
    return {
        "agent": order.agent,
        "action": order.action,
        "target": order.target,
        "outcome": order.outcome,
        "tests_passed": order.tests_passed,
        "feedback": order.feedback,
    }
