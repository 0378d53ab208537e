"""The kernel's database: who may open it, and what is in it after a bad end."""

import random
import sqlite3
import subprocess
import sys
from pathlib import Path

import pytest

import colonizer_engines
from colonizer_engines.kernel.errors import DatabaseUnusable, StorageFull, StoreHeld
from colonizer_engines.kernel.kernel import Kernel
from colonizer_engines.kernel.records import Recorded
from colonizer_engines.kernel.rules import CODOMYRMEX_1_3, SEED
from colonizer_engines.kernel.store import Store
from engines.kernel.kernels import propose, record

_WRITER = """
import sys
from pathlib import Path
from colonizer_engines.kernel.kernel import Kernel
from colonizer_engines.kernel.rules import SEED
from colonizer_engines.kernel.store import Store

kernel = Kernel(SEED, Store.open(Path(sys.argv[1])))
while True:
    kernel.propose("a", "patch_file", "t", "a reason of enough letters", "git revert the commit and test")
    print("proposed", flush=True)
    consequence = kernel.record_outcome("a", "patch_file", "t", "done", tests_passed=True)["consequence_id"]
    print(consequence, flush=True)
    kernel.tick()
    print("ticked", flush=True)
"""


@pytest.mark.parametrize("seed", range(5))
def test_a_kill_loses_no_answered_call_and_leaves_no_half_one(tmp_path: Path, seed: int) -> None:
    path = tmp_path / "kernel.db"
    answered: list[str] = []
    for life in range(2):
        answered += _killed_writer(path, random.Random(f"{seed} {life}").randrange(1, 200))
    store = Store.open(path)
    kernel = Kernel(SEED, store)
    profile, status, changes = kernel.agent_profile("a"), kernel.status(), kernel.changes_after(0)
    store.close()
    proposed, ticked = answered.count("proposed"), answered.count("ticked")
    recorded = [line for line in answered if line not in ("proposed", "ticked")]
    kinds = [type(change).__name__ for change in changes]
    # Each of both writers may have died with one call kept and not yet answered.
    assert proposed <= profile["total_proposals"] <= proposed + 2
    assert ticked <= status["tick_count"] <= ticked + 2
    assert set(recorded) <= {change.consequence.id for change in changes if isinstance(change, Recorded)}
    assert len(recorded) <= profile["accepted_proposals"] <= len(recorded) + 2
    assert kinds.count("Judged") == profile["total_proposals"]
    assert kinds.count("Recorded") == profile["accepted_proposals"]
    assert kinds.count("Ticked") == status["tick_count"]
    assert [change.number for change in changes] == list(range(1, len(changes) + 1))


def _killed_writer(path: Path, answers: int) -> list[str]:
    """What a process was answered that was killed after about so many answers."""
    source = str(Path(colonizer_engines.__file__).parents[1])
    command = [sys.executable, "-c", f"import sys; sys.path.insert(0, {source!r})\n{_WRITER}", str(path)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as writer:
        assert writer.stdout is not None
        lines = [writer.stdout.readline() for _ in range(answers)]
        writer.kill()
        lines += writer.stdout.readlines()
    return [line.strip() for line in lines if line.endswith("\n")]


def test_no_trace_comes_back_after_rules_that_forget_it(tmp_path: Path) -> None:
    seen: list[list[str]] = []
    for rules in (SEED, CODOMYRMEX_1_3, SEED):
        store = Store.open(tmp_path / "kernel.db")
        kernel = Kernel(rules, store)
        seen.append(kernel.matrix()["locations"])
        record(kernel)
        store.close()
    assert seen == [[], [], []]


def test_a_second_process_is_refused_in_words(tmp_path: Path) -> None:
    path = tmp_path / "kernel.db"
    store = Store.open(path)
    source = str(Path(colonizer_engines.__file__).parents[1])
    second = (
        f"import sys; sys.path.insert(0, {source!r})\nfrom pathlib import Path\n"
        "from colonizer_engines.kernel.errors import StoreHeld\nfrom colonizer_engines.kernel.store import Store\n"
        "try:\n    Store.open(Path(sys.argv[1]))\nexcept StoreHeld as held:\n    print(held)\n"
    )
    said = subprocess.run([sys.executable, "-c", second, str(path)], capture_output=True, text=True, check=True)
    store.close()
    assert "in use by another process" in said.stdout


def test_a_second_store_in_one_process_is_refused_too(tmp_path: Path) -> None:
    store = Store.open(tmp_path / "kernel.db")
    with pytest.raises(StoreHeld):
        Store.open(tmp_path / "kernel.db")
    store.close()


def test_only_this_user_can_read_it(tmp_path: Path) -> None:
    store = Store.open(tmp_path / "kernel.db")
    record(Kernel(SEED, store))
    modes = {path.stat().st_mode & 0o777 for path in tmp_path.iterdir()}
    store.close()
    assert modes == {0o600}


def test_a_full_disk_refuses_the_call_and_nothing_of_it_remains(tmp_path: Path) -> None:
    store = Store.open(tmp_path / "kernel.db")
    kernel = Kernel(SEED, store)
    record(kernel)
    store.limit_pages(1)
    refused = 0
    for number in range(200):
        before = (kernel.matrix(), kernel.profiles(), kernel.changes_after(0))
        try:
            propose(kernel, "a", f"place {number} {'x' * 500}")
        except StorageFull:
            refused += 1
            assert (kernel.matrix(), kernel.profiles(), kernel.changes_after(0)) == before
    store.limit_pages(1_000_000)
    propose(kernel)
    store.close()
    assert refused


@pytest.mark.parametrize("is_replaced", [False, True])
def test_a_file_that_was_taken_away_takes_no_more_calls(tmp_path: Path, is_replaced: bool) -> None:
    path = tmp_path / "kernel.db"
    store = Store.open(path)
    kernel = Kernel(SEED, store)
    record(kernel)
    aside = path.rename(tmp_path / "aside.db")
    if is_replaced:
        path.touch()
    before = (kernel.matrix(), kernel.profiles(), kernel.changes_after(0))
    with pytest.raises(DatabaseUnusable, match="was deleted or replaced while it was in use"):
        record(kernel)
    assert (kernel.matrix(), kernel.profiles(), kernel.changes_after(0)) == before
    aside.replace(path)
    record(kernel)
    store.close()


@pytest.mark.parametrize("pragma", ["application_id = 7", "user_version = 99"])
def test_a_foreign_or_newer_database_is_left_as_it_is(tmp_path: Path, pragma: str) -> None:
    path = tmp_path / "kernel.db"
    Store.open(path).close()
    connection = sqlite3.connect(path)
    connection.execute(f"PRAGMA {pragma}")
    connection.close()
    before = path.read_bytes()
    with pytest.raises(DatabaseUnusable):
        Store.open(path)
    assert path.read_bytes() == before


def test_a_file_of_something_else_is_left_as_it_is(tmp_path: Path) -> None:
    path = tmp_path / "kernel.db"
    path.write_bytes(b"not a database " * 100)
    with pytest.raises(DatabaseUnusable):
        Store.open(path)
    assert path.read_bytes() == b"not a database " * 100
