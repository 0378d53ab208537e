"""What reaches stdout and stderr: outside text is shown there and obeyed nowhere."""

import json
import os
import pty
import subprocess
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import cast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from colonizer_cli import output
from colonizer_client.text import has_hidden_characters
from plain_command import LIMIT_S, PROGRAM, Done, colonizer, own_environment, process, started
from real_git import new_clone
from scripted_mothership import Reply, ScriptedMothership, scripted_mothership

EVIL = "a\x1b]0;owned\x07\x1b[2J\r\x08\x9b31m\x7f\u202e\u2066\u200b\u2028\ud800[red]x[/]"
"""A sequence of each kind: title, clear screen, return, backspace, C1, delete, bidi, zero width, line separator."""

SESSION: Mapping[str, object] = {
    "id": "a1b2c3d4",
    "repo": EVIL,
    "status": EVIL,
    "issue_title": EVIL,
    "issue": 1,
    "branch": EVIL,
    "pr_url": EVIL,
    "ci_state": EVIL,
    "error": EVIL,
    "claude_account": EVIL,
    "attention": {"reason": "waiting_for_account"},
    "diagnosis": {"text": EVIL},
    "recent_events": [{"seq": 1, "ts": EVIL, "type": EVIL, "summary": EVIL}],
}

QUESTION = {
    "question_id": "q",
    "risk": EVIL,
    "questions": [{"question": EVIL, "options": [{"label": EVIL, "description": EVIL}]}],
}

MAP = {
    "title": EVIL,
    "subtitle": EVIL,
    "components": [{"id": "a", "label": EVIL, "type": EVIL, "sublabel": EVIL, "sources": [{"path": EVIL}]}],
    "connections": [{"from": "a", "to": EVIL, "label": EVIL}],
    "boundaries": [{"label": EVIL, "wraps": ["a"]}],
}

DIFF = {"diff": f"+{EVIL}\n", "files": [{"path": EVIL, "added": 1, "removed": 0}], "added": 1, "removed": 0}

TOKENS = [{"id": EVIL, "name": EVIL, "scope": EVIL, "orgs": [EVIL], "repos": [EVIL], "created_at": EVIL}]

REPLIES = {
    ("GET", "/api/sessions"): Reply.json([SESSION]),
    ("GET", "/api/status"): Reply.json({"account_alerts": [{"account": EVIL, "waiting": 1}]}),
    ("GET", "/api/sessions/a1b2c3d4"): Reply.json(SESSION),
    ("GET", "/api/sessions/a1b2c3d4/question"): Reply.json(QUESTION),
    ("GET", "/api/sessions/a1b2c3d4/diff"): Reply.json(DIFF),
    ("POST", "/api/sessions/a1b2c3d4/stop"): Reply.json({"result": EVIL}),
    ("POST", "/api/sessions/a1b2c3d4/resume"): Reply.json({"status": EVIL}),
    ("POST", "/api/sessions/a1b2c3d4/answer"): Reply.json({"error": EVIL}, 409),
    ("POST", "/api/sessions"): Reply.json({"id": EVIL, "status": EVIL}),
    ("GET", "/api/maps/a/b"): Reply.json({"map": {"repo": EVIL, "revision": EVIL, "map": MAP}}),
    ("GET", "/api/tokens"): Reply.json(TOKENS),
    ("POST", "/api/tokens"): Reply.json({"token": EVIL}),
    ("DELETE", "/api/tokens/t"): Reply(500, EVIL.replace("\ud800", ""), "text/plain"),
}

COMMANDS = [
    "list",
    "status a1b2c3d4",
    "logs a1b2c3d4",
    "ask a1b2c3d4",
    "answer a1b2c3d4 1",
    "diff a1b2c3d4 --stat",
    "stop a1b2c3d4",
    "resume a1b2c3d4",
    "pr a1b2c3d4",
    "launch a/b x",
    "map a/b",
    "map a/b --find a",
    "token list",
    "token revoke t",
]


@pytest.fixture
def evil() -> Iterator[ScriptedMothership]:
    with scripted_mothership(REPLIES) as mothership:
        yield mothership


def harmless(text: str) -> bool:
    return not has_hidden_characters(text)


def test_a_token_that_could_not_be_sent_is_not_printed(evil: ScriptedMothership) -> None:
    done = colonizer("token", "create", "x", "--scope", "read", COLONIZER_BIND=evil.host, COLONIZER_TOKEN="t")
    assert (done.exit, done.stdout) == (1, "")
    assert "tells none that can be used" in done.stderr
    assert harmless(done.stderr)


@pytest.mark.parametrize("command", COMMANDS)
def test_no_command_prints_a_control_from_outside(evil: ScriptedMothership, command: str) -> None:
    done = colonizer(*command.split(), COLONIZER_BIND=evil.host, COLONIZER_TOKEN="t")
    assert harmless(done.stdout)
    assert harmless(done.stderr)
    assert "owned" in done.stdout + done.stderr
    assert "␛" in done.stdout + done.stderr


