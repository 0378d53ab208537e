import asyncio
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from client.cockpits import Direct, connected, until
from client.fleet_server import HANG, FleetServer, Log
from client.hand_clock import HandClock
from client.samples import HQ, Json, key, prompt, question_body
from colonizer_client.cockpit import CLOSED_KEPT, Cockpit
from colonizer_client.errors import LinkError
from colonizer_client.mothership.follow import BACKOFF_FIRST_S, BACKOFF_LIMIT_S, FIRST_PAGE, HOST_LINES_KEPT, Follower
from colonizer_client.snapshot import Health, Phase, Snapshot, TranscriptState
from colonizer_client.transcript import Kind, State

pytestmark = pytest.mark.anyio

EVENTS = "/api/sessions/a/events"


@pytest.fixture
def server(server: FleetServer) -> FleetServer:
    server.put("a")
    return server


@asynccontextmanager
async def following(server: FleetServer, tmp_path: Path, clock: HandClock) -> AsyncGenerator[Cockpit, None]:
    """A cockpit that follows the log of colony `a`, from its present end on."""
    async with connected(Direct(server.address), tmp_path, clock) as cockpit:
        cockpit.open(key("a"))
        await until(cockpit, is_live)
        yield cockpit


def state(snapshot: Snapshot) -> TranscriptState | None:
    return snapshot.transcripts.get(key("a"))


def is_live(snapshot: Snapshot) -> bool:
    return (now := state(snapshot)) is not None and now.phase is Phase.LIVE


def is_away(snapshot: Snapshot) -> bool:
    return (now := state(snapshot)) is not None and now.phase is Phase.RECONNECTING


def shown(snapshot: Snapshot) -> list[str]:
    """What the transcript's entries say, one after the other."""
    now = state(snapshot)
    return [] if now is None else [entry.body or entry.title for entry in now.transcript]


def shows(*texts: str) -> Callable[[Snapshot], bool]:
    return lambda snapshot: is_live(snapshot) and shown(snapshot) == list(texts)


def said(server: FleetServer, *texts: str) -> None:
    for text in texts:
        server.say("a", "user_message", id=f"u-{text}", text=text)


async def reconnected(cockpit: Cockpit, clock: HandClock) -> None:
    """Lets the follower's pause pass."""
    await until(cockpit, is_away)
    (pause, *_) = await clock.until_sleeping()
    clock.move(pause)


