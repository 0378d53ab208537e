"""The inbox: everything that waits for the person, answerable in place."""

from collections.abc import Sequence

from textual.app import ComposeResult
from textual.containers import Vertical

from colonizer_client.identity import ColonyKey
from colonizer_client.snapshot import Topics
from colonizer_tui.intents import desk_of
from colonizer_tui.keys import Hint, hints_of
from colonizer_tui.panes.approvals import ApprovalList
from colonizer_tui.panes.inbox import InboxList
from colonizer_tui.panes.query_bar import QueryBar
from colonizer_tui.present import approvals, query
from colonizer_tui.present.line import EMPTY, Line, Span, line, spread, wrap
from colonizer_tui.present.query import Query
from colonizer_tui.present.view import View
from colonizer_tui.widgets.keys_to import give_keys, has_keys
from colonizer_tui.widgets.lines import Lines
from colonizer_tui.workspaces.detail import Detail
from colonizer_tui.workspaces.workspace import NARROW, Workspace


class NeedsYou(Workspace):
    """Needs on the left, the card or the colony on the right; in a narrow terminal one of them."""

    DEFAULT_CSS = """
    NeedsYou #needs-left { width: 46%; height: 1fr; border-right: solid $edge; }
    NeedsYou #needs-calm { display: none; padding: 1 2; height: 1fr; }
    NeedsYou.empty #needs-calm { display: block; }
    NeedsYou.no-needs InboxList { display: none; }
    NeedsYou #needs-calls-head { display: none; }
    NeedsYou ApprovalList { display: none; }
    NeedsYou #needs-call { display: none; width: 1fr; padding: 0 1; }
    NeedsYou.call #needs-call { display: block; }
    NeedsYou.call #needs-detail, NeedsYou.narrow #needs-call { display: none; }
    NeedsYou.calls #needs-calls-head, NeedsYou.calls ApprovalList { display: block; }
    NeedsYou.narrow #needs-left { width: 1fr; border-right: none; }
    NeedsYou.narrow #needs-detail { display: none; }
    NeedsYou.narrow.card #needs-detail { display: block; }
    NeedsYou.narrow.card #needs-left { display: none; }
    """

    def __init__(self, *, id: str | None = None) -> None:  # noqa: A002  # Textual's name
        super().__init__(id=id)
        self.list = InboxList(id="needs-list")
        self.calls = ApprovalList(id="needs-calls")
        self._calls_head, self._call = Lines(id="needs-calls-head"), Lines(id="needs-call")
        self.detail = Detail(prefers_card=True, id="needs-detail")
        self.detail.card.left = self.leave_card
        self._head, self._calm = Lines(), Lines(id="needs-calm")
        self._query_bar = QueryBar(lambda: give_keys(self.list), lambda: self.view, self.look_for)

    def compose(self) -> ComposeResult:
        """Inbox and detail."""
        with Vertical(id="needs-left"):
            yield self._calls_head
            yield self.calls
            yield self._head
            yield self.list
            yield self._calm
            yield self._query_bar
        yield self.detail
        yield self._call

    @property
    def colony(self) -> ColonyKey | None:
        """The colony of the need under the cursor; none while a call is, so that no key means one that is not shown."""
        return None if has_keys(self.calls) else self.list.selected

    def show(self, view: View, topics: Topics) -> None:
        """Shows a moment."""
        del topics
        self.view = view
        self.set_class(self.room < NARROW, "narrow")
        calls = view.snapshot.approvals
        had_keys = has_keys(self.calls)
        was_empty = self.has_class("empty")
        self.set_class(not view.needs, "no-needs")
        self.set_class(not view.needs and not calls, "empty")
        self.set_class(bool(calls), "calls")
        self._calls_head.set_lines([approvals.head(len(calls))])
        self.calls.show(view)
        self.list.show(view)
        if (was_empty and (view.needs or calls)) or (had_keys and not calls):
            self.focus_first()
        self._head.set_lines([self._head_line()])
        self._calm.set_lines(_calm_lines(view, max(self._head.size.width - 5, 20)))
        self.call_later(self._show_detail)

    def focus_first(self) -> None:
        """The calls of agents where there are some, else the inbox."""
        give_keys(self.calls if self.view.snapshot.approvals else self.list)

    def do_next_pane(self) -> None:
        """From the calls of agents to what colonies need, and back."""
        give_keys(self.calls if self.view.snapshot.approvals and not has_keys(self.calls) else self.list)

    def do_previous_pane(self) -> None:
        """The other one of the two."""
        self.do_next_pane()

    def hints(self) -> Sequence[Hint]:
        """What helps most with the selected need."""
        if self.detail.card.is_open:
            return self.detail.card.hints()
        if self._query_bar.is_open:
            return self._query_bar.hints()
        if has_keys(self.calls):
            return self.calls.hints()
        if not self.view.needs:
            return hints_of("fleet", "colonize", "quit")
        calls = (Hint("next_pane", "to the calls of agents"),) if self.view.snapshot.approvals else ()
        all_again = (Hint("back", "show all"),) if self.list.sought else ()
        return (
            *hints_of("answer", "enter"),
            *calls,
            *all_again,
            *hints_of("diff", "stop", "resume", "message", "find", "next_need", "explain"),
        )

    def do_enter(self) -> None:
        """Opens the card; a need without a question opens its colony."""
        key = self.colony
        if key is None:
            return
        if key in self.view.snapshot.questions:
            self.open_card()
        else:
            desk_of(self).open_colony(key)

    def do_find(self) -> None:
        """Opens the find bar."""
        self._query_bar.open()

    def do_back(self) -> bool:
        """Drops what is looked for; False where that is nothing."""
        if not self.list.sought:
            return False
        self._query_bar.close()
        return True

    def look_for(self, sought: Query) -> None:
        """Shows the needs that are looked for."""
        self.list.look_for(sought)
        self._head.set_lines([self._head_line()])
        self._show_detail()

    def open_card(self) -> None:
        """Gives the card the keys."""
        key = self.colony
        if key is not None:
            self.detail.open_card(key, self.view)
            self.set_class(True, "card")  # after it: another card that was open takes the class off when it is left

    def leave_card(self) -> None:
        """Gives the keys back to the inbox."""
        self.set_class(False, "card")
        give_keys(self.list)

    def _head_line(self) -> Line:
        count = len(self.view.needs)
        if not count:
            return ()
        looked_for = self.list.sought
        right: Line = (Span(f"{len(self.list.keys):,} of {count:,} ", "muted"),) if looked_for else ()
        is_all_there = self.view.answerable == count
        then = ", then the oldest first" if is_all_there else "; silent hosts last"
        left: Line = (Span(f" by urgency and risk{then}", "dim"),)
        if looked_for and not self._query_bar.is_open:
            left = query.told(looked_for)
        return spread(left, right, self._head.size.width)

    def _show_detail(self) -> None:
        call = self.calls.approval if has_keys(self.calls) else None
        self.set_class(call is not None, "call")
        if call is not None and not self.has_class("narrow"):
            self._call.set_lines(approvals.whole(call, self.view.now, max(self._call.size.width - 2, 20)))
        self.detail.show(self.colony, self.view)


def _calm_lines(view: View, width: int) -> list[Line]:
    count = len(view.snapshot.colonies)
    shown: list[Line] = [(Span("Nothing needs you.", "ok"),), EMPTY]
    words = "Questions, holds and failures of all hosts come here by themselves, the most urgent first."
    shown += [(Span(part, "muted"),) for part in wrap(words, width)]
    if not count:
        shown += [EMPTY, line(Span(view.shown("colonize"), "key"), Span("  launch a colony", "muted"))]
    return shown
