"""All keys, those of what is in front first."""

from collections.abc import Sequence

from textual import events
from textual.app import ComposeResult

from colonizer_tui.dialogs.dialog import Dialog
from colonizer_tui.keys import ACTIONS, Hint, Keymap
from colonizer_tui.present.line import EMPTY, Line, Span, column, line
from colonizer_tui.widgets.keys_to import give_keys
from colonizer_tui.widgets.line_view import LineView
from colonizer_tui.widgets.lines import Lines

TERMS = (
    ('word "two words"', "what is shown of a colony holds this text"),
    ("host:hq,lab", "on one of these hosts; also org: repo: status:"),
    ("needs:me", "waits for you"),
    ("cost>5 age<1h", "dollars; s, m, h, d or w; also >= and <="),
    ("!stopped !host:hq", "not this"),
)
"""Terms of a query, and what each finds."""


class HelpLines(LineView):
    """The keys, by what they are for."""

    def __init__(self, lines: Sequence[Line]) -> None:
        super().__init__(id="help-lines")
        self.ground = "panel"
        self._lines = lines

    def line_count(self) -> int:
        """As many lines as there are keys and headings."""
        return len(self._lines)

    def line_at(self, index: int) -> Line:
        """One line."""
        return self._lines[index]


class Help(Dialog[None]):
    """Scrolls through the keys."""

    DEFAULT_CSS = """
    Help #dialog-box { height: 94%; }
    Help HelpLines { height: 1fr; background: $panel; }
    """

    def __init__(self, keymap: Keymap, here: Sequence[Hint]) -> None:
        super().__init__()
        self._keymap, self._here = keymap, here

    def parts(self) -> ComposeResult:
        """Title and keys."""
        yield Lines(id="help-title")
        yield HelpLines(_lines(self._keymap, self._here))

    def on_mount(self) -> None:
        """The keys can be scrolled through."""
        self.set_lines("help-title", [line(Span("Keys", "strong"), Span("   esc closes", "muted")), EMPTY])
        give_keys(self.query_one(HelpLines))

    def take_key(self, event: events.Key) -> bool:
        """`?` and `q` close it as `esc` does."""
        if event.key in ("question_mark", "q"):
            self.dismiss(None)
            return True
        return super().take_key(event)


def _lines(keymap: Keymap, here: Sequence[Hint]) -> list[Line]:
    shown: list[Line] = [(Span("Here", "info"),)]
    shown += [_hint_row(keymap, hint) for hint in here]
    for group in dict.fromkeys(action.group for action in ACTIONS):
        shown += [EMPTY, (Span(group, "info"),)]
        shown += [_row(keymap, action.name) for action in ACTIONS if action.group == group]
    shown += [EMPTY, (Span("In a list's find bar: all terms count", "info"),)]
    shown += [line(Span(column(term, 22), "key"), words) for term, words in TERMS]
    shown += [EMPTY, (Span("In a card", "info"),)]
    shown += [
        line(Span(column("1…9", 12), "key"), "pick the option with this number"),
        line(Span(column("enter", 12), "key"), "pick what is under the cursor; sends a card of one single choice"),
    ]
    return shown


def _hint_row(keymap: Keymap, hint: Hint) -> Line:
    if hint.action and not hint.label:
        return _row(keymap, hint.action)
    keys = keymap.shown(hint.action) if hint.action else hint.keys
    return line(Span(column(keys, 12), "key"), hint.label)


def _row(keymap: Keymap, name: str) -> Line:
    action = keymap.actions[name]
    keys = " ".join(dict.fromkeys([action.shown, *action.keys[1:2]]))
    return line(Span(column(keys, 12), "key"), action.help)
