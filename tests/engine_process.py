"""A real engine in a process of its own."""

import json
import os
import signal
import subprocess
import sys
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

import httpx

from colonizer_config.paths import EngineFolder
from plain_command import own_environment
from served_mothership import PUPPET

_PROGRAM = """
import sys
from pathlib import Path
from colonizer_config.paths import EngineFolder
from colonizer_engines.daemon.process import EngineOptions, run

sys.exit(run(EngineOptions(
    folder=EngineFolder(Path({folder!r})),
    socket=Path({socket!r}),
    settings=Path({settings!r}),
    bind={bind!r},
    repositories=tuple(Path(path) for path in {repositories!r}),
    idle_end_s={idle_end_s!r},
    ready_fd={ready_fd!r},
)))
"""

WAIT_S = 30


@dataclass
class EnginePlace:
    """Where an engine keeps its things."""

    root: Path

    @property
    def folder(self) -> EngineFolder:
        return EngineFolder(self.root / "data/local")

    @property
    def socket(self) -> Path:
        return self.root / "run/engine.sock"

    @property
    def token(self) -> str:
        return self.folder.token.read_text(encoding="ascii").strip()

    def client(self) -> httpx.Client:
        return httpx.Client(
            transport=httpx.HTTPTransport(uds=str(self.socket)),
            base_url="http://local",
            headers={"authorization": f"Bearer {self.token}"},
            timeout=WAIT_S,
        )

    def configure(self) -> None:
        """Lets the engine run the agent that does what a test tells it, without a sandbox."""
        command = json.dumps([sys.executable, "-I", "-S", str(PUPPET)])
        text = f'[agents.puppet]\ncommand = {command}\n\n[local]\nsandbox = "none"\n'
        (self.root / "cockpit.toml").write_text(text, encoding="utf-8")


@dataclass
class Engine:
    place: EnginePlace
    process: subprocess.Popen[bytes]
    first_words: dict[str, Any]
    """What it said of its start."""

    def end(self, number: int = signal.SIGTERM) -> int:
        """Its exit code, after a signal."""
        self.process.send_signal(number)
        return self.process.wait(WAIT_S)


def start(place: EnginePlace, **options: object) -> Engine:
    """An engine that is ready, or has said why not."""
    return start_at_once(place, 1, **options)[0]


def start_at_once(place: EnginePlace, count: int, **options: object) -> list[Engine]:
    """Engines that were all started before any of them was ready."""
    spawned = [_spawn(place, **options) for _ in range(count)]
    return [Engine(place, process, _report(reading)) for process, reading in spawned]


def _report(reading: int) -> dict[str, Any]:
    with os.fdopen(reading, "rb") as report:
        return cast("dict[str, Any]", json.loads(report.readline()))


def _spawn(place: EnginePlace, **options: object) -> tuple["subprocess.Popen[bytes]", int]:
    reading, writing = os.pipe()
    given = {"bind": None, "repositories": (), "idle_end_s": None, **options}
    program = _PROGRAM.format(
        folder=str(place.folder.root),
        socket=str(place.socket),
        settings=str(place.root / "cockpit.toml"),
        ready_fd=writing,
        **given,
    )
    process = subprocess.Popen(
        [sys.executable, "-c", program], pass_fds=(writing,), stdin=subprocess.DEVNULL, env=own_environment({})
    )
    os.close(writing)
    return process, reading


@contextmanager
def running(place: EnginePlace, **options: object) -> Generator[Engine, None, None]:
    engine = start(place, **options)
    try:
        yield engine
    finally:
        if engine.process.poll() is None:
            engine.process.kill()
        engine.process.wait(WAIT_S)
