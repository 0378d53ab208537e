"""A transcript of 20,000 events: how fast it opens, and what one more piece of text costs."""

import time

from bench.figure import Figure
from bench.fleet import Fleet, fleet
from bench.machine import PROGRAM, configure, cpu_s, home
from bench.terminal import Terminal, terminal

LENGTH = 20_000
RATE, SECONDS = 500, 8


def measure() -> None:
    with home(), fleet(colonies=3, events=LENGTH) as hosts:
        configure(hosts.ports, default="host0")
        with terminal(*PROGRAM, "tui") as cockpit:
            cockpit.until_shown("3 colonies")
            cockpit.rest(5)
            opened, _ = cockpit.press("\r", f"line {LENGTH}")
            note = "its newest page; older ones are read as one scrolls up"
            Figure(
                name="transcript of 20,000 events: open", value=opened * 1000, unit="ms", target=200, note=note
            ).print()
            cockpit.rest(2)
            short = _delta_us(hosts, cockpit)
            hosts.begin("notes", 2_000, LENGTH / 2_000)
            cockpit.until(hosts.has_sent)
            cockpit.rest(3)
            long = _delta_us(hosts, cockpit)
    Figure(
        name="transcript: a piece of text at 20,000 events, CPU",
        value=long,
        unit="µs",
        peer=short,
        peer_name="the same at 200 events",
    ).print()


def _delta_us(hosts: Fleet, cockpit: Terminal) -> float:
    before, started = cpu_s(cockpit.pid), time.monotonic()
    hosts.begin("deltas", RATE, SECONDS)
    cockpit.until(hosts.has_sent)
    cockpit.rest(max(SECONDS + 1 - (time.monotonic() - started), 0))
    return (cpu_s(cockpit.pid) - before) / (RATE * SECONDS) * 1e6


if __name__ == "__main__":
    measure()
