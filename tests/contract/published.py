"""The published program, run as it is: over one colony in every state, or with colonies that really run."""

import json
import os
import shlex
import shutil
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Generator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

from colonizer_client.errors import LinkError
from colonizer_client.identity import ColonyId, EndpointName
from colonizer_client.mothership import calls
from colonizer_client.mothership.calls import Call
from colonizer_client.mothership.models import Colony
from colonizer_client.mothership.oneshot import OneShot
from colonizer_config.address import HttpAddress
from colonizer_config.token import Token
from loopback_fleet import NAME
from plain_command import Done, own_environment
from real_git import new_clone

T = TypeVar("T")

FOLDER = os.environ.get("COLONIZER_PUBLISHED", "")
"""Where it is installed; read before the tests seal the machine off."""

ROOT = Path(__file__).parents[2]
KIT = ROOT / "tools/contract"
FIXTURE = ROOT / "tests/data/mothership/fixture.py"
TOKEN = "0" * 63 + "1"
HQ = EndpointName(NAME)
REPO = "acme/widgets"
PATIENCE_S = 60.0
LOOK_AGAIN_S = 0.1


def program(name: str) -> Path:
    return Path(FOLDER) / "bin" / name


def until(condition: Callable[[], object], what: Callable[[], str]) -> None:
    """Returns when the condition holds: another program's doings can only be looked at again and again.

    Raises:
        TimeoutError: It does not hold in time; `what` says how things are then.
    """
    deadline = time.monotonic() + PATIENCE_S
    while not condition():
        if time.monotonic() > deadline:
            raise TimeoutError(what())
        time.sleep(LOOK_AGAIN_S)


@dataclass
class Published:
    """A published mothership on loopback."""

    root: Path
    port: int
    environment: Mapping[str, str]
    process: "subprocess.Popen[bytes] | None" = None

    @property
    def host(self) -> str:
        return f"127.0.0.1:{self.port}"

    @property
    def address(self) -> HttpAddress:
        return HttpAddress("http", "127.0.0.1", self.port)

    def ask(self, call: Call[T]) -> T:
        """The result of a call by its owner, behind the cockpit's back."""
        return OneShot(self.address, Token(TOKEN)).run(call)

    def colonies(self) -> tuple[Colony, ...]:
        return self.ask(calls.colonies(HQ))[0]

    def status(self, colony: str) -> str:
        return self.ask(calls.colony(HQ, ColonyId(colony))).colony.status

    def until_status(self, colony: str, *statuses: str) -> None:
        until(lambda: self.status(colony) in statuses, lambda: f"{colony} is {self.status(colony)}, not {statuses}")

    def start(self) -> None:
        with (self.root / "server.log").open("ab") as log:
            self.process = subprocess.Popen(
                [program("colonizer")],
                env=dict(self.environment),
                cwd=self.root,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                start_new_session=True,
            )
        until(self._answers, lambda: (self.root / "server.log").read_text()[-2000:])

    def stop(self) -> None:
        """Ends it as its person does; what runs in its colonies goes on."""
        if self.process is not None:
            self.process.send_signal(signal.SIGINT)
            try:
                self.process.wait(timeout=10)
            except subprocess.TimeoutExpired:
                self.process.kill()
                self.process.wait()
            self.process = None

    def _answers(self) -> bool:
        if self.process is not None and self.process.poll() is not None:
            raise AssertionError((self.root / "server.log").read_text()[-2000:])
        try:
            self.ask(calls.standing())
        except LinkError:
            return False
        return True


def their_command(*argv: str, host: str, token: str = TOKEN) -> Done:
    """Runs a command of the published program against a mothership."""
    environment = own_environment({"COLONIZER_BIND": host, "COLONIZER_TOKEN": token, "COLONIZER_UPDATE_CHECK": "0"})
    done = subprocess.run(
        [program("colonizer"), *argv],
        capture_output=True,
        encoding="utf-8",
        env=environment,
        timeout=PATIENCE_S,
        check=False,
    )
    return Done(done.returncode, done.stdout, done.stderr)


@contextmanager
def every_state(folder: Path) -> Generator[Published]:
    """One colony in every state; none of them runs."""
    state = folder / "state"
    subprocess.run([sys.executable, str(FIXTURE), str(state)], check=True)
    changes = {
        "COLONIZER_MSB": "/nonexistent",  # start-up recovery waits and changes no status
        "COLONIZER_NO_EXTERNAL_EFFECTS": "1",
        "COLONIZER_RECLAIM_MIN_FREE": "900000G",  # queued colonies stay queued
    }
    with _running(state, changes) as published:
        yield published


