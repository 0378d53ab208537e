"""What a colony has changed, as one patch (spec 3.1, GET diff)."""

import asyncio
import os
import stat
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from colonizer_engines.mothership.git import GitError, plain
from colonizer_engines.mothership.hostile_files import open_below
from colonizer_engines.mothership.patch import FileCount, counts, new_file
from colonizer_engines.mothership.view import View
from colonizer_engines.mothership.worktrees import Worktree, fork_point, head, look

TEXT_LIMIT_BYTES: Final = 200 * 1024
"""How long the patch of a reply is at most, in UTF-8."""

UNTRACKED_LIMIT: Final = 200
"""How many new files that git does not track are shown."""

_NAMES_LIMIT_BYTES: Final = 1 << 20
_BINARY_SAMPLE_BYTES: Final = 8000
"""How much of a file git looks at to tell whether it is binary."""


class DiffError(Exception):
    """There is no diff; the text is the one of a 409 reply (spec 3.1)."""


@dataclass(frozen=True, slots=True)
class WorktreeDiff:
    """What a colony has changed since it left its base branch, committed or not."""

    files: tuple[FileCount, ...]
    """In the order of the text, and counted in it; a binary file counts no lines."""
    added: int
    removed: int
    text: str
    """Tracked files first, then new ones; at most 200 KiB, cut at the end of a line."""
    truncated: bool
    """Whether something is missing at the end of the text."""


async def diff(worktree: Worktree) -> WorktreeDiff:
    """The changes of the worktree since it left its base branch.

    Raises:
        DiffError: There is no worktree, no place where it left its base, or git failed.
    """
    if not worktree.path.is_dir():
        raise DiffError("this colony has no worktree to diff: it never booted, or it was cleaned up")
    try:
        tip = await head(worktree)
        base = await fork_point(worktree, tip)
    except GitError as error:
        raise DiffError(f"could not find where this colony branched from {plain(worktree.base)}") from error
    try:
        async with look(worktree, tip) as files:
            tracked = await _tracked(files, base)
            if len(tracked) > TEXT_LIMIT_BYTES:
                return _cut(tracked.decode(errors="replace"), complete=False)
            names, listed_all = await _untracked(files)
        room_bytes = TEXT_LIMIT_BYTES - len(tracked)
        new, read_all = await asyncio.to_thread(_new_files, worktree.path, names, room_bytes)
    except (GitError, OSError) as error:
        raise DiffError(f"the colony's diff failed: {plain(str(error))}") from error
    return _cut(tracked.decode(errors="replace") + new, complete=listed_all and read_all)


async def _tracked(files: View, base: str, attempts: int = 4) -> bytes:
    """The patch of what git tracks; longer than the limit when it is cut."""
    # A submodule's own changes are not looked at: git would run in it, under a configuration that an agent wrote.
    safety = ("--no-ext-diff", "--no-textconv", "--ignore-submodules=dirty")
    arguments = ("diff", *safety, "--no-color", "--find-renames", base, "--")
    try:
        return await files.git(*arguments, limit_bytes=TEXT_LIMIT_BYTES + 1)
    except GitError as error:
        # Git gives up when a file goes between its two looks at it, and agents write all the time.
        if attempts > 1 and "No such file" in str(error):
            return await _tracked(files, base, attempts - 1)
        raise


async def _untracked(files: View) -> tuple[tuple[bytes, ...], bool]:
    """The paths of files that git neither tracks nor ignores, and whether these are all."""
    listed = await files.git("ls-files", "--others", "--exclude-standard", "-z", limit_bytes=_NAMES_LIMIT_BYTES)
    names = listed.split(b"\0")[:-1]
    # A repository inside the worktree is listed as a folder.
    return tuple(name for name in names if not name.endswith(b"/")), len(listed) < _NAMES_LIMIT_BYTES


def _new_files(root: Path, names: Iterable[bytes], room_bytes: int) -> tuple[str, bool]:
    """The patches of the text files among `names`, until there are enough, and whether these are all."""
    patches: list[str] = []
    for name, content, executable in _texts(root, names):
        if len(patches) == UNTRACKED_LIMIT or room_bytes < 0:
            return "".join(patches), False
        patches.append(new_file(name, content, executable))
        room_bytes -= len(patches[-1].encode())
    return "".join(patches), True


def _texts(root: Path, names: Iterable[bytes]) -> Iterator[tuple[str, str, bool]]:
    """Path, content and executability of the files that are text and could fit into a reply."""
    for name in names:
        try:
            opened = open_below(root, name)
        except OSError:  # a link, or gone since it was listed
            continue
        with opened as file:
            found = os.fstat(file.fileno())
            if found.st_size > TEXT_LIMIT_BYTES:
                continue
            content = file.read(_BINARY_SAMPLE_BYTES)
            if b"\0" in content:
                continue
            content += file.read(TEXT_LIMIT_BYTES)
        yield name.decode(errors="replace"), content.decode(errors="replace"), bool(found.st_mode & stat.S_IXUSR)


def _cut(text: str, complete: bool) -> WorktreeDiff:
    encoded = text.encode()
    if len(encoded) > TEXT_LIMIT_BYTES:
        complete = False
        text = encoded[: encoded.rfind(b"\n", 0, TEXT_LIMIT_BYTES) + 1].decode()
    files = counts(text)
    added, removed = sum(file.added for file in files), sum(file.removed for file in files)
    return WorktreeDiff(files, added, removed, text, truncated=not complete)
