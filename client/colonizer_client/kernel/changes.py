"""What an embedded kernel tells its operator beyond the eight tools: the whole field, and every change of its state."""

from collections.abc import Mapping
from typing import TypeAlias

from colonizer_client.errors import Unreadable
from colonizer_client.kernel import decode
from colonizer_client.kernel.models import Consequence, Decision, Name, Profile, ScoreParts, SignalType
from colonizer_client.mothership import wire
from colonizer_config.value import Value


class Trail(Value, gc=False):
    """One trace of the matrix."""

    place: Name
    signal: SignalType
    strength: float
    decay: float
    last_reinforced: float | None


class Matrix(Value):
    """The whole field."""

    tick: int
    places: tuple[Name, ...]
    trails: tuple[Trail, ...]
    """What is there; everything else is absent."""
    last_change: int
    """The number of the newest change that is in it."""


class Marked(Value, gc=False):
    """A trace appeared or grew."""

    number: int
    tick: int
    at: float
    place: Name
    signal: SignalType
    strength: float
    decay: float
    source: str


class Judged(Value, gc=False):
    """The gate gave a verdict."""

    number: int
    tick: int
    at: float
    agent: Name
    action: str
    target: Name
    decision: Decision
    score: float
    parts: ScoreParts | None
    reason: str
    required_evidence: tuple[str, ...]
    risk: float | None
    failure: float | None
    trust: float | None
    findings: int | None
    severity: float


class OutcomeKept(Value, gc=False):
    """An outcome was recorded, and moved its agent's trust."""

    number: int
    tick: int
    at: float
    consequence: Consequence
    trust: float
    role: str


class Ticked(Value, gc=False):
    """The field moved one tick on."""

    number: int
    tick: int
    at: float
    removed: int


class CalmedDown(Value, gc=False):
    """Traces, budget and ticks were taken back to the start."""

    number: int
    tick: int
    at: float


class OtherChange(Value, gc=False):
    """A change of no interest here, or of a kind that we do not know, or unreadable."""

    number: int


Change: TypeAlias = Marked | Judged | OutcomeKept | Ticked | CalmedDown | OtherChange


class Changes(Value):
    """Some changes in their order."""

    changes: tuple[Change, ...]
    last: int
    """The number of the kernel's newest change, whether it is among these or not."""


def matrix(value: object) -> Matrix:
    """The whole field; a row that is unreadable is left out.

    Raises:
        Unreadable: There is no tick, or the columns are none that we know.
    """
    fields = wire.mapping(value)
    tick, last = wire.integer(fields.get("tick")), wire.integer(fields.get("last_change"))
    signals = [decode.member(SignalType, kind) for kind in wire.sequence(fields.get("signal_types"))]
    if tick is None or not any(signals):
        raise Unreadable("the kernel's field cannot be read")
    tables = (fields.get("strengths"), fields.get("decay_rates"), fields.get("last_reinforced"))
    places: list[Name] = []
    trails: list[Trail] = []
    for raw, *columns in zip(wire.sequence(fields.get("locations")), *map(wire.sequence, tables), strict=False):
        place = decode.name(raw)
        if place is None:
            continue
        places.append(place)
        for signal, strength, decay, at in zip(signals, *map(wire.sequence, columns), strict=False):
            found, rate = wire.number(strength) if strength else None, wire.number(decay)
            if signal is not None and found and rate is not None:
                trails.append(Trail(place, signal, found, rate, wire.number(at)))
    return Matrix(tick, tuple(places), tuple(trails), last or 0)


def changes(value: object) -> Changes:
    """Some changes.

    Raises:
        Unreadable: They are without numbers.
    """
    fields = wire.mapping(value)
    last = wire.integer(fields.get("last"))
    if last is None:
        raise Unreadable("the kernel's changes have no end")
    return Changes(tuple(map(_change, wire.mappings(fields.get("changes")))), last)


def profiles(value: object) -> tuple[Profile, ...]:
    """The records of all agents; an unreadable one is left out."""
    return tuple(
        decode.profile(row)
        for row in wire.mappings(wire.mapping(value).get("profiles"))
        if decode.name(row.get("agent_id")) is not None and wire.number(row.get("trust_score")) is not None
    )


def consequences(value: object) -> tuple[Consequence, ...]:
    """The newest outcomes, newest first."""
    return decode.rows(wire.mapping(value).get("consequences"), decode.consequence)


def protections(value: object) -> Mapping[str, str]:
    """Why places are left alone, by their raw names."""
    found = wire.mapping(wire.mapping(value).get("protections"))
    return {raw: wire.line(words) for raw, words in found.items()}


def _change(row: Mapping[str, object]) -> Change:
    number, tick, at = (wire.integer(row.get("number")), wire.integer(row.get("tick")), wire.number(row.get("at")))
    if number is None:
        raise Unreadable("a change of the kernel has no number")
    if tick is None or at is None:
        return OtherChange(number)
    match row.get("type"):
        case "marked":
            return _marked(number, tick, at, row)
        case "judged":
            return _judged(number, tick, at, row)
        case "recorded":
            return _recorded(number, tick, at, row)
        case "ticked":
            return Ticked(number, tick, at, wire.integer(row.get("removed")) or 0)
        case "calmed":
            return CalmedDown(number, tick, at)
        case _:
            return OtherChange(number)


def _marked(number: int, tick: int, at: float, row: Mapping[str, object]) -> Change:
    place, signal = decode.name(row.get("location")), decode.member(SignalType, row.get("signal_type"))
    strength, decay = wire.number(row.get("strength")), wire.number(row.get("decay"))
    if place is None or signal is None or strength is None or decay is None:
        return OtherChange(number)
    return Marked(number, tick, at, place, signal, strength, decay, wire.word(row.get("source")))


def _judged(number: int, tick: int, at: float, row: Mapping[str, object]) -> Change:
    agent, target = decode.name(row.get("agent_id")), decode.name(row.get("target"))
    decision, score = decode.member(Decision, row.get("decision")), wire.number(row.get("score"))
    if agent is None or target is None or decision is None or score is None:
        return OtherChange(number)
    return Judged(
        number,
        tick,
        at,
        agent,
        wire.line(row.get("action_type"), decode.SHOWN_NAME_LIMIT),
        target,
        decision,
        score,
        decode.score_parts(row.get("parts")),
        wire.line(row.get("reason")),
        wire.words(row.get("required_evidence"))[: decode.EVIDENCE_ROWS],
        wire.number(row.get("risk")),
        wire.number(row.get("failure")),
        wire.number(row.get("trust")),
        wire.integer(row.get("findings")),
        wire.number(row.get("severity")) or 0.0,
    )


def _recorded(number: int, tick: int, at: float, row: Mapping[str, object]) -> Change:
    consequence, trust = decode.consequence(wire.mapping(row.get("consequence"))), wire.number(row.get("trust"))
    if consequence is None or trust is None:
        return OtherChange(number)
    return OutcomeKept(number, tick, at, consequence, trust, wire.word(row.get("role")))
