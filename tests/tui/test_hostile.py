"""Text from outside that is made to steer the terminal, seen as the bytes that a real terminal gets."""

import json
import re
import sys
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from client.fleet_server import FleetServer
from client.hostile import ATTACKS, hidden, piled
from hostile_fleet import ASKING, IDLE, NO, ODD_ID, STOPPED, fleet, hostile
from loopback_fleet import loopback_fleet, sign_in
from plain_command import PROGRAM, process
from real_engine import real_engine
from real_terminal import RealTerminal, cockpit, real_terminal

WATCHED = """
import sys
from colonizer_cli.main import main
from colonizer_tui.guard import ControlGuard

guarded, notes = ControlGuard.apply, sys.argv.pop()

def watched(self, segments, background):
    shown = guarded(self, segments, background)
    if changed := [segment for segment in segments if segment not in shown]:
        with open(notes, "a") as found:
            found.writelines(ascii(segment.text) + "\\n" for segment in changed)
    return shown

ControlGuard.apply = watched
main()
"""
"""The program; what its last wall had to change is written down, for that came past the first one."""

CRASHING = """
import json, sys
from colonizer_cli.main import main
from colonizer_tui.present import explain

words = json.loads(sys.argv.pop())

def fail(*_):
    raise RuntimeError(words)

explain.explanation = fail
main()
"""
"""The program with a fault of its own, in which words from outside turn up."""

OURS = re.compile(
    r"\x1b\[[0-9;]*m"  # colours
    r"|(?:\r\n)?\x1b\[[0-9]+;[0-9]+H"  # a place, where the driver begins each row anew
    r"|\x1b\[\?(?:7|25|1000|1003|1004|1006|1015|1049|2004|2026|2048)[hl]"  # modes
    r"|\x1b\[\?(?:2026|2048)\$p|\x1b\[>25u|\x1b\[<u"  # what the terminal is able to do
    r"|\x1b\]22;default\x07"  # the pointer's shape
)
"""What the program itself sends besides letters."""


