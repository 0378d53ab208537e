"""What an agent started is found and ended, and nobody else."""

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest

from colonizer_engines.mothership.process_family import COLONY_VARIABLE, end_leftover

COLONY = f"colony-of-test-{os.getpid()}"

LEADER = """
import subprocess, sys
environment = {} if "unmarked" in sys.argv else None
child = subprocess.Popen(["sleep", "1000"], start_new_session="leave" in sys.argv, env=environment)
print(child.pid, flush=True)
if "stay" in sys.argv:
    sys.stdin.read()
"""


class Family:
    """A leader of its own session with one child."""

    def __init__(self, *how: str, colony: str = COLONY) -> None:
        self.leader = subprocess.Popen(
            [sys.executable, "-I", "-S", "-c", LEADER, *how],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            start_new_session=True,
            env={"PATH": os.environ["PATH"], COLONY_VARIABLE: colony},
        )
        self.started_at = psutil.Process(self.leader.pid).create_time()
        assert self.leader.stdout
        self.child = psutil.Process(int(self.leader.stdout.readline()))
        while "unmarked" not in how and not self.child.environ():
            pass  # it has begun its program, but the kernel does not tell yet with what
        if "stay" not in how:
            self.leader.wait()

    def child_lives(self) -> bool:
        return self.child.is_running() and self.child.status() != psutil.STATUS_ZOMBIE

    def close(self) -> None:
        if self.child_lives():
            self.child.kill()
        self.leader.kill()
        with self.leader:
            pass


@pytest.fixture
def families() -> Iterator[list[Family]]:
    made: list[Family] = []
    yield made
    for family in made:
        family.close()


def test_a_leader_and_its_group_are_ended(families: list[Family]) -> None:
    family = Family("stay", "unmarked", colony="")
    families.append(family)
    assert end_leftover(family.leader.pid, family.started_at)
    assert family.leader.wait() == -9
    assert not family.child_lives()


def test_a_group_whose_leader_is_gone_is_ended(families: list[Family]) -> None:
    family = Family()
    families.append(family)
    assert end_leftover(family.leader.pid, family.started_at)
    assert not family.child_lives()


def test_who_left_the_group_is_found_by_the_colony(families: list[Family]) -> None:
    family = Family("leave")
    families.append(family)
    assert not end_leftover(family.leader.pid, family.started_at)
    assert family.child_lives()
    assert end_leftover(family.leader.pid, family.started_at, COLONY)
    assert not family.child_lives()


def test_a_process_that_got_the_same_id_later_is_not_touched(families: list[Family]) -> None:
    family = Family("stay", colony="another")
    families.append(family)
    assert not end_leftover(family.leader.pid, family.started_at - 1, COLONY)
    assert not end_leftover(family.leader.pid, family.started_at - 0.01)
    assert family.leader.poll() is None
    assert family.child_lives()


def test_a_leader_is_known_by_its_colony_when_the_clock_was_set(families: list[Family]) -> None:
    family = Family("stay")
    families.append(family)
    assert end_leftover(family.leader.pid, family.started_at + 3600, COLONY)
    assert family.leader.wait() == -9


@pytest.mark.parametrize(("how", "colony"), [(("unmarked",), ""), ((), "another")])
def test_a_group_without_leader_that_may_be_somebody_elses_is_not_touched(
    how: tuple[str, ...], colony: str, families: list[Family]
) -> None:
    family = Family(*how, colony=colony)
    families.append(family)
    assert not end_leftover(family.leader.pid, family.started_at, COLONY)
    assert family.child_lives()


def test_nothing_is_ended_where_nothing_is_left(families: list[Family]) -> None:
    family = Family("stay")
    families.append(family)
    assert end_leftover(family.leader.pid, family.started_at, COLONY)
    family.leader.wait()
    assert not end_leftover(family.leader.pid, family.started_at, COLONY)


def test_the_one_who_ends_a_family_is_not_part_of_it(tmp_path: Path) -> None:
    source = (
        f"from colonizer_engines.mothership.process_family import end_leftover; print(end_leftover(0, 0, {COLONY!r}))"
    )
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path), COLONY_VARIABLE: COLONY}
    done = subprocess.run(
        [sys.executable, "-c", source], env=environment, cwd=tmp_path, capture_output=True, check=True
    )
    assert done.stdout == b"False\n"
