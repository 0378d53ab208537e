"""Finds texts by some of their letters, and says how well they fit."""

import re
from collections.abc import Sequence

from colonizer_config.value import Value
from colonizer_tui.present.line import Line, Span

_LETTER = 16
_WORD_START = 10
_RUN = 8
"""A letter right behind the one before it."""
_WHOLE = 4
"""Words that end where what is looked for ends."""

_BEGINNING = 2
"""The text begins with it."""

_GAP = 2
"""Taken off for each letter that is passed over, up to a bound: far apart is far apart."""
_FURTHEST = 12


class Fit(Value):
    """How a text fits: the larger the score the better, and where the letters stand."""

    score: int
    places: tuple[int, ...]


class Pattern:
    """What is looked for: words, each of whose letters a text holds in this order."""

    def __init__(self, needle: str) -> None:
        self._words = tuple(folded(needle).split())
        self._sieves = [re.compile(_sieve(word)).match for word in self._words]

    def fits(self, text: str) -> bool:
        """Whether a folded text holds all of it: quick, for there may be many texts."""
        return all(sieve(text) for sieve in self._sieves)

    def fit(self, text: str) -> Fit | None:
        """How a folded text fits, None where it does not."""
        score, places = 0, set[int]()
        for word in self._words:
            found = _places(word, text)
            if found is None:
                return None
            score += _score(found, text)
            places.update(found)
        return Fit(score, tuple(sorted(places)))


def folded(text: str) -> str:
    """The text in lower case, each letter where it was."""
    lower = text.lower()
    return lower if len(lower) == len(text) else "".join(one if len(one.lower()) > 1 else one.lower() for one in text)


def marked(pieces: Line, places: Sequence[int], role: str) -> Line:
    """The line with the letters at these places in another role."""
    wanted = set(places)
    shown: list[Span] = []
    at = 0
    for piece in pieces:
        start = 0
        for place in range(1, len(piece.text) + 1):
            is_end = place == len(piece.text)
            if is_end or (at + place in wanted) != (at + start in wanted):
                shown.append(Span(piece.text[start:place], role if at + start in wanted else piece.role))
                start = place
        at += len(piece.text)
    return tuple(shown)


def _sieve(word: str) -> str:
    """Goes to each letter in turn and never back, so that no text takes long."""
    return "".join(f"[^{re.escape(letter)}]*+{re.escape(letter)}" for letter in word)


def _places(word: str, text: str) -> Sequence[int] | None:
    """Where a word's letters stand: together where that is possible, at the start of a word rather than within one."""
    whole = text.find(word)
    if whole >= 0:
        place = whole
        while place >= 0 and not _starts_word(place, text):
            place = text.find(word, place + 1)
        start = whole if place < 0 else place
        return range(start, start + len(word))
    places: list[int] = []
    for letter in word:
        place = text.find(letter, places[-1] + 1 if places else 0)
        if place < 0:
            return None
        places.append(place)
    # Back from the end, so that the letters stand as close together as they can.
    for back in range(len(word) - 2, -1, -1):
        places[back] = text.rfind(word[back], 0, places[back + 1])
    return places


def _starts_word(place: int, text: str) -> bool:
    return place == 0 or not text[place - 1].isalnum()


def _score(places: Sequence[int], text: str) -> int:
    score, last = _BEGINNING * (places[0] == 0), None
    for place in places:
        score += _LETTER + _WORD_START * _starts_word(place, text)
        if last is not None:
            score += _RUN if place == last + 1 else -_GAP * min(place - last - 1, _FURTHEST)
        last = place
    is_whole = places[-1] - places[0] == len(places) - 1 and not text[places[-1] + 1 : places[-1] + 2].isalnum()
    return score + _WHOLE * is_whole
