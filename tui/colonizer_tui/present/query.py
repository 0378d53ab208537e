"""What a person looks for in a list of colonies: terms such as `host:hq`, `cost>5` or `!stopped`, all of which count.

Whatever is typed is a query. A term whose key or value makes no sense is told, and is looked for as the text that it
is; one that is not finished yet, such as `cost>`, leaves everything in.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import lru_cache
from typing import TypeAlias

from colonizer_client.identity import ColonyKey
from colonizer_client.mothership.models import Colony
from colonizer_config.value import Value
from colonizer_tui.keys import Keymap
from colonizer_tui.present import fleet, states
from colonizer_tui.present.line import Line, Span, highlight, line
from colonizer_tui.present.view import View

Judge: TypeAlias = Callable[[Colony], bool]
"""Whether a term, its negation left aside, finds a colony."""

TextOf: TypeAlias = Callable[[Colony], str]
"""All that plain text finds of a colony, in lower case."""

KEYS: Mapping[str, str] = {
    "host": ":", "org": ":", "repo": ":", "status": ":", "needs": ":", "cost": "<>", "age": "<>",
}  # fmt: skip
"""Every key with the signs that may follow it."""


_SIGNED = re.compile(r"([a-z]+)(:|[<>]=?)", re.IGNORECASE)
_MONEY = re.compile(r"\$?([0-9]{1,12}(?:\.[0-9]{0,6})?|\.[0-9]{1,6})", re.ASCII)
_AGE = re.compile(r"([0-9]{1,9}(?:\.[0-9]{1,3})?)([smhdw])", re.ASCII | re.IGNORECASE)
_BEGUN: Mapping[str, re.Pattern[str]] = {
    "cost": re.compile(r"\$?\.?"),
    "age": re.compile(r"[0-9]{0,9}(\.[0-9]{0,3})?", re.ASCII),
}
"""Values that a person is still typing: an age without its unit."""

_UNITS_S = {"s": 1, "m": 60, "h": 3_600, "d": 86_400, "w": 604_800}


class Term(Value):
    """One term, as it stands in the text from `start` to `end`."""

    start: int
    end: int
    is_negated: bool
    key: str
    """In lower case, known or not; empty for plain text."""
    sign: str
    values: tuple[str, ...]
    """In lower case; any one of them will do."""
    value_starts: tuple[int, ...]
    """Where each value begins in the text."""
    text: str
    """The term without its negation and its quotes, in lower case."""

    @property
    def problem(self) -> str:
        """What is wrong with it and what is possible, in words; empty where nothing is."""
        return _problem(self)

    @property
    def is_finished(self) -> bool:
        """Whether there is something to look for yet."""
        return bool(self.finished_values) if self.key else bool(self.text)

    @property
    def finished_values(self) -> tuple[str, ...]:
        """Those that say something."""
        begun = _BEGUN.get(self.key)
        return tuple(value for value in self.values if value and not (begun and begun.fullmatch(value)))


class Query(Value):
    """What is looked for."""

    text: str = ""
    """As it was typed."""
    terms: tuple[Term, ...] = ()

    def __bool__(self) -> bool:
        return any(term.is_finished for term in self.terms)

    @property
    def problems(self) -> tuple[str, ...]:
        """What is wrong, in words."""
        return tuple(term.problem for term in self.terms if term.problem)

    @property
    def depends_on_time(self) -> bool:
        """Whether what is found changes by itself."""
        return any(term.key == "age" and not term.problem for term in self.terms)

    def marked(self, pieces: Line) -> Line:
        """A line of what was found, with the texts marked that were looked for."""
        for term in self.terms:
            if _is_plain(term) and not term.is_negated:
                pieces = highlight(pieces, term.text, "match")
        return pieces

    def found_nothing(self, keymap: Keymap) -> Line:
        """What stands in the place of rows where nothing was found, with the way back; empty for no query."""
        if not self:
            return ()
        words = Span(f"    nothing fits “{self.text.strip()}”: ", "muted")
        return words, Span(keymap.shown("back"), "key"), Span(" shows all", "muted")

    def found(self, colonies: Iterable[Colony], view: View, text_of: TextOf) -> list[Colony]:
        """Those of the colonies that are looked for at this moment, in their order."""
        finished = [term for term in self.terms if term.is_finished]
        found = list(colonies)
        for term in sorted(finished, key=_is_plain):  # texts, of which some may have to be made, of the fewest
            judge = _judge(term, view, text_of)
            found = [colony for colony in found if judge(colony) is not term.is_negated]
        return found


class Texts:
    """The texts of colonies, each made once for as long as its colony does not change."""

    def __init__(self) -> None:
        self._of: dict[ColonyKey, tuple[Colony, str]] = {}

    def of(self, colony: Colony) -> str:
        """The text of a colony."""
        known = self._of.get(colony.key)
        if known is None or known[0] is not colony:
            known = self._of[colony.key] = colony, fleet.found_text(colony)
        return known[1]

    def forget(self) -> None:
        """Keeps nothing while nothing is looked for."""
        self._of.clear()


@lru_cache(maxsize=64)
def parse(text: str) -> Query:
    """The query that a person typed."""
    return Query(text, tuple(_term(text, *place) for place in _places(text)))


def told(query: Query) -> Line:
    """What is looked for, as a list's head tells it while nothing is typed."""
    return line(
        Span(" / ", "key"),
        Span(query.text.strip(), "strong"),
        Span("".join(f"  ! {problem}" for problem in query.problems[:1]), "attention"),
    )


