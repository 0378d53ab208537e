"""Everything that a person can go to or do, as one list in which it is found by some of its letters."""

import heapq
from collections.abc import Iterator, Mapping, Sequence
from itertools import chain
from typing import Literal, TypeAlias

from colonizer_client.identity import ColonyKey, EndpointName
from colonizer_client.mothership.models import Colony
from colonizer_client.snapshot import EndpointState, Health
from colonizer_config.value import Value
from colonizer_tui.keys import MOVING, WORKSPACES, Action, Keymap
from colonizer_tui.present import states
from colonizer_tui.present.digest import colony_name
from colonizer_tui.present.fuzzy import Fit, Pattern, folded, marked
from colonizer_tui.present.line import Line, Span, column, cut, spread
from colonizer_tui.present.states import Glyphs
from colonizer_tui.present.view import View

Kind: TypeAlias = Literal["workspace", "host", "colony", "action"]

BEST = 200
"""How many are shown: who wants another one types on."""

_KINDS: Mapping[str, Sequence[Kind]] = {
    "places": ("workspace", "host", "colony", "action"),
    "actions": ("action", "workspace", "host", "colony"),
}
"""What comes first, by what the list begins with."""


_NO_SIGN = Span(" ")


class Entry(Value):
    """One thing to go to or to do."""

    kind: Kind
    title: str
    note: str
    name: str = ""
    """The action, or the host."""
    colony: ColonyKey | None = None
    key: str = ""
    """The key that does the same, as a person reads it."""
    reason: str = ""
    """Why it does nothing now."""
    sign: Span = _NO_SIGN

    @property
    def text(self) -> str:
        """What it is found by."""
        return f"{self.title} {self.note}"


class Catalogue:
    """All entries. Those of colonies are made when they are shown: there may be a hundred thousand."""

    def __init__(
        self, begins_with: str, keymap: Keymap, reasons: Mapping[str, str], view: View, glyphs: Glyphs
    ) -> None:
        """`reasons` has the actions that are listed, each with why it does nothing now."""
        self._view, self._glyphs = view, glyphs
        colonies = view.snapshot.colonies
        urgent = [colonies[need.colony.key] for need in view.needs[:BEST] if need.colony.key in colonies]
        taken = set(map(id, urgent))
        others = [colony for colony in colonies.values() if id(colony) not in taken]
        actions = [keymap.actions[name] for name in reasons]
        doing = [_action(one, "action", reasons[one.name]) for one in actions if one.group != WORKSPACES]
        moving = {one.name for one in actions if one.group == MOVING}
        doing.sort(key=lambda entry: (bool(entry.reason), entry.name in moving))
        blocks: dict[Kind, Sequence[Entry | Colony]] = {
            "workspace": [_action(one, "workspace", "") for one in actions if one.group == WORKSPACES],
            "host": [_host(state, glyphs, keymap.shown("connections")) for state in view.snapshot.endpoints.values()],
            "colony": [*urgent, *others],
            "action": doing,
        }
        self._all: list[Entry | Colony] = list(chain.from_iterable(blocks[kind] for kind in _KINDS[begins_with]))
        self._texts: list[str] = [""] * len(self._all)

    def __len__(self) -> int:
        return len(self._all)

    def __getitem__(self, place: int) -> Entry:
        found = self._all[place]
        return found if isinstance(found, Entry) else self._colony(found)

    def folded_text(self, place: int) -> str:
        """What an entry is found by, in lower case."""
        text = self._texts[place]
        if not text:
            found = self._all[place]
            shown = found.text if isinstance(found, Entry) else f"{found.title} {_place_of(found)}"
            text = self._texts[place] = folded(shown)
        return text

    def _colony(self, colony: Colony) -> Entry:
        snapshot = self._view.snapshot
        look = states.last_look(colony, snapshot.questions.get(colony.key), snapshot.endpoint_of(colony.key))
        sign = Span(self._glyphs[look.glyph], look.role)
        return Entry("colony", colony.title, _place_of(colony), colony=colony.key, sign=sign, key=look.word)


