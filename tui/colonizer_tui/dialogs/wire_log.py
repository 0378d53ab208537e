"""What goes over the wire to one host while this is open."""

from collections.abc import Callable, Mapping

from textual import events
from textual.app import ComposeResult

from colonizer_client.identity import EndpointName
from colonizer_client.mothership.recorder import Passage, Recorder
from colonizer_tui.dialogs.dialog import Dialog
from colonizer_tui.intents import ReconnectWanted, TextViewed
from colonizer_tui.present import passages
from colonizer_tui.present.footer import KeyHint
from colonizer_tui.present.line import Line, Span, line, spread
from colonizer_tui.widgets.keyed_list import KeyedList
from colonizer_tui.widgets.keys_to import give_keys
from colonizer_tui.widgets.line_view import LineView
from colonizer_tui.widgets.lines import Lines

REFRESH_S = 0.1


_NOTHING: Line = (Span("What passes while this is open stands here.", "muted"),)


class PassageList(KeyedList[int]):
    """One row for each passage, by its number. While the cursor is on the last one it stays there."""

    def __init__(self) -> None:
        super().__init__(id="wire-list")
        self.ground = "panel"
        self._passages: Mapping[int, Passage] = {}

    @property
    def passage(self) -> Passage | None:
        """The one under the cursor."""
        return None if self.selected is None else self._passages.get(self.selected)

    def take(self, recorder: Recorder) -> None:
        """Shows what is recorded now."""
        follows = not self.keys or self.cursor == len(self.keys) - 1
        in_time = sorted(recorder.passages, key=lambda passage: passage.at)
        self._passages = {passage.number: passage for passage in in_time}
        self.set_keys(list(self._passages))
        if follows:
            self.do_last()

    def row_line(self, key: int) -> Line:
        """A passage's row."""
        return passages.row(self._passages[key], self.text_width - 1)


class PassageView(LineView):
    """What was sent and what came."""

    def __init__(self) -> None:
        super().__init__(id="wire-passage")
        self.ground = "panel"
        self._lines: list[Line] = []

    def show(self, passage: Passage | None) -> None:
        """Shows a passage from its beginning on."""
        self._lines = [_NOTHING] if passage is None else list(passages.details(passage, self.text_width))
        self.top = 0
        self.repaint()

    def line_count(self) -> int:
        """As many lines as the passage has."""
        return len(self._lines)

    def line_at(self, index: int) -> Line:
        """One line."""
        return self._lines[index]


class WireLog(Dialog[None]):
    """A list of what passed, and below it the one under the cursor."""

    DEFAULT_CSS = """
    WireLog #dialog-box { width: 96%; height: 94%; padding: 0 1; }
    WireLog PassageList { height: 1fr; background: $panel; }
    WireLog PassageView { height: 1fr; background: $panel; border-top: solid $edge; }
    """

    def __init__(self, endpoint: EndpointName, recorder: Recorder, shown: Callable[[str], str]) -> None:
        """`shown` tells the key of an action."""
        super().__init__()
        self._endpoint, self._recorder, self._shown = endpoint, recorder, shown
        self._list, self._passage = PassageList(), PassageView()
        self._version = -1

    @property
    def is_up_to_date(self) -> bool:
        """Whether everything that was recorded is shown."""
        return self._version == self._recorder.version

    def parts(self) -> ComposeResult:
        """Title, list, passage, foot."""
        yield Lines(id="wire-title")
        yield Lines(id="wire-caption")
        yield self._list
        yield self._passage
        yield Lines(id="wire-foot")

    def on_mount(self) -> None:
        """The list gets the keys, and takes what comes."""
        give_keys(self._list)
        self.set_interval(REFRESH_S, self._take)
        self.call_after_refresh(self._draw)

    def on_resize(self) -> None:
        """Wraps anew."""
        self.call_after_refresh(self._draw)

    def on_keyed_list_moved(self) -> None:
        """Shows the passage under the cursor."""
        self._passage.show(self._list.passage)

    def do_view(self) -> None:
        """The whole passage."""
        passage = self._list.passage
        if passage is not None:
            self.post_message(TextViewed(f"{passage.method} {passage.path}", passages.whole(passage)))

    def do_enter(self) -> None:
        """As `do_view`."""
        self.do_view()

    def do_resume(self) -> None:
        """Connects anew: what is said then is recorded too."""
        self.post_message(ReconnectWanted(self._endpoint))

    def take_key(self, event: events.Key) -> bool:
        """`q` closes it as `esc` does."""
        if event.key == "q":
            self.dismiss(None)
            return True
        return super().take_key(event)

    def _take(self) -> None:
        if not self.is_up_to_date:
            self._version = self._recorder.version
            self._list.take(self._recorder)
            self._draw()

    def _draw(self) -> None:
        self.set_lines("wire-caption", [passages.caption(self._list.text_width - 1)])
        nothing = "" if self._list.keys else "nothing has passed yet"
        hints = (
            KeyHint(self._shown("view"), "full text", nothing),
            KeyHint("tab", "other pane", nothing),
            KeyHint(self._shown("resume"), "reconnect"),
            KeyHint("esc", "back"),
        )
        self.set_lines("wire-foot", [tuple(piece for hint in hints for piece in hint.pieces())])
        self._passage.show(self._list.passage)
        self._draw_title()

    def _draw_title(self) -> None:
        count = f"{self._recorder.version:,} recorded" if self._recorder.version else "nothing has passed yet"
        left = line(Span("Wire log ", "strong"), Span(f"of {self._endpoint}", "info"))
        right = line(Span(f"{count} · secrets are masked", "muted"))
        self.set_lines("wire-title", [spread(left, right, self._list.size.width)])
