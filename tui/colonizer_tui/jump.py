"""Jump mode: letters on everything that is in sight; typing them goes there, and any other key leaves."""

from collections.abc import Callable, Hashable, Mapping, Sequence
from itertools import islice, product
from typing import Protocol

from textual import events

from colonizer_config.value import Value

LETTERS = "asdfghjklqwertyuiopzxcvbnm"
"""Those under the fingers come first."""


class Jumpable(Protocol):
    """What has spots to jump to. A spot's name stays with it wherever it is drawn."""

    def spots(self) -> Sequence[Hashable]:
        """All that is in sight and can be jumped to, from the top."""
        ...

    def label(self, labels: Mapping[Hashable, str], /) -> None:
        """Draws a label over the first cells of each of these spots, and none over others."""
        ...

    def jump_to(self, spot: Hashable, /) -> None:
        """Goes to a spot, wherever it stands by now, and takes the keys."""
        ...


class Target(Value):
    """A spot of a part of the screen."""

    part: Jumpable
    spot: Hashable


def labels(count: int) -> Sequence[str]:
    """So many labels, all equally long so that none is the beginning of another: one letter, or two for more than 26.

    There are no more than 676.
    """
    if count <= len(LETTERS):
        return LETTERS[:count]
    return ["".join(pair) for pair in islice(product(LETTERS, repeat=2), count)]


class Jump:
    """Has the keys from when it begins until a label is typed or something else happens."""

    def __init__(self, parts: Callable[[], Sequence[Jumpable]]) -> None:
        self._parts = parts
        """What is on the screen, from its top."""
        self._targets: dict[str, Target] = {}
        self._typed = ""

    @property
    def is_on(self) -> bool:
        """Whether letters are on the screen."""
        return bool(self._targets)

    def begin(self) -> None:
        """Puts the letters on."""
        targets = [Target(part, spot) for part in self._parts() for spot in part.spots()]
        self._targets = dict(zip(labels(len(targets)), targets, strict=False))
        self._draw()

    def end(self) -> None:
        """Takes the letters off."""
        parts = {id(target.part): target.part for target in self._targets.values()}
        self._targets, self._typed = {}, ""
        for part in parts.values():
            part.label({})

    def take(self, event: events.Key) -> None:
        """Goes to what the letters stand for; a key that is none of them only ends it."""
        typed = self._typed + (event.character or "")
        target = self._targets.get(typed)
        if target is None and event.is_printable and any(label.startswith(typed) for label in self._targets):
            self._typed = typed
            self._draw()
            return
        self.end()
        if target is not None and event.is_printable:
            target.part.jump_to(target.spot)

    def _draw(self) -> None:
        """Of a label whose first letter was typed the second one is left; the others go."""
        parts = {id(target.part): target.part for target in self._targets.values()}
        for part in parts.values():
            part.label(
                {
                    target.spot: label[len(self._typed) :]
                    for label, target in self._targets.items()
                    if target.part is part and label.startswith(self._typed)
                }
            )
