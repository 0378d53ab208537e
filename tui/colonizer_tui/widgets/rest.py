"""When rows may be put in another order: never under the cursor of a person who is moving among them."""

import time
from collections.abc import Generator
from contextlib import contextmanager

from textual.widget import Widget

from colonizer_tui.widgets.keys_to import has_keys

REST_S = 3.0
"""Rows keep their places until no key was pressed in the list for this long."""

ORDERING_RESTS = 20
"""So many times as long as it took to put the rows in order they are left alone, unless a list says otherwise."""


class Rest:
    """Whether a list is at rest. The greater `ordering_rests`, the more keys come first."""

    def __init__(self, of: Widget, ordering_rests: int = ORDERING_RESTS) -> None:
        self._of = of
        self._ordering_rests = ordering_rests
        self._touched_at = 0.0
        self._in_order_until = 0.0

    def disturb(self) -> None:
        """Notes that the person is moving in the list."""
        self._touched_at = time.monotonic()

    def end(self) -> None:
        """Notes that the person left the list."""
        self._touched_at = 0.0

    @property
    def is_disturbed(self) -> bool:
        """Whether the person is moving in the list."""
        return has_keys(self._of) and time.monotonic() - self._touched_at < REST_S

    @property
    def is_due(self) -> bool:
        """Whether the last time that the rows were put in order is long enough ago."""
        return time.monotonic() >= self._in_order_until

    @contextmanager
    def ordering(self) -> Generator[None]:
        """Measures how long it takes to put the rows in order."""
        started = time.monotonic()
        yield
        ended = time.monotonic()
        self._in_order_until = ended + self._ordering_rests * (ended - started)
