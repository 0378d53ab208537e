"""Odd questions and odd logs in a real terminal: what the screen says, and what was sent how often."""

from pathlib import Path

import pytest

from client.fleet_server import FleetServer
from client.samples import Json, prompt, question_body
from loopback_fleet import loopback_fleet, sign_in, silent_server
from real_engine import real_engine
from real_terminal import RealTerminal, cockpit

ASKING, LOGGED = "c0ffee00", "c0ffee01"
ANSWER = f"/api/sessions/{ASKING}/answer"

REPEATED = prompt("Overwrite?", "Yes", "Yes", "No")
WITHOUT_HEADER: Json = {"question": "Which base?", "options": [{"label": "main"}, {"label": "dev"}]}
WITHOUT_OPTIONS: Json = {"question": "Which title?"}


def ask_oddly(server: FleetServer) -> None:
    server.put(ASKING, status="waiting_for_answer", issue_title="Ask oddly")
    server.questions[ASKING] = question_body("q-1", REPEATED, WITHOUT_HEADER, WITHOUT_OPTIONS)
    server.replies["POST", ANSWER] = (204, None)


def log_oddly(server: FleetServer) -> None:
    server.put(LOGGED, issue_title="Log oddly")
    for _ in range(2):
        server.say(LOGGED, "tool_call", tool_call_id="t1", name="Bash", input={"command": "pytest -q"})
        server.say(LOGGED, "tool_result", tool_call_id="t1", output="ok", is_error=False)
    server.say(LOGGED, "assistant_text", message_id="m1", block_index=0, text="word " * 1_000_000)


def a_question_that_lacks_or_repeats_something_is_answered_with_one_request(
    server: FleetServer, terminal: RealTerminal
) -> None:
    terminal.shows("Ask oddly", "a opens the card")
    terminal.send("a")
    terminal.shows("the agent waits for you", "1 ▸ Overwrite?", "1 Yes", "2 Yes", "3 No")
    terminal.send("2")
    terminal.shows("2 ▸ Which base?", "1 main", "2 dev")
    terminal.send("2")
    terminal.shows("3 ▸ Which title?", "2 of 3 answered")
    terminal.send("\r")
    terminal.send("Two words")
    terminal.shows("Two words")
    assert server.posts() == []
    terminal.send("\x13")
    terminal.shows("✓ delivered")
    assert server.sent == [
        {
            "question_id": "q-1",
            "answers": {"Overwrite?": "Yes", "Which base?": "dev", "Which title?": "Two words"},
            "response": None,
            "questions": [REPEATED, WITHOUT_HEADER, WITHOUT_OPTIONS],
        }
    ]


def a_repeated_tool_call_is_drawn_once_and_an_endless_line_folded(terminal: RealTerminal) -> None:
    terminal.send("\r")
    terminal.shows("message to the agent", "v shows all")
    terminal.send("v")
    terminal.shows("more lines")
    terminal.send("\x1b")
    terminal.until(lambda: "more lines" not in terminal.text, "the viewer to close")
    terminal.send("g")
    terminal.shows("Bash     ✓ pytest -q")
    assert terminal.text.count("pytest -q") == 1


def test_odd_questions_are_answered_and_odd_logs_are_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    server = silent_server()
    ask_oddly(server)
    log_oddly(server)
    with real_engine(), loopback_fleet(server) as port:
        sign_in(port)
        with cockpit() as terminal:
            terminal.shows("Ask oddly", "Log oddly")
            terminal.send("g")
            a_question_that_lacks_or_repeats_something_is_answered_with_one_request(server, terminal)
            terminal.send("/log\r\r")
            a_repeated_tool_call_is_drawn_once_and_an_endless_line_folded(terminal)
    assert server.posts() == [ANSWER]
