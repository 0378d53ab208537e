"""Runs git for the engine, so that it does what it is asked and nothing that a repository asks of it."""

import asyncio
import os
import re
import shutil
import signal
from collections.abc import Collection, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Final

WORDS_LIMIT: Final = 300
"""How many characters of git's own words an error carries."""

_ANSWER_LIMIT_BYTES: Final = 1 << 20
_CHUNK_BYTES: Final = 1 << 16
_END_LIMIT_S: Final = 5

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
    process = await _start((*_GUARDS, *places, *arguments), cwd or Path("/"), _environment(personal, variables or {}))
    try:
        async with asyncio.timeout(timeout_s):
            output, words = await asyncio.gather(_read_output(process, limit_bytes), _read_words(process))
            code = await process.wait()
    except TimeoutError:
        raise GitError(f"git {name} took longer than {timeout_s:g} s") from None
    finally:
        await _end(process)
    if len(output) >= limit_bytes or code in accept:
        return output
    raise GitError(_complaint(words) or f"git {name} ended with code {code}")


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


async def _start(arguments: tuple[str, ...], cwd: Path, environment: Mapping[str, str]) -> asyncio.subprocess.Process:
    program = shutil.which("git", path=environment["PATH"])
    if program is None:
        raise GitError("git is not installed, or not on PATH")
    starting = asyncio.create_task(
        asyncio.create_subprocess_exec(
            program,
            *arguments,
            stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
            cwd=cwd,
            env=environment,
            start_new_session=True,
        )
    )
    try:
        return await asyncio.shield(starting)
    except (OSError, ValueError) as error:
        raise GitError(plain(f"git cannot be started in {cwd}: {error}")) from error
    except asyncio.CancelledError:
        # A cancelled start would end git, and leave the children that it may have by now.
        with suppress(OSError, ValueError):
            await _end(await starting)
        raise


async def _read_output(process: asyncio.subprocess.Process, limit_bytes: int) -> bytes:
    stdout, _ = _streams(process)
    output = bytearray()
    while len(output) < limit_bytes:
        chunk = await stdout.read(min(_CHUNK_BYTES, limit_bytes - len(output)))
        if not chunk:
            return bytes(output)
        output += chunk
    _kill(process)
    await _drain(stdout)
    return bytes(output)


async def _read_words(process: asyncio.subprocess.Process) -> str:
    _, stderr = _streams(process)
    words = bytearray()
    while chunk := await stderr.read(_CHUNK_BYTES):
        words += chunk[: 4 * WORDS_LIMIT - len(words)]
    return words.decode(errors="replace")


async def _end(process: asyncio.subprocess.Process) -> None:
    """Leaves no process and no pipe behind, however the reading ended."""
    if process.returncode is not None and all(stream.at_eof() for stream in _streams(process)):
        return
    _kill(process)
    with suppress(TimeoutError):
        async with asyncio.timeout(_END_LIMIT_S):
            # A process is only waited for when its pipes are read to their end.
            await asyncio.gather(*map(_drain, _streams(process)))
            await process.wait()


def _kill(process: asyncio.subprocess.Process) -> None:
    with suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)


async def _drain(stream: asyncio.StreamReader) -> None:
    while await stream.read(_CHUNK_BYTES):
        pass


def _streams(process: asyncio.subprocess.Process) -> tuple[asyncio.StreamReader, asyncio.StreamReader]:
    assert process.stdout is not None
    assert process.stderr is not None
    return process.stdout, process.stderr
