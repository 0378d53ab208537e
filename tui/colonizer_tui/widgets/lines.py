"""A few fixed lines, such as a header, a caption or the key hints."""

from collections.abc import Sequence

from rich.segment import Segment
from textual import events
from textual.message import Message
from textual.strip import Strip
from textual.widget import Widget

from colonizer_tui import theme
from colonizer_tui.present.line import Line, fit, width_of
from colonizer_tui.widgets.ink import ink_of


class Lines(Widget):
    """Draws the lines that it was given last; it is as high as there are lines."""

    DEFAULT_CSS = """
    Lines {
        height: auto;
        width: 1fr;
        background: $background;
    }
    """

    class Widened(Message):
        """The lines have another width: what was set to fill the old one has to be made anew."""

    def __init__(self, *, id: str | None = None, classes: str | None = None) -> None:  # noqa: A002  # Textual's name
        super().__init__(id=id, classes=classes)
        self.ground = "background"
        """On which colour of the palette the lines stand."""
        self._lines: tuple[Line, ...] = ()
        self._width = 0

    def on_resize(self, event: events.Resize) -> None:
        """Tells of another width."""
        if event.size.width != self._width:
            self._width = event.size.width
            self.post_message(self.Widened())

    def set_lines(self, lines: Sequence[Line]) -> None:
        """Shows other lines; nothing is drawn where they are the same."""
        shown = tuple(lines)
        if shown != self._lines:
            is_higher = len(shown) != len(self._lines)
            self._lines = shown
            if is_higher:
                # Of two changes before its next idle moment, Textual (8.2) would keep the height measured in between.
                self._layout_updates += 1
            self.refresh(layout=is_higher)

    def get_content_height(self, container: object, viewport: object, width: int) -> int:
        """One row for each line."""
        del container, viewport, width
        return len(self._lines)

    def render_line(self, y: int) -> Strip:
        """The strip of one row."""
        width, name = self.size.width, ink_of(self).theme
        shown = fit(self._lines[y], width) if y < len(self._lines) else ()
        segments = [Segment(piece.text, theme.style(name, piece.role, self.ground)) for piece in shown]
        segments.append(Segment(" " * (width - width_of(shown)), theme.style(name, "", self.ground)))
        return Strip(segments, width)
