"""The terminal face: it shows moments of the hub in workspaces, and turns what the person wants into commands."""

import asyncio
import contextlib
from collections.abc import Callable, Coroutine, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from inspect import isawaitable
from pathlib import Path
from typing import TypeVar

from rich.text import Text
from textual.app import App, ComposeResult
from textual.filter import LineFilter
from textual.screen import Screen
from textual.timer import Timer
from textual.widget import Widget

from colonizer_client.answers import Chosen
from colonizer_client.cockpit import Cockpit
from colonizer_client.errors import ClientError, StoreError
from colonizer_client.identity import ColonyKey, EndpointName
from colonizer_client.mothership.models import Colony, OpenQuestion
from colonizer_client.outbox import Delivery
from colonizer_client.snapshot import Topics
from colonizer_config.settings import LOCAL
from colonizer_tui import crash, departure, intents, theme
from colonizer_tui.commands import ColonyCommands
from colonizer_tui.dialogs.help import Help
from colonizer_tui.dialogs.launch import LaunchDefaults
from colonizer_tui.dialogs.viewer import Viewer
from colonizer_tui.guard import ControlGuard
from colonizer_tui.keys import Keymap, keymap
from colonizer_tui.panes.card import CardPane
from colonizer_tui.present import abilities, card, endpoints, footer, header
from colonizer_tui.present.header import Tab
from colonizer_tui.present.states import Glyphs
from colonizer_tui.present.view import Inboxes, View
from colonizer_tui.widgets.ink import Ink
from colonizer_tui.widgets.lines import Lines
from colonizer_tui.workspaces.colony import ColonyWorkspace
from colonizer_tui.workspaces.connections import Connections
from colonizer_tui.workspaces.fleet import Fleet
from colonizer_tui.workspaces.needs_you import NeedsYou
from colonizer_tui.workspaces.workspace import Workspace

T = TypeVar("T")

REPAINT_S = 0.1
"""Data is drawn anew at most this often; a key's own effect at once."""

AGES_S = 1.0
"""How often ages are counted on where nothing else happens."""

FRESH_S = 1.0
"""How long after a change the shown colony's detail and diff are read anew."""

REST_S = 0.3
"""How long the cursor rests on a colony before its detail and diff are read."""

DIALOG_S = 1.0
"""How long keys wait for a dialog at most."""

SMALLEST = (40, 10)


@dataclass(frozen=True, slots=True)
class Surroundings:
    """What the application is told of the place where it runs."""

    repo: str = ""
    """The repository that the person stands in, `owner/name` as the local engine names it; empty for none."""
    repo_name: Callable[[], str] = lambda: ""
    """The same, asked for later: the engine may have to start first."""
    agents: Sequence[str] = ()
    """The agents of the local engine, the default first."""
    agent_env: Callable[[str], dict[str, str]] = lambda agent: {}
    default_endpoint: EndpointName = LOCAL
    keys: Mapping[str, str] = field(default_factory=dict[str, str])
    theme: str = theme.DEFAULT_THEME
    ascii: bool = False
    crash_folder: Path = Path("/tmp")
    """Where a fault of our own is written down."""
    problems: Sequence[str] = ()
    """What is wrong with the settings, in words."""


