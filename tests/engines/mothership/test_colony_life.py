"""A colony from its launch to its end, with a real agent's process in a real worktree."""

import asyncio
import json
import os
from collections.abc import AsyncGenerator
from pathlib import Path

import psutil
import pytest

from served_mothership import Served, asks, puppet, say, served, settings, task

pytestmark = pytest.mark.anyio

TURN_END = say("turn_end", is_error=False, result="done", cost_usd=0.5, model_usage={"m": {"input_tokens": 3}})
IDLE = say("status", state="idle")
WORKING = say("status", state="working")


@pytest.fixture
async def mothership(tmp_path: Path) -> AsyncGenerator[Served, None]:
    async with served(tmp_path) as found:
        yield found


def folder_of(mothership: Served, colony: str) -> Path:
    return Path(str(mothership.session(colony)["worktree"]))


async def test_a_launched_colony_works_in_a_worktree_of_its_own(mothership: Served) -> None:
    colony = await mothership.launch(
        WORKING, ["write", "new.txt", "hello\n"], ["out", "pr.md", "A title\n"], TURN_END, IDLE
    )
    await mothership.said(colony, "turn_end")
    await mothership.status(colony, "idle")

    session = await mothership.get(f"/api/sessions/{colony}")
    assert session["base"] == "main"
    assert session["branch"] == f"colonizer/session-{colony}"
    assert (session["cost_usd"], session["model_usage"]) == (0.5, {"m": {"input_tokens": 3}})
    assert (Path(str(session["worktree"])) / "new.txt").read_text() == "hello\n"
    assert not (mothership.clone.path / "new.txt").exists()
    diff = await mothership.get(f"/api/sessions/{colony}/diff")
    assert diff["files"] == [{"path": "new.txt", "added": 1, "removed": 0}]
    files = await mothership.get(f"/api/sessions/{colony}/files")
    assert [file["filename"] for file in files["files"]] == ["pr.md"]
    content = await mothership.call("GET", f"/api/sessions/{colony}/files/pr.md/content")
    assert (content.content, content.headers["content-type"]) == (b"A title\n", "application/octet-stream")


async def test_the_first_message_is_the_title_and_the_task(mothership: Served) -> None:
    colony = await mothership.launch(TURN_END, title="A title", issue=7)
    heard = await mothership.said(colony, "heard")
    assert heard["command"] == {
        "type": "user_message",
        "id": "initial",
        "text": f"Issue #7: A title\n\n{task(TURN_END)}",
    }
    assert mothership.session(colony)["branch"] == f"colonizer/issue-7-{colony}"


async def test_an_agent_gets_a_small_environment(mothership: Served) -> None:
    names = ("PATH", "COLONIZER_SESSION_ID", "COLONIZER_REPO", "COLONIZER_RUN", "COLONIZER_RESUME_SESSION", "HOME")
    colony = await mothership.launch(*(["env", name] for name in names), TURN_END)
    await mothership.said(colony, "turn_end")
    found = {event["name"]: event["value"] for event in mothership.events(colony, "env")}
    assert found == {
        "PATH": os.environ["PATH"],
        "COLONIZER_SESSION_ID": colony,
        "COLONIZER_REPO": "local/clone",
        "COLONIZER_RUN": "1",
        "COLONIZER_RESUME_SESSION": None,
        "HOME": None,
    }


async def test_statuses_follow_the_agents_own_word(mothership: Served) -> None:
    colony = await mothership.launch(WORKING, say("status", state="error", detail="no money"))
    await mothership.said(colony, "status", state="error")
    session = mothership.session(colony)
    assert (session["status"], session["error"]) == ("idle", "agent error: no money")


async def test_an_agent_that_ends_after_a_clean_turn_is_stopped_and_can_go_on(mothership: Served) -> None:
    colony = await mothership.launch(WORKING, TURN_END, IDLE, ["exit", 0])
    await mothership.status(colony, "stopped")
    session = mothership.session(colony)
    assert (session["error"], session["unseen_failure"]) == (None, False)
    assert mothership.events(colony)[-1]["detail"] == "exit code 0"
    assert (await mothership.call("POST", f"/api/sessions/{colony}/resume")).status_code == 200


