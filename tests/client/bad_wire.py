"""A wire between a cockpit and a mothership that loses, delays and changes what goes over it."""

import asyncio
import re
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field

from client.raw_server import Exchange, raw_server
from colonizer_config.address import HttpAddress, SocketAddress


@dataclass
class BadWire:
    """What is lost is named by method and path, such as `POST /api/sessions/a/answer`; each is lost once."""

    address: HttpAddress
    requests_to_lose: list[str] = field(default_factory=list[str])
    replies_to_lose: list[str] = field(default_factory=list[str])
    edit_head: Callable[[str], str] = lambda head: head
    """Changes the head of every reply."""
    lost: list[str] = field(default_factory=list[str])


@asynccontextmanager
async def bad_wire(server: SocketAddress) -> AsyncGenerator[BadWire]:
    """A port on loopback that leads to the server."""
    made: BadWire

    async def carry(exchange: Exchange) -> None:
        what = " ".join(exchange.line.split(" ")[:2])
        if what in made.requests_to_lose:
            made.requests_to_lose.remove(what)
            made.lost.append(what)
            exchange.writer.close()
            return
        reader, writer = await asyncio.open_unix_connection(server.path)
        try:
            writer.write(exchange.head.encode("latin-1") + exchange.body)
            head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
            if what in made.replies_to_lose:
                made.replies_to_lose.remove(what)
                made.lost.append(what)
                exchange.writer.close()
                return
            await exchange.say(made.edit_head(head).encode("latin-1"))
            if head.split(" ", 2)[1] == "101":
                await _both_ways(exchange, reader, writer)
            else:
                length = re.search(r"(?i)\r\ncontent-length: *(\d+)", head)
                await exchange.say(await reader.readexactly(int(length[1]) if length else 0))
        finally:
            writer.close()

    async with raw_server(carry) as wire:
        assert isinstance(wire.address, HttpAddress)
        made = BadWire(wire.address)
        yield made


async def _both_ways(exchange: Exchange, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    with suppress(ConnectionError):
        async with asyncio.TaskGroup() as tasks:
            tasks.create_task(_pump(exchange.reader, writer))
            tasks.create_task(_pump(reader, exchange.writer))


async def _pump(source: asyncio.StreamReader, sink: asyncio.StreamWriter) -> None:
    with suppress(ConnectionError):
        while data := await source.read(65_536):
            sink.write(data)
            await sink.drain()
    sink.close()