class Visitor:
    """Somebody who looks at everything and presses every key."""

    def __init__(self, terminal: RealTerminal) -> None:
        self.terminal = terminal
        terminal.shows("hq ●", "local ●", "9 colonies")

    def press(self, keys: str, *texts: str) -> None:
        self.terminal.send(keys)
        self.terminal.shows(*texts)

    def leave(self, text: str, *texts: str) -> None:
        """Presses esc, and waits until the text is gone and the others are there."""
        self.terminal.send("\x1b")
        self.terminal.until(lambda: text not in self.terminal.text, f"{text} to go")
        self.terminal.shows(*texts)

    def select(self, tag: str) -> None:
        """Puts the cursor of the list on a colony, and waits until it is shown beside the list."""
        self.press(f"/{tag}", tag)
        self.press("\r", f"/ {tag}")
        self.sees(tag)
        self.leave(f"/ {tag}")

    def sees(self, tag: str) -> None:
        """Waits until a colony is shown beside the list."""
        middle = self.terminal.screen.columns // 2
        self.terminal.until(lambda: any(tag in line[middle:] for line in self.terminal.text.split("\n")), tag)

    def read_whole(self) -> None:
        """Opens the viewer and reads to its end."""
        self.terminal.send("v")
        self.terminal.until(lambda: re.search("more lines|the end", self.terminal.text), "the viewer")
        self.press("G", "the end")
        self.leave("the end")

    def see_the_fleet(self) -> None:
        tags = ("HELD", "ASKING", "FAILED", "IDLE", "ODD", "COVERED", "STOPPED", "QUEUED", "PARKED")
        for key, tag in zip("gjjjjjjjj", tags, strict=True):
            self.press(key)
            self.sees(tag)
            self.press("e", "y copy   esc back", "needs you")
            self.leave("y copy   esc back")
        self.select("ASKING")
        self.terminal.shows("a opens the card", "changed · at least", "─ last")

    def answer(self) -> None:
        self.press("a", "unknown risk", "a tool call waits", "1 ▸")
        self.press("j1", "1 of 2 answered", "▌[ ] 1")
        self.press("12", "[x] 1", "[x] 2")
        self.read_whole()
        self.press("\x13", f"refused: {NO}")
        self.leave("v view all")

    def find(self) -> None:
        """Looks through all that there is to go to, jumps, completes, and asks for much at once."""
        self.press(":", "some letters of a name")
        self.press("own", ": own", "▌ ▲ HELD")
        self.press("\x1b[B" * 7, "▌ ■ COVERED")
        self.leave(": own")
        self.press("\x0f", "a-z go there")
        self.leave("a-z go there")
        self.press("/repo:\t\t", "tab")
        self.leave("esc drop it", "9 colonies")
        self.press("g" + " " * 9, "9 marked")
        self.press("s", "Stop", "Left out", "esc back, nothing is done")
        self.press("GG", "esc back, nothing is done")
        self.leave("nothing is done")
        self.leave("9 marked")

    def launch(self) -> None:
        self.press("c", "Colonize on hq")
        self.press("a/b\tDo it\x13", "start a second colony anyway")
        before = len(self.terminal.raw)
        self.press("b")
        self.terminal.until(lambda: b"wait behind colony" in self.terminal.raw[before:], "another refusal")
        self.leave("wait behind colony", "Colonize on hq", NO)
        self.leave("Colonize on hq")

    def see_the_other_places(self) -> None:
        self.press("2", "by urgency and risk")
        self.terminal.send("jjkk")
        self.press("7j", "scope", "followed live")
        self.press("T", "Tokens of hq", "launch")
        self.press("X", "Revoke this token?")
        self.leave("Revoke this token?", "Tokens of hq")
        self.leave("Tokens of hq", "followed live")
        self.press("L", "Wire log of hq")
        self.press("r", "/api/stream", "heard")
        self.press("kkkk\tjjj")
        self.read_whole()
        self.leave("Wire log of hq", "followed live")
        self.press("l", "Sign in to hq")
        self.press("x\r", "keep it in that file")
        self.leave("Sign in to hq", "followed live")
        self.press("?", "esc closes")
        self.leave("esc closes", "followed live")

    def take_things_away(self) -> None:
        """Copies, opens links, and looks at every dialog of hosts and tokens."""
        self.select("COVERED")
        self.press("K", "Keep this colony?")
        self.leave("Keep this colony?")
        self.select("ASKING")
        self.press("o", "no link here")
        self.press("y", "Copy the id", "into a new file")
        self.press("f", "the id c0ffee00 is in")
        self.press("\r", "message to the agent", "following")
        self.press("o", "Which link?")
        self.leave("Which link?")
        self.press("yd]y", "@@")
        self.press("\x10", "enter go  esc back")
        self.leave("enter go  esc back")
        for key, text in zip("EOXA", ("ctrl+s save", "sign out   esc", "y remove it", "ctrl+s add"), strict=True):
            self.press(f"7j{key}", text)
            self.leave(text, "followed live")
        self.press("T", "Tokens of hq")
        self.press("A", "ctrl+s make it")
        self.press("ci\x13", NO)
        self.leave("Make a token")
        self.press("X", "Revoke this token?")
        self.press("y", "no such")
        self.leave("Tokens of hq", "followed live")
        self.terminal.send("1")
        self.select("IDLE")
        self.press("p", "Publish this colony's work?")
        self.press("y", NO)

    def see_it_small(self) -> None:
        self.terminal.resize(24, 80)
        self.press("1", "9 colonies")
        self.press("/ASKING\r", "1 of 9 colonies")
        self.press("a", "waits", "ctrl+s")
        self.leave("ctrl+s")
        self.press("\r", "message to the agent", "following")
        self.press("d", "@@")
        self.press("2", "by urgency and risk")

    def see_one_colony(self) -> None:
        self.select("ASKING")
        self.press("m", " > ", "following")
        self.press("hello", "hello")
        self.press("\r", f"you  hello  ✗ refused: {NO}")
        self.leave("enter send")
        self.press("g" + "fj" * 30, "lines below")
        self.read_whole()
        self.press("/own", "own")
        self.press("\rn", "entries match")
        self.press("d", "at least 4 files")
        self.press("]]}fjjjj\x1b[C", "@@")
        self.read_whole()

    def be_refused(self) -> None:
        self.press("s", "Stop this colony?", "y stop it")
        self.press("y", NO)
        self.terminal.send("1")
        self.select("STOPPED")
        self.press("r", "Resume this colony?", "its log is kept")
        self.press("y", NO)
        self.press("X", "y remove it", "not committed")
        self.press("y", NO)
        self.select("COVERED")
        self.press("r", "Keep it and resume?")
        self.leave("Keep it and resume?")
        self.select("IDLE")
        self.press("d", NO)


@pytest.fixture
def server() -> FleetServer:
    return fleet(hostile())


@contextmanager
def visitor(server: FleetServer, folder: Path, monkeypatch: pytest.MonkeyPatch) -> Generator[Visitor]:
    """A visit to the cockpit, at whose end all that was written is judged."""
    monkeypatch.chdir(folder)
    found = folder / "past the first wall"
    found.touch()
    with real_engine(), loopback_fleet(server) as port:
        sign_in(port)
        argv = (sys.executable, "-c", WATCHED, "tui", str(found))
        with cockpit(*argv) as terminal:
            yield Visitor(terminal)
    letters = OURS.sub("", terminal.raw.decode())
    assert hidden(letters) == []
    assert piled(letters) == []
    assert found.read_text() == ""
    for written in (path for path in Path.home().rglob("*") if path.suffix in (".log", ".txt")):
        assert hidden(written.read_text().replace("\n", " ")) == [], written
    for sign in ("␛]52;", "␛]8;;", "␛[2J", "⟨U+009B⟩31m", "⟨U+202E⟩", "⟨U+200B⟩", "⟨U+DFFF⟩", "␈", "[@click=app.quit]"):
        assert sign in letters


