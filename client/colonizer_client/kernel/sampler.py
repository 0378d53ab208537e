"""What to ask a kernel next whose field can only be asked for cell by cell (kernel spec 19).

First what was told to have changed, then agents whose record may have, then round after round over all cells, places
with the strongest traces first. A round that found the kernel at rest is followed by a pause.
"""

from collections import deque
from collections.abc import Iterator, Sequence
from typing import TypeAlias

from colonizer_client.kernel.models import SIGNAL_TYPES, Name, SignalType
from colonizer_client.kernel.picture import Picture
from colonizer_client.kernel.view import KernelView, Place

ROUND_REST_S = 30.0
"""A kernel at rest is looked at again after this."""

Step: TypeAlias = tuple[Name, SignalType] | Name
"""A cell to query, or an agent whose record to read."""


class Sampler:
    """Chooses the next step. For one event loop."""

    def __init__(self, picture: Picture) -> None:
        self._picture = picture
        self._first: deque[tuple[Name, SignalType]] = deque()
        self._round: Iterator[tuple[Name, SignalType]] = iter(())
        self._is_agents_turn = False
        self._ended_at: float | None = None
        self._found: object = None

    def put_first(self, places: Sequence[Name]) -> None:
        """Has these places sampled before others, instead of those that were put first before."""
        self._first = deque((place, signal) for place in places for signal in SIGNAL_TYPES)

    def next(self, now: float) -> Step | None:
        """The next step, None while there is nothing to do. Cells and agents take turns where both wait."""
        self._is_agents_turn = not self._is_agents_turn
        kinds = (self._agent, self._urgent) if self._is_agents_turn else (self._urgent, self._agent)
        for kind in (*kinds, self._on_screen):
            step = kind()
            if step is not None:
                return step
        return self._of_round(now)

    def _agent(self) -> Step | None:
        stale, known = self._picture.stale_agents, self._picture.view.agents
        while stale:
            raw = next(iter(stale))
            del stale[raw]
            if raw in known:
                return known[raw].name
        return None

    def _urgent(self) -> Step | None:
        urgent = self._picture.urgent
        if not urgent:
            return None
        step = next(iter(urgent))
        del urgent[step]
        return step

    def _on_screen(self) -> Step | None:
        return self._first.popleft() if self._first else None

    def _of_round(self, now: float) -> Step | None:
        step = next(self._round, None)
        if step is None and self._is_due(now):
            self._begin(now)
            step = next(self._round, None)
        if step is None and self._ended_at is None:
            self._ended_at = now
        return step

    def _is_due(self, now: float) -> bool:
        if self._ended_at is None:
            return self._found is None or _state(self._picture.view) != self._found
        return now - self._ended_at >= ROUND_REST_S or _state(self._picture.view) != self._found

    def _begin(self, now: float) -> None:
        view = self._picture.view
        self._found, self._ended_at = _state(view), None
        self._picture.note_round(now)
        places = sorted(view.places.values(), key=lambda place: -_strongest(place, view))
        self._round = ((place.name, signal) for place in places for signal in SIGNAL_TYPES)


def _state(view: KernelView) -> object:
    """What differs as soon as some trace does, as far as a status tells."""
    newest = view.consequences[-1].id if view.consequences else ""
    return None if view.status is None else (view.status.tick, view.status.total_signals, newest, len(view.places))


def _strongest(place: Place, view: KernelView) -> float:
    strengths = (cell.strength_at(view.tick, view.preset.law) for cell in place.cells if cell is not None)
    return max((strength for strength in strengths if strength is not None), default=0.0)
