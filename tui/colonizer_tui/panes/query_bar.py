"""The line in which a person types what a list is to show, with what it could go on with above it."""

from collections.abc import Callable, Sequence

from textual.app import ComposeResult
from textual.timer import Timer
from textual.widget import Widget

from colonizer_config.value import Value
from colonizer_tui.keys import Hint
from colonizer_tui.present.completion import Completion, Vocabulary, completion, suggestions
from colonizer_tui.present.query import Query, parse
from colonizer_tui.present.view import View
from colonizer_tui.widgets.find_bar import FindBar
from colonizer_tui.widgets.keys_to import has_keys
from colonizer_tui.widgets.lines import Lines

MANY = 5_000
"""To look through so many colonies takes long enough to be felt between two letters."""

PAUSE_S = 0.05


class _PutIn(Value):
    """A suggestion that `tab` put in, in place of which it may put in another one."""

    before: str
    """The text as it was typed."""
    text: str
    place: int
    """Which suggestion it is."""


class QueryField(FindBar):
    """A find bar in which `tab` completes."""

    def __init__(self, closed: Callable[[], None], complete: Callable[[int], None]) -> None:
        super().__init__(closed)
        self._complete = complete

    def hints(self) -> Sequence[Hint]:
        """What helps while typing."""
        return *super().hints(), Hint("next_pane", "complete")

    def do_next_pane(self) -> None:
        """Puts the next suggestion in."""
        self._complete(1)

    def do_previous_pane(self) -> None:
        """Puts the suggestion before in."""
        self._complete(-1)


class QueryBar(Widget):
    """Opens below a list, tells what is wrong while it is typed, and completes keys and values."""

    DEFAULT_CSS = """
    QueryBar { height: auto; display: none; }
    QueryBar.open { display: block; }
    QueryBar Lines { background: $panel; height: 1; }
    """

    def __init__(self, closed: Callable[[], None], view: Callable[[], View], look_for: Callable[[Query], None]) -> None:
        """`closed` gives the keys back, `look_for` shows what is looked for."""
        super().__init__()
        self._look_for = look_for
        self._waiting: Timer | None = None
        self._advice = Lines()
        self._advice.ground = "panel"
        self._give_back = closed
        self._view = view
        self.field = QueryField(self._left, self._complete)
        self._words = Vocabulary(View())
        self._found = Completion()
        self._put_in: _PutIn | None = None

    def compose(self) -> ComposeResult:
        """What is suggested, and the field."""
        yield self._advice
        yield self.field

    def on_mount(self) -> None:
        """What is suggested depends on where the cursor stands."""
        self.watch(self.field, "selection", self._advise, init=False)

    @property
    def is_open(self) -> bool:
        """Whether something is being typed."""
        return has_keys(self.field)

    @property
    def text(self) -> str:
        """What is looked for, as it was typed."""
        return self.field.value

    def hints(self) -> Sequence[Hint]:
        """What helps while typing."""
        return self.field.hints()

    def open(self) -> None:
        """Takes the keys."""
        self._words = Vocabulary(self._view())
        self.add_class("open")
        self.field.open()
        self._advise()

    def close(self) -> None:
        """Drops what is looked for."""
        self.remove_class("open")
        self.field.close()
        self._catch_up()

    def on_resize(self) -> None:
        """Cuts the suggestions anew."""
        self._advise()

    def on_find_bar_sought(self, event: FindBar.Sought) -> None:
        """Looks for what is typed; among very many, when no key followed for a moment."""
        event.stop()
        self._stop_waiting()
        if len(self._view().snapshot.colonies) < MANY:
            self._look_for(parse(event.text))
        else:
            self._waiting = self.set_timer(PAUSE_S, self._catch_up)

    def _catch_up(self) -> None:
        self._stop_waiting()
        self._look_for(parse(self.field.value))

    def _stop_waiting(self) -> None:
        if self._waiting is not None:
            self._waiting.stop()
            self._waiting = None

    def _left(self) -> None:
        self.remove_class("open")
        self._catch_up()
        self._give_back()

    def _advise(self) -> None:
        """Shows what could come next; where `tab` put one of several in, the others still."""
        field = self.field
        if self._put_in is None or self._put_in.text != field.value:
            self._put_in = None
            self._found = completion(field.value, field.cursor_position, self._words)
        chosen = None if self._put_in is None else self._put_in.place
        self._advice.set_lines([suggestions(self._found, chosen, self.size.width)])

    def _complete(self, step: int) -> None:
        candidates, field, last = self._found.candidates, self.field, self._put_in
        if not candidates:
            return
        place = (last.place + step) % len(candidates) if last is not None else 0 if step > 0 else len(candidates) - 1
        before = field.value if last is None else last.before
        text, cursor = self._found.applied(before, candidates[place])
        self._put_in = _PutIn(before, text, place) if len(candidates) > 1 else None
        field.value = text
        field.cursor_position = cursor
        self._advise()
