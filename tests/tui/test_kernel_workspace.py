"""The kernel workspace, driven by keys: what each does, and what it asks the client layer for."""

import asyncio
import json
from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest
from msgspec.structs import replace
from textual import events
from textual.pilot import Pilot

from colonizer_client.errors import ClientError, NoReply
from colonizer_client.identity import EndpointName
from colonizer_client.kernel.desk import Kernels
from colonizer_client.kernel.models import (
    Calmed,
    Decision,
    DepositOrder,
    Finding,
    OutcomeOrder,
    PlanReview,
    ProposalOrder,
    PruningReport,
    Recorded,
    SignalType,
    Status,
    Trace,
    Verdict,
)
from colonizer_client.kernel.offer_desk import OfferDesk
from colonizer_client.kernel.recording import Acceptance
from colonizer_client.kernel.view import KernelView
from colonizer_client.snapshot import KernelChanged, OffersChanged
from colonizer_tui.app import CockpitApp
from colonizer_tui.widgets.tab_rows import TabRows
from kernel_moments import (
    ASKED,
    ASKED_AGAIN,
    OFFERS,
    PLACES,
    PRUNING,
    TICK,
    VERDICTS,
    blank,
    by_name,
    cell,
    kernel,
    kernels,
    many_places,
    place,
    remote,
    silent,
    status,
)
from kernel_moments import name as name_of
from moments import StillClock, still_app
from real_engine import screen_text, until

pytestmark = pytest.mark.anyio

NO_SUCH = "the kernel does not answer: it took too long"


class SteppedClock(StillClock):
    """A clock that waits until it is told to go on."""

    def __init__(self) -> None:
        super().__init__()
        self.steps: asyncio.Queue[None] = asyncio.Queue()
        self.waited: list[float] = []

    async def sleep(self, seconds: float) -> None:
        self.waited.append(seconds)
        await self.steps.get()


class SpokenTo(Kernels):
    """Kernels that note what is asked of them, and answer what they are told to."""

    def __init__(self, app: CockpitApp) -> None:
        cockpit = app.cockpit
        super().__init__(cockpit.hub.post, lambda: cockpit.store, cockpit.clock)
        self.said: list[object] = []
        self.failure: ClientError | None = None
        self.review = PlanReview((), 0.0, Decision.EXECUTE, "PASS")

    def watch(self, name: EndpointName) -> None:
        self.said.append(("watch", name))

    def unwatch(self, name: EndpointName) -> None:
        self.said.append(("unwatch", name))

    def reconnect(self, name: EndpointName) -> None:
        self.said.append(("reconnect", name))

    def agree(self, name: EndpointName) -> None:
        self.said.append(("agree", name))

    def sample_first(self, name: EndpointName, places: Sequence[str]) -> None:
        self.said.append(("sample", name, *places))

    async def propose(self, name: EndpointName, order: ProposalOrder) -> Verdict:
        self._say(name, order)
        return VERDICTS[3]

    async def record(self, name: EndpointName, order: OutcomeOrder) -> Recorded:
        self._say(name, order)
        return Recorded("c-1", 0.45, "memory_ant")

    async def tick(self, name: EndpointName) -> Status:
        self._say(name, "tick")
        return status(tick=TICK + 1)

    async def prune(self, name: EndpointName) -> PruningReport:
        self._say(name, "prune")
        return PRUNING

    async def deposit(self, name: EndpointName, order: DepositOrder) -> Trace | None:
        self._say(name, order)
        return Trace(name_of(order.place), order.signal, 2.0, order.decay, "operator", {}, None)

    async def calm_down(self, name: EndpointName, reason: str) -> Calmed:
        self._say(name, ("calm down", reason))
        return Calmed(TICK, 12)

    async def falsify(self, name: EndpointName, plan: Mapping[str, object]) -> PlanReview:
        self._say(name, dict(plan))
        return self.review

    async def query(self, name: EndpointName, place: str, signal: SignalType) -> Trace | None:
        self._say(name, (place, signal))
        return None

    def _say(self, name: EndpointName, what: object) -> None:
        self.said.append((name, what))
        if self.failure is not None:
            raise self.failure


