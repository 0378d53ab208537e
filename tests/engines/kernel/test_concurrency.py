"""Many threads and tasks at once, and what a watcher is told."""

import asyncio
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from colonizer_engines.kernel.errors import BadArgument
from colonizer_engines.kernel.kernel import Kernel
from colonizer_engines.kernel.records import AnyChange
from colonizer_engines.kernel.rules import CODOMYRMEX_1_3, SEED
from colonizer_engines.kernel.signals import NORMAL, SLOW, SignalType
from colonizer_engines.kernel.store import Store
from engines.kernel.kernels import propose, record

pytestmark = pytest.mark.anyio

_THREADS = 8


@pytest.mark.parametrize("kept", [True, False])
def test_threads_lose_no_update(tmp_path: Path, kept: bool) -> None:
    store = Store.open(tmp_path / "kernel.db") if kept else None
    kernel = Kernel(CODOMYRMEX_1_3, store)
    rounds = 150 if kept else 625

    def work(worker: int) -> None:
        for number in range(rounds):
            propose(kernel, "shared", f"place {worker}")
            record(kernel, "shared", f"place {number % 5}")

    with ThreadPoolExecutor(_THREADS) as pool:
        list(pool.map(work, range(_THREADS)))
    profile = kernel.agent_profile("shared")
    if store is not None:
        store.close()
    assert profile["total_proposals"] == 2 * rounds * _THREADS
    assert profile["accepted_proposals"] == rounds * _THREADS


async def test_tasks_and_threads_together_lose_no_tick() -> None:
    kernel = Kernel(SEED)
    async with asyncio.timeout(10), asyncio.TaskGroup() as group:
        for _ in range(20):
            group.create_task(asyncio.to_thread(lambda: [kernel.tick() for _ in range(50)]))
        for _ in range(50):
            kernel.tick()
            await asyncio.sleep(0)
    assert kernel.status()["tick_count"] == 20 * 50 + 50


def test_a_watcher_is_told_of_every_change_in_order() -> None:
    kernel = Kernel(SEED)
    record(kernel)
    told: list[AnyChange] = []

    def watcher(changes: Sequence[AnyChange]) -> None:
        told.extend(changes)

    with kernel.watching(watcher) as before:
        propose(kernel)
        record(kernel)
        kernel.tick()
        kernel.status()
        with pytest.raises(BadArgument):
            propose(kernel, target="")
    kernel.tick()
    assert told == kernel.changes_after(before)[:-1]
    numbers = [change.number for change in told]
    assert numbers == list(range(before + 1, before + 1 + len(told)))


def test_the_operator_sees_the_whole_field_and_its_history() -> None:
    kernel = Kernel(SEED, clock=lambda: 5.0)
    kernel.deposit("b", SignalType.NEED, 1.0, NORMAL, {"why": "asked for"})
    kernel.deposit("a", SignalType.HUMAN_PRIORITY, 2.0, SLOW, {})
    kernel.tick()
    kernel.deposit("b", SignalType.NEED, 1.0, NORMAL, {})
    matrix = kernel.matrix()
    assert (matrix["tick"], matrix["locations"]) == (1, ["a", "b"])
    need, priority = matrix["signal_types"].index("need"), matrix["signal_types"].index("human_priority")
    assert round(matrix["strengths"][1][need], 9) == 3.8
    assert round(matrix["strengths"][0][priority], 9) == 3.92
    assert sum(strength > 0 for row in matrix["strengths"] for strength in row) == 2
    marks = kernel.history_of("b", SignalType.NEED)
    assert [(mark.tick, round(mark.strength, 9)) for mark in marks] == [(0, 2.0), (1, 3.8)]
    assert kernel.protections(["a", "b"]) == {"a": "people want it (human priority 3.92)"}


@pytest.mark.parametrize(("location", "strength"), [("", 1.0), ("l", -1.0), ("l", float("nan"))])
def test_a_deposit_that_says_nothing_is_refused(location: str, strength: float) -> None:
    kernel = Kernel(SEED)
    with pytest.raises(BadArgument):
        kernel.deposit(location, SignalType.NEED, strength, NORMAL, {})
    assert kernel.matrix()["locations"] == []


@pytest.mark.parametrize("kept", [True, False])
def test_text_that_cannot_be_kept_is_refused_and_changes_nothing(tmp_path: Path, kept: bool) -> None:
    store = Store.open(tmp_path / "kernel.db") if kept else None
    kernel = Kernel(SEED, store)
    calls: dict[str, list[Callable[[], object]]] = {
        "agent_id": [lambda: propose(kernel, "\ud800"), lambda: kernel.agent_profile("\ud800")],
        "target": [lambda: record(kernel, target="\ud800")],
        "evidence": [lambda: kernel.deposit("l", SignalType.NEED, 1.0, NORMAL, {"why": "\ud800"})],
        "reason": [lambda: kernel.calm_down("\ud800")],
    }
    for field, refused in calls.items():
        for call in refused:
            with pytest.raises(BadArgument) as told:
                call()
            assert told.value.field == field
    left = (kernel.changes_after(0), kernel.profiles(), kernel.matrix()["locations"])
    if store is not None:
        store.close()
    assert left == ([], [], [])
