"""Slots and the queue: who starts when, and what the others are told."""

from collections.abc import AsyncGenerator
from pathlib import Path

import pytest

from served_mothership import Served, say, served, settings

pytestmark = pytest.mark.anyio

TURN_END = say("turn_end", is_error=False)
WORKING = say("status", state="working")
ONE = settings(max_parallel=1)


@pytest.fixture
async def mothership(tmp_path: Path) -> AsyncGenerator[Served, None]:
    """One slot, and a colony that has it."""
    async with served(tmp_path, given=ONE) as found:
        await found.status(await found.launch(title="holder"), "idle")
        yield found


def holder(mothership: Served) -> str:
    return next(
        colony.id for colony in mothership.mothership.fleet.colonies() if colony.session.issue_title == "holder"
    )


async def test_a_colony_without_a_slot_waits_and_is_told_what_would_help(mothership: Served) -> None:
    colony = await mothership.launch(TURN_END)
    assert mothership.session(colony)["status"] == "queued"
    words = "1 of 1 slots taken, 1 by colonies whose turn is over: s stops one"
    await mothership.until(lambda: mothership.session(colony).get("blocked_reason") == words)
    (row,) = (await mothership.get("/api/queues"))["rows"]
    assert (row["id"], row["reason"], row["detail"]) == (colony, "host", words)
    assert row["actions"] == {"resume": False, "stop": True, "restart": False}
    assert row["why_not"] == {
        "resume": "only parked colonies can be resumed",
        "restart": "already on the current version",
    }


async def test_a_slot_that_becomes_free_is_taken_at_once(mothership: Served) -> None:
    colony = await mothership.launch(TURN_END)
    await mothership.call("POST", f"/api/sessions/{holder(mothership)}/stop")
    await mothership.said(colony, "turn_end")
    assert "blocked_reason" not in mothership.session(colony)


async def test_the_more_urgent_starts_first_then_the_older(mothership: Served) -> None:
    first, second, third = [await mothership.launch(["exit", 1], title=name) for name in "abc"]
    await mothership.call("POST", f"/api/sessions/{third}/priority", {"priority": 5})
    order = [row["id"] for row in (await mothership.get("/api/queues"))["rows"]]
    assert order == [third, first, second]
    await mothership.call("POST", f"/api/sessions/{holder(mothership)}/stop")
    for colony in (first, second, third):
        await mothership.status(colony, "failed")
    started = {colony: mothership.session(colony)["boot_attempt_started_at"] for colony in (first, second, third)}
    logged = [(mothership.mothership.store.last_log_lines(c, 50)[0], c) for c in (first, second, third)]  # type: ignore[arg-type]
    assert started[third] <= started[first] <= started[second]
    assert [colony for _, colony in sorted(logged, key=lambda pair: _moment(pair[0]))] == [third, first, second]


def _moment(line: bytes) -> str:
    return line.decode().partition('"ts":"')[2]


async def test_a_place_in_the_queue_can_be_changed_only_there(mothership: Served) -> None:
    one = await mothership.launch(TURN_END)
    two = await mothership.launch(TURN_END)
    front = (await mothership.call("POST", f"/api/sessions/{two}/move-to-front")).json()
    assert front["priority"] == 11
    assert "moved to the front of the queue (priority 11)" in mothership.log(two)
    front = (await mothership.call("POST", f"/api/sessions/{one}/move-to-front")).json()
    assert front["priority"] == 12
    back = (await mothership.call("POST", f"/api/sessions/{one}/move-to-back")).json()
    assert back["priority"] == -1
    plain = (await mothership.call("POST", f"/api/sessions/{one}/priority", {"priority": None})).json()
    assert "priority" not in plain
    refused = await mothership.call("POST", f"/api/sessions/{holder(mothership)}/move-to-front")
    assert (refused.status_code, refused.json()["error"]) == (
        409,
        "only a queued colony has a place in the queue; this one is not queued",
    )


async def test_a_resumed_colony_that_has_to_wait_comes_before_ordinary_ones(mothership: Served) -> None:
    waiting = await mothership.launch(TURN_END)
    resumed = holder(mothership)
    await mothership.call("POST", f"/api/sessions/{resumed}/stop")
    await mothership.said(waiting, "turn_end")
    reply = (await mothership.call("POST", f"/api/sessions/{resumed}/resume")).json()
    assert (reply["status"], reply["priority"]) == ("queued", 5)
    assert mothership.mothership.fleet.get(resumed).epoch == 2


async def test_a_colony_can_be_stopped_and_deleted_out_of_the_queue(mothership: Served) -> None:
    colony = await mothership.launch(TURN_END)
    reply = (await mothership.call("POST", f"/api/sessions/{colony}/stop")).json()
    assert (reply["result"], reply["status"]) == ("stopped", "stopped")
    other = await mothership.launch(TURN_END)
    assert (await mothership.call("DELETE", f"/api/sessions/{other}")).status_code == 200


async def test_more_slots_in_the_settings_let_more_colonies_start(mothership: Served) -> None:
    colony = await mothership.launch(TURN_END)
    mothership.set(settings(max_parallel=2))
    # Settings are read at the next look at the queue, which any change brings about.
    await mothership.call("POST", f"/api/sessions/{holder(mothership)}/retain", {"keep": True})
    await mothership.said(colony, "turn_end")


async def test_never_more_agents_than_slots(tmp_path: Path) -> None:
    async with served(tmp_path, given=settings(max_parallel=2)) as mothership:
        colonies = [await mothership.launch(WORKING, TURN_END, ["exit", 0]) for _ in range(8)]
        most = 0
        with mothership.mothership.fleet.reading() as reader:
            while not all(mothership.session(colony)["status"] == "stopped" for colony in colonies):
                await reader.take()
                most = max(most, mothership.mothership.scheduler.slots_taken())
        assert most == 2


async def test_queues_can_be_narrowed(mothership: Served) -> None:
    colony = await mothership.launch(TURN_END, title="Find me")

    async def found(query: str) -> list[str]:
        return [row["id"] for row in (await mothership.get(f"/api/queues?{query}"))["rows"]]

    assert await found("q=FIND") == [colony]
    assert await found("q=nothing") == []
    assert await found("repo=clone&agent=puppet&reason=host") == [colony]
    assert await found("repo=local/clone") == [colony]
    assert await found("repo=acme/clone") == []
    assert await found("reason=parked") == []


async def test_a_status_tells_how_full_it_is(mothership: Served) -> None:
    await mothership.launch(TURN_END)
    status = await mothership.get("/api/status")
    assert (status["queue_depth"], status["queue"]) == (1, {"admissible": 1, "blocked_by": {}})
    assert status["sandbox"]["running"] == status["sandbox"]["max_parallel"] == 1
    assert (status["sandbox"]["room_for"], status["sandbox"]["waiting_reason"]) == (0, "cap")


async def test_a_queue_that_was_left_starts_only_when_somebody_acts(tmp_path: Path) -> None:
    async with served(tmp_path, given=ONE) as before:
        await before.launch(title="holder")
        colony = await before.launch(TURN_END)
    async with served(tmp_path, given=ONE) as mothership:
        assert mothership.session(colony)["status"] == "queued"
        await mothership.get("/api/sessions")
        assert mothership.mothership.scheduler.begun is False
        await mothership.call("POST", f"/api/sessions/{holder(mothership)}/seen")
        await mothership.said(colony, "turn_end")
