"""Who is connected: an engine without clients ends after a while."""

import asyncio
from collections.abc import Generator
from contextlib import contextmanager


class Presence:
    """Requests and sockets that are open now."""

    def __init__(self) -> None:
        self.clients = 0
        self.changed = asyncio.Event()
        """Set when the last client has left or the first one has come."""

    @contextmanager
    def client(self) -> Generator[None]:
        """Counts one more for as long as it takes."""
        self.clients += 1
        self.changed.set()
        try:
            yield
        finally:
            self.clients -= 1
            self.changed.set()
