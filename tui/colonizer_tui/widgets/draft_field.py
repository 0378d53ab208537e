"""A field for text of any number of lines, which is kept until it is sent."""

from dataclasses import dataclass

from textual import events
from textual.message import Message
from textual.widgets import TextArea

from colonizer_tui.guard import printable

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

    @dataclass
    class Submitted(Message):
        """Enter was pressed in a field where it sends."""

        field: "DraftField"

        @property
        def control(self) -> "DraftField":
            """The field."""
            return self.field

    def __init__(self, *, placeholder: str = "", enter_sends: bool = False, id: str | None = None) -> None:  # noqa: A002
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
        self.enter_sends = enter_sends

    def set_text(self, text: str) -> None:
        """Puts another text in, the cursor at its end; nothing happens where it is the same."""
        if text != self.text:
            self.text = text
            self.move_cursor(self.document.end)

    def on_key(self, event: events.Key) -> None:
        """Enter sends where the field says so; ctrl+j is a line feed everywhere."""
        if event.key == "enter" and self.enter_sends:
            event.stop()
            event.prevent_default()
            self.post_message(self.Submitted(self))
        elif event.key == "ctrl+j":
            event.stop()
            event.prevent_default()
            self.insert("\n")

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
        self.insert(text)

    def on_focus(self) -> None:
        """A real cursor stands where the person types."""
        _show_hardware_cursor(self, is_shown=True)

    def on_blur(self) -> None:
        """Nothing is typed here any more."""
        _show_hardware_cursor(self, is_shown=False)


def _show_hardware_cursor(field: TextArea, *, is_shown: bool) -> None:
    """Textual moves the terminal's cursor to the field that has the focus, but leaves it hidden."""
    driver = field.app._driver  # pyright: ignore[reportPrivateUsage, reportUnknownMemberType]
    if driver is not None and not driver.is_headless:
        driver.write("\x1b[?25h" if is_shown else "\x1b[?25l")
        driver.flush()
