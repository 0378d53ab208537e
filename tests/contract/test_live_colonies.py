"""The cockpit in tmux on the published mothership with colonies that really run."""

import sys
import time
from collections.abc import Generator
from pathlib import Path

import pytest

from colonizer_client.mothership import calls
from colonizer_client.mothership.calls import Call
from colonizer_client.mothership.models import Colony, LaunchOrder
from colonizer_client.mothership.replies import json_of
from contract.published import HQ, REPO, Published, live_colonies, their_command
from contract.relay import Relay, relay_to
from loopback_fleet import sign_in
from real_tmux import Tmux, tmux

COCKPIT = (sys.executable, "-m", "colonizer_cli.main", "tui")

GIVES_KEYS_S = 3.0
"""How long a card may take to open."""

ANSWERED = {
    "single": ("1", "Enter"),
    "multi": ("1", "3", "C-s"),
    "risky": ("2", "Enter"),
    "odd": ("1", "Enter"),
    "blocking": ("3", "Enter"),
    "exec": ("2", "Enter"),
}
"""The keys that answer each kind of question, once its card is open."""

EXPECTED = {
    "Which base? (single)": "main",
    "Which checks? (multi)": ["unit", "3"],
    "Which base? (risky)": "develop",
    "Which base? (odd)": "main",
    "Which base? (blocking)": "a new branch",
    "Run `curl exec`?": "Deny",
    "Which title? (text)": "My title",
}


@pytest.fixture
def published(tmp_path: Path) -> Generator[Published]:
    with live_colonies(tmp_path) as made:
        yield made


@pytest.fixture
def relay(published: Published) -> Generator[Relay]:
    with relay_to(published.port) as made:
        yield made


@pytest.fixture
def terminal(relay: Relay, tmp_path: Path) -> Generator[Tmux]:
    sign_in(relay.port)
    with tmux(tmp_path) as made:
        made.open(COCKPIT, tmp_path)
        made.shows("hq ●")
        yield made


def launched(published: Published, script: str) -> Colony:
    """A colony that was launched behind the cockpit's back."""
    order = LaunchOrder(REPO, task=f"script: {script}", autopilot=False)
    return published.ask(calls.launch(HQ, order))


def opened(terminal: Tmux, published: Published, script: str, *statuses: str) -> str:
    """A colony that was launched behind the cockpit's back, opened when it has such a status."""
    colony = launched(published, script).key.colony
    published.until_status(colony, *statuses)
    terminal.press("1")
    terminal.shows("script: ")
    terminal.press("Enter")
    return colony


def test_a_colony_is_launched_and_every_kind_of_question_answered(terminal: Tmux, published: Published) -> None:
    asks = "; ".join(f"ask {kind}" for kind in (*ANSWERED, "text", "cards last"))
    terminal.press("c")
    terminal.shows("Colonize on hq")
    terminal.type(REPO)
    terminal.press("Tab")
    terminal.type(f"script: {asks}")
    terminal.press("C-o", "C-o")
    terminal.shows("off")
    terminal.press("C-s")
    terminal.until(published.colonies, "it is launched")
    (colony,) = published.colonies()
    assert not colony.autopilot
    for kind, keys in ANSWERED.items():
        question = next(text for text in EXPECTED if kind in text)
        open_card(terminal, question)
        terminal.press(*keys)
    open_card(terminal, "Which title? (text)")
    terminal.type("My title")
    terminal.press("C-s")
    answer_three_in_one(terminal)
    published.until_status(colony.key.colony, "idle")
    record = published.ask(calls.colony(HQ, colony.key.colony)).answered
    cards = {"Which base? (last)": "main", "Which checks? (last)": ["lint"], "Which title? (last)": "The end"}
    assert {answered.text_raw: answered.answer_raw for answered in record} == EXPECTED | cards


def open_card(terminal: Tmux, question: str) -> None:
    """Opens a question's card. The key does nothing while the card of the question before is taken away."""
    terminal.press("2")
    terminal.shows(question, "a answer")
    is_open = False
    while not is_open:
        terminal.press("a")
        looked_until = time.monotonic() + GIVES_KEYS_S
        while not is_open and time.monotonic() < looked_until:
            is_open = question in terminal.text and "a answer" not in terminal.text


