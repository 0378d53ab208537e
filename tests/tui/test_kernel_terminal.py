"""The kernel workspace in a real terminal: the local kernel, and others over stdio and HTTP, driven by keys alone."""

import json
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from client.kernel.test_transports import QUIRKY, STATUS
from colonizer_config.paths import Paths
from plain_command import colonizer, started
from real_engine import real_engine
from real_sshd import free_port
from real_terminal import COCKPIT, RealTerminal, real_terminal
from recorded import Json, rows

OWN = (sys.executable, "-m", "colonizer_cli.main", "kernel", "serve", "--memory")
WHY = "this is why it has to be done, in more than twenty letters"


def recorded_tick() -> Json:
    """A tick of the real program, as it was recorded."""
    return next(row for row in rows("kernel/calls") if row["tool"] == "colony_tick" and not row["is_error"])


@pytest.fixture
def four_kernels(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """The local one, a command of ours, a port of ours, and a command with the real program's habits."""
    monkeypatch.chdir(tmp_path)
    paths, port = Paths.from_environment(), free_port()
    plan = tmp_path / "plan.json"
    answers = [STATUS, recorded_tick(), STATUS]
    plan.write_text(json.dumps({"answers": answers, "heard": str(tmp_path / "heard")}), encoding="utf-8")
    serve = ("kernel", "serve", "--http", "--memory", "--bind", f"127.0.0.1:{port}")
    with real_engine(), started(*serve, limit_s=120.0) as server:
        assert server.stdout is not None
        assert server.stdout.readline().startswith("serving")
        token = Path(server.stdout.readline().removeprefix("token in ").strip()).read_text(encoding="ascii")
        address = f"http://127.0.0.1:{port}/mcp"
        for argv, said in (
            (("own", "--kind", "kernel", "--", *OWN), None),
            (("web", address, "--kind", "kernel", "--plain-file"), token),
            (("odd", "--kind", "kernel", "--", sys.executable, "-I", "-S", str(QUIRKY), str(plan)), None),
        ):
            done = colonizer("connect", "add", *argv, stdin=said)
            assert done.exit == 0, done.stderr
        assert paths.settings.exists()
        yield
        server.terminate()


def agree(terminal: RealTerminal) -> None:
    """Lets the command of the kernel in front run, after its words were shown."""
    terminal.shows("It runs only after you agreed to these exact words")
    terminal.send("a")
    terminal.shows("y run it")
    terminal.send("y")


def type_in(terminal: RealTerminal, *fields: str) -> None:
    """Fills a form, and sends it."""
    terminal.send("\t".join(fields))
    terminal.shows(fields[-1][-20:])
    terminal.send("\x13")


def leave(terminal: RealTerminal, *texts: str) -> None:
    """Waits until a dialog is gone."""
    terminal.until(lambda: not any(text in terminal.text for text in texts), f"{texts} to go")


def say_yes(terminal: RealTerminal, question: str) -> None:
    """Answers what is asked before anything is done to a kernel that others share."""
    terminal.shows(question)
    terminal.send("y")
    leave(terminal, question)


def walk(terminal: RealTerminal, name: str, *, is_shared: bool) -> None:
    """Proposes, records, ticks, prunes and plans, and sees what became of it in the pane that tells of it."""
    target = f"{name}.parser"
    terminal.shows("tick 0 · 0 traces")
    terminal.send("P")
    terminal.shows(f"Propose an action to {name}")
    type_in(terminal, "ada", "patch_file", target, WHY)
    if is_shared:
        say_yes(terminal, "Propose this?")
    leave(terminal, "Propose an action")
    terminal.shows("patch_file  by ada", "would execute if", "to do")
    terminal.send("R")
    terminal.shows("Record an outcome")
    # The target is the selected verdict's already.
    type_in(terminal, "ada", "patch_file", "", "it works", "yes")
    if is_shared:
        say_yes(terminal, "Record this outcome?")
    leave(terminal, "Record an outcome")
    terminal.reads("ada has trust")
    tick(terminal, "tick 1 · ", is_shared=is_shared)
    for words in (
        "last ten",
        "✓ passed patch_file",
        "How colonies end",
        "human attention minutes",
        "r has the kernel look",
    ):
        turn_to(terminal, words)
    terminal.send("r")
    if is_shared:
        say_yes(terminal, "Make a pruning report?")
    terminal.until(lambda: "No report was made yet" not in terminal.text, "a report")
    for words in ("the ten attacks", "warn", f"{target} · hazard"):
        turn_to(terminal, words)


def turn_to(terminal: RealTerminal, words: str) -> None:
    """Goes to the next pane, which says this."""
    terminal.send("\t")
    terminal.reads(words)


def tick(terminal: RealTerminal, then: str, *, is_shared: bool) -> None:
    """Lets all traces fade by a tick."""
    terminal.send("b")
    if is_shared:
        say_yes(terminal, "Tick it?")
    terminal.shows(then)


def test_four_kernels_are_driven_by_keys_alone(four_kernels: None) -> None:
    with real_terminal(*COCKPIT) as terminal:
        terminal.shows("No colonies yet")
        terminal.send("4")
        walk(terminal, "local", is_shared=False)
        terminal.send(")")
        agree(terminal)
        walk(terminal, "own", is_shared=True)
        terminal.send(")")
        walk(terminal, "web", is_shared=True)
        terminal.send(")")
        agree(terminal)
        terminal.shows("tick 4 · ")
        tick(terminal, "tick 1 · ", is_shared=True)
        terminal.send("\x11")
        assert terminal.ended() == 0
        assert terminal.is_restored()
