"""Patches as text: written for files that git does not track yet, and counted."""

import re
from dataclasses import dataclass
from typing import Final

_HUNK: Final = re.compile(r"@@ -\d+(?:,(\d+))? \+\d+(?:,(\d+))? @@")
_ESCAPES: Final = {"\a": "a", "\b": "b", "\t": "t", "\n": "n", "\v": "v", "\f": "f", "\r": "r", '"': '"', "\\": "\\"}
_UNESCAPES: Final = {letter: character for character, letter in _ESCAPES.items()}
_SPECIAL: Final = re.compile(r'[\x00-\x1f\x7f"\\]')
_ESCAPED: Final = re.compile(r"\\(?:([0-7]{3})|(.))", re.DOTALL)
_QUOTED: Final = re.compile(r'"((?:[^"\\]|\\.)*)"')


@dataclass(frozen=True, slots=True)
class FileCount:
    """How many lines of one file a patch adds and removes."""

    path: str
    added: int
    removed: int


def new_file(path: str, content: str, executable: bool) -> str:
    """The patch that makes a text file, as git writes it but for the `index` line."""
    mode = "100755" if executable else "100644"
    old, new = quoted(f"a/{path}"), quoted(f"b/{path}")
    head = f"diff --git {old} {new}\nnew file mode {mode}\n"
    if not content:
        return head
    lines = content.removesuffix("\n").split("\n")
    # Git ends a name with a tab where `patch` would otherwise take its end for a time.
    tab = "\t" if " " in path else ""
    ending = "" if content.endswith("\n") else "\\ No newline at end of file\n"
    return f"{head}--- /dev/null\n+++ {new}{tab}\n@@ -0,0 +1,{len(lines)} @@\n+" + "\n+".join(lines) + f"\n{ending}"


def counts(patch: str) -> tuple[FileCount, ...]:
    """The files of a patch in its order, and how many lines of each it adds and removes; the patch may be cut."""
    tallies: list[_Tally] = []
    for line in patch.split("\n"):
        if tallies and tallies[-1].in_hunk:
            tallies[-1].count(line)
        elif line.startswith("diff --git "):
            tallies.append(_Tally(_path_of(line.removeprefix("diff --git "))))
        elif tallies:
            tallies[-1].read(line)
    return tuple(FileCount(tally.path, tally.added, tally.removed) for tally in tallies)


def quoted(name: str) -> str:
    """The name as git writes it in a patch: in quotes and escaped, where it has a character that needs it."""
    if not _SPECIAL.search(name):
        return name
    return f'"{_SPECIAL.sub(lambda found: _escape(found[0]), name)}"'


def unquoted(name: str) -> str:
    """The name that git wrote in a patch."""
    found = _QUOTED.fullmatch(name)
    return name if found is None else _ESCAPED.sub(_unescape, found[1])


@dataclass(slots=True)
class _Tally:
    path: str
    added: int = 0
    removed: int = 0
    old_left: int = 0
    new_left: int = 0

    @property
    def in_hunk(self) -> bool:
        return self.old_left > 0 or self.new_left > 0

    def count(self, line: str) -> None:
        """Takes a line of a hunk, whose head said how many there are: a removed line may look like any other one."""
        match line[:1]:
            case "+":
                self.added += 1
                self.new_left -= 1
            case "-":
                self.removed += 1
                self.old_left -= 1
            case "\\":
                pass
            case _:
                self.old_left -= 1
                self.new_left -= 1

    def read(self, line: str) -> None:
        """Takes a line between two hunks."""
        if hunk := _HUNK.match(line):
            self.old_left, self.new_left = (int(length or 1) for length in hunk.groups())
        elif line.startswith(("--- ", "+++ ")):
            name = unquoted(line[4:].removesuffix("\t"))
            self.path = name[2:] if name != "/dev/null" else self.path
        elif line.startswith("rename to "):
            self.path = unquoted(line.removeprefix("rename to "))


def _path_of(names: str) -> str:
    """The path of `a/PATH b/PATH`, for a patch that names it nowhere else."""
    if found := _QUOTED.match(names):
        return unquoted(found[0])[2:]
    return names[2 : (len(names) - 1) // 2]


def _escape(character: str) -> str:
    return f"\\{_ESCAPES.get(character) or format(ord(character), '03o')}"


def _unescape(found: re.Match[str]) -> str:
    octal, letter = found.groups()
    return chr(int(octal, 8)) if octal else _UNESCAPES.get(letter, letter)
