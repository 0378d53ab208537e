"""Rows of tabs, which a letter or a click goes to."""

from collections.abc import Callable, Hashable, Mapping, Sequence
from typing import cast

from textual import events

from colonizer_tui.present.kernel.frame import Tab, row_of, tab_at
from colonizer_tui.present.line import EMPTY, Line
from colonizer_tui.widgets.line_view import LineView


class TabRows(LineView, can_focus=False):
    """One row for each kind of tab. `go` brings what a tab stands for to the front."""

    def __init__(self, go: Callable[[tuple[str, str]], None], *, id: str) -> None:  # noqa: A002  # Textual's name
        super().__init__(id=id)
        self._go = go
        self._rows: Sequence[tuple[Sequence[Tab], Line]] = ()
        self.letters: Mapping[Hashable, str] = {}
        """What is drawn over the tabs to jump there."""

    def set_rows(self, rows: Sequence[tuple[Sequence[Tab], Line]]) -> None:
        """Shows other tabs, each row with what stands at its right end."""
        self._rows = rows
        self.repaint_changed()

    def line_count(self) -> int:
        """As many as there are rows of tabs."""
        return len(self._rows)

    def line_at(self, index: int) -> Line:
        """A row of tabs."""
        tabs, right = self._rows[index]
        return row_of(tabs, right, self.letters, self.text_width) if tabs else EMPTY

    def spots(self) -> Sequence[Hashable]:
        """All tabs."""
        return [tab.spot for tabs, _ in self._rows for tab in tabs]

    def label(self, labels: Mapping[Hashable, str]) -> None:
        """Draws a label over the beginning of each of these tabs."""
        self.letters = labels
        self.repaint_changed()

    def jump_to(self, spot: Hashable) -> None:
        """Goes to a tab."""
        self._go(cast("tuple[str, str]", spot))

    def on_click(self, event: events.Click) -> None:
        """Goes to what was clicked."""
        if event.y < len(self._rows):
            spot = tab_at(self._rows[event.y][0], event.x)
            if spot is not None:
                self._go(spot)
