"""Whole runs of plain commands, beside the bare interpreter."""

import sys
from collections.abc import Sequence

from bench.engine import engine
from bench.figure import Figure, median
from bench.machine import PROGRAM, home, run_cpu_s

RUNS = 9
BARE = (sys.executable, "-c", "pass")


def measure() -> None:
    with home(), engine(20):
        _compare("--version", (*PROGRAM, "--version"), 60)
        _compare("list --json", (*PROGRAM, "list", "--json"), 200)


def _compare(name: str, command: Sequence[str], target: float) -> None:
    run_cpu_s(*command)
    pairs = [(run_cpu_s(*command), run_cpu_s(*BARE)) for _ in range(RUNS)]
    for place, what in ((1, "wall"), (0, "CPU")):
        Figure(
            name=f"`colonizer {name}`, {what}",
            value=median([ours[place] for ours, _ in pairs]) * 1000,
            unit="ms",
            target=target if what == "wall" else None,
            peer=median([bare[place] for _, bare in pairs]) * 1000,
            peer_name="the bare interpreter",
        ).print()


if __name__ == "__main__":
    measure()
