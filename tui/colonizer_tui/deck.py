"""The whole screen: header, one workspace, footer; and the ways from one workspace to another."""

import asyncio
from collections.abc import Callable, Hashable, Mapping, Sequence

from msgspec.structs import replace
from textual.app import ComposeResult
from textual.widget import Widget
from textual.widgets import Input, TextArea

from colonizer_client.identity import ColonyKey, EndpointName
from colonizer_client.mothership.models import Colony
from colonizer_client.snapshot import EndpointState, Topics
from colonizer_tui.intents import desk_of
from colonizer_tui.jump import Jump, Jumpable
from colonizer_tui.keys import Hint, Keymap
from colonizer_tui.panes.card import CardPane
from colonizer_tui.present import abilities, bulk, footer, header, host_abilities
from colonizer_tui.present.footer import KeyHint
from colonizer_tui.present.header import Tab
from colonizer_tui.present.kernel import abilities as kernel_abilities
from colonizer_tui.present.view import View
from colonizer_tui.widgets.ink import ink_of
from colonizer_tui.widgets.line_view import LineView
from colonizer_tui.widgets.lines import Lines
from colonizer_tui.workspaces.colony import ColonyWorkspace
from colonizer_tui.workspaces.connections import Connections
from colonizer_tui.workspaces.fleet import Fleet
from colonizer_tui.workspaces.kernel import KernelWorkspace
from colonizer_tui.workspaces.needs_you import NeedsYou
from colonizer_tui.workspaces.workspace import Workspace

JUMP_HINTS = (Hint(keys="a-z", label="go there"), Hint("back", "leave"))


