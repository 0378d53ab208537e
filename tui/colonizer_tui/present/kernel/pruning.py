"""The modules that may go: on the screen, as Markdown and as JSON."""

import json
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime

from colonizer_client.kernel.models import Candidate, PruningReport
from colonizer_client.kernel.view import KernelView
from colonizer_tui.present import words
from colonizer_tui.present.line import EMPTY, Line, Span, column, line, wrap
from colonizer_tui.present.states import STALE, Glyphs

_BAR = 10


def caption(width: int) -> Line:
    """The names of the columns."""
    place, reason = _widths(width)
    text = f" {column('sure', _BAR + 6)}{column('module', place)}{column('unused', 8)}{column('calls', 7)}"
    return (Span(text + column("why", reason), "dim"),)


def _widths(width: int) -> tuple[int, int]:
    room = max(width - _BAR - 6 - 8 - 7, 20)
    return (room * 3 // 5, room - room * 3 // 5) if room >= 50 else (room, 0)


def row(one: Candidate, now: float, width: int, glyphs: Glyphs, *, is_stale: bool) -> Line:
    """A candidate's row."""
    place, reason = _widths(width)
    filled = round(one.confidence * _BAR)
    shown = (
        Span(glyphs["fast"] * filled, "attention"),
        Span(glyphs["slow"] * (_BAR - filled), "faint"),
        Span(f" {one.confidence:.2f} "),
        Span(column(one.place.shown, place - 1) + " ", "strong"),
        Span(column(_unused(one, now), 8), "muted"),
        Span(column(f"{one.calls:,}", 7), "muted"),
        Span(column(_why(one), reason), "muted"),
    )
    return tuple(Span(piece.text, STALE) for piece in shown) if is_stale else shown


def protected_row(place: str, why: str, width: int, glyphs: Glyphs) -> Line:
    """The row of a module that is left alone."""
    del width
    return line(Span(f"{glyphs['yes']} kept".ljust(_BAR + 6), "ok"), Span(f"{place}  ", "muted"), Span(why, "dim"))


def _unused(one: Candidate, now: float) -> str:
    return "never" if one.last_used is None or one.last_used <= 0 else words.age(now - one.last_used)


def _why(one: Candidate) -> str:
    return f"like {one.duplicate_of}" if one.duplicate_of else one.reason


def detail(one: Candidate, now: float, width: int) -> Sequence[Line]:
    """A candidate whole."""
    shown: list[Line] = [(Span(part, "strong"),) for part in wrap(one.place.shown, width)]
    shown += [EMPTY, *((Span(part),) for part in wrap(one.reason, width))]
    if one.duplicate_of:
        shown += [(Span(part),) for part in wrap(f"the same as {one.duplicate_of}", width)]
    used = (
        "never used" if _unused(one, now) == "never" else f"last used {words.duration(now - (one.last_used or 0))} ago"
    )
    shown += [EMPTY, (Span(f"confidence {one.confidence:.2f} · {used} · {words.count(one.calls, 'call')}", "muted"),)]
    told = "Nothing is removed by this report: it only says what may be looked at."
    return [*shown, EMPTY, *((Span(part, "dim"),) for part in wrap(told, width))]


def protected_detail(place: str, why: str, width: int) -> Sequence[Line]:
    """A module that is left alone, and why."""
    told = f"It is never a candidate as long as {why}."
    return [
        *((Span(part, "strong"),) for part in wrap(place, width)),
        EMPTY,
        *((Span(part),) for part in wrap(told, width)),
    ]


def foot(report: PruningReport, now: float, width: int) -> Sequence[Line]:
    """How old the report is."""
    count = words.count(report.total, "candidate")
    kept = f" · {len(report.protected):,} kept" if report.protected else ""
    return [line(Span(f" {count}{kept} · made {words.duration(now - report.generated_at)} ago"[:width], "muted"))]


def markdown(kernel: KernelView, report: PruningReport) -> str:
    """The report as a page to keep or to send."""
    made = [
        f"# Pruning report of {_plain(kernel.name)}",
        "",
        f"Made {_day(report.generated_at)} at tick {kernel.tick}. {words.count(report.total, 'candidate')}.",
        "Nothing was removed.",
        "",
        "| confidence | module | last used | calls | duplicate of | why |",
        "|---:|---|---|---:|---|---|",
    ]
    made += [
        f"| {one.confidence:.2f} | {_code(one.place.shown)} | {_day(one.last_used)} | {one.calls} "
        f"| {_code(one.duplicate_of)} | {_plain(one.reason)} |"
        for one in report.candidates
    ]
    if report.protected:
        made += ["", "## Kept", "", "| module | because |", "|---|---|"]
        made += [f"| {_code(place)} | {_plain(why)} |" for place, why in report.protected.items()]
    return "\n".join(made) + "\n"


def as_json(kernel: KernelView, report: PruningReport) -> str:
    """The report for programs: names are those that the kernel uses."""
    made: Mapping[str, object] = {
        "kernel": kernel.name,
        "tick": kernel.tick,
        "generated_at": report.generated_at,
        "total": report.total,
        "candidates": [
            {
                "module_path": one.place.raw,
                "last_used": one.last_used,
                "call_count": one.calls,
                "duplicate_of": one.duplicate_of or None,
                "reason": one.reason,
                "confidence": one.confidence,
            }
            for one in report.candidates
        ],
        "protected": dict(report.protected),
    }
    return json.dumps(made, indent=2) + "\n"


def _day(at: float | None) -> str:
    if at is None or at <= 0:
        return "never"
    try:
        return datetime.fromtimestamp(at, UTC).strftime("%Y-%m-%d %H:%M UTC")
    except (OverflowError, ValueError, OSError):
        return words.UNKNOWN


_MARKS = str.maketrans({mark: f"\\{mark}" for mark in "\\`*_{}[]<>#|!"})


def _plain(text: str) -> str:
    """A text in which Markdown finds nothing to do."""
    return text.translate(_MARKS)


def _code(text: str) -> str:
    """A name as code; a table's bar would end the cell even there."""
    return f"`{text.replace('`', chr(0x2019)).replace('|', chr(0xFF5C))}`" if text else ""
