"""An agent's process: the runner contract on stdio, seen from the mothership (spec 8)."""

import asyncio
import json
import os
import signal
import sys
import time
from collections import deque
from collections.abc import AsyncIterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import cast

import psutil

from colonizer_engines.mothership.errors import MothershipError
from colonizer_engines.mothership.process_family import COLONY_VARIABLE, end_family, signal_family
from colonizer_engines.mothership.process_family import end_leftover as end_leftover
from colonizer_engines.mothership.runner_output import Event as Event
from colonizer_engines.mothership.runner_output import LastWords, Line, LineSplitter, Stream, event_of

_TETHER = str(Path(__file__).with_name("tether.py"))

_BATCH_LINES = 256
_BATCH_BYTES = 256 * 1024
_HELD_BYTES = 1024 * 1024
"""Read but not taken yet; when it is more, the runner has to wait."""
_HELD_AT_THE_END_BYTES = 8 * 1024 * 1024
"""A pipe's own content fits, so that nothing is lost when nobody takes batches any more."""
_UNREAD_COMMANDS_BYTES = 1024 * 1024

_STREAMS: Mapping[int, Stream] = {1: "stdout", 2: "stderr"}


class RunnerError(MothershipError):
    """The process could not be started, and why."""


@dataclass(frozen=True, slots=True)
class RunnerStart:
    """What to start."""

    argv: tuple[str, ...]
    cwd: Path
    environment: Mapping[str, str]
    """The whole of it. The `COLONIZER_SESSION_ID` in it is what every process of the agent is found by at the end."""


@dataclass(frozen=True, slots=True)
class RunnerExit:
    """How a runner ended; neither code nor signal when the kernel did not let go of it in time."""

    code: int | None
    signal: int | None
    last_words: str
    """The last lines that it said outside the contract, on one line: stderr's, else stdout's, else nothing."""

    @property
    def words(self) -> str:
        """The detail of `status exited` (spec 8.2)."""
        if self.signal is not None:
            return f"killed by signal {self.signal}"
        return "no exit code" if self.code is None else f"exit code {self.code}"


@dataclass(frozen=True, slots=True)
class Patience:
    """How long an ending may take, in seconds."""

    shutdown_s: float = 10
    """From the shutdown command to SIGTERM."""
    terminate_s: float = 2.5
    """From SIGTERM to SIGKILL."""
    kill_s: float = 2.5
    """From SIGKILL to giving up."""
    linger_s: float = 1
    """For pipes that somebody holds open after everything that we know of is gone."""


DEFAULT_PATIENCE = Patience()


