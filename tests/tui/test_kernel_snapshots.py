"""How the kernel workspace looks: each pane empty, filled, stale, in trouble, small, and without colours.

One application is drawn several times: to start one takes longer than all its pictures.
"""

from collections.abc import AsyncGenerator, Iterable
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from msgspec.structs import replace
from syrupy.assertion import SnapshotAssertion
from textual.pilot import Pilot

from colonizer_client.endpoint_state import Health
from colonizer_client.kernel.models import Decision, Finding, PlanReview
from colonizer_client.kernel.view import KernelView
from colonizer_client.snapshot import OffersChanged
from colonizer_tui import theme
from colonizer_tui.app import CockpitApp
from colonizer_tui.workspaces.kernel import KernelWorkspace
from kernel_moments import ASKED, ASKED_AGAIN, OFFERS, blank, fresh, kernel, kernels, link, many_places, remote, silent
from moments import LOCAL, still_app
from pictures import SIZES, kept_pictures
from real_engine import settled, until

pytestmark = pytest.mark.anyio

PANES = ("Heatmap", "Gate log", "Agents", "Outcomes", "Offers", "Budgets", "Pruning", "Attack", "Warnings")
PLAN = "target: auth.login\nrationale: sign in faster\n"
REVIEW = PlanReview(
    (
        Finding("nothing says how to undo it", "no_rollback", "high", {"rollback_plan": "<absent>"},
                "Give the exact command, and what is so afterwards."),
        Finding("no automated test is named", "no_test_value", "high", {"tests": "<key absent>"}, "Name test files."),
        Finding("success cannot be measured", "false_metric", "medium", {"metrics": "<key absent>"}, "Add a number."),
        Finding("touches sign-in without a review", "security_risk", "high", {}, "Add a security review."),
    ),
    0.3875,
    Decision.EXECUTE,
    "FAIL",
)  # fmt: skip


class Album:
    """Pictures of one application."""

    def __init__(self, snapshot: SnapshotAssertion, app: CockpitApp, pilot: Pilot[None]) -> None:
        self._snapshot = kept_pictures(snapshot)
        self._app, self._pilot = app, pilot
        self.differing: list[str] = []

    @property
    def workspace(self) -> KernelWorkspace:
        return self._app.deck.kernel

    async def press(self, *keys: str) -> None:
        await self._pilot.press(*keys)

    async def picture(self, name: str, *keys: str) -> None:
        await self._pilot.press(*keys)
        await settled(self._pilot)
        if self._snapshot(name=name.lower().replace(" ", "-")) != self._app.export_screenshot():
            self.differing.append(name)

    async def panes(self, names: Iterable[str]) -> None:
        for name in names:
            self.workspace.bring(self.workspace.panes.by_title[name])
            self._app.deck.show_again()
            await self.picture(name)


@asynccontextmanager
async def album(
    snapshot: SnapshotAssertion,
    folder: Path,
    *views: KernelView,
    size: str = "120x30",
    has_offers: bool = True,
    **surroundings: object,
) -> AsyncGenerator[Album]:
    offered = OffersChanged(OFFERS, LOCAL)
    app = still_app(folder, [*kernels(*views), *([offered] if has_offers else [])], **surroundings)
    async with app.run_test(size=SIZES[size]) as pilot:
        await until(pilot, lambda: app.deck.is_complete.is_set() and app.deck.view.snapshot is app.cockpit.snapshot)
        await pilot.press("4")
        it = Album(snapshot, app, pilot)
        yield it
    assert it.differing == []


@pytest.mark.parametrize("size", SIZES)
async def test_every_pane_looks_as_it_did(size: str, snapshot: SnapshotAssertion, tmp_path: Path) -> None:
    async with album(snapshot, tmp_path, kernel(), remote(), blank("lab", is_wanted=False), size=size) as it:
        it.workspace.attack.field.text = PLAN
        it.workspace.attack.reviewed(REVIEW, "")
        await it.panes(PANES)


