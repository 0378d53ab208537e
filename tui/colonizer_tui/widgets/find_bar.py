"""The line in which a person types what they search for."""

from dataclasses import dataclass

from textual import events
from textual.message import Message
from textual.widgets import Input

from colonizer_tui.widgets.keys_to import give_keys


class FindBar(Input):
    """Opens at the edge of a pane. What is typed is searched for at once; enter keeps it, esc drops it."""

    DEFAULT_CSS = """
    FindBar { height: 1; border: none; padding: 0 1; background: $panel; display: none; }
    FindBar.shown { display: block; }
    FindBar:focus { border: none; }
    """

    @dataclass
    class Sought(Message):
        """The text changed; empty when nothing is searched for any more."""

        bar: "FindBar"
        text: str

    @dataclass
    class Closed(Message):
        """The keys go back to what was searched."""

        bar: "FindBar"

    def __init__(self, *, id: str | None = None) -> None:  # noqa: A002  # Textual's name
        super().__init__(id=id, placeholder="find…", compact=True, select_on_focus=False)
        self.cursor_blink = False

    def open(self) -> None:
        """Takes the keys."""
        self.add_class("shown")
        give_keys(self)

    def close(self) -> None:
        """Drops what is searched for."""
        self.value = ""
        self.remove_class("shown")

    def on_input_changed(self, event: Input.Changed) -> None:
        """Searches while typing."""
        event.stop()
        self.post_message(self.Sought(self, event.value))

    def on_input_submitted(self, event: Input.Submitted) -> None:
        """Keeps what is searched for and gives the keys back."""
        event.stop()
        if not self.value:
            self.close()
        self.post_message(self.Closed(self))

    def on_key(self, event: events.Key) -> None:
        """Esc drops what is searched for."""
        if event.key == "escape":
            event.stop()
            event.prevent_default()
            self.close()
            self.post_message(self.Closed(self))
