"""The one mutable thing: the newest snapshot, and who wants to hear of the next.

Events pile up until somebody looks, and are folded then, all together. A reader that is slow gets the newest snapshot
and the merged topics: what waits for it does not grow with time.
"""

import asyncio

from colonizer_client.snapshot import HubEvent, Snapshot, Topics, fold

PENDING_LIMIT = 2_048
"""Events that wait unfolded at most; beyond it they are folded even if nobody looks."""


class Subscription:
    """One reader's view of the hub."""

    def __init__(self, hub: "Hub", topics: Topics) -> None:
        self._hub = hub
        self._topics = topics
        self._changed = asyncio.Event()
        self._changed.set()

    async def changed(self) -> None:
        """Returns when something happened since the last `take`."""
        await self._changed.wait()

    def take(self) -> tuple[Snapshot, Topics]:
        """The newest snapshot and what changed since the last `take`."""
        snapshot = self._hub.snapshot
        topics, self._topics = self._topics, Topics()
        self._changed.clear()
        return snapshot, topics

    def ring(self) -> None:
        """Says that there is something to take."""
        self._changed.set()

    def add(self, topics: Topics) -> None:
        """Merges what changed into what waits to be taken."""
        self._topics = self._topics | topics


class Hub:
    """Takes events, gives snapshots. For one event loop."""

    def __init__(self) -> None:
        self._snapshot = Snapshot()
        self._pending: list[HubEvent] = []
        self._subscriptions: list[Subscription] = []

    @property
    def snapshot(self) -> Snapshot:
        """Everything that is known now."""
        if self._pending:
            self._fold()
        return self._snapshot

    def post(self, event: HubEvent) -> None:
        """Takes an event."""
        self._pending.append(event)
        if len(self._pending) >= PENDING_LIMIT:
            self._fold()
        for subscription in self._subscriptions:
            subscription.ring()

    def subscribe(self) -> Subscription:
        """A new reader; what is known already is there to be taken."""
        known = self.snapshot
        opened = frozenset(known.transcripts) | frozenset(known.diffs) | frozenset(known.details)
        topics = Topics(
            frozenset(known.endpoints),
            frozenset(known.colonies),
            opened,
            frozenset(known.deliveries),
            frozenset(known.kernels),
            bool(known.offers),
            bool(known.approvals),
        )
        subscription = Subscription(self, topics)
        self._subscriptions.append(subscription)
        return subscription

    def unsubscribe(self, subscription: Subscription) -> None:
        """Forgets a reader."""
        self._subscriptions.remove(subscription)

    def _fold(self) -> None:
        pending, self._pending = self._pending, []
        self._snapshot, topics = fold(self._snapshot, pending)
        for subscription in self._subscriptions:
            subscription.add(topics)
