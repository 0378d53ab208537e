"""The places of a kernel in groups and in order, with the strengths of their traces at one tick.

Kept from moment to moment: there may be ten thousand places, of which few change between two moments.
"""

from collections.abc import Callable, Mapping, Sequence
from itertools import zip_longest
from typing import TypeAlias

from colonizer_client.kernel.models import COLUMNS
from colonizer_client.kernel.preset import SEED, Law
from colonizer_client.kernel.view import Cell, KernelView, Place
from colonizer_config.value import Value
from colonizer_tui.present.kernel.columns import HAZARD, HEAT_COLUMNS, SUCCESS
from colonizer_tui.present.kernel.sought import Sought

ORDERS: Mapping[str, str] = {
    "hazard": "the greatest hazard first",
    "success": "the greatest success first",
    "age": "what was touched last first",
    "name": "by name",
}
"""The orders that a person can choose, each with its words."""

Strengths: TypeAlias = tuple[float | None, ...]
"""One for each column; None is not sampled by then, 0 is absent."""

_PLACES_OF: Sequence[tuple[int, ...]] = [tuple(COLUMNS[signal] for signal in column.signals) for column in HEAT_COLUMNS]


class Group(Value):
    """The head of the places that have the same beginning."""

    prefix: str


RowKey: TypeAlias = str | Group
"""A place by its raw name, or the head of a group."""


_SEPARATORS = ("/", "::", ".")


def prefix_of(name: str) -> str:
    """The folder or module in which a place is, with what ends it; empty where it is in none."""
    separator = next((one for one in _SEPARATORS if one in name.rstrip("/")), "/")
    above, found, _ = name.rstrip("/").rpartition(separator)
    return above + found


class Field:
    """What the heatmap shows."""

    def __init__(self) -> None:
        self.tick = 0
        """The tick which is shown."""
        self.groups: Mapping[str, Sequence[str]] = {}
        """The raw names of each group's places, by its prefix."""
        self.places: Mapping[str, Place] = {}
        self._law: Law = SEED.law
        self._prefixes: dict[str, str] = {}
        self._strengths: dict[str, Strengths] = {}
        self._of_groups: dict[str, Strengths] = {}
        self._courses: dict[str, tuple[tuple[int, int], Strengths]] = {}
        """The course of a place that was drawn last, with its column and length."""

    def take(self, kernel: KernelView, tick: int) -> bool:
        """Goes on to another moment, shown at this tick; whether anything is otherwise than before."""
        law = kernel.preset.law
        is_other_tick = tick != self.tick or law is not self._law
        if not is_other_tick and kernel.places is self.places:
            return False
        had, self.places, self.tick, self._law = self.places, kernel.places, tick, law
        if is_other_tick:
            self._strengths.clear()
            self._of_groups.clear()
            self._courses.clear()
        if had is not self.places:
            self._follow(had)
        return True

    def prefix(self, raw: str) -> str:
        """The prefix of the group in which a place stands; empty where it stands alone."""
        prefix = self._prefixes.get(raw, "")
        return prefix if len(self.groups.get(prefix, ())) > 1 else ""

    def strengths(self, key: RowKey) -> Strengths:
        """The strengths of a row; a group's are those of its strongest places."""
        if isinstance(key, Group):
            found = self._of_groups.get(key.prefix)
            if found is None:
                columns = zip(*map(self._of_place, self.groups.get(key.prefix, ())), strict=True)
                found = self._of_groups[key.prefix] = tuple(map(_strongest, columns))
            return found
        return self._of_place(key)

    def course(self, raw: str, column: int, ticks: int) -> Strengths:
        """A place's strengths in a column at so many ticks, up to the one that is shown."""
        what = column, ticks
        found = self._courses.get(raw)
        if found is None or found[0] != what:
            cells = [self.places[raw].cells[place] for place in _PLACES_OF[column]]
            each = range(self.tick - ticks + 1, self.tick + 1)
            course = [_strongest([_strength(cell, tick, self._law) for cell in cells]) for tick in each]
            found = self._courses[raw] = what, tuple(course)
        return found[1]

    def rows(self, order: str, sought: Sought, folded: frozenset[str]) -> list[RowKey]:
        """The keys of all rows: groups in the order of their first place, each followed by its places."""
        among = [raw for raw in self.places if not sought or self._is_sought(raw, sought)]
        among.sort(key=self._judge(order))
        groups: dict[str, list[str]] = {}
        for raw in among:
            groups.setdefault(self.prefix(raw) or raw, []).append(raw)
        rows: list[RowKey] = []
        for prefix, members in groups.items():
            if prefix == members[0] and not self.prefix(prefix):
                rows.append(prefix)
                continue
            rows.append(Group(prefix))
            if prefix not in folded or sought:
                rows += members
        return rows

    def count(self, key: RowKey) -> int:
        """How many places a row stands for."""
        return len(self.groups.get(key.prefix, ())) if isinstance(key, Group) else 1

    def _follow(self, had: Mapping[str, Place]) -> None:
        """Forgets the strengths of what changed between two views."""
        has_others = len(had) != len(self.places)
        # Places keep their order, so that those which stay the same are told without looking for them by name.
        pairs = zip_longest(self.places.items(), had.values())
        changed = [item for item, before in pairs if item is not None and item[1] is not before]
        for raw, place in changed:
            before = had.get(raw)
            if before is place:
                continue
            self._strengths.pop(raw, None)
            self._courses.pop(raw, None)
            if before is None:
                has_others = True
                self._prefixes[raw] = prefix_of(place.name.shown)
            self._of_groups.pop(self._prefixes[raw], None)
        if has_others:
            self._gather()

    def _gather(self) -> None:
        groups: dict[str, list[str]] = {}
        for raw in self.places:
            groups.setdefault(self._prefixes[raw], []).append(raw)
        groups.pop("", None)
        self.groups = groups
        self._of_groups.clear()

    def _of_place(self, raw: str) -> Strengths:
        found = self._strengths.get(raw)
        if found is None:
            place = self.places.get(raw)
            if place is None:
                return (None,) * len(HEAT_COLUMNS)
            each = [_strength(cell, self.tick, self._law) for cell in place.cells]
            found = self._strengths[raw] = tuple(
                each[places[0]] if len(places) == 1 else _strongest([each[at] for at in places])
                for places in _PLACES_OF
            )
        return found

    def _is_sought(self, raw: str, sought: Sought) -> bool:
        return sought.finds(self.places[raw].name.shown, lambda: self._of_place(raw))

    def _judge(self, order: str) -> Callable[[str], float | str]:
        """By what the places are put in order."""
        if order == "age":
            return lambda raw: -(touched_at(self.places[raw]) or 0.0)
        if order == "name":
            return lambda raw: self.places[raw].name.shown.casefold()
        column = SUCCESS if order == "success" else HAZARD
        return lambda raw: -(self._of_place(raw)[column] or 0.0)


def _strength(cell: Cell | None, tick: int, law: Law) -> float | None:
    if cell is None:
        return None
    newest = cell.marks[-1]
    if newest.tick > tick:
        return cell.strength_at(tick, law)
    # Most traces are absent, or were looked at in this very tick.
    is_told = newest.tick == tick or not newest.strength
    return newest.strength if is_told else cell.strength_at(tick, law)


def _strongest(strengths: Sequence[float | None]) -> float | None:
    return max((strength for strength in strengths if strength is not None), default=None)


def touched_at(place: Place) -> float | None:
    """When one of its traces was touched last, by the kernel's clock."""
    known = (cell.last_reinforced for cell in place.cells if cell is not None)
    return max((at for at in known if at is not None), default=None)
