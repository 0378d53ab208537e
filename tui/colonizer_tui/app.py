"""The terminal face: it shows moments of the hub, and turns what the person wants into commands."""

import asyncio
import contextlib
import shutil
from collections.abc import Callable, Coroutine, Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, TypeVar

from msgspec.structs import replace
from rich.text import Text
from textual import events
from textual.app import App, ComposeResult
from textual.filter import LineFilter
from textual.geometry import Size
from textual.notifications import SeverityLevel
from textual.screen import Screen
from textual.widget import Widget
from textual.widgets import Input, TextArea
from textual.worker import Worker

from colonizer_client.answers import Chosen
from colonizer_client.approvals.models import Approval
from colonizer_client.cockpit import Cockpit
from colonizer_client.errors import ClientError, StoreError
from colonizer_client.identity import ColonyKey, EndpointName
from colonizer_client.kernel.bridge import Offer
from colonizer_client.kernel.view import KernelView
from colonizer_client.mothership.models import OpenQuestion
from colonizer_client.snapshot import Topics
from colonizer_tui import crash, departure, intents, theme
from colonizer_tui.colony_keys import ColonyKeys
from colonizer_tui.deck import Deck
from colonizer_tui.dialogs.help import Help
from colonizer_tui.dialogs.viewer import Viewer
from colonizer_tui.fates import Fates
from colonizer_tui.finding_keys import FindingKeys
from colonizer_tui.guard import ControlGuard
from colonizer_tui.handover import Handover
from colonizer_tui.host_keys import HostKeys
from colonizer_tui.keyboard import Keyboard
from colonizer_tui.keys import keymap
from colonizer_tui.panes.card import CardPane
from colonizer_tui.present.links import Link
from colonizer_tui.present.states import Glyphs
from colonizer_tui.present.view import Digests
from colonizer_tui.reading import Reading
from colonizer_tui.surroundings import Surroundings
from colonizer_tui.widgets.ink import Ink

if TYPE_CHECKING:
    from colonizer_tui.approval_commands import ApprovalCommands
    from colonizer_tui.kernel_keys import KernelKeys
    from colonizer_tui.kernel_reading import KernelReading

T = TypeVar("T")

_SEVERITIES: Mapping[intents.Tone, SeverityLevel] = {"news": "information", "refusal": "warning", "fault": "error"}

REPAINT_S = 0.1
"""Data is drawn anew at most this often; a key's own effect at once."""

AGES_S = 1.0
"""How often ages are counted on where nothing else happens."""

DIALOG_S = 1.0
"""How long keys wait for a dialog at most."""