def _places(text: str) -> Iterator[tuple[int, int]]:
    """Where each term begins and ends: blanks within quotes part none."""
    start, is_quoted = -1, False
    for place, letter in enumerate(text):
        if letter.isspace() and not is_quoted:
            if start >= 0:
                yield start, place
            start = -1
            continue
        if start < 0:
            start = place
        is_quoted ^= letter == '"'
    if start >= 0:
        yield start, len(text)


def _term(text: str, start: int, end: int) -> Term:
    is_negated = text[start] == "!"
    first = start + is_negated
    signed = _SIGNED.match(text, first, end)
    if signed is None:
        plain = _unquoted(text[first:end])
        return Term(start, end, is_negated, "", "", (plain,), (first,), plain)
    starts = [signed.end()]
    is_quoted = False
    for place in range(signed.end(), end):
        is_quoted ^= text[place] == '"'
        if text[place] == "," and not is_quoted:
            starts.append(place + 1)
    ends = [*(place - 1 for place in starts[1:]), end]
    values = tuple(_unquoted(text[a:b]) for a, b in zip(starts, ends, strict=True))
    whole = _unquoted(text[first:end])
    return Term(start, end, is_negated, signed[1].lower(), signed[2], values, tuple(starts), whole)


def _unquoted(text: str) -> str:
    return text.replace('"', "").lower()


def _problem(term: Term) -> str:
    if not term.key:
        return ""
    signs = KEYS.get(term.key)
    if signs is None:
        return f"no key is called “{term.key}”: {', '.join(KEYS)}"
    if term.sign[0] not in signs:
        right = f"{term.key}:" if signs == ":" else f"{term.key}> or {term.key}<"
        return f"“{term.key}{term.sign}” says nothing: {right}"
    return next((told for value in term.finished_values if (told := _value_problem(term.key, value))), "")


def _value_problem(key: str, value: str) -> str:
    if key == "needs" and not "me".startswith(value):
        return f"needs: takes me, not “{value}”"
    if key == "cost" and not _MONEY.fullmatch(value):
        return f"“{value}” is no amount: 5 or 0.50"
    if key == "age" and not _AGE.fullmatch(value):
        return f"“{value}” is no age: a number with s, m, h, d or w, such as 90m"
    return ""


def _is_plain(term: Term) -> bool:
    return not term.key or bool(term.problem)


def _judge(term: Term, view: View, text_of: TextOf) -> Judge:
    return _holds(term.text, text_of) if _is_plain(term) else _JUDGES[term.key](term, view)


def _holds(text: str, text_of: TextOf) -> Judge:
    return lambda colony: text in text_of(colony)


def _host(term: Term, view: View) -> Judge:
    hosts = [str(name) for name in view.snapshot.endpoints]
    names = {name for value in term.finished_values for name in _meant(value, hosts)}
    return lambda colony: colony.key.endpoint in names


def _meant(value: str, names: list[str]) -> list[str]:
    """The names that a value means: the one that it is, else those that begin with it."""
    return [name for name in names if name.lower() == value] or [n for n in names if n.lower().startswith(value)]


def _org(term: Term, view: View) -> Judge:
    del view
    wanted = term.finished_values
    return lambda colony: colony.org.lower().startswith(wanted)


def _repo(term: Term, view: View) -> Judge:
    del view
    wanted = term.finished_values
    if len(wanted) == 1:
        [only] = wanted
        return lambda colony: only in colony.repo.lower()
    return lambda colony: any(value in colony.repo.lower() for value in wanted)


def _status(term: Term, view: View) -> Judge:
    del view
    wanted = tuple(_in_words(value) for value in term.finished_values)
    known = {_in_words(word) for word in states.WORDS}
    exact = frozenset(value for value in wanted if value in known)
    begun = tuple(value for value in wanted if value not in known)

    def judge(colony: Colony) -> bool:
        shown, sent = states.look(colony, None).word, _in_words(colony.status)
        return shown in exact or sent in exact or shown.startswith(begun) or sent.startswith(begun)

    return judge


@lru_cache(maxsize=256)
def _in_words(status: str) -> str:
    return status.replace("_", " ").replace("-", " ")


def _needs(term: Term, view: View) -> Judge:
    del term
    return lambda colony: colony.key in view.needs_of


def _cost(term: Term, view: View) -> Judge:
    """What is not known is neither more nor less."""
    del view
    amounts = [float(value.removeprefix("$")) for value in term.finished_values]
    compare = _comparing(term.sign, amounts)
    return lambda colony: colony.cost_usd is not None and compare(colony.cost_usd)


def _age(term: Term, view: View) -> Judge:
    parts = [match for value in term.finished_values if (match := _AGE.fullmatch(value)) is not None]
    compare = _comparing(term.sign, [float(part[1]) * _UNITS_S[part[2].lower()] for part in parts])
    return lambda colony: compare(fleet.age(colony, view))


def _comparing(sign: str, limits: list[float]) -> Callable[[float], bool]:
    """Whether a number is beyond any of the limits: the nearest one decides."""
    match sign:
        case ">":
            least = min(limits)
            return lambda number: number > least
        case ">=":
            least = min(limits)
            return lambda number: number >= least
        case "<":
            most = max(limits)
            return lambda number: number < most
        case _:
            most = max(limits)
            return lambda number: number <= most


_JUDGES: Mapping[str, Callable[[Term, View], Judge]] = {
    "host": _host,
    "org": _org,
    "repo": _repo,
    "status": _status,
    "needs": _needs,
    "cost": _cost,
    "age": _age,
}