@dataclass
class Visit:
    """Somebody who has the kernel workspace before them."""

    app: CockpitApp
    pilot: Pilot[None]
    kernels: SpokenTo

    async def press(self, *keys: str) -> None:
        for key in keys:
            await self.app.on_event(events.Key(key, key if len(key) == 1 else None))
        await self.pilot.pause(0)

    async def type(self, text: str) -> None:
        await self.app.on_event(events.Paste(text))
        await self.pilot.pause(0)

    async def sees(self, *texts: str) -> None:
        await until(self.pilot, lambda: all(text in self.words for text in texts))

    async def change(self, *views: KernelView) -> None:
        for view in views:
            self.app.cockpit.hub.post(KernelChanged(view))
        wanted = views[-1]
        await until(self.pilot, lambda: self.app.deck.view.snapshot.kernels.get(wanted.name) is wanted)

    async def asked(self, what: object) -> None:
        await until(self.pilot, lambda: what in self.kernels.said)

    @property
    def screen(self) -> str:
        return screen_text(self.pilot)

    @property
    def words(self) -> str:
        return " ".join(self.screen.split())


@asynccontextmanager
async def visit(
    folder: Path, *views: KernelView, size: tuple[int, int] = (120, 30), clock: StillClock | None = None
) -> AsyncGenerator[Visit]:
    app = still_app(folder, kernels(*views))
    if clock is not None:
        app.cockpit.clock = clock
    app.cockpit.kernels = spoken = SpokenTo(app)
    async with app.run_test(size=size, notifications=True) as pilot:
        await until(pilot, lambda: app.deck.is_complete.is_set() and app.deck.view.snapshot is app.cockpit.snapshot)
        it = Visit(app, pilot, spoken)
        await it.press("4")
        await pilot.pause()
        yield it


class OfferedTo(OfferDesk):
    """Offers that note what becomes of them."""

    def __init__(self, app: CockpitApp) -> None:
        cockpit = app.cockpit
        super().__init__(cockpit.hub, cockpit.kernels, lambda: cockpit.store, cockpit.clock)
        self.said: list[object] = []
        self.failure: ClientError | None = None

    async def accept(self, offer_id: str, word: Acceptance) -> Recorded:
        self.said.append((offer_id, word))
        if self.failure is not None:
            raise self.failure
        return Recorded("c-1", 0.45, "memory_ant")

    def dismiss(self, offer_id: str) -> None:
        self.said.append((offer_id, "dismissed"))


async def test_what_colonies_came_to_is_recorded_or_dismissed_as_the_person_says(tmp_path: Path) -> None:
    async with visit(tmp_path, kernel(), remote()) as it:
        it.app.cockpit.offers = offers = OfferedTo(it.app)
        it.app.deck.kernel.bring(it.app.deck.kernel.panes.offers)
        await it.sees('bridge = "local" under [kernel]')
        it.app.cockpit.hub.post(OffersChanged(OFFERS, EndpointName("local")))
        await it.sees("Offers 4", "colony c0ffee04 merged: Greet people by name", "passed")
        await it.press("enter")
        await it.sees("Record what a colony came to in local", "yes")
        offers.failure = NoReply(NO_SUCH)
        await it.press("ctrl+s")
        await it.sees(NO_SUCH)
        offers.failure = None
        await it.press("ctrl+s")
        await it.sees("claude has trust 0.45 now and is memory ant")
        assert offers.said == [("offer-4", Acceptance(passed=True))] * 2
        await it.press("j", "j", "enter")
        await it.sees("yes or no")
        await it.press("ctrl+s")
        await it.sees("still needed: passed")
        await it.type("no")
        await it.press("tab")
        await it.type("-0.5")
        await it.press("ctrl+s")
        await until(it.pilot, lambda: offers.said[2:] == [("offer-2", Acceptance(passed=False, feedback=-0.5))])
        await until(it.pilot, lambda: "Record what a colony came to" not in it.words)
        await it.press("j")
        await it.sees("nobody knows whether", "it took too long")
        await it.press("enter")
        await it.sees("Twice recorded it counts twice")
        await it.press("y")
        await it.sees("Record what a colony came to in local")
        await it.press("ctrl+s")
        await until(it.pilot, lambda: offers.said[3:] == [("offer-1", Acceptance(passed=False, again=True))])
        await until(it.pilot, lambda: "Record what a colony came to" not in it.words)
        await it.press("X")
        await it.sees("Dismiss this offer?", "colony c0ffee01 refused")
        await it.press("y")
        await until(it.pilot, lambda: offers.said[4:] == [("offer-1", "dismissed")])
        await it.press("right_parenthesis")
        await it.sees("How colonies end is offered to local")


