"""What came of actions, as their agents reported it."""

from collections.abc import Sequence

from colonizer_client.kernel.models import Consequence
from colonizer_tui.present import words
from colonizer_tui.present.line import EMPTY, Line, Span, column, cut_front, wrap
from colonizer_tui.present.states import STALE, Glyphs


def caption(width: int) -> Line:
    """The names of the columns."""
    agent, action, target = _widths(width)
    text = f" {column('time', 6)}{column('tests', 9)}{column('trust', 8)}"
    text += f"{column('agent', agent)}{column('action', action)}{column('target', target)}"
    return (Span(text, "dim"),)


def row(one: Consequence, width: int, glyphs: Glyphs, *, is_stale: bool) -> Line:
    """An outcome's row."""
    agent, action, target = _widths(width)
    delta = f"{one.trust_delta:+.2f}"
    shown = (
        Span(words.clock(one.recorded_at) + " ", "muted"),
        *_result(one, glyphs),
        Span(column(delta, 8), "ok" if one.trust_delta > 0 else "danger"),
        Span(column(one.agent.shown, agent - 1) + " "),
        Span(column(one.action, action - 1) + " ", "muted"),
        Span(cut_front(one.target.shown, target)),
    )
    return tuple(Span(piece.text, STALE) for piece in shown) if is_stale else shown


def gap() -> Line:
    """What stands where older ones may be missing."""
    return (Span("  … some may be missing here: more were recorded at once than the kernel lists", "dim"),)


def _widths(width: int) -> tuple[int, int, int]:
    room = max(width - 23, 24)
    agent, action = min(room // 3, 20), min(room // 4, 18)
    return agent, action, room - agent - action


def _result(one: Consequence, glyphs: Glyphs) -> Line:
    if one.tests_passed:
        return Span(f"{glyphs['yes']} ", "ok"), Span(column("passed", 7), "ok")
    return Span(f"{glyphs['no']} ", "danger"), Span(column("failed", 7), "danger")


def detail(one: Consequence, now: float, width: int, glyphs: Glyphs) -> Sequence[Line]:
    """An outcome whole."""
    shown: list[Line] = [
        (*_result(one, glyphs), Span(one.action, "strong")),
        *((Span(part),) for part in wrap(one.target.shown, width)),
        EMPTY,
        _fact("agent", one.agent.shown),
        _fact("trust", f"{one.trust_delta:+.3g}"),
    ]
    if one.feedback:
        shown.append(_fact("feedback", f"{one.feedback:+.3g} by a person"))
    shown.append(_fact("recorded", f"{words.duration(now - one.recorded_at)} ago"))
    told = one.outcome or "what happened is not told by this kernel"
    role = "" if one.outcome else "dim"
    return [*shown, EMPTY, *((Span(part, role),) for part in wrap(told, width))]


def _fact(label: str, value: str) -> Line:
    return Span(column(label, 10), "muted"), Span(value)