def answer_three_in_one(terminal: Tmux) -> None:
    open_card(terminal, "Which base? (last)")
    terminal.press("1", "2")
    terminal.shows("2 of 3 answered")
    terminal.press("j", "j", "j", "j", "j", "Enter")
    terminal.type("The end")
    terminal.shows("3 of 3 answered")
    terminal.press("C-s")


def test_a_card_that_is_answered_while_it_lies_open_is_replaced(
    terminal: Tmux, published: Published, relay: Relay
) -> None:
    colony = launched(published, "ask single first; ask single second").key.colony
    open_card(terminal, "Which base? (first)")
    relay.flowing.clear()
    assert their_command("answer", colony, "1", host=published.host).exit == 0
    terminal.press("2", "Enter")
    # Where the colony was read again before the key, its card was taken away instead.
    told = ("answered elsewhere", "it does not ask this any more", "it asks something else")
    terminal.until(lambda: any(words in terminal.text for words in told), f"waited for one of {told}")
    relay.flowing.set()
    open_card(terminal, "Which base? (second)")
    terminal.press("2", "Enter")
    published.until_status(colony, "idle")


def test_an_agent_is_written_to_and_interrupted(terminal: Tmux, published: Published) -> None:
    opened(terminal, published, "say Ready when you are.", "idle")
    terminal.shows("Ready when you are.")
    terminal.press("m")
    terminal.type("script: slow 60")
    terminal.press("C-s")
    terminal.shows("word5")
    terminal.press("Escape")
    terminal.shows("i interrupt")
    terminal.press("i")
    terminal.shows("turn over")
    terminal.until(lambda: published.colonies()[0].status == "idle", "the turn ends")


def test_a_colony_is_stopped_and_resumed_into_a_new_run(terminal: Tmux, published: Published) -> None:
    colony = opened(terminal, published, "say This is the first run.", "idle")
    terminal.shows("This is the first run.")
    terminal.press("s")
    terminal.shows("Stop this colony?")
    terminal.press("y")
    published.until_status(colony, "stopped")
    terminal.shows("stopped · its worktree is kept")
    terminal.press("r")
    terminal.shows("Resume this colony?")
    terminal.press("y")
    terminal.shows("· run 2", "This is the first run.", "turn over")
    published.until_status(colony, "idle")


def test_the_host_is_restarted_and_the_cockpit_comes_back(terminal: Tmux, published: Published) -> None:
    colony = opened(terminal, published, "ask single before", "waiting_for_answer")
    published.stop()
    terminal.shows("hq ○", "does not answer")
    published.start()
    terminal.shows("hq ●")
    open_card(terminal, "Which base? (before)")
    terminal.press("1", "Enter")
    published.until_status(colony, "idle")


def test_a_suspended_colony_is_answered_and_comes_back(terminal: Tmux, published: Published) -> None:
    limits = {"max_parallel": 3, "hold_timeout_minutes": 1440, "suspend_waiting": True, "suspend_after_minutes": 1}
    body = {"provider": "microsandbox", "enabled": True, "settings": limits}
    published.ask(Call("PUT", "/api/modules/sandbox", json_of, body))
    colony = launched(published, "ask single asleep").key.colony
    terminal.until(lambda: published.colonies()[0].status == "waiting_for_answer", "it asks")
    suspended = "it falls asleep"
    for _ in range(4):  # a minute goes by, and the mothership looks once in a while
        try:
            terminal.until(lambda: published.colonies()[0].suspended, suspended)
            break
        except TimeoutError:
            continue
    open_card(terminal, "Which base? (asleep)")
    terminal.press("1", "Enter")
    terminal.until(lambda: not published.colonies()[0].suspended, "it wakes up")
    published.until_status(colony, "idle")


def test_a_colony_is_published(terminal: Tmux, published: Published) -> None:
    colony = opened(terminal, published, "edit hello.txt hi; pr Say hi", "idle")
    terminal.shows("hello.txt", "idle")
    terminal.press("p")
    terminal.shows("Publish this colony's work?", REPO)
    terminal.press("y")
    published.until_status(colony, "pr_opened")
    terminal.shows("pr open")
    assert published.colonies()[0].pr_url == "https://github.com/acme/widgets/pull/101"
