"""News at high rates: what it costs, and whether all of it arrives."""

import time

from bench.figure import Figure
from bench.fleet import Fleet, fleet
from bench.machine import PROGRAM, configure, cpu_s, home
from bench.terminal import Terminal, terminal

HOSTS, EACH = 10, 100


def measure() -> None:
    with home(), fleet(hosts=HOSTS, colonies=EACH, events=50) as hosts:
        configure(hosts.ports, default="host0")
        with terminal(*PROGRAM, "tui") as cockpit:
            cockpit.until_shown(f"{HOSTS * EACH:,} colonies")
            cockpit.rest(8)
            for rate, seconds in ((2_000, 20), (10_000, 5)):
                _measure("changes of colonies", hosts, cockpit, "colonies", rate, seconds)
            cockpit.send("\r")
            cockpit.until_shown("line 50")
            for rate, seconds in ((2_000, 20), (10_000, 5)):
                _measure("lines of a log", hosts, cockpit, "notes", rate, seconds)


def _measure(name: str, hosts: Fleet, cockpit: Terminal, what: str, rate: int, seconds: int) -> None:
    begin = len(cockpit.raw)
    hosts.begin(what, rate, seconds)
    before, started = cpu_s(cockpit.pid), time.monotonic()
    cockpit.until(hosts.has_sent)
    sent_s = time.monotonic() - started
    number = hosts.following - 1
    last = f"after {number}" if what == "colonies" else f"piece {number}"
    lost = not _arrives(cockpit, begin, last)
    used = cpu_s(cockpit.pid) - before
    late = time.monotonic() - started - sent_s
    note = f"sent in {sent_s:.1f} s, all there {late:.1f} s later"
    full = f"ingest: {rate:,} {name}/s for {seconds} s"
    Figure(name=f"{full}, lost", value=int(lost), unit="of the last", target=0, note=note).print()
    Figure(name=f"{full}, CPU", value=used / seconds * 100, unit="% of a core", target=25).print()
    Figure(name=f"{full}, CPU for each", value=used / (rate * seconds) * 1e6, unit="µs").print()


def _arrives(cockpit: Terminal, begin: int, last: str) -> bool:
    try:
        cockpit.until(lambda: last.encode() in cockpit.raw[begin:], 60)
    except TimeoutError:
        return False
    return True


if __name__ == "__main__":
    measure()
