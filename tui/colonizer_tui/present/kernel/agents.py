"""Who is trusted how far: agents, their roles, and what leads to the next one."""

from collections.abc import Iterator, Sequence

from colonizer_client.kernel.gate import outcomes_to_next_role, proposals_to_leave_sandbox
from colonizer_client.kernel.preset import FAILURE_LIMIT, LADDER, TRUST_FLOOR, TRUST_FULL, Preset
from colonizer_client.kernel.view import Agent
from colonizer_tui.present import words
from colonizer_tui.present.kernel.sparks import spark
from colonizer_tui.present.line import EMPTY, Line, Span, column, wrap
from colonizer_tui.present.states import STALE, Glyphs

BAR = 20
"""Cells of a trust of 1."""

MARKS = sorted({*(mark for mark, _ in LADDER), TRUST_FLOOR, TRUST_FULL})
"""The trust at which something changes."""

OUTCOMES_SHOWN = 10
_ROLE_WIDTH, _COUNT_WIDTH, _NEXT_WIDTH = 11, 9, 17


def in_order(agents: Sequence[Agent]) -> list[str]:
    """Raw names, the most trusted first; those of which nothing was read last."""
    known = sorted(agents, key=lambda agent: -1.0 if agent.profile is None else agent.profile.trust, reverse=True)
    return [agent.name.raw for agent in known]


def _name_width(width: int) -> int:
    fixed = _ROLE_WIDTH + BAR + 6 + _COUNT_WIDTH + OUTCOMES_SHOWN + 2
    spare = width - fixed
    return max(min(spare - (_NEXT_WIDTH if spare >= 16 + _NEXT_WIDTH else 0), 30), 8)


def _has_next(width: int) -> bool:
    return width - (_ROLE_WIDTH + BAR + 6 + _COUNT_WIDTH + OUTCOMES_SHOWN + 2) >= 16 + _NEXT_WIDTH


def caption(width: int) -> Line:
    """The names of the columns; over the bar the trust at its marks."""
    scale = [" "] * BAR
    for mark in (LADDER[0][0], LADDER[2][0], LADDER[3][0]):
        scale[int(mark * BAR)] = "."
        scale[int(mark * BAR) + 1] = f"{mark:.1f}"[-1]
    text = f" {column('agent', _name_width(width))}{column('role', _ROLE_WIDTH)}{''.join(scale)} {column('trust', 5)}"
    text += column("passed", _COUNT_WIDTH, right=True) + f"  {column('last ten', OUTCOMES_SHOWN)}"
    return (Span(text + (column("  next role", _NEXT_WIDTH) if _has_next(width) else ""), "dim"),)


def row(agent: Agent, preset: Preset, width: int, glyphs: Glyphs, *, is_stale: bool) -> Line:
    """An agent's row."""
    profile = agent.profile
    name = Span(column(agent.name.shown, _name_width(width)), "strong")
    if profile is None:
        return name, Span("not read yet", "dim")
    shown: list[Span] = [
        name,
        Span(column(_role(profile.role), _ROLE_WIDTH), "muted"),
        *trust_bar(profile.trust, BAR, glyphs),
        Span(f" {profile.trust:.2f} "),
        Span(column(f"{profile.accepted:,}/{profile.proposals:,}", _COUNT_WIDTH, right=True) + "  ", "muted"),
        *last_outcomes(agent, glyphs),
    ]
    if _has_next(width):
        shown.append(Span(column(f"  {_next_in_short(agent, preset)}", _NEXT_WIDTH), "muted"))
    return tuple(Span(piece.text, STALE) for piece in shown) if is_stale else tuple(shown)


def trust_bar(trust: float, width: int, glyphs: Glyphs) -> Line:
    """How far an agent is trusted, with the marks of the ladder."""
    marks = {int(mark * width) for mark in MARKS}
    filled = min(int(trust * width + 1e-9), width)
    passed = "".join(glyphs["mark-passed" if place in marks else "fast"] for place in range(filled))
    ahead = "".join(glyphs["mark-ahead" if place in marks else "slow"] for place in range(filled, width))
    role = "ok" if trust >= TRUST_FULL else "attention" if trust >= TRUST_FLOOR else "danger"
    return Span(passed, role), Span(ahead, "faint")


