"""All colonies of all hosts, and the selected one beside them."""

from collections.abc import Sequence

from textual.app import ComposeResult
from textual.containers import Vertical

from colonizer_client.identity import ColonyKey
from colonizer_client.snapshot import Topics
from colonizer_tui.keys import Hint, hints_of
from colonizer_tui.panes.colony_list import ColonyList
from colonizer_tui.panes.query_bar import QueryBar
from colonizer_tui.panes.transcript import TranscriptPane
from colonizer_tui.present import bulk, fleet, inspector, query, states
from colonizer_tui.present.digest import colony_name
from colonizer_tui.present.first_run import first_run
from colonizer_tui.present.line import Line, Span, line, spread
from colonizer_tui.present.query import Query
from colonizer_tui.present.view import View
from colonizer_tui.widgets.ink import ink_of
from colonizer_tui.widgets.keys_to import give_keys
from colonizer_tui.widgets.lines import Lines
from colonizer_tui.workspaces.detail import Detail
from colonizer_tui.workspaces.workspace import NARROW, WIDE, Workspace


class Fleet(Workspace):
    """The list on the left, the inspector or the card on the right; in a narrow terminal one of them."""

    DEFAULT_CSS = """
    Fleet #fleet-left { width: 58%; height: 1fr; border-right: solid $edge; }
    Fleet #fleet-welcome { display: none; padding: 1 2; height: 1fr; }
    Fleet.empty #fleet-welcome { display: block; }
    Fleet.empty ColonyList, Fleet.empty #fleet-caption { display: none; }
    Fleet #fleet-line { display: none; }
    Fleet.narrow #fleet-left { width: 1fr; border-right: none; }
    Fleet.narrow #fleet-line { display: block; }
    Fleet.narrow #fleet-detail { display: none; }
    Fleet.narrow.card #fleet-detail { display: block; }
    Fleet.narrow.card #fleet-left { display: none; }
    Fleet #fleet-peek { display: none; width: 36%; height: 1fr; border-left: solid $edge; }
    Fleet.wide #fleet-peek { display: block; }
    Fleet.wide #fleet-left { width: 40%; }
    """

    def __init__(self, *, id: str | None = None) -> None:  # noqa: A002  # Textual's name
        super().__init__(id=id)
        self.list = ColonyList(id="fleet-list")
        self.detail = Detail(prefers_card=False, id="fleet-detail")
        self.detail.card.left = self.leave_card
        self.peek = TranscriptPane(id="fleet-transcript")
        """The transcript of the selected colony, in a wide terminal."""
        self._head, self._caption, self._peek_head = Lines(), Lines(id="fleet-caption"), Lines()
        self._welcome, self._one_line = Lines(id="fleet-welcome"), Lines(id="fleet-line")
        self._query_bar = QueryBar(lambda: give_keys(self.list), lambda: self.view, self.look_for)
        self._wanted: ColonyKey | None = None

    def compose(self) -> ComposeResult:
        """List, detail, transcript."""
        with Vertical(id="fleet-left"):
            yield self._head
            yield self._caption
            yield self.list
            yield self._welcome
            yield self._one_line
            yield self._query_bar
        yield self.detail
        with Vertical(id="fleet-peek"):
            yield self._peek_head
            yield self.peek

    @property
    def colony(self) -> ColonyKey | None:
        """The colony under the cursor."""
        return self.list.selected

    @property
    def peeks(self) -> bool:
        """Whether there is room for the transcript of the selected colony."""
        return self.room >= WIDE and bool(self.view.snapshot.colonies)

    def show(self, view: View, topics: Topics) -> None:
        """Shows a moment."""
        self.view = view
        self.set_class(self.room < NARROW, "narrow")
        self.set_class(self.peeks, "wide")
        was_empty = self.has_class("empty")
        self.set_class(not view.snapshot.colonies, "empty")
        self.list.show(view, topics)
        if self._wanted is not None and self._wanted in view.snapshot.colonies:
            self.list.reorder(now=True)
            self.list.select(self._wanted)
            self._wanted = None
        if was_empty and view.snapshot.colonies:
            self.focus_first()
        self._show_frame()
        self.call_later(self._show_detail)

    def focus_first(self) -> None:
        """The list."""
        give_keys(self.list)

    def hints(self) -> Sequence[Hint]:
        """What helps most with the selected colony."""
        if self._query_bar.is_open:
            return self._query_bar.hints()
        if self.detail.card.is_open:
            return self.detail.card.hints()
        if not self.view.snapshot.colonies:
            return hints_of("colonize", "connections", "quit")
        if marked := self.list.marked:
            many = {name: f" {bulk.count_of(name, marked, self.view):,}" for name in bulk.DEEDS}
            deeds = (Hint(name, deed.verb + many[name]) for name, deed in bulk.DEEDS.items())
            return *deeds, Hint("back", "unmark all"), *hints_of("mark", "find")
        opening = Hint("enter", reason="" if self.colony else "nothing is selected")
        all_again = (Hint("back", "show all"),) if self.list.sought else ()
        return (
            *hints_of("answer"),
            opening,
            *all_again,
            *hints_of("diff", "stop", "resume", "message", "colonize", "find", "next_need"),
            *hints_of("go_to", "mark", "explain", "order"),
        )

    def select_new(self, key: ColonyKey) -> None:
        """Puts the cursor on a colony that was just launched, as soon as it is in the list."""
        self._wanted = key

    def open_card(self) -> None:
        """Opens the card in the place of the inspector."""
        key = self.colony
        if key is not None:
            self.detail.open_card(key, self.view)
            self.set_class(True, "card")  # after it: another card that was open takes the class off when it is left

    def do_find(self) -> None:
        """Opens the find bar."""
        self._query_bar.open()

    def do_back(self) -> bool:
        """Takes the marks off, then drops what is looked for; False where there is neither."""
        if self.list.marked:
            self.list.drop_marks()
        elif self.list.sought:
            self._query_bar.close()
        else:
            return False
        return True

    def leave_card(self) -> None:
        """Puts the inspector back in the place of the card."""
        self.set_class(False, "card")
        self.detail.close_card()
        give_keys(self.list)
        self.call_later(self._show_detail)

    def look_for(self, sought: Query) -> None:
        """Shows the colonies that are looked for."""
        self.list.look_for(sought)
        self._show_frame()
        self._show_detail()

    def _show_detail(self) -> None:
        if not self.is_attached:
            return  # the application is ending
        self.detail.show(self.colony, self.view)
        if self.peeks:
            self.peek.show(self.colony, self.view)
            text, role = self.peek.status() if self.colony is not None else ("", "")
            self._peek_head.set_lines([(Span(f" {text}", role),)])

    def _show_frame(self) -> None:
        colonies, shown = len(self.view.snapshot.colonies), len(self.list.keys)
        self._head.set_lines([self._head_line(colonies, shown)])
        self._caption.set_lines([fleet.caption(self.list.columns)])
        self._one_line.set_lines([self._selected_line()])
        if not colonies:
            self._welcome.set_lines(first_run(self.view, max(self._head.size.width - 4, 20)))

    def _head_line(self, colonies: int, shown: int) -> Line:
        left: Line = (Span(" "),)
        if self.list.sought and not self._query_bar.is_open:
            left = query.told(self.list.sought)
        count = f"{shown:,} of {colonies:,}" if self.list.sought else f"{colonies:,}"
        noun = " colony" if colonies == 1 else " colonies"
        is_known = any(state.as_of is not None for state in self.view.snapshot.endpoints.values())
        right: Line = (Span(f"{count}{noun} " if colonies or is_known else "", "muted"),)
        glyphs = ink_of(self).glyphs
        if marked := self.list.marked:
            right = (Span(f"{glyphs['marked']} {len(marked):,} marked · ", "active-strong"), *right)
        if self.list.newly_urgent:
            glyph = glyphs["up"]
            right = (Span(f"{glyph} {self.list.newly_urgent} new · ", "attention-strong"), *right)
        return spread(left, right, self._head.size.width)

    def _selected_line(self) -> Line:
        colony = self.list.colony
        if colony is None:
            return ()
        text, role = inspector.sentence(colony, self.view)
        is_unsandboxed = states.is_unsandboxed(colony, self.view.snapshot.endpoint_of(colony.key))
        warning = Span("  not sandboxed", "attention") if is_unsandboxed else Span("")
        return line(Span(f" {colony_name(colony)} · ", "muted"), Span(text, role), warning)
