"""The list of all colonies of all hosts."""

import time

from colonizer_client.identity import ColonyKey
from colonizer_client.mothership.models import Colony
from colonizer_client.snapshot import Topics
from colonizer_tui.intents import ColonySelected, desk_of
from colonizer_tui.present import fleet
from colonizer_tui.present.fleet import Columns
from colonizer_tui.present.line import Line, Span
from colonizer_tui.present.view import View
from colonizer_tui.widgets.keyed_list import KeyedList
from colonizer_tui.widgets.keys_to import has_keys

REST_S = 3.0
"""Rows keep their places until no key was pressed in the list for this long."""

ORDERING_RESTS = 20
"""So many times as long as it took to put the rows in order they are left alone: keys come first."""


class ColonyList(KeyedList[ColonyKey]):
    """Colonies in the chosen order. While the person moves in it, nothing jumps."""

    def __init__(self, *, id: str | None = None) -> None:  # noqa: A002  # Textual's name
        super().__init__(id=id)
        self.order = "state"
        self.needle = ""
        """What is searched for, in lower case; empty for nothing."""
        self.newly_urgent = 0
        """Colonies that need the person and whose place in the list waits for the cursor to rest."""
        self._view = View()
        self._columns = Columns(80, 0)
        self._touched_at = 0.0
        self._in_order_until = 0.0
        self._is_out_of_order = False

    @property
    def columns(self) -> Columns:
        """The columns as they are drawn."""
        return self._columns

    @property
    def colony(self) -> Colony | None:
        """The selected colony."""
        return None if self.selected is None else self._view.snapshot.colonies.get(self.selected)

    def show(self, view: View, topics: Topics) -> None:
        """Shows a moment; the order changes only when the cursor rests."""
        # What came while another workspace was in front is in no topics: then the colonies are others than before.
        is_new = view.snapshot.colonies is not self._view.snapshot.colonies
        changed = bool(is_new or topics.colonies or topics.endpoints)
        columns = fleet.columns(self.text_width - 1, view)
        # After each key the same moment is shown again: a row that the key changed was drawn by it.
        is_same = view is self._view and columns == self._columns
        self._view = view
        self._columns = columns
        if changed:
            self._is_out_of_order = True
        if self._is_out_of_order:
            self.reorder()
        if not is_same:
            self.repaint_changed()

    def reorder(self, *, now: bool = False) -> None:
        """Puts the rows in order, at once or when the cursor rests and the last time is long enough ago."""
        view, started = self._view, time.monotonic()
        if not now and self.keys:
            if self._is_moving():
                self.newly_urgent = sum(not self.has(need.colony.key) for need in view.needs)
                return
            if started < self._in_order_until:
                return
        everyone = view.snapshot.colonies.values()
        shown = [colony for colony in everyone if fleet.matches(colony, self.needle)] if self.needle else everyone
        wanted = fleet.in_order(self.order, view, shown)
        self.newly_urgent = 0
        self._is_out_of_order = False
        if list(self.keys) != wanted:
            self.set_keys(wanted)
        ended = time.monotonic()
        self._in_order_until = ended + ORDERING_RESTS * (ended - started)

    def line_count(self) -> int:
        """One line for each row; one that says so where nothing is found."""
        return len(self.keys) or (1 if self.needle else 0)

    def line_at(self, index: int) -> Line:
        """A row, or what stands in the place of rows."""
        if self.keys:
            return super().line_at(index)
        return Span(f"    nothing holds “{self.needle}”: ", "muted"), Span("esc", "key"), Span(" shows all", "muted")

    def ground_of(self, index: int) -> str:
        """The selected row has one."""
        return super().ground_of(index) if self.keys else ""

    def row_line(self, key: ColonyKey) -> Line:
        """A colony's row; of a colony that is gone, an empty one."""
        colony = self._view.snapshot.colonies.get(key)
        return () if colony is None else fleet.row(colony, self._view, self._columns, self.glyphs)

    def move(self, rows: int) -> None:
        """Moves the selection, and notes that the person is moving in the list."""
        self._touched_at = time.monotonic()
        super().move(rows)

    def on_blur(self) -> None:
        """The person left: what waited takes its place."""
        self._touched_at = 0.0

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

    def do_order(self) -> None:
        """The next order; the selection stays."""
        names = list(fleet.ORDERS)
        self.order = names[(names.index(self.order) + 1) % len(names)]
        self.reorder(now=True)
        self.notify(fleet.ORDERS[self.order], title="order", markup=False, timeout=2)

    def _is_moving(self) -> bool:
        return has_keys(self) and time.monotonic() - self._touched_at < REST_S
