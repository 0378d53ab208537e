"""The heatmap of a kernel: which places are hot, and how they came to be."""

from collections.abc import Sequence

from colonizer_client.kernel.view import KernelView, Place
from colonizer_tui.intents import Copied, PlaceOpened, desk_of
from colonizer_tui.keys import Hint, hints_of
from colonizer_tui.panes.kernel.kernel_list import KernelList
from colonizer_tui.present.kernel import heatmap, place
from colonizer_tui.present.kernel.columns import HAZARD, HEAT_COLUMNS
from colonizer_tui.present.kernel.field import ORDERS, Field, Group, RowKey
from colonizer_tui.present.kernel.heatmap import Layout, Moment
from colonizer_tui.present.kernel.sought import Sought
from colonizer_tui.present.line import Line, Span
from colonizer_tui.widgets.keyed_list import KeyedList
from colonizer_tui.widgets.rest import Rest

ROWS_KEPT = 500
"""As many as a large screen shows, and more."""


class HeatPane(KernelList[RowKey]):
    """Places × traces. While the person moves in it, no row changes its place."""

    TITLE = "Heatmap"
    NOTHING = "No place has a trace yet."
    HELPS = (
        ("propose", "asks the gate about an action, which leaves traces"),
        ("record", "records what came of one, which leaves success or failure there"),
        ("tick", "lets all traces fade by a tick"),
    )

    def __init__(self) -> None:
        super().__init__()
        self.order = "hazard"
        self.sought = Sought()
        self.field = Field()
        self._folded: frozenset[str] = frozenset()
        self._picked = HAZARD
        self._at: int | None = None
        """The tick that is shown; None is always the newest one."""
        self._layout = Layout(80, 6)
        # Ten thousand places may come in another order with every moment; none of them waits for the person.
        self._rest = Rest(self, ordering_rests=50)
        self._is_out_of_order = False
        self._rows: dict[RowKey, tuple[object, Line]] = {}
        """The rows that were drawn last, each with what it was drawn from."""

    @property
    def moment(self) -> Moment:
        """What the rows are drawn from."""
        return Moment(self.kernel, self.now, self.field, self._layout, self._picked)

    @property
    def place(self) -> Place | None:
        """The selected place."""
        return self.field.places.get(self.selected) if isinstance(self.selected, str) else None

    @property
    def subject(self) -> str:
        """The selected place."""
        return "" if self.place is None else self.place.name.raw

    @property
    def in_sight(self) -> Sequence[str]:
        """The raw names of the places that are on the screen."""
        return [key for key in self.keys[self.top : self.top + self.page] if isinstance(key, str)]

    @property
    def is_in_the_past(self) -> bool:
        """Whether an earlier tick is shown."""
        return self._at is not None

    def follow(self, had: KernelView) -> None:
        """Takes what changed; the order changes only when the cursor rests, and never in the past."""
        if had.name != self.kernel.name:
            self.field, self._at, self._folded = Field(), None, frozenset()
        if self._at is not None and self._at not in self.kernel.ticks_kept:
            self._at = None
        self._layout = heatmap.layout(self.text_width - 1)
        if self.field.take(self.kernel, self.kernel.tick if self._at is None else self._at):
            self._is_out_of_order = True
        if self._is_out_of_order and self._at is None:
            self._reorder()

    def look_for(self, sought: Sought) -> None:
        """Shows only what is looked for."""
        self.sought = sought
        self._reorder(now=True)
        self.repaint_changed()

    def row_line(self, key: RowKey) -> Line:
        """A row."""
        is_folded = isinstance(key, Group) and key.prefix in self._folded and not self.sought
        is_selected = key == self.selected
        seen = heatmap.looks(key, self.moment), self.glyphs, is_folded, is_selected
        drawn = self._rows.get(key)
        if drawn is not None and drawn[0] == seen:
            return drawn[1]
        if len(self._rows) >= ROWS_KEPT:
            self._rows.clear()
        line = heatmap.row(key, self.moment, self.glyphs, is_folded=is_folded, is_selected=is_selected)
        self._rows[key] = seen, line
        return line

    def empty_lines(self) -> Sequence[Line]:
        """Why there is nothing."""
        if not self.sought:
            return super().empty_lines()
        return ((Span(f"   no place fits “{self.sought.text}”", "muted"),),)

    def caption(self, width: int) -> Line:
        """The names of the columns."""
        del width
        return heatmap.caption(self._layout, self._picked, is_now=self._at is None)

    def foot(self, width: int) -> Sequence[Line]:
        """The selected row in words, and the ticks that can be looked back to."""
        keys = (self.view.shown("earlier"), self.view.shown("later"), self.view.shown("back"))
        return (
            place.sentence(self.selected, self.moment, width),
            place.slider(self.selected, self.moment, width, keys, self.glyphs),
        )

    def hints(self) -> Sequence[Hint]:
        """What helps most with a place."""
        nothing = "" if self.keys else "there is nothing here yet"
        no_place = nothing or ("" if self.place is not None else "a group is selected")
        few = "" if len(self.kernel.ticks_kept) > 1 else "no earlier tick is known yet"
        back = (Hint("back", "now" if self.is_in_the_past else "show all"),)
        return (
            *(back if self.is_in_the_past or self.sought else ()),
            Hint("view", "evidence", reason=no_place),
            Hint("fold", reason=self._why_no_fold()),
            Hint("order", reason=nothing),
            Hint("find", "filter", reason=nothing),
            Hint(keys="←→", label="column"),
            Hint("earlier", reason=few),
            Hint("later", reason="" if self.is_in_the_past else "this is now"),
            *hints_of("fold_all"),
        )

    def do_left(self) -> None:
        """The column to the left."""
        self._pick(max(self._picked - 1, 0))

    def do_right(self) -> None:
        """The column to the right."""
        self._pick(min(self._picked + 1, len(HEAT_COLUMNS) - 1))

    def do_fold(self) -> None:
        """Folds the group of the cursor, or unfolds it."""
        prefix = self._prefix()
        if not prefix or self.sought:
            desk_of(self).tell(self._why_no_fold(), tone="refusal")
            return
        self._folded ^= {prefix}
        self._reorder(now=True)
        self.select(Group(prefix))

    def do_fold_all(self) -> None:
        """Folds all groups; unfolds them where all are folded."""
        everyone = frozenset(prefix for prefix, places in self.field.groups.items() if len(places) > 1)
        prefix, self._folded = self._prefix(), frozenset() if self._folded >= everyone else everyone
        self._reorder(now=True)
        if prefix and self._folded:
            self.select(Group(prefix))

    def do_enter(self) -> None:
        """Folds a group or unfolds it; opens a place."""
        if isinstance(self.selected, Group):
            self.do_fold()
        else:
            self.do_view()

    def do_view(self) -> None:
        """Everything that is known of the place."""
        if self.place is not None:
            self.post_message(PlaceOpened(self.kernel.name, self.place.name.raw))

    async def do_copy(self) -> None:
        """Copies the name of the place."""
        if self.place is not None:
            await desk_of(self).copy(Copied("the place", self.place.name.shown))

    def do_order(self) -> None:
        """The next order; the selection stays."""
        names = list(ORDERS)
        self.order = names[(names.index(self.order) + 1) % len(names)]
        self._reorder(now=True)
        self.notify(ORDERS[self.order], title="order", markup=False, timeout=2)

    def do_earlier(self) -> None:
        """The tick before."""
        self._go(-1)

    def do_later(self) -> None:
        """The tick after."""
        self._go(1)

    def go_to_now(self) -> None:
        """Shows the newest tick again."""
        self._at = None
        self._show_tick()

    def move(self, rows: int) -> None:
        """Moves the selection, and notes that the person is moving in the list."""
        self._rest.disturb()
        super().move(rows)

    def on_blur(self) -> None:
        """The person left: what waited takes its place."""
        super().on_blur()
        self._rest.end()

    def on_keyed_list_opened(self, event: KeyedList.Opened) -> None:
        """Opens what was clicked twice."""
        event.stop()
        self.do_enter()

    def _pick(self, at: int) -> None:
        self._picked = at
        self.repaint_changed()
        self.post_message(self.Moved(self))

    def _go(self, step: int) -> None:
        ticks = self.kernel.ticks_kept
        if len(ticks) < 2:
            desk_of(self).tell("no earlier tick is known yet", tone="refusal")
            return
        here = len(ticks) - 1 if self._at is None else ticks.index(self._at)
        there = min(max(here + step, 0), len(ticks) - 1)
        self._at = None if there == len(ticks) - 1 else ticks[there]
        self._show_tick()
        self.post_message(self.Moved(self))

    def _show_tick(self) -> None:
        self.follow(self.kernel)
        self.repaint_changed()

    def _prefix(self) -> str:
        """The group of the cursor."""
        if isinstance(self.selected, Group):
            return self.selected.prefix
        return "" if self.selected is None else self.field.prefix(self.selected)

    def _why_no_fold(self) -> str:
        if self.sought:
            return "a filter shows all that fits"
        return "" if self._prefix() else "this place is in no group"

    def _reorder(self, *, now: bool = False) -> None:
        if not now and self.keys and (self._rest.is_disturbed or not self._rest.is_due):
            return
        with self._rest.ordering():
            self._is_out_of_order = False
            self.set_rows(self.field.rows(self.order, self.sought, self._folded))
