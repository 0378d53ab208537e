"""What a query could go on with at the cursor, and what is wrong with it."""

from collections.abc import Iterable, Sequence

from colonizer_config.value import Value
from colonizer_tui.present import states
from colonizer_tui.present.line import Line, Span, fit, width_of
from colonizer_tui.present.query import KEYS, Term, parse
from colonizer_tui.present.view import View

_FIRST_STEPS = ("host:", "org:", "repo:", "status:", "needs:me", "cost>", "age<")
_COSTS = ("1", "5", "10", "50")
_AGE_UNITS = "mhdw"
_AGES = ("10m", "1h", "1d", "1w")

_KINDS = {"host": "host", "org": "org", "repo": "repository", "status": "state"}


class Vocabulary:
    """The values that there are for each key at one moment, found when they are asked for."""

    def __init__(self, view: View) -> None:
        self._view = view
        self._known: dict[str, Sequence[str]] = {"needs": ("me",), "cost": _COSTS, "age": _AGES}

    def of(self, key: str) -> Sequence[str]:
        """The values of a key; of states those that a colony is in come first."""
        if key not in self._known:
            self._known[key] = self._found(key)
        return self._known[key]

    def _found(self, key: str) -> Sequence[str]:
        colonies = self._view.snapshot.colonies.values()
        match key:
            case "host":
                return sorted(self._view.snapshot.endpoints)
            case "org":
                return sorted({colony.org for colony in colonies} - {""})
            case "repo":
                return sorted({colony.repo for colony in colonies})
            case "status":
                there = {states.look(colony, None).word for colony in colonies}
                return [*sorted(there), *sorted(states.WORDS - there)]
            case _:
                return ()


class Completion(Value):
    """What may stand from `start` to `end` of the text."""

    start: int = 0
    end: int = 0
    candidates: tuple[str, ...] = ()
    problem: str = ""
    """What is wrong and what is possible, in words."""

    def applied(self, text: str, candidate: str) -> tuple[str, int]:
        """The text with a candidate in its place, and where the cursor stands then."""
        return text[: self.start] + candidate + text[self.end :], self.start + len(candidate)


def completion(text: str, cursor: int, words: Vocabulary) -> Completion:
    """What may stand at the cursor."""
    query = parse(text)
    here = next((term for term in query.terms if term.start <= cursor <= term.end), None)
    if here is None:
        return Completion(cursor, cursor, _FIRST_STEPS, next(iter(query.problems), ""))
    if not here.key or cursor < here.value_starts[0]:
        start = here.start + here.is_negated
        typed = text[start:cursor].lower()
        steps = tuple(step for step in _FIRST_STEPS if step.startswith(typed) and step != typed)
        return Completion(start, here.end, () if here.key else steps, next(iter(query.problems), ""))
    problem = next(iter(query.problems), "")
    return _values(text, cursor, here, words, problem)


def _values(text: str, cursor: int, term: Term, words: Vocabulary, problem: str) -> Completion:
    place = max(place for place, start in enumerate(term.value_starts) if start <= cursor)
    start = term.value_starts[place]
    end = start + len(text[start : term.end].partition(",")[0]) if '"' not in text[start : term.end] else term.end
    if problem or term.key not in KEYS:
        return Completion(start, end, (), problem)
    typed = text[start:cursor].replace('"', "").lower()
    known = words.of(term.key)
    fitting = _fitting(term.key, typed, known)
    if not fitting and typed and term.key in _KINDS:
        some = ", ".join(map(_written, known[:12]))
        told = f"no {_KINDS[term.key]} {'holds' if term.key == 'repo' else 'begins with'} “{typed}”: {some}"
        return Completion(start, end, (), told)
    return Completion(start, end, tuple(one for one in fitting if one.lower() != typed))


def suggestions(found: Completion, chosen: int | None, width: int) -> Line:
    """The line above what is typed: the problem, or what `tab` puts in, the one put in last marked."""
    if found.problem:
        return fit((Span(" ! ", "attention-strong"), Span(found.problem, "attention")), width)
    if not found.candidates:
        return ()
    pieces = [Span(" tab", "key")]
    for place, candidate in enumerate(found.candidates[(chosen or 0) :], chosen or 0):
        piece = Span(f" {candidate} ", "tab-on" if place == chosen else "dim")
        if width_of([*pieces, piece]) > width - 2:
            pieces.append(Span(" …", "dim"))
            break
        pieces.append(piece)
    return fit(tuple(pieces), width)


def _fitting(key: str, typed: str, known: Iterable[str]) -> list[str]:
    """What begins with the text, then, of repositories, what holds it; numbers are suggested while none is typed."""
    if key == "age" and typed.isdecimal():
        return [typed + unit for unit in _AGE_UNITS]
    if key in ("cost", "age"):
        return [] if typed else list(known)
    wanted = typed.replace("_", " ") if key == "status" else typed
    begun = [one for one in known if one.lower().replace("_", " " if key == "status" else "_").startswith(wanted)]
    if key == "repo":
        begun += [one for one in known if wanted in one.lower() and one not in begun]
    return [_written(one) for one in begun]


def _written(value: str) -> str:
    """A value as it has to be typed: blanks and commas would end it."""
    if " " not in value and "," not in value:
        return value
    return value.replace(" ", "_") if value in states.WORDS else f'"{value}"'
