"""A unified diff as rows that are drawn one by one.

Our own reader of the format, since a cut diff ends anywhere, and since a diff of 50,000 lines has to be open in a
tenth of a second: the text is walked once, and nothing is made of a line before it is drawn.
"""

import re
from bisect import bisect_right
from collections.abc import Sequence
from enum import Enum, auto
from itertools import accumulate

from msgspec import Struct, field

from colonizer_client.text import safe_text
from colonizer_config.value import Value

_NUMBER = "([0-9]{1,12})"  # Python reads and writes no number of some thousand digits
_HUNK = re.compile(rf"@@ -{_NUMBER}(?:,{_NUMBER})? \+{_NUMBER}(?:,{_NUMBER})? @@ ?(.*)")
_HIGH_BYTES = re.compile(r"\\\\|((?:\\[23][0-7]{2})+)")
"""An escaped backslash, or the bytes beyond ASCII of a path that git quotes."""

UNRESOLVED = "a merge that is not resolved: v shows its lines"

LOCKFILES = frozenset(
    {
        "Cargo.lock", "composer.lock", "flake.lock", "Gemfile.lock", "go.sum", "package-lock.json", "Pipfile.lock",
        "pnpm-lock.yaml", "poetry.lock", "uv.lock", "yarn.lock",
    }
)  # fmt: skip
"""Files that a program writes: folded at first."""

LARGE_FILE_LINES = 2_000
"""A file with more lines than this is folded at first."""


class RowKind(Enum):
    """What a row of the diff is."""

    FILE = auto()
    NOTE = auto()
    """What git says of a file beside its lines: a rename, a mode, a binary file."""
    HUNK = auto()
    CONTEXT = auto()
    ADDED = auto()
    REMOVED = auto()


class Hunk(Struct):
    """A hunk: where it begins and its lines, each with its mark."""

    old_start: int
    new_start: int
    heading: str
    """What git found as the enclosing function; empty where it found none."""
    lines: list[str] = field(default_factory=list[str])


class FileDiff(Struct):
    """The changes of one file."""

    path: str
    old_path: str = ""
    """Set where the file was renamed or copied."""
    notes: list[str] = field(default_factory=list[str])
    hunks: list[Hunk] = field(default_factory=list[Hunk])
    added: int = 0
    removed: int = 0

    @property
    def line_count(self) -> int:
        """Rows below the file's own one when it is unfolded."""
        return len(self.notes) + sum(1 + len(hunk.lines) for hunk in self.hunks)

    @property
    def is_folded_at_first(self) -> bool:
        """Whether the file is more than a person wants to see without asking."""
        return self.path.rpartition("/")[2] in LOCKFILES or self.line_count > LARGE_FILE_LINES


def parse(text: str) -> list[FileDiff]:
    """The files of a unified diff, in order. What belongs to no file is left out; a cut end is no error."""
    files: list[FileDiff] = []
    hunk: Hunk | None = None
    left_old = left_new = 0
    for line in text.removesuffix("\n").split("\n"):
        if hunk is not None and (left_old > 0 or left_new > 0):
            mark = line[:1]
            if mark == "+":
                left_new -= 1
                files[-1].added += 1
            elif mark == "-":
                left_old -= 1
                files[-1].removed += 1
            elif mark in (" ", ""):
                left_old -= 1
                left_new -= 1
            elif mark != "\\":
                hunk = None  # it ends before its time
            if hunk is not None:
                hunk.lines.append(line)
                continue
        if line.startswith("diff --"):
            files.append(_file_of(line))
            hunk = None
        elif files and (found := _HUNK.match(line)):
            hunk = Hunk(int(found[1]), int(found[3]), found[5])
            left_old, left_new = int(found[2] or 1), int(found[4] or 1)
            files[-1].hunks.append(hunk)
        elif hunk is not None and line.startswith("\\"):
            hunk.lines.append(line)
        elif files and not files[-1].hunks and UNRESOLVED not in files[-1].notes:
            _take_header(files[-1], line)
    return files


class Row(Value):
    """One row of a shown diff."""

    kind: RowKind
    file: int
    """Index of its file."""
    hunk: int = -1
    line: int = -1
    """Index of its hunk in the file and of its line in the hunk."""


class Rows:
    """The rows of a diff of which some files are folded; a row is made when it is asked for."""

    def __init__(self, files: Sequence[FileDiff], folded: frozenset[str]) -> None:
        self.files = files
        self.folded = folded
        self._starts: list[int] = []
        """The row at which each file begins."""
        count = 0
        for file in files:
            self._starts.append(count)
            count += 1 if file.path in folded else 1 + file.line_count
        self._count = count
        self._hunk_starts: dict[int, list[int]] = {}

    def __len__(self) -> int:
        return self._count

    def start_of(self, file: int) -> int:
        """The row at which a file begins."""
        return self._starts[file]

    def file_at(self, row: int) -> int:
        """The index of the file to which a row belongs."""
        return bisect_right(self._starts, row) - 1

    def __getitem__(self, row: int) -> Row:
        file = self.file_at(row)
        below = row - self._starts[file] - 1
        if below < 0:
            return Row(RowKind.FILE, file)
        found = self.files[file]
        if below < len(found.notes):
            return Row(RowKind.NOTE, file, line=below)
        starts = self.hunk_starts(file)
        place = bisect_right(starts, row) - 1
        line = row - starts[place] - 1
        if line < 0:
            return Row(RowKind.HUNK, file, place)
        mark = found.hunks[place].lines[line][:1]
        kind = {"+": RowKind.ADDED, "-": RowKind.REMOVED, "\\": RowKind.NOTE}.get(mark, RowKind.CONTEXT)
        return Row(kind, file, place, line)

    def hunk_starts(self, file: int) -> list[int]:
        """The rows at which the hunks of an unfolded file begin."""
        starts = self._hunk_starts.get(file)
        if starts is None:
            found = self.files[file]
            sizes = [1 + len(hunk.lines) for hunk in found.hunks[:-1]]
            starts = list(accumulate(sizes, initial=self._starts[file] + 1 + len(found.notes))) if found.hunks else []
            self._hunk_starts[file] = starts
        return starts


