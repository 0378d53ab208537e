"""The main job from the first key to the last, by keyboard in tmux, in a real repository, over a closed terminal."""

import sys
from pathlib import Path

from colonizer_client.mothership import calls
from colonizer_client.mothership.models import Colony
from real_engine import LOCAL, RealEngine, real_engine
from real_git import new_clone, worktree_of
from real_tmux import Tmux, tmux

COCKPIT = (sys.executable, "-m", "colonizer_cli.main", "tui")


def test_a_colony_is_launched_answered_left_found_again_read_stopped_and_resumed(tmp_path: Path) -> None:
    clone = new_clone(tmp_path / "notes", {"README.md": "# Notes\n", "app.py": "print('hello')\n"})
    with real_engine() as engine, tmux(tmp_path) as terminal:
        terminal.open(COCKPIT, clone.path)
        terminal.shows("No colonies yet.", "c  launch a colony here", "local ●")
        colony = launch(terminal, engine)
        answer_the_first_question(terminal)
        type_half_of_the_second_answer(terminal)
        terminal.close()
        assert [one.status for one in engine.colonies()] == ["waiting_for_answer"]

        terminal.open(COCKPIT, clone.path)
        find_the_half_and_type_the_rest(terminal)
        answer_the_last_question(terminal)
        read_the_diff(terminal)
        stop_and_resume(terminal, engine)
        terminal.press("C-q")
        detail = engine.ask(calls.colony(LOCAL, colony.key.colony))
        answers = [record.answer_raw for record in detail.answered]
        assert answers == ["A guide for agents", ["Link it from the README", "by hand"], "Greet the reader"]
        assert clone.has_branch(colony.branch)
        assert clone.git("status", "--porcelain") == ""
        assert clone.git("status", "--porcelain", cwd=worktree_of(clone, colony.branch)).split() == [
            *("M", "README.md"),
            *("??", "AGENTS.md"),
        ]


def launch(terminal: Tmux, engine: RealEngine) -> Colony:
    terminal.press("c")
    terminal.shows("Colonize on local", "local/notes")
    terminal.type("Say hello")
    terminal.press("C-s")
    terminal.shows("What should I add to this repository?")
    (colony,) = engine.colonies()
    return colony


def answer_the_first_question(terminal: Tmux) -> None:
    terminal.press("2")
    terminal.shows("a opens the card")
    terminal.press("a")
    terminal.shows("the agent waits for you", "1 A guide for agents")
    terminal.press("1", "Enter")
    terminal.shows("What else may I do?")


def type_half_of_the_second_answer(terminal: Tmux) -> None:
    terminal.press("a")
    terminal.shows("the agent waits for you")
    terminal.press("1", "4")
    terminal.type("by ha")
    terminal.shows("by ha", "draft kept")


def find_the_half_and_type_the_rest(terminal: Tmux) -> None:
    terminal.shows("What else may I do?", "waiting for you")
    terminal.press("2", "a")
    terminal.shows("the agent waits for you", "by ha")
    terminal.press("4")
    terminal.type("nd")
    terminal.press("C-s")
    terminal.shows("title of the pull request")


def answer_the_last_question(terminal: Tmux) -> None:
    terminal.press("a")
    terminal.shows("the agent waits for you")
    terminal.type("Greet the reader")
    terminal.press("C-s")
    terminal.shows("Nothing needs you")


def read_the_diff(terminal: Tmux) -> None:
    terminal.press("1", "d")
    terminal.shows("AGENTS.md", "README.md", "against main")


def stop_and_resume(terminal: Tmux, engine: RealEngine) -> None:
    terminal.press("s")
    terminal.shows("Stop this colony?", "Its worktree and its branch are kept")
    terminal.press("y")
    terminal.until(lambda: engine.colonies()[0].status == "stopped", "the colony stops")
    terminal.shows("stopped · its worktree is kept")
    terminal.press("r")
    terminal.shows("run 2")