class CockpitApp(App[None]):
    """Header, one workspace, footer."""

    CSS = """
    Screen { background: $background; color: $foreground; }
    ModalScreen { background: $background 70%; }
    #header, #footer { height: 1; background: $panel; }
    #body { height: 1fr; }
    #too-small { display: none; }
    Screen.small #header, Screen.small #body, Screen.small #footer { display: none; }
    Screen.small #too-small { display: block; }
    Workspace { display: none; }
    Workspace.shown { display: block; }
    Toast { background: $panel; color: $foreground; }
    ToastRack { align: right bottom; margin-bottom: 1; }
    """

    ENABLE_COMMAND_PALETTE = False
    TITLE = "colonizer"

    def __init__(self, cockpit: Cockpit, surroundings: Surroundings) -> None:
        super().__init__(ansi_color=surroundings.theme == theme.PLAIN)
        self.cockpit = cockpit
        self.surroundings = surroundings
        self.keymap: Keymap = keymap(surroundings.keys)
        self._commands = ColonyCommands(cockpit, self)
        self._subscription = cockpit.subscribe()
        self._inboxes = Inboxes()
        self._view = View()
        self._opened: ColonyKey | None = None
        self._followed: set[ColonyKey] = set()
        self._told: set[str] = set()
        self._guard = ControlGuard()
        self._keys_may_go_on = asyncio.Event()
        for made in theme.themes():
            self.register_theme(made)
        self.theme = surroundings.theme if surroundings.theme in self.available_themes else theme.DEFAULT_THEME
        for action in self.keymap.actions.values():
            for key in action.keys:
                self._bindings.bind(key, f"act('{action.name}')", show=False, priority=action.name == "quit")

    @property
    def ink(self) -> Ink:
        """With what lines are drawn."""
        return Ink(self.theme, Glyphs(self.surroundings.ascii))

    def get_line_filters(self) -> Sequence[LineFilter]:
        """The last wall before the terminal comes last."""
        return [*super().get_line_filters(), self._guard]

    def compose(self) -> ComposeResult:
        """The frame and the workspaces."""
        yield Lines(id="header")
        yield Fleet(id="fleet")
        yield NeedsYou(id="needs_you")
        yield ColonyWorkspace(id="colony")
        yield Connections(id="connections")
        yield Lines(id="footer")
        yield Lines(id="too-small")

    def on_mount(self) -> None:
        """Starts the client layer and the repainting."""
        for name in ("header", "footer"):
            self.query_one(f"#{name}", Lines).ground = "panel"
        self.go_to("fleet")
        self.run_worker(self.cockpit.run(), name="cockpit", exit_on_error=True)
        if not self.is_headless:
            departure.watch(self)
        self.set_interval(REPAINT_S, self._tick)
        self.set_interval(AGES_S, self._count_ages)
        for problem in (*self.surroundings.problems, *self.keymap.problems):
            self.tell(problem, is_bad=True)
        if self.cockpit.store_error:
            self.tell(f"drafts are not kept and nothing can be sent: {self.cockpit.store_error}", is_bad=True)

    @property
    def workspace(self) -> Workspace:
        """The workspace in front."""
        return self.query_one("Workspace.shown", Workspace)

    def go_to(self, name: str) -> None:
        """Brings a workspace to the front."""
        for workspace in self.query(Workspace):
            workspace.set_class(workspace.id == name, "shown")
        self.workspace.focus_first()
        self.call_after_refresh(self._show_all)

    async def action_act(self, name: str) -> None:
        """Does what a key means: the focused widget first, then outwards to the application."""
        start: Widget | None = self.focused
        chain: list[object] = [] if start is None else list(start.ancestors_with_self)
        if len(self.screen_stack) == 1:  # a dialog keeps its keys to itself
            chain += [self.workspace]
        if len(self.screen_stack) == 1 or name == "quit":
            chain += [self]
        for node in chain:
            doing = getattr(node, f"do_{name}", None)
            if doing is not None:
                result = doing()
                if isawaitable(result):
                    await result
                break
        self._show_frame()

    # What keys do wherever they are pressed.

    def do_fleet(self) -> None:
        """All colonies."""
        self.go_to("fleet")

    def do_needs_you(self) -> None:
        """The inbox."""
        self.go_to("needs_you")

    def do_colony(self) -> None:
        """The opened colony; where none was opened, the selected one."""
        opened = self.query_one(ColonyWorkspace).colony
        selected = self.workspace.colony
        if opened is None and selected is not None:
            self.on_colony_opened(intents.ColonyOpened(selected))
        else:
            self.go_to("colony")

    def do_connections(self) -> None:
        """The hosts."""
        self.go_to("connections")

    def do_next_pane(self) -> None:
        """The next pane."""
        self.screen.focus_next()

    def do_previous_pane(self) -> None:
        """The previous pane."""
        self.screen.focus_previous()

    def do_back(self) -> None:
        """From the opened colony to where it was opened."""
        if self.workspace.id != "fleet":
            self.go_to(self._came_from if self.workspace.id == "colony" else "fleet")

    def do_next_need(self) -> None:
        """The next colony that needs the person."""
        self._go_to_need(1)

    def do_previous_need(self) -> None:
        """The previous colony that needs the person."""
        self._go_to_need(-1)

    def do_answer(self) -> None:
        """Opens the card in place; from the opened colony, in Needs you."""
        colony = self._allowed("answer")
        if colony is None:
            return
        place = self.workspace
        if not isinstance(place, Fleet | NeedsYou):
            place = self.query_one(NeedsYou)
            self.go_to("needs_you")
            place.show(self._view, Topics())
            place.list.select(colony.key)
        place.open_card()

    def do_message(self) -> None:
        """Opens the colony at its message line."""
        colony = self._allowed("message")
        if colony is not None:
            self.on_colony_opened(intents.ColonyOpened(colony.key))
            self.query_one(ColonyWorkspace).do_message()

    def do_diff(self) -> None:
        """Opens the colony at its changes."""
        colony = self._allowed("diff")
        if colony is not None:
            self.on_colony_opened(intents.ColonyOpened(colony.key, "diff"))

    async def do_stop(self) -> None:
        """Stops the colony."""
        colony = self._allowed("stop")
        if colony is not None:
            await self._begin(self._commands.stop(colony))

    def do_resume(self) -> None:
        """Resumes the colony."""
        colony = self._allowed("resume")
        if colony is not None:
            self.run_worker(self._commands.resume(colony))

    def do_interrupt(self) -> None:
        """Interrupts the agent's turn."""
        colony = self._allowed("interrupt")
        if colony is not None:
            self.run_worker(self._commands.interrupt(colony))

    async def do_clean_up(self) -> None:
        """Removes the colony's worktree."""
        colony = self._allowed("clean_up")
        if colony is not None:
            await self._begin(self._commands.clean_up(colony))

    async def do_colonize(self) -> None:
        """Launches a colony."""
        name = self.surroundings.default_endpoint
        refusal = abilities.host_refusal("colonize", self._view.snapshot.endpoints.get(name))
        if refusal:
            self.tell(refusal, is_bad=True)
        else:
            await self._begin(self._launch(name))

    async def do_help(self) -> None:
        """All keys."""
        await self.push_screen(Help(self.keymap, self.workspace.hints()))

    def do_suspend(self) -> None:
        """Gives the terminal back to the shell until `fg`."""
        self.action_suspend_process()

    def do_quit(self) -> None:
        """Leaves; what was typed is kept, colonies go on."""
        self.store_drafts()
        self.exit()

    def store_drafts(self) -> None:
        """Keeps everything that was typed a moment ago."""
        for pane in self.query(CardPane):
            pane.store_draft()
        self.query_one(ColonyWorkspace).store_draft()

    # What the panes want.

    def on_colony_selected(self, event: intents.ColonySelected) -> None:
        """Reads the detail of a colony on which the cursor rests."""
        event.stop()
        key = event.key
        self.set_timer(REST_S, lambda: self._rested_on(key))
        self.call_later(self._show_all)

    def on_colony_opened(self, event: intents.ColonyOpened) -> None:
        """Shows a colony whole."""
        event.stop()
        if self.workspace.id != "colony":
            self._came_from = self.workspace.id or "fleet"
        self._opened = event.key
        self._follow()
        workspace = self.query_one(ColonyWorkspace)
        self.go_to("colony")
        workspace.open(event)
        self.run_worker(self.cockpit.read_diff(event.key))
        colony = self._view.snapshot.colonies.get(event.key)
        if colony is not None and colony.unseen_failure:
            self.run_worker(self._quietly(self.cockpit.mark_seen, event.key))
        if colony is not None and colony.suspended and not colony.answered_while_suspended:
            self.run_worker(self._quietly(self.cockpit.prewarm, event.key))

    def on_card_sent(self, event: intents.CardSent) -> None:
        """Sends an answer: stored first, then on its way."""
        event.stop()
        if self.keep_card_draft(event.key, event.question, event.chosen):
            self._try(lambda: self.cockpit.answer(event.key, event.question, event.chosen))
        self._tick()

    def on_message_sent(self, event: intents.MessageSent) -> None:
        """Sends a message: stored first, then on its way."""
        event.stop()
        if self._try(lambda: self.cockpit.say(event.key, event.text)):
            self.query_one(ColonyWorkspace).sent()
            self.keep_message_draft(event.key, "")
        self._tick()

    def on_older_wanted(self, event: intents.OlderWanted) -> None:
        """Reads older events."""
        event.stop()
        self.run_worker(self._quietly(self.cockpit.load_older, event.key))

    async def on_text_viewed(self, event: intents.TextViewed) -> None:
        """Shows a whole text."""
        event.stop()
        await self.push_screen(Viewer(event.title, event.text))

    def on_reconnect_wanted(self, event: intents.ReconnectWanted) -> None:
        """Tries a connection again at once."""
        event.stop()
        self._try(lambda: self.cockpit.reconnect(event.endpoint))

    def on_refused(self, event: intents.Refused) -> None:
        """Says why a key does nothing."""
        event.stop()
        self.tell(event.reason)

    def on_resize(self) -> None:
        """Below the smallest size one line says so."""
        small = self.size.width < SMALLEST[0] or self.size.height < SMALLEST[1]
        self.screen.set_class(small, "small")
        self.query_one("#too-small", Lines).set_lines([header.too_small(self.size.width)])
        self.call_after_refresh(self._show_all)

    # What the panes and commands ask for.

    def card_draft(self, key: ColonyKey, question: OpenQuestion) -> tuple[Chosen, ...]:
        """What was chosen and typed in this card before."""
        try:
            return self.cockpit.drafts.card(key, question)
        except StoreError:
            return tuple(Chosen() for _ in range(max(len(question.prompts), 1)))

    def message_draft(self, key: ColonyKey) -> str:
        """What was typed to this colony before."""
        try:
            return self.cockpit.drafts.message(key)
        except StoreError:
            return ""

    def keep_card_draft(self, key: ColonyKey, question: OpenQuestion, chosen: Sequence[Chosen]) -> bool:
        """Keeps what is chosen and typed in this card."""
        return self._try(lambda: self.cockpit.drafts.keep_card(key, question, chosen))

    def keep_message_draft(self, key: ColonyKey, text: str) -> bool:
        """Keeps what is typed to this colony."""
        return self._try(lambda: self.cockpit.drafts.keep_message(key, text))

    async def ask(self, dialog: Screen[T], /) -> T | None:
        """The dialog's result, None when it was left."""
        result: asyncio.Future[T | None] = asyncio.get_running_loop().create_future()
        await self.push_screen(dialog, lambda given: None if result.done() else result.set_result(given))
        self._keys_may_go_on.set()
        return await result

    def tell(self, words: str, *, is_bad: bool = False) -> None:
        """Shows words for a while."""
        self.notify(words, severity="error" if is_bad else "information", markup=False, timeout=8 if is_bad else 4)

    def agent_env(self, agent: str) -> dict[str, str]:
        """The values of the variables that an agent of the local engine needs."""
        return self.surroundings.agent_env(agent)

    def _fatal_error(self) -> None:
        """Textual's last step after an unforeseen exception. Its own prints values of variables, raw."""
        if self._exit_renderables:
            return  # faults come in company; the first one tells
        error = self._exception or RuntimeError("unknown")
        path = crash.record(error, self.surroundings.crash_folder)
        self._exit_renderables.append(Text(crash.words(error, path)))
        self._close_messages_no_wait()

    async def _begin(self, command: Coroutine[object, object, None]) -> None:
        """Starts a command that begins with a dialog, and waits until the dialog has the keys.

        Until then the next keys wait too: what is typed ahead is meant for the dialog.
        """
        self._keys_may_go_on.clear()

        async def run() -> None:
            try:
                await command
            finally:
                self._keys_may_go_on.set()

        self.run_worker(run())
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(DIALOG_S):
                await self._keys_may_go_on.wait()

    # Drawing.

    _came_from = "fleet"
    _fresh_timer: Timer | None = None

    def _tick(self) -> None:
        """Draws what changed since the last time."""
        snapshot, topics = self._subscription.take()
        if not topics:
            return
        self._view = self._inboxes.view(snapshot, topics, self.cockpit.clock.now())
        self._tell_fates(topics)
        self._show(topics)
        key = self.workspace.colony
        if key is not None and key in topics.colonies:
            self._keep_fresh(key)

    def _count_ages(self) -> None:
        """Lets the ages go on where nothing happened."""
        self._view = View(self._view.snapshot, self.cockpit.clock.now(), self._view.needs, self._view.needs_of)
        self._show(Topics())

    def _show_all(self) -> None:
        if self.is_running:
            self._show(Topics())

    def _show(self, topics: Topics) -> None:
        self.workspace.show(self._view, topics)
        if self.focused is None and len(self.screen_stack) == 1:
            self.workspace.focus_first()  # what should have the keys was not there before
        self._show_frame()

    def _show_frame(self) -> None:
        needs = header.needs_count(self._view)
        tabs = [
            Tab(self.keymap.shown(name), title, self.workspace.id == name, needs if name == "needs_you" else 0)
            for name, title in (
                ("fleet", "Fleet"),
                ("needs_you", "Needs you"),
                ("colony", "Colony"),
                ("connections", "Connections"),
            )
        ]
        line = header.header(tabs, self._view, self.size.width, self.ink.glyphs)
        self.query_one("#header", Lines).set_lines([line])
        hints = [(self.keymap.actions[name], self._why_not(name)) for name in self.workspace.hints()]
        self.query_one("#footer", Lines).set_lines([footer.footer(hints, self.keymap, self.size.width)])

    # Smaller parts.

    def _selected(self) -> Colony | None:
        key = self.workspace.colony
        return None if key is None else self._view.snapshot.colonies.get(key)

    def _why_not(self, action: str) -> str:
        if self.workspace.id == "connections":
            return ""
        colony = self._selected()
        if action not in abilities.ACTIONS:
            return ""
        if colony is None:
            return "no colony is selected"
        snapshot = self._view.snapshot
        return abilities.refusal(action, colony, snapshot.endpoint_of(colony.key), snapshot.questions.get(colony.key))

    def _allowed(self, action: str) -> Colony | None:
        """The selected colony if the action is possible on it; else the person is told why not."""
        reason = self._why_not(action)
        if reason:
            self.tell(reason)
            return None
        return self._selected()

    def _go_to_need(self, step: int) -> None:
        keys = [need.colony.key for need in self._view.needs]
        if not keys:
            self.tell("nothing needs you")
            return
        here = self.workspace.colony
        place = keys.index(here) + step if here is not None and here in keys else (0 if step > 0 else -1)
        key = keys[place % len(keys)]
        match self.workspace:
            case Fleet() as fleet:
                fleet.list.select(key)
            case NeedsYou() as inbox:
                inbox.list.select(key)
            case _:
                self.on_colony_opened(intents.ColonyOpened(key))

    def _rested_on(self, key: ColonyKey) -> None:
        if self.workspace.colony == key:
            self._read(key)
            self._follow()

    def _follow(self) -> None:
        """Follows the logs that are on the screen, and lets go of the others."""
        fleet = self.query_one(Fleet)
        peeked = fleet.colony if fleet.peeks and self.workspace is fleet else None
        wanted = {key for key in (self._opened, peeked) if key is not None}
        for key in self._followed - wanted:
            self._try(partial(self.cockpit.close, key))
        for key in wanted - self._followed:
            self._try(partial(self.cockpit.open, key))
        self._followed = wanted

    def _keep_fresh(self, key: ColonyKey) -> None:
        """Reads anew what is shown of a colony that changed, but not more often than a person reads."""
        if self._fresh_timer is None:
            self._fresh_timer = self.set_timer(FRESH_S, lambda: self._read_changed(key))

    def _read_changed(self, key: ColonyKey) -> None:
        self._fresh_timer = None
        if self.workspace.colony == key:
            self._read(key)

    def _read(self, key: ColonyKey) -> None:
        colony = self._view.snapshot.colonies.get(key)
        if colony is None:
            return
        self.run_worker(self._quietly(self.cockpit.read_detail, key))
        if colony.has_worktree and not colony.cleaned_up:
            self.run_worker(self.cockpit.read_diff(key))

    def _tell_fates(self, topics: Topics) -> None:
        for delivery_id in topics.deliveries:
            delivery = self._view.snapshot.deliveries.get(delivery_id)
            if delivery is not None and delivery.is_settled and delivery_id not in self._told:
                self._told.add(delivery_id)
                self._tell_fate(delivery)

    def _tell_fate(self, delivery: Delivery) -> None:
        colony = self._view.snapshot.colonies.get(delivery.key)
        name = str(delivery.key) if colony is None else colony.title
        words = "".join(piece.text for piece in card.delivery_words(delivery))
        if delivery.kind == "answer" and delivery.state == "confirmed":
            self._forget_draft(delivery)
        if delivery.kind == "answer" or delivery.state != "confirmed":
            self.tell(f"{words} · {name}", is_bad=delivery.state != "confirmed")

    def _forget_draft(self, delivery: Delivery) -> None:
        self._try(lambda: self.cockpit.drafts.forget_card(delivery.key, delivery.fingerprint))

    async def _launch(self, name: EndpointName) -> None:
        state = self._view.snapshot.endpoints[name]
        notes: list[str] = []
        if state.is_local:
            notes = [
                "It starts from the branch that is checked out now. Uncommitted work of yours is not in its worktree.",
                endpoints.confinement(state),
            ]
        repo = self.surroundings.repo_name() or self.surroundings.repo
        agents = self.surroundings.agents if state.is_local else ()
        defaults = LaunchDefaults(name, repo, "", agents, state.is_local, [note for note in notes if note])
        key = await self._commands.launch(defaults)
        if key is not None:
            self._tick()
            fleet = self.query_one(Fleet)
            fleet.list.reorder(now=True)
            fleet.list.select(key)

    async def _quietly(self, doing: "Callable[[ColonyKey], object]", key: ColonyKey) -> None:
        """Does what the person did not ask for: its failure is not worth their attention."""
        try:
            result = doing(key)
            if isawaitable(result):
                await result
        except ClientError:
            pass

    def _try(self, doing: Callable[[], object]) -> bool:
        """Whether it was done; the person is told why it was not."""
        try:
            doing()
        except ClientError as problem:
            self.tell(str(problem), is_bad=True)
            return False
        return True
