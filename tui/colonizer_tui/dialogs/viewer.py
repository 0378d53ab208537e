"""A whole text, nothing cut."""

from textual import events
from textual.app import ComposeResult

from colonizer_tui.dialogs.dialog import Dialog
from colonizer_tui.intents import Copied, desk_of
from colonizer_tui.present import words
from colonizer_tui.present.line import Line, Span, line, spread, wrap
from colonizer_tui.widgets.keys_to import give_keys
from colonizer_tui.widgets.line_view import LineView
from colonizer_tui.widgets.lines import Lines

PIECE_CHARS = 20_000
"""A longer line is wrapped piece by piece, so that opening a text of megabytes stays quick."""


class TextLines(LineView):
    """The text, wrapped."""

    def __init__(self, text: str) -> None:
        super().__init__(id="viewer-text")
        self.text = text
        self._lines: list[str] = []
        self._width = 0

    def line_count(self) -> int:
        """As many lines as the wrapped text has."""
        return len(self._lines)

    def line_at(self, index: int) -> Line:
        """One line."""
        return (Span(self._lines[index]),)

    def on_resize(self) -> None:
        """Wraps the text anew."""
        if self._width != self.text_width:
            self._width = self.text_width
            self._lines = _wrapped(self.text, self._width)

    @property
    def lines_below(self) -> int:
        """How many lines are below what is in sight."""
        return max(self.line_count() - self.top - self.page, 0)


class Viewer(Dialog[None]):
    """Scrolls through a text."""

    DEFAULT_CSS = """
    Viewer #dialog-box { width: 96%; height: 94%; padding: 0 1; }
    Viewer TextLines { height: 1fr; }
    """

    def __init__(self, title: str, text: str) -> None:
        super().__init__()
        self._title = title
        self._body = TextLines(text)

    def parts(self) -> ComposeResult:
        """Title, text, foot."""
        yield Lines(id="viewer-title")
        yield self._body
        yield Lines(id="viewer-foot")

    def on_mount(self) -> None:
        """The text gets the keys."""
        self.set_lines("viewer-title", [line(Span(self._title, "strong"))])
        give_keys(self._body)
        self.call_after_refresh(self._draw_foot)

    def on_resize(self) -> None:
        """Counts anew."""
        self.call_after_refresh(self._draw_foot)

    def take_key(self, event: events.Key) -> bool:
        """`v` and `q` close it as `esc` does."""
        self.call_after_refresh(self._draw_foot)
        if event.key in ("v", "q"):
            self.dismiss(None)
            return True
        return super().take_key(event)

    async def do_copy(self) -> None:
        """Copies the whole text."""
        await desk_of(self).copy(Copied("the text", self._body.text))

    def _draw_foot(self) -> None:
        below = self._body.lines_below
        more = line(Span("j pagedown", "key"), Span(f" {words.count(below, 'more line')} below", "muted"))
        left = more if below else line(Span("the end", "muted"))
        self.set_lines("viewer-foot", [spread(left, _KEYS, self._body.size.width)])


_KEYS = line(Span("y", "key"), Span(" copy   ", "muted"), Span("esc", "key"), Span(" back", "muted"))


def _wrapped(text: str, width: int) -> list[str]:
    lines: list[str] = []
    for paragraph in text.split("\n"):
        if len(paragraph) <= PIECE_CHARS:
            lines.extend(wrap(paragraph, width))
        else:
            # One endless line has no words to keep whole.
            lines.extend(paragraph[start : start + width] for start in range(0, len(paragraph), width))
    return lines