def test_no_text_of_a_fleet_steers_the_terminal(
    server: FleetServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with visitor(server, tmp_path, monkeypatch) as somebody:
        somebody.see_the_fleet()
        somebody.answer()
        somebody.find()
        somebody.see_it_small()
    assert server.posts() == [f"/api/sessions/{ASKING}/answer"]
    first, second = server.questions[ASKING]["questions"]
    assert server.sent[0] == {
        "question_id": server.questions[ASKING]["question_id"],
        "answers": {
            first["question"]: first["options"][0]["label"],
            second["question"]: [option["label"] for option in second["options"][:2]],
        },
        "response": None,
        "questions": [first, second],
    }


def test_no_text_of_a_colony_and_no_refusal_steers_the_terminal(
    server: FleetServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with visitor(server, tmp_path, monkeypatch) as somebody:
        somebody.see_one_colony()
        somebody.be_refused()
        somebody.launch()
        somebody.see_the_other_places()
    assert server.posts() == [
        f"/api/sessions/{ASKING}/messages",
        f"/api/sessions/{ASKING}/stop",
        f"/api/sessions/{STOPPED}/resume",
        f"/api/sessions/{STOPPED}/cleanup",
        "/api/sessions",
        "/api/sessions",
    ]


def test_nothing_that_is_copied_opened_or_told_of_a_host_steers_the_terminal(
    server: FleetServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with visitor(server, tmp_path, monkeypatch) as somebody:
        somebody.take_things_away()
    assert server.posts() == ["/api/tokens", f"/api/sessions/{IDLE}/publish"]
    copies = sorted(Path.home().rglob("copied/*.txt"))
    assert len(copies) == 3
    assert any("evil.example" in copy.read_text() for copy in copies)


def test_a_crash_steers_neither_the_terminal_nor_whoever_reads_its_file(server: FleetServer) -> None:
    attacks = "own".join(ATTACKS)
    with real_engine(), loopback_fleet(server) as port:
        sign_in(port)
        with real_terminal(sys.executable, "-c", CRASHING, "tui", json.dumps(attacks)) as terminal:
            terminal.shows("9 colonies")
            terminal.send("e")
            assert terminal.ended() != 0
            assert terminal.is_restored()
    told = OURS.sub("", terminal.raw.decode()).replace("\r\n", " ").replace("\n", " ")
    assert hidden(told) == []
    assert "a fault of its own ended the cockpit (RuntimeError)" in told
    (crash,) = Path.home().rglob("crash-*.txt")
    assert "RuntimeError: ]52;c;" in crash.read_text()
    assert not any(ord(letter) < 32 for letter in crash.read_text().replace("\n", "").replace("\t", ""))


COMMANDS = ("list", f"status {ASKING}", f"logs {ASKING}", f"ask {ASKING}", f"stop {ASKING}", f"diff {ASKING} --stat")


@pytest.fixture
def named_host(server: FleetServer, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    with loopback_fleet(server) as port:
        monkeypatch.setenv("COLONIZER_BIND", f"127.0.0.1:{port}")
        monkeypatch.setenv("COLONIZER_TOKEN", "t")
        yield


@pytest.mark.usefixtures("named_host")
@pytest.mark.parametrize("command", [*COMMANDS, f"diff {ASKING}", f"status {ODD_ID}"])
def test_no_command_steers_the_terminal_that_it_prints_to(command: str) -> None:
    with real_terminal(*PROGRAM, *command.split()) as terminal:
        assert terminal.ended() == (5 if command.startswith("stop") else 0)
        printed = terminal.raw.decode().replace("\r\n", "\n")
    assert hidden(printed.replace("\n", " ")) == []
    assert "␛" in printed


@pytest.mark.parametrize("command", ["list", "connect list", "connect test hq", "doctor"])
def test_no_command_about_hosts_steers_the_terminal_that_it_prints_to(server: FleetServer, command: str) -> None:
    server.standing = {"owner": False, "scope": hostile()()}
    server.replies[("GET", "/api/status")] = (200, {"account_alerts": [{"account": hostile()(), "waiting": 1}]})
    with loopback_fleet(server) as port:
        sign_in(port)
        with real_terminal(*PROGRAM, *command.split()) as terminal:
            terminal.ended()
            printed = terminal.raw.decode().replace("\r\n", "\n")
    assert hidden(printed.replace("\n", " ")) == []
    assert "own␛]52;c;" in printed


@pytest.mark.usefixtures("named_host")
@pytest.mark.parametrize("command", COMMANDS)
def test_no_command_hides_anything_in_what_it_hands_to_a_program(command: str) -> None:
    done = process(*command.split())
    printed = done.stdout + done.stderr
    assert hidden(printed.replace("\n", " ")) == []
    assert "␛" in printed
