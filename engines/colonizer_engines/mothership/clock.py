"""Time, as the embedded mothership reads it."""

import asyncio
import time
from datetime import UTC, datetime
from typing import Protocol


class Clock(Protocol):
    """Where the time comes from; a test has its own."""

    def now(self) -> datetime:
        """The time of day, UTC."""
        ...

    def monotonic(self) -> float:
        """Seconds on a clock that only goes forward."""
        ...

    async def sleep(self, seconds: float) -> None:
        """Nothing, after `seconds`."""
        ...


class SystemClock:
    """The machine's own time."""

    def now(self) -> datetime:
        """The time of day, UTC."""
        return datetime.now(UTC)

    def monotonic(self) -> float:
        """Seconds on a clock that only goes forward."""
        return time.monotonic()

    async def sleep(self, seconds: float) -> None:
        """Nothing, after `seconds`."""
        await asyncio.sleep(seconds)


def rfc3339(moment: datetime) -> str:
    """The moment as it stands on the wire, always with microseconds, so that the texts sort by time."""
    return moment.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ")


def parse_rfc3339(text: str) -> datetime | None:
    """The moment that the text names, or None where it names none."""
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        return None
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)
