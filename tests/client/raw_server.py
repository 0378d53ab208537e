"""Servers that say exactly what a test tells them to, byte by byte."""

import asyncio
import socket
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeAlias, cast

from colonizer_client.mothership.transport import Server
from colonizer_config.address import HttpAddress, SocketAddress
from colonizer_config.token import Token

SECRET = "5ec3e7" * 10
TOKEN = Token(SECRET)

Script: TypeAlias = Callable[["Exchange"], Awaitable[None]]


@dataclass
class Exchange:
    """One request that came in, and the way to answer it."""

    head: str
    body: bytes
    reader: asyncio.StreamReader
    writer: asyncio.StreamWriter

    @property
    def line(self) -> str:
        return self.head.split("\r\n", 1)[0]

    def header(self, name: str) -> str | None:
        for line in self.head.split("\r\n")[1:]:
            found, _, value = line.partition(":")
            if found.lower() == name.lower():
                return value.strip()
        return None

    async def say(self, data: bytes) -> None:
        self.writer.write(data)
        await self.writer.drain()

    async def reply(self, status: int, body: bytes = b"", **headers: str) -> None:
        sent = {"content-length": str(len(body)), "content-type": "application/json"}
        sent |= {name.replace("_", "-"): value for name, value in headers.items()}
        lines = "".join(f"{name}: {value}\r\n" for name, value in sent.items())
        await self.say(f"HTTP/1.1 {status} Some Words\r\n{lines}\r\n".encode("latin-1") + body)


@dataclass
class RawServer:
    address: Server
    exchanges: list[Exchange] = field(default_factory=list[Exchange])


@asynccontextmanager
async def raw_server(script: Script, at: Path | str = "127.0.0.1") -> AsyncGenerator[RawServer, None]:
    """A server on a Unix socket, or on a free port of a loopback address, that runs the script for each request."""
    made: RawServer
    running: set[asyncio.Task[None]] = set()

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        running.add(cast("asyncio.Task[None]", asyncio.current_task()))
        try:
            with suppress(ConnectionError, asyncio.IncompleteReadError, asyncio.CancelledError):
                while True:
                    head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
                    exchange = Exchange(head, b"", reader, writer)
                    exchange.body = await reader.readexactly(int(exchange.header("content-length") or 0))
                    made.exchanges.append(exchange)
                    await script(exchange)
                    if writer.is_closing():
                        break
        finally:
            writer.close()

    if isinstance(at, Path):
        server = await asyncio.start_unix_server(serve, at)
        made = RawServer(SocketAddress(at))
    else:
        server = await asyncio.start_server(serve, at, 0)
        port = cast("int", server.sockets[0].getsockname()[1])
        made = RawServer(HttpAddress("http", at, port))
    try:
        yield made
    finally:
        server.close()
        for task in running:
            task.cancel()
        if running:
            await asyncio.wait(running)


def free_port() -> int:
    """A port on which nothing listens."""
    with socket.create_server(("127.0.0.1", 0)) as probe:
        return cast("int", probe.getsockname()[1])
