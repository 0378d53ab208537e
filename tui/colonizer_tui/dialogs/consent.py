"""Asks for a person's word on a text that has to be read to its end."""

from collections.abc import Sequence

from textual import events
from textual.app import ComposeResult

from colonizer_config.value import Value
from colonizer_tui.dialogs.dialog import Dialog
from colonizer_tui.dialogs.page import Maker, PageLines
from colonizer_tui.present.line import Line, Span, line
from colonizer_tui.widgets.keys_to import give_keys
from colonizer_tui.widgets.lines import Lines


class Wording(Value):
    """What the keys do, in words."""

    yes: str
    unread: str
    """What is said until the end was in sight."""
    back: str
    no: str = ""
    """What `n` does; it is not offered where this is empty, and then the same as going back."""


TO_RUN = Wording("run it, now and from now on", "reads on; y once all was seen", "back, nothing runs")
"""For a program that is to run."""


class Consent(Dialog[bool]):
    """True when the person agrees with `y`, which counts once the last word was in sight; False with `n`."""

    DEFAULT_CSS = """
    Consent #dialog-box { width: 90; }
    Consent PageLines { height: auto; max-height: 100%; background: $panel; }
    Consent #consent-foot { dock: bottom; height: 1; margin-top: 1; }
    """

    def __init__(self, make: Maker, wording: Wording = TO_RUN) -> None:
        super().__init__()
        self._make = make
        self._wording = wording
        self._lines = PageLines(make)
        self._is_read = False
        self._unseen: set[int] | None = None
        """The lines that were not in sight yet; who jumps to the end has not seen what lies before it."""

    def parts(self) -> ComposeResult:
        """The words and the keys."""
        yield self._lines
        yield Lines(id="consent-foot")

    def on_mount(self) -> None:
        """The words can be scrolled through."""
        give_keys(self._lines)
        self.call_after_refresh(self._look)

    def on_resize(self) -> None:
        """In another room other words are in sight: what was not read to its end is begun anew."""
        self._unseen = None
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
        if self._unseen is None:
            self._unseen = set(range(self._lines.line_count()))
        self._unseen.difference_update(range(self._lines.top, self._lines.top + self._lines.page))
        self._is_read = self._is_read or not self._unseen
        self.set_lines("consent-foot", [_keys(self._wording, is_read=self._is_read)])


def _keys(wording: Wording, *, is_read: bool) -> Line:
    back: Sequence[Span] = (Span("esc", "key"), Span(f" {wording.back}", "muted"))
    no = (Span("n", "key"), Span(f" {wording.no}   ", "muted")) if wording.no else ()
    if not is_read:
        return line(Span("j", "key"), Span(f" {wording.unread}   ", "attention"), *no, *back)
    return line(Span("y", "key"), Span(f" {wording.yes}   ", "muted"), *no, *back)
