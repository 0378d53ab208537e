"""A widget that draws any number of lines, each when it comes into sight.

It scrolls by itself, without Textual's scroll bars and animations: a step costs one repaint, whatever the length. What
a line says is the subclass's; how its roles look is the theme's.
"""

from collections.abc import Hashable, Mapping, Sequence
from functools import lru_cache

from rich.segment import Segment
from rich.style import Style
from textual import events
from textual.geometry import Region
from textual.strip import Strip
from textual.widget import Widget

from colonizer_tui import theme
from colonizer_tui.present.line import Line, fit, labelled, width_of
from colonizer_tui.present.states import Glyphs
from colonizer_tui.widgets.ink import ink_of
from colonizer_tui.widgets.keys_to import give_keys

WHEEL_LINES = 3


class LineView(Widget, can_focus=True):
    """Draws the lines that `line_count` and `line_at` tell of, and scrolls through them."""

    DEFAULT_CSS = """
    LineView {
        width: 1fr;
        height: 1fr;
        background: $background;
    }
    """

    def __init__(self, *, id: str | None = None, classes: str | None = None) -> None:  # noqa: A002  # Textual's name
        super().__init__(id=id, classes=classes)
        self.ground = "background"
        """On which colour of the palette the lines stand that have no ground of their own."""
        self._top = 0
        self._drawn: dict[int, tuple[Line, str, str]] = {}
        """What stands in each row now, so that nothing is written for a row that did not change."""
        self._labels: Mapping[Hashable, str] = {}

    @property
    def glyphs(self) -> Glyphs:
        """The shapes in use."""
        return ink_of(self).glyphs

    @property
    def top(self) -> int:
        """The first line in sight."""
        return self._top

    @top.setter
    def top(self, top: int) -> None:
        kept = min(max(top, 0), self.furthest_top)
        if kept != self._top:
            self._top = kept
            self.refresh()

    def line_count(self) -> int:
        """How many lines there are."""
        raise NotImplementedError

    def line_at(self, index: int) -> Line:
        """The line with this index, from 0."""
        raise NotImplementedError

    def ground_of(self, index: int) -> str:
        """On which colour of the palette a whole line stands; empty for that of the widget."""
        del index
        return ""

    def spot_at(self, index: int) -> Hashable | None:
        """What begins on this line and can be jumped to, by a name that it keeps; None for nothing."""
        del index
        return None

    def spots(self) -> Sequence[Hashable]:
        """All that is in sight and can be jumped to, from the top."""
        in_sight = range(self.top, min(self.top + self.size.height, self.line_count()))
        return [spot for index in in_sight if (spot := self.spot_at(index)) is not None]

    def label(self, labels: Mapping[Hashable, str]) -> None:
        """Draws a label over the first cells of each of these spots, and none over others."""
        self._labels = labels
        self.repaint_changed()

    def jump_to(self, spot: Hashable) -> None:
        """Goes to a spot, wherever it stands by now, and takes the keys."""
        del spot
        give_keys(self)

    @property
    def page(self) -> int:
        """How many lines are in sight."""
        return max(self.size.height, 1)

    @property
    def text_width(self) -> int:
        """How many cells a line has, the scroll bar's column left out."""
        return max(self.size.width - 1, 1)

    @property
    def furthest_top(self) -> int:
        """The top at which the last line is the last in sight."""
        return max(self.line_count() - self.page, 0)

    def show_line(self, index: int) -> None:
        """Scrolls as little as needed to have the line in sight."""
        if index < self.top:
            self.top = index
        elif index >= self.top + self.page:
            self.top = index - self.page + 1

    def repaint_line(self, index: int) -> None:
        """Draws one line anew if it is in sight."""
        row = index - self.top
        if 0 <= row < self.size.height:
            self.refresh(Region(0, row, self.size.width, 1))

    def repaint(self) -> None:
        """Draws everything anew, with the top still in bounds."""
        self.top = self._top
        self.refresh()

    def repaint_changed(self) -> None:
        """Draws the rows anew whose content is no longer what stands there."""
        self.top = self._top
        for row in range(self.size.height):
            if self._drawn.get(row) != self._content(row):
                self.refresh(Region(0, row, self.size.width, 1))

    def render_line(self, y: int) -> Strip:
        """The strip of one row, its scroll bar included."""
        width = self.text_width
        self._drawn[y] = line, ground, bar = self._content(y)
        segments = self._segments(line, width, ground or self.ground)
        return Strip([*segments, _bar(ink_of(self).theme, bar, self.ground)], width + 1)

    def on_resize(self) -> None:
        """Keeps the top in bounds."""
        self.repaint()

    def on_mouse_scroll_down(self, event: events.MouseScrollDown) -> None:
        """Scrolls what is under the wheel."""
        event.stop()
        self.scrolled_by_hand(WHEEL_LINES)

    def on_mouse_scroll_up(self, event: events.MouseScrollUp) -> None:
        """Scrolls what is under the wheel."""
        event.stop()
        self.scrolled_by_hand(-WHEEL_LINES)

    def scrolled_by_hand(self, lines: int) -> None:
        """Scrolls by that many lines because the person did so."""
        self.top += lines

    def do_down(self) -> None:
        """One line down."""
        self.scrolled_by_hand(1)

    def do_up(self) -> None:
        """One line up."""
        self.scrolled_by_hand(-1)

    def do_page_down(self) -> None:
        """One page down, a line of the last one kept in sight."""
        self.scrolled_by_hand(max(self.page - 1, 1))

    def do_page_up(self) -> None:
        """One page up, a line of the last one kept in sight."""
        self.scrolled_by_hand(-max(self.page - 1, 1))

    def do_first(self) -> None:
        """To the beginning."""
        self.scrolled_by_hand(-self.line_count())

    def do_last(self) -> None:
        """To the end."""
        self.scrolled_by_hand(self.line_count())

    def _content(self, row: int) -> tuple[Line, str, str]:
        """The line that stands in a row of the widget, its ground, and the scroll bar's glyph beside it."""
        index, bar = self._top + row, self._bar_glyph(row)
        if index >= self.line_count():
            return (), "", bar
        line = self.line_at(index)
        if self._labels and (label := self._labels.get(self.spot_at(index))):
            line = labelled(line, label)
        return line, self.ground_of(index), bar

    def _segments(self, line: Line, width: int, ground: str) -> list[Segment]:
        name = ink_of(self).theme
        shown = fit(line, width)
        pieces = [(piece.text, theme.style(name, piece.role, ground)) for piece in shown]
        rest = width - width_of(shown)
        if rest > 0:
            pieces.append((" " * rest, theme.style(name, "", ground)))
        return _joined(pieces)

    def _bar_glyph(self, row: int) -> str:
        count, page = self.line_count(), self.page
        if count > page:
            size = max(page * page // count, 1)
            start = (page - size) * self.top // max(count - page, 1)
            if start <= row < start + size:
                return self.glyphs["thumb"]
        return " "


def _joined(pieces: Sequence[tuple[str, Style]]) -> list[Segment]:
    """As few segments as show the pieces: each one costs a change of colours on the wire, which blanks do not need."""
    segments: list[Segment] = []
    text, style = "", None
    for more, its in pieces:
        if style is not None and (its is style or (more.isspace() and _look_alike(style, its))):
            text += more
            continue
        if style is not None:
            segments.append(Segment(text, style))
        text, style = more, its
    if style is not None:
        segments.append(Segment(text, style))
    return segments


@lru_cache(maxsize=4096)
def _look_alike(style: Style, other: Style) -> bool:
    """Whether blanks of the other style look as those of this one."""
    return style.bgcolor == other.bgcolor and not any(
        one.underline or one.strike or one.reverse for one in (style, other)
    )


@lru_cache(maxsize=32)
def _bar(theme_name: str, glyph: str, ground: str) -> Segment:
    return Segment(glyph, theme.style(theme_name, "faint", ground))
