import asyncio
from collections.abc import AsyncGenerator
from pathlib import Path

import pytest

from client.cockpits import Direct, cockpit_at, connected, running, until
from client.fleet_server import FleetServer
from client.hand_clock import LONG_S, HandClock
from client.samples import HQ, key, question, session
from colonizer_client.answers import Chosen
from colonizer_client.cockpit import Cockpit
from colonizer_client.errors import ClientError, Conflict, OnItsWay, StoreError, UnmatchedAnswer, Unreachable
from colonizer_client.identity import ColonyId, ColonyKey
from colonizer_client.mothership import decode
from colonizer_client.mothership.models import LaunchOrder
from colonizer_client.snapshot import EndpointState, Health, Phase
from colonizer_client.store import Store
from colonizer_client.transcript import Kind
from colonizer_config.address import SocketAddress
from colonizer_config.token import Token
from served_mothership import OWNER, Served, asks, say, served

pytestmark = pytest.mark.anyio


@pytest.fixture
def server(server: FleetServer) -> FleetServer:
    server.put("a")
    return server


@pytest.fixture
async def cockpit(server: FleetServer, tmp_path: Path) -> AsyncGenerator[Cockpit, None]:
    async with connected(Direct(server.address), tmp_path, HandClock()) as made:
        await until(made, lambda now: now.endpoints[HQ].health is Health.LIVE)
        yield made


async def test_what_a_person_orders_is_done_and_seen(cockpit: Cockpit, server: FleetServer) -> None:
    after = {"stop": "stopped", "resume": "queued", "keep": "parked", "cleanup": "failed", "publish": "idle"}
    for verb, status in after.items():
        answer = session("a", status=status, updated_at=server.now(), result="already_stopped")
        server.replies["POST", f"/api/sessions/a/{verb}"] = (200, answer)
    assert await cockpit.stop(key("a"))
    assert cockpit.snapshot.colonies[key("a")].status == "stopped"
    assert (await cockpit.resume(key("a"), {"KEY": "v"})).status == "queued"
    assert (await cockpit.keep(key("a"))).status == "parked"
    await cockpit.clean_up(key("a"))
    assert cockpit.snapshot.colonies[key("a")].status == "failed"
    assert (await cockpit.publish(key("a"))).status == "idle"
    assert server.sent == [{"agent_env": {"KEY": "v"}}]


async def test_a_launch_is_in_the_list_at_once_and_a_refused_one_names_the_holder(
    cockpit: Cockpit, server: FleetServer
) -> None:
    server.replies["POST", "/api/sessions"] = (200, session("new", status="queued"))
    first, second = cockpit.idempotency_key(), cockpit.idempotency_key()
    assert first != second
    launched = await cockpit.launch(HQ, LaunchOrder("acme/widgets", "Do it", idempotency_key=first))
    assert cockpit.snapshot.colonies[launched.key].status == "queued"
    duplicate = {
        "error": "colony a is already on #7",
        "duplicate": {"kind": "issue", "colony": "a", "what": "#7", "queueable": True},
    }
    server.replies["POST", "/api/sessions"] = (409, duplicate)
    with pytest.raises(Conflict) as caught:
        await cockpit.launch(HQ, LaunchOrder("acme/widgets", issue=7))
    holder = decode.holder(caught.value.body)
    assert holder is not None
    assert holder.colony == "a"


async def test_details_and_diffs_are_read_and_a_failure_keeps_the_last_one(
    cockpit: Cockpit, server: FleetServer
) -> None:
    await cockpit.read_detail(key("a"))
    assert cockpit.snapshot.details[key("a")].colony.key == key("a")
    server.replies["GET", "/api/sessions/a/diff"] = (
        200,
        {"files": [{"path": "x", "added": 1, "removed": 0}], "added": 1, "diff": "+x"},
    )
    await cockpit.read_diff(key("a"))
    read = cockpit.snapshot.diffs[key("a")]
    assert read.diff is not None
    assert (read.diff.text, read.is_loading, read.error) == ("+x", False, "")
    server.replies["GET", "/api/sessions/a/diff"] = (409, {"error": "no worktree to diff"})
    await cockpit.read_diff(key("a"))
    kept = cockpit.snapshot.diffs[key("a")]
    assert (kept.diff, kept.error, kept.is_loading, kept.as_of) == (read.diff, "no worktree to diff", False, read.as_of)


async def test_a_failure_is_marked_as_seen_and_a_suspended_colony_warmed(cockpit: Cockpit, server: FleetServer) -> None:
    server.replies["POST", "/api/sessions/a/seen"] = (204, None)
    server.replies["POST", "/api/sessions/a/prewarm"] = (202, None)
    await cockpit.mark_seen(key("a"))
    assert key("a") in cockpit.snapshot.details
    await cockpit.prewarm(key("a"))
    assert server.count("POST /api/sessions/a/seen") == server.count("POST /api/sessions/a/prewarm") == 1