@contextmanager
def live_colonies(folder: Path) -> Generator[Published]:
    """An empty mothership whose colonies really run, with stand-ins for the microVM tool and GitHub."""
    root = folder / "live"
    _make_folders(root)
    changes = {
        "PATH": f"{root}/bin:/usr/local/bin:/usr/bin:/bin",
        "COLONIZER_MSB": f"{root}/bin/msb",
        "COLONIZER_RECLAIM_MIN_FREE": "100M",
        "MICROVM_STATE": str(root / "boxes-state"),
        "GITHUB_STATE": str(root),
    }
    with _running(root, changes) as published:
        try:
            yield published
        finally:
            published.stop()
            environment = {**os.environ, "MICROVM_STATE": changes["MICROVM_STATE"]}
            microvm = [sys.executable, str(KIT / "microvm.py")]
            names = subprocess.run([*microvm, "ls"], env=environment, capture_output=True, text=True, check=True).stdout
            subprocess.run([*microvm, "rm", *names.split()], env=environment, check=True)


@contextmanager
def _running(root: Path, changes: Mapping[str, str]) -> Generator[Published]:
    port, gateway_port = _free_ports()
    environment = {
        "PATH": "/usr/bin:/bin",
        "HOME": str(root / "home"),
        "XDG_RUNTIME_DIR": str(root / "run"),
        "LANG": "C.UTF-8",
        "TZ": "UTC",
        "COLONIZER_BIND": f"127.0.0.1:{port}",
        "COLONIZER_GATEWAY_BIND": f"127.0.0.1:{gateway_port}",
        "COLONIZER_DATA_DIR": str(root / "data"),
        "COLONIZER_CONFIG_DIR": str(root / "config"),
        "COLONIZER_HOME": str(root / "app"),
        "COLONIZER_NO_BROWSER": "1",
        "COLONIZER_UPDATE_CHECK": "0",
        "COLONIZER_TELEMETRY": "off",
        "DO_NOT_TRACK": "1",
        "COLONIZER_SUMMARIES": "0",
        "COLONIZER_RECLAIM": "0",
        # A proxy that is not there: nothing but this machine can be reached.
        "HTTP_PROXY": "http://127.0.0.1:9",
        "HTTPS_PROXY": "http://127.0.0.1:9",
        "NO_PROXY": "127.0.0.1,localhost",
        **changes,
    }
    published = Published(root, port, environment)
    published.start()
    try:
        yield published
    finally:
        published.stop()


def _free_ports() -> tuple[int, int]:
    with socket.socket() as one, socket.socket() as other:
        one.bind(("127.0.0.1", 0))
        other.bind(("127.0.0.1", 0))
        return one.getsockname()[1], other.getsockname()[1]


def _make_folders(root: Path) -> None:
    agent = root / "app/modules/agents/scripted"
    for folder in (
        agent,
        *(root / part for part in ("home", "data", "config", "run", "bin", "app/bin", "boxes-state")),
    ):
        folder.mkdir(parents=True)
    new_clone(root / "seed").git("clone", "--quiet", "--bare", ".", str(root / "remote" / f"{REPO}.git"))
    # All that goes to or comes from GitHub goes to the folder.
    (root / "home/.gitconfig").write_text(f'[url "file://{root}/remote/"]\n\tinsteadOf = https://github.com/\n')
    for name, stand_in in (("gh", "github.py"), ("msb", "microvm.py")):
        path = root / "bin" / name
        path.write_text(f'#!/bin/sh\nexec {shlex.quote(sys.executable)} {shlex.quote(str(KIT / stand_in))} "$@"\n')
        path.chmod(0o755)
    shutil.copy(program("colonizer-agentd"), root / "app/bin/colonizer-agentd")
    shutil.copyfile(KIT / "agent.py", agent / "agent.py")
    module = {"id": "scripted", "name": "Scripted", "entry": ["python3", "agent.py"], "secrets": []}
    (agent / "module.json").write_text(json.dumps({**module, "session_resume": {"dir": "/var/scripted"}}))
    token = root / "config/api-token"
    token.write_text(f"{TOKEN}\n")
    token.chmod(0o600)
    (root / "config").chmod(0o700)
    sandbox = {"max_parallel": 3, "suspend_waiting": False, "hold_timeout_minutes": 1440}
    (root / "config/modules.json").write_text(
        json.dumps(
            {
                "source": {"provider": "github"},
                "sandbox": {"provider": "microsandbox", "settings": sandbox},
                "mesh": {"provider": "headscale", "enabled": False},
                "agent": {"provider": "scripted"},
                "interfaces": {"provider": "default"},
                "publish": {"provider": "github-pr"},
                "memory": {"provider": "files"},
                "watchdog": {"provider": "default", "enabled": False, "settings": {"idle_park_minutes": 1440}},
                "resume": {"provider": "default"},
            }
        )
    )
