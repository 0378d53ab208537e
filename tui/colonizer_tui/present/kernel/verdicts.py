"""The gate log: what the gate said, of what its score was made, and what would change it."""

from collections.abc import Iterator, Mapping, Sequence

from colonizer_client.kernel.gate import (
    BUDGET_PART,
    COMPLETENESS_WEIGHT,
    RISK_PARTS,
    TRUST_PARTS,
    Lift,
    Ways,
    ways_to_execute,
)
from colonizer_client.kernel.models import Decision, Verdict
from colonizer_client.kernel.preset import EXECUTE_AT, HAZARD_HIGH, HAZARD_LOW, HOLD_AT, TRUST_FLOOR
from colonizer_tui import heat
from colonizer_tui.present import words
from colonizer_tui.present.kernel.heatmap import mark_of, number
from colonizer_tui.present.line import EMPTY, Line, Span, column, cut_front, line, wrap
from colonizer_tui.present.states import STALE, Glyphs

WIDE_BAR = 40
"""Cells of a score of 1, where a verdict is shown whole."""

_FIXED = 33
"""What a row takes besides its bar and its names."""

_LOOKS: Mapping[Decision, tuple[str, str, str]] = {
    Decision.EXECUTE: ("yes", "execute", "ok"),
    Decision.HOLD: ("parked", "hold", "attention"),
    Decision.REFUSE: ("no", "refuse", "danger"),
}

_PARTS = (
    ("budget", BUDGET_PART, "share-1", "info"),
    ("risk", RISK_PARTS[0], "share-2", "attention"),
    ("trust", TRUST_PARTS[0], "share-3", "active"),
    ("completeness", COMPLETENESS_WEIGHT, "share-4", "ok"),
)
"""Name, greatest value, glyph and role of each part of a score."""

_NAME_WIDTH = 14


def look(decision: Decision, glyphs: Glyphs) -> Line:
    """A decision as its shape and its word."""
    glyph, word, role = _LOOKS[decision]
    return Span(f"{glyphs[glyph]} ", role), Span(column(word, 8), role)


def bar_of(width: int) -> int:
    """How many cells a score of 1 has in a row of this width."""
    return 20 if width >= 90 else 10


def caption(width: int) -> Line:
    """The names of the columns; the bar's marks are those from which the gate holds and executes."""
    text = f" {column('time', 6)}{column('gate', 10)}{column('score', 6)}{_scale(bar_of(width))}  {column('hazard', 8)}"
    return (Span(text + _names("agent", "action", "target", width), "dim"),)


def _scale(bar: int) -> str:
    """The marks of a score's bar, each where it begins."""
    cells = [" "] * bar
    for mark in (HOLD_AT, EXECUTE_AT):
        text = f"{mark:g}"[1:]
        cells[int(mark * bar) : int(mark * bar) + len(text)] = text
    return "".join(cells)[:bar]


def row(verdict: Verdict, width: int, glyphs: Glyphs, *, is_stale: bool) -> Line:
    """A verdict's row."""
    names = _names(verdict.agent.shown, verdict.action, verdict.target.shown, width)
    score = f"{verdict.score:.2f}" if verdict.parts is not None or verdict.score else words.UNKNOWN
    ours = Span(glyphs["picked"] if verdict.is_ours else " ", "active-strong")
    shown = (
        ours,
        Span(words.clock(verdict.at) + " ", "muted"),
        *look(verdict.decision, glyphs),
        Span(column(score, 6)),
        *stack(verdict, bar_of(width), glyphs),
        Span("  "),
        *_hazard(verdict, glyphs),
        Span(names, ""),
    )
    return tuple(Span(piece.text, STALE) for piece in shown) if is_stale else shown


