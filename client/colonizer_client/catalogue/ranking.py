"""Finds tools by words: BM25 (Robertson and Zaragoza, 2009) over names, descriptions and arguments."""

import math
import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import islice

from colonizer_client.catalogue.cards import ToolCard
from colonizer_client.mothership import wire

K1 = 1.2
B = 0.5
"""How much a long text counts less: less than usual, since the length of a description says little."""

NAME_WEIGHT = 4
"""A word of the tool's own name counts as if it were said so often."""

_WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+|[^\W\d_a-zA-Z]+")
_ENDINGS = (("ies", "i"), ("y", "i"), ("sses", "ss"), ("ing", ""), ("ed", ""), ("es", ""), ("s", ""), ("e", ""))
_SHORTEST_STEM = 3
_COMMON = (
    "a an and any are as at be by do for from how i in into is it its me my of on or our that the their this to up use"
    " want we what when where which who with you your"
)
_LEFT_OUT = frozenset(_COMMON.split())


class Ranking:
    """The cards of one moment, ready to be searched."""

    def __init__(self, cards: Sequence[ToolCard]) -> None:
        self.cards = tuple(cards)
        self._places = defaultdict[str, dict[int, int]](dict)
        self._lengths: list[int] = []
        for place, card in enumerate(self.cards):
            counted = Counter(_said_of(card))
            self._lengths.append(sum(counted.values()))
            for word, count in counted.items():
                self._places[word][place] = count
        self._mean = sum(self._lengths) / max(len(self._lengths), 1) or 1.0

    def best(self, query: str, limit: int, may_be_found: Callable[[ToolCard], bool]) -> tuple[ToolCard, ...]:
        """The cards that the words fit best, the best first; of equals what only reads, and what is listed first."""
        scores = defaultdict[int, float](float)
        for word in dict.fromkeys(_words(query)):
            places = self._places.get(word, {})
            rarity = math.log(1 + (len(self.cards) - len(places) + 0.5) / (len(places) + 0.5))
            for place, count in places.items():
                scores[place] += rarity * self._weight(place, count)
        found = sorted(scores, key=lambda place: (-scores[place], not self.cards[place].is_read, place))
        cards = (self.cards[place] for place in found)
        return tuple(islice(filter(may_be_found, cards), limit))

    def _weight(self, place: int, count: int) -> float:
        return count * (K1 + 1) / (count + K1 * (1 - B + B * self._lengths[place] / self._mean))


def _said_of(card: ToolCard) -> Iterator[str]:
    for _ in range(NAME_WEIGHT):
        yield from _words(card.tool)
    yield from _words(card.endpoint)
    yield from _words(card.title)
    yield from _words(card.description)
    for name, schema in wire.mapping(card.schema.get("properties")).items():
        yield from _words(name)
        yield from _words(wire.raw(wire.mapping(schema).get("description")))


def _words(text: str) -> Iterable[str]:
    """The words of a text, or of a name in any of the usual spellings, without their endings."""
    for found in _WORD.findall(text):
        word = found.lower()
        if word not in _LEFT_OUT:
            yield _stem(word)


def _stem(word: str) -> str:
    for ending, instead in _ENDINGS:
        if word.endswith(ending) and len(word) - len(ending) >= _SHORTEST_STEM:
            return word[: len(word) - len(ending)] + instead
    return word