@pytest.mark.parametrize("clean", [True, False], ids=["after a turn", "within a turn"])
async def test_an_agent_that_ends_badly_is_a_failure_that_frees_its_slot(mothership: Served, clean: bool) -> None:
    steps = (WORKING, TURN_END, IDLE) if clean else (WORKING,)
    colony = await mothership.launch(*steps, ["warn", "out of cheese"], ["exit", 3 if clean else 0])
    await mothership.status(colony, "failed")
    session = mothership.session(colony)
    code = 3 if clean else 0
    assert session["error"] == f"agent exited: exit code {code}: out of cheese"
    assert session["unseen_failure"] is True
    assert mothership.mothership.scheduler.slots_taken() == 0

    await mothership.call("POST", f"/api/sessions/{colony}/seen")
    assert mothership.session(colony)["unseen_failure"] is False


async def test_a_command_that_is_not_there_is_a_failure_with_words(tmp_path: Path) -> None:
    from colonizer_config.settings import AgentSettings

    async with served(tmp_path, given=settings(agents={"gone": AgentSettings(("/nowhere/agent",))})) as mothership:
        colony = await mothership.launch()
        await mothership.status(colony, "failed")
        session = mothership.session(colony)
        assert "cannot start agent runner" in str(session["error"])
        assert session["unseen_failure"] is True
        assert any("session failed to start" in line for line in mothership.log(colony))


async def test_stopping_ends_the_agent_and_keeps_the_worktree(mothership: Served) -> None:
    colony = await mothership.launch(WORKING, ["write", "half.txt", "half"])
    await mothership.said(colony, "status", state="working")
    process = mothership.mothership.fleet.get(colony).process
    assert process is not None

    reply = (await mothership.call("POST", f"/api/sessions/{colony}/stop")).json()
    assert (reply["result"], reply["status"], reply["attention"]) == ("stopped", "stopped", None)
    assert next(iter(reply)) == "result"
    assert not psutil.pid_exists(process.pid)
    assert folder_of(mothership, colony).is_dir()
    # The agent's last words are not recorded: it was told to go.
    assert mothership.events(colony, "status")[-1]["state"] != "exited"
    assert mothership.mothership.fleet.get(colony).process is None

    again = (await mothership.call("POST", f"/api/sessions/{colony}/stop")).json()
    assert again["result"] == "already_stopped"


async def test_a_deaf_agent_is_ended_too(mothership: Served) -> None:
    colony = await mothership.launch(WORKING, ["deaf"])
    await mothership.said(colony, "status", state="working")
    process = mothership.mothership.fleet.get(colony).process
    assert process is not None
    # Its pipe is full before it is asked to go.
    await mothership.call("POST", f"/api/sessions/{colony}/messages", {"id": "long", "text": "x" * 90_000})
    psutil.Process(process.pid).kill()
    await mothership.status(colony, "failed")
    assert mothership.session(colony)["error"] == "agent exited: killed by signal 9"


async def test_resuming_begins_a_new_run_with_its_own_numbers(mothership: Served) -> None:
    colony = await mothership.launch(say("agent_session", session_id="abc"), TURN_END, IDLE)
    await mothership.said(colony, "turn_end")
    await mothership.call("POST", f"/api/sessions/{colony}/stop")
    await mothership.call("POST", f"/api/sessions/{colony}/messages", {"id": "n1", "text": "Think of the tests."})
    assert mothership.session(colony)["pending_notes"] == [{"text": "Think of the tests.", "id": "n1"}]

    async with mothership.connect(f"/api/sessions/{colony}/events") as old:
        reply = (await mothership.call("POST", f"/api/sessions/{colony}/resume")).json()
        assert (reply["status"], reply["error"]) == ("starting", None)
        frames = [json.loads(frame) async for frame in old]
        assert frames[0] == {"type": "run_epoch", "epoch": 1}
        assert old.close_code == 1005
    heard = await mothership.said(colony, "heard")
    text = str(heard["command"]["text"])
    assert text.startswith(task(say("agent_session", session_id="abc"), TURN_END, IDLE))
    assert "Think of the tests." in text
    assert "This colony was stopped and goes on now." in text
    await mothership.said(colony, "turn_end")
    assert mothership.events(colony)[0]["seq"] == 1
    assert mothership.mothership.fleet.get(colony).epoch == 2


async def test_a_note_stays_until_the_agent_has_heard_it(mothership: Served) -> None:
    colony = await mothership.launch(TURN_END, IDLE)
    await mothership.said(colony, "turn_end")
    await mothership.call("POST", f"/api/sessions/{colony}/stop")
    await mothership.call("POST", f"/api/sessions/{colony}/messages", {"id": "n1", "text": "A note."})
    await mothership.call("POST", f"/api/sessions/{colony}/resume")
    await mothership.said(colony, "user_message", id="initial")
    await mothership.until(lambda: "pending_notes" not in mothership.session(colony))
    assert "1 operator note delivered" in mothership.log(colony)


