"""The calls of agents that wait for a person."""

from collections.abc import Iterator, Sequence

from colonizer_client.approvals.models import CANNOT_HOLD_BACK, Approval, has_hidden, payload
from colonizer_tui.present import words
from colonizer_tui.present.line import EMPTY, Line, Span, column, line, wrap
from colonizer_tui.present.states import Glyphs

SOON_S = 60.0
"""Within this an approval lapses soon."""


def row(approval: Approval, now: float, width: int, glyphs: Glyphs) -> Line:
    """A row: who wants what, and for how long it waits."""
    request, left = approval.request, approval.expires_at - now
    client = min(max(width // 4, 8), 18)
    lapses = f"{words.age(left)} left"
    room = max(width - client - 3 - len(lapses) - 1, 4)
    return (
        Span(glyphs["call"] + " ", "attention-strong"),
        Span(column(request.caller.client, client - 1) + " ", "info"),
        Span(column(request.summary, room) + " ", "strong"),
        Span(lapses, "danger" if left < SOON_S else "muted"),
    )


def head(count: int) -> Line:
    """What stands above the rows."""
    return (
        Span(f" {words.count(count, 'call of an agent', 'calls of agents')}: nothing is done without your word", "dim"),
    )


def whole(approval: Approval, now: float, width: int) -> Sequence[Line]:
    """Everything that a person has to know to decide, the arguments whole."""
    return list(_whole(approval, now, width))


def _whole(approval: Approval, now: float, width: int) -> Iterator[Line]:
    request = approval.request
    yield line(Span(request.caller.client, "info"), Span(" asks to call ", "strong"), Span(request.tool, "info"))
    yield EMPTY
    yield from _wrapped(request.summary, width, "strong")
    for told in request.blast:
        yield from _wrapped(f"· {told}", width, "")
    yield EMPTY
    if has_hidden(approval.arguments):
        yield from _wrapped(
            "The arguments hold hidden characters: each is shown as a sign, and exactly behind it.", width, "danger"
        )
    yield (Span("Arguments, whole", "muted"),)
    for argument in payload(approval.arguments):
        yield from _wrapped(argument or " ", width, "")
    yield EMPTY
    lapses = words.duration(approval.expires_at - now)
    yield from _wrapped(
        f"Nobody's word within {lapses} is a refusal. Yours counts for this call, once.", width, "muted"
    )
    if request.caller.is_same_user:
        yield EMPTY
        yield from _wrapped(CANNOT_HOLD_BACK, width, "attention")
    yield EMPTY
    yield from _wrapped(
        f"colonizer approvals edit {approval.id}  changes the arguments, and approves those", width, "dim"
    )


def _wrapped(text: str, width: int, role: str) -> Iterator[Line]:
    return ((Span(part, role),) for part in wrap(text, width))
