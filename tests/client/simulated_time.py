"""An event loop on which a pause takes no time: when everything waits, the clock jumps to what comes next."""

import asyncio
import selectors
from collections.abc import Coroutine
from typing import Any, TypeVar

T = TypeVar("T")

NOON = 1_796_040_000.0


class _Jump(selectors.SelectSelector):
    """Waits for nothing: what would be waited is added to the time."""

    time = 0.0

    def select(self, timeout: float | None = None) -> list[tuple[selectors.SelectorKey, int]]:
        if timeout is None:
            raise RuntimeError("everything waits for something that cannot come")
        self.time += max(timeout, 0)
        return super().select(0)


class SimulatedLoop(asyncio.SelectorEventLoop):
    """For tests of which no part takes real time: no threads, processes or sockets."""

    def __init__(self) -> None:
        self._jump = _Jump()
        super().__init__(self._jump)

    def time(self) -> float:
        return self._jump.time


class LoopClock:
    """The time of the running loop, as the client layer asks for it."""

    def now(self) -> float:
        return NOON + self.monotonic()

    def monotonic(self) -> float:
        return asyncio.get_running_loop().time()

    async def sleep(self, seconds: float) -> None:
        await asyncio.sleep(seconds)


def run_simulated(work: Coroutine[Any, Any, T]) -> T:
    """What the work yields, its time-outs and pauses simulated."""
    with asyncio.Runner(loop_factory=SimulatedLoop) as runner:
        return runner.run(work)
