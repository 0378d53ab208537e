"""Every connection and how it is."""

from collections import Counter

from colonizer_client.identity import EndpointName
from colonizer_client.snapshot import EndpointState
from colonizer_tui.intents import Copied, ReconnectWanted, desk_of
from colonizer_tui.present import endpoints
from colonizer_tui.present.line import Line
from colonizer_tui.present.view import View
from colonizer_tui.widgets.keyed_list import KeyedList


class EndpointList(KeyedList[EndpointName]):
    """One row for each connection."""

    def __init__(self, *, id: str | None = None) -> None:  # noqa: A002  # Textual's name
        super().__init__(id=id)
        self._view = View()
        self._colonies: Counter[EndpointName] = Counter()

    @property
    def endpoint(self) -> EndpointState | None:
        """The selected connection."""
        return None if self.selected is None else self._view.snapshot.endpoints.get(self.selected)

    def show(self, view: View) -> None:
        """Shows a moment."""
        if view.snapshot.colonies is not self._view.snapshot.colonies:
            self._colonies = Counter(key.endpoint for key in view.snapshot.colonies)
        self._view = view
        keys = list(view.snapshot.endpoints)
        if keys != list(self.keys):
            self.set_keys(keys)
        self.repaint_changed()

    def row_line(self, key: EndpointName) -> Line:
        """A connection's row."""
        state = self._view.snapshot.endpoints.get(key)
        if state is None:
            return ()
        return endpoints.row(state, self._colonies[key], self.text_width - 1, self.glyphs)

    async def do_copy(self) -> None:
        """Copies the connection's address."""
        state = self.endpoint
        if state is not None:
            await desk_of(self).copy(Copied(f"the address of {state.name}", state.address))

    def do_resume(self) -> None:
        """Tries the connection again at once."""
        if self.selected is not None:
            self.post_message(ReconnectWanted(self.selected))
