"""How long the cockpit takes from its start to its first text, beside the smallest Textual program."""

from bench.figure import Figure, median
from bench.fleet import dead_ports, fleet
from bench.machine import PROGRAM, configure, cpu_s, home
from bench.peers import SMALLEST
from bench.terminal import terminal

RUNS = 9


def first_text(*argv: str, text: str = "") -> tuple[float, float]:
    """Milliseconds of wall and of CPU time until there is text to read; until this text, where one is given."""
    with terminal(*argv) as program:
        wall = program.until_shown(text) if text else program.until_text()
        return wall * 1000, cpu_s(program.pid) * 1000


def measure() -> None:
    with home():
        smallest: list[tuple[float, float]] = []
        cockpit: list[tuple[float, float]] = []
        with dead_ports(10) as ports:
            configure(ports, default="host0")
            first_text(*PROGRAM, "tui")
            for _ in range(RUNS):
                smallest.append(first_text(*SMALLEST))
                cockpit.append(first_text(*PROGRAM, "tui"))
        _print("start, 10 dead hosts", cockpit, smallest, 350)
        with fleet(colonies=10_000) as hosts:
            configure(hosts.ports, default="host0")
            listed = [first_text(*PROGRAM, "tui", text="A task like many") for _ in range(5)]
            shown = [first_text(*PROGRAM, "tui") for _ in range(5)]
        _print("start, a host with 10,000 colonies", shown, smallest, 500)
        note = "from the start until rows of the list are shown; nothing is cached on disk, all of it is read"
        Figure(name="start, 10,000 colonies listed", value=median(w for w, _ in listed), unit="ms", note=note).print()


def _print(name: str, found: list[tuple[float, float]], peer: list[tuple[float, float]], target: float) -> None:
    peer_name = "the smallest Textual program"
    for place, what in enumerate(("wall", "CPU")):
        Figure(
            name=f"{name}: first text, {what}",
            value=median([each[place] for each in found]),
            unit="ms",
            target=target if what == "wall" else None,
            peer=median([each[place] for each in peer]),
            peer_name=peer_name,
        ).print()


if __name__ == "__main__":
    measure()