async def test_a_resumed_agent_is_given_the_id_to_resume_by(mothership: Served) -> None:
    colony = await mothership.launch(say("agent_session", session_id="abc"), ["env", "COLONIZER_RESUME_SESSION"], IDLE)
    await mothership.said(colony, "env", value=None)
    await mothership.call("POST", f"/api/sessions/{colony}/stop")
    await mothership.call("POST", f"/api/sessions/{colony}/resume")
    await mothership.said(colony, "env", value="abc")


async def test_a_running_colony_cannot_be_resumed_or_removed(mothership: Served) -> None:
    colony = await mothership.launch(WORKING)
    await mothership.status(colony, "running")
    for method, path, words in (
        ("POST", "/resume", "this colony can't be resumed: it has to be stopped or parked and still have its worktree"),
        ("POST", "/cleanup", "stop the session first"),
        ("DELETE", "", "stop the colony first"),
        ("POST", "/keep", "this colony is not superseded; there is nothing to keep"),
    ):
        reply = await mothership.call(method, f"/api/sessions/{colony}{path}")
        assert (reply.status_code, reply.json()["error"]) == (409, words)


async def test_two_resumes_at_once_start_one_agent(mothership: Served) -> None:
    colony = await mothership.launch(TURN_END, IDLE)
    await mothership.said(colony, "turn_end")
    await mothership.call("POST", f"/api/sessions/{colony}/stop")
    replies = await asyncio.gather(*(mothership.call("POST", f"/api/sessions/{colony}/resume") for _ in range(4)))
    assert sorted(reply.status_code for reply in replies) == [200, 409, 409, 409]


async def test_a_stop_while_the_agent_is_brought_up_leaves_no_process(mothership: Served) -> None:
    colony = await mothership.launch(WORKING)
    reply = await mothership.call("POST", f"/api/sessions/{colony}/stop")
    assert reply.json()["status"] == "stopped"
    assert mothership.mothership.fleet.get(colony).process is None
    assert mothership.session(colony)["status"] == "stopped"
    assert [process.pid for process in psutil.process_iter() if colony in words_of(process)] == []


def words_of(process: psutil.Process) -> str:
    """Everything in the process's environment."""
    try:
        return str(process.environ())
    except psutil.Error:
        return ""


async def test_cleaning_up_removes_files_and_keeps_the_branch_and_the_log(mothership: Served) -> None:
    colony = await mothership.launch(["write", "a.txt", "a"], ["out", "pr.md", "A"], TURN_END, IDLE)
    await mothership.said(colony, "turn_end")
    await mothership.call("POST", f"/api/sessions/{colony}/stop")
    left = await mothership.get(f"/api/local/sessions/{colony}/leftovers")
    assert left == {"uncommitted": ["a.txt"], "unmerged_commits": 0}

    reply = (await mothership.call("POST", f"/api/sessions/{colony}/cleanup")).json()
    assert reply["cleaned_up"] is True
    folders = mothership.mothership.given.folders
    assert not folder_of(mothership, colony).exists()
    assert not folders.out_of(mothership.mothership.fleet.get(colony).id).exists()
    assert mothership.clone.has_branch(f"colonizer/session-{colony}")
    assert mothership.events(colony, "turn_end")
    for path in ("diff", "resume"):
        method = "GET" if path == "diff" else "POST"
        assert (await mothership.call(method, f"/api/sessions/{colony}/{path}")).status_code == 409


async def test_deleting_removes_the_record_and_the_log_too(mothership: Served) -> None:
    colony = await mothership.launch(["write", "a.txt", "a"], TURN_END, IDLE)
    await mothership.said(colony, "turn_end")
    await mothership.call("POST", f"/api/sessions/{colony}/stop")
    reply = await mothership.call("DELETE", f"/api/sessions/{colony}")
    assert reply.json() == {
        "deleted": colony,
        "leftover": None,
        "archived": None,
        "purged_bundles": 0,
        "purge_error": None,
    }
    assert (await mothership.call("GET", f"/api/sessions/{colony}")).status_code == 404
    assert mothership.mothership.store.colonies() == []
    assert mothership.mothership.store.events_after(colony, 1, 0, 10) == []  # type: ignore[arg-type]
    assert mothership.clone.has_branch(f"colonizer/session-{colony}")


