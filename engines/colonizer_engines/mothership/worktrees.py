"""The worktree of a colony: made, read and removed without running anything that an agent may have left in it."""

import asyncio
import os
import re
import shutil
import stat
from collections.abc import Iterator
from contextlib import AbstractAsyncContextManager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Final
from weakref import WeakValueDictionary

from colonizer_engines.mothership.git import GitError, git, plain
from colonizer_engines.mothership.hostile_files import open_regular
from colonizer_engines.mothership.repositories import Base, Repository, RepositoryError
from colonizer_engines.mothership.view import View, view

COMMITS_LIMIT: Final = 10_000
"""How many commits of a colony are listed; the newest ones."""

_CHECKOUT_LIMIT_S: Final = 600
_NAMES_LIMIT_BYTES: Final = 1 << 20
_RECORD_LIMIT_BYTES: Final = 1 << 16
_HEAD: Final = re.compile(rb"(?:ref: )?(refs/heads/[^\s^~:?*\[\\]+|[0-9a-f]{40}|[0-9a-f]{64})\s*")

_TURNS: Final[WeakValueDictionary[Path, asyncio.Lock]] = WeakValueDictionary()


@dataclass(frozen=True, slots=True)
class Worktree:
    """The files of one colony, and what git keeps of them."""

    path: Path
    git_dir: Path
    """The git directory of the clone, shared by all its worktrees."""
    admin_dir: Path
    """What git keeps of this worktree alone: HEAD, index; in `git_dir`/worktrees."""
    branch: str
    base: str
    """The branch of the clone that the colony started from."""
    start_commit: str


@dataclass(frozen=True, slots=True)
class Leftovers:
    """What a person loses sight of when the worktree goes."""

    uncommitted: tuple[str, ...]
    """Changed and new paths; a new folder ends in `/`."""
    unmerged_commits: int
    """How many commits of the colony the base branch does not have."""


async def create(repository: Repository, folder: Path, branch: str, base: Base) -> Worktree:
    """A new worktree in `folder` on the new branch `branch`, with the files of the base's commit as they are stored.

    Filters that a configuration names are not run: what git-lfs keeps elsewhere is there as its pointer, which an agent
    can exchange for the content with `git lfs pull`.

    Raises:
        RepositoryError: The branch or folder is taken, the disk is full or read-only, …; nothing is left then.
    """
    folder = _free(folder)
    _require_writable(repository)
    await _refuse_taken(repository, branch)
    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
        arguments = ("worktree", "add", "--no-checkout", "-b", branch, "--", str(folder), base.commit)
        async with _turn(repository.git_dir):
            await git(*arguments, repository=repository.git_dir)
        admin_dir = next(_admin_dirs(repository.git_dir, folder), None)
        if admin_dir is None:
            raise GitError(f"git made a worktree, but no record of {folder}")
        worktree = Worktree(folder, repository.git_dir, admin_dir, branch, base.branch, base.commit)
        restore_links(worktree)
        await _check_out(worktree)
    except BaseException as error:
        await _undo(repository, folder, branch, base)
        if isinstance(error, (GitError, OSError)):
            raise RepositoryError(f"cannot make a worktree of {repository.name}: {plain(str(error))}") from error
        raise
    return worktree


async def remove(worktree: Worktree) -> None:
    """Removes the files and what git keeps of them; the branch stays, and what is already gone is no error.

    Raises:
        RepositoryError: Something cannot be removed.
    """
    try:
        await asyncio.to_thread(remove_tree, worktree.path)
        # Git hands a freed name to the next worktree, which may be the person's.
        if worktree.admin_dir.parent == worktree.git_dir / "worktrees" and _is_of(worktree.admin_dir, worktree.path):
            async with _turn(worktree.git_dir):
                await asyncio.to_thread(remove_tree, worktree.admin_dir)
    except OSError as error:
        raise RepositoryError(f"cannot remove {plain(str(worktree.path))}: {error.strerror}") from error


