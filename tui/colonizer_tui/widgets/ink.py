"""What every widget that draws by lines asks of the application: the theme's name and the shapes in use."""

from typing import Protocol, cast

from textual.widget import Widget

from colonizer_config.value import Value
from colonizer_tui.present.states import Glyphs


class Ink(Value):
    """With what lines are drawn."""

    theme: str
    glyphs: Glyphs


class Inked(Protocol):
    """An application that says with what to draw."""

    @property
    def ink(self) -> Ink:
        """With what lines are drawn now."""
        ...


def ink_of(widget: Widget) -> Ink:
    """With what this widget draws now."""
    return cast(Inked, widget.app).ink  # pyright: ignore[reportUnknownMemberType]  # Textual leaves its type open