def last_outcomes(agent: Agent, glyphs: Glyphs) -> Line:
    """The last ten outcomes, the newest last."""
    shown = agent.outcomes[-OUTCOMES_SHOWN:]
    pieces = [Span(glyphs["yes"], "ok") if passed else Span(glyphs["no"], "danger") for passed in shown]
    return (*pieces, Span(" " * (OUTCOMES_SHOWN - len(shown))))


def _role(role: str) -> str:
    return role.replace("_", " ")


def _next_in_short(agent: Agent, preset: Preset) -> str:
    found = None if agent.profile is None else outcomes_to_next_role(agent.profile, preset)
    if found is None:
        return "top of the ladder"
    role, count = found
    return f"{_role(role)} in {count}" if count else f"{_role(role)} next"


def detail(agent: Agent, preset: Preset, now: float, width: int, glyphs: Glyphs) -> Sequence[Line]:
    """An agent whole."""
    shown: list[Line] = [(Span(part, "strong"),) for part in wrap(agent.name.shown, width)]
    profile = agent.profile
    if profile is None:
        return [*shown, EMPTY, (Span("its record is not read yet", "muted"),)]
    wide = min(width, 40)
    shown += [
        (Span(_role(profile.role)), Span(f" · trust {profile.trust:.4g}", "muted")),
        EMPTY,
        trust_bar(profile.trust, wide, glyphs),
        EMPTY,
    ]
    for mark, told in sorted([*((mark, _role(role)) for mark, role in LADDER), *_GATES]):
        is_passed = profile.trust >= mark
        sign = Span(glyphs["yes"] if is_passed else glyphs["unknown"], "ok" if is_passed else "dim")
        shown.append((sign, Span(f" {mark:.2f}  ", "muted"), Span(told, "" if is_passed else "muted")))
    shown += [EMPTY, *((Span(part),) for text in _ahead(agent, preset) for part in wrap(text, width))]
    # An outcome may come without a proposal: neither is a part of the other.
    counted = "counted" if preset.counts_outcomes else "proposed"
    shown += [EMPTY, (Span(f"{profile.accepted:,} passed · {profile.proposals:,} {counted}", "muted"),)]
    shown.append((Span("last ten  ", "muted"), *last_outcomes(agent, glyphs)))
    if not agent.is_whole and agent.outcomes:
        shown.append((Span("as far as they were seen", "dim"),))
    if agent.recent_failures >= FAILURE_LIMIT:
        told = f"{agent.recent_failures} of the last ten failed: its trust counts less at the gate"
        shown += [(Span(part, "attention"),) for part in wrap(told, width)]
    if len(agent.trust_history) > 1:
        course = [point.trust for point in agent.trust_history[-wide:]]
        shown += [EMPTY, (Span("trust so far", "info"),), (Span(spark(course, glyphs, 1.0), "muted"),)]
    if profile.last_updated is not None:
        shown.append((Span(f"last changed {words.duration(now - profile.last_updated)} ago", "dim"),))
    return shown


_GATES = ((TRUST_FLOOR, "the gate scores its proposals"), (TRUST_FULL, "its trust counts in full"))


def _ahead(agent: Agent, preset: Preset) -> Iterator[str]:
    profile = agent.profile
    found = None if profile is None else outcomes_to_next_role(profile, preset)
    if profile is None or found is None:
        yield "It has the highest role."
        return
    role, count = found
    if count:
        yield f"{words.count(count, 'passed outcome')} more to {_role(role)}."
    if needed := proposals_to_leave_sandbox(profile):
        yield f"It leaves the sandbox after {words.count(needed, 'more proposal', 'more proposals')} at the earliest."
