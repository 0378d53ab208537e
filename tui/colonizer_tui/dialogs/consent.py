"""Asks whether a program may run, showing its exact words."""

from collections.abc import Sequence

from textual import events
from textual.app import ComposeResult

from colonizer_tui.dialogs.dialog import Dialog
from colonizer_tui.dialogs.page import Maker, PageLines
from colonizer_tui.present.line import Line, Span, line
from colonizer_tui.widgets.keys_to import give_keys
from colonizer_tui.widgets.lines import Lines


class Consent(Dialog[bool]):
    """True when the person agrees with `y`, which counts once the last word was in sight."""

    DEFAULT_CSS = """
    Consent #dialog-box { width: 90; }
    Consent PageLines { height: auto; max-height: 100%; background: $panel; }
    Consent #consent-foot { dock: bottom; height: 1; margin-top: 1; }
    """

    def __init__(self, make: Maker) -> None:
        super().__init__()
        self._make = make
        self._lines = PageLines(make)
        self._is_read = False

    def parts(self) -> ComposeResult:
        """The words and the keys."""
        yield self._lines
        yield Lines(id="consent-foot")

    def on_mount(self) -> None:
        """The words can be scrolled through."""
        give_keys(self._lines)
        self.call_after_refresh(self._look)

    def on_resize(self) -> None:
        """In another room other words are in sight."""
        self.call_after_refresh(self._look)

    def take_key(self, event: events.Key) -> bool:
        """Only `y` agrees, and only to what was read."""
        if event.key in ("y", "n"):
            if event.key == "n" or self._is_read:
                self.dismiss(event.key == "y")
            return True
        self.call_after_refresh(self._look)
        return super().take_key(event)

    def _look(self) -> None:
        if not self.is_attached or not self._lines.line_count() or not self._lines.size.height:
            return  # nothing was drawn yet
        self._is_read = self._is_read or self._lines.top >= self._lines.furthest_top
        self.set_lines("consent-foot", [_keys(is_read=self._is_read)])


def _keys(*, is_read: bool) -> Line:
    back: Sequence[Span] = (Span("esc", "key"), Span(" back, nothing runs", "muted"))
    if not is_read:
        return line(Span("j", "key"), Span(" reads on; it can be agreed to at its end   ", "attention"), *back)
    return line(Span("y", "key"), Span(" run it, now and from now on   ", "muted"), *back)