class Deck(Widget):
    """Shows moments in the workspace in front."""

    DEFAULT_CSS = """
    Deck { layout: vertical; height: 1fr; width: 1fr; layers: below above; }
    Deck #header, Deck #footer { height: 1; background: $panel; }
    Deck #too-small { layer: above; dock: top; height: 100%; display: none; }
    Deck.small #too-small { display: block; }
    """

    def __init__(self, keymap: Keymap, launches_on: EndpointName) -> None:
        super().__init__()
        self._launches_on = launches_on
        self.view = View()
        self.fleet = Fleet(id="fleet")
        self.needs_you = NeedsYou(id="needs_you")
        self.opened = ColonyWorkspace(id="colony")
        self.kernel = KernelWorkspace(id="kernel")
        self.connections = Connections(id="connections")
        self.workspace: Workspace = self.fleet
        """The workspace in front."""
        self.is_complete = asyncio.Event()
        """Set when all workspaces are there: a key may go to any of them."""
        self._workspaces: dict[str, tuple[str, Workspace]] = {
            "fleet": ("Fleet", self.fleet),
            "needs_you": ("Needs you", self.needs_you),
            "colony": ("Colony", self.opened),
            "kernel": ("Kernel", self.kernel),
            "connections": ("Connections", self.connections),
        }
        """Title and workspace of each action that goes to one."""
        self._came_from: Workspace = self.fleet
        self.keymap = keymap
        self._header, self._footer = Lines(id="header"), Lines(id="footer")
        self._header.ground = self._footer.ground = "panel"
        self._too_small = Lines(id="too-small")
        self._too_small.set_lines([header.TOO_SMALL])
        self.jump = Jump(self._jumpable)
        self._labels: Mapping[Hashable, str] = {}

    def use(self, keymap: Keymap, launches_on: EndpointName) -> None:
        """Names other keys, and another host for launches, from now on."""
        self.keymap = keymap
        self._launches_on = launches_on

    def compose(self) -> ComposeResult:
        """The frame and the workspaces."""
        yield self._header
        yield self.workspace
        yield self._footer
        yield self._too_small

    def on_mount(self) -> None:
        """The workspaces that are not in front are made after the first picture."""
        self.call_after_refresh(self._complete)

    async def _complete(self) -> None:
        others = [workspace for _, workspace in self._workspaces.values() if not workspace.is_attached]
        for workspace in others:
            workspace.display = workspace is self.workspace
        await self.mount_all(others, after=self.workspace)
        self.is_complete.set()

    @property
    def colony(self) -> Colony | None:
        """The colony that the keys are about."""
        key = self.workspace.colony
        return None if key is None else self.view.snapshot.colonies.get(key)

    @property
    def host(self) -> EndpointState | None:
        """The host that the keys are about: the selected one, elsewhere that of the colony."""
        if self.workspace is self.connections:
            return self.connections.list.endpoint
        colony = self.colony
        return None if colony is None else self.view.snapshot.endpoint_of(colony.key)

    def marked(self, action: str) -> Sequence[Colony]:
        """The marked colonies that an action is for; none where it is for the one under the cursor."""
        is_bulk = action in bulk.DEEDS and self.workspace is self.fleet and not self.fleet.detail.card.is_open
        return self.fleet.list.marked if is_bulk else ()

    def show(self, view: View, topics: Topics) -> None:
        """Shows a moment."""
        if not self.workspace.is_attached:
            return  # the application is beginning or ending
        if view.keymap is not self.keymap:  # else the same moment stays the same object, and need not be drawn again
            view = replace(view, keymap=self.keymap)
        self.view = view
        self.workspace.show(view, topics)
        if self.screen.focused is None:
            self.workspace.focus_first()  # what should have the keys was not there before
        self.show_frame()

    def show_again(self) -> None:
        """Shows the same moment, in another room or another workspace."""
        self.show(self.view, Topics())

    def show_frame(self) -> None:
        """Draws header and footer."""
        needs = self.view.answerable
        calls = len(self.view.snapshot.approvals)
        counts = {"needs_you": (needs + calls, len(self.view.needs) - needs)}
        tabs = [
            Tab(
                self.keymap.shown(name),
                title,
                workspace is self.workspace,
                *counts.get(name, (0, 0)),
                label=self._labels.get(name, ""),
            )
            for name, (title, workspace) in self._workspaces.items()
        ]
        self._header.set_lines([header.header(tabs, self.view, self.size.width, ink_of(self).glyphs)])
        in_field = isinstance(self.screen.focused, Input | TextArea)  # where `?` is a letter
        rest = None if in_field or self.jump.is_on else KeyHint(self.keymap.shown("help"), "help")
        hints = JUMP_HINTS if self.jump.is_on else self.workspace.hints()
        self._footer.set_lines([footer.footer([*map(self._hint, hints)], rest, self.size.width)])

    def why_not(self, action: str) -> str:
        """Why an action does nothing now; empty when it does."""
        if action == "colonize":
            return abilities.host_refusal(action, self.view.snapshot.endpoints.get(self._launches_on))
        if action in ("next_need", "previous_need"):
            return "" if self.view.needs else "nothing needs you"
        if self.workspace is self.kernel and action in kernel_abilities.ACTIONS:
            return kernel_abilities.refusal(action, self.kernel.kernel)
        if action in host_abilities.ACTIONS:
            return host_abilities.refusal(action, self.host)
        if action not in abilities.ACTIONS or self.workspace in (self.connections, self.kernel):
            return ""
        if marked := self.marked(action):
            return bulk.why_not(action, marked, self.view)
        colony, snapshot = self.colony, self.view.snapshot
        if colony is None:
            return "no colony is selected"
        read = snapshot.diffs.get(colony.key)
        if action == "diff" and read is not None and read.diff is not None:
            return ""  # what was read stays readable, whatever its host does
        return abilities.refusal(action, colony, snapshot.endpoint_of(colony.key), snapshot.questions.get(colony.key))

    def spots(self) -> Sequence[Hashable]:
        """The workspaces, by the actions that go to them."""
        return tuple(self._workspaces)

    def label(self, labels: Mapping[Hashable, str]) -> None:
        """Draws a label in the place of the key of each of these workspaces."""
        self._labels = labels
        self.show_frame()

    def jump_to(self, spot: Hashable) -> None:
        """Goes to a workspace, as its key does."""
        going: Mapping[Hashable, Callable[[], None]] = {
            "fleet": self.do_fleet,
            "needs_you": self.do_needs_you,
            "colony": self.do_colony,
            "kernel": self.do_kernel,
            "connections": self.do_connections,
        }
        going[spot]()

    def _jumpable(self) -> Sequence[Jumpable]:
        """The header, and what is on the screen of the workspace in front."""
        views = [view for view in self.workspace.query(LineView) if view.is_on_screen]
        return [self, *views, *(card for card in self.workspace.query(CardPane) if card.is_on_screen)]

    def show_host(self, name: EndpointName) -> None:
        """Brings a host to the front."""
        self.go_to(self.connections)
        self.show_again()
        self.connections.list.select(name)

    def _hint(self, hint: Hint) -> KeyHint:
        if not hint.action:
            return KeyHint(hint.keys, hint.label, hint.reason)
        action = self.keymap.actions[hint.action]
        return KeyHint(action.shown, hint.label or action.label, hint.reason or self.why_not(hint.action))

    def go_to(self, workspace: Workspace) -> None:
        """Brings a workspace to the front."""
        if workspace is self.opened and self.workspace is not self.opened:
            self._came_from = self.workspace
        self.workspace = workspace
        for _, other in self._workspaces.values():
            other.display = other is workspace
        workspace.focus_first()
        self.call_after_refresh(self.show_again)

    def show_colony(self, key: ColonyKey, pane: str) -> None:
        """Brings a colony to the front, whole."""
        self.go_to(self.opened)
        self.opened.open(key, pane)

    def on_resize(self) -> None:
        """Below the smallest size one line says so."""
        self.set_class(header.is_too_small(self.size), "small")
        self.call_after_refresh(self.show_again)

    def do_fleet(self) -> None:
        """All colonies."""
        self.go_to(self.fleet)

    def do_needs_you(self) -> None:
        """The inbox."""
        self.go_to(self.needs_you)

    def do_colony(self) -> None:
        """The opened colony; where none was opened, the selected one."""
        selected = self.workspace.colony
        if self.opened.colony is None and selected is not None:
            desk_of(self).open_colony(selected)
        else:
            self.go_to(self.opened)

    def do_kernel(self) -> None:
        """The colony kernels."""
        self.go_to(self.kernel)

    def do_connections(self) -> None:
        """The hosts."""
        self.go_to(self.connections)

    def do_next_pane(self) -> None:
        """The next pane."""
        self.screen.focus_next()

    def do_previous_pane(self) -> None:
        """The previous pane."""
        self.screen.focus_previous()

    def do_back(self) -> None:
        """From the opened colony to where it was opened, from elsewhere to the fleet."""
        if self.workspace is not self.fleet:
            self.go_to(self._came_from if self.workspace is self.opened else self.fleet)

    def do_next_need(self) -> None:
        """The next colony that needs the person."""
        self._go_to_need(1)

    def do_previous_need(self) -> None:
        """The previous colony that needs the person."""
        self._go_to_need(-1)

    def _go_to_need(self, step: int) -> None:
        keys = [need.colony.key for need in self.view.needs]
        if not keys:
            return
        here = self.workspace.colony
        place = keys.index(here) + step if here is not None and here in keys else (0 if step > 0 else -1)
        key = keys[place % len(keys)]
        if self.workspace is self.opened:
            desk_of(self).open_colony(key)
        else:
            listed = self.needs_you if self.workspace is self.needs_you else self.fleet
            if self.workspace is not listed:
                self.go_to(listed)
            listed.list.select(key)
