"""The right side of a list: the colony at a glance, or the card of its question."""

from textual.app import ComposeResult
from textual.widget import Widget

from colonizer_client.identity import ColonyKey
from colonizer_tui.panes.card import CardPane
from colonizer_tui.panes.inspector import InspectorPane
from colonizer_tui.present.view import View


class Detail(Widget):
    """Shows the inspector; the card where it is wanted and something is asked."""

    DEFAULT_CSS = """
    Detail { layout: vertical; height: 1fr; width: 1fr; }
    """

    def __init__(self, *, prefers_card: bool, id: str | None = None) -> None:  # noqa: A002  # Textual's name
        super().__init__(id=id)
        self.prefers_card = prefers_card
        """Whether a question is shown as its card without being asked for."""
        self.inspector = InspectorPane()
        self.card = CardPane()
        self._is_card_wanted = False
        self._key: ColonyKey | None = None

    def compose(self) -> ComposeResult:
        """Both, one of them hidden."""
        yield self.inspector
        yield self.card

    @property
    def shows_card(self) -> bool:
        """Whether the card is in front."""
        return self.card.display

    def show(self, key: ColonyKey | None, view: View) -> None:
        """Shows a colony as it is at this moment."""
        if key != self._key:
            self._key, self._is_card_wanted = key, False
        question = None if key is None else view.snapshot.questions.get(key)
        is_card = question is not None and (self.prefers_card or self._is_card_wanted)
        if not is_card and self.shows_card and self.card.is_open:
            self.card.withdraw("it does not ask this any more", view)
        self.card.display, self.inspector.display = is_card, not is_card
        if is_card and key is not None and question is not None:
            self.card.show(key, question, view)
        else:
            self.inspector.show(key, view)

    def open_card(self, key: ColonyKey, view: View) -> None:
        """Brings the card to the front and gives it the keys."""
        self._is_card_wanted = True
        self.show(key, view)
        if self.shows_card:
            self.card.open()

    def close_card(self) -> None:
        """The next moment shows the inspector again, where the card was asked for."""
        self._is_card_wanted = False
