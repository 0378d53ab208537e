"""What is done to many colonies at once, over real sockets: what is asked, what is sent, what is told."""

from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from client.fleet_server import HANG, FleetServer
from client.samples import key, question_body, session
from tui.test_faults import Bench, bench

pytestmark = pytest.mark.anyio

NAMES = ("c0ffee00", "c0ffee01", "c0ffee02")


def path(name: str, act: str) -> str:
    return f"/api/sessions/{name}/{act}"


def fleet_of(status: str, names: Sequence[str] = NAMES, **fields: object) -> Callable[[FleetServer], None]:
    """Colonies in one state that can be stopped, resumed and cleaned up."""

    def prepare(server: FleetServer) -> None:
        for number, name in enumerate(names):
            body = session(name, status=status, issue_title=f"Task {number}", **fields)
            server.put(name, **body)
            stopped = {**body, "status": "stopped", "result": "stopped"}
            server.replies[("POST", path(name, "stop"))] = (200, stopped)
            server.replies[("POST", path(name, "resume"))] = (200, {**body, "status": "queued"})
            server.replies[("POST", path(name, "cleanup"))] = (200, {**body, "cleaned_up": True})

    return prepare


async def mark_all(it: Bench) -> None:
    await it.shows("Task 0", "Task 1", "Task 2")
    await it.server.until_followed("/api/stream")
    await it.press("space", "space", "space")
    await it.shows("3 marked")


def sent(it: Bench, act: str) -> list[int]:
    """How often it was asked for, by colony."""
    return [it.server.count(f"POST {path(name, act)}") for name in NAMES]


async def test_one_yes_stops_all_that_are_marked_each_once(tmp_path: Path) -> None:
    async with bench(tmp_path, fleet_of("running")) as it:
        await mark_all(it)
        await it.press("s")
        await it.shows("Stop 3 colonies?", "Task 0 (c0ffee00)", "Task 2 (c0ffee02)", "Worktrees and branches are kept")
        assert sent(it, "stop") == [0, 0, 0]
        await it.press("y", "y", "y")
        await it.shows("3 colonies stopped")
        assert sent(it, "stop") == [1, 1, 1]
        await it.press("enter")
        await it.hides("marked")


async def test_a_colony_that_changed_meanwhile_is_left_out_with_the_reason(tmp_path: Path) -> None:
    async with bench(tmp_path, fleet_of("running")) as it:
        await mark_all(it)
        it.server.put(NAMES[1], status="merged")
        await it.shows("merged")
        await it.press("s")
        await it.shows("Stop 2 colonies?", "Left out", "it is merged already")
        await it.press("y")
        await it.shows("2 colonies stopped")
        assert sent(it, "stop") == [1, 0, 1]
        await it.press("escape")
        await it.shows("1 marked")


async def test_each_refusal_is_named_and_what_was_refused_stays_marked(tmp_path: Path) -> None:
    async with bench(tmp_path, fleet_of("running")) as it:
        it.server.replies[("POST", path(NAMES[1], "stop"))] = (409, {"error": "it is being published"})
        await mark_all(it)
        await it.press("s", "y")
        await it.shows("2 colonies stopped, could not stop 1", "it is being published")
        await it.press("escape")
        await it.shows("1 marked")
        assert [one.key for one in it.app.deck.fleet.list.marked] == [key(NAMES[1])]


async def test_while_it_runs_it_tells_how_far_it_is_and_can_be_called_off(tmp_path: Path) -> None:
    names = tuple(f"c0ffee{number:02}" for number in range(9))
    async with bench(tmp_path, fleet_of("running", names)) as it:
        for name in names:
            it.server.replies[("POST", path(name, "stop"))] = (HANG, None)
        await it.shows("Task 8")
        await it.press(*["space"] * 9)
        await it.shows("9 marked")
        await it.press("s", "y")
        await it.shows("Stopping 9 colonies: 0 of 9")
        await it.server.until(lambda: sum(it.server.count(f"POST {path(name, 'stop')}") for name in names) == 4)
        await it.press("escape")
        await it.shows("Called off: 0 of 9, waiting for what is under way")
        await it.press("ctrl+q")
    assert it.app.return_code == 0
    assert sum(it.server.count(f"POST {path(name, 'stop')}") for name in names) == 4


async def test_cleaning_up_names_what_each_would_lose_before_a_yes_counts(tmp_path: Path) -> None:
    async with bench(tmp_path, fleet_of("stopped", worktree="/w", git_admin_dir="/x", branch="colony/base")) as it:
        for number, name in enumerate(NAMES):
            left = {"uncommitted": [f"file-{number}.py"], "unmerged_commits": 0}
            it.server.replies[("GET", f"/api/local/sessions/{name}/leftovers")] = (200, left)
        it.server.replies[("GET", f"/api/local/sessions/{NAMES[2]}/leftovers")] = (HANG, None)
        await mark_all(it)
        await it.press("X")
        await it.shows("looking for what would be lost… 2 of 3", "file-0.py", "file-1.py")
        await it.press("y", "enter", "y")
        assert sent(it, "cleanup") == [0, 0, 0]
        await it.press("escape")
        await it.hides("looking for")
        it.server.replies[("GET", f"/api/local/sessions/{NAMES[2]}/leftovers")] = (404, {"error": "no such route"})
        await it.press("X")
        await it.shows("y clean up 3", "What is not committed in it is lost.")
        await it.press("y")
        await it.shows("3 colonies cleaned up")
        assert sent(it, "cleanup") == [1, 1, 1]


async def test_resuming_many_leaves_out_what_has_to_be_asked_about(tmp_path: Path) -> None:
    async with bench(tmp_path, fleet_of("stopped", worktree="/w", git_admin_dir="/x")) as it:
        covered = {"reason": "same issue", "pr_url": "https://github.example/pull/1"}
        it.server.put(NAMES[0], superseded=covered)
        await it.shows("covered")
        await mark_all(it)
        await it.press("r")
        await it.shows("Resume 2 colonies?", "keep it first")
        await it.press("y")
        await it.shows("2 colonies resumed")
        assert sent(it, "resume") == [0, 1, 1]


async def test_an_answer_is_for_the_colony_under_the_cursor_whatever_is_marked(tmp_path: Path) -> None:
    def asking(server: FleetServer) -> None:
        for number, name in enumerate(NAMES):
            server.put(name, status="waiting_for_answer", issue_title=f"Task {number}")
            server.questions[name] = question_body("q-1")
            server.replies[("POST", path(name, "answer"))] = (204, None)

    async with bench(tmp_path, asking) as it:
        await mark_all(it)
        await it.shows("a opens the card")
        await it.press("a")
        await it.shows("1 main")
        await it.press("1", "enter")
        await it.shows("✓ delivered")
        assert sum(sent(it, "answer")) == 1