async def test_a_person_leaves_traces_and_calms_down_where_the_kernel_is_ours(tmp_path: Path) -> None:
    async with visit(tmp_path, kernel(), remote()) as it:
        await it.press("j", "D")
        await it.sees("Leave a trace in local", "src/auth/login.py")
        await it.type("neeed")
        await it.sees("The signals: success, failure, risk")
        await it.press(*["backspace"] * 5)
        await it.sees("such as need, human_priority, risk")
        await it.type("human priority")
        await it.sees("human priority")
        await it.press("tab")
        await it.type("12")
        await it.press("ctrl+s")
        await it.sees("the strength has to be a number above 0, up to 10")
        await it.press("backspace", "tab")
        await it.type("slow")
        await it.press("ctrl+s")
        order = DepositOrder("src/auth/login.py", SignalType.HUMAN_PRIORITY, 1.0, 0.2)
        await it.asked(("local", order))
        await it.sees("human priority on src/auth/login.py: 2 now")
        await it.press("C")
        await it.sees("Calm down local", "Trust and history stay")
        await it.press("ctrl+s")
        await it.sees("still needed: reason")
        await it.type("too loud")
        await it.press("ctrl+s")
        await it.asked(("local", ("calm down", "too loud")))
        await it.sees("local is calm: 12 traces are gone")
        await it.press("right_parenthesis", "D")
        await it.sees("hive lets nobody do this from here")


async def test_only_the_kernel_in_front_is_watched(tmp_path: Path) -> None:
    async with visit(tmp_path, kernel(), remote()) as it:
        assert it.kernels.said == [("watch", "local")]
        await it.press("right_parenthesis")
        assert it.kernels.said[1:3] == [("unwatch", "local"), ("watch", "hive")]
        assert it.kernels.said[3] == ("sample", "hive", *it.app.deck.kernel.heatmap.in_sight)
        assert "src/auth/login.py" in it.app.deck.kernel.heatmap.in_sight
        await it.press("1")
        assert it.kernels.said[-1] == ("unwatch", "hive")
        await it.press("4", "left_parenthesis")
        assert it.kernels.said[-1] == ("watch", "local")


async def test_keys_walk_through_the_heatmap(tmp_path: Path) -> None:
    async with visit(tmp_path, kernel()) as it:
        await it.press("j")
        await it.sees("src/auth/login.py · hazard 6.4 ≥ 6 HOLD")
        await it.press("right", "right", "right")
        await it.sees("success 0.6 · gone in")
        await it.press("less_than_sign", "less_than_sign")
        await it.sees("tick 416, 2 before now", "esc now")
        await it.press("greater_than_sign", "escape")
        await it.sees("now, tick 418")
        await it.press("f")
        await it.sees("▸ src/auth/ 3")
        assert "login.py" not in it.screen
        await it.press("f", "F")
        await it.sees("▸ src/billing/ 3")
        await it.press("F", "t")
        await it.sees("by success", "the greatest success first")
        await it.press("slash")
        await it.type("hazard>3 tok")
        await it.press("enter")
        await it.sees("/ hazard>3 tok")
        assert "login.py" not in it.screen
        await it.press("escape")
        await it.sees("login.py")


async def test_in_the_heatmap_nothing_jumps_while_one_moves(tmp_path: Path) -> None:
    async with visit(tmp_path, kernel()) as it:
        await it.press("j", "j")
        before = it.screen.splitlines()[4:]
        hotter = place("src/billing/tax.py", failure=cell(9.5))
        await it.change(kernel([hotter if one.name == hotter.name else one for one in PLACES]))
        await it.sees("9.5▲")
        after = it.screen.splitlines()[4:]
        assert [row.split()[:1] for row in before] == [row.split()[:1] for row in after]
        await it.press("tab", "escape")
        heat = it.app.deck.kernel.heatmap
        await until(it.pilot, lambda: heat.keys[1] == "src/billing/tax.py")
        assert heat.selected == "src/auth/tokens.py"


async def test_of_ten_thousand_places_only_those_in_sight_are_drawn(tmp_path: Path) -> None:
    places = many_places(10_000)
    async with visit(tmp_path, kernel(places)) as it:
        pane = it.app.deck.kernel.heatmap
        drawn: list[object] = []
        row_line = pane.row_line

        def noting(key: object) -> object:
            drawn.append(key)
            return row_line(key)  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]

        pane.row_line = noting  # type: ignore[method-assign, assignment]  # pyright: ignore[reportAttributeAccessIssue]
        changed = by_name(place(one.name.raw, failure=cell(1.0)) for one in places[::20])
        await it.change(kernel(changed.get(one.name.raw, one) for one in places))
        await it.press("pagedown")
        assert 0 < len(drawn) < 20 * pane.page
        assert len(pane.keys) > 10_000


