"""Every host: how it is, what our token may do there, and what went wrong."""

from collections.abc import Sequence

from textual.app import ComposeResult
from textual.containers import Vertical

from colonizer_client.identity import EndpointName
from colonizer_client.snapshot import Topics
from colonizer_tui.keys import Hint, hints_of
from colonizer_tui.panes.endpoint_list import EndpointList
from colonizer_tui.present import endpoints, host_abilities
from colonizer_tui.present.view import View
from colonizer_tui.widgets.keys_to import give_keys
from colonizer_tui.widgets.lines import Lines
from colonizer_tui.workspaces.workspace import NARROW, Workspace


class Connections(Workspace):
    """Connections on the left, the selected one whole on the right, below in a narrow terminal."""

    DEFAULT_CSS = """
    Connections #connections-left { width: 62%; height: 1fr; }
    Connections #connections-right { width: 1fr; height: 1fr; padding: 0 1; border-left: solid $edge; }
    Connections.narrow { layout: vertical; }
    Connections.narrow #connections-left { width: 1fr; height: 40%; }
    Connections.narrow #connections-right { border-left: none; border-top: solid $edge; }
    """

    def __init__(self, *, id: str | None = None) -> None:  # noqa: A002  # Textual's name
        super().__init__(id=id)
        self.list = EndpointList(id="connections-list")
        self._caption, self._detail = Lines(), Lines()
        self._wanted: EndpointName | None = None

    def compose(self) -> ComposeResult:
        """List and detail."""
        with Vertical(id="connections-left"):
            yield self._caption
            yield self.list
        with Vertical(id="connections-right"):
            yield self._detail

    def show(self, view: View, topics: Topics) -> None:
        """Shows a moment."""
        del topics
        self.view = view
        self.set_class(self.room < NARROW, "narrow")
        self.list.show(view)
        if self._wanted is not None and self.list.select(self._wanted):
            self._wanted = None
        self._caption.set_lines([endpoints.caption(self.list.text_width)])
        state = self.list.endpoint
        width = max(self._detail.size.width - 1, 20)
        lines = [] if state is None else list(endpoints.details(state, view, width))
        self._detail.set_lines(lines)

    def select_new(self, name: EndpointName) -> None:
        """Puts the cursor on a host that was just added or renamed, as soon as it is in the list."""
        self._wanted = name

    def on_keyed_list_moved(self) -> None:
        """Shows the connection under the cursor."""
        self.show(self.view, Topics())

    def focus_first(self) -> None:
        """The list."""
        give_keys(self.list)

    def hints(self) -> Sequence[Hint]:
        """What helps with a connection."""
        refusal = host_abilities.refusal(host_abilities.REMOVE, self.list.endpoint)
        remove = Hint(host_abilities.REMOVE, "remove", reason=refusal)
        return (
            *hints_of("sign_in", "add"),
            Hint("resume", "reconnect"),
            *hints_of("edit"),
            remove,
            *hints_of("tokens", "wire_log", "sign_out", "fleet", "needs_you"),
        )
