"""What every dialog is: it names what it is about, says its keys, and has one result."""

from collections.abc import Sequence
from typing import Generic, TypeVar

from textual import events
from textual.app import ComposeResult
from textual.containers import Vertical
from textual.screen import ModalScreen
from textual.widget import Widget

from colonizer_tui.present import header
from colonizer_tui.present.line import CUT, Line, Span, column, cut, wrap
from colonizer_tui.widgets.ink import ink_of
from colonizer_tui.widgets.keys_to import has_keys
from colonizer_tui.widgets.lines import Lines

T = TypeVar("T")


class Dialog(ModalScreen[T], Generic[T]):
    """A box over the screen, opened by a key of the person and by nothing else. Esc leaves it without effect."""

    DEFAULT_CSS = """
    Dialog { align: center middle; background: $background 60%; layers: below above; }
    Dialog #dialog-box {
        width: 72; max-width: 96%; height: auto; max-height: 94%; padding: 1 2;
        background: $panel; border: round $edge-focus;
    }
    Dialog Input:focus, Dialog TextArea:focus { background-tint: $background 0%; }
    Dialog #dialog-box Lines { background: $panel; height: auto; }
    Dialog #dialog-too-small { layer: above; dock: top; height: 100%; display: none; }
    Dialog.small #dialog-too-small { display: block; }
    """

    def compose(self) -> ComposeResult:
        """The box with the dialog's own parts, and what covers it where there is no room for it."""
        with Vertical(id="dialog-box"):
            yield from self.parts()
        too_small = Lines(id="dialog-too-small")
        too_small.set_lines([header.TOO_SMALL])
        yield too_small

    def parts(self) -> ComposeResult:
        """What stands in the box."""
        raise NotImplementedError

    def take_key(self, event: events.Key) -> bool:
        """Whether the key is the dialog's own. Esc leaves without effect."""
        if event.key == "escape":
            self.dismiss(None)
            return True
        return False

    def do_next_pane(self) -> None:
        """The next field."""
        self.focus_next()

    def do_previous_pane(self) -> None:
        """The previous field."""
        self.focus_previous()

    def on_mount(self) -> None:
        """The parts stand on the colour of the box."""
        for lines in self.query("#dialog-box Lines").results(Lines):
            lines.ground = "panel"

    def on_resize(self) -> None:
        """Below the smallest size one line says so, as without a dialog."""
        self.set_class(header.is_too_small(self.size), "small")

    def set_lines(self, name: str, lines: list[Line]) -> None:
        """Shows lines in one of the dialog's parts."""
        for part in self.query(f"#{name}").results(Lines):  # none where the dialog has just been left
            part.set_lines(lines)


def box_width(dialog: Widget, width: int = 72) -> int:
    """How many cells a line of a dialog has whose box is so wide where there is room."""
    return max(min(width, int(dialog.size.width * 0.96)) - 6, 10)


def field_label(dialog: Widget, name: str, field: Widget, width: int) -> Line:
    """What stands before a field: its name, marked where the field has the keys."""
    if has_keys(field):
        return Span(ink_of(dialog).glyphs["select"], "active-strong"), Span(column(name, width - 1), "active-strong")
    return (Span(column(f" {name}", width), "muted"),)


def shortened(text: str, width: int, most: int) -> Sequence[str]:
    """The text in lines of at most `width` cells, `most` at the most; what is left out is out of its middle, marked."""
    rows = wrap(text, width)
    if len(rows) <= most:
        return rows
    return (*rows[: most - 2], cut(rows[most - 2] + CUT, width), rows[-1])


def above_keys(dialog: Widget, texts: Sequence[Line], keys: Sequence[Line], taken: int = 0) -> list[Line]:
    """The texts as far as there is room for them above the keys, which always are in sight.

    `taken` is how many lines the dialog's other parts need.
    """
    room = max(int(dialog.size.height * 0.94) - 4 - len(keys) - taken, 1)
    if len(texts) <= room:
        return [*texts, *keys]
    hidden = (Span(f"{CUT} {len(texts) - room + 1} lines more than have room here", "attention"),)
    return [*texts[: room - 1], hidden, *keys]
