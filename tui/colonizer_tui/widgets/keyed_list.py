"""A list whose selection follows what a row is, never where it stands."""

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import Any, Generic, TypeVar, cast

from textual import events
from textual.message import Message

from colonizer_tui.present.line import Line, Span
from colonizer_tui.widgets.keys_to import has_keys
from colonizer_tui.widgets.line_view import LineView

K = TypeVar("K", bound=Hashable)


class KeyedList(LineView, Generic[K]):
    """Rows named by keys, one of them selected. Subclasses draw a row with `row_line`."""

    @dataclass
    class Moved(Message):
        """Another row is selected."""

        list: "KeyedList[Any]"

    @dataclass
    class Opened(Message):
        """The selected row was opened."""

        list: "KeyedList[Any]"

    def __init__(self, *, id: str | None = None, classes: str | None = None) -> None:  # noqa: A002  # Textual's name
        super().__init__(id=id, classes=classes)
        self._keys: Sequence[K] = ()
        self._places: dict[K, int] = {}
        self._selected: K | None = None
        self._fallback = 0
        """Where the selection stands when what was selected is gone."""

    def row_line(self, key: K) -> Line:
        """The row, without the mark of the selection."""
        raise NotImplementedError

    @property
    def keys(self) -> Sequence[K]:
        """All rows in their order."""
        return self._keys

    def has(self, key: K) -> bool:
        """Whether there is a row of this key."""
        return key in self._places

    @property
    def selected(self) -> K | None:
        """The selected row, None when there is none."""
        return self._selected

    @property
    def cursor(self) -> int:
        """Where the selected row stands."""
        return self._places.get(self._selected, 0) if self._selected is not None else 0

    def set_keys(self, keys: Sequence[K]) -> None:
        """Takes the rows in a new order; the selection stays with its row, or with its place where the row is gone."""
        in_sight = self.cursor - self.top
        self._keys = keys
        self._places = {key: place for place, key in enumerate(keys)}
        if not keys:
            self._selected = None
        elif self._selected is None or self._selected not in self._places:
            self._selected = keys[min(self._fallback, len(keys) - 1)]
            self.post_message(self.Moved(self))
        self._fallback = self.cursor
        if self._selected is not None:
            self.top = self.cursor - in_sight
        self.repaint()

    def select(self, key: K) -> bool:
        """Selects a row and brings it into sight; False when there is no such row."""
        if key not in self._places:
            return False
        if key != self._selected:
            before = self.cursor
            self._selected = key
            self.repaint_line(before)
            self.repaint_line(self.cursor)
            self.post_message(self.Moved(self))
        self._fallback = self.cursor
        self.show_line(self.cursor)
        return True

    def move(self, rows: int) -> None:
        """Moves the selection by that many rows, to the first or last at most."""
        if self._keys:
            self.select(self._keys[min(max(self.cursor + rows, 0), len(self._keys) - 1)])

    def do_down(self) -> None:
        """One row down."""
        self.move(1)

    def do_up(self) -> None:
        """One row up."""
        self.move(-1)

    def do_page_down(self) -> None:
        """One page down."""
        self.move(max(self.page - 1, 1))

    def do_page_up(self) -> None:
        """One page up."""
        self.move(-max(self.page - 1, 1))

    def do_first(self) -> None:
        """To the first row."""
        self.move(-len(self._keys))

    def do_last(self) -> None:
        """To the last row."""
        self.move(len(self._keys))

    def repaint_row(self, key: K) -> None:
        """Draws one row anew if it is in sight."""
        if (place := self._places.get(key)) is not None:
            self.repaint_line(place)

    def empty_line(self) -> Line:
        """What stands in the place of rows where there are none; nothing by default."""
        return ()

    def line_count(self) -> int:
        """One line for each row; one in their place where there is something to say."""
        return len(self._keys) or bool(self.empty_line())

    def line_at(self, index: int) -> Line:
        """The row, after the mark of the selection."""
        if not self._keys:
            return self.empty_line()
        key = self._keys[index]
        is_selected = key == self._selected
        mark = Span(self.glyphs["select"], "active") if is_selected and has_keys(self) else Span(" ")
        return (mark, *self.row_line(key))

    def ground_of(self, index: int) -> str:
        """The selected row has one."""
        if not self._keys or self._keys[index] != self._selected:
            return ""
        return "selection" if has_keys(self) else "selection_away"

    def spot_at(self, index: int) -> Hashable | None:
        """Every row."""
        return self._keys[index] if index < len(self._keys) else None

    def jump_to(self, spot: Hashable) -> None:
        """Selects a row."""
        super().jump_to(spot)
        self.select(cast("K", spot))

    def on_resize(self) -> None:
        """The selection stays in sight."""
        self.show_line(self.cursor)

    def on_focus(self) -> None:
        """The selection shows where the keys go."""
        self.repaint_line(self.cursor)

    def on_blur(self) -> None:
        """The selection shows where the keys go."""
        self.repaint_line(self.cursor)

    def on_click(self, event: events.Click) -> None:
        """Selects what was clicked; a double click opens it."""
        index = self.top + event.y
        if index < len(self._keys):
            self.select(self._keys[index])
            if event.chain == 2:
                self.post_message(self.Opened(self))
