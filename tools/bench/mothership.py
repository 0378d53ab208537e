"""The embedded mothership: an open question, a list of 1,000 colonies, its memory at rest.

Where COLONIZER_PUBLISHED names the published program and COLONIZER_PUBLISHED_STATE a folder with a state of it, a copy
of that state with as many colonies is asked the same.
"""

import http.client
import json
import os
import shutil
import socket
import subprocess
import time
from collections.abc import Generator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from bench.engine import engine, launch_demo
from bench.figure import Figure, median, percentile
from bench.fleet import dead_ports
from bench.machine import PROGRAM, cpu_s, home, memory_mib

COLONIES = 1_000
PATIENCE_S = 60.0


@dataclass(frozen=True, slots=True)
class Asked:
    """A running mothership."""

    pid: int
    connection: http.client.HTTPConnection
    token: str

    def get(self, path: str) -> bytes:
        """The body of a reply, empty for none."""
        self.connection.request("GET", path, headers={"Authorization": f"Bearer {self.token}"})
        with self.connection.getresponse() as response:
            return response.read()

    def waiting(self) -> str:
        """A colony that has an open question."""
        deadline = time.monotonic() + PATIENCE_S
        while time.monotonic() < deadline:
            for colony in json.loads(self.get("/api/sessions")):
                if colony["status"] == "waiting_for_answer" and self.get(f"/api/sessions/{colony['id']}/question"):
                    return str(colony["id"])
            time.sleep(0.1)
        raise TimeoutError("nothing is asked")

    def timed(self, path: str, times: int) -> tuple[float, float, float]:
        """Median and 95th percentile of the time until the body is there, and CPU time of the server, each in ms."""
        self.get(path)
        before, taken = cpu_s(self.pid), list[float]()
        for _ in range(times):
            started = time.monotonic()
            self.get(path)
            taken.append((time.monotonic() - started) * 1000)
        return median(taken), percentile(taken, 0.95), (cpu_s(self.pid) - before) / times * 1000


def measure() -> None:
    ours, theirs = _embedded(), _published()
    targets: Mapping[str, float] = {"GET question, p95": 3, "list of 1,000 colonies, p95": 25, "memory at rest": 80}
    for name, value in ours.items():
        Figure(
            name=f"embedded mothership: {name}",
            value=value,
            unit="MiB" if name == "memory at rest" else "ms",
            target=targets.get(name),
            peer=theirs.get(name),
            peer_name="the published program" if theirs else "",
        ).print()


def _figures(asked: Asked) -> dict[str, float]:
    question = f"/api/sessions/{asked.waiting()}/question"
    time.sleep(2)
    figures = {"memory at rest": memory_mib(asked.pid)}
    for name, path, times in (("GET question", question, 1_000), ("list of 1,000 colonies", "/api/sessions", 100)):
        p50, p95, cpu = asked.timed(path, times)
        figures |= {f"{name}, p50": p50, f"{name}, p95": p95, f"{name}, CPU": cpu}
    return figures


def _embedded() -> dict[str, float]:
    with home() as place, engine(COLONIES - 1) as paths:
        launch_demo(place / "repository")
        status = subprocess.run([*PROGRAM, "engine", "status", "--json"], check=True, capture_output=True).stdout
        facts = json.loads(status)
        return _figures(Asked(int(facts["pid"]), _Private(str(facts["socket"])), paths.token.read_text().strip()))


def _published() -> dict[str, float]:
    program, state = os.environ.get("COLONIZER_PUBLISHED"), os.environ.get("COLONIZER_PUBLISHED_STATE")
    if not program or not state:
        return {}
    with home() as place:
        copy = place / "state"
        shutil.copytree(state, copy, symlinks=True)
        records = copy / "data/sessions.json"
        sessions = json.loads(records.read_text())
        done = next(each for each in sessions if each["status"] == "merged")
        more = COLONIES - len(sessions)
        sessions += [{**done, "id": f"{number:08x}", "branch": f"colonizer/{number:08x}"} for number in range(more)]
        records.write_text(json.dumps(sessions))
        with _served(program, copy) as (pid, port):
            token = (copy / "config/api-token").read_text().strip()
            return _figures(Asked(pid, http.client.HTTPConnection("127.0.0.1", port), token))


@contextmanager
def _served(program: str, state: Path) -> Generator[tuple[int, int]]:
    with dead_ports(2) as (port, gateway):
        pass
    environment = {
        "PATH": "/usr/bin:/bin",
        "HOME": str(state / "home"),
        "XDG_RUNTIME_DIR": str(state / "run"),
        "COLONIZER_BIND": f"127.0.0.1:{port}",
        "COLONIZER_GATEWAY_BIND": f"127.0.0.1:{gateway}",
        "COLONIZER_DATA_DIR": str(state / "data"),
        "COLONIZER_CONFIG_DIR": str(state / "config"),
        "COLONIZER_HOME": str(state / "app"),
        "COLONIZER_MSB": "/nonexistent/msb",
        "COLONIZER_NO_BROWSER": "1",
        "COLONIZER_UPDATE_CHECK": "0",
        "COLONIZER_TELEMETRY": "off",
        "COLONIZER_NO_EXTERNAL_EFFECTS": "1",
        "COLONIZER_SUMMARIES": "0",
        "COLONIZER_RECLAIM": "0",
        "COLONIZER_RECLAIM_MIN_FREE": "900000G",
    }
    process = subprocess.Popen(
        [program], cwd=state, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    try:
        deadline = time.monotonic() + PATIENCE_S
        while True:
            try:
                socket.create_connection(("127.0.0.1", port)).close()
                break
            except OSError:
                if time.monotonic() > deadline:
                    raise
                time.sleep(0.1)
        yield process.pid, port
    finally:
        process.kill()
        process.wait()


class _Private(http.client.HTTPConnection):
    """A connection over a Unix socket."""

    def __init__(self, path: str) -> None:
        super().__init__("localhost")
        self._path = path

    def connect(self) -> None:
        """Connects."""
        self.sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self.sock.connect(self._path)


if __name__ == "__main__":
    measure()
