"""The heatmap: places × traces, how strong, since when and for how long."""

from collections.abc import Sequence

from colonizer_client.kernel.models import SignalType
from colonizer_client.kernel.preset import HAZARD_HIGH, HAZARD_LOW
from colonizer_client.kernel.view import Cell, Condition, KernelView, Place
from colonizer_config.value import Value
from colonizer_tui import heat
from colonizer_tui.present import words
from colonizer_tui.present.kernel.columns import HAZARD, HEAT_COLUMNS
from colonizer_tui.present.kernel.field import Field, Group, RowKey, touched_at
from colonizer_tui.present.kernel.sparks import spark
from colonizer_tui.present.line import Line, Span, column
from colonizer_tui.present.states import STALE, Glyphs

INDENT = 2
NAME_LEAST = 16
_ROUNDING = 1e-9


class Layout(Value):
    """How wide each part of a row is; the name takes what is left."""

    width: int
    cell: int
    spark: int = 0
    calm: int = 0
    age: int = 0
    columns: int = len(HEAT_COLUMNS)
    """How many of the columns there is room for."""

    @property
    def name(self) -> int:
        """What the other parts leave."""
        return max(self.width - self.cell * self.columns - self.spark - self.calm - self.age, 1)

    def shown(self, picked: int) -> range:
        """The columns that are shown, the picked one among them."""
        start = max(picked - self.columns + 1, 0)
        return range(start, start + self.columns)


