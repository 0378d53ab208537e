"""A disk that is full: nothing acknowledged is lost, nothing is half done, and it goes on when there is room again."""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from served_mothership import HandClock, Json, Served, asks, next_frame, say, served, task

pytestmark = pytest.mark.anyio

TURN_END = say("turn_end", is_error=False)
ROOM = 1 << 30


@asynccontextmanager
async def full(mothership: Served) -> AsyncGenerator[None, None]:
    """While this lasts, the database cannot grow by a page."""
    store = mothership.mothership.store
    store.limit_pages(1)
    try:
        yield
    finally:
        store.limit_pages(ROOM)


async def everything(mothership: Served) -> list[Json]:
    """All that a client can see of the colonies."""
    reply = await mothership.call("GET", "/api/sessions")
    return [{**session, "last_activity_at": None} for session in reply.json()]


async def test_a_request_that_cannot_be_stored_is_refused_and_changes_nothing(tmp_path: Path) -> None:
    async with served(tmp_path) as mothership:
        colony = await mothership.launch(*asks("q1", "Really?"), TURN_END)
        await mothership.said(colony, "turn_end")
        before = await everything(mothership)
        notes = {"id": "m", "text": "x" * 90_000}
        async with full(mothership):
            launch = {"repo": "local/clone", "instructions": "x" * 20_000}
            for path, body in (
                ("", launch),
                (f"/{colony}/messages", notes),
            ):
                reply = await mothership.call("POST", f"/api/sessions{path}", body)
                assert reply.status_code == 507, path
                assert "the disk is full, and nothing was changed" in reply.json()["error"]
            assert await everything(mothership) == before
            assert (await mothership.get("/api/status"))["storage"]["ok"] is False
        # What was refused is not known: it can be sent again, and counts once.
        reply = await mothership.call("POST", f"/api/sessions/{colony}/messages", notes)
        assert (reply.status_code, reply.json()["duplicate"]) == (200, False)
        storage = (await mothership.get("/api/status"))["storage"]
        assert storage["ok"] is True
        assert storage["failures"] == 2
        assert storage["recovered_at"]


async def test_an_agent_waits_while_its_words_cannot_be_stored(tmp_path: Path) -> None:
    clock = HandClock()
    words = [say("assistant_text", text="word " * 1000, number=number) for number in range(40)]
    async with served(tmp_path, clock=clock) as mothership:
        colony = await mothership.launch(say("marker"))
        await mothership.said(colony, "marker")
        async with mothership.connect("/api/stream") as stream:
            await next_frame(stream, "storage")
            async with full(mothership):
                await tell(mothership, colony, task(*words, TURN_END))
                await until_failing(mothership)
                stored = mothership.events(colony)
                found = await mothership.get(f"/api/sessions/{colony}")
                assert found["diagnosis"] == {
                    "state": "stuck",
                    "text": "paused: the disk is full, and what the agent says cannot be stored",
                }
                assert (await next_frame(stream, "storage"))["storage"]["admission_paused"] is True
                assert mothership.events(colony) == stored
        clock.move(10)
        await mothership.said(colony, "turn_end")
        events = mothership.events(colony)
        assert [event["number"] for event in events if event["type"] == "assistant_text"] == list(range(40))
        assert [event["seq"] for event in events] == list(range(1, len(events) + 1))


async def test_an_engine_can_end_while_the_disk_is_full(tmp_path: Path) -> None:
    clock = HandClock()
    async with served(tmp_path, clock=clock) as mothership:
        colony = await mothership.launch(say("marker"))
        await mothership.said(colony, "marker")
        mothership.mothership.store.limit_pages(1)
        await tell(mothership, colony, task(say("big", text="x" * 100_000)))
        await until_failing(mothership)
    async with served(tmp_path) as mothership:
        session = mothership.session(colony)
        assert session["status"] == "stopped"
        assert "the engine was" in session["error"]


async def tell(mothership: Served, colony: str, text: str) -> None:
    """Gives the agent a message that the engine need not store."""
    run = mothership.mothership.runs.of(mothership.mothership.fleet.get(colony).id)
    assert run is not None
    assert await run.send({"type": "user_message", "id": "direct", "text": text})


async def until_failing(mothership: Served) -> None:
    with mothership.mothership.fleet.reading() as reader:
        async with asyncio.timeout(10):
            while not mothership.mothership.fleet.health.failing:
                await reader.take()
