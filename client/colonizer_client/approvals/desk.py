"""Approvals as a running cockpit reads and decides them."""

from collections.abc import AsyncGenerator, Callable

from colonizer_client.approvals.ledger import Approvals
from colonizer_client.approvals.models import Approval
from colonizer_client.clock import Clock
from colonizer_client.errors import StoreError
from colonizer_client.store import Store

LOOK_S = 1.0
"""Between two looks at the database, which other processes write into."""

WHO = "a person in the cockpit"


class ApprovalDesk:
    """The approvals of one cockpit. `open_store` gives its database, or raises StoreError."""

    def __init__(self, open_store: Callable[[], Store], clock: Clock) -> None:
        self._open_store = open_store
        self._clock = clock
        self._opened: tuple[Store, Approvals] | None = None

    def pending(self) -> tuple[Approval, ...]:
        """Those that wait for the person, oldest first.

        Raises:
            StoreError: They cannot be read.
        """
        return self._approvals().pending()

    async def changes(self) -> AsyncGenerator[tuple[Approval, ...]]:
        """Those that wait, now and each time that they have become others; nothing while they cannot be read."""
        shown: tuple[Approval, ...] | None = None
        while True:
            try:
                waiting = self.pending()
            except StoreError:  # the cockpit says that its database cannot be used
                waiting = shown or ()
            if waiting != shown:
                shown = waiting
                yield waiting
            await self._clock.sleep(LOOK_S)

    def approve(self, approval_id: str, digest: str) -> Approval:
        """The approval, given to exactly what was shown, of which this is the digest.

        Raises:
            NotFound: There is none of that id.
            Conflict: It is decided already, and the text says by whom; or too late, or something else was shown.
            StoreError: It cannot be kept or logged, so that it is not given.
        """
        return self._approvals().approve(approval_id, digest, WHO)

    def reject(self, approval_id: str, reason: str = "") -> Approval:
        """The approval, refused for a reason that the caller reads.

        Raises:
            NotFound: As `approve`, like Conflict and StoreError.
        """
        return self._approvals().reject(approval_id, WHO, reason)

    def _approvals(self) -> Approvals:
        store = self._open_store()
        if self._opened is None or self._opened[0] is not store:
            self._opened = store, Approvals(store, self._clock)
        return self._opened[1]
