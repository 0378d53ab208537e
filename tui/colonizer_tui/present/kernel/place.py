"""One row of the heatmap in words, with the course of its picked trace; and everything that is known of a place."""

from collections.abc import Iterator, Sequence

from colonizer_client.kernel.models import SIGNAL_TYPES
from colonizer_client.kernel.preset import HAZARD_HIGH, HAZARD_LOW
from colonizer_client.kernel.view import Cell, Place
from colonizer_tui import heat
from colonizer_tui.present import words
from colonizer_tui.present.kernel.columns import HAZARD, HEAT_COLUMNS
from colonizer_tui.present.kernel.field import Group, RowKey
from colonizer_tui.present.kernel.heatmap import Moment, cells_of, number, ticks_until
from colonizer_tui.present.kernel.sparks import spark
from colonizer_tui.present.line import EMPTY, Line, Span, column, cut, fit, wrap
from colonizer_tui.present.states import Glyphs

LABEL_WIDTH = 12
_SEPARATOR = Span(" · ", "muted")


def sentence(key: RowKey | None, moment: Moment, width: int) -> Line:
    """What is to be known of the selected row and its picked trace."""
    if key is None:
        return ()
    if isinstance(key, Group):
        name, facts = key.prefix, _of_group(key, moment)
    else:
        place = moment.field.places.get(key)
        if place is None:
            return ()
        name, facts = place.name.shown, _of_trace(place, moment)
    pieces = [Span(f" {cut(name, width // 2)}", "strong")]
    for fact in facts:
        pieces += [_SEPARATOR, fact]
    return fit(tuple(pieces), width)


def _of_group(group: Group, moment: Moment) -> Iterator[Span]:
    members = moment.field.groups.get(group.prefix, ())
    hazards = [moment.field.strengths(raw)[HAZARD] or 0.0 for raw in members]
    yield Span(words.count(len(members), "place"), "muted")
    hot = sum(hazard >= HAZARD_HIGH for hazard in hazards)
    warm = sum(HAZARD_LOW <= hazard < HAZARD_HIGH for hazard in hazards)
    if hot:
        yield Span(f"{hot:,} at hazard 6 or more", "danger")
    if warm:
        yield Span(f"{warm:,} from 3 to 6", "attention")
    if not hot and not warm:
        yield Span("no hazard of 3 or more", "muted")


def _of_trace(place: Place, moment: Moment) -> Iterator[Span]:
    one = HEAT_COLUMNS[moment.picked]
    strength = moment.field.strengths(place.name.raw)[moment.picked]
    if strength is None:
        yield Span(f"{one.title} not sampled {'yet' if moment.is_now else 'by then'}", "muted")
        return
    if not strength:
        yield Span(f"{one.title} absent", "muted")
        return
    yield _told(one.title, strength, is_hazard=one.family == "hazard")
    if moment.is_now:
        yield from _until(place, strength, moment)
        yield from _source(cells_of(place, moment.picked)[-1], moment)


def _told(title: str, strength: float, *, is_hazard: bool) -> Span:
    text = f"{title} {number(strength)}"
    if is_hazard and strength >= HAZARD_HIGH:
        return Span(f"{text} ≥ 6 HOLD", "danger-strong")
    if is_hazard and strength >= HAZARD_LOW:
        return Span(f"{text} ≥ 3 counts half", "attention-strong")
    return Span(text)


def _until(place: Place, strength: float, moment: Moment) -> Iterator[Span]:
    levels = (HAZARD_HIGH, HAZARD_LOW) if HEAT_COLUMNS[moment.picked].family == "hazard" else ()
    waits = [(level, ticks_until(place, moment.picked, level, moment)) for level in levels if strength >= level]
    shown = [f"below {level:g} in {ticks:,}" for level, ticks in waits if ticks]
    gone = ticks_until(place, moment.picked, 0.0, moment)
    shown += [f"gone in {gone:,}"] if gone else []
    if shown:
        yield Span(", ".join(shown).replace(", below ", ", ") + (" tick" if gone == 1 else " ticks"))


def _source(cell: Cell, moment: Moment) -> Iterator[Span]:
    by = f"by {cell.source}" if cell.source else ""
    ago = "" if cell.last_reinforced is None else f"{words.age(moment.now - cell.last_reinforced)} ago"
    if by or ago:
        yield Span(" ".join(filter(None, (by, ago))), "muted")


