"""One host of ten accepts connections and never answers: what that does to the others, and to leaving."""

from bench.figure import Figure, median
from bench.fleet import fleet
from bench.machine import PROGRAM, configure, home
from bench.peers import SMALLEST
from bench.terminal import terminal

RUNS = 3


def measure() -> None:
    with home():
        wedged, healthy = ([_run(count) for _ in range(RUNS)] for count in (1, 0))
        smallest = median([_smallest_leaves_ms() for _ in range(RUNS)])
    delayed, prompt = (median([shown for shown, _ in runs]) for runs in (wedged, healthy))
    peer = "with all ten answering"
    name = "a wedged host of ten: "
    Figure(name=f"{name}a change is shown after", value=delayed, unit="ms", peer=prompt, peer_name=peer).print()
    Figure(name=f"{name}delay of others", value=max(delayed - prompt, 0), unit="ms", target=100).print()
    left = median([leaving for _, leaving in wedged])
    Figure(
        name=f"{name}leaving",
        value=left,
        unit="ms",
        target=300,
        peer=smallest,
        peer_name="the smallest Textual program",
    ).print()


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


def _smallest_leaves_ms() -> float:
    with terminal(*SMALLEST) as program:
        program.until_text()
        program.rest(1)
        return program.leave() * 1000


if __name__ == "__main__":
    measure()
