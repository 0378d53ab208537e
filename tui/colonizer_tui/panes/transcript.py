"""A colony's transcript: it follows its end until the person scrolls up, and stays where they look."""

from bisect import bisect_right
from collections.abc import Hashable, Sequence

from textual import events

from colonizer_client.identity import ColonyKey
from colonizer_client.snapshot import Phase, TranscriptState
from colonizer_client.text import safe_line
from colonizer_client.transcript import Entry, Transcript
from colonizer_tui.intents import Copied, OlderWanted, TextViewed, desk_of
from colonizer_tui.present import states
from colonizer_tui.present import transcript as present
from colonizer_tui.present.line import Line, Span, highlight
from colonizer_tui.present.transcript import FOLDED_AT_FIRST, Sheet
from colonizer_tui.present.view import View
from colonizer_tui.widgets.keys_to import has_keys
from colonizer_tui.widgets.line_view import LineView


class TranscriptPane(LineView):
    """Entries one below the other, each foldable; one of them is current."""

    def __init__(self, *, id: str | None = None) -> None:  # noqa: A002  # Textual's name
        super().__init__(id=id)
        self.needle = ""
        """What is searched for, in lower case; empty for nothing."""
        self.is_following = True
        self._key: ColonyKey | None = None
        self._state: TranscriptState | None = None
        self._transcript = Transcript()
        self._version = -1
        self._entries: list[Entry] = []
        self._blocks: list[list[Line]] = []
        self._starts: list[int] = []
        """The line at which each entry begins."""
        self._toggled: set[int] = set()
        """Entries that are not folded as they are at first, counted from the end of what was loaded first."""
        self._shift = 0
        """How many older entries were put before those that were loaded first."""
        self._current = 0
        self._sheet: Sheet | None = None
        """In what the entries are set; None before they are."""
        self._view = View()

    @property
    def below(self) -> int:
        """How many lines lie below what is in sight."""
        return self.furthest_top - self.top

    @property
    def entries(self) -> Sequence[Entry]:
        """All entries, oldest first."""
        return self._entries

    @property
    def entry(self) -> Entry | None:
        """The current entry."""
        return self._entries[self._current] if self._current < len(self._entries) else None

    def show(self, key: ColonyKey | None, view: View) -> None:
        """Shows a colony's transcript; of the one that is shown, only what changed is set anew.

        A pane that is hidden has no width to set anything in: it is set when it comes into sight.
        """
        state = None if key is None else view.snapshot.transcripts.get(key)
        self._view = view
        is_other = key != self._key or (state is not None and state.transcript is not self._transcript)
        self._key, self._state = key, state
        if is_other:
            self._transcript = Transcript() if state is None else state.transcript
            self._toggled.clear()
            self._shift = 0
            self.is_following = True
            self._entries, self._blocks, self._starts = [], [], []
            self._sheet = None
        if not self.size.width:
            return
        if self._sheet != self._sheet_now():
            self._set_all()
        elif self._transcript.version != self._version:
            self._set_changed()
        if self.is_following:
            self._go_to_end()
        self.repaint_changed()

    def line_count(self) -> int:
        """All entries' lines, and one that says what lies before them."""
        return (self._starts[-1] + len(self._blocks[-1]) if self._blocks else 0) + self._head_lines

    def line_at(self, index: int) -> Line:
        """A line, marked where it belongs to the current entry."""
        if index < self._head_lines:
            return self._head()
        index -= self._head_lines
        entry = bisect_right(self._starts, index) - 1
        line = self._blocks[entry][index - self._starts[entry]]
        is_current = entry == self._current and has_keys(self) and index == self._starts[entry]
        mark = Span(self.glyphs["folded"] if is_current else " ", "active")
        return (mark, *(highlight(line, self.needle, "match") if self.needle else line))

    def spot_at(self, index: int) -> Hashable | None:
        """Entries, at their first lines."""
        index -= self._head_lines
        entry = bisect_right(self._starts, index) - 1
        return entry - self._shift if entry >= 0 and self._starts[entry] == index else None

    def jump_to(self, spot: Hashable) -> None:
        """Makes an entry current."""
        super().jump_to(spot)
        if isinstance(spot, int):
            self._make_current(spot + self._shift)

    @property
    def has_entries(self) -> bool:
        """Whether there is anything to read."""
        return bool(self._entries)

    def status(self) -> tuple[str, str]:
        """What stands at the lower edge, and its role."""
        state = self._state
        if self._is_silent:
            return "its host does not answer: what it said so far", "stale"
        if state is None or state.phase is Phase.LOADING:
            return "reading the log…", "muted"
        if state.phase is Phase.RECONNECTING:
            return f"the log's connection is down, trying again: {safe_line(state.error)}", "attention"
        if not self._entries:
            return "no events yet", "muted"
        if self.is_following:
            return f"following {self.glyphs['unfolded']}", "dim"
        below, key = self.below, self._view.shown("last")
        return (f"{below:,} lines below · {key} follows" if below else f"not following · {key} follows"), "muted"

    def scrolled_by_hand(self, lines: int) -> None:
        """Scrolls; at the end the transcript follows again, at the beginning older events are asked for."""
        self.top += lines
        self.is_following = lines > 0 and self.top >= self.furthest_top
        first, last = self._entry_at(self.top), self._entry_at(self.top + self.page - 1)
        self._current = last if self.is_following else min(max(self._current, first), last)
        if self.top == 0 and lines < 0:
            self._want_older()
        self.refresh()

    def do_down(self) -> None:
        """To the next entry; through a long one line by line."""
        if self._end_of(self._current) > self.top + self.page:
            self.scrolled_by_hand(1)
        else:
            self._make_current(self._current + 1)

    def do_up(self) -> None:
        """To the entry before; through a long one line by line."""
        if self._start_of(self._current) < self.top or self._current == 0:
            self.scrolled_by_hand(-1)
        else:
            self._make_current(self._current - 1)

    def do_last(self) -> None:
        """To the end, and follows it."""
        self.is_following = True
        self._go_to_end()
        self.refresh()

    def do_fold(self) -> None:
        """Folds or unfolds the current entry."""
        entry = self.entry
        if entry is None or not present.folds(entry):
            return
        self._toggled ^= {self._current - self._shift}
        self.is_following = False
        self._set_block(self._current)
        self._set_starts(self._current)
        self.show_line(self._start_of(self._current))
        self.repaint()

    def do_enter(self) -> None:
        """As fold."""
        self.do_fold()

    def do_view(self) -> None:
        """The whole entry in the viewer."""
        entry = self.entry
        if entry is not None:
            self.post_message(TextViewed(entry.kind.name.lower(), present.whole_text(entry)))

    async def do_copy(self) -> None:
        """Copies the current entry."""
        entry = self.entry
        text = "" if entry is None else present.whole_text(entry)
        await desk_of(self).copy(Copied("the entry", text))

    def do_next_match(self) -> None:
        """To the next entry that holds what is searched for."""
        self._find(1)

    def do_previous_match(self) -> None:
        """To the entry before that holds what is searched for."""
        self._find(-1)

    def matches(self) -> int:
        """How many entries hold what is searched for."""
        return sum(self._holds(entry) for entry in self._entries) if self.needle else 0

    def on_resize(self) -> None:
        """The texts are wrapped anew; what was in sight stays in sight."""
        if not self.size.width:
            return
        if self._sheet != self._sheet_now():
            self._set_all()
        if self.is_following:
            self._go_to_end()
        else:
            self.top = self._start_of(self._current)
        self.repaint()

    def on_click(self, event: events.Click) -> None:
        """Makes an entry current; a double click folds or unfolds it."""
        self._current = self._entry_at(self.top + event.y)
        if event.chain == 2:
            self.do_fold()
        self.refresh()

    def on_focus(self) -> None:
        """The mark of the current entry shows."""
        self.refresh()

    def on_blur(self) -> None:
        """The mark of the current entry hides."""
        self.refresh()

    @property
    def _head_lines(self) -> int:
        return 1 if self._state is not None and (self._state.has_older or self._state.is_loading_older) else 0

    def _head(self) -> Line:
        state = self._state
        if state is not None and state.is_loading_older:
            return (Span("  reading older events…", "muted"),)
        error = "" if state is None or not state.error else f" · {safe_line(state.error)}"
        key = Span(self._view.shown("first"), "key-off" if self._is_silent else "key")
        return Span("  older events: ", "dim"), key, Span(f" reads them{error}", "dim")

    @property
    def _is_silent(self) -> bool:
        return self._key is not None and states.is_stale(self._view.snapshot.endpoint_of(self._key))

    def _want_older(self) -> None:
        if self._key is not None and self._state is not None and self._state.has_older:
            self.post_message(OlderWanted(self._key))

    def _set_all(self) -> None:
        self._sheet = self._sheet_now()
        self._version = self._transcript.version
        self._entries = list(self._transcript)
        self._blocks = [self._block(index, entry) for index, entry in enumerate(self._entries)]
        self._set_starts(0)

    def _set_changed(self) -> None:
        changed = self._transcript.changed_since(self._version)
        if changed is None:
            grown = len(self._transcript) - len(self._entries)
            before = self.line_count()
            self._shift += grown
            self._current += grown
            self._set_all()
            self._top = max(self._top + self.line_count() - before, 0)
            return
        self._version = self._transcript.version
        while len(self._entries) < len(self._transcript):
            self._entries.append(self._transcript[len(self._entries)])
            self._blocks.append([])
        for index in changed:
            self._entries[index] = self._transcript[index]
            self._set_block(index)
        if changed:
            self._set_starts(min(changed))

    def _set_block(self, index: int) -> None:
        self._blocks[index] = self._block(index, self._entries[index])

    def _block(self, index: int, entry: Entry) -> list[Line]:
        is_folded = (entry.kind in FOLDED_AT_FIRST) != (index - self._shift in self._toggled)
        return present.lines(entry, self._sheet or self._sheet_now(), is_folded=is_folded)

    def _sheet_now(self) -> Sheet:
        colony = None if self._key is None else self._view.snapshot.colonies.get(self._key)
        is_asking = colony is None or colony.may_ask
        return Sheet(self.text_width - 1, self.glyphs, self._view.keymap, is_asking)

    def _set_starts(self, first: int) -> None:
        del self._starts[first:]
        line = self._starts[-1] + len(self._blocks[first - 1]) if first else 0
        for block in self._blocks[first:]:
            self._starts.append(line)
            line += len(block)

    def _start_of(self, entry: int) -> int:
        return (self._starts[entry] if entry < len(self._starts) else 0) + self._head_lines

    def _end_of(self, entry: int) -> int:
        return self._start_of(entry) + (len(self._blocks[entry]) if entry < len(self._blocks) else 0)

    def _entry_at(self, line: int) -> int:
        return min(max(bisect_right(self._starts, line - self._head_lines) - 1, 0), max(len(self._entries) - 1, 0))

    def _make_current(self, entry: int) -> None:
        if not self._entries:
            return
        self._current = min(max(entry, 0), len(self._entries) - 1)
        self.is_following = self._current == len(self._entries) - 1 and entry >= self._current
        self.show_line(min(self._end_of(self._current) - 1, self._start_of(self._current) + self.page - 1))
        self.show_line(self._start_of(self._current))
        if self.is_following:
            self._go_to_end()
        self.refresh()

    def _go_to_end(self) -> None:
        self._current = max(len(self._entries) - 1, 0)
        self.top = self.furthest_top

    def _holds(self, entry: Entry) -> bool:
        return self.needle in present.whole_text(entry).lower()

    def _find(self, step: int) -> None:
        count = len(self._entries)
        for distance in range(1, count + 1):
            place = (self._current + step * distance) % count
            if self._holds(self._entries[place]):
                self._make_current(place)
                self.is_following = False
                return
