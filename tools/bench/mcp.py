"""`colonizer mcp`: its start with the engine warm and cold, its memory, and a call over the HTTP call that it makes.

Beside it the SDK serving the same tools in a process of its own and, where COLONIZER_PUBLISHED names it, the published
program; both ask the same embedded mothership over HTTP.
"""

import http.client
import json
import os
import subprocess
import sys
import time
from collections.abc import Generator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from bench import mothership
from bench.engine import engine, new_repository
from bench.figure import Figure, median, percentile
from bench.fleet import dead_ports
from bench.machine import PROGRAM, home, memory_mib

STARTS = 7
CALLS = 300

ALONE = (
    sys.executable,
    "-c",
    """
import asyncio, os
from colonizer_config.address import parse_host
from colonizer_config.token import Token
from colonizer_engines.serve import over_stdio
from colonizer_server.scope import Scope
from colonizer_server.serve import ColonyServer
from colonizer_server.session import Session, asking
async def main():
    server = parse_host(os.environ["COLONIZER_BIND"])
    async with asking(Session(Scope.READ, server, Token(os.environ["COLONIZER_TOKEN"]), "")) as mothership:
        await over_stdio(ColonyServer(mothership, Scope.READ))
asyncio.run(main())
""",
)
"""The same server in a process of its own."""

HELLO = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "bench", "version": "1"}}


@dataclass(frozen=True, slots=True)
class Asked:
    """A mothership, and a colony of it that waits for an answer."""

    token: str
    port: int
    colony: str


class Spoken:
    """One server on stdio, spoken to line by line."""

    def __init__(self, process: "subprocess.Popen[bytes]") -> None:
        assert process.stdin is not None
        assert process.stdout is not None
        self.pid = process.pid
        self._in, self._out = process.stdin, process.stdout

    def ask(self, method: str, params: Mapping[str, object]) -> bytes:
        """The line with the answer."""
        self._in.write(json.dumps({"jsonrpc": "2.0", "id": 1, "method": method, "params": params}).encode() + b"\n")
        self._in.flush()
        return self._out.readline()

    def call(self, tool: str, **arguments: object) -> bytes:
        """The line with the answer of a tool."""
        return self.ask("tools/call", {"name": tool, "arguments": arguments})

    def open(self) -> bytes:
        """Makes the handshake; the line with the server's side of it."""
        answer = self.ask("initialize", HELLO)
        assert b'"result"' in answer
        self._in.write(b'{"jsonrpc":"2.0","method":"notifications/initialized"}\n')
        self._in.flush()
        return answer


def measure() -> None:
    """Prints the figures."""
    theirs = os.environ.get("COLONIZER_PUBLISHED")
    with home() as place, _mothership(place) as asked:
        os.environ |= {"COLONIZER_BIND": f"127.0.0.1:{asked.port}", "COLONIZER_TOKEN": asked.token}
        ours = (*PROGRAM, "mcp")
        with engine(0):
            peer = None if theirs is None else _start((theirs, "mcp"))
            _print("answered `initialize`, engine warm", _start(ours), 150, _start(ALONE), peer)
            _calls(ours, theirs, asked)
        Figure(name="mcp: answered `initialize`, engine cold", value=_cold(ours), unit="ms", target=1200).print()


def _print(name: str, value: float, target: float, alone: float, theirs: float | None, unit: str = "ms") -> None:
    Figure(
        name=f"mcp: {name}",
        value=value,
        unit=unit,
        target=target,
        peer=alone,
        peer_name="the SDK in a process of its own",
        note="" if theirs is None else f"the published program: {theirs:.2f} {unit}",
    ).print()


def _calls(ours: Sequence[str], theirs: str | None, asked: Asked) -> None:
    commands = {"ours": ours, "alone": ALONE} | ({} if theirs is None else {"theirs": (theirs, "mcp")})
    memory: dict[str, float] = {}
    over: dict[str, tuple[float, float]] = {}
    for name, command in commands.items():
        with spoken(command) as server:
            server.open()
            server.call("colony_status", id=asked.colony)
            memory[name] = memory_mib(server.pid)
            over[name] = _over_http(server, asked)
    _print("memory of a process", memory["ours"], 25, memory["alone"], memory.get("theirs"), "MiB")
    for place, (part, target) in enumerate((("p50", 3), ("p95", 10))):
        peer = over["theirs"][place] if theirs is not None else None
        _print(
            f"a call over the HTTP call that it makes, {part}", over["ours"][place], target, over["alone"][place], peer
        )


def _over_http(server: Spoken, asked: Asked) -> tuple[float, float]:
    """How much longer a call takes than the same question over a kept connection; median and 95th percentile, in ms.

    The two take turns, so that what else happens on the machine meets both.
    """
    connection = http.client.HTTPConnection("127.0.0.1", asked.port)
    path, headers = f"/api/sessions/{asked.colony}/question", {"Authorization": f"Bearer {asked.token}"}
    calls: list[float] = []
    bare: list[float] = []
    for _ in range(CALLS):
        before = time.perf_counter()
        connection.request("GET", path, headers=headers)
        connection.getresponse().read()
        between = time.perf_counter()
        server.call("colony_question", id=asked.colony)
        bare.append((between - before) * 1000)
        calls.append((time.perf_counter() - between) * 1000)
    connection.close()
    return median(calls) - median(bare), percentile(calls, 0.95) - median(bare)


def _start(command: Sequence[str]) -> float:
    """The time from the start of a process until it has answered `initialize`, in ms."""
    _started(command)  # finds nothing loaded
    return median([_started(command) for _ in range(STARTS)])


def _cold(command: Sequence[str]) -> float:
    """The same where the engine has to start first."""
    taken: list[float] = []
    for _ in range(STARTS):
        taken.append(_started(command))
        subprocess.run([*PROGRAM, "engine", "stop", "--yes"], check=True, capture_output=True)
    return median(taken)


def _started(command: Sequence[str]) -> float:
    before = time.perf_counter()
    with spoken(command) as server:
        server.open()
        return (time.perf_counter() - before) * 1000


@contextmanager
def spoken(command: Sequence[str]) -> Generator[Spoken]:
    """A server that is there until the block ends."""
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as process:
        try:
            yield Spoken(process)
        finally:
            process.kill()


@contextmanager
def _mothership(place: Path) -> Generator[Asked]:
    """An embedded mothership on a port, with one colony of the demo agent, which waits for an answer."""
    new_repository(place / "repository")
    with dead_ports(1) as (port,):
        pass
    command = (*PROGRAM, "mothership", "serve", "--bind", f"127.0.0.1:{port}", "--data-dir", str(place / "served"))
    with subprocess.Popen(
        (*command, "--repo", str(place / "repository")), stdout=subprocess.PIPE, text=True
    ) as process:
        try:
            assert process.stdout is not None
            host = process.stdout.readline().strip().removeprefix("serving http://")
            token = Path(process.stdout.readline().strip().removeprefix("owner's token in ")).read_text().strip()
            named = {**os.environ, "COLONIZER_BIND": host, "COLONIZER_TOKEN": token}
            launch = (*PROGRAM, "launch", "--agent", "demo", "local/repository", "Say hello")
            subprocess.run(launch, check=True, capture_output=True, env=named)
            connection = http.client.HTTPConnection("127.0.0.1", port)
            yield Asked(token, port, mothership.Asked(process.pid, connection, token).waiting())
        finally:
            process.terminate()


if __name__ == "__main__":
    measure()
