"""Moving in the heatmap of a kernel of 10,000 places × 6 signal types while 500 traces a second change."""

import random
import time
from collections.abc import Callable

from bench.figure import Figure, median, percentile
from bench.hot_kernel import hot_kernel
from bench.lists import PAGE_DOWN, SELECTED
from bench.machine import PROGRAM, SETTLED_S, cpu_s, home
from bench.terminal import Terminal, terminal

RATE = 500
PRESSES, PAGES = 60, 20
PAUSE_S = 0.2
REST_S = 10.0
KERNEL_KEY = "4"


def measure() -> None:
    """Prints the figures at rest and under the changes."""
    with home(), hot_kernel() as kernel, terminal(*PROGRAM, "tui", rows=50, columns=160) as cockpit:
        cockpit.until_text()
        cockpit.rest(SETTLED_S)
        cockpit.send(KERNEL_KEY)
        cockpit.until_shown("garden.module_")
        cockpit.rest(SETTLED_S * 2)
        _measure(cockpit, "at rest")
        kernel.begin(RATE, REST_S + (PRESSES + PAGES) * PAUSE_S * 2 + SETTLED_S)
        cockpit.rest(SETTLED_S)
        _measure(cockpit, f"{RATE} changes/s")
        cockpit.until(kernel.has_sent)


def _measure(cockpit: Terminal, circumstances: str) -> None:
    share = _cpu_share(cockpit, lambda: cockpit.rest(REST_S))
    Figure(name=f"heatmap: CPU, {circumstances}", value=share * 100, unit="% of a core", target=10).print()
    chance, keys = random.Random(3), list[float]()

    def press() -> None:
        for _ in range(PRESSES):
            cockpit.rest(PAUSE_S * chance.uniform(0.7, 1.3))
            keys.append(cockpit.press("j", SELECTED)[0] * 1000)

    share = _cpu_share(cockpit, press)
    for words, part, target in (("p50", 0.5, 5), ("p95", 0.95, 16)):
        name = f"heatmap: key to paint, {circumstances}, {words}"
        Figure(name=name, value=percentile(keys, part), unit="ms", target=target).print()
    Figure(name=f"heatmap: CPU, {circumstances}, key after key", value=share * 100, unit="% of a core").print()
    pages: list[tuple[float, int]] = []
    for _ in range(PAGES):
        cockpit.rest(PAUSE_S)
        pages.append(cockpit.press(PAGE_DOWN, SELECTED))
    took, written = median([page[0] * 1000 for page in pages]), median([page[1] for page in pages])
    Figure(name=f"heatmap: page-down, {circumstances}", value=took, unit="ms", target=20).print()
    Figure(name=f"heatmap: page-down, written, 160x50, {circumstances}", value=written, unit="bytes").print()


def _cpu_share(cockpit: Terminal, during: Callable[[], object]) -> float:
    """The part of a core that it used meanwhile."""
    before, started = cpu_s(cockpit.pid), time.monotonic()
    during()
    return (cpu_s(cockpit.pid) - before) / (time.monotonic() - started)


if __name__ == "__main__":
    measure()
