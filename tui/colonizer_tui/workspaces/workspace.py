"""What every workspace is."""

from collections.abc import Sequence

from textual.widget import Widget

from colonizer_client.identity import ColonyKey
from colonizer_client.snapshot import Topics
from colonizer_tui.keys import Hint
from colonizer_tui.present.view import View
from colonizer_tui.widgets.lines import Lines

NARROW = 100
"""Below this many columns one pane is shown at a time."""

WIDE = 170
"""From this many columns on a third pane has room."""


class Workspace(Widget):
    """A screenful between header and footer. It is given moments and posts intents."""

    DEFAULT_CSS = """
    Workspace { layout: horizontal; height: 1fr; width: 1fr; }
    """

    def __init__(self, *, id: str | None = None) -> None:  # noqa: A002  # Textual's name
        super().__init__(id=id)
        self.view = View()

    @property
    def room(self) -> int:
        """How many columns there are, while it is hidden too: what it shows need not be set anew when it comes back."""
        return self.screen.size.width

    def show(self, view: View, topics: Topics) -> None:
        """Shows a moment."""
        raise NotImplementedError

    def on_lines_widened(self, event: Lines.Widened) -> None:
        """Shows the same moment again in the new width."""
        event.stop()
        self.show(self.view, Topics())

    def focus_first(self) -> None:
        """Gives the keys to the pane that a person expects them in."""
        raise NotImplementedError

    @property
    def colony(self) -> ColonyKey | None:
        """The colony that the keys are about."""
        return None

    def hints(self) -> Sequence[Hint]:
        """What helps most now, the most useful first."""
        raise NotImplementedError