def slider(key: RowKey | None, moment: Moment, width: int, keys: tuple[str, str, str], glyphs: Glyphs) -> Line:
    """The kept ticks with the course of the picked trace over them, and the one that is shown.

    `keys` are those to an earlier tick, to a later one and back to now, as a person reads them.
    """
    earlier, later, back = keys
    ticks = moment.kernel.ticks_kept
    if len(ticks) < 2:
        return (Span(" no earlier tick is known yet", "dim"),)
    shown, newest = moment.field.tick, moment.kernel.tick
    now = f"now, tick {newest:,}" if moment.is_now else f"tick {shown:,}, {newest - shown:,} before now"
    told: Line = (Span(f"  {now}", "muted" if moment.is_now else "attention-strong"),)
    if not moment.is_now:
        told = (*told, Span("  "), Span(back, "key"), Span(" now", "muted"))
    room = max(width - 46, 8)
    sampled = _spread(ticks, room)
    at = max((place for place, tick in enumerate(sampled) if tick <= shown), default=0)
    track = _track(key, sampled, moment, glyphs)
    return fit(
        (
            Span(f" {earlier} ", "key"),
            Span(track[:at], "muted"),
            Span(track[at], "tab-on"),
            Span(track[at + 1 :], "dim"),
            Span(f" {later}", "key"),
            *told,
        ),
        width,
    )


def _spread(ticks: Sequence[int], most: int) -> Sequence[int]:
    """At most so many of the ticks, evenly over all of them, the first and the last among them."""
    if len(ticks) <= most:
        return ticks
    return [ticks[place * (len(ticks) - 1) // (most - 1)] for place in range(most)]


def _track(key: RowKey | None, ticks: Sequence[int], moment: Moment, glyphs: Glyphs) -> str:
    place = None if key is None or isinstance(key, Group) else moment.field.places.get(key)
    if place is None:
        return glyphs["slow"] * len(ticks)
    law, strengths = moment.kernel.preset.law, list[float | None]()
    for tick in ticks:
        known = [place.strength(signal, tick, law) for signal in HEAT_COLUMNS[moment.picked].signals]
        strengths.append(max((one for one in known if one is not None), default=None))
    return spark(strengths, glyphs)


def page(place: Place, moment: Moment, width: int, glyphs: Glyphs) -> Sequence[Line]:
    """Everything that is known of a place: each trace with its times, its source and its evidence."""
    shown: list[Line] = [(Span(part, "strong"),) for part in wrap(place.name.shown, width)]
    law, tick = moment.kernel.preset.law, moment.kernel.tick
    for signal, cell in zip(SIGNAL_TYPES, place.cells, strict=True):
        name = column(signal.value.replace("_", " "), LABEL_WIDTH + 3)
        if cell is None:
            shown.append((Span(name, "muted"), Span("not sampled yet", "dim")))
            continue
        strength = cell.strength_at(tick, law)
        if not strength:
            shown.append((Span(name, "muted"), Span("absent", "dim")))
            continue
        family = next(one.family for one in HEAT_COLUMNS if one.signals == (signal,))
        bars = spark([mark.strength for mark in cell.marks[-24:]], glyphs)
        shown += [
            EMPTY,
            (Span(name), Span(f" {number(strength)} ", heat.role_of(family, strength)), Span(f"  {bars}", "muted")),
        ]
        shown += [
            (Span("  " + column(label, LABEL_WIDTH + 1), "muted"), Span(value)) for label, value in _facts(cell, moment)
        ]
        for label, value in cell.evidence.items():
            first, *more = wrap(value, max(width - LABEL_WIDTH - 3, 8)) or ("",)
            shown.append((Span("  " + column(cut(label, LABEL_WIDTH), LABEL_WIDTH + 1), "info"), Span(first)))
            shown += [(Span(" " * (LABEL_WIDTH + 3)), Span(part)) for part in more]
    return shown


_SPEEDS = {3.0: "fast", 1.0: "normal", 0.2: "slow"}


def _facts(cell: Cell, moment: Moment) -> Iterator[tuple[str, str]]:
    law, tick = moment.kernel.preset.law, moment.kernel.tick
    gone = cell.ticks_until(0.0, tick, law)
    if gone:
        yield "gone in", words.count(gone, "tick")
    decay = cell.newest.decay
    if decay is not None:
        speed = _SPEEDS.get(round(decay, 6), "")
        yield "fades", f"{speed} ({decay:g}×)" if speed else f"{decay:g}×"
    if cell.source:
        yield "left by", cell.source
    if cell.last_reinforced is not None:
        yield "touched", f"{words.duration(moment.now - cell.last_reinforced)} ago"