async def test_publishing_is_refused_in_words_and_changes_nothing(mothership: Served) -> None:
    colony = await mothership.launch(TURN_END, IDLE)
    await mothership.said(colony, "turn_end")
    await mothership.status(colony, "idle")
    reply = await mothership.call("POST", f"/api/sessions/{colony}/publish")
    assert (reply.status_code, reply.json()["error"]) == (409, "publishing is not built yet in the local mothership")
    assert mothership.session(colony)["status"] == "idle"


async def test_autopilot_says_why_it_does_not_publish(mothership: Served) -> None:
    colony = await mothership.launch(TURN_END, IDLE, autopilot=None)
    await mothership.said(colony, "turn_end")
    assert mothership.session(colony)["autopilot"] is True
    assert any(line.startswith("autopilot: publishing is not built yet") for line in mothership.log(colony))


async def test_values_of_the_persons_shell_reach_the_agent_and_nothing_else(tmp_path: Path) -> None:
    async with served(tmp_path, given=settings(agents={"puppet": puppet("API_KEY", "OTHER")})) as mothership:
        colony = await mothership.launch(
            ["env", "API_KEY"],
            ["env", "OTHER"],
            ["leak", "API_KEY"],
            TURN_END,
            agent_env={"API_KEY": "sk-very-secret", "OTHER": "x", "NOT_NAMED": "y"},
        )
        await mothership.said(colony, "turn_end")
        assert [event["value"] for event in mothership.events(colony, "env")] == ["‹redacted›", "x"]
        await mothership.said(colony, "log", message="what is ‹redacted›")
        stored = b"".join(path.read_bytes() for path in (tmp_path / "data").glob("mothership.db*"))
        assert b"sk-very-secret" not in stored


async def test_a_colony_that_lacks_a_value_waits_until_a_shell_brings_it(tmp_path: Path) -> None:
    async with served(tmp_path, given=settings(agents={"puppet": puppet("API_KEY")})) as mothership:
        colony = await mothership.launch(["env", "API_KEY"])
        need = "needs API_KEY: resume it from a shell that has it"
        await mothership.until(lambda: mothership.session(colony).get("blocked_reason") == need)
        assert mothership.session(colony)["status"] == "queued"
        found = await mothership.get(f"/api/sessions/{colony}")
        assert found["diagnosis"] == {"state": "queued", "text": f"queued: {need}"}

        reply = await mothership.call("POST", f"/api/sessions/{colony}/resume", {"agent_env": {"API_KEY": "k"}})
        assert reply.json()["status"] == "starting"
        await mothership.said(colony, "env", value="k")


async def test_values_of_a_shell_are_taken_from_the_private_socket_only(tmp_path: Path) -> None:
    given = settings(agents={"puppet": puppet("API_KEY")})
    async with served(tmp_path, given=given, over_tcp=True) as mothership:
        colony = await mothership.launch(["env", "API_KEY"], agent_env={"API_KEY": "from afar"})
        await mothership.until(lambda: "blocked_reason" in mothership.session(colony))
        assert mothership.session(colony)["status"] == "queued"


async def test_an_agent_whose_lines_are_numbered_apart_from_the_hosts(mothership: Served) -> None:
    ask = asks("q1", "Really?", blocking=True)
    colony = await mothership.launch(WORKING, *ask, TURN_END, IDLE)
    closed = await mothership.said(colony, "question_closed")
    assert (closed["reason"], closed["origin"]) == ("turn_end", "system")
    await mothership.said(colony, "status", a_seq=8)
    last = mothership.events(colony)[-1]
    assert (last["seq"], last["a_seq"]) == (9, 8)
    assert all("a_seq" not in event for event in mothership.events(colony)[:7])
    assert "question q1 closed without an answer (turn_end)" in mothership.log(colony)


async def test_each_event_carries_who_caused_it(mothership: Served) -> None:
    settler = {"id": "t1", "name": "explorer", "description": None}
    colony = await mothership.launch(
        say("assistant_text", text="a"),
        say("assistant_text", text="b", agent=settler),
        say("user_message", id="watchdog-1", text="c"),
        say("memory_proposal", title="d", origin="reviewer"),
        TURN_END,
        origin="redteam",
    )
    await mothership.said(colony, "turn_end")
    found = {
        event.get("text") or event.get("title") or event["type"]: event["origin"] for event in mothership.events(colony)
    }
    assert {name: found[name] for name in "abcd"} == {
        "a": "agent",
        "b": "subagent",
        "c": "watchdog",
        "d": "reviewer",
    }
    assert mothership.events(colony, "user_message")[0]["origin"] == "redteam"
    assert found["turn_end"] == "agent"
