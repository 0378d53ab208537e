"""What the parts of the terminal face ask of the application, and nothing more."""

from collections.abc import Callable, Coroutine
from typing import Protocol, TypeVar

from textual.screen import Screen

from colonizer_tui.intents import Tone
from colonizer_tui.surroundings import Surroundings

T = TypeVar("T")


class Face(Protocol):
    """The application as its parts see it."""

    @property
    def surroundings(self) -> Surroundings:
        """The place where it runs."""
        ...

    async def ask(self, dialog: Screen[T], /) -> T | None:
        """The dialog's result, None when it was left."""
        ...

    async def open(self, dialog: Screen[None], /) -> None:
        """Opens a dialog that does its work itself, and waits until it has the keys."""
        ...

    async def begin(self, command: Coroutine[object, object, None], /) -> None:
        """Starts a command that begins with a dialog, and waits until the dialog has the keys."""
        ...

    def start(self, work: Callable[[], Coroutine[object, object, None]], /) -> None:
        """Starts work whose end nobody waits for, unless the application ends before its turn comes."""
        ...

    def tell(self, words: str, *, tone: Tone = "news") -> None:
        """Shows words for a while."""
        ...

    def attempt(self, doing: Callable[[], object], /) -> bool:
        """Whether it was done; the person is told why it was not."""
        ...
