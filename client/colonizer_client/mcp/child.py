"""An MCP server as a child process: JSON lines on its stdin and stdout, the end of its whole process group.

The SDK's own stdio transport reads no line leniently, writes a traceback for each line of noise, gives the child our
terminal as its stderr, and leaves behind what a politely ended child had started.
"""

import asyncio
import json
import os
import signal
from collections import deque
from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import TypeAlias, cast

import anyio
from anyio.streams.memory import MemoryObjectReceiveStream, MemoryObjectSendStream
from mcp.client.stdio import get_default_environment
from mcp.shared.message import SessionMessage
from mcp_types import jsonrpc_message_adapter
from pydantic import ValidationError

from colonizer_client.errors import Unreachable, Unreadable
from colonizer_client.mcp.mending import Mending, without_halves
from colonizer_client.mothership import wire
from colonizer_client.mothership.transport import words_of
from colonizer_client.text import safe_line
from colonizer_config.address import StdioAddress

Received: TypeAlias = SessionMessage | Exception
Streams: TypeAlias = tuple[MemoryObjectReceiveStream[Received], MemoryObjectSendStream[SessionMessage]]

LINE_LIMIT_BYTES = 32 * 1024 * 1024
"""The list of a stock server's tools is one line of 300 KB."""

ENDS_BY_ITSELF_S = 0.15
ENDS_ON_SIGTERM_S = 0.1
"""A child that wants more time must not hold up the end of the program."""

LOOK_S = 0.005
LAST_WORDS = 5


class Child:
    """One running server; `last_words` are the last lines of its stderr, safe to show."""

    def __init__(self, process: asyncio.subprocess.Process, mending: Mending) -> None:
        self._process = process
        self._mending = mending
        self._stderr = deque[str](maxlen=LAST_WORDS)
        self.over = asyncio.Event()
        """It says nothing more."""

    @property
    def is_over(self) -> bool:
        """Whether it says nothing more; known a little before `over` is set."""
        assert self._process.stdout is not None, "opened with a pipe"
        return self.over.is_set() or self._process.stdout.at_eof()

    @property
    def last_words(self) -> str:
        """How it ended, and what it said on its stderr."""
        code = self._process.returncode
        ended = "" if code is None else f"its process ended with code {code}"
        return ": ".join(filter(None, (ended, " / ".join(self._stderr))))

    async def read(self, into: MemoryObjectSendStream[Received]) -> None:
        """Hands on each message that the child writes, until it ends."""
        assert self._process.stdout is not None, "opened with a pipe"
        async with into:
            while True:
                try:
                    line = await self._process.stdout.readline()
                except ValueError:  # longer than the limit; what was read of it is gone
                    self._mending.noise += 1
                    continue
                if not line:
                    await self._ends_within(ENDS_BY_ITSELF_S)  # so that what waits is told how it ended
                    self.over.set()
                    return
                message = self._message(line)
                if message is None:
                    self._mending.noise += 1
                    continue
                with suppress(anyio.BrokenResourceError, anyio.ClosedResourceError):
                    await into.send(message)

    async def write(self, outgoing: MemoryObjectReceiveStream[SessionMessage]) -> None:
        """Writes each message to the child."""
        assert self._process.stdin is not None, "opened with a pipe"
        async with outgoing:
            async for item in outgoing:
                fields = item.message.model_dump(by_alias=True, mode="json", exclude_unset=True)
                with suppress(ConnectionError):  # it is gone; the end of its stdout says so
                    self._process.stdin.write(json.dumps(fields).encode() + b"\n")
                    await self._process.stdin.drain()

    async def hear(self) -> None:
        """Keeps the last lines of the child's stderr."""
        assert self._process.stderr is not None, "opened with a pipe"
        while True:
            try:
                line = await self._process.stderr.readline()
            except ValueError:
                continue
            if not line:
                return
            if said := safe_line(line[:1000].decode("utf-8", "replace"), limit=200):
                self._stderr.append(said)

    async def end(self) -> None:
        """Ends the child and all that it started and left in its group."""
        assert self._process.stdin is not None, "opened with a pipe"
        self._process.stdin.close()
        for patience_s, then in ((ENDS_BY_ITSELF_S, signal.SIGTERM), (ENDS_ON_SIGTERM_S, signal.SIGKILL)):
            if await self._ends_within(patience_s):
                break
            self._send(then)
        self._send(signal.SIGKILL)  # to what it left behind
        await self._ends_within(ENDS_ON_SIGTERM_S)
        # What left the group may still hold the pipes; asyncio would keep them open, and has no public way to say so.
        self._process._transport.close()  # type: ignore[attr-defined]  # pyright: ignore

    def _send(self, number: signal.Signals) -> None:
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(self._process.pid, number)

    async def _ends_within(self, seconds: float) -> bool:
        """Whether the process ended; `wait` would also wait for whoever else holds its pipes."""
        with anyio.move_on_after(seconds):
            while self._process.returncode is None:  # noqa: ASYNC110  # nothing else tells of the process alone
                await anyio.sleep(LOOK_S)
        return self._process.returncode is not None

    def _message(self, line: bytes) -> SessionMessage | None:
        try:
            value = wire.parse(line)
        except Unreadable:
            return None
        if not isinstance(value, dict):
            return None
        fields = cast("dict[str, object]", value)
        if not line.isascii() or b"\\u" in line:
            fields = cast("dict[str, object]", without_halves(fields))
        result = fields.get("result")
        if isinstance(result, dict):
            self._mending.mend(cast("dict[str, object]", result))
        try:
            return SessionMessage(jsonrpc_message_adapter.validate_python(fields, by_name=False))
        except ValidationError:
            return None


@asynccontextmanager
async def started(
    address: StdioAddress, environment: Mapping[str, str], mending: Mending
) -> AsyncGenerator[tuple[Child, Streams]]:
    """A child that runs the command, and the streams of its messages; it ends with this context.

    Raises:
        Unreachable: The command cannot be run.
    """
    try:
        process = await asyncio.create_subprocess_exec(
            *address.command,
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
            # A folder in which the face happens to stand must not decide what the agreed words run.
            cwd=Path(environment.get("HOME") or "/"),
            env=get_default_environment() | {name: environment[name] for name in address.env if name in environment},
            limit=LINE_LIMIT_BYTES,
            start_new_session=True,
        )
    except (OSError, ValueError) as problem:
        raise Unreachable(f"the command cannot be run: {words_of(problem)}") from problem
    child = Child(process, mending)
    incoming, received = anyio.create_memory_object_stream[Received](0)
    to_send, outgoing = anyio.create_memory_object_stream[SessionMessage](0)
    async with anyio.create_task_group() as tasks, received, to_send:
        tasks.start_soon(child.hear)
        tasks.start_soon(child.read, incoming)
        tasks.start_soon(child.write, outgoing)
        try:
            yield child, (received, to_send)
        finally:
            with anyio.CancelScope(shield=True):
                await child.end()
            tasks.cancel_scope.cancel()
