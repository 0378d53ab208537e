"""The main job by keyboard, against the real engine: what arrives there is what counts."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from textual.pilot import Pilot

from colonizer_client.mothership import calls
from colonizer_client.mothership.models import Colony
from colonizer_tui.app import CockpitApp
from colonizer_tui.workspaces.colony import ColonyWorkspace
from real_engine import RealEngine, cockpit_app, real_engine, screen_text, until
from real_git import Clone, new_clone, worktree_of

pytestmark = pytest.mark.anyio

SIZE = (140, 40)


@pytest.fixture
def repository(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Clone:
    """A repository with one commit, in which the person stands."""
    clone = new_clone(tmp_path / "notes", {"README.md": "# Notes\n", "app.py": "def main():\n    print('hello')\n"})
    monkeypatch.chdir(clone.path)
    return clone


@pytest.fixture
def engine(repository: Clone) -> Iterator[RealEngine]:
    with real_engine() as running:
        yield running


def typed(text: str) -> list[str]:
    """The keys that type a text."""
    return ["space" if letter == " " else letter for letter in text]


async def launch(pilot: Pilot[None], engine: RealEngine, task: str = "Say hello") -> Colony:
    """Launches a demo colony from the form and waits until it asks."""
    await until(pilot, lambda: "local ●" in screen_text(pilot))
    await pilot.press("c")
    await until(pilot, lambda: "Colonize" in screen_text(pilot))
    await pilot.press(*typed(task), "ctrl+s")
    await until(pilot, lambda: "What should I add to this repository?" in screen_text(pilot))
    return engine.colonies()[0]


async def answer(pilot: Pilot[None], app: CockpitApp, *keys: str) -> None:
    """Answers the open question from Needs you, and waits for the proof of delivery."""
    await pilot.press("2")
    await until(pilot, lambda: "the agent waits for you" in screen_text(pilot))
    delivered = count_of_delivered(app)
    await pilot.press("a", *keys)
    await until(pilot, lambda: count_of_delivered(app) == delivered + 1)


def count_of_delivered(app: CockpitApp) -> int:
    """How many answers and messages arrived."""
    return sum(one.state == "confirmed" for one in app.cockpit.snapshot.deliveries.values())


async def test_a_colony_is_launched_watched_answered_and_its_diff_read(engine: RealEngine, repository: Clone) -> None:
    app = cockpit_app()
    async with app.run_test(size=SIZE, notifications=True) as pilot:
        colony = await launch(pilot, engine)
        await answer(pilot, app, "1", "enter")
        await until(pilot, lambda: "What else may I do?" in screen_text(pilot))
        await answer(pilot, app, "1", "2", "ctrl+s")
        await until(pilot, lambda: "title of the pull request" in screen_text(pilot))
        await answer(pilot, app, *typed("Greet"), "ctrl+s")
        await until(pilot, lambda: "Nothing needs you" in screen_text(pilot))
        assert engine.colonies()[0].status in ("running", "idle")
        await pilot.press("1", "d")
        await until(pilot, lambda: "AGENTS.md" in screen_text(pilot) and "against main" in screen_text(pilot))
    detail = engine.ask(calls.colony(colony.key.endpoint, colony.key.colony))
    assert [record.answer_raw for record in detail.answered] == [
        "A guide for agents",
        ["Link it from the README", "Count the languages"],
        "Greet",
    ]
    assert repository.git("branch", "--list", "colonizer/*").split() == ["+", colony.branch]
    assert str(colony.key.colony) in repository.git("worktree", "list")
    diff = engine.ask(calls.diff(colony.key.colony))
    assert {file.path for file in diff.files} == {"README.md", "AGENTS.md"}
    assert repository.git("status", "--porcelain") == ""


async def test_one_single_choice_takes_three_keys(engine: RealEngine) -> None:
    async with cockpit_app().run_test(size=SIZE, notifications=True) as pilot:
        colony = await launch(pilot, engine)
        await pilot.press("a", "2", "enter")
        await until(pilot, lambda: "delivered" in screen_text(pilot))
    detail = engine.ask(calls.colony(colony.key.endpoint, colony.key.colony))
    assert [record.answer_raw for record in detail.answered] == ["A map of the files"]


async def test_pressing_enter_twice_sends_one_answer(engine: RealEngine) -> None:
    app = cockpit_app()
    async with app.run_test(size=SIZE, notifications=True) as pilot:
        colony = await launch(pilot, engine)
        await pilot.press("a", "1", "enter", "enter")
        await until(pilot, lambda: len(app.cockpit.snapshot.deliveries) == 1)
        await until(pilot, lambda: "What else may I do?" in screen_text(pilot))
        await pilot.pause(0.3)
        assert [one.state for one in app.cockpit.snapshot.deliveries.values()] == ["confirmed"]
    detail = engine.ask(calls.colony(colony.key.endpoint, colony.key.colony))
    assert len(detail.answered) == 1


async def test_a_colony_is_stopped_after_asking_and_resumed_into_a_new_run(engine: RealEngine) -> None:
    async with cockpit_app().run_test(size=SIZE, notifications=True) as pilot:
        colony = await launch(pilot, engine)
        await pilot.press("s")
        await until(pilot, lambda: "Stop this colony?" in screen_text(pilot))
        assert "Say hello" in screen_text(pilot)
        assert "worktree and its branch are kept" in screen_text(pilot)
        await pilot.press("enter")
        assert engine.colonies()[0].status == "waiting_for_answer"
        await pilot.press("y")
        await until(pilot, lambda: "stopped" in screen_text(pilot))
        assert engine.colonies()[0].status == "stopped"
        await pilot.press("r")
        await until(pilot, lambda: "Resume this colony?" in screen_text(pilot))
        await pilot.press("y")
        await until(pilot, lambda: engine.colonies()[0].status == "waiting_for_answer")
        await pilot.press("enter")
        await until(pilot, lambda: "run 2" in screen_text(pilot))
    assert engine.colonies()[0].key == colony.key


async def test_a_dialog_that_is_left_stops_nothing(engine: RealEngine) -> None:
    async with cockpit_app().run_test(size=SIZE, notifications=True) as pilot:
        await launch(pilot, engine)
        await pilot.press("s", "escape")
        await until(pilot, lambda: "Stop this colony?" not in screen_text(pilot))
        await pilot.pause(0.2)
    assert engine.colonies()[0].status == "waiting_for_answer"


async def test_a_launch_form_that_is_left_comes_back_as_it_was_left(engine: RealEngine) -> None:
    async with cockpit_app().run_test(size=SIZE, notifications=True) as pilot:
        colony = await launch(pilot, engine)
        await pilot.press("enter")
        await until(pilot, lambda: pilot.app.query_one(ColonyWorkspace).has_focus_within)
        await pilot.press("c", *typed("Half of"), "tab", "7", "tab", *typed("opus"), "escape")
        await until(pilot, lambda: "Colonize on" not in screen_text(pilot))
        assert not pilot.app.query_one(ColonyWorkspace).has_class("diff")
        await pilot.press("c", *typed(" a task"))
        there = ("Half of a task", "issue     7", "model     opus")
        await until(pilot, lambda: all(text in screen_text(pilot) for text in there))
        await pilot.press("ctrl+s")
        await until(pilot, lambda: len(engine.colonies()) == 2)
        await pilot.press("c")
        await until(pilot, lambda: "what should be done?" in screen_text(pilot))
    launched = next(other for other in engine.colonies() if other.key != colony.key)
    assert launched.issue == 7


async def test_a_half_typed_answer_and_message_are_there_after_a_restart(engine: RealEngine) -> None:
    async with cockpit_app().run_test(size=SIZE, notifications=True) as pilot:
        await launch(pilot, engine)
        await pilot.press("a", "4", *typed("by hand"))
        await until(pilot, lambda: "draft kept" in screen_text(pilot))
        await pilot.press("escape", "escape", "m", *typed("hold on"), "ctrl+q")
    async with cockpit_app().run_test(size=SIZE, notifications=True) as pilot:
        await until(pilot, lambda: "What should I add to this repository?" in screen_text(pilot))
        await pilot.press("a")
        await until(pilot, lambda: "by hand" in screen_text(pilot))
        await pilot.press("escape", "escape", "enter")
        await until(pilot, lambda: "hold on" in screen_text(pilot))
        assert pilot.app.query_one(ColonyWorkspace).field.text == "hold on"
    assert engine.colonies()[0].status == "waiting_for_answer"


async def test_a_message_to_a_stopped_colony_is_kept_for_its_next_run(engine: RealEngine) -> None:
    async with cockpit_app().run_test(size=SIZE, notifications=True) as pilot:
        colony = await launch(pilot, engine)
        engine.ask(calls.stop(colony.key.endpoint, colony.key.colony))
        await until(pilot, lambda: "stopped" in screen_text(pilot))
        await pilot.press("m", *typed("later"), "enter")
        await until(pilot, lambda: "kept as a note for its next run" in screen_text(pilot))
    assert engine.colonies()[0].pending_notes == 1


async def test_cleaning_up_names_what_is_lost_and_keeps_the_branch(engine: RealEngine, repository: Clone) -> None:
    async with cockpit_app().run_test(size=SIZE, notifications=True) as pilot:
        colony = await launch(pilot, engine)
        worktree = worktree_of(repository, colony.branch)
        await pilot.press("X")
        await until(pilot, lambda: "stop it first" in screen_text(pilot))
        await pilot.press("s")
        await until(pilot, lambda: "Stop this colony?" in screen_text(pilot))
        await pilot.press("y")
        await until(pilot, lambda: engine.colonies()[0].status == "stopped")
        await until(pilot, lambda: "its worktree is kept" in screen_text(pilot))
        (worktree / "notes of mine.txt").write_text("not committed")
        await pilot.press("X")
        await until(pilot, lambda: "y remove it" in screen_text(pilot))
        for named in ("not committed: 1 file", "notes of mine.txt", f"Kept: the branch {colony.branch}"):
            assert named in screen_text(pilot)
        await pilot.press("y")
        await until(pilot, lambda: engine.colonies()[0].cleaned_up)
    assert colony.branch in repository.git("branch", "--list", colony.branch)
    assert str(colony.key.colony) not in repository.git("worktree", "list")
