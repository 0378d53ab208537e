"""One host of ten accepts connections and never answers: what that does to the others, and to leaving."""

from bench.figure import Figure, median
from bench.fleet import fleet
from bench.machine import PROGRAM, configure, home
from bench.peers import SMALLEST
from bench.terminal import terminal

RUNS = 3


def measure() -> None:
    with home():
        figures = {wedged: [_run(wedged) for _ in range(RUNS)] for wedged in (0, 1)}
        smallest = median([_leaving_ms() for _ in range(RUNS)])
    words = "the same with all ten answering"
    for place, (name, target) in enumerate((("a change is shown after", None), ("leaving takes", 300.0))):
        ours, theirs = (median([run[place] for run in figures[wedged]]) for wedged in (1, 0))
        full = f"a wedged host of ten: {name}"
        Figure(name=full, value=ours, unit="ms", target=target, peer=theirs, peer_name=words).print()
        if target is None:
            Figure(name="a wedged host of ten: delay of others", value=ours - theirs, unit="ms", target=100).print()
    words = "the smallest Textual program"
    ours = median([run[1] for run in figures[1]])
    Figure(name="leaving, beside another program", value=ours, unit="ms", peer=smallest, peer_name=words).print()


def _leaving_ms() -> float:
    """Milliseconds that the smallest program takes to be gone."""
    with terminal(*SMALLEST) as program:
        program.until_text()
        program.rest(1)
        return program.leave() * 1000


def _leaving_ms() -> float:
    """Milliseconds that the smallest program takes to be gone."""
    with terminal(*SMALLEST) as program:
        program.until_text()
        program.rest(1)
        return program.leave() * 1000


def _run(wedged: int) -> tuple[float, float]:
    """Milliseconds until a change of a healthy host is on the screen, and until the program is gone."""
    with fleet(hosts=10, colonies=3, wedged=wedged) as hosts:
        configure(hosts.ports, default="host9")
        with terminal(*PROGRAM, "tui") as cockpit:
            cockpit.until_shown(f"{(10 - wedged) * 3} colonies")
            cockpit.rest(4)
            shown: list[float] = []
            for _ in range(15):
                begin = cockpit.until(lambda: True)
                hosts.begin("colonies", 1, 1)
                shown.append((cockpit.until_shown(f"after {hosts.following}") - begin) * 1000)
                cockpit.until(hosts.has_sent)
            return median(shown), cockpit.leave() * 1000


if __name__ == "__main__":
    measure()
