"""The embedded kernel in one process, beside the figures that were measured of the real program on a like machine.

CPU time of this process, so that others on the machine do not count; the real program's figures were wall time of
quiet runs. Round trips over MCP are wall time too, at the pace at which those of the real program were measured.
"""

import time
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory

from bench.figure import Figure, median
from colonizer_engines.kernel.kernel import Kernel
from colonizer_engines.kernel.rules import CODOMYRMEX_1_3
from colonizer_engines.kernel.signals import FAST, SLOW, SignalType
from colonizer_engines.kernel.store import Store

CALLS = 3000
ROUNDS = 3
RATIONALE = "Correct the index used when a label has a slash in it"
ROLLBACK = "git revert the commit, then run the unit suite once more"
PLAN = {"target": "pkg.core", "action_type": "patch_file", "rationale": RATIONALE, "rollback_plan": ROLLBACK}

Call = Callable[[Kernel, int], object]


def measure() -> None:
    _rates("in memory", None, {"sandbox": 5600, "trusted": 2900, "record": 4900, "one agent": 1500})
    with TemporaryDirectory() as folder:
        store = Store.open(Path(folder, "kernel.db"))
        _rates("in a file", store, {"sandbox": 1600, "record": 1090})
        store.close()
    kernel = Kernel(CODOMYRMEX_1_3)
    _rate("falsify", kernel, lambda kernel, _: kernel.falsify_plan(PLAN), 12_900, at_least=1)
    _rate("profile", kernel, lambda kernel, _: kernel.agent_profile("a"), 60_000, at_least=1)
    for traces, theirs in (
        (1_000, (0.22, 0.21, 0.48, 0.11, 0.50, 0.77)),
        (10_000, (2.0, 2.0, 6.6, 0.74, 6.2, 7.5)),
        (100_000, (42.0, 25.6, 120.0, 8.8, 16.0, 147.0)),
    ):
        _with_traces(traces, theirs)
    for outcomes, status_ms in ((1_000, 1.3), (10_000, 12.2), (50_000, 70.0)):
        _with_outcomes(outcomes, status_ms)


def _propose(agent: str) -> Call:
    return lambda kernel, n: kernel.propose(agent, "patch_file", f"t{n % 1000}", RATIONALE, ROLLBACK, {"a": 1})


def _record(agents: int) -> Call:
    return lambda kernel, n: kernel.record_outcome(
        f"a{n % agents}", "patch_file", f"t{n % 1000}", "done", tests_passed=True
    )


def _rates(where: str, store: Store | None, theirs: dict[str, float]) -> None:
    calls = {
        "sandbox": _propose("new"),
        "trusted": _propose("a0"),
        "record": _record(100),
        "one agent": _record(1),
    }
    kernel = Kernel(CODOMYRMEX_1_3, store)
    for _ in range(23):
        kernel.record_outcome("a0", "patch_file", "start", "done", tests_passed=True)
    for name, peer in theirs.items():
        _rate(f"{name}, {where}", kernel, calls[name], peer, at_least=3)


def _rate(name: str, kernel: Kernel, call: Call, peer: float, *, at_least: float) -> None:
    _time(name, _each_ms(kernel, call, CALLS), 1000 / peer, at_least=at_least)


def _with_traces(count: int, theirs: tuple[float, ...]) -> None:
    kernel = Kernel(CODOMYRMEX_1_3)
    for number in range(count):
        kernel.deposit(f"m{number}", SignalType.RISK, 1 + number % 997 / 300, SLOW, {})
    kernel.tick()
    calls: tuple[tuple[str, Call], ...] = (
        ("tick", lambda kernel, _: kernel.tick()),
        ("query, hit", lambda kernel, n: kernel.pheromone_query(f"m{n}", "risk")),
        ("query, miss", lambda kernel, n: kernel.pheromone_query(f"x{n}", "risk")),
        ("status", lambda kernel, _: kernel.status()),
        ("pruning report", lambda kernel, _: kernel.pruning_report()),
    )
    for (name, call), peer in zip(calls, theirs, strict=False):
        _time(f"{name} with {count:,} traces", _each_ms(kernel, call, 50), peer)
    kernel.calm_down("the next figure")
    for number in range(count):
        kernel.deposit(f"m{number}", SignalType.RISK, 0.125, FAST, {})  # a person's weighs twice: one tick takes 0.3
    taken = _cpu_ms(kernel.tick)
    assert not kernel.status()["pheromone_summary"]["total_signals"]
    _time(f"tick that removes {count:,} traces", taken, theirs[-1])


def _with_outcomes(count: int, peer: float) -> None:
    kernel = Kernel(CODOMYRMEX_1_3)
    record = _record(100)
    for number in range(count):
        record(kernel, number)
    _time(f"status with {count:,} outcomes", _each_ms(kernel, lambda kernel, _: kernel.status(), 50), peer)


def _time(name: str, ours_ms: float, theirs_ms: float, *, at_least: float = 3) -> None:
    """Prints the figure; `at_least` is how many times as fast as the real program it is to be."""
    Figure(
        name=f"kernel: {name}",
        value=ours_ms,
        unit="ms",
        target=theirs_ms / at_least,
        peer=theirs_ms,
        peer_name="the real program",
    ).print()


def _each_ms(kernel: Kernel, call: Call, times: int) -> float:
    def round_of_calls() -> None:
        for number in range(times):
            call(kernel, number)

    return median([_cpu_ms(round_of_calls) for _ in range(ROUNDS)]) / times


def _cpu_ms(work: Callable[[], object]) -> float:
    before = time.process_time()
    work()
    return (time.process_time() - before) * 1000


if __name__ == "__main__":
    measure()
