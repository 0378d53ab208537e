"""A field for text of any number of lines, which is kept until it is sent."""

from collections.abc import Callable

from textual import events
from textual.widgets import TextArea

from colonizer_tui.printable import printable

LIMIT_BYTES = 100_000
"""What a mothership takes as one message (spec 3.1)."""


class DraftField(TextArea):
    """Grows with its text. Line feeds in pasted text stay line feeds; nothing is sent by pasting."""

    DEFAULT_CSS = """
    DraftField {
        height: auto;
        min-height: 1;
        max-height: 8;
        border: none;
        padding: 0;
        background: $background;
        color: $foreground;
        scrollbar-size: 0 0;
    }
    DraftField:focus { border: none; }
    DraftField .text-area--cursor-line { background: $background; }
    """

    def __init__(self, *, placeholder: str = "", id: str | None = None) -> None:  # noqa: A002
        super().__init__(
            id=id,
            placeholder=placeholder,
            soft_wrap=True,
            show_line_numbers=False,
            tab_behavior="focus",
            highlight_cursor_line=False,
            compact=True,
        )
        self.cursor_blink = False

    def set_text(self, text: str) -> None:
        """Puts another text in, the cursor at its end; nothing happens where it is the same."""
        if text != self.text:
            self.text = text
            self.move_cursor(self.document.end)

    def on_key(self, event: events.Key) -> None:
        """Ctrl+j is a line feed everywhere: enter may send."""
        if event.key == "ctrl+j":
            event.stop()
            event.prevent_default()
            self._put("\n")

    def on_paste(self, event: events.Paste) -> None:
        """Takes pasted text whole or not at all; what could steer a terminal is left out of it."""
        event.stop()
        event.prevent_default()
        text = printable(event.text.replace("\r\n", "\n").replace("\r", "\n"))
        if len(self.text.encode()) + len(text.encode()) > LIMIT_BYTES:
            self.notify(
                f"{len(text):,} characters are too many: a message holds {LIMIT_BYTES:,} bytes. Nothing was pasted.",
                severity="warning",
                markup=False,
            )
            return
        self._put(text)

    def _put(self, text: str) -> None:
        """Puts a text in the place of what is selected, the cursor behind it."""
        start, end = self.selection
        self.replace(text, start, end, maintain_selection_offset=False)


class MessageField(DraftField):
    """A field in which enter sends; ctrl+j is a line feed."""

    def __init__(self, send: Callable[[], None], *, placeholder: str = "") -> None:
        super().__init__(placeholder=placeholder)
        self._send = send

    def do_enter(self) -> None:
        """Sends what was typed."""
        self._send()
