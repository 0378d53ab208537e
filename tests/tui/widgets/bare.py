"""As much of an application as the widgets that draw by lines need."""

from textual.app import App, ComposeResult
from textual.pilot import Pilot
from textual.widget import Widget

from colonizer_tui import theme
from colonizer_tui.present.line import Line, Span
from colonizer_tui.present.states import Glyphs
from colonizer_tui.widgets.ink import Ink
from colonizer_tui.widgets.keyed_list import KeyedList
from colonizer_tui.widgets.line_view import LineView
from real_engine import screen_text


class Bare(App[None]):
    """Shows widgets and nothing else."""

    AUTO_FOCUS = None

    def __init__(self, *shown: Widget) -> None:
        super().__init__()
        self._shown = shown
        self.ink = Ink(theme.DEFAULT_THEME, Glyphs())
        self.said: list[object] = []
        """Which messages reached the application, with what they said then."""
        for made in theme.themes():
            self.register_theme(made)
        self.theme = theme.DEFAULT_THEME

    def notify(self, message: str, *, markup: bool = True, **more: object) -> None:
        del more
        self.said.append((message, markup))

    def compose(self) -> ComposeResult:
        yield from self._shown


class Numbered(LineView):
    """Lines that say their number, and count how often they were asked for."""

    def __init__(self, count: int) -> None:
        super().__init__()
        self.count = count
        self.asked: list[int] = []

    def line_count(self) -> int:
        return self.count

    def line_at(self, index: int) -> Line:
        self.asked.append(index)
        return (Span(f"line {index}"),)


class Names(KeyedList[str]):
    """Rows that are their keys."""

    def row_line(self, key: str) -> Line:
        return (Span(key),)


def on_screen(pilot: Pilot[None]) -> list[str]:
    """What stands on the screen, row by row."""
    return screen_text(pilot).split("\n")
