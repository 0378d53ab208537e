"""Time as something that is given, so that tests need not wait for it."""

import asyncio
import time
from typing import Protocol


class Clock(Protocol):
    """What the client layer asks of time."""

    def now(self) -> float:
        """Seconds since 1970 (UTC)."""
        ...

    def monotonic(self) -> float:
        """Seconds that only go forward, from an arbitrary start."""
        ...

    async def sleep(self, seconds: float) -> None:
        """Returns after that many seconds."""
        ...


class SystemClock:
    """The machine's own time."""

    def now(self) -> float:
        """Seconds since 1970 (UTC)."""
        return time.time()

    def monotonic(self) -> float:
        """Seconds that only go forward."""
        return time.monotonic()

    async def sleep(self, seconds: float) -> None:
        """Returns after that many seconds."""
        await asyncio.sleep(seconds)
