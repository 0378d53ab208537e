"""A Unix socket that leads to another one, and whose WebSockets break where a test says, to the byte."""

import asyncio
from collections import defaultdict
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path

CHUNK = 1 << 16


@dataclass(eq=False)
class Line:
    """One WebSocket that passes through."""

    path: str
    ends: tuple[asyncio.StreamWriter, asyncio.StreamWriter]
    left: int | None = None
    """Bytes that reach the client until it breaks; None while it holds."""

    def cut(self, after: int = 0) -> None:
        """Breaks it when that many more bytes have reached the client."""
        self.left = after
        if not after:
            for end in self.ends:
                end.transport.abort()

    def passed(self, data: bytes) -> bytes:
        """What of the data still reaches the client."""
        if self.left is None:
            return data
        data = data[: self.left]
        self.left -= len(data)
        return data


@dataclass
class BreakingRelay:
    target: Path
    lines: list[Line] = field(default_factory=list[Line])
    cuts: defaultdict[str, list[int]] = field(default_factory=lambda: defaultdict(list))
    """For the next WebSockets of a path: after how many bytes each breaks."""
    carrying: set["asyncio.Task[None]"] = field(default_factory=lambda: set())

    opened: int = 0
    """WebSockets so far."""

    @property
    def held(self) -> list[Line]:
        """The lines that nothing is about to break."""
        return [line for line in self.lines if line.left is None]

    async def carry(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self.carrying.add(task)
        task.add_done_callback(self.carrying.discard)
        far_reader, far_writer = await asyncio.open_unix_connection(self.target)
        ends = (writer, far_writer)
        line: Line | None = None
        try:
            with suppress(OSError, asyncio.IncompleteReadError):
                head = await reader.readuntil(b"\r\n\r\n")
                if b"upgrade: websocket" in head.lower():
                    line = self.open(head, ends)
                far_writer.write(head)
                await asyncio.gather(pump(reader, far_writer, None), pump(far_reader, writer, line))
        finally:
            if line is not None:
                self.lines.remove(line)
            for end in ends:
                end.transport.abort()

    def open(self, head: bytes, ends: tuple[asyncio.StreamWriter, asyncio.StreamWriter]) -> Line:
        path = head.split()[1].decode().split("?")[0]
        line = Line(path, ends)
        self.lines.append(line)
        self.opened += 1
        if self.cuts[path]:
            line.cut(self.cuts[path].pop(0))
        return line


async def pump(source: asyncio.StreamReader, sink: asyncio.StreamWriter, line: Line | None) -> None:
    """Passes on what comes until either end breaks."""
    while data := await source.read(CHUNK):
        sink.write(data if line is None else line.passed(data))
        await sink.drain()
        if line is not None and line.left == 0:
            break
    raise ConnectionAbortedError


@asynccontextmanager
async def breaking_relay(path: Path, target: Path) -> AsyncGenerator[BreakingRelay, None]:
    relay = BreakingRelay(target)
    server = await asyncio.start_unix_server(relay.carry, path)
    try:
        yield relay
    finally:
        server.close()
        for task in list(relay.carrying):
            task.cancel()
        if relay.carrying:
            await asyncio.wait(relay.carrying)
