"""Calls of agents that wait for a person, decided in Needs you."""

from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from syrupy.assertion import SnapshotAssertion
from textual.pilot import Pilot

from colonizer_client.approvals.ledger import Approvals
from colonizer_client.approvals.models import Approval, Caller, Request
from colonizer_client.snapshot import ApprovalsChanged, EndpointChanged, HubEvent
from colonizer_tui.app import CockpitApp
from moments import LOCAL, endpoint, every_state, still_app
from pictures import SIZES, kept_pictures
from real_engine import screen_text, settled, until

pytestmark = pytest.mark.anyio

STOP: Mapping[str, object] = {"colony_id": "c0ffee01"}
LAUNCH: Mapping[str, object] = {
    "repo": "acme/widgets",
    "title": "Greet\u202eeman yb",
    "prompt": "\n".join(f"step {number}: do what has to be done" for number in range(60)),
}


CALM: list[HubEvent] = [EndpointChanged(endpoint(LOCAL))]


def request(tool: str, arguments: Mapping[str, object], *, is_same_user: bool = True) -> Request:
    return Request(
        caller=Caller("caller-1", "claude-code", is_same_user),
        tool=tool,
        arguments=arguments,
        policy="writes",
        mothership="local",
        summary=f"{tool.replace('_', ' ').capitalize()} in acme/widgets.",
        blast=("colony c0ffee01 of acme/widgets", "the branch stays; it can be resumed"),
    )


class Inbox:
    """Somebody who has Needs you before them."""

    def __init__(self, app: CockpitApp, pilot: Pilot[None]) -> None:
        self.app, self.pilot = app, pilot
        self.approvals = Approvals(app.cockpit.store, app.cockpit.clock)

    def ask(self, tool: str, arguments: Mapping[str, object]) -> Approval:
        made = self.approvals.ask(request(tool, arguments))
        self.app.cockpit.hub.post(ApprovalsChanged(self.app.cockpit.approvals.pending()))
        return made

    async def sees(self, *texts: str) -> None:
        await until(self.pilot, lambda: all(text in " ".join(screen_text(self.pilot).split()) for text in texts))

    async def press(self, *keys: str) -> None:
        await self.pilot.press(*keys)


@asynccontextmanager
async def inbox(folder: Path, events: list[HubEvent], size: str = "120x30") -> AsyncGenerator[Inbox]:
    app = still_app(folder, events)
    async with app.run_test(size=SIZES[size], notifications=True) as pilot:
        await until(pilot, lambda: app.deck.is_complete.is_set() and app.deck.view.snapshot is app.cockpit.snapshot)
        await pilot.press("2")
        yield Inbox(app, pilot)


async def test_a_call_is_approved_once_it_was_read_to_its_end_and_only_as_it_was_shown(tmp_path: Path) -> None:
    async with inbox(tmp_path, CALM) as it:
        await it.sees("Nothing needs you.")
        launch = it.ask("launch_colony", LAUNCH)
        await it.sees("1 call of an agent", "claude-code", "Needs you 1")
        await it.press("enter")
        await it.sees("claude-code asks to call launch_colony", "reads on", "hold hidden characters")
        await it.press("y", "G")
        await it.sees("Greet⟨U+202E⟩eman yb", "cannot hold it back", "reads on")
        await it.press("y")
        assert it.approvals.get(launch.id).state == "pending"
        await it.press("g", *["pagedown"] * 4)
        await it.sees("y approve, this once")
        await it.press("y")
        await it.sees("claude-code may call launch_colony, this once", "Nothing needs you.")
        assert it.approvals.get(launch.id).state == "approved"


async def test_a_call_is_rejected_with_a_reason_or_goes_on_waiting(tmp_path: Path) -> None:
    async with inbox(tmp_path, every_state()) as it:
        stop = it.ask("stop_colony", STOP)
        await it.sees("Stop colony in acme")
        await it.press("tab", "a")
        await it.sees("n reject", "back, it waits on")
        await it.press("escape")
        assert it.approvals.get(stop.id).state == "pending"
        await it.press("a")
        await it.sees("n reject")
        await it.press("n")
        await it.sees("Reject stop_colony")
        await it.press(*"not now", "ctrl+s")
        await it.sees("rejected: claude-code is told so")
        assert (it.approvals.get(stop.id).state, it.approvals.get(stop.id).words) == ("rejected", "not now")


async def test_while_a_call_is_shown_no_key_means_a_colony_that_is_not(tmp_path: Path) -> None:
    async with inbox(tmp_path, every_state()) as it:
        await it.sees("held")
        await until(it.pilot, lambda: it.app.deck.colony is not None)
        it.ask("stop_colony", STOP)
        await it.sees("1 call of an agent")
        await it.press("tab")
        await it.sees("claude-code asks to call stop_colony")
        await until(it.pilot, lambda: it.app.deck.colony is None)
        await it.press("s")
        await it.sees("no colony is selected")
        await it.press("tab")
        await until(it.pilot, lambda: it.app.deck.colony is not None)


async def test_who_decides_second_is_told_who_was_first(tmp_path: Path) -> None:
    async with inbox(tmp_path, CALM) as it:
        stop = it.ask("stop_colony", STOP)
        await it.sees("Stop colony")
        await it.press("enter")
        await it.sees("y approve")
        it.approvals.reject(stop.id, "another", "no")
        await it.press("y")
        await it.sees(f"{stop.id} was rejected already, by another")
        assert it.approvals.get(stop.id).state == "rejected"


@pytest.mark.parametrize("size", ["80x24", "120x30"])
async def test_the_inbox_looks_as_it_did_with_calls_of_agents(
    size: str, tmp_path: Path, snapshot: SnapshotAssertion, monkeypatch: pytest.MonkeyPatch
) -> None:
    numbers = iter(range(100))
    monkeypatch.setattr("uuid.uuid4", lambda: type("Id", (), {"hex": f"{next(numbers):08x}"})())
    kept = kept_pictures(snapshot)
    async with inbox(tmp_path, every_state(), size) as it:
        it.ask("stop_colony", STOP)
        it.ask("launch_colony", LAUNCH)
        await it.sees("2 calls of agents")
        await it.press("tab")
        different: list[str] = []
        for name, keys in (("calls", ["j"]), ("a call", ["k", "enter"]), ("a long call", ["escape", "j", "enter"])):
            await it.press(*keys)
            await settled(it.pilot)
            if it.app.export_screenshot(simplify=True) != kept(name=name.replace(" ", "-")):
                different.append(name)
        assert different == []
