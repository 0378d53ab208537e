"""Repositories in which no colony can start: what the screen says, and that nothing is left of the attempt."""

import subprocess
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from real_engine import RealEngine, real_engine
from real_git import Clone, new_clone
from real_terminal import RealTerminal, cockpit


@pytest.fixture
def engine() -> Iterator[RealEngine]:
    with real_engine() as running:
        yield running


@contextmanager
def standing_in(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Generator[RealTerminal]:
    """The cockpit of somebody who stands in the folder."""
    monkeypatch.chdir(folder)
    with cockpit(columns=120) as terminal:
        terminal.reads("No colonies yet.")
        yield terminal


def launch(terminal: RealTerminal, task: str = "Say hello") -> None:
    terminal.send("c")
    terminal.reads("Colonize on local")
    terminal.send(f"{task}\x13")


def bare(clone: Clone, folder: Path) -> Path:
    clone.git("clone", "--quiet", "--bare", str(clone.path), str(folder))
    return folder


def worktrees(clone: Clone) -> list[str]:
    return [line for line in clone.git("worktree", "list", "--porcelain").splitlines() if line.startswith("worktree")]


def branches(clone: Clone) -> list[str]:
    return clone.git("for-each-ref", "--format=%(refname:short)", "refs/heads").splitlines()


def test_outside_of_a_repository_the_screen_says_what_to_do_and_the_form_takes_a_folder(
    engine: RealEngine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    clone = new_clone(tmp_path / "widgets")
    empty = tmp_path / "empty"
    empty.mkdir()
    with standing_in(empty, monkeypatch) as terminal:
        terminal.reads("is not in a git repository: run `git init` there")
        terminal.send("c")
        terminal.reads("owner/name, or a folder")
        terminal.send("/nowhere at all\tSay hello\x13")
        terminal.reads("repo /nowhere at all", "task Say hello", "there is no folder /nowhere at all")
        assert engine.colonies() == ()
        terminal.send("\x1b[Z\x15../widgets\x13")
        terminal.reads("What should I add to this repository?")
    (colony,) = engine.colonies()
    assert (colony.repo, colony.branch in branches(clone)) == ("local/widgets", True)


def test_a_bare_repository_is_refused_with_the_way_out(
    engine: RealEngine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    clone = new_clone(tmp_path / "widgets")
    folder = bare(clone, tmp_path / "widgets.git")
    with standing_in(folder, monkeypatch) as terminal:
        terminal.reads("is a bare repository: clone it, and name the clone")
        terminal.send("c")
        terminal.reads("owner/name, or a folder")
        terminal.send(f"{folder}\tSay hello\x13")
        terminal.reads("task Say hello", "and name the clone ctrl+s launch")
        assert engine.colonies() == ()
    assert (worktrees(Clone(folder))[1:], branches(Clone(folder))) == ([], ["main"])


def test_a_clone_without_commits_or_on_no_branch_is_refused_with_the_way_out_and_the_form_comes_back(
    engine: RealEngine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    clone = Clone(tmp_path / "new")
    clone.path.mkdir()
    clone.git("init", "--quiet", "--initial-branch=main")
    with standing_in(clone.path, monkeypatch) as terminal:
        launch(terminal, "Begin here")
        terminal.reads("has no commit on main yet: make a first one", "task Begin here")
        assert (engine.colonies(), worktrees(clone)[1:], branches(clone)) == ((), [], [])

        clone.commit({"README.md": "# New\n"})
        clone.git("checkout", "--quiet", "--detach")
        terminal.send("\x13")
        terminal.reads("has no branch checked out: run `git switch BRANCH` in", "task Begin here")
        assert (engine.colonies(), worktrees(clone)[1:], branches(clone)) == ((), [], ["main"])

        clone.git("switch", "--quiet", "main")
        terminal.send("\x13")
        terminal.reads("What should I add to this repository?")
    assert [colony.title for colony in engine.colonies()] == ["Begin here"]


def test_a_branch_that_stands_in_the_way_is_named_with_the_way_out_and_stays_as_it_was(
    engine: RealEngine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    clone = new_clone(tmp_path / "widgets")
    clone.git("branch", "colonizer")
    before = clone.git("rev-parse", "colonizer")
    with standing_in(clone.path, monkeypatch) as terminal:
        launch(terminal)
        terminal.reads("the branch colonizer of local/widgets", "run `git branch -m colonizer NEW`")
        assert (branches(clone), clone.git("rev-parse", "colonizer")) == (["colonizer", "main"], before)
        assert ([colony.status for colony in engine.colonies()], worktrees(clone)[1:]) == (["failed"], [])

        clone.git("branch", "-m", "colonizer", "mine")
        terminal.send("r")
        terminal.reads("it never had a worktree: launch it again")
        launch(terminal)
        terminal.reads("What should I add to this repository?")
    assert sorted(colony.status for colony in engine.colonies()) == ["failed", "waiting_for_answer"]
    assert clone.git("rev-parse", "mine") == before


def test_a_read_only_clone_is_said_to_be_one_and_is_left_as_it_was(
    engine: RealEngine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    clone = new_clone(tmp_path / "widgets")
    with read_only(clone.path), standing_in(clone.path, monkeypatch) as terminal:
        launch(terminal)
        terminal.reads("cannot be written: a colony needs a branch of its own in local/widgets")
        assert [colony.status for colony in engine.colonies()] == ["failed"]
    assert (branches(clone), worktrees(clone)[1:]) == (["main"], [])


@contextmanager
def read_only(folder: Path) -> Generator[None]:
    """The folder bound over itself so that even root cannot write it."""
    bound = subprocess.run(["mount", "--bind", str(folder), str(folder)], capture_output=True, check=False)
    if bound.returncode:
        pytest.skip("this machine forbids mounts of one's own")
    try:
        subprocess.run(["mount", "-o", "remount,bind,ro", str(folder)], check=True)
        yield
    finally:
        # The engine may still stand in it.
        subprocess.run(["umount", "--lazy", str(folder)], check=True)