def _names(agent: str, action: str, target: str, width: int) -> str:
    room = max(width - _FIXED - bar_of(width), 12)
    first, second = (min(room // 4, 18), min(room // 4, 16)) if room >= 44 else (min(room // 3, 14), 0)
    shown = [column(agent, first), column(action, second)] if second else [column(agent, first)]
    return " ".join((*shown, cut_front(target, room - first - second - len(shown))))


def _hazard(verdict: Verdict, glyphs: Glyphs) -> Line:
    if verdict.hazard is None:
        return (Span(column(f"  {words.UNKNOWN}", 8), "dim"),)
    if not verdict.hazard:
        return (Span(column(" none", 8), "dim"),)
    text = f" {number(verdict.hazard)}{mark_of(verdict.hazard, glyphs)}"
    return Span(column(text, 6), heat.role_of("hazard", verdict.hazard)), Span("  ")


def stack(verdict: Verdict, width: int, glyphs: Glyphs) -> Line:
    """The parts of a score one behind the other, in a bar that is `width` cells long where the score is 1."""
    parts = verdict.parts
    if parts is None:
        told = "not scored" if not verdict.score else ""
        return (Span(column(told, width), "dim"),)
    pieces: list[Span] = []
    end, filled = 0.0, 0
    values = (parts.budget, parts.risk, parts.trust, parts.completeness)
    for value, (_, _, glyph, role) in zip(values, _PARTS, strict=True):
        end += value
        upto = round(end * width)
        pieces.append(Span(glyphs[glyph] * (upto - filled), role))
        filled = upto
    rest = "".join(
        glyphs["bar"] if place in (int(HOLD_AT * width), int(EXECUTE_AT * width)) else " "
        for place in range(filled, width)
    )
    return (*pieces, Span(rest, "faint"))


def detail(verdict: Verdict, width: int, glyphs: Glyphs, *, is_low: bool = False) -> Sequence[Line]:
    """A verdict whole: its parts, what to do, and what would make it EXECUTE.

    Where there is little height, what is to be done comes first.
    """
    agent = Span(f"  by {verdict.agent.shown}", "muted")
    head = line(*look(verdict.decision, glyphs), Span(verdict.action, "strong"), agent)
    target: list[Line] = [(Span(part),) for part in wrap(verdict.target.shown, width)]
    reason: list[Line] = [(Span(part, "muted"),) for part in wrap(verdict.reason, width)]
    score = list(_score(verdict, min(WIDE_BAR, width), glyphs))
    todo, would = list(_todos(verdict, width, glyphs)), list(_would(verdict, width, glyphs))
    ours: list[Line] = [(Span("proposed from here", "active"),)] if verdict.is_ours else []
    if is_low:
        return [head, *would, *todo, *score, *target, *reason, *ours]
    blocks = ([head, *target], reason, score, todo, would, ours)
    return [one for block in blocks if block for one in (*block, EMPTY)][:-1]


def _score(verdict: Verdict, width: int, glyphs: Glyphs) -> Iterator[Line]:
    parts = verdict.parts
    if parts is None:
        if not verdict.score:
            yield (Span("settled before anything was scored", "muted"),)
            return
        yield (Span(f"score {verdict.score:.4g}; it does not tell the parts", "muted"),)
        return
    yield line(Span(f"score {verdict.score:.4g}", "strong"), Span("  hold 0.50 · execute 0.75", "muted"))
    yield stack(verdict, width, glyphs)
    values = (parts.budget, parts.risk, parts.trust, parts.completeness)
    notes = ("", _of_hazard(verdict), _of_trust(verdict), "")
    for value, note, (name, most, glyph, role) in zip(values, notes, _PARTS, strict=True):
        quiet = "muted" if value >= most else ""
        yield line(
            Span(f"{glyphs[glyph]} ", role),
            Span(column(name, _NAME_WIDTH), quiet),
            Span(f"{value:.4g}".ljust(7), quiet),
            Span(f"of {most:.4g}".ljust(8), "muted"),
            Span(note, "muted"),
        )


def _of_hazard(verdict: Verdict) -> str:
    hazard = verdict.hazard
    if hazard is None:
        return ""
    if hazard >= HAZARD_HIGH:
        return f"hazard {number(hazard)} ≥ 6"
    return f"hazard {number(hazard)} ≥ 3" if hazard >= HAZARD_LOW else "hazard below 3"


def _of_trust(verdict: Verdict) -> str:
    return "" if verdict.trust is None else f"trust {verdict.trust:.2f}"


def _todos(verdict: Verdict, width: int, glyphs: Glyphs) -> Iterator[Line]:
    if verdict.required_evidence:
        yield (Span("to do", "info"),)
    for item in verdict.required_evidence:
        yield from _item(Span(f"{glyphs['todo']} ", "attention"), item.replace("_", " "), width)


def _would(verdict: Verdict, width: int, glyphs: Glyphs) -> Iterator[Line]:
    """What would make it EXECUTE."""
    if verdict.decision is Decision.EXECUTE:
        return
    yield (Span("would execute if", "info"),)
    for text in _ways(verdict, ways_to_execute(verdict)):
        yield from _item(Span(f"{glyphs['into']} ", "info"), text, width)


def _item(sign: Span, text: str, width: int) -> Iterator[Line]:
    first, *more = wrap(text, max(width - 2, 8)) or ("",)
    yield line(sign, Span(first))
    yield from ((Span(f"  {part}"),) for part in more)


def _ways(verdict: Verdict, ways: Ways) -> Iterator[str]:
    if ways.alone:
        for place, lift in enumerate(ways.alone):
            yield ("or " if place else "") + _lift(lift, verdict)
    elif ways.together:
        for place, lift in enumerate(ways.together):
            yield ("and " if place else "") + _lift(lift, verdict)
    elif verdict.budget_approved is False:
        yield "the budget has room again"
    elif verdict.parts is None and verdict.trust is not None and verdict.trust < TRUST_FLOOR:
        yield f"the agent's trust were at least {TRUST_FLOOR:.2f} and its role above sandbox; then it is scored"
    else:
        yield "it were scored: what stands under “to do” comes first"


def _lift(lift: Lift, verdict: Verdict) -> str:
    hazard = verdict.hazard
    is_of_hazard = lift in (Lift.HAZARD_BELOW_3, Lift.HAZARD_BELOW_6) and hazard is not None
    return f"{lift.value} (it was {number(hazard)})" if is_of_hazard and hazard else lift.value
