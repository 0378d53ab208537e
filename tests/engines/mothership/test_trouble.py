"""What goes wrong with one colony, or at the wrong moment, stays where it is."""

import asyncio
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import httpx
import psutil
import pytest

from colonizer_engines.mothership import run
from colonizer_engines.mothership.errors import DatabaseUnusable
from colonizer_engines.mothership.fleet import Change
from colonizer_engines.mothership.ingest import RunFacts, absorb
from colonizer_engines.mothership.runs import GONE_WRONG
from colonizer_engines.mothership.session import ColonyId
from served_mothership import Served, asks, puppet, say, served, settings

pytestmark = pytest.mark.anyio

TURN_END = say("turn_end", is_error=False)
MARKER = '[["say", {"type": "marker"}]]'


def failing_for(victims: list[str], problem: Exception, monkeypatch: pytest.MonkeyPatch) -> None:
    """Makes the recording of some colonies' events fail as only a fault of ours would."""

    def faulty(change: Change, colony: ColonyId, event: Mapping[str, object], facts: RunFacts) -> None:
        if colony in victims and event["type"] == "marker":
            raise problem
        absorb(change, colony, event, facts)

    monkeypatch.setattr(run, "absorb", faulty)


async def send(mothership: Served, colony: str, message: str, text: str = MARKER) -> httpx.Response:
    return await mothership.call("POST", f"/api/sessions/{colony}/messages", {"id": message, "text": text})


async def working(mothership: Served) -> tuple[str, int]:
    """A colony at work, and the process id of its agent."""
    colony = await mothership.launch(say("status", state="working"))
    await mothership.said(colony, "status", state="working")
    mark = mothership.mothership.fleet.get(colony).process
    assert mark is not None
    return colony, mark.pid


