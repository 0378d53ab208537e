"""Gives a widget the keys at once."""

from textual.widget import Widget


def give_keys(widget: Widget) -> None:
    """The next key goes to this widget.

    `Widget.focus` does it a moment later: a key that was pressed right behind the one that led here would still reach
    what had the keys before, and mean something else there.
    """
    if widget.is_attached:
        widget.screen.set_focus(widget)


def has_keys(widget: Widget) -> bool:
    """Whether the next key goes to this widget."""
    return widget.is_attached and widget.screen.focused is widget
