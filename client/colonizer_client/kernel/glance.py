"""A kernel's field and agents at one moment, as a plain command reads them: once, and then no more.

The embedded kernel tells all of both. Any other names only some places and agents in its status: these are asked for
one by one.
"""

from collections.abc import Iterable, Mapping

from colonizer_client.errors import RateLimited
from colonizer_client.kernel import calls
from colonizer_client.kernel.changes import Matrix
from colonizer_client.kernel.models import COLUMNS, SIGNAL_TYPES, Name, SignalType, Status
from colonizer_client.kernel.session import KernelSession
from colonizer_client.mothership import wire
from colonizer_config.value import Value

Strengths = tuple[float | None, ...]
"""In the order of `SIGNAL_TYPES`, 0..10; 0 is absent, None was not told."""


class Row(Value, gc=False):
    """One place of the field."""

    place: Name
    strengths: Strengths

    def strength(self, signal: SignalType) -> float | None:
        """How strong its trace of one type is."""
        return self.strengths[COLUMNS[signal]]

    @property
    def hazard(self) -> float | None:
        """The stronger of FAILURE and RISK as far as they are known; None where neither is."""
        known = (self.strength(signal) for signal in (SignalType.FAILURE, SignalType.RISK))
        return max((strength for strength in known if strength is not None), default=None)


class Field(Value):
    """The field, the places with the greatest hazard first, those of unknown hazard last."""

    tick: int
    rows: tuple[Row, ...]
    is_whole: bool
    """Every place of the kernel is there; else those that its status named."""


async def field(session: KernelSession) -> Field:
    """The field as it is now.

    Raises:
        ClientError: It cannot be read.
    """
    if session.capabilities.has_operator_calls:
        matrix = await session.run(calls.matrix())
        return Field(matrix.tick, _sorted(_rows_of(matrix)), is_whole=True)
    status = await session.run(calls.status())
    rows = [await _sampled(session, place) for place in _places_in(status)]
    return Field(status.tick, _sorted(rows), is_whole=False)


async def agents(session: KernelSession, named: Iterable[str] = ()) -> tuple[object, ...]:
    """The records of the agents with these names, else of all that are known, as the kernel tells them: raw.

    Raises:
        ClientError: They cannot be read.
    """
    wanted = tuple(named)
    if not wanted and session.capabilities.has_operator_calls:
        told = await session.run(calls.profiles().as_json())
        return tuple(wire.sequence(wire.mapping(told).get("profiles")))
    if not wanted:
        status = await session.run(calls.status())
        wanted = tuple(dict.fromkeys(outcome.agent.raw for outcome in status.recent))
    return tuple([await session.run(calls.profile(agent).as_json()) for agent in wanted])


def _rows_of(matrix: Matrix) -> Iterable[Row]:
    found: dict[str, list[float | None]] = {place.raw: [0.0] * len(SIGNAL_TYPES) for place in matrix.places}
    for trail in matrix.trails:
        found[trail.place.raw][COLUMNS[trail.signal]] = trail.strength
    return [Row(place, tuple(found[place.raw])) for place in matrix.places]


def _places_in(status: Status) -> Iterable[Name]:
    named = [top.place for top in status.top] + [outcome.target for outcome in status.recent]
    by_raw: Mapping[str, Name] = {place.raw: place for place in named}
    return by_raw.values()


async def _sampled(session: KernelSession, place: Name) -> Row:
    strengths: list[float | None] = []
    for signal in SIGNAL_TYPES:
        try:
            trace = await session.run(calls.query(place.raw, signal))
        except RateLimited:
            strengths.append(None)  # others call it too; what is not known is said to be so
        else:
            strengths.append(0.0 if trace is None else trace.strength)
    return Row(place, tuple(strengths))


def _sorted(rows: Iterable[Row]) -> tuple[Row, ...]:
    def rank(row: Row) -> tuple[float, float, str]:
        strongest = max((strength for strength in row.strengths if strength is not None), default=0.0)
        return 1.0 if row.hazard is None else -row.hazard, -strongest, row.place.shown

    return tuple(sorted(rows, key=rank))
