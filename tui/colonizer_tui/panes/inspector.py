"""The selected colony at a glance."""

from colonizer_client.identity import ColonyKey
from colonizer_tui.present import inspector
from colonizer_tui.present.line import Line, Span
from colonizer_tui.present.view import View
from colonizer_tui.widgets.line_view import LineView


class InspectorPane(LineView):
    """Status and why, the question, what changed, the last events."""

    DEFAULT_CSS = """
    InspectorPane { padding: 0 0 0 1; }
    """

    def __init__(self, *, id: str | None = None) -> None:  # noqa: A002  # Textual's name
        super().__init__(id=id)
        self._key: ColonyKey | None = None
        self._lines: list[Line] = []
        self._view = View()

    def show(self, key: ColonyKey | None, view: View) -> None:
        """Shows a colony as it is at this moment; another one from its top."""
        if key != self._key:
            self._key = key
            self.top = 0
        self._view = view
        self._lines = self._made()
        self.repaint_changed()

    def line_count(self) -> int:
        """As many lines as there is to say."""
        return len(self._lines)

    def line_at(self, index: int) -> Line:
        """One line."""
        return self._lines[index]

    def on_resize(self) -> None:
        """The texts are wrapped anew."""
        self._lines = self._made()
        self.repaint()

    def _made(self) -> list[Line]:
        colony = None if self._key is None else self._view.snapshot.colonies.get(self._key)
        if colony is None:
            return [(Span("nothing is selected", "dim"),)]
        return inspector.lines(colony, self._view, self.text_width - 1, self.glyphs)
