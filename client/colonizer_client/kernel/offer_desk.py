"""Offers as a running cockpit makes them: colonies are watched while a kernel is chosen, and not otherwise."""

import asyncio
from collections.abc import Callable
from contextlib import suppress
from itertools import groupby, islice

from colonizer_client.clock import Clock
from colonizer_client.errors import StoreError, Unreachable
from colonizer_client.hub import Hub
from colonizer_client.identity import EndpointName
from colonizer_client.kernel.desk import Kernels
from colonizer_client.kernel.models import OutcomeOrder, Recorded
from colonizer_client.kernel.recording import Acceptance, Bridge
from colonizer_client.snapshot import OffersChanged, Snapshot, Topics
from colonizer_client.store import Store

LOOK_S = 1.0
"""Between two looks at the colonies that changed."""

AT_ONCE = 500
"""Colonies that are looked at in one go, which takes a few milliseconds."""

WHO = "a person in the cockpit"


class OfferDesk:
    """The offers of one cockpit, for one event loop. `open_store` gives its database, or raises StoreError."""

    def __init__(self, hub: Hub, kernels: Kernels, open_store: Callable[[], Store], clock: Clock) -> None:
        self._hub = hub
        self._kernels = kernels
        self._open_store = open_store
        self._clock = clock
        self._kernel: EndpointName | None = None
        self._bridge: Bridge | None = None
        self._tasks: asyncio.TaskGroup | None = None
        self._watching: asyncio.Task[None] | None = None

    def lead_to(self, kernel: EndpointName | None) -> None:
        """Offers outcomes for this kernel from now on; None offers nothing more."""
        self._kernel = kernel
        if kernel is None and self._watching is not None:
            self._watching.cancel()
            self._watching = None
            self._hub.post(OffersChanged(()))
        elif self._watching is not None:
            self._show()
        self._watch()

    def start(self, tasks: asyncio.TaskGroup) -> None:
        """Watches colonies among these tasks, now or once a kernel is chosen."""
        self._tasks = tasks
        self._watch()

    def stop(self) -> None:
        """Notes that the tasks have ended."""
        self._tasks = self._watching = self._bridge = None

    async def accept(self, offer_id: str, word: Acceptance) -> Recorded:
        """What the outcome did to its agent.

        Raises:
            ClientError: As `Bridge.accept`; or no kernel is chosen.
        """
        kernel = self._chosen()

        async def record(order: OutcomeOrder) -> Recorded:
            return await self._kernels.record(kernel, order)

        await self._kernels.ready(kernel)
        try:
            return await self._opened().accept(offer_id, word, kernel, record)
        finally:
            self._show()

    def dismiss(self, offer_id: str) -> None:
        """Makes the offer no more.

        Raises:
            ClientError: As `Bridge.dismiss`; or no kernel is chosen.
        """
        try:
            self._opened().dismiss(offer_id, self._chosen())
        finally:
            self._show()

    def _chosen(self) -> EndpointName:
        if self._kernel is None:
            raise Unreachable("no kernel is chosen for outcomes: see `bridge` under [kernel] in the settings")
        return self._kernel

    def _opened(self) -> Bridge:
        if self._bridge is None:
            self._bridge = Bridge(self._open_store(), self._clock, WHO)
        return self._bridge

    def _watch(self) -> None:
        if self._tasks is not None and self._watching is None and self._kernel is not None:
            self._watching = self._tasks.create_task(self._look_on())

    async def _look_on(self) -> None:
        self._show()
        subscription = self._hub.subscribe()
        try:
            while True:
                await subscription.changed()
                snapshot, topics = subscription.take()
                with suppress(StoreError):  # the cockpit says that its database cannot be used
                    await self._look(snapshot, topics)
                await self._clock.sleep(LOOK_S)
        finally:
            self._hub.unsubscribe(subscription)

    async def _look(self, snapshot: Snapshot, topics: Topics) -> None:
        for name in topics.endpoints:
            if name in snapshot.endpoints and snapshot.endpoints[name].as_of is not None:
                self._opened().offers.look(name, ())
        changed = [snapshot.colonies[key] for key in topics.colonies if key in snapshot.colonies]
        changed.sort(key=lambda colony: colony.key.endpoint)
        found = False
        for name, colonies in groupby(changed, lambda colony: colony.key.endpoint):
            while part := tuple(islice(colonies, AT_ONCE)):
                found |= self._opened().offers.look(name, part)
                await asyncio.sleep(0)
        if found:
            self._show()

    def _show(self) -> None:
        """Puts the offers into the snapshot as they are stored now; where they cannot be read, it stays as it is."""
        try:
            offers = self._opened().offers.unsettled()
        except StoreError:
            return
        snapshot = self._hub.snapshot
        if (offers, self._kernel) != (snapshot.offers, snapshot.offers_for):
            self._hub.post(OffersChanged(offers, self._kernel))
