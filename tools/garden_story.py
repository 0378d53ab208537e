"""What the pictures show: the colonies of a community garden, launched and answered by plain commands."""

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable, Generator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

HQ, LAB = "127.0.0.1:7979", "127.0.0.1:7980"
"""Two more motherships, served on this machine."""

QUICK, LEISURELY = "0.02", "0.7"
"""Seconds between two events of a demo agent."""

PATIENCE_S = 60.0

SETTINGS = """\
[agents.scout]
command = ["sh", "-c", "echo 'cannot reach the weather station' >&2; exit 1"]

[local]
agent = "demo"
"""

REPOSITORIES: Mapping[str, Mapping[str, str]] = {
    "website": {
        "README.md": "# Website\n\nWhere the garden says when it is open.\n",
        "index.html": "<h1>Community garden</h1>\n<p>Open from sunrise to sunset.</p>\n",
        "style.css": "body { color: darkgreen; }\n",
        "hours.py": 'def opening_hours(month):\n    return "sunrise to sunset"\n',
    },
    "seed-api": {
        "README.md": "# Seed API\n\nLends seeds and counts them back.\n",
        "seeds/catalogue.json": '{"tomato": 12, "chard": 30}\n',
        "seeds/lending.py": "def lend(seed, count):\n    return seed, count\n",
    },
    "almanac": {
        "README.md": "# Almanac\n\nWhat to sow, and when.\n",
        "months/march.md": "Peas, broad beans, spinach.\n",
        "months/april.md": "Chard, beetroot, carrots.\n",
    },
}


@dataclass(frozen=True, slots=True)
class Garden:
    """The repositories in the home, and the commands of the person who works on them."""

    home: Path

    def settle_in(self) -> None:
        """Makes the repositories and the settings."""
        for name, files in REPOSITORIES.items():
            self._make_repository(name, files)
        settings = self.home / ".config/colonizer/cockpit.toml"
        settings.parent.mkdir(parents=True)
        settings.write_text(SETTINGS, encoding="utf-8")

    def folder(self, repository: str) -> Path:
        """Where a repository is."""
        return self.home / "garden" / repository

    def launch(self, repository: str, task: str, *options: str) -> str:
        """The id of a new colony."""
        return str(self._json("launch", f"garden/{repository}", task, *options, repository=repository)["id"])

    def answer(self, colony: str, *answers: str) -> None:
        """Answers what a colony asks, one question after the other, and waits for the next or the end of its turn."""
        for text in answers:
            self._wait(colony, "waiting_for_answer")
            self.run("answer", colony, text)
        self._wait(colony, "waiting_for_answer", "idle")

    def launch_until_it_asks(self, repository: str, task: str, *answers: str) -> str:
        """The id of a colony that has these answers and waits for the next, or is done."""
        colony = self.launch(repository, task)
        self.answer(colony, *answers)
        return colony

    def connect(self, name: str, address: str, token: str) -> None:
        """Adds a mothership."""
        self.run("connect", "add", name, address, "--plain-file", stdin=token)

    def run(self, *argv: str, repository: str = "website", stdin: str = "") -> str:
        """What a command prints."""
        done = subprocess.run(
            (sys.executable, "-m", "colonizer_cli.main", *argv),
            cwd=self.folder(repository),
            env={**os.environ, "COLONIZER_DEMO_PACE": QUICK},
            input=stdin,
            capture_output=True,
            text=True,
            check=False,
        )
        if done.returncode:
            raise RuntimeError(f"{argv} ended with {done.returncode}: {done.stderr}")
        return done.stdout

    def _json(self, *argv: str, repository: str = "website") -> dict[str, Any]:
        return cast("dict[str, Any]", json.loads(self.run(*argv, "--json", repository=repository)))

    def _wait(self, colony: str, *states: str) -> None:
        """Returns when the colony is in one of the states and has taken every answer."""
        until(lambda: self._json("status", colony)["status"] in states)

    def _make_repository(self, name: str, files: Mapping[str, str]) -> None:
        folder = self.folder(name)
        for path, text in files.items():
            (folder / path).parent.mkdir(parents=True, exist_ok=True)
            (folder / path).write_text(text, encoding="utf-8")
        for command in (
            "init --quiet --initial-branch=main",
            f"remote add origin ssh://git@garden.example/garden/{name}.git",
            "add --all",
            "-c user.name=Robin -c user.email=robin@garden.example commit --quiet --message Begin",
        ):
            subprocess.run(["git", *command.split()], cwd=folder, check=True)


@contextmanager
def another_mothership(garden: Garden, name: str, address: str) -> "Generator[subprocess.Popen[bytes]]":
    """Its process, while it is among the person's motherships."""
    data = garden.home / name
    serve = ("mothership", "serve", "--bind", address, "--data-dir", str(data))
    repositories = [word for path in map(garden.folder, REPOSITORIES) for word in ("--repo", str(path))]
    with subprocess.Popen(
        (sys.executable, "-m", "colonizer_cli.main", *serve, *repositories),
        stdout=subprocess.PIPE,
        env={**os.environ, "COLONIZER_DEMO_PACE": LEISURELY},
    ) as server:
        assert server.stdout is not None
        server.stdout.readline()  # it says where it is once it is there
        try:
            garden.connect(name, address, (data / "api-token").read_text(encoding="ascii"))
            yield server
        finally:
            server.terminate()


@contextmanager
def colonies_at_work(garden: Garden) -> "Generator[subprocess.Popen[bytes]]":
    """The process of the lab's mothership, while colonies work, ask, wait, have failed and were stopped."""
    garden.launch_until_it_asks("website", "Help newcomers find their way", "2", "1", "A map for newcomers")
    garden.run("stop", garden.launch_until_it_asks("almanac", "List what to sow by month", "3"))
    garden.launch("seed-api", "Follow the weather station", "--agent", "scout")
    garden.launch_until_it_asks("almanac", "Write down how we work here")
    garden.launch_until_it_asks("seed-api", "Say what each folder is for", "2")
    garden.launch("website", "Translate the opening hours")
    with another_mothership(garden, "hq", HQ), another_mothership(garden, "lab", LAB) as lab:
        garden.launch("almanac", "Measure the rain barrels", "--host", LAB)
        garden.launch("seed-api", "Import the spring catalogue", "--host", HQ)
        garden.launch("website", "Draw the map of the beds", "--host", HQ)
        yield lab


def until(condition: Callable[[], object]) -> None:
    """Returns when the condition holds.

    Raises:
        TimeoutError: It does not hold in time.
    """
    deadline = time.monotonic() + PATIENCE_S
    while not condition():
        if time.monotonic() > deadline:
            raise TimeoutError("the story does not go on")
        time.sleep(0.05)
