"""Hosts in trouble beside hosts that are not, over real sockets: what the screen says and lets one do."""

from collections.abc import AsyncGenerator
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path

import pytest
from textual.pilot import Pilot

from client.cockpits import Direct
from client.fleet_server import HANG, FleetServer, fleet_server
from client.raw_server import free_port
from client.samples import question_body, session
from colonizer_client.cockpit import Cockpit
from colonizer_client.identity import EndpointName
from colonizer_client.mothership.transport import Server
from colonizer_client.snapshot import EndpointState, Health
from colonizer_client.store import Store
from colonizer_config.address import HttpAddress
from colonizer_tui.app import CockpitApp
from colonizer_tui.surroundings import Surroundings
from real_engine import screen_text, until

pytestmark = pytest.mark.anyio

HQ, LAB = EndpointName("hq"), EndpointName("lab")
SELF = ("GET", "/api/tokens/self")


@asynccontextmanager
async def cockpit_on(folder: Path, places: dict[EndpointName, Server]) -> AsyncGenerator[Pilot[None]]:
    """The cockpit with these hosts."""
    cockpit = Cockpit(lambda: Store(folder / "cockpit.db"))
    for name, place in places.items():
        cockpit.add(EndpointState(name, str(place)), Direct(place))
    app = CockpitApp(cockpit, Surroundings(crash_folder=folder, default_endpoint=HQ))
    async with app.run_test(size=(140, 40), notifications=True) as pilot:
        yield pilot


@asynccontextmanager
async def two_hosts(folder: Path) -> AsyncGenerator[tuple[FleetServer, FleetServer, Pilot[None]]]:
    async with AsyncExitStack() as stack:
        hq = await stack.enter_async_context(fleet_server(folder / "hq.sock"))
        lab = await stack.enter_async_context(fleet_server(folder / "lab.sock"))
        pilot = await stack.enter_async_context(cockpit_on(folder, {HQ: hq.address, LAB: lab.address}))
        yield hq, lab, pilot


async def shows(pilot: Pilot[None], *texts: str) -> None:
    await until(pilot, lambda: all(text in screen_text(pilot) for text in texts))


def health(pilot: Pilot[None], name: EndpointName) -> Health:
    app = pilot.app
    assert isinstance(app, CockpitApp)
    return app.cockpit.snapshot.endpoints[name].health


async def test_one_list_over_all_hosts_and_one_of_them_is_killed_half_way(tmp_path: Path) -> None:
    async with two_hosts(tmp_path) as (hq, lab, pilot):
        hq.put("a", issue_title="Work of hq", status="waiting_for_answer")
        hq.questions["a"] = question_body("q-1")
        lab.put("b", issue_title="Work of lab")
        await shows(pilot, "Work of hq", "Work of lab", "2 colonies", "Needs you 1")
        hq.replies[SELF] = (503, {"error": "resting"})
        hq.end("/api/stream")
        await shows(pilot, "Needs you +1?", "Work of hq")
        lab.put("b", issue_title="Goes on at lab")
        await shows(pilot, "Goes on at lab")
        await pilot.press("7")
        await shows(pilot, "no answer", "resting", "live")
        await pilot.press("1", "g", "a")
        await shows(pilot, "hq does not answer")
        del hq.replies[SELF]
        await pilot.press("7", "g", "r")
        await until(pilot, lambda: health(pilot, HQ) is Health.LIVE)
        await pilot.press("1")
        await shows(pilot, "Needs you 1", "Work of hq")
        assert not hq.sent


async def test_the_keys_of_a_colony_go_to_its_own_host_though_both_use_one_id(tmp_path: Path) -> None:
    async with two_hosts(tmp_path) as (hq, lab, pilot):
        hq.put("a", issue_title="Work of hq")
        lab.put("a", issue_title="Work of lab")
        lab.replies["POST", "/api/sessions/a/stop"] = (200, session("a", status="stopped"))
        await shows(pilot, "Work of hq", "Work of lab")
        await pilot.press("slash", *"lab", "enter", "s")
        await shows(pilot, "Stop this colony?", "lab · acme/widgets · Work of lab")
        await pilot.press("y")
        await lab.until_asked("POST /api/sessions/a/stop")
        assert hq.count("POST /api/sessions/a/stop") == 0


