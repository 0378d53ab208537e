"""The repositories that colonies work on: how a folder becomes one, what it is called, and where a colony starts."""

import os
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Final

from colonizer_engines.mothership.git import GitError, git, plain

_NAME_PART: Final = re.compile(r"[A-Za-z0-9._-]{1,100}")
_PART_LIMIT: Final = 100
_ADDRESS_PATH: Final = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*://[^/]*/(?P<url>.*)|[^/:]+:(?P<scp>.*)", re.DOTALL)
_NOTHING_KNOWN: Final[Mapping[str, Path]] = MappingProxyType({})


class RepositoryError(Exception):
    """A folder, repository or worktree cannot be used; the text is one sentence, with the fix where there is one."""


@dataclass(frozen=True, slots=True)
class Repository:
    """A clone on this machine."""

    name: str
    """`owner/name`."""
    git_dir: Path
    """The git directory that all its worktrees share; absolute."""
    top: Path
    """The main worktree: the folder with the person's own files."""


@dataclass(frozen=True, slots=True)
class Base:
    """Where a colony starts."""

    branch: str
    commit: str


async def identify(path: Path, taken: Mapping[str, Path] = _NOTHING_KNOWN) -> Repository:
    """The repository that `path` lies in; a linked worktree means its main clone.

    Args:
        path: A folder anywhere in the repository.
        taken: The known names and their git directories. A known git directory keeps its name; the name of another one
            gets `-2`, `-3`, ….

    Raises:
        RepositoryError: `path` is no folder, in no repository, or in a bare one.
    """
    _require_folder(path)
    bare, git_dir, top = await _discover(path)
    if bare:
        raise RepositoryError(f"{plain(str(git_dir))} is a bare repository: clone it, and name the clone")
    for known, known_dir in taken.items():
        if known_dir == git_dir:
            return Repository(known, git_dir, top)
    folded = {name.casefold() for name in taken}
    return Repository(
        next(name for name in _names(await _name(git_dir, top)) if name.casefold() not in folded), git_dir, top
    )


async def launch_base(repository: Repository) -> Base:
    """The branch that is checked out in the main worktree, and its newest commit.

    Raises:
        RepositoryError: No branch is checked out, it has no commit, or the repository became bare.
    """
    name, top = repository.name, plain(str(repository.top))
    try:
        bare = await git("rev-parse", "--is-bare-repository", repository=repository.git_dir)
        if bare.strip() == b"true":
            raise RepositoryError(f"{name} is a bare repository: clone it, and add the clone")
        head = await git("symbolic-ref", "--quiet", "HEAD", repository=repository.git_dir, accept=(0, 1))
        branch = _text(head).removesuffix("\n").removeprefix("refs/heads/")
        if not branch:
            raise RepositoryError(f"{name} has no branch checked out: run `git switch BRANCH` in {top} first")
        commit = await git(
            "rev-parse", "--verify", "--quiet", f"refs/heads/{branch}", repository=repository.git_dir, accept=(0, 1)
        )
    except GitError as error:
        raise RepositoryError(f"{name} cannot be read: {error}") from error
    if not commit:
        raise RepositoryError(f"{name} has no commit on {branch} yet: make a first one in {top}")
    return Base(branch, commit.decode().strip())


async def _discover(path: Path) -> tuple[bool, Path, Path]:
    """Whether the repository around `path` is bare, its shared git directory, and its main worktree."""
    try:
        answer = await git(
            "rev-parse", "--path-format=absolute", "--is-inside-work-tree", "--git-common-dir", cwd=path, personal=True
        )
        inside, _, common = _text(answer).removesuffix("\n").partition("\n")
        git_dir = _real(common)
        # Asked here and not above: in a worktree of a bare repository git says that nothing is bare.
        bare = await git("rev-parse", "--is-bare-repository", repository=git_dir)
        return bare.strip() == b"true", git_dir, await _top(git_dir, path if inside == "true" else git_dir)
    except GitError as error:
        if "not a git repository" in str(error):
            raise RepositoryError(
                f"{plain(str(path))} is not in a git repository: run `git init` there, or name a folder that is in one"
            ) from error
        raise RepositoryError(f"{plain(str(path))} cannot be used: {error}") from error


async def _top(git_dir: Path, path: Path) -> Path:
    elsewhere = await _setting(git_dir, "core.worktree")
    if elsewhere:  # a submodule's git directory lies in its parent's
        return _real(os.path.join(git_dir, elsewhere))
    if git_dir.name == ".git" or path == git_dir:
        return git_dir.parent
    shown = await git("rev-parse", "--path-format=absolute", "--show-toplevel", cwd=path, personal=True)
    return Path(_text(shown).removesuffix("\n"))


async def _setting(git_dir: Path, key: str) -> str:
    """The first value of a setting of the repository's own; empty where it is not set."""
    values = await git("config", "--local", "-z", "--get-all", key, repository=git_dir, accept=(0, 1))
    return _text(values).partition("\0")[0]


async def _name(git_dir: Path, top: Path) -> str:
    address = _ADDRESS_PATH.fullmatch(await _setting(git_dir, "remote.origin.url"))
    parts = (address["url"] or address["scp"] or "").strip("/").removesuffix(".git").split("/")[-2:] if address else []
    if len(parts) == 2 and all(_fits(part) for part in parts):
        return "/".join(parts)
    folder = re.sub(r"[^A-Za-z0-9._-]+", "-", top.name).strip("-")[:_PART_LIMIT]
    return f"local/{folder if _fits(folder) else 'repository'}"


def _require_folder(path: Path) -> None:
    if not path.is_dir():
        raise RepositoryError(f"there is no folder {plain(str(path))}")


def _real(path: str) -> Path:
    return Path(path).resolve()


def _fits(part: str) -> bool:
    return part not in (".", "..") and _NAME_PART.fullmatch(part) is not None


def _names(wanted: str) -> Iterator[str]:
    owner, _, name = wanted.partition("/")
    yield wanted
    for number in range(2, 1 << 31):
        ending = f"-{number}"
        yield f"{owner}/{name[: _PART_LIMIT - len(ending)]}{ending}"


def _text(output: bytes) -> str:
    """Git's output as text.

    Raises:
        GitError: It is not UTF-8; such a name could be neither stored nor sent.
    """
    try:
        return output.decode()
    except UnicodeDecodeError:
        raise GitError(f"its path or branch is not UTF-8: {plain(os.fsdecode(output))}") from None