@pytest.mark.parametrize(
    "command", [command for command in COMMANDS if "answer" not in command and "--stat" not in command]
)
def test_json_keeps_the_value_and_escapes_what_is_hidden(evil: ScriptedMothership, command: str) -> None:
    done = colonizer(*command.split(), "--json", COLONIZER_BIND=evil.host, COLONIZER_TOKEN="t")
    assert harmless(done.stdout)
    if done.exit == 0:
        assert EVIL in strings(json.loads(done.stdout))


def strings(value: object) -> set[str]:
    if isinstance(value, str):
        return {value}
    if isinstance(value, dict):
        return strings(list(cast("dict[str, object]", value).values()))
    inner = cast("list[object]", value) if isinstance(value, list) else []
    return {text for part in inner for text in strings(part)}


def test_any_text_comes_back_unchanged_from_json_and_hides_nothing(evil: ScriptedMothership) -> None:
    @given(text=st.text(st.characters(codec=None)))
    def comes_back(text: str) -> None:
        evil.replies = {("GET", "/api/tokens"): Reply.json([{text: text}])}
        done = colonizer("token", "list", "--json", COLONIZER_BIND=evil.host, COLONIZER_TOKEN="t")
        assert json.loads(done.stdout) == [{text: text}]
        assert harmless(done.stdout)

    comes_back()


def test_letters_of_any_script_stand_in_json_as_they_are() -> None:
    with scripted_mothership({("GET", "/api/tokens"): Reply.json(["Grüße, 世界 🚀 \u00a0"])}) as mothership:
        done = colonizer("token", "list", "--json", COLONIZER_BIND=mothership.host, COLONIZER_TOKEN="t")
    assert done.stdout == '[\n  "Grüße, 世界 🚀 \u00a0"\n]\n'


@pytest.mark.parametrize(("printer", "stream"), [(output.say, "out"), (output.note, "err"), (output.ask, "err")])
def test_nothing_gets_past_what_prints_even_where_a_command_forgot_to_make_it_safe(
    printer: Callable[[str], None], stream: str, capsys: pytest.CaptureFixture[str]
) -> None:
    printer(EVIL)
    printed: str = getattr(capsys.readouterr(), stream)
    assert harmless(printed)
    assert printed.startswith("a␛]0;owned␇␛[2J␍␈⟨U+009B⟩31m␡⟨U+202E⟩")


def test_an_error_from_outside_brings_no_line_that_passes_for_one_of_ours() -> None:
    session = {"id": "x", "status": "failed", "cost_usd": 1.0, "error": "boom\npr        https://evil.example"}
    with scripted_mothership({("GET", "/api/sessions/x"): Reply.json(session)}) as mothership:
        done = colonizer("status", "x", COLONIZER_BIND=mothership.host, COLONIZER_TOKEN="t")
    assert [line for line in done.stdout.splitlines() if line.startswith("pr ")] == ["pr        -"]


def test_a_line_of_a_question_does_not_pass_for_an_option() -> None:
    question = {"question_id": "q", "questions": [{"question": "Sure?\n  1) no", "options": [{"label": "yes"}]}]}
    with scripted_mothership({("GET", "/api/sessions/x/question"): Reply.json(question)}) as mothership:
        done = colonizer("ask", "x", COLONIZER_BIND=mothership.host, COLONIZER_TOKEN="t")
    assert [line for line in done.stdout.splitlines() if line.startswith("  1)")] == ["  1) yes"]


# The streams themselves.


@pytest.fixture
def long_list() -> Iterator[ScriptedMothership]:
    rows = [{"id": f"c{number}", "issue_title": "x" * 60, "issue": number} for number in range(5_000)]
    replies = {("GET", "/api/sessions"): Reply.json(rows), ("GET", "/api/status"): Reply.json({})}
    with scripted_mothership(replies) as mothership:
        yield mothership


@pytest.mark.parametrize("argv", [("list",), ("list", "--json")])
def test_a_reader_that_has_had_enough_ends_the_command_quietly(
    long_list: ScriptedMothership, argv: tuple[str, ...]
) -> None:
    with started(*argv, environment={"COLONIZER_BIND": long_list.host, "COLONIZER_TOKEN": "t"}) as listing:
        assert listing.stdout is not None
        assert listing.stderr is not None
        assert listing.stdout.readline()
        listing.stdout.close()
        assert listing.wait(LIMIT_S) == 0
        assert listing.stderr.read() == ""


def run_with_stdout(stdout: int, *argv: str, **environment: str) -> "subprocess.CompletedProcess[bytes]":
    return subprocess.run(
        (*PROGRAM, *argv),
        stdout=stdout,
        stderr=subprocess.PIPE,
        env=own_environment(environment),
        timeout=LIMIT_S,
        check=False,
    )


