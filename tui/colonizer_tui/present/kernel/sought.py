"""What a person filters the heatmap by: parts of names, and strengths such as `hazard>3`."""

import re
from collections.abc import Callable, Mapping, Sequence
from operator import ge, gt, le, lt

from colonizer_config.value import Value
from colonizer_tui.present.kernel.columns import HEAT_COLUMNS

_COMPARED = re.compile(r"(\w+)(>=|<=|>|<)(\d+(?:\.\d*)?)")
_WAYS: Mapping[str, Callable[[float, float], bool]] = {">": gt, ">=": ge, "<": lt, "<=": le}


class Bound(Value):
    """A strength in one column."""

    column: int
    way: str
    strength: float


class Sought(Value):
    """All of it has to hold; false where nothing is looked for."""

    text: str = ""
    """As it was typed."""
    words: tuple[str, ...] = ()
    """In lower case."""
    without: tuple[str, ...] = ()
    bounds: tuple[Bound, ...] = ()

    def __bool__(self) -> bool:
        return bool(self.words or self.without or self.bounds)

    def finds(self, name: str, strengths: Callable[[], Sequence[float | None]]) -> bool:
        """Whether a place is looked for. What was not sampled counts as absent."""
        text = name.lower()
        if not all(word in text for word in self.words) or any(word in text for word in self.without):
            return False
        found = strengths() if self.bounds else ()
        return all(_WAYS[bound.way](found[bound.column] or 0.0, bound.strength) for bound in self.bounds)


def parse(text: str) -> Sought:
    """What is looked for by this text. A comparison with something that is no column is a part of a name."""
    words: list[str] = []
    without: list[str] = []
    bounds: list[Bound] = []
    for term in text.lower().split():
        compared = _COMPARED.fullmatch(term)
        column = None if compared is None else _column(compared[1])
        if compared is not None and column is not None:
            bounds.append(Bound(column, compared[2], float(compared[3])))
        elif term.startswith("!") and len(term) > 1:
            without.append(term[1:])
        elif term != "!":
            words.append(term)
    return Sought(text.strip(), tuple(words), tuple(without), tuple(bounds))


def _column(name: str) -> int | None:
    return next(
        (place for place, column in enumerate(HEAT_COLUMNS) if len(name) > 2 and column.title.startswith(name)), None
    )