class Runner:
    """A running agent, the leader of its own session and process group."""

    def __init__(
        self,
        transport: asyncio.SubprocessTransport,
        pipes: "_Pipes",
        colony: str,
        patience: Patience,
    ) -> None:
        self.pid = transport.get_pid()
        self.started_at = _start_time(self.pid)
        """Seconds since the epoch as psutil counts them; with the id it names this very process for `end_leftover`."""
        self._transport = transport
        self._pipes = pipes
        self._colony = colony
        self._patience = patience
        self._settling = asyncio.create_task(self._settle())
        self._ending: asyncio.Task[RunnerExit] | None = None

    @classmethod
    async def start(cls, start: RunnerStart, patience: Patience = DEFAULT_PATIENCE) -> "Runner":
        """A runner whose command really runs.

        Raises:
            RunnerError: it cannot be run, as `cannot start agent runner: …`.
        """
        report, report_end = os.pipe()
        try:
            try:
                transport, pipes = await _spawn(start, report_end)
            finally:
                os.close(report_end)
            runner = cls(transport, pipes, start.environment.get(COLONY_VARIABLE, ""), patience)
            try:
                problem = await _first_words(report)
            except asyncio.CancelledError:
                transport.close()  # kills it; the task that watches the exit settles the rest
                raise
        finally:
            os.close(report)
        if problem:
            await runner.wait()
            raise RunnerError(f"cannot start agent runner: {problem}")
        return runner

    async def batches(self) -> AsyncIterator[tuple[Event, ...]]:
        """What came together, in the order of each stream, until the output has ended and everything was taken.

        For one taker. 256 lines or about 256 KiB at most; while nobody takes, the runner blocks on its pipes.
        """
        while batch := await self._pipes.next_batch():
            yield batch

    async def send(self, command: Mapping[str, object]) -> bool:
        """Whether the command is on its way; not when the runner is gone, or has left a megabyte of commands unread."""
        stdin = self._stdin()
        if self._pipes.gone.is_set() or stdin.is_closing() or stdin.get_write_buffer_size() > _UNREAD_COMMANDS_BYTES:
            return False
        stdin.write(json.dumps(dict(command)).encode() + b"\n")
        return True

    async def wait(self) -> RunnerExit:
        """How it ended, once it has and nothing of it is left."""
        return await asyncio.shield(self._settling)

    async def shut_down(self) -> RunnerExit:
        """How it ended: asked first, then made to. Once begun it goes on even when the caller is cancelled."""
        if self._ending is None:
            self._ending = asyncio.create_task(self._end())
        return await asyncio.shield(self._ending)

    async def _end(self) -> RunnerExit:
        patience = self._patience
        self._pipes.hold_more()  # a runner that is blocked on its output cannot hear
        await self.send({"type": "shutdown"})
        if not self._stdin().is_closing():
            self._stdin().write_eof()
        if not await self._exits_within(patience.shutdown_s):
            await self._signal(signal.SIGTERM)
        if not await self._exits_within(patience.terminate_s):
            await self._signal(signal.SIGKILL)
        if not await self._exits_within(patience.kill_s):
            self._colony = ""  # the colony's next run has the same id, and must not be taken for this one's rest
            self._pipes.gone.set()
        return await self.wait()

    async def _exits_within(self, seconds: float) -> bool:
        try:
            async with asyncio.timeout(seconds):
                await self._pipes.gone.wait()
        except TimeoutError:
            return False
        return True

    async def _signal(self, number: signal.Signals) -> None:
        await asyncio.to_thread(signal_family, self.pid, self._colony, number)

    async def _settle(self) -> RunnerExit:
        """The exit, after the whole family has ended and the pipes are closed."""
        await self._pipes.gone.wait()
        self._pipes.hold_more()
        await asyncio.to_thread(end_family, self.pid, self._colony)
        with suppress(TimeoutError):  # somebody who escaped the family may hold the pipes: the exit is the runner's
            async with asyncio.timeout(self._patience.linger_s):
                await self._pipes.closed.wait()
        if self._stdin().get_write_buffer_size() > 0:  # closing alone would wait for a reader
            self._stdin().abort()
        self._transport.close()
        await self._pipes.closed.wait()
        status = self._transport.get_returncode()
        if status is not None and status < 0:
            return RunnerExit(None, -status, self._pipes.last_words())
        return RunnerExit(status, None, self._pipes.last_words())

    def _stdin(self) -> asyncio.WriteTransport:
        return cast(asyncio.WriteTransport, self._transport.get_pipe_transport(0))


