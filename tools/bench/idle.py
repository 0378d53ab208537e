"""What the cockpit does while nothing happens."""

import time

from bench.figure import Figure
from bench.fleet import fleet
from bench.machine import PROGRAM, configure, cpu_s, home
from bench.peers import SMALLEST
from bench.terminal import Terminal, terminal

SECONDS = 60


def measure() -> None:
    with home(), fleet(hosts=10, colonies=20) as hosts:
        configure(hosts.ports, default="host0")
        with terminal(*SMALLEST) as peer, terminal(*PROGRAM, "tui") as cockpit:
            cockpit.until_shown("200 colonies")
            cockpit.rest(15)
            peer_share, _ = _idle(peer)
            share, written = _idle(cockpit)
    words = "the smallest Textual program"
    name = "idle, 10 hosts, 200 colonies: "
    Figure(name=f"{name}CPU", value=share, unit="% of a core", target=0.5, peer=peer_share, peer_name=words).print()
    note = "ages that are counted on are written; with nothing to count on nothing is"
    Figure(name=f"{name}written in {SECONDS} s", value=written, unit="bytes", target=0, note=note).print()


def _idle(program: Terminal) -> tuple[float, int]:
    before, started = cpu_s(program.pid), time.monotonic()
    written = program.rest(SECONDS)
    return (cpu_s(program.pid) - before) / (time.monotonic() - started) * 100, written


if __name__ == "__main__":
    measure()
