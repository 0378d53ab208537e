"""Calls at no more than so many a second, whoever asks for them."""

import asyncio

from colonizer_client.clock import Clock

CALLS_PER_S = 20.0
"""A stock kernel refuses calls beyond 50 a second of all its clients together (kernel spec 3)."""


class Pacer:
    """Gives each call its turn, first come first served, and never two within one interval.

    Time that passed unused is not made up for: after a pause there is no burst.
    """

    def __init__(self, clock: Clock, per_s: float = CALLS_PER_S) -> None:
        self._clock = clock
        self._interval_s = 1 / per_s
        self._last_turn = clock.monotonic() - self._interval_s
        self._queue = asyncio.Lock()

    async def turn(self) -> None:
        """Returns when it is this call's turn."""
        async with self._queue:
            pause = self._last_turn + self._interval_s - self._clock.monotonic()
            if pause > 0:
                await self._clock.sleep(pause)
            self._last_turn = self._clock.monotonic()
