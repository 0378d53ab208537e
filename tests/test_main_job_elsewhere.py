"""The main job on motherships that are processes of their own, over TCP and ssh, with tokens that may not do all."""

import os
import sys
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

import main_job
from real_git import Clone, new_clone, worktree_of
from real_sshd import FAR, RealSshd, real_sshd
from real_tmux import Tmux, tmux
from serving_process import Serving, connect, serving

COCKPIT = (sys.executable, "-m", "colonizer_cli.main", "tui")


@pytest.fixture
def clone(tmp_path: Path) -> Clone:
    return new_clone(tmp_path / "notes", {"README.md": "# Notes\n", "app.py": "print('hello')\n"})


@pytest.fixture
def hq(tmp_path: Path, clone: Clone) -> Iterator[Serving]:
    with serving("--repo", str(clone.path), folder=tmp_path / "hq") as running:
        yield running


@pytest.fixture
def sshd(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[RealSshd]:
    with real_sshd(tmp_path / "ssh") as running:
        monkeypatch.setenv("PATH", f"{running.programs}{os.pathsep}{os.environ['PATH']}")
        yield running


@contextmanager
def cockpit(folder: Path, clone: Clone) -> Generator[Tmux]:
    with tmux(folder) as terminal:
        terminal.open(COCKPIT, clone.path)
        yield terminal
        terminal.press("C-q")


def answer_read_and_stop(terminal: Tmux) -> None:
    main_job.answer_the_first_question(terminal)
    main_job.type_half_of_the_second_answer(terminal)
    main_job.leave_the_card(terminal)
    main_job.find_the_half_and_type_the_rest(terminal)
    main_job.answer_the_last_question(terminal)
    main_job.read_the_diff(terminal)
    main_job.stop(terminal)


def do_the_main_job(terminal: Tmux, hq: Serving, clone: Clone) -> None:
    terminal.shows("No colonies yet.", "hq ●", "local ●")
    main_job.launch(terminal, "hq")
    (colony,) = hq.colonies()
    answer_read_and_stop(terminal)
    assert hq.colonies()[0].status == "stopped"
    main_job.resume(terminal)
    assert hq.answers(colony) == main_job.ANSWERS
    assert clone.git("status", "--porcelain", cwd=worktree_of(clone, colony.branch)).split() == main_job.EDITED


def test_a_launch_token_is_enough_for_all_of_it(hq: Serving, clone: Clone, tmp_path: Path) -> None:
    connect("hq", hq.host, hq.mint("launch"), is_default=True)
    with cockpit(tmp_path, clone) as terminal:
        do_the_main_job(terminal, hq, clone)


def test_all_of_it_is_done_through_ssh(hq: Serving, clone: Clone, sshd: RealSshd, tmp_path: Path) -> None:
    connect("hq", f"ssh://{FAR}/{hq.port}", hq.mint("launch"), is_default=True)
    with cockpit(tmp_path, clone) as terminal:
        do_the_main_job(terminal, hq, clone)
        terminal.press("7")
        terminal.shows(f"ssh://{FAR}/{hq.port}", "launch")
    del sshd


def test_an_operate_token_does_all_but_launching_and_says_why(hq: Serving, clone: Clone, tmp_path: Path) -> None:
    connect("hq", hq.host, hq.mint("operate"), is_default=True)
    hq.ask("launch", "local/notes", "Say hello")
    with cockpit(tmp_path, clone) as terminal:
        terminal.shows("What should I add to this repository?")
        terminal.press("c")
        terminal.shows("the token of hq has scope operate; this needs launch")
        answer_read_and_stop(terminal)
        main_job.resume(terminal)
    (colony,) = hq.colonies()
    assert hq.answers(colony) == main_job.ANSWERS


def test_of_two_motherships_one_is_killed_and_the_other_goes_on(hq: Serving, clone: Clone, tmp_path: Path) -> None:
    other = new_clone(tmp_path / "recipes")
    with serving("--repo", str(other.path), folder=tmp_path / "lab") as lab:
        connect("hq", hq.host, hq.mint("launch"), is_default=True)
        connect("lab", lab.host, lab.mint("launch"))
        lab.ask("launch", "local/recipes", "Cook")
        with cockpit(tmp_path, clone) as terminal:
            terminal.shows("hq ●", "lab ●", "local ●", "Cook", "Needs you 1")
            main_job.launch(terminal, "hq")
            terminal.shows("Needs you 2")
            lab.kill()
            terminal.shows("lab ○", "Needs you 1 +1?", "Cook")
            terminal.press("2", "g")
            main_job.answer_the_first_question(terminal)
            terminal.press("G")
            terminal.shows("Needs you 1 +1?", "lab does not answer")
            (colony,) = hq.colonies()
            assert hq.answers(colony) == main_job.ANSWERS[:1]