class _Pipes(asyncio.SubprocessProtocol):
    """The output of one process: what was read and not taken yet, bounded by making the process wait."""

    def __init__(self) -> None:
        self.gone = asyncio.Event()
        """The process has ended, or is given up."""
        self.closed = asyncio.Event()
        """Both output pipes are at their end."""
        self._readable: dict[int, asyncio.ReadTransport] = {}
        self._splitters = {descriptor: LineSplitter(stream) for descriptor, stream in _STREAMS.items()}
        self._last_words = {descriptor: LastWords(stream) for descriptor, stream in _STREAMS.items()}
        self._chunks: deque[tuple[int, bytes]] = deque()
        self._held_bytes = 0
        self._limit_bytes = _HELD_BYTES
        self._news = asyncio.Event()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        process = cast(asyncio.SubprocessTransport, transport)
        for descriptor in _STREAMS:
            self._readable[descriptor] = cast(asyncio.ReadTransport, process.get_pipe_transport(descriptor))

    def pipe_data_received(self, fd: int, data: bytes) -> None:
        self._last_words[fd].hear(data)
        self._hold(fd, data)

    def pipe_connection_lost(self, fd: int, exc: Exception | None) -> None:
        if self._readable.pop(fd, None) is None:  # stdin
            return
        self._hold(fd, b"\n")  # the end of a stream is the end of its last line
        if not self._readable:
            self.closed.set()

    def process_exited(self) -> None:
        self.gone.set()

    def hold_more(self) -> None:
        """Lets the process write on, up to what a pipe can hold at the end."""
        self._limit_bytes = _HELD_AT_THE_END_BYTES
        self._balance()

    async def next_batch(self) -> tuple[Event, ...]:
        """What is there, once there is something; nothing when nothing will come any more."""
        while True:
            lines = self._take_lines()
            if lines or self._chunks:
                await asyncio.sleep(0)  # a flood must not keep the loop from everything else
            if lines:
                return tuple(event_of(line) for line in lines)
            if not self._chunks:
                if self.closed.is_set():
                    return ()
                self._news.clear()
                await self._news.wait()

    def last_words(self) -> str:
        """The last plain lines on one line, stderr's before stdout's."""
        return str(self._last_words[2]) or str(self._last_words[1])

    def _take_lines(self) -> list[Line]:
        taken: list[Line] = []
        size = 0
        while self._chunks and len(taken) < _BATCH_LINES and size < _BATCH_BYTES:
            descriptor, chunk = self._chunks.popleft()
            lines, left = self._splitters[descriptor].feed(chunk, _BATCH_LINES - len(taken))
            if left:
                self._chunks.appendleft((descriptor, left))
            taken += lines
            size += len(chunk) - len(left)
        self._held_bytes -= size
        self._balance()
        return taken

    def _hold(self, descriptor: int, chunk: bytes) -> None:
        self._chunks.append((descriptor, chunk))
        self._held_bytes += len(chunk)
        self._news.set()
        self._balance()

    def _balance(self) -> None:
        for pipe in self._readable.values():
            if self._held_bytes > self._limit_bytes:
                pipe.pause_reading()
            else:
                pipe.resume_reading()


async def _spawn(start: RunnerStart, report: int) -> "tuple[asyncio.SubprocessTransport, _Pipes]":
    if not start.argv:
        raise RunnerError("cannot start agent runner: its command is empty")
    tethered = sys.platform == "linux"
    tie = (sys.executable, "-I", "-S", _TETHER, str(os.getpid()), str(report)) if tethered else ()
    try:
        return await asyncio.get_running_loop().subprocess_exec(
            _Pipes,
            *tie,
            *start.argv,
            cwd=start.cwd,
            env=dict(start.environment),
            start_new_session=True,
            pass_fds=(report,) if tethered else (),
        )
    except OSError as problem:
        raise RunnerError(f"cannot start agent runner: {problem.strerror}: {problem.filename}") from None
    except ValueError as problem:  # a NUL in an argument or in the environment
        raise RunnerError(f"cannot start agent runner: {problem}") from None


async def _first_words(descriptor: int) -> str:
    """What the other end writes first; empty when it closes without a word."""
    readable = asyncio.Event()
    asyncio.get_running_loop().add_reader(descriptor, readable.set)
    try:
        await readable.wait()
    finally:
        asyncio.get_running_loop().remove_reader(descriptor)
    return os.read(descriptor, 4096).decode(errors="replace")


def _start_time(pid: int) -> float:
    try:
        return psutil.Process(pid).create_time()
    except psutil.Error:  # it is gone already
        return time.time()
