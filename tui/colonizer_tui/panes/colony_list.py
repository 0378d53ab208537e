"""The list of all colonies of all hosts."""

from collections.abc import Iterable, Sequence

from colonizer_client.identity import ColonyKey
from colonizer_client.mothership.models import Colony
from colonizer_client.snapshot import Topics
from colonizer_tui.intents import ColonySelected, desk_of
from colonizer_tui.present import fleet
from colonizer_tui.present.fleet import Columns
from colonizer_tui.present.line import Line
from colonizer_tui.present.query import Query, Texts
from colonizer_tui.present.view import View
from colonizer_tui.widgets.keyed_list import KeyedList
from colonizer_tui.widgets.rest import Rest


class ColonyList(KeyedList[ColonyKey]):
    """Colonies in the chosen order. While the person moves in it, nothing jumps."""

    def __init__(self, *, id: str | None = None) -> None:  # noqa: A002  # Textual's name
        super().__init__(id=id)
        self.order = "state"
        self.sought = Query()
        """What is looked for; false for nothing."""
        self.newly_urgent = 0
        """Colonies that need the person and whose place in the list waits for the cursor to rest."""
        self._marked: dict[ColonyKey, None] = {}
        """In the order in which they were marked."""
        self._view = View()
        self._columns = Columns(80, 0)
        self._texts = Texts()
        self._judged_at = 0.0
        """When it was last judged what is looked for."""
        self._rest = Rest(self)
        self._is_out_of_order = False

    @property
    def columns(self) -> Columns:
        """The columns as they are drawn."""
        return self._columns

    @property
    def colony(self) -> Colony | None:
        """The selected colony."""
        return None if self.selected is None else self._view.snapshot.colonies.get(self.selected)

    @property
    def marked(self) -> Sequence[Colony]:
        """What is marked, whether it is in sight or not, in the order in which it was marked."""
        colonies = self._view.snapshot.colonies
        return [colonies[key] for key in self._marked if key in colonies]

    def drop_marks(self, keys: Iterable[ColonyKey] | None = None) -> None:
        """Takes the marks off these colonies, or off all."""
        for key in list(self._marked) if keys is None else keys:
            self._marked.pop(key, None)
        self.repaint_changed()

    def show(self, view: View, topics: Topics) -> None:
        """Shows a moment; the order changes only when the cursor rests."""
        # What came while another workspace was in front is in no topics: then the colonies are others than before.
        is_new = view.snapshot.colonies is not self._view.snapshot.colonies
        changed = bool(is_new or topics.colonies or topics.endpoints)
        columns = fleet.columns(self.text_width - 1, view)
        # After each key the same moment is shown again: a row that the key changed was drawn by it.
        is_same = view is self._view and columns == self._columns
        self._view = view
        for key in [key for key in self._marked if key not in view.snapshot.colonies]:
            del self._marked[key]
        self._columns = columns
        is_older = self.sought.depends_on_time and view.now - self._judged_at >= 1
        if changed or is_older:
            self._is_out_of_order = True
        if self._is_out_of_order:
            self.reorder()
        if not is_same:
            self.repaint_changed()

    def look_for(self, query: Query) -> None:
        """Shows only what is looked for."""
        self.sought = query
        if not query:
            self._texts.forget()
        self.reorder(now=True)
        self.repaint_changed()

    def reorder(self, *, now: bool = False) -> None:
        """Puts the rows in order, at once or when the cursor rests and the last time is long enough ago."""
        view = self._view
        if not now and self.keys:
            if self._rest.is_disturbed:
                self.newly_urgent = sum(not self.has(need.colony.key) for need in view.needs)
                return
            if not self._rest.is_due:
                return
        with self._rest.ordering():
            everyone = view.snapshot.colonies.values()
            shown = self.sought.found(everyone, view, self._texts.of) if self.sought else everyone
            self._judged_at = view.now
            wanted = fleet.in_order(self.order, view, shown)
            self.newly_urgent = 0
            self._is_out_of_order = False
            if list(self.keys) != wanted:
                self.set_keys(wanted)

    def empty_line(self) -> Line:
        """That nothing is found."""
        return self.sought.found_nothing(self._view.keymap)

    def row_line(self, key: ColonyKey) -> Line:
        """A colony's row; of a colony that is gone, an empty one."""
        colony = self._view.snapshot.colonies.get(key)
        if colony is None:
            return ()
        return self.sought.marked(
            fleet.row(colony, self._view, self._columns, self.glyphs, is_marked=key in self._marked)
        )

    def move(self, rows: int) -> None:
        """Moves the selection, and notes that the person is moving in the list."""
        self._rest.disturb()
        super().move(rows)

    def on_blur(self) -> None:
        """The person left: what waited takes its place."""
        self._rest.end()

    def on_keyed_list_moved(self, event: KeyedList.Moved) -> None:
        """Tells which colony is under the cursor."""
        event.stop()
        if self.selected is not None:
            self.post_message(ColonySelected(self.selected))

    def on_keyed_list_opened(self, event: KeyedList.Opened) -> None:
        """Opens the colony that was clicked twice."""
        event.stop()
        self.do_enter()

    def do_enter(self) -> None:
        """Opens the selected colony."""
        if self.selected is not None:
            desk_of(self).open_colony(self.selected)

    def do_mark(self) -> None:
        """Marks the selected colony, or takes its mark off, and goes on to the next."""
        key = self.selected
        if key is None:
            return
        if key in self._marked:
            del self._marked[key]
        else:
            self._marked[key] = None
        self.repaint_row(key)
        self.move(1)

    def do_order(self) -> None:
        """The next order; the selection stays."""
        names = list(fleet.ORDERS)
        self.order = names[(names.index(self.order) + 1) % len(names)]
        self.reorder(now=True)
        self.notify(fleet.ORDERS[self.order], title="order", markup=False, timeout=2)
