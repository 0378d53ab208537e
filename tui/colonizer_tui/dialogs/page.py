"""Lines that are made for the width of the dialog, to be scrolled through."""

from collections.abc import Callable, Sequence
from typing import TypeAlias

from textual import events
from textual.app import ComposeResult

from colonizer_tui.dialogs.dialog import Dialog
from colonizer_tui.intents import Copied, desk_of
from colonizer_tui.present.line import Line, Span, line, text_of
from colonizer_tui.widgets.keys_to import give_keys
from colonizer_tui.widgets.line_view import LineView
from colonizer_tui.widgets.lines import Lines

Maker: TypeAlias = Callable[[int], Sequence[Line]]
"""The lines in a width."""


class PageLines(LineView):
    """The lines, made anew where the width changes; as high as there are lines."""

    def __init__(self, make: Maker) -> None:
        super().__init__(id="page-lines")
        self.ground = "panel"
        self._make = make
        self._lines: Sequence[Line] = ()
        self._width = 0

    def get_content_height(self, container: object, viewport: object, width: int) -> int:
        """One row for each line."""
        del container, viewport
        self._lay_out(width)
        return len(self._lines)

    def line_count(self) -> int:
        """As many lines as there is to say."""
        return len(self._lines)

    def line_at(self, index: int) -> Line:
        """One line."""
        return self._lines[index]

    def on_resize(self) -> None:
        """The texts are wrapped anew."""
        self._lay_out(self.size.width)
        self.repaint()

    def make_anew(self) -> None:
        """Makes the lines again, of what is known now."""
        self._width = 0
        self._lay_out(self.size.width)
        self.refresh(layout=True)

    def text(self) -> str:
        """What is shown, as plain text."""
        return "\n".join(text_of(one).rstrip() for one in self._lines)

    def _lay_out(self, width: int) -> None:
        if width != self._width:
            self._width = width
            self._lines = self._make(max(width - 1, 1))


class Page(Dialog[None]):
    """A text about something, closed by the key that opened it, or by esc."""

    DEFAULT_CSS = """
    Page PageLines { height: auto; max-height: 100%; background: $panel; }
    Page #page-foot { dock: bottom; height: 1; margin-top: 1; }
    """

    def __init__(self, what: str, key: str, make: Maker) -> None:
        """`what` names the text for who copies it; `key` is the key that opened it, in Textual's name."""
        super().__init__()
        self._what, self._key, self._make = what, key, make

    def parts(self) -> ComposeResult:
        """The lines and the keys."""
        yield PageLines(self._make)
        yield Lines(id="page-foot")

    def on_mount(self) -> None:
        """The lines get the keys."""
        self.set_lines("page-foot", [line(*_COPY, Span("esc", "key"), Span(" back", "muted"))])
        give_keys(self.query_one(PageLines))

    def take_key(self, event: events.Key) -> bool:
        """The key that opened it closes it as `esc` does."""
        if event.key in (self._key, "q"):
            self.dismiss(None)
            return True
        return super().take_key(event)

    def make_anew(self) -> None:
        """Shows what is known now; nothing happens where the page was closed."""
        for lines in self.query(PageLines):
            lines.make_anew()

    async def do_copy(self) -> None:
        """The text."""
        await desk_of(self).copy(Copied(self._what, self.query_one(PageLines).text()))


_COPY = (Span("y", "key"), Span(" copy   ", "muted"))