async def test_a_host_that_comes_back_as_another_one_is_named_and_its_old_rows_are_gone(tmp_path: Path) -> None:
    async with two_hosts(tmp_path) as (hq, _, pilot):
        hq.put("a", issue_title="Of the first one", status="waiting_for_answer")
        hq.questions["a"] = question_body("q-1")
        await shows(pilot, "Of the first one", "Which base?")
        await pilot.press("a")
        await shows(pilot, "the agent waits for you")
        hq.sessions.clear()
        hq.questions.clear()
        hq.put("b", issue_title="Of another one")
        hq.replies["GET", "/api/version"] = (200, {"version": "v9.9.9"})
        hq.end("/api/stream")
        await shows(pilot, "Of another one")
        await until(pilot, lambda: "Of the first one" not in screen_text(pilot))
        await pilot.press("1", "enter", "escape", "escape", "7", "g")
        await shows(pilot, "another version: 9.9.9", "none of the colonies known before")
        assert not hq.sent


async def test_ten_thousand_colonies_that_appear_at_once_leave_the_cursor_where_it_is(tmp_path: Path) -> None:
    async with two_hosts(tmp_path) as (hq, lab, pilot):
        lab.put("mine", issue_title="The one I look at", status="waiting_for_answer")
        lab.questions["mine"] = question_body("q-1")
        await shows(pilot, "The one I look at", "Which base?")
        many = [session(f"{number:08x}", issue_title=f"number {number}") for number in range(10_000)]
        await hq.until_followed("/api/stream")
        hq.push("/api/stream", {"type": "sessions", "sessions": many})
        await shows(pilot, "10,001 colonies", "The one I look at", "Which base?")
        app = pilot.app
        assert isinstance(app, CockpitApp)
        assert app.deck.fleet.list.selected == (LAB, "mine")
        await pilot.press("G", "g")
        await shows(pilot, "The one I look at")


async def test_hosts_in_trouble_are_said_in_their_rows_only_and_delay_nothing(tmp_path: Path) -> None:
    async with AsyncExitStack() as stack:
        servers = [await stack.enter_async_context(fleet_server(tmp_path / f"{n}.sock")) for n in range(7)]
        hanging, refusing, (good, *_) = servers[:3], servers[3:5], servers[5:]
        for server in hanging:
            server.replies[SELF] = (HANG, None)
        for server in refusing:
            server.replies[SELF] = (401, "missing or invalid API token")
        good.put("a", issue_title="Work of a good one")
        places: dict[EndpointName, Server] = {
            EndpointName(f"dead-{n}"): HttpAddress("http", "127.0.0.1", free_port()) for n in range(3)
        }
        places |= {EndpointName(f"host-{n}"): server.address for n, server in enumerate(servers)}
        pilot = await stack.enter_async_context(cockpit_on(tmp_path, places))
        await shows(pilot, "Work of a good one", "of 10 hosts")
        await pilot.press("7")
        await until(pilot, lambda: screen_text(pilot).count("signed out") >= 2)
        await shows(pilot, "no answer", "connecting", "live")
        assert [server.count("GET /api/tokens/self") for server in refusing] == [1, 1]
        text = screen_text(pilot)
        assert "▌ " not in text.replace("▌ ○", "").replace("▌ ◐", ""), "no toast tells of a host"
        await pilot.press("ctrl+q")
        assert pilot.app.return_code in (0, None)


async def test_a_scope_of_tomorrow_and_states_of_tomorrow_are_words_on_the_screen(tmp_path: Path) -> None:
    async with two_hosts(tmp_path) as (hq, _, pilot):
        hq.standing = {"owner": False, "scope": "superuser", "name": "x", "orgs": [], "repos": []}
        hq.put("a", issue_title="Odd work", status="dreaming", attention={"reason": "homesick"})
        app = pilot.app
        assert isinstance(app, CockpitApp)
        app.cockpit.reconnect(HQ)
        await until(
            pilot, lambda: (state := app.cockpit.snapshot.endpoints[HQ]).standing and not state.standing.is_owner
        )
        await until(pilot, lambda: health(pilot, HQ) is Health.LIVE)
        await shows(pilot, "Odd work", "homesick")
        await pilot.press("g", "s")
        await shows(pilot, "scope superuser; this needs operate")
