"""A colony's changes, drawn row by row, its colours found when a hunk comes into sight."""

from collections.abc import Hashable

from textual import events

from colonizer_client.identity import ColonyKey
from colonizer_client.mothership.models import Diff
from colonizer_client.snapshot import DiffState
from colonizer_client.text import safe_line
from colonizer_tui.intents import Copied, TextViewed, desk_of
from colonizer_tui.present import changed_words, syntax, words
from colonizer_tui.present import diff as present
from colonizer_tui.present.diff import FileDiff, Hunk, Row, RowKind, Rows
from colonizer_tui.present.line import Line, Span, highlight, skip, spread
from colonizer_tui.widgets.keys_to import has_keys
from colonizer_tui.widgets.line_view import LineView

SHIFT_CELLS = 16
"""How far one key shifts long lines."""

HUNKS_KEPT = 512
"""Coloured hunks that are kept; scrolling through more colours them anew."""


class DiffPane(LineView):
    """Files, hunks and lines; the row under the cursor is current."""

    def __init__(self, *, id: str | None = None) -> None:  # noqa: A002  # Textual's name
        super().__init__(id=id)
        self.needle = ""
        """What is searched for, in lower case; empty for nothing."""
        self._key: ColonyKey | None = None
        self._state: DiffState | None = None
        self._diff: Diff | None = None
        self._files: list[FileDiff] = []
        self._folded: set[str] = set()
        self._rows = Rows([], frozenset())
        self._coloured: dict[tuple[int, int], tuple[list[Line], list[tuple[int | None, int | None]]]] = {}
        self._cursor = 0
        self._left = 0
        """How many cells of each line lie to the left of what is in sight."""

    @property
    def diff(self) -> Diff | None:
        """The diff that is shown."""
        return self._diff

    def show(self, key: ColonyKey | None, state: DiffState | None) -> None:
        """Shows a diff; the same file stays in sight when it is read anew."""
        is_other = key != self._key
        self._key, self._state = key, state
        found = None if state is None else state.diff
        if is_other or found is not self._diff:
            place = "" if is_other else self._current_path()
            self._take(found, is_other=is_other, stay_at=place)
        self.repaint_changed()

    @property
    def has_changes(self) -> bool:
        """Whether there is anything to read."""
        return bool(self._rows)

    def summary(self) -> Line:
        """The first line: how much changed."""
        state, diff = self._state, self._diff
        error = "" if state is None else safe_line(state.error)
        if diff is None:
            text = "reading the changes…" if state is None or state.is_loading else error or "no changes read yet"
            return (Span(text, "attention" if error else "muted"),)
        least = "at least " if diff.truncated else ""
        text = f"{least}{words.count(len(diff.files), 'file')} "
        return (
            Span(text, "attention" if diff.truncated else ""),
            Span(f"+{diff.added:,}", "added" if diff.added else "muted"),
            Span(f" {self.glyphs['minus']}{diff.removed:,}", "removed" if diff.removed else "muted"),
            Span(f"  against {diff.base}" if diff.base else "", "muted"),
            Span("  cut" if diff.truncated else "", "attention"),
            Span(f"  {error}" if error else "", "attention"),
        )

    def line_count(self) -> int:
        """One line for each row; one where nothing changed, and one where the server cut the rest off."""
        if self._diff is None:
            return 0
        return len(self._rows) + self._diff.truncated if self._rows else 1

    def line_at(self, index: int) -> Line:
        """A row of the diff."""
        if not self._rows:
            return (Span(" nothing changed yet", "muted"),)
        if index == len(self._rows):
            return (Span(" cut here by the server: the worktree has the whole", "attention"),)
        row = self._rows[index]
        mark = Span(self.glyphs["select"] if index == self._cursor and has_keys(self) else " ", "active")
        line = (mark, *self._row_line(row))
        return highlight(line, self.needle, "match") if self.needle else line

    def ground_of(self, index: int) -> str:
        """Added and removed lines stand on their colour."""
        if index >= len(self._rows):
            return ""
        kind = self._rows[index].kind
        if kind is RowKind.ADDED:
            return "added"
        return "removed" if kind is RowKind.REMOVED else ""

    def spot_at(self, index: int) -> Hashable | None:
        """Files and hunks, by path and number."""
        if index >= len(self._rows):
            return None
        row = self._rows[index]
        return (self._files[row.file].path, row.hunk) if row.kind in (RowKind.FILE, RowKind.HUNK) else None

    def jump_to(self, spot: Hashable) -> None:
        """Goes to a file or a hunk."""
        super().jump_to(spot)
        row = next((row for row in range(self.top, len(self._rows)) if self.spot_at(row) == spot), None)
        if row is not None:
            self._go(row)

    def scrolled_by_hand(self, lines: int) -> None:
        """The cursor stays in sight."""
        self.top += lines
        self._cursor = min(max(self._cursor, self.top), self.top + self.page - 1, max(len(self._rows) - 1, 0))
        self.refresh()

    def do_down(self) -> None:
        """One row down."""
        self._go(self._cursor + 1)

    def do_up(self) -> None:
        """One row up."""
        self._go(self._cursor - 1)

    def do_page_down(self) -> None:
        """One page down."""
        self._go(self._cursor + self.page - 1)

    def do_page_up(self) -> None:
        """One page up."""
        self._go(self._cursor - self.page + 1)

    def do_first(self) -> None:
        """To the first row."""
        self._go(0)

    def do_last(self) -> None:
        """To the last row."""
        self._go(len(self._rows))

    def do_right(self) -> None:
        """Shows what lies to the right of long lines."""
        self._shift(SHIFT_CELLS)

    def do_left(self) -> None:
        """Back to the left."""
        self._shift(-SHIFT_CELLS)

    def do_next_file(self) -> None:
        """To the next file."""
        if self._rows:
            file = self._rows.file_at(self._cursor) + 1
            self._go_to_top(self._rows.start_of(min(file, len(self._files) - 1)))

    def do_previous_file(self) -> None:
        """To the beginning of this file, from there to the file before."""
        if self._rows:
            file = self._rows.file_at(self._cursor)
            at_start = self._cursor == self._rows.start_of(file)
            self._go_to_top(self._rows.start_of(max(file - at_start, 0)))

    def do_next_hunk(self) -> None:
        """To the next hunk, in the next file after the last."""
        self._go_to_hunk(1)

    def do_previous_hunk(self) -> None:
        """To the hunk before."""
        self._go_to_hunk(-1)

    def do_fold(self) -> None:
        """Folds or unfolds the file under the cursor."""
        if not self._rows:
            return
        file = self._rows.file_at(self._cursor)
        self._folded ^= {self._files[file].path}
        self._rows = Rows(self._files, frozenset(self._folded))
        self._go(self._rows.start_of(file))
        self.repaint()

    def do_enter(self) -> None:
        """As fold."""
        self.do_fold()

    def do_view(self) -> None:
        """The whole diff in the viewer."""
        if self._diff is not None:
            self.post_message(TextViewed("diff", self._diff.text))

    async def do_copy(self) -> None:
        """Copies the hunk under the cursor; the whole file's changes where the cursor is on none."""
        if not self._rows:
            await desk_of(self).copy(Copied("the diff", ""))
            return
        row = self._rows[self._cursor]
        file = self._files[row.file]
        if row.hunk < 0:
            await desk_of(self).copy(Copied(f"the changes of {file.path}", present.text_of_file(file)))
        else:
            text = present.text_of_hunk(file, file.hunks[row.hunk])
            await desk_of(self).copy(Copied(f"a hunk of {file.path}", text))

    def do_next_match(self) -> None:
        """To the next row that holds what is searched for."""
        self._find(1)

    def do_previous_match(self) -> None:
        """To the row before that holds what is searched for."""
        self._find(-1)

    def on_click(self, event: events.Click) -> None:
        """Goes to a row; a double click folds or unfolds its file."""
        self._go(self.top + event.y)
        if event.chain == 2:
            self.do_fold()

    def on_focus(self) -> None:
        """The cursor shows."""
        self.refresh()

    def on_blur(self) -> None:
        """The cursor hides."""
        self.refresh()

    def _take(self, diff: Diff | None, *, is_other: bool, stay_at: str) -> None:
        self._diff = diff
        self._coloured.clear()
        had: set[str] = set() if is_other else {file.path for file in self._files}
        self._files = [] if diff is None else present.parse(diff.text)
        if is_other:
            self._folded = set()
            self._cursor = 0
            self.top = 0
        self._folded |= {file.path for file in self._files if file.is_folded_at_first and file.path not in had}
        self._rows = Rows(self._files, frozenset(self._folded))
        place = next((number for number, file in enumerate(self._files) if file.path == stay_at), None)
        if place is not None and not is_other:
            self._cursor = max(min(self._cursor, len(self._rows) - 1), 0)
        self.repaint()

    def _row_line(self, row: Row) -> Line:
        file = self._files[row.file]
        if row.kind is RowKind.FILE:
            return self._file_line(file)
        if row.hunk < 0:
            return (Span(f"     {file.notes[row.line]}", "muted"),)
        hunk = file.hunks[row.hunk]
        if row.kind is RowKind.HUNK:
            return (
                Span(f"     @@ {hunk.old_start} {self.glyphs['arrow']} {hunk.new_start} ", "hunk"),
                Span(hunk.heading, "muted"),
            )
        if row.kind is RowKind.NOTE:
            return (Span(f"     {hunk.lines[row.line]}", "dim"),)
        coloured, numbers = self._colours(row, file, hunk)
        old, new = numbers[row.line]
        mark = {RowKind.ADDED: ("+", "added"), RowKind.REMOVED: (self.glyphs["minus"], "removed")}.get(
            row.kind, (" ", "")
        )
        shown = "".join("     " if number is None else f"{number:5}" for number in (old, new))
        return (Span(shown, "dim"), Span(f" {mark[0]} ", mark[1]), *skip(coloured[row.line], self._left))

    def _file_line(self, file: FileDiff) -> Line:
        fold = self.glyphs["folded" if file.path in self._folded else "unfolded"]
        renamed = f" (was {file.old_path})" if file.old_path else ""
        counts = (Span(f"+{file.added}", "added"), Span(f" {self.glyphs['minus']}{file.removed} ", "removed"))
        hidden = f" · {words.count(file.line_count, 'line')} folded" if file.path in self._folded else ""
        left = (Span(f"{fold} ", "dim"), Span(file.path, "strong"), Span(f"{renamed}{hidden}  ", "muted"))
        return spread(left, counts, self.text_width - 1)

    def _colours(self, row: Row, file: FileDiff, hunk: Hunk) -> tuple[list[Line], list[tuple[int | None, int | None]]]:
        found = self._coloured.get((row.file, row.hunk))
        if found is None:
            if len(self._coloured) >= HUNKS_KEPT:
                self._coloured.clear()
            shown = changed_words.marked(hunk.lines, syntax.coloured(file.path, hunk.lines))
            found = shown, present.numbers(hunk)
            self._coloured[row.file, row.hunk] = found
        return found

    def _current_path(self) -> str:
        return self._files[self._rows.file_at(self._cursor)].path if self._rows else ""

    def _shift(self, cells: int) -> None:
        self._left = max(self._left + cells, 0)
        self.refresh()

    def _go(self, row: int) -> None:
        before = self._cursor
        self._cursor = min(max(row, 0), max(len(self._rows) - 1, 0))
        self.repaint_line(before)
        self.repaint_line(self._cursor)
        is_last = self._cursor == len(self._rows) - 1
        self.show_line(self.line_count() - 1 if is_last else self._cursor)  # what follows the last row is no row

    def _go_to_top(self, row: int) -> None:
        self._go(row)
        self.top = row

    def _go_to_hunk(self, step: int) -> None:
        if not self._rows:
            return
        here = self._rows.file_at(self._cursor)
        files = range(here, len(self._files)) if step > 0 else range(here, -1, -1)
        for file in files:
            if self._files[file].path in self._folded:
                continue
            starts = self._rows.hunk_starts(file)
            ahead = [row for row in starts if (row > self._cursor if step > 0 else row < self._cursor)]
            if ahead:
                self._go_to_top(ahead[0] if step > 0 else ahead[-1])
                return

    def _find(self, step: int) -> None:
        count = len(self._rows)
        for distance in range(1, count + 1):
            place = (self._cursor + step * distance) % count
            if self.needle in self._text_of(self._rows[place]).lower():
                self._go(place)
                return

    def _text_of(self, row: Row) -> str:
        file = self._files[row.file]
        if row.kind is RowKind.FILE:
            return file.path
        if row.hunk < 0:
            return file.notes[row.line]
        hunk = file.hunks[row.hunk]
        return hunk.heading if row.kind is RowKind.HUNK else hunk.lines[row.line]
