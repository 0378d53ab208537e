"""Odd questions and odd logs in a real terminal: what the screen says, and what was sent how often."""

from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

import pytest

from client.fleet_server import FleetServer
from client.samples import Json, prompt, question_body
from loopback_fleet import loopback_fleet, sign_in, silent_server
from real_engine import real_engine
from real_terminal import RealTerminal, cockpit

COLONY = "c0ffee00"
ANSWER = f"/api/sessions/{COLONY}/answer"


@contextmanager
def looking_at(server: FleetServer, folder: Path, monkeypatch: pytest.MonkeyPatch) -> Generator[RealTerminal]:
    """The cockpit of somebody whose default host is the server."""
    monkeypatch.chdir(folder)
    with real_engine(), loopback_fleet(server) as port:
        sign_in(port)
        with cockpit() as terminal:
            yield terminal


def test_a_question_that_lacks_or_repeats_something_is_answered_with_one_request(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    repeated = prompt("Overwrite?", "Yes", "Yes", "No")
    without_header: Json = {"question": "Which base?", "options": [{"label": "main"}, {"label": "dev"}]}
    without_options: Json = {"question": "Which title?"}
    server = silent_server()
    server.put(COLONY, status="waiting_for_answer", issue_title="Ask oddly")
    server.questions[COLONY] = question_body("q-1", repeated, without_header, without_options)
    server.replies["POST", ANSWER] = (204, None)
    with looking_at(server, tmp_path, monkeypatch) as terminal:
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
    assert server.posts() == [ANSWER]
    assert server.sent == [
        {
            "question_id": "q-1",
            "answers": {"Overwrite?": "Yes", "Which base?": "dev", "Which title?": "Two words"},
            "response": None,
            "questions": [repeated, without_header, without_options],
        }
    ]


def test_a_repeated_tool_call_is_drawn_once_and_an_endless_line_folded(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    server = silent_server()
    server.put(COLONY)
    for _ in range(2):
        server.say(COLONY, "tool_call", tool_call_id="t1", name="Bash", input={"command": "pytest -q"})
        server.say(COLONY, "tool_result", tool_call_id="t1", output="ok", is_error=False)
    server.say(COLONY, "assistant_text", message_id="m1", block_index=0, text="word " * 1_000_000)
    with looking_at(server, tmp_path, monkeypatch) as terminal:
        terminal.shows("A task")
        terminal.send("\r")
        terminal.shows("message to the agent", "v shows all")
        terminal.send("v")
        terminal.shows("more lines")
        terminal.send("\x1b")
        terminal.until(lambda: "more lines" not in terminal.text, "the viewer to close")
        terminal.send("g")
        terminal.shows("Bash     ✓ pytest -q")
        assert terminal.text.count("pytest -q") == 1
    assert server.posts() == []
