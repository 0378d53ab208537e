"""The scoped tokens of a mothership, as rows."""

from collections.abc import Iterator

from colonizer_client.mothership.models import TokenRecord
from colonizer_tui.present import words
from colonizer_tui.present.line import Line, Span, column, line, wrap

NAME_WIDTH = 18
SCOPE_WIDTH = 9
DATES_WIDTH = 22


def row(token: TokenRecord, now: float, width: int) -> Line:
    """Name, scope, limits, and when it was made and last used."""
    room = max(width - 2 - NAME_WIDTH - SCOPE_WIDTH - DATES_WIDTH, 8)
    return line(
        Span(" " + column(token.name, NAME_WIDTH) + " ", "strong"),
        Span(column(token.scope, SCOPE_WIDTH), "info"),
        Span(column(limits(token), room), "muted"),
        Span(column(_ago(token.created_at, now), 10, right=True), "muted"),
        Span(column(_ago(token.last_used_at, now) or "never", 12, right=True), "muted"),
    )


def caption(width: int) -> Line:
    """The names of the columns."""
    room = max(width - 2 - NAME_WIDTH - SCOPE_WIDTH - DATES_WIDTH, 8)
    text = f"  {column('name', NAME_WIDTH)} {column('scope', SCOPE_WIDTH)}{column('limits', room)}"
    return (Span(text + column("made", 10, right=True) + column("last used", 12, right=True), "dim"),)


def whole(token: TokenRecord, width: int) -> Iterator[Line]:
    """Its name, its scope and its limits, nothing cut."""
    for part in wrap(f"{token.name} · {token.scope} · {limits(token)}", width):
        yield (Span(f" {part}", "muted"),)


def limits(token: TokenRecord) -> str:
    """What bounds the token besides its scope."""
    return " · ".join(bounds(token.orgs, token.repos, token.max_concurrent, token.budget_usd_per_day)) or "no limits"


def bounds(
    orgs: tuple[str, ...], repos: tuple[str, ...], max_concurrent: int | None, budget_usd_per_day: float | None
) -> Iterator[str]:
    """Each limit in words."""
    if orgs or repos:
        yield ", ".join((*orgs, *repos))
    if max_concurrent is not None:
        yield f"{words.count(max_concurrent, 'colony', 'colonies')} at once"
    if budget_usd_per_day is not None:
        yield f"{words.dollars(budget_usd_per_day)} a day"


def _ago(at: float | None, now: float) -> str:
    return "" if at is None else f"{words.age(now - at)} ago"