def numbers(hunk: Hunk) -> list[tuple[int | None, int | None]]:
    """The old and the new line number of each line of a hunk."""
    old, new = hunk.old_start, hunk.new_start
    found: list[tuple[int | None, int | None]] = []
    for line in hunk.lines:
        mark = line[:1]
        if mark == "+":
            found.append((None, new))
            new += 1
        elif mark == "-":
            found.append((old, None))
            old += 1
        elif mark == "\\":
            found.append((None, None))
        else:
            found.append((old, new))
            old, new = old + 1, new + 1
    return found


def text_of_file(file: FileDiff) -> str:
    """The changes of one file as a unified diff of its own."""
    notes = [note for note in file.notes if note != UNRESOLVED]
    renamed = [f"rename from {file.old_path}", f"rename to {file.path}"] if file.old_path else []
    header = [f"diff --git a/{file.old_path or file.path} b/{file.path}", *notes, *renamed]
    return "\n".join((*header, *(_sides(file) if file.hunks else ()), *map(_hunk_text, file.hunks)))


def text_of_hunk(file: FileDiff, hunk: Hunk) -> str:
    """One hunk as a unified diff of its own."""
    return "\n".join((*_sides(file), _hunk_text(hunk)))


def _sides(file: FileDiff) -> tuple[str, str]:
    is_new = any(note.startswith("new file") for note in file.notes)
    is_gone = any(note.startswith("deleted file") for note in file.notes)
    old = "/dev/null" if is_new else f"a/{file.old_path or file.path}"
    return f"--- {old}", f"+++ {'/dev/null' if is_gone else f'b/{file.path}'}"


def _hunk_text(hunk: Hunk) -> str:
    old = sum(line[:1] in ("-", " ", "") for line in hunk.lines)
    new = sum(line[:1] in ("+", " ", "") for line in hunk.lines)
    heading = f" {hunk.heading}" if hunk.heading else ""
    return "\n".join((f"@@ -{hunk.old_start},{old} +{hunk.new_start},{new} @@{heading}", *hunk.lines))


def _take_header(file: FileDiff, line: str) -> None:
    if line.startswith("+++ ") and line != "+++ /dev/null":
        file.path = _unprefixed(line[4:], "b/")
    elif line.startswith("--- ") and line != "--- /dev/null":
        old = _unprefixed(line[4:], "a/")
        if old != file.path:
            file.old_path = file.old_path or old
    elif line.startswith(("rename from ", "copy from ")):
        file.old_path = _unquoted(line.partition(" from ")[2])
    elif line.startswith(("rename to ", "copy to ")):
        file.path = _unquoted(line.partition(" to ")[2])
    elif line.startswith(("new file", "deleted file", "old mode", "new mode", "Binary files", "GIT binary patch")):
        file.notes.append(line)


def _file_of(header: str) -> FileDiff:
    """The file whose changes a `diff --…` line begins."""
    if header.startswith("diff --git "):
        return FileDiff(_path_of(header))
    return FileDiff(_unquoted(header.split(" ", 2)[-1]), notes=[UNRESOLVED])


def _path_of(header: str) -> str:
    """The new path of a `diff --git` line, as far as that line alone tells it."""
    rest = header.removeprefix("diff --git ")
    if rest.startswith('"'):
        return _unquoted(rest.rpartition(' "')[2].join(('"', ""))).removeprefix("b/")
    half = len(rest) // 2
    if rest[half : half + 1] == " " and rest[:half].removeprefix("a/") == rest[half + 1 :].removeprefix("b/"):
        return rest[half + 1 :].removeprefix("b/")
    return rest.rpartition(" b/")[2]


def _unprefixed(path: str, prefix: str) -> str:
    """The path of a `---` or `+++` line. After one with a blank in it git puts a tab, which is shown as blanks."""
    return _unquoted(path.rstrip("\t ")).removeprefix(prefix)


def _unquoted(path: str) -> str:
    """A path as git quotes odd ones, without its quotes, its letters readable; other escapes are left to be seen."""
    if len(path) < 2 or not path[0] == path[-1] == '"':
        return path
    return _HIGH_BYTES.sub(lambda escaped: _letters(escaped[0]) if escaped[1] else escaped[0], path[1:-1])


def _letters(escaped: str) -> str:
    try:
        return safe_text(bytes(int(code, 8) for code in escaped.split("\\")[1:]).decode())
    except UnicodeDecodeError:
        return escaped
