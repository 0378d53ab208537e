"""Round trips over MCP of the embedded kernel, in wall time, beside those of the real program (specs kernel §17).

Both were asked for their status 200 times, 25 ms apart, since the real one takes no more than 50 calls a second.
"""

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from socket import create_server
from tempfile import TemporaryDirectory
from typing import IO

import anyio
import httpx2
from mcp.client import Client
from mcp.client.stdio import StdioServerParameters, stdio_client
from mcp.client.streamable_http import streamable_http_client

from bench.figure import Figure, median, percentile

ROUNDS = 200
PACE_S = 0.025

SERVE = ["-m", "colonizer_cli.main", "kernel", "serve", "--preset", "codomyrmex-1.3"]
STATUS = "codomyrmex.colony_status"


def measure() -> None:
    """Prints the figures."""
    _print("status over stdio, official client", anyio.run(_over_stdio), 1.89, 6.8)
    _print("status over stdio, lines of JSON", _over_pipes("tools/call", {"name": STATUS, "arguments": {}}), 1.08, 3.8)
    _print("list of tools over stdio, lines of JSON", _over_pipes("tools/list", {}), 0.5, None)
    with TemporaryDirectory() as folder:
        _print("status over HTTP, official client", anyio.run(_over_http, Path(folder)), 5.4, 9.1)


async def _over_stdio() -> list[float]:
    server = StdioServerParameters(command=sys.executable, args=SERVE, env=dict(os.environ))
    async with Client(stdio_client(server)) as client:
        return await _rounds(client)


async def _over_http(folder: Path) -> list[float]:
    with create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    command = [sys.executable, *SERVE, "--http", "--bind", f"127.0.0.1:{port}", "--data-dir", str(folder / "kernel")]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as server:  # noqa: ASYNC220
        try:
            assert server.stdout is not None
            url = server.stdout.readline().removeprefix("serving ").strip()
            token = Path(server.stdout.readline().removeprefix("token in ").strip()).read_text().strip()  # noqa: ASYNC240
            async with (
                httpx2.AsyncClient(headers={"authorization": f"Bearer {token}"}) as http,
                Client(streamable_http_client(url, http_client=http)) as client,
            ):
                return await _rounds(client)
        finally:
            server.terminate()


async def _rounds(client: Client) -> list[float]:
    await client.list_tools()
    taken: list[float] = []
    for _ in range(ROUNDS):
        before = time.perf_counter()
        await client.call_tool(STATUS, {})
        taken.append((time.perf_counter() - before) * 1000)
        await anyio.sleep(PACE_S)
    return taken


def _over_pipes(method: str, params: Mapping[str, object]) -> list[float]:
    with subprocess.Popen([sys.executable, *SERVE], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as server:
        assert server.stdin is not None
        assert server.stdout is not None
        ask = _asking(server.stdin, server.stdout)
        hello = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "bench", "version": "1"}}
        ask("initialize", hello)
        server.stdin.write(b'{"jsonrpc":"2.0","method":"notifications/initialized"}\n')
        taken: list[float] = []
        for _ in range(ROUNDS):
            before = time.perf_counter()
            ask(method, params)
            taken.append((time.perf_counter() - before) * 1000)
            time.sleep(PACE_S)
        server.stdin.close()
    return taken


def _asking(to_server: IO[bytes], from_server: IO[bytes]) -> Callable[[str, Mapping[str, object]], bytes]:
    def ask(method: str, params: Mapping[str, object]) -> bytes:
        to_server.write(json.dumps({"jsonrpc": "2.0", "id": 1, "method": method, "params": params}).encode() + b"\n")
        to_server.flush()
        return from_server.readline()

    return ask


def _print(name: str, taken: list[float], theirs_ms: float, theirs_p95_ms: float | None) -> None:
    for part, value, peer in (("median", median(taken), theirs_ms), ("p95", percentile(taken, 0.95), theirs_p95_ms)):
        if peer is not None:
            Figure(
                name=f"kernel: {name}, {part}",
                value=value,
                unit="ms",
                target=peer,
                peer=peer,
                peer_name="the real program",
            ).print()


if __name__ == "__main__":
    measure()
