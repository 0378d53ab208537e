"""Runs a program to its end within limits of time and output, and leaves nothing of it behind."""

import asyncio
import os
import signal
import subprocess
from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Final, TypeAlias

WORDS_LIMIT_BYTES: Final = 1 << 12
"""How much of what a program complains of is kept; the rest is read and dropped."""

_CHUNK_BYTES: Final = 1 << 16

_Process: TypeAlias = "subprocess.Popen[bytes]"


@dataclass(frozen=True, slots=True)
class Outcome:
    """How a program ended."""

    code: int
    """The exit code, or the negative number of the signal that killed it: SIGKILL when it said too much."""
    output: bytes
    words: str
    """The beginning of its standard error."""


async def run(
    argv: Sequence[str], *, cwd: Path, environment: Mapping[str, str], timeout_s: float, limit_bytes: int
) -> Outcome:
    """How the program ended, with at most `limit_bytes` of its output, after which it is killed.

    It reads nothing, and runs in a process group of its own, which is killed too when the time is over or when nobody
    waits for it any more.

    Raises:
        TimeoutError: The time is over.
        OSError: It cannot be started.
        ValueError: Its arguments or variables cannot be given to a program.
    """
    # Begun at once: when asyncio's own start of a process is cancelled, it waits for ever or leaves children.
    process = _start(argv, cwd, environment)
    try:
        async with asyncio.timeout(timeout_s):
            output, words = await asyncio.gather(_read_output(process, limit_bytes), _read_words(process))
            code = await asyncio.to_thread(process.wait)
    finally:
        await _end(process)
    return Outcome(code, output, words)


def _start(argv: Sequence[str], cwd: Path, environment: Mapping[str, str]) -> _Process:
    return subprocess.Popen(
        argv,
        bufsize=0,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        cwd=cwd,
        env=environment,
        start_new_session=True,
    )


async def _read_output(process: _Process, limit_bytes: int) -> bytes:
    output = bytearray()
    async with _reading(process.stdout) as stream:
        while len(output) < limit_bytes:
            chunk = await stream.read(min(_CHUNK_BYTES, limit_bytes - len(output)))
            if not chunk:
                return bytes(output)
            output += chunk
        _kill(process)
    return bytes(output)


async def _read_words(process: _Process) -> str:
    words = bytearray()
    async with _reading(process.stderr) as stream:
        while chunk := await stream.read(_CHUNK_BYTES):
            words += chunk[: WORDS_LIMIT_BYTES - len(words)]
    return words.decode(errors="replace")


@asynccontextmanager
async def _reading(pipe: IO[bytes] | None) -> AsyncGenerator[asyncio.StreamReader]:
    reader = asyncio.StreamReader()
    loop = asyncio.get_running_loop()
    transport, _ = await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(reader), pipe)
    try:
        yield reader
    finally:
        transport.close()


async def _end(process: _Process) -> None:
    """Leaves no process and no pipe behind, however the reading ended."""
    if process.returncode is None:
        _kill(process)
        await asyncio.to_thread(process.wait)
    for pipe in (process.stdout, process.stderr):
        if pipe is not None:
            pipe.close()


def _kill(process: _Process) -> None:
    with suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