def test_a_full_disk_is_told(evil: ScriptedMothership) -> None:
    full = os.open("/dev/full", os.O_WRONLY)
    try:
        done = run_with_stdout(full, "status", "a1b2c3d4", COLONIZER_BIND=evil.host, COLONIZER_TOKEN="t")
    finally:
        os.close(full)
    assert done.returncode == 1
    assert done.stderr == b"colonizer: the output cannot be written: No space left on device\n"


def test_a_closed_stdout_is_no_fault(evil: ScriptedMothership) -> None:
    environment = own_environment({"COLONIZER_BIND": evil.host, "COLONIZER_TOKEN": "t"})
    command = ("sh", "-c", 'exec "$@" >&-', "sh", *PROGRAM, "status", "a1b2c3d4")
    done = subprocess.run(command, capture_output=True, env=environment, timeout=LIMIT_S, check=False)
    assert (done.returncode, done.stderr) == (0, b"")


def test_a_terminal_that_lacks_a_character_gets_a_sign_for_it(evil: ScriptedMothership) -> None:
    environment = {"COLONIZER_BIND": evil.host, "COLONIZER_TOKEN": "t", "PYTHONIOENCODING": "ascii"}
    done = process("status", "a1b2c3d4", **environment)
    assert done.exit == 0
    assert done.stdout.isascii()
    assert "\\u2014" in done.stdout


def test_json_is_json_whatever_the_encoding() -> None:
    with scripted_mothership({("GET", "/api/tokens"): Reply.json(["Grüße"])}) as mothership:
        environment = {"COLONIZER_BIND": mothership.host, "COLONIZER_TOKEN": "t", "PYTHONIOENCODING": "iso8859-1"}
        done = process("token", "list", "--json", **environment)
    assert json.loads(done.stdout) == ["Grüße"]


# The diff, which programs read too.


def test_a_diff_goes_to_a_program_byte_for_byte(evil: ScriptedMothership) -> None:
    text = "+a\x1b[2J\r\n+\x9b\u202e é\t\n"
    evil.replies = {("GET", "/api/sessions/a1b2c3d4/diff"): Reply.json({"diff": text})}
    reading, writing = os.pipe()
    done = run_with_stdout(writing, "diff", "a1b2c3d4", COLONIZER_BIND=evil.host, COLONIZER_TOKEN="t")
    os.close(writing)
    with os.fdopen(reading, "rb") as pipe:
        assert pipe.read() == text.encode()
    assert done.returncode == 0


def test_a_diff_is_shown_on_a_terminal(evil: ScriptedMothership) -> None:
    ours, theirs = pty.openpty()
    done = run_with_stdout(theirs, "diff", "a1b2c3d4", COLONIZER_BIND=evil.host, COLONIZER_TOKEN="t")
    os.close(theirs)
    printed = os.read(ours, 65536)
    os.close(ours)
    assert done.returncode == 0
    assert b"\x1b" not in printed
    assert "+a␛]0;owned␇␛[2J".encode() in printed


def test_a_diff_can_be_applied(evil: ScriptedMothership, tmp_path: Path) -> None:
    clone = new_clone(tmp_path / "clone", {"file": "one\ttab\r\ntwo\x1b[0m\n"})
    (clone.path / "file").write_bytes(b"one\ttab\r\ntwo\x1b[0m\nthree \xc3\xa9\n")
    wanted = clone.git("diff")
    evil.replies = {("GET", "/api/sessions/a1b2c3d4/diff"): Reply.json({"diff": f"{wanted}\n"})}
    clone.git("checkout", "--quiet", "file")
    patch = tmp_path / "patch"
    with patch.open("wb") as file:
        run_with_stdout(file.fileno(), "diff", "a1b2c3d4", COLONIZER_BIND=evil.host, COLONIZER_TOKEN="t")
    clone.git("apply", str(patch))
    assert clone.git("diff") == wanted


def test_a_truncated_diff_says_so_apart_from_the_diff(evil: ScriptedMothership) -> None:
    evil.replies = {("GET", "/api/sessions/a1b2c3d4/diff"): Reply.json({"diff": "+x\n", "truncated": True})}
    done = colonizer("diff", "a1b2c3d4", COLONIZER_BIND=evil.host, COLONIZER_TOKEN="t")
    assert done == Done(0, "+x\n", "note: the diff was truncated; the colony's worktree has the whole thing\n")


def test_a_fault_of_our_own_prints_no_secret_and_no_control() -> None:
    code = (
        "import sys; from colonizer_cli import main\n"
        "main._tell_fault(*(lambda e: (type(e), e, None))(ValueError('\\x1b[2J col_' + 'a' * 64)))"
    )
    done = subprocess.run(
        (*PROGRAM[:1], "-c", code), capture_output=True, text=True, env=own_environment({}), timeout=LIMIT_S, check=True
    )
    assert done.stderr == "ValueError: ␛[2J ‹redacted 68 chars›\n"
