"""The line in which a person types what they search for."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from textual.message import Message
from textual.widgets import Input

from colonizer_tui.keys import Hint
from colonizer_tui.widgets.keys_to import give_keys


class FindBar(Input):
    """Opens at the edge of a pane and takes the keys. What is typed is searched for at once; enter keeps it."""

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

    def __init__(self, closed: Callable[[], None]) -> None:
        super().__init__(placeholder="/ find…", compact=True, select_on_focus=False)
        self.cursor_blink = False
        self._give_back = closed
        """Gives the keys back to what was searched."""

    def open(self) -> None:
        """Takes the keys."""
        self.add_class("shown")
        give_keys(self)

    def hints(self) -> Sequence[Hint]:
        """What helps while typing."""
        return Hint("enter", "keep it"), Hint("back", "drop it")

    def close(self) -> None:
        """Drops what is searched for."""
        self.value = ""
        self.remove_class("shown")

    def on_input_changed(self, event: Input.Changed) -> None:
        """Searches while typing."""
        event.stop()
        self.post_message(self.Sought(self, event.value))

    def do_enter(self) -> None:
        """Keeps what is searched for, which is told elsewhere from now on, and gives the keys back."""
        self.remove_class("shown")
        self._give_back()

    def do_back(self) -> None:
        """Drops what is searched for and gives the keys back."""
        self.close()
        self.post_message(self.Sought(self, ""))
        self._give_back()