async def test_the_local_repositories_are_listed(cockpit: Cockpit, server: FleetServer) -> None:
    server.replies["GET", "/api/local/repos"] = (200, [{"name": "local/app", "path": "/p"}])
    assert [each.name for each in await cockpit.repositories(HQ)] == ["local/app"]


async def test_an_incomplete_card_is_not_put_on_its_way(cockpit: Cockpit) -> None:
    with pytest.raises(UnmatchedAnswer):
        cockpit.answer(key("a"), question(), [Chosen()])
    assert cockpit.snapshot.deliveries == {}


async def test_another_answer_to_a_question_on_its_way_is_refused(tmp_path: Path) -> None:
    cockpit = cockpit_at(tmp_path, HandClock())
    cockpit.add(EndpointState(HQ, "hq"), Direct(SocketAddress(tmp_path / "no")))
    first = cockpit.answer(key("a"), question(), [Chosen(("main",))])
    assert cockpit.answer(key("a"), question(), [Chosen(("main",))]).id == first.id
    with pytest.raises(OnItsWay):
        cockpit.answer(key("a"), question(), [Chosen(("dev",))])
    cockpit.store.close()


async def test_what_an_earlier_face_left_on_its_way_is_shown_and_brought(server: FleetServer, tmp_path: Path) -> None:
    earlier = cockpit_at(tmp_path, HandClock())
    earlier.add(EndpointState(HQ, "hq"), Direct(server.address))
    said = earlier.say(key("a"), "hello")
    earlier.store.close()
    server.replies["POST", "/api/sessions/a/messages"] = (200, {"id": "x"})
    later = cockpit_at(tmp_path, HandClock())
    later.add(EndpointState(HQ, "hq"), Direct(server.address))
    assert later.snapshot.deliveries[said.id].state == "queued"
    async with running(later):
        await until(later, lambda now: now.deliveries[said.id].state == "confirmed")


async def test_without_a_store_everything_else_works_and_says_what_does_not(
    server: FleetServer, tmp_path: Path
) -> None:
    broken = [True]

    def open_store() -> Store:
        if broken[0]:
            raise StoreError("cannot open cockpit.db: it is damaged")
        return Store(tmp_path / "cockpit.db")

    cockpit = Cockpit(open_store)
    cockpit.add(EndpointState(HQ, "hq"), Direct(server.address))
    async with running(cockpit):
        await until(cockpit, lambda now: key("a") in now.colonies)
        assert "damaged" in cockpit.store_error
        with pytest.raises(StoreError, match=r"nothing is sent that cannot be stored first: .*damaged"):
            cockpit.say(key("a"), "hello")
        with pytest.raises(StoreError):
            cockpit.drafts.message(key("a"))
        broken[0] = False
        server.replies["POST", "/api/sessions/a/messages"] = (200, {"id": "x"})
        said = cockpit.say(key("a"), "hello")
        assert cockpit.store_error == ""
        await until(cockpit, lambda now: now.deliveries[said.id].state == "confirmed")


async def test_an_endpoint_added_while_the_cockpit_runs_is_connected_to(server: FleetServer, tmp_path: Path) -> None:
    cockpit = cockpit_at(tmp_path, HandClock())
    async with running(cockpit):
        assert cockpit.snapshot.endpoints == {}
        cockpit.add(EndpointState(HQ, "hq"), Direct(server.address))
        await until(cockpit, lambda now: key("a") in now.colonies)


async def test_a_cockpit_that_ran_can_run_again(server: FleetServer, tmp_path: Path) -> None:
    cockpit = cockpit_at(tmp_path, HandClock())
    cockpit.add(EndpointState(HQ, "hq"), Direct(server.address))
    server.replies["POST", "/api/sessions/a/messages"] = (200, {"id": "x"})
    for _ in range(2):
        async with running(cockpit):
            await until(cockpit, lambda now: now.endpoints[HQ].health is Health.LIVE)
            said = cockpit.say(key("a"), "hello")
            await until(cockpit, lambda now: now.deliveries[said.id].state == "confirmed")  # noqa: B023  # within the turn


async def test_commands_before_a_connection_say_that_there_is_none(tmp_path: Path) -> None:
    cockpit = cockpit_at(tmp_path, HandClock())
    cockpit.add(EndpointState(HQ, "hq"), Direct(SocketAddress(tmp_path / "no")))
    with pytest.raises(Unreachable, match="hq is not connected"):
        await cockpit.stop(key("a"))
    cockpit.store.close()


