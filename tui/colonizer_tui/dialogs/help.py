"""All keys, those of what is in front first."""

from collections.abc import Iterator, Sequence

from textual import events
from textual.app import ComposeResult

from colonizer_tui.dialogs.dialog import Dialog
from colonizer_tui.keys import ACTIONS, Hint, Keymap
from colonizer_tui.present.line import EMPTY, Line, Span, column, line, wrap
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

IN_A_CARD = (
    ("1…9", "pick the option with this number"),
    ("enter", "pick what is under the cursor; sends a card of one single choice"),
)

KEY_WIDTH = 16
"""Room for two keys with long names."""


class HelpLines(LineView):
    """The keys, by what they are for."""

    def __init__(self, keymap: Keymap, here: Sequence[Hint]) -> None:
        super().__init__(id="help-lines")
        self.ground = "panel"
        self._keymap, self._here = keymap, here
        self._lines: Sequence[Line] = ()

    def on_resize(self) -> None:
        """The texts are wrapped anew."""
        self._lines = _lines(self._keymap, self._here, self.text_width)
        self.repaint()

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
        yield HelpLines(self._keymap, self._here)

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


def _lines(keymap: Keymap, here: Sequence[Hint], width: int) -> list[Line]:
    def rows(*pairs: tuple[str, str], key_width: int = KEY_WIDTH) -> Iterator[Line]:
        for keys, words in pairs:
            first, *more = wrap(words, max(width - key_width, 8))
            yield line(Span(column(keys, key_width), "key"), first)
            yield from (line(" " * key_width, part) for part in more)

    shown: list[Line] = [(Span("Here", "info"),), *rows(*(_hinted(keymap, hint) for hint in here))]
    for group in dict.fromkeys(action.group for action in ACTIONS):
        shown += [EMPTY, (Span(group, "info"),)]
        shown += rows(*(_told(keymap, action.name) for action in ACTIONS if action.group == group))
    shown += [EMPTY, (Span("In a list's find bar: all terms count", "info"),), *rows(*TERMS, key_width=22)]
    return [*shown, EMPTY, (Span("In a card", "info"),), *rows(*IN_A_CARD)]


def _hinted(keymap: Keymap, hint: Hint) -> tuple[str, str]:
    if hint.action and not hint.label:
        return _told(keymap, hint.action)
    return keymap.shown(hint.action) if hint.action else hint.keys, hint.label


def _told(keymap: Keymap, name: str) -> tuple[str, str]:
    action = keymap.actions[name]
    return " ".join(dict.fromkeys([action.shown, *action.keys[1:2]])), action.help
