"""Runs git for the engine, so that it does what it is asked and nothing that a repository asks of it."""

import os
import re
import shutil
from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Final

from colonizer_engines.mothership.bounded_process import run

WORDS_LIMIT: Final = 300
"""How many characters of git's own words an error carries."""

_ANSWER_LIMIT_BYTES: Final = 1 << 20

_GUARDS: Final = tuple(
    word
    for setting in (
        "core.fsmonitor=false",
        "core.hooksPath=/dev/null",
        "core.sshCommand=false",
        "core.quotePath=false",
        "log.showSignature=false",
        "submodule.recurse=false",
        "maintenance.auto=false",
        # The path of a worktree is read back as an absolute one.
        "worktree.useRelativePaths=false",
    )
    for word in ("-c", setting)
)

_ENVIRONMENT: Final[Mapping[str, str]] = {
    "LC_ALL": "C",
    # Reading must never write into a git directory whose files an agent can turn into links.
    "GIT_OPTIONAL_LOCKS": "0",
    "GIT_NO_REPLACE_OBJECTS": "1",
    # A partial clone fetches what it lacks, with the command and address that its configuration names.
    "GIT_ALLOW_PROTOCOL": "",
    "GIT_NO_LAZY_FETCH": "1",
    "GIT_TERMINAL_PROMPT": "0",
    "GIT_ADVICE": "0",
    "GIT_PAGER": "cat",
}

_NO_CONFIGURATION: Final[Mapping[str, str]] = {"GIT_CONFIG_NOSYSTEM": "1", "GIT_CONFIG_GLOBAL": os.devnull}


class GitError(Exception):
    """Git refused, was killed, or took too long; the text is git's own, printable and bounded."""


def plain(text: str, limit: int = WORDS_LIMIT) -> str:
    """The text as one printable line of at most `limit` characters, without what an address says of who signs in."""
    line = " ".join("".join(c if c.isprintable() else "�" if not c.isspace() else " " for c in text).split())
    line = re.sub(r"://[^/@\s]*@", "://", line)
    return line if len(line) <= limit else line[: limit - 1] + "…"


async def git(
    *arguments: str,
    repository: Path | None = None,
    work_tree: Path | None = None,
    cwd: Path | None = None,
    accept: Collection[int] = (0,),
    timeout_s: float = 60,
    limit_bytes: int = _ANSWER_LIMIT_BYTES,
    variables: Mapping[str, str] | None = None,
    personal: bool = False,
) -> bytes:
    """What `git <arguments>` writes to its standard output, at most `limit_bytes` of it.

    Git runs in a process group of its own, and is killed when it has said enough, takes too long, or nobody waits for
    it any more. Of the engine's environment it sees PATH, HOME and the like only.

    Args:
        arguments: The subcommand and its arguments.
        repository: The git directory; without it git looks for one from `cwd` upwards.
        work_tree: The folder of the files that belong to `repository`.
        cwd: Where git runs; the root folder, unless given, so that no relative path means a file of an agent's.
        accept: The exit codes that are an answer.
        timeout_s: Seconds after which git is killed.
        limit_bytes: Bytes after which git is stopped; what it would have said later is lost without an error.
        variables: More `GIT_…` variables.
        personal: Whether git reads the person's own and the system's configuration.

    Raises:
        GitError: The exit code is another one, git cannot be started, or the time is over.
    """
    name = next((word for word in arguments if not word.startswith("-")), "")
    places = [
        f"--{option}={place}"
        for option, place in (("git-dir", repository), ("work-tree", work_tree))
        if place is not None
    ]
    environment = _environment(personal, variables or {})
    program = shutil.which("git", path=environment["PATH"])
    if program is None:
        raise GitError("git is not installed, or not on PATH")
    argv = (program, *_GUARDS, *places, *arguments)
    where = cwd or Path("/")
    try:
        done = await run(argv, cwd=where, environment=environment, timeout_s=timeout_s, limit_bytes=limit_bytes)
    except TimeoutError:
        raise GitError(f"git {name} took longer than {timeout_s:g} s") from None
    except (OSError, ValueError) as error:
        raise GitError(plain(f"git cannot be started in {where}: {error}")) from error
    if len(done.output) >= limit_bytes or done.code in accept:
        return done.output
    raise GitError(_complaint(done.words) or f"git {name} ended with code {done.code}")


def _complaint(words: str) -> str:
    """What git complains of, without the progress that it writes to the same stream."""
    lines = [line for line in words.splitlines() if line.startswith(("fatal: ", "error: "))]
    return plain(" ".join(line.partition(": ")[2] for line in lines) or words)


def _environment(personal: bool, variables: Mapping[str, str]) -> dict[str, str]:
    kept = {name: os.environ[name] for name in ("HOME", "XDG_CONFIG_HOME", "TMPDIR") if name in os.environ}
    return {**kept, "PATH": _search_path(), **_ENVIRONMENT, **({} if personal else _NO_CONFIGURATION), **variables}


def _search_path() -> str:
    # A relative entry would be looked up in the folder where git runs, which can be an agent's.
    entries = os.environ.get("PATH", os.defpath).split(os.pathsep)
    return os.pathsep.join(entry for entry in entries if os.path.isabs(entry))