async def test_readers_are_told_and_forgotten(server: FleetServer, tmp_path: Path) -> None:
    async with connected(Direct(server.address), tmp_path, HandClock()) as cockpit:
        reader = cockpit.subscribe()
        async with asyncio.timeout(LONG_S):
            while key("a") not in reader.take()[0].colonies:
                await reader.changed()


# With the embedded mothership and a real agent.


@pytest.fixture
async def mothership(tmp_path: Path) -> AsyncGenerator[Served, None]:
    async with served(tmp_path) as made:
        yield made


async def test_a_colony_is_launched_asked_answered_read_and_stopped(mothership: Served, tmp_path: Path) -> None:
    steps = [*asks("q-1", "Go on?"), ["heard"], say("assistant_text", message_id="m", block_index=0, text="done")]
    connector = Direct(SocketAddress(mothership.socket), Token(OWNER))
    async with connected(connector, tmp_path / "face", HandClock()) as cockpit:
        await until(cockpit, lambda now: now.endpoints[HQ].health is Health.LIVE)
        task = await mothership.launch(*steps)
        colony = ColonyKey(HQ, ColonyId(task))
        snapshot = await until(cockpit, lambda now: colony in now.questions)
        asked = snapshot.questions[colony]
        assert [each.text for each in asked.prompts] == ["Go on?"]
        assert asked.asked_at is not None
        cockpit.open(colony)
        answer = cockpit.answer(colony, asked, [Chosen(("Yes",))])
        await until(cockpit, lambda now: now.deliveries[answer.id].state == "confirmed" and colony not in now.questions)
        await cockpit.read_detail(colony)
        on_record = cockpit.snapshot.details[colony].answered
        assert [(each.question_id, each.answer_raw) for each in on_record] == [("q-1", "Yes")]
        message = cockpit.say(colony, "thank you")
        await until(cockpit, lambda now: now.deliveries[message.id].state == "confirmed")
        await until(cockpit, lambda now: colony in now.transcripts and now.transcripts[colony].phase is Phase.LIVE)
        await cockpit.stop(colony)
        snapshot = await until(cockpit, lambda now: now.colonies[colony].status == "stopped")
        kinds = [entry.kind for entry in snapshot.transcripts[colony].transcript]
        assert Kind.BRIEF in kinds
        assert Kind.QUESTION in kinds
        with pytest.raises(ClientError):
            await cockpit.keep(colony)


async def test_an_answer_of_a_second_face_loses_to_the_first(mothership: Served, tmp_path: Path) -> None:
    connector = Direct(SocketAddress(mothership.socket), Token(OWNER))
    async with (
        connected(connector, tmp_path / "one", HandClock()) as one,
        connected(connector, tmp_path / "two", HandClock()) as two,
    ):
        colony = ColonyKey(HQ, ColonyId(await mothership.launch(*asks("q-1", "Go on?"), ["heard"])))
        asked = (await until(one, lambda now: colony in now.questions)).questions[colony]
        seen_by_two = (await until(two, lambda now: colony in now.questions)).questions[colony]
        first = one.answer(colony, asked, [Chosen(("Yes",))])
        await until(one, lambda now: now.deliveries[first.id].state == "confirmed")
        second = two.answer(colony, seen_by_two, [Chosen(("No",))])
        await until(two, lambda now: now.deliveries[second.id].state == "elsewhere")


async def test_a_scoped_token_sees_and_does_what_it_covers(mothership: Served, tmp_path: Path) -> None:
    connector = Direct(SocketAddress(mothership.socket), Token(mothership.token("read")))
    colony = ColonyKey(HQ, ColonyId(await mothership.launch(*asks("q-1", "Go on?"), ["heard"])))
    await mothership.status(colony.colony, "waiting_for_answer")
    async with connected(connector, tmp_path / "face", HandClock()) as cockpit:
        snapshot = await until(cockpit, lambda now: colony in now.questions)
        assert snapshot.endpoints[HQ].is_polled
        refused = cockpit.answer(colony, snapshot.questions[colony], [Chosen(("Yes",))])
        snapshot = await until(cockpit, lambda now: now.deliveries[refused.id].is_settled)
        assert snapshot.deliveries[refused.id].state == "refused"
        assert "scope" in snapshot.deliveries[refused.id].words
        assert snapshot.endpoints[HQ].health is Health.LIVE


async def test_a_wrong_token_is_said_and_nothing_is_asked_again(mothership: Served, tmp_path: Path) -> None:
    clock = HandClock()
    connector = Direct(SocketAddress(mothership.socket), Token("f" * 64))
    async with connected(connector, tmp_path / "face", clock) as cockpit:
        snapshot = await until(cockpit, lambda now: now.endpoints[HQ].health is Health.SIGNED_OUT)
        assert "missing or invalid API token" in snapshot.endpoints[HQ].error
        assert clock.pauses == []
