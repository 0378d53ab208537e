"""A diff of 50,000 lines in 2,000 files."""

from bench.figure import Figure, median
from bench.fleet import fleet
from bench.machine import PROGRAM, configure, cpu_s, home, memory_mib
from bench.terminal import FRAME_END, Terminal, terminal

PAGE_DOWN = "\x1b[6~"


def measure() -> None:
    with home(), fleet(colonies=3) as hosts:
        configure(hosts.ports, default="host0")
        with terminal(*PROGRAM, "tui") as cockpit:
            cockpit.until_shown("3 colonies")
            cockpit.rest(5)
            before = memory_mib(cockpit.pid)
            cpu = cpu_s(cockpit.pid)
            opened, _ = cockpit.press("d", "module_0.py")
            cockpit.rest(2)
            used = cpu_s(cockpit.pid) - cpu
            note = "read over HTTP, parsed and painted, pygments loaded"
            Figure(name="diff of 50,000 lines: open", value=opened * 1000, unit="ms", target=150, note=note).print()
            Figure(name="diff of 50,000 lines: open, CPU", value=used * 1000, unit="ms", note=note).print()
            grown = memory_mib(cockpit.pid) - before
            Figure(name="diff of 50,000 lines: memory", value=grown, unit="MiB", target=100).print()
            cpu = cpu_s(cockpit.pid)
            pages = [_page(cockpit) * 1000 for _ in range(40)]
            Figure(name="diff of 50,000 lines: page", value=median(pages), unit="ms", target=20).print()
            each = (cpu_s(cockpit.pid) - cpu) / len(pages) * 1000
            Figure(name="diff of 50,000 lines: page, CPU", value=each, unit="ms").print()


def _page(cockpit: Terminal) -> float:
    cockpit.rest(0.3)
    return cockpit.press(PAGE_DOWN, FRAME_END.decode())[0]


if __name__ == "__main__":
    measure()
