"""A real clone in a temporary folder, and colonies of it."""

import os
import subprocess
from dataclasses import dataclass
from pathlib import Path

from colonizer_engines.mothership.repositories import identify, launch_base
from colonizer_engines.mothership.worktrees import Worktree, create


@dataclass(frozen=True)
class Clone:
    path: Path

    @property
    def git_dir(self) -> Path:
        return self.path / ".git"

    def git(self, *arguments: str, cwd: Path | None = None) -> str:
        """What the person's own git says, with the configuration and the hooks of the place."""
        command = ("git", "-c", "user.name=Ada", "-c", "user.email=ada@example.org", *arguments)
        done = subprocess.run(command, cwd=cwd or self.path, capture_output=True, check=False)
        assert done.returncode == 0, (arguments, done.stderr)
        return done.stdout.decode(errors="surrogateescape").removesuffix("\n")

    def commit(self, files: dict[str, str | bytes], cwd: Path | None = None) -> str:
        """Commits the files, and says the new commit."""
        for name, content in files.items():
            path = (cwd or self.path) / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content.encode() if isinstance(content, str) else content)
        self.git("add", "--all", cwd=cwd)
        self.git("commit", "--quiet", "--allow-empty", "--message", "a step", cwd=cwd)
        return self.git("rev-parse", "HEAD", cwd=cwd)

    def has_branch(self, name: str) -> bool:
        return name in self.git("for-each-ref", "--format=%(refname:short)", "refs/heads").split("\n")


def new_clone(path: Path, files: dict[str, str | bytes] | None = None) -> Clone:
    """A clone with one commit on main."""
    path.mkdir(parents=True)
    clone = Clone(path)
    clone.git("init", "--quiet", "--initial-branch=main")
    clone.commit({"README.md": "# Widgets\n"} if files is None else files)
    return clone


def worktree_of(clone: Clone, branch: str) -> Path:
    """The folder in which git has the branch checked out."""
    listed = clone.git("worktree", "list", "--porcelain").split("\n\n")
    (found,) = (entry for entry in listed if f"branch refs/heads/{branch}" in entry)
    return Path(found.splitlines()[0].removeprefix("worktree "))


async def new_colony(clone: Clone, folder: Path, name: str = "a1b2c3d4") -> Worktree:
    """A colony with its worktree in `folder`/`name`."""
    repository = await identify(clone.path)
    branch = f"colonizer/session-{name if name.isalnum() else 'odd'}"
    return await create(repository, folder / name, branch, await launch_base(repository))


def executable(path: Path, script: str) -> Path:
    """A shell script at `path`."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"#!/bin/sh\n{script}\n", encoding="utf-8")
    os.chmod(path, 0o755)
    return path
