"""Looks at the files of a worktree through a git directory of the engine's own.

What makes git run a command while it compares files stands in configuration: filters, external diffs, file monitors,
hooks, addresses to fetch from. The clone's configuration can be an agent's work where it runs without a sandbox, and a
worktree's own nearly always. So the files are compared through a git directory that has nobody's configuration, which
takes only objects and ignore rules from the clone, and a copy of the index from the worktree.
"""

import asyncio
import os
import shutil
import tempfile
from collections.abc import AsyncGenerator, Collection, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from colonizer_engines.mothership.git import GitError, git
from colonizer_engines.mothership.hostile_files import open_regular

_INDEX_LIMIT_BYTES: Final = 1 << 30
_ANSWER_LIMIT_BYTES: Final = 1 << 20

_CONFIGURATION: Final = """\
[core]
\trepositoryformatversion = {version}
\tbare = false
\tuntrackedCache = false
# A file that is marked as not checked out, and is there, is compared all the same.
\tsparseCheckout = true
# Above this size git calls a file binary instead of holding it in memory.
\tbigFileThreshold = 16m
[extensions]
{extensions}"""


@dataclass(frozen=True, slots=True)
class View:
    """A git directory that sees one worktree."""

    folder: Path
    files: Path
    variables: Mapping[str, str]

    async def git(
        self,
        *arguments: str,
        accept: Collection[int] = (0,),
        timeout_s: float = 60,
        limit_bytes: int = _ANSWER_LIMIT_BYTES,
        index: Path | None = None,
    ) -> bytes:
        """What git says of the files; see `colonizer_engines.mothership.git.git`. `index` replaces the view's own."""
        variables = {**self.variables, **({} if index is None else {"GIT_INDEX_FILE": str(index)})}
        return await git(
            *arguments,
            repository=self.folder,
            work_tree=self.files,
            accept=accept,
            timeout_s=timeout_s,
            limit_bytes=limit_bytes,
            variables=variables,
        )


@asynccontextmanager
async def view(files: Path, git_dir: Path, index: Path, head: str) -> AsyncGenerator[View]:
    """A view of `files`, with `head` as HEAD and a copy of `index`, or one made from `head` where that cannot be read.

    Args:
        files: The worktree's folder.
        git_dir: The git directory of the clone.
        index: The worktree's index.
        head: The commit that the files belong to.

    Raises:
        GitError: Neither index nor `head` can be read.
        OSError: There is no room for the view.
    """
    with tempfile.TemporaryDirectory(prefix="colonizer-view-", ignore_cleanup_errors=True) as name:
        folder = Path(name)
        copied = await asyncio.to_thread(_furnish, folder, git_dir, index, head)
        seen = View(folder, files, {"GIT_OBJECT_DIRECTORY": str(git_dir / "objects"), **await _ignore_rules(git_dir)})
        if not (copied and await _refresh(seen)):
            (folder / "index").unlink(missing_ok=True)
            await seen.git("read-tree", "--no-sparse-checkout", head)
            await _refresh(seen)
        yield seen


def _furnish(folder: Path, git_dir: Path, index: Path, head: str) -> bool:
    """Makes the git directory; whether the index could be copied."""
    long_hashes = len(head) == 64
    (folder / "refs").mkdir()
    (folder / "info").symlink_to(git_dir / "info")
    (folder / "HEAD").write_text(f"{head}\n", encoding="ascii")
    configuration = _CONFIGURATION.format(
        version=int(long_hashes), extensions="\tobjectFormat = sha256\n" if long_hashes else ""
    )
    (folder / "config").write_text(configuration, encoding="ascii")
    try:
        _copy(index, folder / "index")
    except OSError:
        return False
    return True


def _copy(source: Path, target: Path) -> None:
    with open_regular(source) as original, target.open("xb") as copy:
        found = os.fstat(original.fileno())
        if found.st_size > _INDEX_LIMIT_BYTES:
            raise OSError(f"{source} is no index")
        shutil.copyfileobj(original, copy)
    # Git compares a file by its content when the file is as new as the index; a newer copy would hide such a change.
    os.utime(target, ns=(found.st_atime_ns, found.st_mtime_ns))


async def _refresh(seen: View) -> bool:
    """Compares the index with the files, those included that an agent marked as unchanged; whether it can be read."""
    try:
        await seen.git("update-index", "-q", "--really-refresh", accept=(0, 1))
    except GitError:
        return False
    return True


async def _ignore_rules(git_dir: Path) -> Mapping[str, str]:
    """Variables that name the person's own file of ignore rules, if they chose one."""
    key = "core.excludesFile"
    chosen = await git("config", "--type=path", "-z", "--get", key, repository=git_dir, accept=(0, 1), personal=True)
    path = os.fsdecode(chosen).partition("\0")[0]
    return {"GIT_CONFIG_COUNT": "1", "GIT_CONFIG_KEY_0": key, "GIT_CONFIG_VALUE_0": path} if path else {}
