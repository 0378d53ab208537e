"""What the cockpit holds in memory: at rest, with much to show, and after a shortened day."""

from bench.figure import Figure
from bench.fleet import dead_ports, fleet
from bench.machine import PROGRAM, configure, home, memory_mib
from bench.peers import SMALLEST
from bench.terminal import terminal

DAY_CHANGES = 120_000
"""Changes of a day on a busy fleet: two hundred colonies that change every two and a half minutes."""


def measure() -> None:
    with home():
        _at_rest()
        _full()
        _day()


def _at_rest() -> None:
    with dead_ports(10) as ports:
        configure(ports, default="host0")
        with terminal(*SMALLEST) as peer, terminal(*PROGRAM, "tui") as cockpit:
            cockpit.rest(10)
            peer.rest(2)
            found, least = memory_mib(cockpit.pid), memory_mib(peer.pid)
    words = "the smallest Textual program"
    Figure(name="memory at rest", value=found, unit="MiB", target=60, peer=least, peer_name=words).print()


def _full() -> None:
    with fleet(hosts=10, colonies=10_000, events=5_000) as hosts:
        configure(hosts.ports, default="host0")
        with terminal(*PROGRAM, "tui") as cockpit:
            cockpit.until_shown("100,000 colonies")
            cockpit.rest(20)
            Figure(name="memory with 100,000 colonies", value=memory_mib(cockpit.pid), unit="MiB").print()
            for _ in range(5):
                cockpit.send("\r")
                cockpit.rest(3)
                cockpit.send("\x1b")
                cockpit.rest(1)
                cockpit.send("j")
                cockpit.rest(1)
            found = memory_mib(cockpit.pid)
    Figure(name="memory with 100,000 colonies and 5 transcripts", value=found, unit="MiB", target=120).print()


def _day() -> None:
    with fleet(hosts=10, colonies=20, events=100) as hosts:
        configure(hosts.ports, default="host0")
        with terminal(*PROGRAM, "tui") as cockpit:
            cockpit.until_shown("200 colonies")
            cockpit.rest(5)
            # What is made once, at the first change of each kind, is no growth.
            hosts.begin("colonies", 1_000, 10)
            cockpit.until(hosts.has_sent)
            before = memory_mib(cockpit.pid)
            hosts.begin("colonies", 2_000, DAY_CHANGES / 2_000)
            cockpit.until(hosts.has_sent)
            cockpit.rest(5)
            grown = memory_mib(cockpit.pid) - before
    note = f"{DAY_CHANGES:,} changes in a minute"
    Figure(name="memory: growth over a shortened day", value=grown, unit="MiB", target=15, note=note).print()


if __name__ == "__main__":
    measure()
