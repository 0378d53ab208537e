"""Everything that waits for the person, most urgent first."""

from colonizer_client.attention import Need
from colonizer_client.identity import ColonyKey
from colonizer_tui.intents import ColonySelected, desk_of
from colonizer_tui.present import inbox
from colonizer_tui.present.line import Line
from colonizer_tui.present.view import View
from colonizer_tui.widgets.keyed_list import KeyedList


class InboxList(KeyedList[ColonyKey]):
    """One row for each need; a row is named by its colony."""

    def __init__(self, *, id: str | None = None) -> None:  # noqa: A002  # Textual's name
        super().__init__(id=id)
        self._view = View()
        self._needs: dict[ColonyKey, Need] = {}

    @property
    def need(self) -> Need | None:
        """The selected need."""
        return None if self.selected is None else self._needs.get(self.selected)

    def show(self, view: View) -> None:
        """Shows a moment. A need that was met leaves; the selection then goes to the next one."""
        self._view = view
        self._needs = {need.colony.key: need for need in view.needs}
        keys = list(self._needs)
        if keys != list(self.keys):
            self.set_keys(keys)
        self.repaint_changed()

    def row_line(self, key: ColonyKey) -> Line:
        """A need's row."""
        need = self._needs.get(key)
        return () if need is None else inbox.row(need, self._view, self.text_width - 1, self.glyphs)

    def on_keyed_list_moved(self, event: KeyedList.Moved) -> None:
        """Tells which colony is under the cursor."""
        event.stop()
        if self.selected is not None:
            self.post_message(ColonySelected(self.selected))

    def on_keyed_list_opened(self, event: KeyedList.Opened) -> None:
        """Opens the colony that was clicked twice."""
        event.stop()
        if self.selected is not None:
            desk_of(self).open_colony(self.selected)