async def leftovers(worktree: Worktree) -> Leftovers:
    """What would be lost, or lost sight of, with the worktree; nothing uncommitted when it is gone.

    Raises:
        RepositoryError: Git cannot read the worktree or the clone.
    """
    try:
        tip = await head(worktree)
        uncommitted = await _uncommitted(worktree, tip) if worktree.path.is_dir() else ()
        base = await _commit(worktree, f"refs/heads/{worktree.base}") or worktree.start_commit
        tips = [tip, *filter(None, [await _commit(worktree, f"refs/heads/{worktree.branch}")])]
        count = await git("rev-list", "--count", *tips, "--not", base, "--", repository=worktree.git_dir)
    except (GitError, OSError) as error:
        raise RepositoryError(f"cannot read {plain(str(worktree.path))}: {plain(str(error))}") from error
    return Leftovers(uncommitted, int(count))


async def commits(worktree: Worktree) -> tuple[str, ...]:
    """The shas of the colony's commits since it left its base, oldest first; the newest 10,000 of them.

    Raises:
        RepositoryError: Git cannot read the clone.
    """
    try:
        tip = await head(worktree)
        since = await fork_point(worktree, tip)
        arguments = ("rev-list", "--reverse", "--topo-order", f"--max-count={COMMITS_LIMIT}", tip, "--not", since, "--")
        listed = await git(*arguments, repository=worktree.git_dir)
    except GitError as error:
        raise RepositoryError(f"cannot read the commits of {plain(worktree.branch)}: {error}") from error
    return tuple(listed.decode().split())


async def head(worktree: Worktree) -> str:
    """The commit that the worktree's files belong to.

    It is HEAD, whatever branch the agent switched to; else the newest commit of the colony's branch; else the first.
    """
    # Read here, since git would first obey other files beside it, which an agent can write.
    found = _HEAD.fullmatch(_record(worktree.admin_dir / "HEAD") or b"")
    named = await _commit(worktree, os.fsdecode(found[1])) if found else None
    return named or await _commit(worktree, f"refs/heads/{worktree.branch}") or worktree.start_commit


async def fork_point(worktree: Worktree, tip: str) -> str:
    """The commit where `tip` left the clone's base branch; where the colony began when that branch tells nothing.

    Raises:
        GitError: The clone has neither.
    """
    try:
        common = await git("merge-base", tip, f"refs/heads/{worktree.base}", repository=worktree.git_dir, accept=(0, 1))
    except GitError:  # the base branch was deleted or renamed
        common = b""
    if common:
        return common.decode().split()[0]
    if await _commit(worktree, worktree.start_commit):
        return worktree.start_commit
    raise GitError(f"neither a merge base with {plain(worktree.base)} nor {worktree.start_commit} is there")


async def _commit(worktree: Worktree, name: str) -> str | None:
    """The commit that a name means in the clone, or None."""
    with suppress(GitError):
        found = await git("rev-parse", "--verify", "--quiet", f"{name}^{{commit}}", repository=worktree.git_dir)
        return found.decode().strip()
    return None


def restore_links(worktree: Worktree) -> None:
    """Makes the files that tie a worktree to its clone what git made them, and its own configuration empty.

    An agent without a sandbox can change them, so that git in the worktree obeys another configuration.

    Raises:
        OSError: A folder stands where such a file belongs, or nothing can be written there.
    """
    if worktree.admin_dir.is_symlink():
        raise NotADirectoryError(f"{worktree.admin_dir} is no folder")
    for folder in (worktree.admin_dir, *branch_places(worktree)):
        _drop_traps(folder)
    for path, content in (
        (worktree.path / ".git", f"gitdir: {worktree.admin_dir}\n"),
        (worktree.admin_dir / "gitdir", f"{worktree.path}/.git\n"),
        (worktree.admin_dir / "commondir", "../..\n"),
        (worktree.admin_dir / "config.worktree", ""),
    ):
        wanted = os.fsencode(content)
        if _record(path) != wanted:
            path.unlink(missing_ok=True)
            with path.open("xb") as file:
                file.write(wanted)


def branch_places(worktree: Worktree) -> tuple[Path, ...]:
    """Where the clone keeps the branches of colonies, and their logs; none where they lie among the person's own."""
    namespace, slash, _ = worktree.branch.partition("/")
    if not slash:
        return ()
    return worktree.git_dir / "refs/heads" / namespace, worktree.git_dir / "logs/refs/heads" / namespace


def _drop_traps(folder: Path) -> None:
    """Removes what git puts nowhere: links, through which git would write elsewhere, and pipes, on which it would hang.

    Raises:
        OSError: One cannot be removed.
    """
    for parent, folders, files in os.walk(folder):
        for name in (*folders, *files):
            path = Path(parent) / name
            mode = path.lstat().st_mode
            if not (stat.S_ISREG(mode) or stat.S_ISDIR(mode)):
                path.unlink()