async def test_evidence_is_read_when_it_is_looked_at(tmp_path: Path) -> None:
    async with visit(tmp_path, kernel()) as it:
        await it.press("j", "v")
        await it.sees("left by", "agent-7", "absent")
        await it.asked(("local", ("src/auth/login.py", SignalType.FAILURE)))
        assert ("local", ("src/auth/login.py", SignalType.NEED)) not in it.kernels.said


async def test_a_proposal_to_the_embedded_kernel_goes_off_at_once_and_shows_its_verdict(tmp_path: Path) -> None:
    async with visit(tmp_path, kernel(verdicts=VERDICTS[:3])) as it:
        await it.press("j", "P")
        await it.type("agent-7")
        await it.press("tab")
        await it.type("patch_file")
        await it.press("tab")
        await it.sees("src/auth/login.py")
        await it.press("tab")
        await it.type("because")
        await it.sees("counts against it")
        await it.press("ctrl+s")
        await it.asked(("local", ProposalOrder("agent-7", "patch_file", "src/auth/login.py", "because", "", "{}")))
        await it.change(kernel())
        await it.sees("would execute if", "proposed from here")
        assert it.app.deck.kernel.pane.selected == VERDICTS[3].number


async def test_a_form_that_was_left_is_there_again(tmp_path: Path) -> None:
    async with visit(tmp_path, kernel()) as it:
        await it.press("R")
        await it.type("somebody")
        await it.press("escape", "R")
        await it.sees("somebody")


async def test_what_changes_a_shared_kernel_is_asked_once_more(tmp_path: Path) -> None:
    async with visit(tmp_path, remote()) as it:
        await it.press("j", "b")
        await it.sees("Tick it?", "hive is shared with whoever else uses https://hive.tailnet/mcp.")
        await it.press("escape")
        assert ("hive", "tick") not in it.kernels.said
        await it.press("b", "y")
        await it.asked(("hive", "tick"))
        await it.press("R")
        for text in ("agent-7", "patch_file", "", "it works", "yes"):
            await it.type(text)
            await it.press("tab")
        await it.press("ctrl+s")
        await it.sees("Record this outcome?", "tests passed")
        await it.press("escape")
        await it.sees("nothing was sent; what you typed is still here")
        await it.press("ctrl+s")
        await it.sees("Record this outcome?")
        await it.press("y")
        await it.asked(("hive", OutcomeOrder("agent-7", "patch_file", "src/auth/login.py", "it works", True, 0.0)))
        await it.sees("has trust 0.45 now")


async def test_a_call_whose_reply_is_lost_says_so_and_keeps_what_was_typed(tmp_path: Path) -> None:
    async with visit(tmp_path, kernel()) as it:
        it.kernels.failure = NoReply(NO_SUCH)
        await it.press("b")
        await it.sees(NO_SUCH)


async def test_ticking_by_itself_is_begun_knowingly_and_ended_by_the_same_key(tmp_path: Path) -> None:
    clock = SteppedClock()
    async with visit(tmp_path, kernel(), clock=clock) as it:
        await it.press("B")
        await it.sees("It changes what others see")
        await it.press("ctrl+s")
        await it.sees("ticks by itself every 10s")
        await until(it.pilot, lambda: clock.waited == [10.0])
        clock.steps.put_nowait(None)
        await it.asked(("local", "tick"))
        it.kernels.failure = NoReply(NO_SUCH)
        clock.steps.put_nowait(None)
        await it.sees("no longer ticks by itself", "took too long")
        it.kernels.failure = None
        await it.press("B", "ctrl+s")
        await it.sees("ticks by itself every 10s")
        await it.press("B")
        await it.sees("local no longer ticks by itself")


async def test_a_command_runs_only_after_its_exact_words_were_agreed_to(tmp_path: Path) -> None:
    async with visit(tmp_path, blank("hive", consent=ASKED), size=(80, 24)) as it:
        await it.sees("codomyrmex", "CODOMYRMEX_HOME", "a read it, agree")
        await it.press("enter", "y", "a", "escape")
        assert ("agree", "hive") not in it.kernels.said
        await it.press("a")
        await it.sees("y run it")
        await it.press("y")
        assert ("agree", "hive") in it.kernels.said


