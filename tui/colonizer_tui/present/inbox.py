"""The rows of Needs you."""

from msgspec.structs import replace

from colonizer_client.attention import Need, Urgency
from colonizer_client.mothership.models import OpenQuestion
from colonizer_tui.present import states, words
from colonizer_tui.present.digest import colony_name
from colonizer_tui.present.fleet import glyph_cell
from colonizer_tui.present.inspector import RISK_ROLES
from colonizer_tui.present.line import Line, Span, column
from colonizer_tui.present.states import Glyphs, Look
from colonizer_tui.present.view import View

NOTE_LEAST = 46
"""Below this width the text alone has room."""


def row(need: Need, view: View, width: int, glyphs: Glyphs) -> Line:
    """A need's row: shape, age, place, what it is."""
    colony = need.colony
    question = view.snapshot.questions.get(colony.key)
    endpoint = view.snapshot.endpoint_of(colony.key)
    is_stale = states.is_stale(endpoint)
    look = states.look(colony, question)
    if is_stale:
        look = replace(look, role=states.STALE)
    if need.urgency is Urgency.OLD_QUESTIONS:
        look = Look("failed", "old", "muted")
    age = words.age(view.server_now(colony.key) - need.since)
    place = colony_name(colony)
    what, note, role = _words(need, question)
    if is_stale:
        note, role = _silence(need, view), states.STALE
    place_width = 16 if width >= 60 else 12
    fixed = (*glyph_cell(look, glyphs), Span(column(age, 4, right=True) + " ", "muted"))
    fixed += (Span(column(place, place_width) + " ", states.STALE if is_stale else "muted"),)
    room = width - 4 - 4 - place_width - 1
    note_width = min(len(note), 18 if width >= 60 else 15) if width >= NOTE_LEAST else 0
    title_role = states.STALE if is_stale else "strong"
    return (
        *fixed,
        Span(column(what, max(room - note_width - 1, 4)) + " ", title_role),
        Span(column(note, note_width), role),
    )


def _silence(need: Need, view: View) -> str:
    """Which host does not answer, and for how long."""
    name = need.colony.key.endpoint
    endpoint = view.snapshot.endpoints.get(name)
    since = None if endpoint is None else endpoint.as_of
    return f"{name} silent" + ("" if since is None else f" {words.age(view.now - since)}")


def _words(need: Need, question: OpenQuestion | None) -> tuple[str, str, str]:
    """What the row says, its note, and the note's role."""
    colony = need.colony
    match need.urgency:
        case Urgency.OLD_QUESTIONS:
            return words.count(len(need.colonies), "old question") + " nobody answered", "", "muted"
        case Urgency.SECURITY_HOLD:
            attention = colony.attention
            reason = "" if attention is None else attention.detail or attention.reason.replace("_", " ")
            return f"held: {reason}", "", "danger"
        case Urgency.QUESTION if question is not None and question.prompts:
            many = len(question.prompts)
            text = words.count(many, "question") if many > 1 else question.prompts[0].text.partition("\n")[0]
            return text, question.risk.words, RISK_ROLES[question.risk]
        case Urgency.QUESTION:
            return colony.title, "", ""
        case Urgency.UNSEEN_FAILURE:
            return colony.error.partition("\n")[0] or f"failed: {colony.title}", "", "danger"
        case Urgency.OTHER:
            attention = colony.attention
            reason = "needs you" if attention is None else attention.reason.replace("_", " ")
            return f"{reason} · {colony.title}", "", "attention"
