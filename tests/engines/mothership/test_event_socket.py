"""The events socket: the log without a gap, then what happens, and when the server hangs up."""

import asyncio
import json
from collections.abc import AsyncGenerator
from pathlib import Path

import pytest
from websockets.exceptions import InvalidStatus

from colonizer_engines.mothership.feeds import BYTES_BEHIND_LIMIT, FRAMES_BEHIND_LIMIT, Watcher
from served_mothership import Json, Served, frames_until, next_frame, say, served, task, until_closed

pytestmark = pytest.mark.anyio

TURN_END = say("turn_end", is_error=False, cost_usd=0.25, model_usage={"m": {"input_tokens": 9}})


@pytest.fixture
async def mothership(tmp_path: Path) -> AsyncGenerator[Served, None]:
    async with served(tmp_path) as found:
        yield found


def lines(count: int) -> list[object]:
    return ["raw", "\n".join(json.dumps({"type": "marker", "number": number}) for number in range(count))]


async def test_the_frames_come_in_the_order_of_the_specification(mothership: Served) -> None:
    colony = await mothership.launch(TURN_END)
    await mothership.said(colony, "turn_end")
    async with mothership.connect(f"/api/sessions/{colony}/events") as socket:
        frames = await frames_until(socket, "replay_done")
    kinds = [frame["type"] for frame in frames]
    log_lines = kinds.count("harness_log")
    assert kinds[: 2 + log_lines] == ["run_epoch", "session", *["harness_log"] * log_lines]
    assert frames[0] == {"type": "run_epoch", "epoch": 1}
    assert "diagnosis" not in frames[1]["session"]
    numbers = [frame["seq"] for frame in frames[2 + log_lines : -1]]
    assert numbers == list(range(1, len(numbers) + 1))
    assert frames[-1] == {"type": "replay_done", "seq": len(numbers)}


async def test_a_client_gets_what_it_has_not_seen(mothership: Served) -> None:
    colony = await mothership.launch(TURN_END)
    await mothership.said(colony, "turn_end")
    last = mothership.mothership.fleet.last_seq(mothership.mothership.fleet.get(colony).id)
    for query, first in (("since=2&epoch=1", 3), ("since=2", 3), ("since=2&epoch=7", 1), ("since=x&epoch=-1", 1)):
        async with mothership.connect(f"/api/sessions/{colony}/events?{query}") as socket:
            frames = await frames_until(socket, "replay_done")
            numbers = [frame["seq"] for frame in frames if "seq" in frame][:-1]
            assert numbers == list(range(first, last + 1)), query
    async with mothership.connect(f"/api/sessions/{colony}/events?since=999&epoch=1") as socket:
        assert (await frames_until(socket, "replay_done"))[-1] == {"type": "replay_done", "seq": 999}


async def test_a_limited_client_gets_the_newest_page_and_a_summary(mothership: Served) -> None:
    settler = {"id": "t1", "name": "explorer", "description": "look"}
    steps = (
        say("model_changed", model="m", previous=None),
        say("tool_call", tool_call_id="t2", name="Grep", input={}, agent=settler),
        say("tool_result", tool_call_id="t2", output="", is_error=True, agent=settler),
        TURN_END,
        say("status", state="idle", detail="resting"),
    )
    colony = await mothership.launch(*steps)
    await mothership.said(colony, "status", detail="resting")
    await mothership.call("POST", f"/api/sessions/{colony}/messages", {"id": "m", "text": task(lines(30), say("end"))})
    last = await mothership.said(colony, "end")
    async with mothership.connect(f"/api/sessions/{colony}/events?limit=10") as socket:
        frames = await frames_until(socket, "replay_done")
    place, history = next((n, frame) for n, frame in enumerate(frames) if frame["type"] == "history")
    page = frames[place + 1 : -1]
    # The page was extended to the message that began the turn.
    assert (page[0]["type"], page[0]["id"]) == ("user_message", "u-m")
    assert history["oldest_seq"] == page[0]["seq"]
    assert page[-1]["seq"] == frames[-1]["seq"] == last["seq"]
    assert (history["has_more"], history["epoch"]) == (True, 1)
    assert history["baseline_usage"] == {"m": {"input_tokens": 9}}
    summary = history["summary"]
    assert summary["brief"]["id"] == "initial"
    del summary["brief"]
    assert summary == {
        "last_seq": last["seq"],
        "events": last["seq"],
        "turns": 1,
        "cost_usd": 0.25,
        "model": "m",
        "agent_state": {"state": "idle", "detail": "resting"},
        "settlers": [{**settler, "steps": 1, "errors": 1, "last_tool": "Grep"}],
    }


async def test_a_limit_and_a_cursor_give_no_page(mothership: Served) -> None:
    colony = await mothership.launch(TURN_END)
    await mothership.said(colony, "turn_end")
    async with mothership.connect(f"/api/sessions/{colony}/events?limit=2&since=1&epoch=1") as socket:
        frames = await frames_until(socket, "replay_done")
    assert "history" not in [frame["type"] for frame in frames]


async def test_nothing_is_missed_or_doubled_between_the_log_and_what_happens_live(mothership: Served) -> None:
    colony = await mothership.launch(say("marker", number=-1))
    await mothership.said(colony, "marker")
    path = f"/api/sessions/{colony}/events"

    async def watch() -> list[object]:
        seen: list[object] = []
        async with mothership.connect(path) as socket:
            while True:
                frame = await next_frame(socket)
                if "seq" in frame and frame["type"] != "replay_done":
                    seen.append(frame["seq"])
                if frame["type"] == "end":
                    return seen

    watchers = [asyncio.create_task(watch()) for _ in range(3)]
    for number in range(5):
        text = task(lines(400), *([say("end")] if number == 4 else []))
        await mothership.call("POST", f"/api/sessions/{colony}/messages", {"id": f"m{number}", "text": text})
        watchers.append(asyncio.create_task(watch()))
    for seen in await asyncio.gather(*watchers):
        assert seen == list(range(1, len(seen) + 1))
        assert len(seen) > 2000


