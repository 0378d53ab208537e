"""A new engine after one that ended: in order, or killed."""

import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import psutil
import pytest

from colonizer_engines.mothership.colony import Colony, ProcessMark
from colonizer_engines.mothership.recovery import KILLED, PUBLISHING, STOPPED
from served_mothership import Served, asks, say, served

pytestmark = pytest.mark.anyio

TURN_END = say("turn_end", is_error=False)


def rewrite(mothership: Served, colony: str, change: Colony) -> None:
    """Puts a record into the database behind the engine's back."""
    with mothership.mothership.store.transaction():
        mothership.mothership.store.put_colony(change)


def left_behind(colony: str) -> "subprocess.Popen[bytes]":
    """A process like an agent that outlived its engine."""
    program = [sys.executable, "-c", "import time; time.sleep(600)"]
    return subprocess.Popen(program, start_new_session=True, env={"COLONIZER_SESSION_ID": colony})


async def test_an_engine_that_ends_stops_its_colonies_with_the_reason(tmp_path: Path) -> None:
    async with served(tmp_path) as before:
        colony = await before.launch(*asks("q1", "Really?"), say("marker"))
        await before.said(colony, "marker")
        await before.call("POST", f"/api/sessions/{colony}/messages", {"id": "m", "text": "heard"})
        await before.said(colony, "user_message", id="u-m")
        mark = before.mothership.fleet.get(colony).process
    assert mark is not None
    assert not psutil.pid_exists(mark.pid)
    async with served(tmp_path) as mothership:
        session = mothership.session(colony)
        assert (session["status"], session["error"]) == ("stopped", STOPPED)
        assert len(mothership.events(colony, "question")) == 1
        assert (await mothership.call("POST", f"/api/sessions/{colony}/resume")).status_code == 200
        await mothership.said(colony, "user_message", id="initial")


async def test_after_a_kill_the_leftover_agent_ends_and_its_colony_is_stopped(tmp_path: Path) -> None:
    async with served(tmp_path) as before:
        colony = await before.launch(TURN_END)
        await before.said(colony, "turn_end")
        await before.call("POST", f"/api/sessions/{colony}/stop")
        leftover = left_behind(colony)
        record = before.mothership.fleet.get(colony)
        mark = ProcessMark(leftover.pid, psutil.Process(leftover.pid).create_time())
        rewrite(before, colony, replace(record, session=replace(record.session, status="running"), process=mark))
    async with served(tmp_path) as mothership:
        await mothership.status(colony, "stopped")
        session = mothership.session(colony)
        assert session["error"] == KILLED
        assert mothership.mothership.fleet.get(colony).process is None
        assert leftover.wait(5) == -9


async def test_a_colony_that_was_being_started_goes_back_into_the_queue_and_starts(tmp_path: Path) -> None:
    async with served(tmp_path) as before:
        colony = await before.launch(TURN_END)
        await before.said(colony, "turn_end")
        await before.call("POST", f"/api/sessions/{colony}/stop")
        record = before.mothership.fleet.get(colony)
        # As if the engine had been killed after `git worktree add` and before it was written down.
        session = replace(record.session, status="starting", git_admin_dir=None, base=None)
        rewrite(before, colony, replace(record, session=session))
    async with served(tmp_path) as mothership:
        await mothership.status(colony, "queued")
        mothership.mothership.scheduler.begin()
        await mothership.status(colony, "idle")
        assert mothership.session(colony)["git_admin_dir"]


async def test_a_colony_that_was_publishing_has_failed(tmp_path: Path) -> None:
    async with served(tmp_path) as before:
        colony = await before.launch(TURN_END)
        await before.said(colony, "turn_end")
        await before.call("POST", f"/api/sessions/{colony}/stop")
        record = before.mothership.fleet.get(colony)
        rewrite(before, colony, replace(record, session=replace(record.session, status="publishing")))
    async with served(tmp_path) as mothership:
        await mothership.status(colony, "failed")
        session = mothership.session(colony)
        assert (session["error"], session["unseen_failure"]) == (PUBLISHING, True)


async def test_a_message_that_an_agent_never_echoed_survives_as_a_note(tmp_path: Path) -> None:
    async with served(tmp_path) as before:
        colony = await before.launch(say("marker"), ["deaf"])
        await before.said(colony, "marker")
        await before.call("POST", f"/api/sessions/{colony}/messages", {"id": "m", "text": "Do you hear me?"})
        mark = before.mothership.fleet.get(colony).process
        assert mark is not None
        psutil.Process(mark.pid).kill()
        await before.status(colony, "failed")
    async with served(tmp_path) as mothership:
        assert mothership.session(colony)["pending_notes"] == [{"text": "Do you hear me?", "id": "m"}]
        again = await mothership.call(
            "POST", f"/api/sessions/{colony}/messages", {"id": "m", "text": "Do you hear me?"}
        )
        assert (again.status_code, again.json()["duplicate"]) == (202, True)
