"""The cockpit in a real terminal: what it writes, how it leaves, what is left when it is killed."""

import base64
import os
import signal
from collections.abc import Iterator
from contextlib import suppress
from functools import partial
from pathlib import Path

import psutil
import pytest

from colonizer_client.errors import ClientError
from colonizer_client.mothership import calls
from real_engine import RealEngine, is_alive, real_engine
from real_git import Clone, new_clone
from real_terminal import COCKPIT, RealTerminal, cockpit, real_terminal


@pytest.fixture
def repository(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Clone:
    clone = new_clone(tmp_path / "notes", {"README.md": "# Notes\n", "app.py": "print('hello')\n"})
    monkeypatch.chdir(clone.path)
    return clone


@pytest.fixture
def engine(repository: Clone) -> Iterator[RealEngine]:
    with real_engine() as running:
        yield running


def launch(terminal: RealTerminal, task: str = "Say hello") -> None:
    """Launches a demo colony by the form, and waits for its first question."""
    terminal.shows("No colonies yet")
    terminal.send("c")
    terminal.shows("Colonize")
    terminal.send(f"{task}\x13")
    terminal.shows("What should I add to this repository?")


def test_the_terminals_clipboard_is_written_to_only_when_the_person_says_so(
    engine: RealEngine, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("DISPLAY", "WAYLAND_DISPLAY", "WSL_DISTRO_NAME"):
        monkeypatch.delenv(name, raising=False)
    with real_terminal(*COCKPIT) as terminal:
        terminal.shows("No colonies yet")
        terminal.send("7y")
        terminal.shows("Copy the address of local", "OSC 52")
        assert b"\x1b]52" not in terminal.raw
        terminal.send("t")
        terminal.until(lambda: b"\x1b]52;c;" in terminal.raw, "the terminal to be asked")
        address = base64.b64encode(f"unix:{engine.engine.address.path}".encode())
        assert b"\x1b]52;c;" + address + b"\x07" in terminal.raw
        terminal.send("\x11")
        assert terminal.ended() == 0
        assert terminal.is_restored()


def has_stored(engine: RealEngine, draft: str) -> bool:
    """Whether the draft is in the drafts' database, its log included."""
    database = engine.paths.engine.cockpit_db
    files = (database, database.with_name(database.name + "-wal"))
    return any(draft.encode() in path.read_bytes() for path in files if path.exists())


def leave(terminal: RealTerminal, how: str | int) -> None:
    """By a key, by a signal, or because the terminal goes away."""
    if isinstance(how, int):
        terminal.kill(how)
    elif how == "hang up":
        terminal.hang_up()
    else:
        terminal.send(how)


def test_however_one_leaves_an_open_card_nothing_is_sent_the_draft_is_kept_and_the_terminal_is_as_it_was(
    engine: RealEngine,
) -> None:
    draft = ""
    for how in ("\x11", signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGKILL, "hang up"):
        with real_terminal(*COCKPIT) as terminal:
            if not draft:
                launch(terminal)
            terminal.shows("What should I add to this repository?")
            terminal.send("a")
            terminal.shows("1 A guide for agents", draft)
            terminal.send("!" if draft else "4half a thought")
            draft += "!" if draft else "half a thought"
            terminal.shows(draft, "draft kept")
            if how in (signal.SIGKILL, "hang up"):
                terminal.until(partial(has_stored, engine, draft), "the draft to be stored")
                leave(terminal, how)
                psutil.Process(terminal.pid).wait(20)
            else:
                leave(terminal, how)
                assert terminal.ended() == (128 + how if isinstance(how, int) else 0)
                assert terminal.is_restored()
        (colony,) = engine.colonies()
        assert colony.status == "waiting_for_answer"
        assert engine.ask(calls.colony(colony.key.endpoint, colony.key.colony)).answered == ()
    with cockpit() as terminal:
        terminal.shows("What should I add to this repository?")
        terminal.send("a")
        terminal.shows("1 A guide for agents", draft)


def test_every_size_down_to_one_cell_is_survived_with_a_card_open(engine: RealEngine) -> None:
    with real_terminal(*COCKPIT) as terminal:
        launch(terminal)
        terminal.send("a")
        terminal.shows("1 A guide for agents")
        terminal.send("2")
        terminal.shows("draft kept")
        for rows, columns in ((24, 80), (10, 40), (5, 20), (5, 5), (2, 2), (1, 1), (3, 200), (60, 1)):
            terminal.resize(rows, columns)
            terminal.until(lambda: psutil.pid_exists(terminal.pid))
        terminal.resize(9, 39)
        terminal.shows("too small")
        terminal.resize(40, 140)
        terminal.shows("(•) 2 A map of the files", "draft kept")
        terminal.send("\x11")
        assert terminal.ended() == 0
        assert terminal.is_restored()
    assert engine.colonies()[0].status == "waiting_for_answer"


def process_of(engine: RealEngine) -> int | None:
    """The engine's process, None while it does not answer."""
    try:
        return engine.pid()
    except ClientError:
        return None


def test_a_killed_engine_comes_back_and_the_colony_says_why_it_stopped(engine: RealEngine) -> None:
    with cockpit() as terminal:
        launch(terminal)
        killed = engine.pid()
        agents = [child.pid for child in psutil.Process(killed).children(recursive=True)]
        os.kill(killed, signal.SIGKILL)
        terminal.until(lambda: process_of(engine) not in (None, killed), "another engine")
        terminal.shows("stopped", "Say hello")
        assert not [pid for pid in agents if psutil.pid_exists(pid) and psutil.Process(pid).status() != "zombie"]
        (colony,) = engine.colonies()
        assert colony.status == "stopped"
        assert "killed" in colony.error
        terminal.send("r")
        terminal.shows("Resume this colony?")
        terminal.send("y")
        terminal.shows("What should I add to this repository?")
    detail = engine.ask(calls.colony(colony.key.endpoint, colony.key.colony))
    assert (len(engine.colonies()), detail.answered) == (1, ())


def engines_of_this_home() -> list[int]:
    """The processes that are engines of the sealed home, those that have lost and not yet ended among them."""
    found: list[int] = []
    for process in psutil.process_iter():
        with suppress(psutil.Error):
            is_engine = "colonizer_cli.main engine run" in " ".join(process.cmdline())
            if is_engine and is_alive(process) and process.environ().get("HOME") == str(Path.home()):
                found.append(process.pid)
    return found


def test_two_cockpits_opened_at_once_in_an_empty_home_share_one_engine(engine: RealEngine) -> None:
    with cockpit(rows=24, columns=240) as one, cockpit(rows=24, columns=240) as other:
        other.shows("No colonies yet", "local ●")
        launch(one)
        other.shows("Say hello", "1 colony", "What should I add to this repository?")
        other.send("a")
        other.shows("1 A guide for agents")
        other.send("1\r")
        for terminal in (one, other):
            terminal.shows("What else may I do?", "1 colony")
            terminal.send("7")
            terminal.shows(f"unix:{engine.engine.address.path}", "followed live")
        one.until(lambda: engines_of_this_home() == [engine.pid()], "the other engine to be gone")
        assert engine.paths.engine.log.read_text().count(" runs, process ") == 1
    (colony,) = engine.colonies()
    detail = engine.ask(calls.colony(colony.key.endpoint, colony.key.colony))
    assert [record.answer_raw for record in detail.answered] == ["A guide for agents"]


@pytest.mark.parametrize(
    ("stdin", "stderr", "term"), [("null", "tty", "xterm"), ("tty", "null", "xterm"), ("tty", "tty", "dumb")]
)
def test_without_a_terminal_it_says_what_to_use_instead(
    tmp_path: Path, stdin: str, stderr: str, term: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    redirections = f"{'</dev/null' if stdin == 'null' else ''} {f'2>{tmp_path}/said' if stderr == 'null' else ''}"
    command = f"TERM={term} {' '.join(COCKPIT)} {redirections}"
    with real_terminal("/bin/sh", "-c", command) as terminal:
        assert terminal.ended() == 1
        said = (tmp_path / "said").read_text() if stderr == "null" else terminal.raw.decode()
    assert "use the plain commands instead: colonizer list" in said
    assert "\x1b" not in said


@pytest.mark.parametrize("argv", [("--host", "hq"), ("--json", "tui")], ids=" ".join)
def test_an_option_that_the_cockpit_cannot_follow_is_refused_before_it_opens(argv: tuple[str, ...]) -> None:
    with real_terminal(*COCKPIT[:-1], *argv) as terminal:
        assert terminal.ended() == 2
    assert f"{argv[0]} only applies to the client commands, not `colonizer tui`" in terminal.raw.decode()
    assert b"\x1b" not in terminal.raw