def layout(width: int) -> Layout:
    """The parts of a row of this width. A narrow one leaves out the course, then what calms down when."""
    ways = [
        Layout(width, 9, 50, 8, 6),
        Layout(width, 8, 26, 7, 6),
        Layout(width, 8, 13, 7, 6),
        Layout(width, 7, 11, 6, 5),
    ]
    ways += [Layout(width, 6, 0, 6, 5), Layout(width, 6, 0, 0, 5)]
    wanted = (60, 56, 28, 26, 24, NAME_LEAST)
    fitting = (way for way, name in zip(ways, wanted, strict=True) if way.name >= name)
    few = min(max((width - NAME_LEAST) // 6, 1), len(HEAT_COLUMNS))
    return next(fitting, Layout(width, 6, columns=few))


class Moment(Value):
    """What the rows are drawn from."""

    kernel: KernelView
    now: float
    """By the kernel's clock."""
    field: Field
    layout: Layout
    picked: int = HAZARD
    """The column under the cursor."""

    @property
    def is_now(self) -> bool:
        """Whether the newest tick is shown."""
        return self.field.tick == self.kernel.tick

    @property
    def is_stale(self) -> bool:
        """Whether what is shown is of the past, because the kernel does not answer."""
        return self.kernel.condition is not Condition.LIVE


def caption(lay: Layout, picked: int, *, is_now: bool) -> Line:
    """The names of the columns, that of the picked one marked."""
    pieces = [Span(" " + column("place", lay.name), "dim")]
    for place in lay.shown(picked):
        one = HEAT_COLUMNS[place]
        name = one.title if lay.cell > len("failure") else one.short
        title = column(name, lay.cell - 1, right=True)
        pieces.append(Span(title + " ", "strong" if place == picked else "dim"))
    if lay.spark:
        pieces.append(Span(column(f" {lay.spark - 2} ticks", lay.spark), "dim"))
    if lay.calm:
        pieces.append(Span(column("calm" if is_now else "", lay.calm, right=True), "dim"))
    if lay.age:
        pieces.append(Span(column("age", lay.age, right=True), "dim"))
    return tuple(pieces)


def looks(key: RowKey, moment: Moment) -> object:
    """What a row is drawn from: a row looks the same as long as this is equal and the same key is drawn."""
    field = moment.field
    place = None if isinstance(key, Group) else field.places.get(key)
    what = field.count(key) if isinstance(key, Group) else field.prefix(key)
    age = _age(place, moment) if moment.layout.age else ""
    law, is_stale, is_now = moment.kernel.preset.law, moment.is_stale, moment.is_now
    return what, place, field.strengths(key), field.tick, law, is_stale, is_now, moment.layout, moment.picked, age


def row(key: RowKey, moment: Moment, glyphs: Glyphs, *, is_folded: bool, is_selected: bool) -> Line:
    """A place's row, or that of a group with the greatest strengths of its places."""
    place = None if isinstance(key, Group) else moment.field.places.get(key)
    strengths = moment.field.strengths(key)
    cells = [
        _cell(strengths[at], at, moment, glyphs, is_picked=is_selected and at == moment.picked)
        for at in moment.layout.shown(moment.picked)
    ]
    return (*_name(key, place, moment, glyphs, is_folded=is_folded), *cells, *_course(place, moment, glyphs))


def _name(key: RowKey, place: Place | None, moment: Moment, glyphs: Glyphs, *, is_folded: bool) -> Line:
    width = moment.layout.name
    if isinstance(key, Group):
        sign = glyphs["folded" if is_folded else "unfolded"]
        count = f" {moment.field.count(key)}" if is_folded else ""
        name = column(key.prefix, max(min(width - 2 - len(count), len(key.prefix)), 0))
        rest = max(width - 2 - len(name) - len(count), 0)
        role = STALE if moment.is_stale else "strong"
        return Span(f"{sign} ", "muted"), Span(name, role), Span(count + " " * rest, "muted")
    prefix = moment.field.prefix(key)
    shown = "" if place is None else place.name.shown[len(prefix) :]
    indent = " " * (INDENT * 2 if prefix else INDENT)
    return Span(column(f"{indent}{shown}", width), STALE if moment.is_stale else ""), Span("")


def _cell(strength: float | None, at: int, moment: Moment, glyphs: Glyphs, *, is_picked: bool) -> Span:
    one, width = HEAT_COLUMNS[at], moment.layout.cell
    text, role = glyphs["unknown"] + " ", "dim"
    if strength is not None:
        text = ""
        if strength > 0:
            mark = mark_of(strength, glyphs) if one.family == "hazard" else " "
            text = f"{number(strength)}{mark}"
            role = STALE if moment.is_stale else heat.role_of(one.family, strength)
    if is_picked:
        return Span(f"[{text:>{width - 2}}]", role if strength else "strong")
    return Span(f"{text:>{width - 1}} ", role)


def number(strength: float) -> str:
    """A strength in three cells, never rounded up to a mark that it does not reach."""
    tenths = int(strength * 10 + _ROUNDING)
    return "10" if tenths >= 100 else f"{max(tenths, 1) / 10:.1f}"


def mark_of(strength: float, glyphs: Glyphs) -> str:
    """The mark of a hazard from 3 and from 6 on."""
    if strength >= HAZARD_HIGH:
        return glyphs["hot"]
    return glyphs["warm"] if strength >= HAZARD_LOW else " "


def _course(place: Place | None, moment: Moment, glyphs: Glyphs) -> Line:
    """How the picked trace went, how long the hazard stays, and how old the newest trace is."""
    lay = moment.layout
    pieces: list[Span] = []
    if lay.spark:
        bars = "" if place is None else spark(moment.field.course(place.name.raw, moment.picked, lay.spark - 2), glyphs)
        pieces.append(Span(column(f" {bars}", lay.spark), "dim" if moment.is_stale else "muted"))
    if lay.calm:
        ticks = None if place is None or not moment.is_now else ticks_until(place, HAZARD, HAZARD_LOW, moment)
        pieces.append(Span(column(f"{ticks}t" if ticks else "", lay.calm, right=True), "muted"))
    if lay.age:
        pieces.append(Span(column(_age(place, moment), lay.age, right=True), "muted"))
    return tuple(pieces)


def _age(place: Place | None, moment: Moment) -> str:
    at = touched_at(place) if place is not None and moment.is_now else None
    return "" if at is None else words.age(moment.now - at)


def ticks_until(place: Place, at: int, level: float, moment: Moment) -> int | None:
    """Ticks from now until all traces of a column are below the level; None where that is not known."""
    found: int | None = None
    for cell in cells_of(place, at):
        ticks = cell.ticks_until(level, moment.kernel.tick, moment.kernel.preset.law)
        if ticks is not None:
            found = max(found or 0, ticks)
    return found


def cells_of(place: Place, at: int) -> Sequence[Cell]:
    """The sampled cells of a column, the strongest last."""
    signals: Sequence[SignalType] = HEAT_COLUMNS[at].signals
    found = [cell for signal in signals if (cell := place.cell(signal)) is not None]
    return sorted(found, key=lambda cell: cell.newest.strength)
