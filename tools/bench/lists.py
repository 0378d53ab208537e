"""Moving in a list of 100,000 colonies while 1,000 of them a second change."""

import random
import time

from bench.figure import Figure, median, percentile
from bench.fleet import fleet
from bench.machine import PROGRAM, configure, cpu_s, home
from bench.peers import LIST
from bench.terminal import Terminal, terminal

HOSTS, EACH = 10, 10_000
RATE = 1_000
SELECTED = "▌"
PAGE_DOWN = "\x1b[6~"


def measure() -> None:
    with home(), fleet(hosts=HOSTS, colonies=EACH) as hosts:
        configure(hosts.ports, default="host0")
        with terminal(*LIST, rows=50, columns=160) as peer, terminal(*PROGRAM, "tui", rows=50, columns=160) as cockpit:
            peer.until_shown("row 9")
            listed = cockpit.until_shown(f"{HOSTS * EACH:,} colonies")
            Figure(name="lists: 100,000 colonies listed after the start", value=listed, unit="s").print()
            cockpit.rest(20)
            _keys(cockpit, peer, "", 100, 0.2)
            _pages(cockpit)
            for words, presses, pause_s in (("key after key", 100, 0.2), ("a key now and then", 20, 4.0)):
                hosts.begin("colonies", RATE, presses * pause_s * 1.5 + 5)
                before, started = cpu_s(cockpit.pid), time.monotonic()
                _keys(cockpit, peer, f", {RATE:,} changes/s, {words}", presses, pause_s)
                share = (cpu_s(cockpit.pid) - before) / (time.monotonic() - started)
                Figure(name=f"lists: CPU, {RATE:,} changes/s, {words}", value=share * 100, unit="% of a core").print()
                cockpit.until(hosts.has_sent)


def _keys(cockpit: Terminal, peer: Terminal, circumstances: str, presses: int, pause_s: float) -> None:
    """Presses a key in both in turn."""
    chance = random.Random(3)
    ours: list[float] = []
    theirs: list[float] = []
    for _ in range(presses):
        cockpit.rest(pause_s * chance.uniform(0.7, 1.3))
        ours.append(cockpit.press("j", SELECTED)[0] * 1000)
        theirs.append(peer.press("j", SELECTED)[0] * 1000)
    for words, part, target in (("p50", 0.5, 5), ("p95", 0.95, 16)):
        Figure(
            name=f"lists: key to paint{circumstances}, {words}",
            value=percentile(ours, part),
            unit="ms",
            target=target,
            peer=percentile(theirs, part),
            peer_name="a Textual list of one page that does nothing else",
        ).print()


def _pages(cockpit: Terminal) -> None:
    pages: list[tuple[float, int]] = []
    before = cpu_s(cockpit.pid)
    for _ in range(40):
        cockpit.rest(0.3)
        pages.append(cockpit.press(PAGE_DOWN, SELECTED))
    cpu = (cpu_s(cockpit.pid) - before) / len(pages)
    written = median([page[1] for page in pages])
    Figure(name="lists: page-down", value=median([page[0] * 1000 for page in pages]), unit="ms", target=20).print()
    Figure(name="lists: page-down, CPU", value=cpu * 1000, unit="ms").print()
    Figure(name="lists: page-down, written, 160x50", value=written, unit="bytes", target=10_000).print()


if __name__ == "__main__":
    measure()
