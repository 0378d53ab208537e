"""The strongest traces of a field, without looking at the others.

Traces of one decay keep their order while they fade, so each decay has a heap of its own; an entry that was
overtaken by a later deposit stays until it comes up or the heap is mostly such entries.
"""

from collections import defaultdict
from collections.abc import Collection
from heapq import heapify, heappop, heappush

from colonizer_engines.kernel.signals import Decay
from colonizer_engines.kernel.trace import Trace

_Entry = tuple[float, int, Trace]

_SPARE = 64
"""How many overtaken entries are always let be."""


class Ranking:
    """Traces by strength, strongest first; ties by age, oldest first."""

    def __init__(self) -> None:
        self._heaps: defaultdict[Decay, list[_Entry]] = defaultdict(list)

    def put(self, traces: Collection[Trace]) -> None:
        """Ranks the traces anew."""
        grown: defaultdict[Decay, list[_Entry]] = defaultdict(list)
        for trace in traces:
            grown[trace.decay].append((-trace.rank, trace.order, trace))
        for decay, entries in grown.items():
            heap = self._heaps[decay]
            if len(entries) > len(heap) // 4:
                heap += entries
                heapify(heap)
            else:
                for entry in entries:
                    heappush(heap, entry)

    def candidates(self, limit: int, live: int) -> list[Trace]:
        """The `limit` strongest traces of every decay, in no order; `live` is how many traces the field has."""
        found: list[Trace] = []
        for decay, heap in self._heaps.items():
            if len(heap) > 2 * live + _SPARE:
                heap[:] = {entry[1]: entry for entry in heap if _current(entry, decay)}.values()
                heapify(heap)
            found += _first(heap, decay, limit)
        return found

    def clear(self) -> None:
        """Forgets all traces."""
        self._heaps.clear()


def _current(entry: _Entry, decay: Decay) -> bool:
    return entry[2].rank == -entry[0] and entry[2].decay == decay


def _first(heap: list[_Entry], decay: Decay, limit: int) -> list[Trace]:
    found: dict[int, _Entry] = {}
    while heap and len(found) < limit:
        entry = heappop(heap)
        if _current(entry, decay):
            found[entry[1]] = entry
    for entry in found.values():
        heappush(heap, entry)
    return [entry[2] for entry in found.values()]
