"""The list of all colonies: its order, its columns, its rows."""

from collections.abc import Callable, Iterable, Mapping

from colonizer_client.attention import waiting_since
from colonizer_client.identity import ColonyKey
from colonizer_client.mothership.models import Colony
from colonizer_client.mothership.status import BUSY
from colonizer_config.value import Value
from colonizer_tui.present import states, words
from colonizer_tui.present.digest import colony_name
from colonizer_tui.present.line import Line, Span, column
from colonizer_tui.present.states import Glyphs, Look
from colonizer_tui.present.view import View

ORDERS: Mapping[str, str] = {
    "state": "needs you, then active, then by last change",
    "change": "by last change",
    "cost": "by cost",
    "host": "by host and repository",
    "title": "by title",
}
"""The orders that a person can choose, each with its words."""


def in_order(order: str, view: View, colonies: Iterable[Colony]) -> list[ColonyKey]:
    """The keys of the colonies in the order of this name."""
    if order == "state":
        return _by_state(view, colonies)
    by: Mapping[str, Callable[[Colony], tuple[object, ...]]] = {
        "change": lambda colony: (-colony.changed_at,),
        "cost": lambda colony: (colony.cost_usd is None, -(colony.cost_usd or 0.0), -colony.changed_at),
        "host": lambda colony: (colony.key.endpoint, colony.repo, colony.issue or 0, -colony.created_at),
        "title": lambda colony: (colony.title.casefold(), -colony.created_at),
    }
    return [colony.key for colony in sorted(colonies, key=by[order])]


def found_text(colony: Colony) -> str:
    """All that plain text finds of a colony, in lower case: what is shown of it, each on a line of its own."""
    state = states.look(colony, None).word
    shown = (
        colony.title, colony.repo, colony_name(colony), colony.shown_id, state, colony.key.endpoint, colony.branch,
    )  # fmt: skip
    return "\n".join(shown).lower()


class Columns(Value):
    """How wide each column is; the title takes what is left."""

    width: int
    host: int
    colony: int = 15
    state: int = 11
    age: int = 4
    cost: int = 6

    @property
    def title(self) -> int:
        """What the other columns leave, three cells for the glyph included."""
        others = (self.host, self.colony, self.state, self.cost)
        return max(self.width - 3 - sum(width + 1 for width in others if width) - self.age - 1, 0)


PLACE_LEAST = 8
TITLE_LEAST = 4
"""A title in less room than this says nothing."""


def columns(width: int, view: View) -> Columns:
    """The columns for a list of this width. One host needs no column.

    A narrow list leaves out the cost, then shortens the place, then leaves out the host, and the place at last.
    """
    names = view.snapshot.endpoints
    host = min(max((len(name) for name in names), default=0), 10) if len(names) > 1 else 0
    place = min(max(view.longest_name, PLACE_LEAST), 18)
    cost = 6 if width >= 66 else 0
    ways = [(host, place, cost), (host, PLACE_LEAST, 0), (0, PLACE_LEAST, 0)]
    fitting = (Columns(width, host, place, cost=cost) for host, place, cost in ways)
    return next((cols for cols in fitting if cols.title >= TITLE_LEAST), Columns(width, 0, 0, cost=0))


def caption(cols: Columns) -> Line:
    """The names of the columns."""
    text = "   "
    if cols.host:
        text += column("host", cols.host) + " "
    if cols.colony:
        text += column("colony", cols.colony) + " "
    text += column("title", cols.title) + " " + column("state", cols.state)
    text += " " + column("age", cols.age, right=True)
    return (Span(f" {text}" + (" " + column("$", cols.cost, right=True) if cols.cost else ""), "dim"),)


def row(colony: Colony, view: View, cols: Columns, glyphs: Glyphs, *, is_marked: bool = False) -> Line:
    """A colony's row."""
    endpoint = view.snapshot.endpoint_of(colony.key)
    look = states.last_look(colony, view.snapshot.questions.get(colony.key), endpoint)
    is_stale = look.role == states.STALE
    quiet = states.STALE if is_stale else "muted"
    title_role = states.STALE if is_stale else ("" if _is_quiet(colony, view) else "strong")
    pieces = [*glyph_cell(look, glyphs)]
    if states.is_unsandboxed(colony, endpoint):
        pieces[-1] = Span("!", "attention-strong")
    if is_marked:
        pieces[0] = Span(glyphs["marked"], "active-strong")
    if cols.host:
        pieces.append(Span(column(colony.key.endpoint, cols.host) + " ", quiet))
    if cols.colony:
        pieces.append(Span(column(colony_name(colony), cols.colony) + " ", quiet))
    pieces += [
        Span(column(colony.title, cols.title) + " ", title_role),
        Span(column(look.word, cols.state) + " ", look.role),
        Span(column(words.age(age(colony, view)), cols.age, right=True), quiet),
    ]
    if cols.cost:
        pieces.append(Span(" " + column(words.short_money(colony.cost_usd), cols.cost, right=True), quiet))
    return tuple(pieces)


def glyph_cell(look: Look, glyphs: Glyphs) -> tuple[Span, ...]:
    """The state's shape in three cells; a filled one where a person has to act."""
    role = f"{look.role}-cell" if look.is_urgent and look.role == "attention" else look.role
    return Span(" "), Span(glyphs[look.glyph], role), Span(" ")


def _is_quiet(colony: Colony, view: View) -> bool:
    return colony.key not in view.needs_of and colony.status not in BUSY


def age(colony: Colony, view: View) -> float:
    """Seconds since it began to wait, to run or to be what it is, by its host's clock."""
    now = view.server_now(colony.key)
    if colony.key in view.needs_of:
        return now - waiting_since(colony, view.snapshot.questions.get(colony.key))
    if colony.status in ("queued", "blocked"):
        return now - colony.created_at
    return now - colony.changed_at


def _by_state(view: View, colonies: Iterable[Colony]) -> list[ColonyKey]:
    among = {colony.key: colony for colony in colonies}
    first = [colony.key for need in view.needs for colony in need.colonies if colony.key in among]
    taken = set(first)
    active = [colony for key, colony in among.items() if key not in taken and colony.status in BUSY]
    rest = [colony for key, colony in among.items() if key not in taken and colony.status not in BUSY]
    active.sort(key=lambda colony: -colony.created_at)
    rest.sort(key=lambda colony: -colony.changed_at)
    return [*first, *(colony.key for colony in active), *(colony.key for colony in rest)]