async def test_a_fault_of_ours_ends_one_colony_and_no_other(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    victims: list[str] = []
    failing_for(victims, RuntimeError("a fault"), monkeypatch)
    async with served(tmp_path) as mothership:
        healthy, _ = await working(mothership)
        victim, pid = await working(mothership)
        victims.append(victim)
        await send(mothership, victim, "m")
        await mothership.status(victim, "failed")
        assert mothership.session(victim)["error"] == GONE_WRONG
        assert not psutil.pid_exists(pid)
        await send(mothership, healthy, "m")
        await mothership.said(healthy, "marker")
        victims.clear()
        assert (await mothership.call("POST", f"/api/sessions/{victim}/resume")).status_code == 200
        await mothership.status(victim, "running", "idle")


async def test_a_database_that_breaks_ends_the_engine_with_its_words(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    agents: list[int] = []

    async def until_broken() -> None:
        victims: list[str] = []
        failing_for(victims, DatabaseUnusable("the events are damaged"), monkeypatch)
        async with served(tmp_path) as mothership:
            colony, pid = await working(mothership)
            agents.append(pid)
            victims.append(colony)
            await send(mothership, colony, "m")
            async with asyncio.timeout(10):
                await mothership.ended.wait()

    with pytest.raises(BaseExceptionGroup) as ended:
        await until_broken()
    assert ended.group_contains(DatabaseUnusable, match="the events are damaged")
    assert not psutil.pid_exists(agents[0])


async def test_an_engine_that_ends_starts_nothing_any_more(tmp_path: Path) -> None:
    async with served(tmp_path) as mothership:
        launching = [
            asyncio.create_task(mothership.call("POST", "/api/sessions", {"repo": "local/clone"})) for _ in range(6)
        ]
        await asyncio.wait(launching, return_when=asyncio.FIRST_COMPLETED)
        mothership.mothership.scheduler.close()
        replies = [await launch for launch in launching]
        colonies = [reply.json()["id"] for reply in replies]
    async with served(tmp_path) as mothership:
        statuses = {mothership.session(colony)["status"] for colony in colonies}
    assert statuses <= {"stopped", "queued"}


async def test_a_colony_whose_files_go_cannot_be_resumed_meanwhile(tmp_path: Path) -> None:
    async with served(tmp_path) as mothership:
        colony = await mothership.launch(TURN_END)
        await mothership.said(colony, "turn_end")
        await mothership.call("POST", f"/api/sessions/{colony}/stop")
        paths = ("cleanup", "resume", "cleanup")
        replies = await asyncio.gather(*(mothership.call("POST", f"/api/sessions/{colony}/{path}") for path in paths))
        codes = [reply.status_code for reply in replies]
        # Whoever was first: never an agent in a worktree that is gone.
        resumed = codes[1] == 200
        assert codes.count(200) >= 1
        assert not (resumed and 200 in (codes[0], codes[2]))
        assert mothership.session(colony)["cleaned_up"] is not resumed


async def test_a_parked_colony_that_is_answered_goes_on_with_the_answer(tmp_path: Path) -> None:
    async with served(tmp_path) as mothership:
        colony = await mothership.launch(*asks("q1", "Really?"))
        await mothership.status(colony, "waiting_for_answer")
        question = mothership.mothership.fleet.get(colony).question
        await mothership.call("POST", f"/api/sessions/{colony}/stop")
        stopped = mothership.mothership.fleet.get(colony)
        facts = {"at": "2026-11-30T12:00:00Z", "reason": "hold_timeout", "question_risk": "read_only"}
        with mothership.mothership.fleet.change() as change:
            session = replace(stopped.session, status="parked", parked=facts)
            change.put(replace(stopped, session=session, question=question))
        assert (await mothership.answer(colony, "q1", **{"Really?": "Yes"})).status_code == 204
        heard = await mothership.said(colony, "heard")
        assert "Q: Really?\nA: Yes" in heard["command"]["text"]
        assert mothership.mothership.fleet.get(colony).epoch == 2


async def test_too_many_unread_messages_are_refused(tmp_path: Path) -> None:
    async with served(tmp_path) as mothership:
        colony = await mothership.launch(TURN_END)
        await mothership.said(colony, "turn_end")
        await mothership.call("POST", f"/api/sessions/{colony}/stop")
        for number in range(100):
            await send(mothership, colony, f"m{number}", "x")
        reply = await send(mothership, colony, "one-more", "x")
        assert (reply.status_code, reply.json()["error"]) == (
            409,
            "100 messages wait already; the agent has to read them first",
        )
        assert (await send(mothership, colony, "m5", "x")).json()["duplicate"] is True


async def test_a_method_that_is_none_is_refused(tmp_path: Path) -> None:
    async with served(tmp_path, know=False) as mothership:
        for method in ("WS", "TRACE", "OPTIONS"):
            assert (await mothership.call(method, "/api/sessions")).status_code == 405
            assert (await mothership.call(method, "/api/stream")).status_code == 404


async def test_a_secret_of_any_shape_leaves_the_log_readable(tmp_path: Path) -> None:
    secret = 'quo"te\\back\nline"},{"'
    async with served(tmp_path, given=settings(agents={"puppet": puppet("API_KEY")})) as mothership:
        colony = await mothership.launch(
            ["env", "API_KEY"], ["leak", "API_KEY"], TURN_END, agent_env={"API_KEY": secret}
        )
        await mothership.said(colony, "turn_end")
        assert mothership.events(colony, "env")[0]["value"] == "‹redacted›"
        assert "quo" not in str(mothership.events(colony, "env"))


async def test_what_is_asked_is_shown_whole_though_it_holds_a_value_of_the_shell(tmp_path: Path) -> None:
    async with served(tmp_path, given=settings(agents={"puppet": puppet("DEPLOY_ENV")})) as mothership:
        steps = asks("q1", "Deploy to production?")
        colony = await mothership.launch(*steps, agent_env={"DEPLOY_ENV": "production"})
        await mothership.status(colony, "waiting_for_answer")
        reply = await mothership.answer(colony, "q1", **{"Deploy to production?": "Yes"})
        assert reply.status_code == 204
        answered = await mothership.said(colony, "question_answered", question_id="q1")
        assert answered["answers"] == {"Deploy to production?": "Yes"}


async def test_an_agent_can_be_stopped_though_the_disk_is_full(tmp_path: Path) -> None:
    async with served(tmp_path) as mothership:
        colony = await mothership.launch(say("status", state="working"))
        await mothership.status(colony, "running")
        agent = mothership.mothership.fleet.get(colony).process
        assert agent is not None
        mothership.mothership.store.limit_pages(1)
        for number in range(99):
            if (await send(mothership, colony, f"m{number}", "x" * 9_000)).status_code == 507:
                break
        else:
            raise AssertionError("the disk does not get full")
        assert psutil.pid_exists(agent.pid)
        reply = await mothership.call("POST", f"/api/sessions/{colony}/stop")
        assert reply.status_code in (200, 507)
        assert not psutil.pid_exists(agent.pid)
        mothership.mothership.store.limit_pages(1 << 30)
        assert (await mothership.call("POST", f"/api/sessions/{colony}/stop")).status_code == 200
        assert mothership.session(colony)["status"] == "stopped"


async def test_a_stop_does_not_wait_for_a_slow_start(tmp_path: Path) -> None:
    async with served(tmp_path) as mothership:
        colony = await mothership.launch(TURN_END)
        reply = await mothership.call("POST", f"/api/sessions/{colony}/stop")
        assert reply.json()["status"] == "stopped"
        record = mothership.mothership.fleet.get(colony)
        assert record.process is None
        # Either there is a worktree that is written down, or there is none.
        made = mothership.mothership.given.folders.worktree_of(record.id).exists()
        assert made is (record.worktree is not None)