def look(worktree: Worktree, tip: str) -> AbstractAsyncContextManager[View]:
    """A view of the worktree's files, which belong to the commit `tip`."""
    return view(worktree.path, worktree.git_dir, worktree.admin_dir / "index", tip)


def _free(folder: Path) -> Path:
    """The folder without links in its path, as git will write it down."""
    if os.path.lexists(folder):
        raise RepositoryError(f"{plain(str(folder))} is already there: a worktree needs a folder of its own")
    return folder.parent.resolve() / folder.name


def _require_writable(repository: Repository) -> None:
    # Git would say that it cannot lock a branch.
    if not os.access(repository.git_dir, os.W_OK):
        place = plain(str(repository.git_dir))
        raise RepositoryError(f"{place} cannot be written: a colony needs a branch of its own in {repository.name}")


async def _refuse_taken(repository: Repository, branch: str) -> None:
    parts = branch.split("/")
    for count in range(1, len(parts) + 1):
        name = "/".join(parts[:count])
        arguments = ("show-ref", "--verify", "--quiet", f"refs/heads/{name}")
        try:
            await git(*arguments, repository=repository.git_dir)
        except GitError:
            continue
        if count == len(parts):
            raise RepositoryError(f"the branch {name} of {repository.name} is taken: delete it, or choose another name")
        raise RepositoryError(
            f"the branch {name} of {repository.name} stands in the way of {branch}: run `git branch -m {name} NEW`"
        )


def _turn(git_dir: Path) -> asyncio.Lock:
    """Taken by who adds or removes a worktree's record: git reads them all, and fails on one that is half made."""
    return _TURNS.setdefault(git_dir, asyncio.Lock())


async def _check_out(worktree: Worktree) -> None:
    async with look(worktree, worktree.start_commit) as files:
        arguments = ("read-tree", "--reset", "-u", "--no-sparse-checkout", worktree.start_commit)
        await files.git(*arguments, timeout_s=_CHECKOUT_LIMIT_S, index=worktree.admin_dir / "index")


async def _undo(repository: Repository, folder: Path, branch: str, base: Base) -> None:
    async with _turn(repository.git_dir):
        for admin_dir in _admin_dirs(repository.git_dir, folder):
            shutil.rmtree(admin_dir, ignore_errors=True)
    shutil.rmtree(folder, ignore_errors=True)
    with suppress(GitError):
        await git("update-ref", "-d", f"refs/heads/{branch}", base.commit, repository=repository.git_dir)


async def _uncommitted(worktree: Worktree, tip: str) -> tuple[str, ...]:
    arguments = (
        "status",
        "--porcelain=v1",
        "-z",
        "--no-renames",
        "--untracked-files=normal",
        "--ignore-submodules=dirty",
    )
    async with look(worktree, tip) as files:
        listed = await files.git(*arguments, limit_bytes=_NAMES_LIMIT_BYTES)
    return tuple(entry[3:].decode(errors="replace") for entry in listed.split(b"\0")[:-1])


def _admin_dirs(git_dir: Path, folder: Path) -> Iterator[Path]:
    """What git keeps of the worktree in `folder`: one folder, but for what a killed git left."""
    for record in git_dir.glob("worktrees/*/gitdir"):
        if _is_of(record.parent, folder):
            yield record.parent


def _is_of(admin_dir: Path, folder: Path) -> bool:
    record = _record(admin_dir / "gitdir")
    return record is not None and os.fsdecode(record).removesuffix("\n") == f"{folder}/.git"


def _record(path: Path) -> bytes | None:
    """The content of one of git's small files, or None where there is no regular file to read."""
    try:
        with open_regular(path) as file:
            return file.read(_RECORD_LIMIT_BYTES)
    except OSError:
        return None


def remove_tree(folder: Path) -> None:
    """Removes a folder, those in it included that their owner may not write, as package caches leave them."""
    try:
        shutil.rmtree(folder)
    except FileNotFoundError:
        return
    except PermissionError:
        os.chmod(folder, 0o700)
        for parent, folders, _ in os.walk(folder):  # a folder is listed after its parent was handed out
            for name in folders:
                if not os.path.islink(inner := os.path.join(parent, name)):
                    os.chmod(inner, 0o700)
        shutil.rmtree(folder)