async def test_the_heatmap_looks_as_it_did_wherever_one_is_in_it(snapshot: SnapshotAssertion, tmp_path: Path) -> None:
    async with album(snapshot, tmp_path, kernel()) as it:
        await it.picture("a cell", "j", "right", "right", "right")
        await it.picture("earlier", "left", "left", "less_than_sign", "less_than_sign", "less_than_sign")
        await it.picture("folded", "escape", "f")
        await it.picture("found", "f", "slash", *"hazard>3")
        await it.picture("jump", "escape", "ctrl+o")
        await it.picture("evidence", "escape", "j", "v")


async def test_a_kernel_without_anything_says_what_to_press(snapshot: SnapshotAssertion, tmp_path: Path) -> None:
    async with album(snapshot, tmp_path, fresh(), size="80x24", has_offers=False) as it:
        await it.panes(PANES)


async def test_a_silent_kernel_is_dated_and_dimmed(snapshot: SnapshotAssertion, tmp_path: Path) -> None:
    async with album(snapshot, tmp_path, silent(kernel()), size="80x24") as it:
        await it.panes(PANES[:7])


async def test_a_remote_kernel_shows_what_it_cannot_tell(snapshot: SnapshotAssertion, tmp_path: Path) -> None:
    async with album(snapshot, tmp_path, remote()) as it:
        await it.panes(("Heatmap", "Budgets"))
        await it.picture("asks first", "b")


NOTHING_KNOWN = {
    "nobody looked": blank("lab", is_wanted=False),
    "connecting": blank(link=link(health=Health.CONNECTING)),
    "no answer": silent(blank()),
    "signed out": blank("hive", link=link("hive", health=Health.SIGNED_OUT, error="invalid token")),
    "a command": blank("hive", consent=ASKED),
    "another command": blank("hive", consent=ASKED_AGAIN),
}


@pytest.mark.parametrize("size", ["80x24", "120x30"])
async def test_a_kernel_of_which_nothing_is_known_says_why(
    size: str, snapshot: SnapshotAssertion, tmp_path: Path
) -> None:
    views = [replace(view, link=replace(view.link, name=name)) for name, view in NOTHING_KNOWN.items()]
    async with album(snapshot, tmp_path, *views, size=size) as it:
        for name in NOTHING_KNOWN:
            await it.picture(name)
            await it.press("right_parenthesis")


async def test_the_forms_look_as_they_did(snapshot: SnapshotAssertion, tmp_path: Path) -> None:
    async with album(snapshot, tmp_path, kernel(), size="80x24") as it:
        await it.picture("propose", "j", "P", "tab", "tab", "tab", *"too short")
        await it.picture("record", "escape", "R")
        await it.picture("auto tick", "escape", "B")
        await it.picture("deposit", "escape", "D", *"need")
        await it.picture("calm down", "escape", "C")
        await it.press("escape")
        await it.panes(["Offers"])
        await it.picture("offer", "enter")
        await it.picture("offer in doubt", "escape", "G", "enter")
        await it.picture("dismissed", "escape", "X")


@pytest.mark.parametrize("name", [theme.PLAIN, theme.SIXTEEN, "colonizer-light", "colonizer-contrast"])
async def test_the_panes_are_complete_in_every_theme(name: str, snapshot: SnapshotAssertion, tmp_path: Path) -> None:
    is_plain = name == theme.PLAIN
    size = "80x24" if is_plain else "120x30"
    async with album(snapshot, tmp_path, kernel(), size=size, theme=name, ascii=is_plain) as it:
        await it.panes(PANES if is_plain else PANES[:3])


async def test_ten_thousand_places_fill_the_screen(snapshot: SnapshotAssertion, tmp_path: Path) -> None:
    async with album(snapshot, tmp_path, kernel(many_places(10_000)), size="200x60") as it:
        await it.picture("far down", "pagedown", "pagedown")