class Search:
    """What fits, best first; of what fits alike, in the order of the list. Done in steps, so that no key waits."""

    def __init__(self, catalogue: Catalogue, needle: str, among: Sequence[int] | None = None) -> None:
        """`among` are the places at which to look; everywhere where it is None."""
        self.needle = needle
        self._catalogue, self._pattern = catalogue, Pattern(needle)
        self._among: Sequence[int] = range(len(catalogue)) if among is None else among
        self._seen = 0
        self._fits: list[tuple[int, int]] = []
        """Score and negated place of the best, a heap."""
        self.found: list[int] = []
        """The places of all that fit so far."""
        if not needle.strip():
            self.found = list(self._among)
            self._seen = len(self._among)

    @property
    def is_done(self) -> bool:
        """Whether everything was looked at."""
        return self._seen >= len(self._among)

    def step(self, count: int) -> None:
        """Looks at that many more."""
        pattern, text_of = self._pattern, self._catalogue.folded_text
        for place in self._among[self._seen : self._seen + count]:
            text = text_of(place)
            if pattern.fits(text) and (fit := pattern.fit(text)) is not None:
                self.found.append(place)
                ranked = fit.score, -place
                if len(self._fits) < BEST:
                    heapq.heappush(self._fits, ranked)
                else:
                    heapq.heappushpop(self._fits, ranked)
        self._seen += count

    def best(self) -> list[int]:
        """The places of the best so far."""
        if not self.needle.strip():
            return self.found[:BEST]
        return [-place for _, place in sorted(self._fits, reverse=True)]

    def narrowed(self, needle: str) -> "Search":
        """The search for another text; where it only goes on from this one, among what was found."""
        goes_on = self.is_done and needle.startswith(self.needle)
        return Search(self._catalogue, needle, self.found if goes_on else None)

    def fit(self, place: int) -> Fit:
        """How the entry at a place fits."""
        return self._pattern.fit(self._catalogue.folded_text(place)) or Fit(0, ())


def row(entry: Entry, fit: Fit, width: int) -> Line:
    """An entry's row: what it is, where or what for, and the key that does the same."""
    is_off = bool(entry.reason)
    title_width = max(min(width * 2 // 5, 34), 12) if entry.kind == "colony" else 18
    key_width = max(len(entry.key), 1)
    room = max(width - 3 - title_width - 1 - key_width - 1, 0)
    title = tuple(_title(entry, fit, title_width, is_off=is_off))
    note = entry.reason or entry.note
    quiet: Line = (Span(cut(note, room), "key-off" if is_off else "muted"),)
    if not is_off:
        start = len(entry.title) + 1
        quiet = marked(quiet, [place - start for place in fit.places if place - start < len(cut(note, room))], "match")
    key_role = "key-off" if is_off else "muted" if entry.kind == "colony" else "key"
    return spread((Span(" "), entry.sign, Span(" "), *title, Span(" "), *quiet), (Span(entry.key, key_role),), width)


def count(search: Search, catalogue: Catalogue) -> str:
    """How much fits, of how much."""
    found = f"{len(search.found):,} of {len(catalogue):,}"
    return found if search.is_done else f"{found}, still looking…"


def _title(entry: Entry, fit: Fit, width: int, *, is_off: bool) -> Iterator[Span]:
    shown = column(entry.title, width)
    places = [place for place in fit.places if place < min(len(entry.title), len(shown))]
    yield from marked((Span(shown, "key-off" if is_off else "strong"),), places, "match")


def _place_of(colony: Colony) -> str:
    owner = colony.repo.rpartition("/")[0]
    return f"{owner}/{colony_name(colony)} · {colony.key.endpoint} · {colony.shown_id}"


def _action(action: Action, kind: Kind, reason: str) -> Entry:
    title = action.label.capitalize() if kind == "workspace" else action.label
    return Entry(kind, title, action.help, name=action.name, key=action.shown, reason=reason)


def _host(state: EndpointState, glyphs: Glyphs, key: str) -> Entry:
    sign = Span(glyphs["live"], "ok") if state.health is Health.LIVE else Span(glyphs["silent"], "attention")
    return Entry("host", state.name, f"host · {state.address}", name=state.name, sign=sign, key=key)


def host_of(entry: Entry) -> EndpointName:
    """The host that an entry is."""
    return EndpointName(entry.name)