async def test_a_log_that_is_opened_while_the_connection_ends_is_followed_over_the_next(
    server: FleetServer, tmp_path: Path, clock: HandClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    server.put("b")
    followed = Follower.run

    async def run(follower: Follower, *arguments: Any) -> None:
        try:
            await followed(follower, *arguments)
        finally:
            cockpit.open(key("b"))

    monkeypatch.setattr(Follower, "run", run)
    async with following(server, tmp_path, clock) as cockpit:
        await server.until_followed("/api/stream")
        server.end("/api/stream")
        await until(cockpit, lambda now: now.endpoints[HQ].health is Health.SILENT)
        (pause, *_) = await clock.until_sleeping()
        clock.move(pause)
        await until(cockpit, lambda now: key("b") in now.transcripts and now.transcripts[key("b")].phase is Phase.LIVE)


async def test_a_log_is_read_to_its_end_and_then_followed(
    server: FleetServer, tmp_path: Path, clock: HandClock
) -> None:
    said(server, "one", "two")
    async with following(server, tmp_path, clock) as cockpit:
        await until(cockpit, shows("one", "two"))
        said(server, "three")
        await until(cockpit, shows("one", "two", "three"))
    assert f"WS {EVENTS}?since=0&epoch=0&limit={FIRST_PAGE}" in server.asked


async def test_after_a_drop_the_log_goes_on_where_it_was(server: FleetServer, tmp_path: Path, clock: HandClock) -> None:
    said(server, "one")
    async with following(server, tmp_path, clock) as cockpit:
        server.end(EVENTS)
        await until(cockpit, is_away)
        said(server, "two", "three")
        await reconnected(cockpit, clock)
        await until(cockpit, shows("one", "two", "three"))
        assert f"WS {EVENTS}?since=1&epoch=1&limit={FIRST_PAGE}" in server.asked
        assert cockpit.snapshot.endpoints[HQ].health is Health.LIVE


async def test_what_comes_twice_is_drawn_once(server: FleetServer, tmp_path: Path, clock: HandClock) -> None:
    async with following(server, tmp_path, clock) as cockpit:
        said(server, "one", "two")
        for event in list(server.logs["a"].events):
            server.push(EVENTS, event)
        said(server, "three")
        await until(cockpit, shows("one", "two", "three"))
    assert server.count(f"WS {EVENTS}") == 1


async def test_a_gap_is_fetched_again_and_leaves_no_trace(
    server: FleetServer, tmp_path: Path, clock: HandClock
) -> None:
    async with following(server, tmp_path, clock) as cockpit:
        said(server, "one")
        await until(cockpit, shows("one"))
        log = server.logs["a"].events
        log.append({"type": "user_message", "seq": 2, "ts": server.now(), "id": "u-2", "text": "lost on the way"})
        said(server, "three")
        await reconnected(cockpit, clock)
        await until(cockpit, shows("one", "lost on the way", "three"))
    assert f"WS {EVENTS}?since=1&epoch=1&limit={FIRST_PAGE}" in server.asked


async def test_a_gap_that_stays_is_marked_and_fetched_no_more(
    server: FleetServer, tmp_path: Path, clock: HandClock
) -> None:
    async with following(server, tmp_path, clock) as cockpit:
        said(server, "one", "two")
        await until(cockpit, shows("one", "two"))
        server.logs["a"].events += [{"type": "log", "seq": seq} for seq in (3, 4)]
        server.edit = lambda path, frames: [frame for frame in frames if frame.get("seq") not in (3, 4)]
        said(server, "five")
        await reconnected(cockpit, clock)
        await until(cockpit, shows("one", "two", "events 3 to 4 are missing from the log", "five"))
        said(server, "six")
        await until(cockpit, lambda now: shown(now)[-1] == "six")
    assert server.count(f"WS {EVENTS}") == 2


async def test_a_hole_at_the_end_of_a_quiet_log_is_noticed(
    server: FleetServer, tmp_path: Path, clock: HandClock
) -> None:
    said(server, "one", "two", "three")
    server.edit = lambda path, frames: [
        frame for frame in frames if frame.get("seq") != 3 or frame["type"] == "replay_done"
    ]
    async with connected(Direct(server.address), tmp_path, clock) as cockpit:
        cockpit.open(key("a"))
        await until(cockpit, is_away)
        server.edit = lambda path, frames: frames
        await reconnected(cockpit, clock)
        await until(cockpit, shows("one", "two", "three"))


async def test_a_log_that_began_anew_under_the_same_number_is_read_anew_and_marked(
    server: FleetServer, tmp_path: Path, clock: HandClock
) -> None:
    said(server, "one", "two", "three")
    async with following(server, tmp_path, clock) as cockpit:
        server.logs["a"] = Log()
        said(server, "first again")
        await reconnected(cockpit, clock)
        await until(cockpit, shows("the log began anew: what was here before is no longer in it", "first again"))


async def test_a_new_run_begins_a_new_transcript_and_the_old_one_can_be_loaded(
    server: FleetServer, tmp_path: Path, clock: HandClock
) -> None:
    said(server, "one", "two")
    async with following(server, tmp_path, clock) as cockpit:
        server.end(EVENTS)
        await until(cockpit, is_away)
        first_run = server.logs["a"].events
        server.logs["a"] = Log(epoch=2)
        said(server, "after the resume")
        server.edit = lambda path, frames: [
            frame | {"has_more": True, "oldest_seq": 1, "epoch": 2} if frame["type"] == "history" else frame
            for frame in frames
        ]
        await reconnected(cockpit, clock)
        snapshot = await until(cockpit, shows("after the resume"))
        now = state(snapshot)
        assert now is not None
        assert (now.epoch, now.has_older) == (2, True)
        page: Json = {"events": first_run, "has_more": False, "oldest_seq": 1, "epoch": 1, "offset": 0}
        server.replies["GET", EVENTS] = (200, page)
        await cockpit.load_older(key("a"))
        await until(cockpit, shows("one", "two", "run 2", "after the resume"))
        assert f"GET {EVENTS}?limit=500&before=1&epoch=2&offset=0" in server.asked


async def test_older_pages_come_until_the_beginning_and_costs_are_known_again(
    server: FleetServer, tmp_path: Path, clock: HandClock
) -> None:
    for number in range(FIRST_PAGE + 50):
        said(server, f"m{number}")
    server.logs["a"].events[0] |= {"type": "turn_end", "is_error": False, "cost_usd": 1.0}
    server.say("a", "turn_end", is_error=False, result=None, cost_usd=1.5, duration_ms=None)

    def costs() -> list[float | None]:
        now = state(cockpit.snapshot)
        assert now is not None
        return [entry.cost_usd for entry in now.transcript if entry.kind is Kind.TURN]

    async with following(server, tmp_path, clock) as cockpit:
        first = await until(cockpit, lambda now: len(shown(now)) == FIRST_PAGE)
        assert (first.transcripts[key("a")].has_older, costs()) == (True, [None])
        await cockpit.load_older(key("a"))
        snapshot = await until(cockpit, lambda now: len(shown(now)) == FIRST_PAGE + 51)
        assert (snapshot.transcripts[key("a")].has_older, costs()) == (False, [1.0, 0.5])
        asked = len(server.asked)
        await cockpit.load_older(key("a"))
        assert len(server.asked) == asked, "there is nothing older"


async def test_a_page_that_mixes_runs_shows_where_each_begins(
    server: FleetServer, tmp_path: Path, clock: HandClock
) -> None:
    said(server, "of run 3")
    server.logs["a"].epoch = 3
    server.edit = lambda path, frames: [
        frame | {"has_more": True, "epoch": 3} if frame["type"] == "history" else frame for frame in frames
    ]

    def event(seq: int, text: str) -> Json:
        return {"type": "user_message", "seq": seq, "ts": server.now(), "id": "u", "text": text}

    mixed = [event(4, "of run 1"), {"type": "no number"}, event(5, "too"), event(1, "of run 2"), event(2, "also")]
    server.replies["GET", EVENTS] = (200, {"events": mixed, "has_more": True, "oldest_seq": 4, "epoch": 1, "offset": 3})
    async with following(server, tmp_path, clock) as cockpit:
        await cockpit.load_older(key("a"))
        await until(cockpit, shows("of run 1", "too", "run 2", "of run 2", "also", "run 3", "of run 3"))


async def test_an_older_page_that_cannot_be_read_is_said_and_can_be_asked_for_again(
    server: FleetServer, tmp_path: Path, clock: HandClock
) -> None:
    for number in range(FIRST_PAGE + 1):
        said(server, f"m{number}")
    server.replies["GET", EVENTS] = (503, "busy")
    async with following(server, tmp_path, clock) as cockpit:
        await cockpit.load_older(key("a"))
        snapshot = await until(cockpit, lambda now: now.transcripts[key("a")].error)
        assert snapshot.transcripts[key("a")].error == "older events could not be read: busy"
        assert not snapshot.transcripts[key("a")].is_loading_older
        server.replies.clear()
        await cockpit.load_older(key("a"))
        snapshot = await until(cockpit, lambda now: len(shown(now)) == FIRST_PAGE + 1)
        assert snapshot.transcripts[key("a")].error == ""


async def test_a_page_that_comes_after_the_next_run_began_is_left_out(
    server: FleetServer, tmp_path: Path, clock: HandClock
) -> None:
    for number in range(FIRST_PAGE + 1):
        said(server, f"m{number}")
    server.replies["GET", EVENTS] = (HANG, None)
    async with following(server, tmp_path, clock) as cockpit:
        loading = asyncio.create_task(cockpit.load_older(key("a")))
        await server.until_asked(f"GET {EVENTS}")
        assert (await until(cockpit, lambda now: now.transcripts[key("a")].is_loading_older)).transcripts
        again = asyncio.create_task(cockpit.load_older(key("a")))
        await again
        assert server.count(f"GET {EVENTS}") == 1, "one at a time"
        loading.cancel()
        await asyncio.wait([loading])


@pytest.mark.parametrize(
    ("status", "body"), [(403, "not for you"), (404, {"error": "no such session"}), (503, "busy"), (200, "<html>")]
)
async def test_a_log_that_is_refused_is_said_and_tried_again_and_takes_no_connection_down(
    server: FleetServer, tmp_path: Path, clock: HandClock, status: int, body: Any
) -> None:
    said(server, "one")
    server.replies["WS", EVENTS] = (status, body)
    async with connected(Direct(server.address), tmp_path, clock) as cockpit:
        cockpit.open(key("a"))
        for failures in range(1, 6):
            snapshot = await until(cockpit, is_away)
            assert snapshot.transcripts[key("a")].error
            (pause,) = await clock.until_sleeping()
            longest = min(BACKOFF_FIRST_S * 2**failures, BACKOFF_LIMIT_S)
            assert longest / 2 <= pause <= longest
            if failures < 5:
                clock.move(pause)
                await server.until_asked(f"WS {EVENTS}", failures + 1)
                await clock.until_sleeping()
        assert cockpit.snapshot.endpoints[HQ].health is Health.LIVE
        server.replies.clear()
        clock.move(BACKOFF_LIMIT_S)
        assert state(await until(cockpit, shows("one"))).error == ""  # type: ignore[union-attr]  # it shows


async def test_a_token_that_is_refused_for_a_log_stops_all_traffic(
    server: FleetServer, tmp_path: Path, clock: HandClock
) -> None:
    server.replies["WS", EVENTS] = (401, "revoked")
    async with connected(Direct(server.address), tmp_path, clock) as cockpit:
        cockpit.open(key("a"))
        await until(cockpit, lambda now: now.endpoints[HQ].health is Health.SIGNED_OUT)


async def test_a_log_is_followed_over_new_connections(server: FleetServer, tmp_path: Path, clock: HandClock) -> None:
    said(server, "one")
    async with following(server, tmp_path, clock) as cockpit:
        await server.until_followed("/api/stream")
        server.end("/api/stream")
        await until(cockpit, lambda now: now.endpoints[HQ].health is Health.SILENT)
        said(server, "two")
        cockpit.reconnect(HQ)
        await until(cockpit, shows("one", "two"))


async def test_the_hosts_own_lines_come_again_and_are_drawn_once(
    server: FleetServer, tmp_path: Path, clock: HandClock
) -> None:
    def line(level: str, message: str) -> Json:
        return {"type": "harness_log", "origin": "harness", "level": level, "message": message, "ts": server.now()}

    server.logs["a"] = Log(host_lines=[line("info", "booted"), line("warn", "careful")])
    async with following(server, tmp_path, clock) as cockpit:
        await until(cockpit, shows("careful"))
        live = line("info", "a live one")
        server.logs["a"].host_lines.append(live)
        server.push(EVENTS, live)
        await until(cockpit, shows("careful", "a live one"))
        server.end(EVENTS)
        await reconnected(cockpit, clock)
        await until(cockpit, shows("careful", "a live one"))
        for number in range(2 * HOST_LINES_KEPT):
            server.push(EVENTS, line("info", f"line {number}"))
        snapshot = await until(cockpit, lambda now: shown(now)[-1] == f"line {2 * HOST_LINES_KEPT - 1}")
        assert len(shown(snapshot)) == 2 + 2 * HOST_LINES_KEPT


async def test_a_frame_that_cannot_be_read_is_marked_and_the_log_goes_on(
    server: FleetServer, tmp_path: Path, clock: HandClock
) -> None:
    async with following(server, tmp_path, clock) as cockpit:
        server.push(EVENTS, {"type": "session", "session": {"id": 5}})
        server.push(EVENTS, {"type": "memory_proposed", "proposal": {}})
        said(server, "one")
        await until(cockpit, shows("an unreadable frame: a session without a usable id", "one"))


async def test_an_event_of_tomorrow_takes_its_number_and_is_not_drawn(
    server: FleetServer, tmp_path: Path, clock: HandClock
) -> None:
    async with following(server, tmp_path, clock) as cockpit:
        server.say("a", "from_the_future", text="hello")
        said(server, "one")
        await until(cockpit, shows("one"))
    assert server.count(f"WS {EVENTS}") == 1


async def test_the_colony_and_its_question_are_as_fresh_as_the_log(
    server: FleetServer, tmp_path: Path, clock: HandClock
) -> None:
    async with following(server, tmp_path, clock) as cockpit:
        server.questions["a"] = question_body("q-1", prompt("Which?", "x"))
        server.put("a", status="waiting_for_answer")
        server.say("a", "question", question_id="q-1", questions=server.questions["a"]["questions"])
        await until(cockpit, lambda now: now.questions)
        del server.questions["a"]
        server.say("a", "question_answered", question_id="q-1", answers={"Which?": "x"}, response=None)
        await until(cockpit, lambda now: not now.questions)
        now = state(cockpit.snapshot)
        assert now is not None
        assert [(entry.state, entry.result) for entry in now.transcript] == [(State.DONE, "answered: x")]


async def test_an_interrupt_goes_over_the_logs_socket(server: FleetServer, tmp_path: Path, clock: HandClock) -> None:
    async with following(server, tmp_path, clock) as cockpit:
        await server.until_followed(EVENTS)
        await cockpit.interrupt(key("a"))
        await server.until(lambda: server.at(EVENTS)[0].heard)
        assert server.at(EVENTS)[0].heard == [{"type": "interrupt"}]
        with pytest.raises(LinkError, match="open the colony first"):
            await cockpit.interrupt(key("b"))
        server.end(EVENTS)
        await until(cockpit, is_away)
        with pytest.raises(LinkError, match="not connected right now"):
            await cockpit.interrupt(key("a"))


async def test_a_colony_that_is_closed_is_followed_no_more_and_seen_for_a_while(
    server: FleetServer, tmp_path: Path, clock: HandClock
) -> None:
    said(server, "one")
    async with following(server, tmp_path, clock) as cockpit:
        await server.until_followed(EVENTS)
        cockpit.close(key("a"))
        await server.until(lambda: not server.at(EVENTS))
        assert shown(cockpit.snapshot) == ["one"]
        await cockpit.load_older(key("a"))
        cockpit.open(key("a"))
        cockpit.open(key("a"))
        await server.until_followed(EVENTS)
        said(server, "two")
        await until(cockpit, shows("one", "two"))


def drawn(name: str) -> Callable[[Snapshot], bool]:
    return lambda snapshot: key(name) in snapshot.transcripts and len(snapshot.transcripts[key(name)].transcript) > 0


async def test_transcripts_of_colonies_that_were_closed_do_not_pile_up(
    server: FleetServer, tmp_path: Path, clock: HandClock
) -> None:
    names = [f"c{number}" for number in range(CLOSED_KEPT + 3)]
    for name in names:
        server.put(name)
        server.say(name, "user_message", id="u", text=name)
    async with connected(Direct(server.address), tmp_path, clock) as cockpit:
        for name in names:
            cockpit.open(key(name))
            await until(cockpit, drawn(name))
            cockpit.close(key(name))
            cockpit.close(key(name))
        assert set(cockpit.snapshot.transcripts) == {key(name) for name in names[-CLOSED_KEPT:]}