async def test_words_that_are_not_in_sight_or_have_changed_are_not_agreed_to(tmp_path: Path) -> None:
    long = replace(ASKED, command=tuple(f"word-{number}" for number in range(60)))
    async with visit(tmp_path, blank("hive", consent=long), size=(80, 24)) as it:
        await it.press("a")
        await it.sees("reads on")
        await it.press("y", "G")
        await it.sees("word-59", "reads on")  # what was jumped over was not in sight
        for key in ("g", *["pagedown"] * 5):
            await it.press(key)
            await it.pilot.pause()
        await it.sees("word-59", "y run it")
        await it.change(blank("hive", consent=ASKED_AGAIN))
        await it.press("y")
        await it.sees("its words have changed meanwhile")
        assert ("agree", "hive") not in it.kernels.said


async def test_a_plan_is_attacked_while_it_is_typed(tmp_path: Path) -> None:
    found = Finding("nothing says how to undo it", "no_rollback", "high", {}, "name the exact command")
    async with visit(tmp_path, kernel()) as it:
        it.kernels.review = PlanReview((found,), 0.45, Decision.HOLD, "FAIL", "", ())
        await it.press(*["tab"] * 7, "enter")
        await it.type("x4")
        await it.asked(("local", {"action_type": "x4"}))
        await it.press("escape")
        await it.sees("✗ no rollback", "name the exact command", "✓ scope creep", "0.45", "fail", "hold")
        it.kernels.failure = NoReply(NO_SUCH)
        await it.press("enter")
        await it.type("y")
        await it.sees(NO_SUCH, "✗ no rollback")
        await it.press("escape", "escape")
        assert it.app.deck.kernel.pane is it.app.deck.kernel.heatmap


async def test_the_pruning_report_is_made_and_written_into_new_files(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    async with visit(tmp_path, kernel(pruning=None)) as it:
        await it.press(*["tab"] * 6)
        await it.sees("No report was made yet.")
        await it.press("x", "r")
        await it.asked(("local", "prune"))
        await it.change(kernel())
        await it.sees("src/legacy/shim.py", "a person wants it")
        await it.press("x", "ctrl+s")
        await it.sees("written: ")
        stem = f"pruning-local-{TICK}"
        assert "| 0.90 | `src/legacy/shim.py`" in (tmp_path / f"{stem}.md").read_text()
        assert json.loads((tmp_path / f"{stem}.json").read_text())["total"] == 3
        await it.press("x", "ctrl+s")
        await it.sees("is there already")


async def test_a_warning_leads_to_what_it_is_about(tmp_path: Path) -> None:
    async with visit(tmp_path, kernel()) as it:
        deck = it.app.deck.kernel
        await it.press("shift+tab", "enter")
        assert (deck.pane, deck.pane.selected) == (deck.heatmap, "src/auth/tokens.py")
        await it.press("shift+tab", "j", "j", "enter")
        assert (deck.pane.TITLE, deck.pane.selected) == ("Agents", "new-agent")


async def test_a_silent_kernel_keeps_what_is_known_and_refuses_with_reasons(tmp_path: Path) -> None:
    async with visit(tmp_path, silent(kernel())) as it:
        await it.sees("it took too long · next try in 4 s", "as of 40s ago", "login.py")
        await it.press("b")
        await it.sees("local does not answer: it took too long")
        await it.press("r")
        assert ("reconnect", "local") in it.kernels.said


async def test_letters_and_clicks_go_to_kernels_and_panes(tmp_path: Path) -> None:
    async with visit(tmp_path, kernel(), remote()) as it:
        workspace = it.app.deck.kernel
        await it.pilot.click("#kernel-tabs", offset=(12, 1))
        assert workspace.pane.TITLE == "Gate log"
        await it.pilot.click("#kernel-tabs", offset=(10, 0))
        assert workspace.kernel is not None
        assert workspace.kernel.name == "hive"
        await it.press("ctrl+o")
        letters = it.app.query_one(TabRows).letters
        await it.press(letters["kernel", "local"])
        assert workspace.kernel.name == "local"
        await it.press("ctrl+o", letters["pane", "Budgets"])
        assert workspace.pane.TITLE == "Budgets"
