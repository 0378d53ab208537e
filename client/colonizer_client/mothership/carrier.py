"""Carries what lies in the outbox to one mothership: each colony's answers and messages in their order.

A colony that cannot be reached holds up no other; what is stuck is tried again for as long as the connection lasts.
"""

import asyncio
from collections.abc import Callable

from msgspec.structs import replace

from colonizer_client.clock import Clock
from colonizer_client.courier import Courier
from colonizer_client.errors import ClientError, SignInNeeded, StoreError
from colonizer_client.identity import ColonyId, ColonyKey, EndpointName
from colonizer_client.mothership.calls import Ask
from colonizer_client.outbox import Delivery, Outbox
from colonizer_client.snapshot import DeliveryChanged, HubEvent

RETRY_S = 2.0
"""Before what could not be settled is brought again."""


class Carrier:
    """`outbox` gives the outbox, None while there is none; `settled` is told of colonies that got something."""

    def __init__(
        self,
        endpoint: EndpointName,
        outbox: Callable[[], Outbox | None],
        ask: Ask,
        post: Callable[[HubEvent], None],
        settled: Callable[[ColonyId], None],
        clock: Clock,
    ) -> None:
        self._endpoint = endpoint
        self._outbox = outbox
        self._ask = ask
        self._post = post
        self._settled = settled
        self._clock = clock
        self._filled = asyncio.Event()

    def fill(self) -> None:
        """Says that something was put into the outbox."""
        self._filled.set()

    async def run(self) -> None:
        """Carries until it is cancelled.

        Raises:
            SignInNeeded: The token was refused.
        """
        rounds: dict[ColonyKey, asyncio.Task[None]] = {}
        async with asyncio.TaskGroup() as tasks:
            while True:
                self._filled.clear()
                outbox = self._outbox()
                rounds = {key: task for key, task in rounds.items() if not task.done()}
                if outbox is not None:
                    for key in {delivery.key for delivery in self._unsettled(outbox)} - rounds.keys():
                        rounds[key] = tasks.create_task(self._carry_to(key, outbox))
                await self._filled.wait()

    def _unsettled(self, outbox: Outbox) -> list[Delivery]:
        try:
            return outbox.unsettled(self._endpoint)
        except StoreError:
            return []  # who put something in was told; it is read with the next one, or the next connection

    async def _carry_to(self, key: ColonyKey, outbox: Outbox) -> None:
        courier = Courier(outbox, self._report, self._clock)
        delivery: Delivery | None = None
        while True:
            try:
                delivery = outbox.next_for(key)
                if delivery is None:
                    return
                delivery = await courier.deliver(delivery, self._ask)
            except SignInNeeded:
                raise
            except StoreError as problem:
                if delivery is not None:
                    self._report(replace(delivery, words=str(problem)))
            except ClientError:
                pass  # the courier has said how the delivery is
            if delivery is not None and delivery.is_settled:
                self._settled(key.colony)
            else:
                await self._clock.sleep(RETRY_S)

    def _report(self, delivery: Delivery) -> None:
        self._post(DeliveryChanged(delivery))
