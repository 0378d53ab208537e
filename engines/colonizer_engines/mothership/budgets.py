"""What a token's colonies may cost, and how many of them there may be (spec 2.2)."""

from colonizer_engines.mothership.clock import rfc3339
from colonizer_engines.mothership.errors import Refusal
from colonizer_engines.mothership.fleet import Fleet
from colonizer_engines.mothership.session import Session
from colonizer_engines.mothership.tokens import TokenRecord, Tokens


def check_caps(fleet: Fleet, token: TokenRecord) -> None:
    """Nothing, where the token may have one more colony.

    Raises:
        Refusal: 429, it has as many as it may, or has spent what it may today.
    """
    own = [colony.session for colony in fleet.colonies() if colony.session.launched_by_token == token.id]
    unfinished = sum(not session.terminal and session.status != "parked" for session in own)
    if token.max_concurrent and unfinished >= token.max_concurrent:
        raise Refusal(
            429,
            f"this API token's concurrency cap is {token.max_concurrent} and it already has {unfinished} colonies"
            " that are not finished; stop one or raise max_concurrent",
        )
    spent = _spent_today(fleet, own)
    if token.budget_usd_per_day and spent >= token.budget_usd_per_day:
        raise Refusal(429, _budget_words(spent, token.budget_usd_per_day))


def over_budget(fleet: Fleet, tokens: Tokens, session: Session) -> str | None:
    """Why the queued colony's token does not pay for its start today, or None where it does."""
    if not session.launched_by_token:
        return None
    token = tokens.find(session.launched_by_token)
    if token is None or not token.budget_usd_per_day:
        return None
    own = [colony.session for colony in fleet.colonies() if colony.session.launched_by_token == token.id]
    spent = _spent_today(fleet, own)
    return _budget_words(spent, token.budget_usd_per_day) if spent >= token.budget_usd_per_day else None


def _spent_today(fleet: Fleet, sessions: list[Session]) -> float:
    today = rfc3339(fleet.clock.now())[:10]
    return sum(session.total_cost_usd for session in sessions if session.created_at[:10] == today)


def _budget_words(spent: float, budget: float) -> str:
    return (
        f"this API token's colonies have spent ${spent:.2f} of its ${budget:.2f} budget for today (UTC);"
        " raise budget_usd_per_day or wait for the next day"
    )
