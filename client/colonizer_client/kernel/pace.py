"""Calls at no more than so many a second, whoever asks for them."""

from colonizer_client.clock import Clock

CALLS_PER_S = 20.0
"""A stock kernel refuses calls beyond 50 a second of all its clients together (kernel spec 3)."""


class Pacer:
    """Gives each call its turn, first come first served, never two within one interval."""

    def __init__(self, clock: Clock, per_s: float = CALLS_PER_S) -> None:
        self._clock = clock
        self._interval_s = 1 / per_s
        self._next_turn = clock.monotonic()

    async def turn(self) -> None:
        """Returns when it is this call's turn."""
        now = self._clock.monotonic()
        mine = max(now, self._next_turn)
        self._next_turn = mine + self._interval_s
        if mine > now:
            await self._clock.sleep(mine - now)
