"""The local engine of a home, with colonies of long ago."""

import os
import subprocess
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

from bench.machine import PROGRAM
from colonizer_config.paths import EngineFolder, Paths, make_private
from colonizer_engines.mothership.colony import Colony
from colonizer_engines.mothership.session import decode_session
from colonizer_engines.mothership.store import Store


@contextmanager
def engine(colonies: int) -> Generator[EngineFolder]:
    """A running engine that knows so many colonies; it ends with the block."""
    os.environ["COLONIZER_DEMO_PACE"] = "0"
    paths = Paths.from_environment().engine
    make_private(paths.root.parent)
    make_private(paths.root)
    store = Store.open(paths.mothership_db)
    with store.transaction():
        for number in range(colonies):
            store.put_colony(Colony(session=decode_session(_session(f"{number:08x}"))))
    store.close()
    try:
        subprocess.run([*PROGRAM, "list", "--json"], check=True, capture_output=True)
        yield paths
    finally:
        subprocess.run([*PROGRAM, "engine", "stop", "--yes"], check=True, capture_output=True)


def launch_demo(folder: Path) -> None:
    """Has the demo agent work in a new repository; it asks a question soon."""
    new_repository(folder)
    subprocess.run([*PROGRAM, "repo", "add", str(folder)], check=True, capture_output=True)
    launch = ("launch", "--agent", "demo", f"local/{folder.name}", "Say hello")
    subprocess.run([*PROGRAM, *launch], check=True, capture_output=True)


def new_repository(folder: Path) -> None:
    """A repository with one commit."""
    folder.mkdir()
    (folder / "README.md").write_text("# A repository\n")
    for command in (
        "init --quiet --initial-branch=main",
        "add --all",
        "-c user.name=Robin -c user.email=robin@garden.example commit --quiet --message Begin",
    ):
        subprocess.run(["git", *command.split(" ")], cwd=folder, check=True)


def _session(colony: str) -> dict[str, object]:
    return {
        "id": colony,
        "repo": "acme/widgets",
        "org": "acme",
        "issue": int(colony, 16) + 1,
        "issue_title": f"A task like many another one, number {colony}",
        "instructions": "Do it, and see that everything that was there before works as it did. " * 3,
        "status": "merged",
        "worktree": f"/nowhere/{colony}",
        "branch": f"colonizer/session-{colony}",
        "base": "main",
        "created_at": "2026-11-30T11:00:00Z",
        "updated_at": "2026-11-30T12:00:00Z",
        "cost_usd": 1.25,
        "pr_url": f"https://github.com/acme/widgets/pull/{int(colony, 16)}",
    }
