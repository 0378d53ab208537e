"""The inbox: everything that waits for the person, answerable in place."""

from collections.abc import Sequence

from textual.app import ComposeResult
from textual.containers import Vertical

from colonizer_client.identity import ColonyKey
from colonizer_client.snapshot import Topics
from colonizer_tui.intents import CardLeft, ColonyOpened
from colonizer_tui.panes.inbox import InboxList
from colonizer_tui.present.line import EMPTY, Line, Span, line, wrap
from colonizer_tui.present.view import View
from colonizer_tui.widgets.keys_to import give_keys
from colonizer_tui.widgets.lines import Lines
from colonizer_tui.workspaces.detail import Detail
from colonizer_tui.workspaces.workspace import NARROW, Workspace


class NeedsYou(Workspace):
    """Needs on the left, the card or the colony on the right; in a narrow terminal one of them."""

    DEFAULT_CSS = """
    NeedsYou #needs-left { width: 46%; height: 1fr; border-right: solid $edge; }
    NeedsYou #needs-calm { display: none; padding: 1 2; height: 1fr; }
    NeedsYou.empty #needs-calm { display: block; }
    NeedsYou.empty InboxList { display: none; }
    NeedsYou.narrow #needs-left { width: 1fr; border-right: none; }
    NeedsYou.narrow #needs-detail { display: none; }
    NeedsYou.narrow.card #needs-detail { display: block; }
    NeedsYou.narrow.card #needs-left { display: none; }
    """

    def compose(self) -> ComposeResult:
        """Inbox and detail."""
        with Vertical(id="needs-left"):
            yield Lines(id="needs-head")
            yield InboxList(id="needs-list")
            yield Lines(id="needs-calm")
        yield Detail(prefers_card=True, id="needs-detail")

    @property
    def list(self) -> InboxList:
        """The inbox."""
        return self.query_one(InboxList)

    @property
    def detail(self) -> Detail:
        """The right side."""
        return self.query_one(Detail)

    @property
    def colony(self) -> ColonyKey | None:
        """The colony of the need under the cursor."""
        return self.list.selected

    def show(self, view: View, topics: Topics) -> None:
        """Shows a moment."""
        del topics
        self.view = view
        self.set_class(self.size.width < NARROW, "narrow")
        self.set_class(not view.needs, "empty")
        self.list.show(view)
        head = "by urgency and risk, then the oldest first" if view.needs else ""
        self.query_one("#needs-head", Lines).set_lines([(Span(f" {head}", "dim"),)])
        width = max(self.query_one("#needs-left").size.width - 5, 20)
        self.query_one("#needs-calm", Lines).set_lines(_calm(view, width))
        self.call_later(self._show_detail)

    def focus_first(self) -> None:
        """The inbox."""
        give_keys(self.list)

    def hints(self) -> Sequence[str]:
        """What helps most with the selected need."""
        if self.detail.card.is_open:
            return ("send", "view", "back")
        return ("answer", "enter", "diff", "stop", "resume", "message", "next_need")

    def do_enter(self) -> None:
        """Opens the card; a need without a question opens its colony."""
        key = self.colony
        if key is None:
            return
        if key in self.view.snapshot.questions:
            self.open_card()
        else:
            self.post_message(ColonyOpened(key))

    def open_card(self) -> None:
        """Gives the card the keys."""
        key = self.colony
        if key is not None:
            self.set_class(True, "card")
            self.detail.open_card(key, self.view)

    def on_card_left(self, event: CardLeft) -> None:
        """The inbox gets the keys back."""
        del event
        self.leave_card()

    def leave_card(self) -> None:
        """Gives the keys back to the inbox."""
        self.set_class(False, "card")
        if self.detail.card.is_open:  # else the person has gone on already
            give_keys(self.list)

    def _show_detail(self) -> None:
        self.detail.show(self.colony, self.view)


def _calm(view: View, width: int) -> list[Line]:
    count = len(view.snapshot.colonies)
    shown: list[Line] = [(Span("Nothing needs you.", "ok"),), EMPTY]
    words = "Questions, holds and failures of all hosts come here by themselves, the most urgent first."
    shown += [(Span(part, "muted"),) for part in wrap(words, width)]
    if not count:
        shown += [EMPTY, line(Span("c", "key"), Span("  launch a colony", "muted"))]
    return shown