@pytest.mark.parametrize(("count", "size"), [(FRAMES_BEHIND_LIMIT, 10), (64, BYTES_BEHIND_LIMIT // 64)])
async def test_a_client_that_is_too_far_behind_is_let_go(count: int, size: int) -> None:
    watcher = Watcher()
    watcher.caught_up = True
    for _ in range(2):
        for _ in range(count):
            watcher.offer_event(b"x" * size)
        assert len(await watcher.take()) == count
    for _ in range(count + 1):
        watcher.offer_event(b"x" * size)
    assert watcher.ended
    assert await watcher.take() == ()


async def test_a_socket_ends_without_a_code_when_its_token_is_revoked(mothership: Served) -> None:
    colony = await mothership.launch(say("marker"))
    made = (await mothership.call("POST", "/api/tokens", {"name": "a", "scope": "read"})).json()
    async with mothership.connect(f"/api/sessions/{colony}/events", made["token"]) as socket:
        await next_frame(socket, "replay_done")
        await mothership.call("DELETE", f"/api/tokens/{made['id']}")
        await until_closed(socket)
        assert socket.close_code == 1005
    with pytest.raises(InvalidStatus) as refused:
        async with mothership.connect(f"/api/sessions/{colony}/events", made["token"]):
            pass
    assert refused.value.response.status_code == 401


async def test_a_socket_ends_when_its_colony_is_deleted(mothership: Served) -> None:
    colony = await mothership.launch(TURN_END)
    await mothership.said(colony, "turn_end")
    await mothership.call("POST", f"/api/sessions/{colony}/stop")
    async with mothership.connect(f"/api/sessions/{colony}/events") as socket:
        await next_frame(socket, "replay_done")
        await mothership.call("DELETE", f"/api/sessions/{colony}")
        await until_closed(socket)
        assert socket.close_code == 1005


@pytest.mark.parametrize(
    ("path", "scope", "status", "body"),
    [
        ("/api/sessions/ffffffff/events", "owner", 404, '{"error":"no such session"}'),
        ("/api/sessions/ffffffff/events", "read", 404, "no such session"),
        ("/api/stream", "read", 403, "this API token's scope (read) does not cover GET /api/stream"),
        ("/api/stream", "nobody", 401, "missing or invalid API token; run `colonizer open`"),
        ("/api/sessions", "owner", 405, ""),
        ("/api/nowhere", "owner", 404, '{"error":"no such API route"}'),
    ],
)
async def test_a_refused_upgrade_says_why(mothership: Served, path: str, scope: str, status: int, body: str) -> None:
    token = {"owner": "0" * 63 + "1", "nobody": "nobody's"}.get(scope) or mothership.token(scope)
    with pytest.raises(InvalidStatus) as refused:
        async with mothership.connect(path, token):
            pass
    assert refused.value.response.status_code == status
    assert (refused.value.response.body or b"").decode() == body


async def test_pages_of_the_log_lead_back_through_earlier_runs(mothership: Served) -> None:
    colony = await mothership.launch(lines(30), TURN_END)
    await mothership.said(colony, "turn_end")
    await mothership.call("POST", f"/api/sessions/{colony}/stop")
    first_run = [(1, event["seq"]) for event in mothership.events(colony)]
    await mothership.call("POST", f"/api/sessions/{colony}/resume")
    await mothership.said(colony, "turn_end")
    second_run = [(2, event["seq"]) for event in mothership.events(colony)]

    collected: list[tuple[int, int]] = []
    query = "limit=7"
    while True:
        page = await mothership.get(f"/api/sessions/{colony}/events?{query}")
        events: list[Json] = page["events"]
        assert page["run_epoch"] == 2
        assert 0 < len(events) <= 28
        collected = [*with_epochs(events, page["epoch"]), *collected]
        if not page["has_more"]:
            break
        query = f"limit=7&before={page['oldest_seq']}&epoch={page['epoch']}&offset={page['offset']}"
    assert collected == first_run + second_run
    whole = await mothership.get(f"/api/sessions/{colony}/events?limit=1000")
    assert with_epochs(whole["events"], 1) == first_run + second_run
    assert (whole["has_more"], whole["oldest_seq"], whole["epoch"], whole["offset"]) == (False, 1, 1, 0)


def with_epochs(events: list[Json], epoch: object) -> list[tuple[int, int]]:
    """The numbers with their runs: a falling number begins the next run."""
    found: list[tuple[int, int]] = []
    for event in events:
        number = int(str(event["seq"]))
        current = found[-1][0] if found else int(str(epoch))
        found.append((current + 1 if found and number < found[-1][1] else current, number))
    return found


async def test_a_log_without_events_has_no_oldest_one(mothership: Served) -> None:
    colony = await mothership.launch(agent_module="demo")
    await mothership.call("POST", f"/api/sessions/{colony}/stop")
    await mothership.call("POST", f"/api/sessions/{colony}/resume")
    await mothership.call("POST", f"/api/sessions/{colony}/stop")
    page = await mothership.get(f"/api/sessions/{colony}/events?before=1")
    assert (page["has_more"], page["oldest_seq"]) == (False, None)
