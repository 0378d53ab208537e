"""Offers a few ways on, each by its own key."""

from collections.abc import Sequence

from textual import events
from textual.app import ComposeResult

from colonizer_config.value import Value
from colonizer_tui.dialogs.dialog import Dialog, above_keys, box_width
from colonizer_tui.present.line import EMPTY, Line, Span, line, wrap
from colonizer_tui.widgets.lines import Lines


class Way(Value):
    """One way on."""

    key: str
    name: str
    """What the dialog's result is."""
    words: str


class Choice(Dialog[str]):
    """The name of the chosen way."""

    def __init__(self, title: str, text: str, ways: Sequence[Way]) -> None:
        super().__init__()
        self._title, self._text, self._ways = title, text, ways

    def parts(self) -> ComposeResult:
        """One block of lines."""
        yield Lines(id="choice-text")

    def on_mount(self) -> None:
        """Shows the ways."""
        self._draw()

    def on_resize(self) -> None:
        """Wraps the text anew."""
        self._draw()

    def take_key(self, event: events.Key) -> bool:
        """A way's own key takes it."""
        for way in self._ways:
            if event.key == way.key:
                self.dismiss(way.name)
                return True
        return super().take_key(event)

    def _draw(self) -> None:
        width = box_width(self)
        shown: list[Line] = [(Span(self._title, "strong"),), EMPTY]
        shown += [(Span(part),) for part in wrap(self._text, width)]
        keys = [line(Span(f"{way.key:<4}", "key"), Span(way.words, "muted")) for way in self._ways]
        keys.append(line(Span("esc ", "key"), Span("back", "muted")))
        self.set_lines("choice-text", above_keys(self, shown, [EMPTY, *keys]))
