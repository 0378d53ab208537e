"""Clocks for tests: one that a test moves, and one on which nothing takes time."""

import asyncio
from dataclasses import dataclass, field

LONG_S = 10
"""What happens in these tests happens at once; a test that waits longer has found a fault."""


@dataclass
class HandClock:
    """A clock that a test moves."""

    time: float = 1_796_040_000.0
    _sleepers: dict[asyncio.Event, float] = field(default_factory=dict[asyncio.Event, float])
    _news: asyncio.Event = field(default_factory=asyncio.Event)

    def now(self) -> float:
        return self.time

    def monotonic(self) -> float:
        return self.time

    async def sleep(self, seconds: float) -> None:
        woken = asyncio.Event()
        self._sleepers[woken] = self.time + seconds
        self._news.set()
        try:
            await woken.wait()
        finally:
            del self._sleepers[woken]

    def move(self, seconds: float) -> None:
        self.time += seconds
        for woken, due in self._sleepers.items():
            if due <= self.time:
                woken.set()

    @property
    def pauses(self) -> list[float]:
        """How long each sleeper still has to wait."""
        return sorted(due - self.time for woken, due in self._sleepers.items() if not woken.is_set())

    async def until_sleeping(self, sleepers: int = 1) -> list[float]:
        """The pauses, once that many tasks sleep."""
        async with asyncio.timeout(LONG_S):
            while len(self.pauses) < sleepers:
                self._news.clear()
                await self._news.wait()
        return self.pauses


@dataclass
class HastyClock:
    """A clock on which every pause is over at once; it keeps how long each was meant to be."""

    time: float = 1_796_040_000.0
    pauses: list[float] = field(default_factory=list[float])

    def now(self) -> float:
        return self.time

    def monotonic(self) -> float:
        return self.time

    async def sleep(self, seconds: float) -> None:
        self.pauses.append(seconds)
        self.time += seconds
        await asyncio.sleep(0)