class CockpitApp(App[None]):
    """Wires the deck, the keys and the client layer to each other."""

    CSS = """
    Screen { background: $background; color: $foreground; }
    ModalScreen { background: $background 70%; }
    Toast { background: $panel; color: $foreground; }
    ToastRack { align: right bottom; margin-bottom: 1; }
    """

    AUTO_FOCUS = None
    ENABLE_COMMAND_PALETTE = False
    TITLE = "colonizer"

    def __init__(self, cockpit: Cockpit, surroundings: Surroundings) -> None:
        super().__init__(ansi_color=surroundings.theme in theme.FOR_TERMINAL)
        self.cockpit = cockpit
        self.surroundings = surroundings
        self.keymap = keymap(surroundings.keys)
        self.deck = Deck(self.keymap, surroundings.default_endpoint)
        self._colony_keys = ColonyKeys(self.deck, cockpit, self)
        self._host_keys = HostKeys(self.deck, cockpit, self, lambda action: self.keymap.shown(action))
        self._finding_keys = FindingKeys(self.deck, self, lambda: self._keyboard)
        self._reading = Reading(self.deck, cockpit, self)
        self._fates = Fates(cockpit, self)
        self._handover = Handover(self)
        self._subscription = cockpit.subscribe()
        self._digests = Digests()
        self._guard = ControlGuard(ascii=surroundings.ascii)
        self._keys_may_go_on = asyncio.Event()
        for made in theme.themes():
            self.register_theme(made)
        self._theme_problem = self._choose_theme()
        self._keyboard = self._make_keyboard()

    @cached_property
    def _approval_commands(self) -> "ApprovalCommands":
        from colonizer_tui.approval_commands import ApprovalCommands

        return ApprovalCommands(self.cockpit, self)

    @cached_property
    def _kernel_keys(self) -> "KernelKeys":
        from colonizer_tui.kernel_keys import KernelKeys

        return KernelKeys(self.deck, self.cockpit, self)

    @cached_property
    def _kernel_reading(self) -> "KernelReading":
        from colonizer_tui.kernel_reading import KernelReading

        return KernelReading(self.deck, self.cockpit, self)

    @property
    def ink(self) -> Ink:
        """With what lines are drawn."""
        return Ink(self.theme, Glyphs(self.surroundings.ascii))

    def get_line_filters(self) -> Sequence[LineFilter]:
        """The last wall before the terminal comes last."""
        return [*super().get_line_filters(), self._guard]

    def compose(self) -> ComposeResult:
        """The deck is everything."""
        yield self.deck

    def on_mount(self) -> None:
        """Starts the repainting, and the client layer after the first picture."""
        if not self.is_headless:
            departure.watch(self)
        self.watch(self.screen, "focused", self._show_cursor, init=False)
        self.call_after_refresh(self._begin_showing)
        self.set_interval(REPAINT_S, self._show_changes)
        self.set_interval(AGES_S, self._count_ages)
        self._tell_problems()
        if self.cockpit.store_error:
            self.tell(f"drafts are not kept and nothing can be sent: {self.cockpit.store_error}", tone="fault")

    async def on_event(self, event: events.Event) -> None:
        """Keys are taken one after the other, each to its end."""
        if isinstance(event, events.Key):
            await self.deck.is_complete.wait()
            if await self._take(event):
                self.deck.show_again()
                self._kernel_reading.follow()
                return
        if isinstance(event, events.Resize) and not self.is_headless and event.pixel_size is None:
            # Where the signal of another size interrupts the handler of the one before, Textual (8.2) tells the sizes
            # in the wrong order, and would go on with the older one.
            size = Size(*shutil.get_terminal_size())
            event = events.Resize(size, size)
        if isinstance(event, events.MouseDown | events.Resize) and self.deck.jump.is_on:
            self.deck.jump.end()
        await super().on_event(event)

    async def _take(self, event: events.Key) -> bool:
        if self.deck.jump.is_on:
            self.deck.jump.take(event)
            if not self._keyboard.means(event, "quit"):
                return True
        return await self._keyboard.take(event, self.screen)

    async def do_help(self) -> None:
        """All keys."""
        await self.push_screen(Help(self.keymap, self.deck.workspace.hints()))

    def do_suspend(self) -> None:
        """Gives the terminal back to the shell until `fg`."""
        self.store_drafts()
        self.action_suspend_process()

    def do_quit(self) -> None:
        """Leaves; what was typed is kept, colonies go on."""
        self.store_drafts()
        self.exit()

    async def action_quit(self) -> None:
        """Textual's own way out, which it binds to the same key."""
        self.do_quit()

    # What the panes want.

    def on_colony_selected(self, event: intents.ColonySelected) -> None:
        """Shows the colony under the cursor."""
        event.stop()
        self._reading.selected(event.key)
        self.call_later(self.deck.show_again)

    def on_card_sent(self, event: intents.CardSent) -> None:
        """Sends an answer: stored first, then on its way."""
        event.stop()
        if self.keep_card_draft(event.key, event.question, event.chosen):
            self.attempt(lambda: self.cockpit.answer(event.key, event.question, event.chosen))
        self._show_changes()

    def on_message_sent(self, event: intents.MessageSent) -> None:
        """Sends a message: stored first, then on its way."""
        event.stop()
        if self.attempt(lambda: self.cockpit.say(event.key, event.text)):
            self.deck.opened.sent()
            self.keep_message_draft(event.key, "")
        self._show_changes()

    def on_older_wanted(self, event: intents.OlderWanted) -> None:
        """Reads older events."""
        event.stop()
        self._reading.older(event.key)

    async def on_place_opened(self, event: intents.PlaceOpened) -> None:
        """Shows everything about a place of a kernel."""
        event.stop()
        await self._kernel_reading.open_place(event)

    async def on_text_viewed(self, event: intents.TextViewed) -> None:
        """Shows a whole text."""
        event.stop()
        await self.push_screen(Viewer(event.title, event.text))

    async def copy(self, copied: intents.Copied) -> None:
        """Copies a text."""
        await self._handover.copy(copied)

    async def browse(self, links: Sequence[Link]) -> None:
        """Opens one of these links in the browser, after asking."""
        await self._handover.browse(links)

    def on_reconnect_wanted(self, event: intents.ReconnectWanted) -> None:
        """Tries a connection again at once."""
        event.stop()
        self.attempt(lambda: self.cockpit.reconnect(event.endpoint))

    # The desk: what the panes have at once.

    def open_colony(self, key: ColonyKey, pane: str = "transcript") -> None:
        """Shows a colony whole."""
        self.deck.show_colony(key, pane)
        self._reading.opened(key)

    def attack_plan(self, kernel: EndpointName, plan: Mapping[str, object]) -> None:
        """Has a kernel attack a plan, and no longer the one before."""
        self._kernel_reading.attack(kernel, plan)

    async def decide(self, approval: Approval) -> None:
        """Shows a call of an agent whole, and takes the person's word on it."""
        await self.begin(self._approval_commands.decide(approval))

    async def record_offer(self, kernel: KernelView, offer: Offer) -> None:
        """Records what a colony came to in the kernel, after asking."""
        await self._kernel_keys.record_offer(kernel, offer)

    async def dismiss_offer(self, kernel: KernelView, offer: Offer) -> None:
        """Makes an offer no more, after asking."""
        await self._kernel_keys.dismiss_offer(kernel, offer)

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
        return self.attempt(lambda: self.cockpit.drafts.keep_card(key, question, chosen))

    def keep_message_draft(self, key: ColonyKey, text: str) -> bool:
        """Keeps what is typed to this colony."""
        return self.attempt(lambda: self.cockpit.drafts.keep_message(key, text))

    def store_drafts(self) -> None:
        """Keeps everything that was typed a moment ago."""
        for pane in self.query(CardPane):
            pane.store_draft()
        self.deck.opened.store_draft()

    # The face: what the parts ask for.

    async def ask(self, dialog: Screen[T], /) -> T | None:
        """The dialog's result, None when it was left."""
        self.watch(dialog, "focused", self._show_cursor, init=False)
        result: asyncio.Future[T | None] = asyncio.get_running_loop().create_future()
        await self.push_screen(dialog, lambda given: None if result.done() else result.set_result(given))
        self._keys_may_go_on.set()
        return await result

    async def open(self, dialog: Screen[None], /) -> None:
        """Opens a dialog that does its work itself, and waits until it has the keys."""
        below = self.screen
        self.watch(dialog, "focused", self._show_cursor, init=False)
        await self.push_screen(dialog, lambda _: self._show_cursor(below.focused))

    async def begin(self, command: Coroutine[object, object, None], /) -> None:
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

    def start(self, work: Callable[[], Coroutine[object, object, None]], /) -> None:
        """Starts work whose end nobody waits for, unless the application ends before its turn comes."""

        async def begun() -> None:
            await work()

        _: Worker[None] = self.run_worker(begun)

    def tell(self, words: str, *, tone: intents.Tone = "news") -> None:
        """Shows words for a while."""
        self.notify(words, severity=_SEVERITIES[tone], markup=False, timeout=4 if tone == "news" else 8)

    def attempt(self, doing: Callable[[], object], /) -> bool:
        """Whether it was done; the person is told why it was not."""
        try:
            doing()
        except ClientError as problem:
            self.tell(str(problem), tone="fault")
            return False
        return True

    def send_to_terminal(self, sequence: str) -> None:
        """Writes a control sequence of our own to the terminal."""
        if self._driver is not None and not self.is_headless and not self._exit:
            self._driver.write(sequence)
            self._driver.flush()

    def _show_cursor(self, focused: Widget | None) -> None:
        """A real cursor stands where the person types: Textual moves it there, but leaves it hidden."""
        self.send_to_terminal("\x1b[?25h" if isinstance(focused, Input | TextArea) else "\x1b[?25l")

    # Time.

    def _begin_showing(self) -> None:
        """Shows what is known; only then is the client layer started, whose libraries take a while to load."""
        self._show_changes()
        self.call_after_refresh(lambda: self.start(self.cockpit.run))

    def _show_changes(self) -> None:
        """Shows what changed since the last time."""
        snapshot, topics = self._subscription.take()
        if topics:
            view = self._digests.view(snapshot, topics, self.cockpit.clock.now())
            self._fates.changed(view, topics)
            self.deck.show(view, topics)
            self._reading.changed(topics)

    def _count_ages(self) -> None:
        """Lets the ages go on where nothing happened."""
        self.deck.show(replace(self.deck.view, now=self.cockpit.clock.now()), Topics())
        self._kernel_reading.follow()
        changed = self.surroundings.reread()
        if changed is not None:
            self._use(changed)

    # What the person has set.

    def _use(self, surroundings: Surroundings) -> None:
        """Goes on with other settings: theme, signs, keys, agents and the default host."""
        self.surroundings = surroundings
        self.keymap = keymap(surroundings.keys)
        self._keyboard = self._make_keyboard()
        self._guard = ControlGuard(ascii=surroundings.ascii)
        self._theme_problem = self._choose_theme()
        self.deck.use(self.keymap, surroundings.default_endpoint)
        for screen in self.screen_stack:
            for widget in screen.walk_children():
                widget.refresh()
        self.deck.show_again()
        self._tell_problems()
        if not surroundings.problems:
            self.tell("the settings are read again")

    def _choose_theme(self) -> str:
        """Takes the theme that is set; why another one is taken, empty where it is not."""
        wanted = self.surroundings.theme
        is_known = wanted in self.available_themes
        self.ansi_color = wanted in theme.FOR_TERMINAL
        self.theme = wanted if is_known else theme.DEFAULT_THEME
        return "" if is_known else f"[ui] theme: there is no theme {wanted}; there are {', '.join(theme.NAMES)}"

    def _make_keyboard(self) -> Keyboard:
        return Keyboard(self.keymap, self._outer)

    def _outer(self) -> Sequence[object]:
        """Who is asked for what a key does after the widget with the focus, from the inside outwards."""
        inner: list[object] = [self._colony_keys, self._host_keys]
        if self.deck.workspace is self.deck.connections:
            inner.reverse()
        elif self.deck.workspace is self.deck.kernel:
            inner.insert(0, self._kernel_keys)
        return [self.deck.workspace, self.deck, *inner, self._finding_keys, self]

    def _tell_problems(self) -> None:
        for problem in filter(None, (*self.surroundings.problems, *self.keymap.problems, self._theme_problem)):
            self.tell(problem, tone="fault")

    def _fatal_error(self) -> None:
        """Textual's last step after an unforeseen exception. Its own prints values of variables, raw."""
        if self._exit_renderables:
            return  # faults come in company; the first one tells
        error = self._exception or RuntimeError("unknown")
        path = crash.record(error, self.surroundings.crash_folder)
        self._exit_renderables.append(Text(crash.words(error, path)))
        self._close_messages_no_wait()
