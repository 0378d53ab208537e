"""Everything that waits for the person, most urgent first."""

from collections.abc import Iterable

from colonizer_client.attention import Need
from colonizer_client.identity import ColonyKey
from colonizer_tui.intents import ColonySelected, desk_of
from colonizer_tui.present import inbox
from colonizer_tui.present.line import Line
from colonizer_tui.present.query import Query, Texts
from colonizer_tui.present.view import View
from colonizer_tui.widgets.keyed_list import KeyedList


class InboxList(KeyedList[ColonyKey]):
    """One row for each need; a row is named by its colony."""

    def __init__(self, *, id: str | None = None) -> None:  # noqa: A002  # Textual's name
        super().__init__(id=id)
        self._view = View()
        self._needs: dict[ColonyKey, Need] = {}
        self.sought = Query()
        """What is looked for; false for nothing."""
        self._texts = Texts()

    @property
    def need(self) -> Need | None:
        """The selected need."""
        return None if self.selected is None else self._needs.get(self.selected)

    def show(self, view: View) -> None:
        """Shows a moment. A need that was met leaves; the selection then goes to the next one."""
        self._view = view
        self._needs = {need.colony.key: need for need in self._found(view)}
        keys = list(self._needs)
        if keys != list(self.keys):
            self.set_keys(keys)
        self.repaint_changed()

    def look_for(self, query: Query) -> None:
        """Shows only what is looked for."""
        self.sought = query
        if not query:
            self._texts.forget()
        self.show(self._view)

    def empty_line(self) -> Line:
        """That nothing is found."""
        return self.sought.found_nothing(self._view.keymap)

    def row_line(self, key: ColonyKey) -> Line:
        """A need's row."""
        need = self._needs.get(key)
        if need is None:
            return ()
        return self.sought.marked(inbox.row(need, self._view, self.text_width - 1, self.glyphs))

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

    def _found(self, view: View) -> Iterable[Need]:
        """The needs of which one colony is looked for."""
        if not self.sought:
            return view.needs
        everyone = [colony for need in view.needs for colony in need.colonies]
        found = {colony.key for colony in self.sought.found(everyone, view, self._texts.of)}
        return [need for need in view.needs if any(colony.key in found for colony in need.colonies)]
