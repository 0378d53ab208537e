"""The traces of one kernel as they become known: by sampling, by the matrix, by its stream of changes."""

from collections.abc import Mapping
from types import MappingProxyType

from msgspec.structs import replace

from colonizer_client.kernel.changes import Marked, Matrix
from colonizer_client.kernel.models import COLUMNS, SIGNAL_TYPES, Name, SignalType, Trace
from colonizer_client.kernel.preset import Law
from colonizer_client.kernel.view import Cell, Mark, Place

MARKS_KEPT = 32
"""Of one trace; older ones are forgotten."""

PLACES_KEPT = 20_000
"""A kernel with more is shown in part: those that were met first."""

_SAME = 1e-6
_UNKNOWN = (None,) * len(SIGNAL_TYPES)
_ABSENT = (Cell((Mark(0, 0.0, 0.0, 1.0),), 0, 0.0),) * len(SIGNAL_TYPES)
_NOTHING: Mapping[str, str] = MappingProxyType({})


class FieldBook:
    """What is known of a kernel's field. For one event loop."""

    def __init__(self, law: Law) -> None:
        self.law = law
        self.is_whole = False
        """Everything is told, so that what is not told of is absent."""
        self.sampled = 0
        """Cells of which something is known."""
        self._places: dict[str, Place] = {}
        self._view: Mapping[str, Place] | None = None

    @property
    def places(self) -> Mapping[str, Place]:
        """All places; the same object until something changes."""
        if self._view is None:
            self._view = MappingProxyType(dict(self._places))
        return self._view

    def meet(self, name: Name) -> bool:
        """Makes a place known; whether it is new."""
        if name.raw in self._places or len(self._places) >= PLACES_KEPT:
            return False
        self._put(self._blank(name))
        return True

    def see(self, name: Name, signal: SignalType, mark: Mark, now: float, trace: Trace | None = None) -> bool:
        """Takes knowledge of a trace; whether it is another one than was expected by what was known."""
        self.meet(name)
        place = self._places.get(name.raw)
        if place is None:
            return False
        had = place.cell(signal)
        cell = _seen(had, mark, now, self.law)
        if trace is not None:
            cell = replace(
                cell, last_reinforced=trace.last_reinforced, source=trace.source, evidence=trace.evidence or _NOTHING
            )
        self.sampled += had is None
        column = COLUMNS[signal]
        self._put(replace(place, cells=(*place.cells[:column], cell, *place.cells[column + 1 :])))
        return had is None or cell.marks is not had.marks

    def see_mark(self, change: Marked, now: float) -> None:
        """Takes a mark of the kernel's own stream."""
        mark = Mark(change.tick, change.at, change.strength, change.decay)
        trace = Trace(change.place, change.signal, change.strength, change.decay, change.source, {}, change.at)
        self.see(change.place, change.signal, mark, now, trace)

    def see_all(self, matrix: Matrix, now: float) -> None:
        """Takes knowledge of the whole field: what is not in it is absent."""
        for name in matrix.places:
            self.meet(name)
        absent = Mark(matrix.tick, now, 0.0, 1.0)
        present = {(trail.place.raw, trail.signal): trail for trail in matrix.trails}
        for raw, place in self._places.items():
            cells: list[Cell] = []
            for signal, had in zip(SIGNAL_TYPES, place.cells, strict=True):
                trail = present.get((raw, signal))
                if trail is None:
                    is_known = had is not None and not had.newest.strength
                    cells.append(had if had is not None and is_known else _seen(had, absent, now, self.law))
                    continue
                cell = _seen(had, Mark(matrix.tick, now, trail.strength, trail.decay), now, self.law)
                cells.append(replace(cell, last_reinforced=trail.last_reinforced))
            self._places[raw] = replace(place, cells=tuple(cells))
        self.sampled = len(self._places) * len(SIGNAL_TYPES)
        self._view = None

    def forget(self) -> None:
        """Takes every trace as gone or unknown, as after a restart; the places stay."""
        self.sampled = 0
        self._places = {raw: self._blank(place.name) for raw, place in self._places.items()}
        self._view = None

    def _blank(self, name: Name) -> Place:
        """A place of which nothing was told yet."""
        if not self.is_whole:
            return Place(name, _UNKNOWN)
        self.sampled += len(SIGNAL_TYPES)
        return Place(name, _ABSENT)

    def _put(self, place: Place) -> None:
        self._places[place.name.raw] = place
        self._view = None


def _seen(had: Cell | None, mark: Mark, now: float, law: Law) -> Cell:
    """The cell with what was seen of it; a mark only where the law did not say so already."""
    if had is None:
        return Cell((mark,), mark.tick, now)
    newest = had.newest
    expected = had.strength_at(mark.tick, law)
    is_told = mark.decay is None or mark.decay == newest.decay or not mark.strength
    if is_told and expected is not None and abs(expected - mark.strength) <= _SAME:
        return replace(had, checked_tick=mark.tick, checked_at=now)
    kept = had.marks[:-1] if newest.tick == mark.tick else had.marks
    return replace(had, marks=(*kept[1 - MARKS_KEPT :], mark), checked_tick=mark.tick, checked_at=now)
