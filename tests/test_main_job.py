"""The main job from the first key to the last, by keyboard in tmux, in a real repository, over a closed terminal."""

import sys
from pathlib import Path

import main_job
from colonizer_client.mothership import calls
from real_engine import LOCAL, real_engine
from real_git import new_clone, worktree_of
from real_tmux import tmux

COCKPIT = (sys.executable, "-m", "colonizer_cli.main", "tui")


def test_a_colony_is_launched_answered_left_found_again_read_stopped_and_resumed(tmp_path: Path) -> None:
    clone = new_clone(tmp_path / "notes", {"README.md": "# Notes\n", "app.py": "print('hello')\n"})
    with real_engine() as engine, tmux(tmp_path) as terminal:
        terminal.open(COCKPIT, clone.path)
        terminal.shows("No colonies yet.", "c  launch a colony, where you stand", "local ●")
        main_job.launch(terminal, "local")
        (colony,) = engine.colonies()
        main_job.answer_the_first_question(terminal)
        main_job.type_half_of_the_second_answer(terminal)
        terminal.close()
        assert [one.status for one in engine.colonies()] == ["waiting_for_answer"]

        terminal.open(COCKPIT, clone.path)
        terminal.shows("What else may I do?", "waiting for you")
        main_job.find_the_half_and_type_the_rest(terminal)
        main_job.answer_the_last_question(terminal)
        main_job.read_the_diff(terminal)
        main_job.stop(terminal)
        assert engine.colonies()[0].status == "stopped"
        main_job.resume(terminal)
        terminal.press("C-q")
        detail = engine.ask(calls.colony(LOCAL, colony.key.colony))
        assert [record.answer_raw for record in detail.answered] == main_job.ANSWERS
        assert clone.has_branch(colony.branch)
        assert clone.git("status", "--porcelain") == ""
        changes = clone.git("status", "--porcelain", cwd=worktree_of(clone, colony.branch))
        assert changes.split() == main_job.EDITED
