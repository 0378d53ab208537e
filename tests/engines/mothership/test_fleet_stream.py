"""The fleet-wide stream: everything at first, then each change, merged and never missed."""

import asyncio
from pathlib import Path

import pytest

from colonizer_engines.mothership.feeds import StreamReader
from colonizer_engines.mothership.session import ColonyId
from served_mothership import HandClock, frames_until, next_frame, say, served

pytestmark = pytest.mark.anyio

TURN_END = say("turn_end", is_error=False)


async def test_the_stream_opens_with_all_lists(tmp_path: Path) -> None:
    async with served(tmp_path) as mothership:
        first = await mothership.launch(TURN_END)
        second = await mothership.launch(TURN_END)
        async with mothership.connect("/api/stream") as socket:
            frames = [await next_frame(socket) for _ in range(4)]
    assert [frame["type"] for frame in frames] == ["sessions", "orgs", "hosts", "storage"]
    assert [session["id"] for session in frames[0]["sessions"]] == [second, first]
    assert frames[1]["orgs"][0]["colonies"]["total"] == 2


async def test_each_change_is_told(tmp_path: Path) -> None:
    async with served(tmp_path) as mothership, mothership.connect("/api/stream") as socket:
        await frames_until(socket, "storage")
        colony = await mothership.launch(say("status", state="working"), TURN_END, say("status", state="idle"))
        while (await next_frame(socket, "session"))["session"]["status"] != "idle":
            pass
        await mothership.call("POST", f"/api/sessions/{colony}/stop")
        assert (await next_frame(socket, "session"))["session"]["status"] == "stopped"
        await mothership.call("DELETE", f"/api/sessions/{colony}")
        assert await next_frame(socket, "session_removed") == {"type": "session_removed", "id": colony}


async def test_sums_follow_the_colonies(tmp_path: Path) -> None:
    clock = HandClock()
    async with served(tmp_path, clock=clock) as mothership, mothership.connect("/api/stream") as socket:
        await frames_until(socket, "storage")
        await mothership.launch(TURN_END)
        orgs = await next_frame(socket, "orgs")
        assert orgs["orgs"][0]["colonies"] == {"live": 1, "total": 1}
        hosts = await next_frame(socket, "hosts")
        assert hosts["hosts"][0]["slots_in_use"] == 1


async def test_changes_of_one_colony_merge_while_nobody_looks() -> None:
    reader = StreamReader()
    one, two = ColonyId("1"), ColonyId("2")
    for colony in (one, two, one, one):
        reader.changed(colony)
    reader.removed(two)
    async with asyncio.timeout(5):
        assert await reader.take() == ((one,), (two,))
    reader.changed(two)
    async with asyncio.timeout(5):
        assert await reader.take() == ((two,), ())


async def test_the_queue_begins_with_the_first_stream(tmp_path: Path) -> None:
    async with served(tmp_path) as mothership:
        await mothership.launch(TURN_END)
    async with served(tmp_path) as mothership:
        await mothership.get("/api/queues")
        assert mothership.mothership.scheduler.begun is False
        async with mothership.connect("/api/stream") as socket:
            await frames_until(socket, "storage")
        assert mothership.mothership.scheduler.begun is True
