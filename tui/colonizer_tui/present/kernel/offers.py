"""What colonies came to, offered to be recorded in a kernel."""

from collections.abc import Mapping, Sequence

from colonizer_client.identity import EndpointName
from colonizer_client.kernel.bridge import Happened, Offer
from colonizer_client.text import safe_line
from colonizer_tui.present import words
from colonizer_tui.present.line import EMPTY, Line, Span, column, cut_front, wrap

_ROLES: Mapping[Happened, str] = {
    Happened.MERGED: "ok",
    Happened.STOPPED: "muted",
    Happened.FAILED: "danger",
    Happened.REFUSED: "danger",
}


def caption(width: int) -> Line:
    """The names of the columns."""
    agent, colony, target = _widths(width)
    text = f" {column('age', 6)}{column('ended', 9)}{column('tests', 8)}"
    text += f"{column('agent', agent)}{column('colony', colony)}{column('repository', target)}"
    return (Span(text, "dim"),)


def row(offer: Offer, now: float, width: int) -> Line:
    """An offer's row."""
    agent, colony, target = _widths(width)
    is_doubtful = offer.state == "sent"
    return (
        Span(column(words.age(now - offer.created_at), 6), "muted"),
        Span(column(offer.happened.value, 9), _ROLES[offer.happened]),
        Span(column("sent?", 8), "attention-strong") if is_doubtful else _tests(offer),
        Span(column(safe_line(offer.agent), agent - 1) + " "),
        Span(column(f"{offer.key.endpoint} {offer.key.colony}", colony - 1) + " ", "muted"),
        Span(cut_front(safe_line(offer.target), target)),
    )


def detail(offer: Offer, width: int) -> Sequence[Line]:
    """An offer whole: what would be recorded, and what came of it when that was tried."""
    shown: list[Line] = [
        *((Span(part, "strong"),) for part in wrap(offer.outcome, width)),
        EMPTY,
        _fact("agent", safe_line(offer.agent)),
        _fact("target", safe_line(offer.target)),
        _fact("tests", {True: "passed", False: "failed", None: "it is for you to say"}[offer.passed]),
        _fact("feedback", f"{offer.feedback:+g}" if offer.feedback else "none; you may give some"),
    ]
    if offer.state == "sent":
        told = (
            "It was sent before, and nobody knows whether it was recorded: look into Outcomes before you send it again."
        )
        shown += [EMPTY, *((Span(part, "attention"),) for part in wrap(told, width))]
    if offer.words:
        shown += [EMPTY, *((Span(part, "danger"),) for part in wrap(offer.words, width))]
    return shown


def of_another(kernel: EndpointName | None, width: int) -> Sequence[Line]:
    """Why a kernel that is not the chosen one has no offers."""
    if kernel is None:
        told = 'How colonies end is offered to the kernel that the settings name: bridge = "local" under [kernel].'
    else:
        told = f"How colonies end is offered to {kernel}, which the settings name under [kernel]."
    return [(Span(f"   {part}", "muted"),) for part in wrap(told, width)]


def _widths(width: int) -> tuple[int, int, int]:
    room = max(width - 24, 24)
    agent, colony = min(room // 4, 18), min(room // 3, 26)
    return agent, colony, room - agent - colony


def _tests(offer: Offer) -> Span:
    if offer.passed is None:
        return Span(column("?", 8), "attention")
    return Span(column("passed", 8), "ok") if offer.passed else Span(column("failed", 8), "danger")


def _fact(label: str, value: str) -> Line:
    return Span(column(label, 10), "muted"), Span(value)
