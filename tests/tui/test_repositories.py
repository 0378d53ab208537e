"""Repositories in which no colony can start: what the screen says, and that nothing is left of the attempt."""

import subprocess
from collections.abc import AsyncGenerator, Generator, Iterator
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path

import pytest
from textual.pilot import Pilot

from real_engine import RealEngine, cockpit_app, real_engine, screen_text, until
from real_git import Clone, new_clone

pytestmark = pytest.mark.anyio


@pytest.fixture
def engine() -> Iterator[RealEngine]:
    with real_engine() as running:
        yield running


@asynccontextmanager
async def standing_in(folder: Path, monkeypatch: pytest.MonkeyPatch) -> AsyncGenerator[Pilot[None]]:
    """The cockpit of somebody who stands in the folder."""
    monkeypatch.chdir(folder)
    async with cockpit_app().run_test(size=(120, 40), notifications=True) as pilot:
        await until(pilot, lambda: "No colonies yet." in screen_text(pilot))
        yield pilot


async def shows(pilot: Pilot[None], *texts: str) -> None:
    """Returns when all the texts are on the screen, wherever its lines are broken."""
    await until(pilot, lambda: all(text in flowing(screen_text(pilot)) for text in texts))


def flowing(screen: str) -> str:
    """The screen's words without its frames and breaks."""
    return " ".join(screen.replace("│", " ").split())


async def type_in(pilot: Pilot[None], text: str) -> None:
    await pilot.press(*("space" if letter == " " else letter for letter in text))


async def launch(pilot: Pilot[None], task: str = "Say hello") -> None:
    await pilot.press("c")
    await shows(pilot, "Colonize on local")
    await type_in(pilot, task)
    await pilot.press("ctrl+s")


def bare(clone: Clone, folder: Path) -> Path:
    clone.git("clone", "--quiet", "--bare", str(clone.path), str(folder))
    return folder


def worktrees(clone: Clone) -> list[str]:
    return [line for line in clone.git("worktree", "list", "--porcelain").splitlines() if line.startswith("worktree")]


def branches(clone: Clone) -> list[str]:
    return clone.git("for-each-ref", "--format=%(refname:short)", "refs/heads").splitlines()


async def test_outside_of_a_repository_the_first_screen_says_what_to_do_and_the_form_takes_a_folder(
    engine: RealEngine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    clone = new_clone(tmp_path / "widgets")
    empty = tmp_path / "empty"
    empty.mkdir()
    async with standing_in(empty, monkeypatch) as pilot:
        await shows(pilot, "is not in a git repository: run `git init` there")
        await pilot.press("c")
        await shows(pilot, "owner/name, or a folder")
        await type_in(pilot, "../widgets")
        await pilot.press("tab")
        await type_in(pilot, "Say hello")
        await pilot.press("ctrl+s")
        await shows(pilot, "What should I add to this repository?")
        (colony,) = engine.colonies()
        assert (colony.repo, colony.branch in branches(clone)) == ("local/widgets", True)


async def test_a_folder_in_no_repository_brings_the_form_back_as_it_was_filled_in(
    engine: RealEngine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with standing_in(tmp_path, monkeypatch) as pilot:
        await pilot.press("c")
        await type_in(pilot, "/nowhere at all")
        await pilot.press("tab")
        await type_in(pilot, "Say hello")
        await pilot.press("ctrl+s")
        await shows(pilot, "repo /nowhere at all", "task Say hello", "there is no folder /nowhere at all")
        assert engine.colonies() == ()


async def test_a_bare_repository_is_refused_with_the_way_out(
    engine: RealEngine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    clone = new_clone(tmp_path / "widgets")
    async with standing_in(bare(clone, tmp_path / "widgets.git"), monkeypatch) as pilot:
        await shows(pilot, "is a bare repository: clone it, and name the clone")
        assert engine.colonies() == ()


async def test_a_detached_head_is_refused_with_the_way_out_and_the_form_comes_back(
    engine: RealEngine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    clone = new_clone(tmp_path / "widgets")
    clone.git("checkout", "--quiet", "--detach")
    async with standing_in(clone.path, monkeypatch) as pilot:
        await launch(pilot)
        await shows(pilot, "has no branch checked out: run `git switch BRANCH` in", "task Say hello")
        assert (engine.colonies(), worktrees(clone)[1:], branches(clone)) == ((), [], ["main"])

        clone.git("switch", "--quiet", "main")
        await pilot.press("ctrl+s")
        await shows(pilot, "What should I add to this repository?")


async def test_a_repository_without_commits_is_refused_and_the_form_comes_back(
    engine: RealEngine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "new"
    folder.mkdir()
    clone = Clone(folder)
    clone.git("init", "--quiet", "--initial-branch=main")
    async with standing_in(folder, monkeypatch) as pilot:
        await launch(pilot, "Begin here")
        await shows(pilot, "has no commit on main yet: make a first one", "task Begin here")
        assert (engine.colonies(), worktrees(clone)[1:], branches(clone)) == ((), [], [])

        clone.commit({"README.md": "# New\n"})
        await pilot.press("ctrl+s")
        await shows(pilot, "What should I add to this repository?")
        assert [colony.title for colony in engine.colonies()] == ["Begin here"]


async def test_a_branch_that_stands_in_the_way_is_named_with_the_way_out_and_stays_as_it_was(
    engine: RealEngine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    clone = new_clone(tmp_path / "widgets")
    clone.git("branch", "colonizer")
    before = clone.git("rev-parse", "colonizer")
    async with standing_in(clone.path, monkeypatch) as pilot:
        await launch(pilot)
        await shows(pilot, "the branch colonizer of local/widgets", "run `git branch -m colonizer NEW`")
        assert (branches(clone), clone.git("rev-parse", "colonizer")) == (["colonizer", "main"], before)
        assert worktrees(clone)[1:] == []

        clone.git("branch", "-m", "colonizer", "mine")
        await pilot.press("r")
        await shows(pilot, "it never had a worktree: launch it again")
        await launch(pilot)
        await shows(pilot, "What should I add to this repository?")


async def test_a_read_only_clone_is_said_to_be_one_and_is_left_as_it_was(
    engine: RealEngine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    clone = new_clone(tmp_path / "widgets")
    with read_only(clone.path):
        async with standing_in(clone.path, monkeypatch) as pilot:
            await launch(pilot)
            await shows(pilot, "cannot be written: a colony needs a branch of its own in local/widgets")
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
