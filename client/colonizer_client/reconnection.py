"""What all supervised connections have in common: how long they rest between attempts, and how they are woken."""

import asyncio
import random
from collections.abc import Coroutine, Iterator
from typing import Protocol, cast

BACKOFF_FIRST_S = 1.0
BACKOFF_LIMIT_S = 10.0
"""Also how long a connection has to have lived so that its end counts as the first failure."""


class BackOff:
    """How long to wait after each failure in a row: twice as long as before, within bounds and with some chance."""

    def __init__(self, chance: random.Random) -> None:
        self._chance = chance
        self._failures = 0

    def pause_s(self) -> float:
        """The pause after one failure more."""
        self._failures += 1
        longest = min(BACKOFF_FIRST_S * float(2 ** (self._failures - 1)), BACKOFF_LIMIT_S)
        return longest * self._chance.uniform(0.5, 1.0)

    def reset(self) -> None:
        """Forgets the failures so far."""
        self._failures = 0


class Supervised(Protocol):
    """A connection that is kept up."""

    async def run(self) -> None:
        """Keeps it up until it is cancelled."""
        ...

    def fail(self, words: str) -> None:
        """Notes a fault of our own, which ends all traffic until the person acts."""
        ...

    async def woken(self) -> None:
        """Returns when the person acted."""
        ...


async def supervise(link: Supervised) -> None:
    """Runs a link; a fault in it becomes its state in words, so that the other links live on."""
    while True:
        try:
            await link.run()
        except Exception as fault:  # noqa: BLE001  # the one place where a foreign exception may end
            names = ", ".join(sorted({type(cause).__name__ for cause in leaves(fault)}))
            link.fail(f"a fault in this connection ({names}): press r to start it anew")
            await link.woken()


async def unless_woken(work: Coroutine[object, object, None], wake: asyncio.Event) -> bool:
    """Whether the work came to its end; the event ends it before, and this returns when it has cleaned up."""
    working = asyncio.ensure_future(work)
    waking = asyncio.ensure_future(wake.wait())
    try:
        await asyncio.wait({working, waking}, return_when=asyncio.FIRST_COMPLETED)
    finally:
        waking.cancel()
        if not working.done():
            working.cancel()
            await asyncio.wait({working})
    if working.cancelled():
        return False
    working.result()
    return True


def leaves(error: BaseException) -> Iterator[BaseException]:
    """The errors in a group of groups."""
    if isinstance(error, BaseExceptionGroup):
        for inner in cast("BaseExceptionGroup[BaseException]", error).exceptions:
            yield from leaves(inner)
    else:
        yield error
