"""The cockpit in tmux on the published mothership, which has one colony in every state."""

from collections.abc import Generator
from pathlib import Path

import pytest

from client.cockpits import Direct, connected, is_live
from client.cockpits import until as until_shown
from client.samples import key
from colonizer_client.answers import Chosen
from colonizer_client.clock import SystemClock
from colonizer_client.identity import ColonyId
from colonizer_client.mothership import calls
from colonizer_config.token import Token
from contract.published import HQ, TOKEN, Published, every_state, their_command
from contract.relay import Relay, relay_to
from loopback_fleet import sign_in
from real_terminal import COCKPIT, RealTerminal, real_terminal
from real_tmux import Tmux, tmux

SHOWN = (
    *("Greet the world", "Choose how to release", "Asleep with a question", "Asleep and answered", "Done", "Refused"),
    *("Tried the same denied call", "No sign of life", "Somebody fixed it first", "Would not boot", "Set aside"),
    *("Ready for review", "Nothing to do", "Stopped by a person", "Waits for a slot", "Stacked on a stopped one"),
    *("On its way", "Turn is over", "Another workspace asks", "Hostile ␛]0;owned␇ title ⟨U+202E⟩gnp.exe [red]x[/red]"),
)
"""What each colony is called."""


@pytest.fixture
def published(tmp_path: Path) -> Generator[Published]:
    with every_state(tmp_path) as made:
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
        made.shows("hq ●", "Choose how to release")
        yield made


def find(terminal: Tmux, title: str, colony: str) -> None:
    """Shows one colony of the fleet alone, with the cursor on it."""
    terminal.press("1", "Escape")
    terminal.until(lambda: "esc show all" not in terminal.text, "the whole list")
    terminal.press("/")
    terminal.type(title)
    terminal.press("Enter")
    terminal.shows(" of 21 colonies", f"{colony}  hq", "esc show all")


def test_the_list_shows_every_state(terminal: Tmux) -> None:
    seen = terminal.text
    for _ in range(30):
        terminal.press("j")
        seen += terminal.text
    assert [title for title in SHOWN if title[:24] not in seen] == []


def test_a_card_of_three_questions_is_answered(terminal: Tmux, published: Published) -> None:
    find(terminal, "Choose how to release", "5e6f7a8b")
    terminal.press("a")
    terminal.shows("the agent waits for you", "Which base branch?", "1 main")
    terminal.press("1", "1", "3")
    terminal.shows("2 of 3 answered")
    terminal.press("j", "j", "j", "j", "j", "Enter")
    terminal.type("A title")
    terminal.shows("3 of 3 answered")
    terminal.press("C-s")
    terminal.shows("delivered")
    answered = published.ask(calls.colony(HQ, ColonyId("5e6f7a8b"))).answered
    assert [record.answer_raw for record in answered] == ["main", ["unit", "2"], "A title"]


def test_an_answer_that_came_too_late_says_that_somebody_else_answered(
    terminal: Tmux, relay: Relay, published: Published
) -> None:
    find(terminal, "Another workspace asks", "910be000")
    terminal.press("a")
    terminal.shows("Launch the rocket?", "1 Yes")
    relay.flowing.clear()
    assert their_command("answer", "910be000", "no", host=published.host).exit == 0
    terminal.press("1", "C-s")
    terminal.shows("answered elsewhere")
    relay.flowing.set()


def test_an_answer_that_is_refused_says_why(terminal: Tmux, relay: Relay, published: Published) -> None:
    find(terminal, "Another workspace asks", "910be000")
    terminal.press("a")
    terminal.shows("Launch the rocket?", "1 Yes")
    relay.flowing.clear()
    assert their_command("stop", "910be000", host=published.host).exit == 0
    terminal.press("1", "C-s")
    terminal.shows("refused: the colony is stopped and cannot take an")
    relay.flowing.set()


def test_a_superseded_colony_says_by_what(terminal: Tmux, published: Published) -> None:
    find(terminal, "Somebody fixed it first", "51905e0d")
    terminal.shows("covered by", "https://github.example/acme/widgets/pull/9")
    terminal.press("r")
    terminal.shows("Its work was covered", "keep and resume")
    assert published.status("51905e0d") == "stopped"
    terminal.press("y")
    published.until_status("51905e0d", "queued")


def test_a_colony_is_stopped_and_resumed_into_the_queue(terminal: Tmux, published: Published) -> None:
    find(terminal, "Turn is over", "1d1e0000")
    terminal.press("s")
    terminal.shows("Stop this colony?")
    terminal.press("y")
    published.until_status("1d1e0000", "stopped")
    find(terminal, "Stopped by a person", "0dd50e5a")
    terminal.press("r")
    terminal.shows("Resume this colony?")
    terminal.press("y")
    published.until_status("0dd50e5a", "queued")


def test_a_cut_diff_says_that_it_is_cut(terminal: Tmux) -> None:
    find(terminal, "Choose how to release", "5e6f7a8b")
    terminal.press("d")
    terminal.shows("big0.txt", "at least")


def test_the_log_of_a_later_run_is_shown(terminal: Tmux) -> None:
    find(terminal, "Greet the world", "a1b2c3d4")
    terminal.press("Enter")
    terminal.shows("Make it say hello to everyone.", "I will change the greeting.", "run 2")
    assert "first run" not in terminal.text


def test_the_hostile_colony_is_drawn_and_does_nothing(published: Published, tmp_path: Path) -> None:
    sign_in(published.port)
    with real_terminal(*COCKPIT) as terminal:
        terminal.shows("hq ●", "Choose how to release")
        visit_the_hostile_colony(terminal)
        assert b"owned\x07" not in terminal.raw
        assert b"\x1b[2J\x1b[H every" not in terminal.raw
        assert "\u202e".encode() not in terminal.raw
        assert b"\x9b31m" not in terminal.raw


def visit_the_hostile_colony(terminal: RealTerminal) -> None:
    terminal.send("/Hostile\r")
    terminal.shows("Hostile ␛]0;owned␇ title")
    terminal.send("a")
    terminal.shows("Overwrite ␛[2J␛[H everything? [bold]y[/]")
    terminal.send("\x1b")
    terminal.send("3")
    terminal.shows("Overwrite ␛[2J␛[H everything? [bold]y[/]")


@pytest.mark.anyio
async def test_the_client_shows_what_the_commands_do(published: Published, tmp_path: Path) -> None:
    connector = Direct(published.address, Token(TOKEN))
    async with connected(connector, tmp_path, SystemClock()) as cockpit:
        await until_shown(cockpit, is_live)
        shown = await until_shown(cockpit, lambda now: len(now.questions) == 4)
        assert {colony.colony for colony in shown.questions} == {"5e6f7a8b", "c0ffee01", "910be000", "4057113e"}
        delivery = cockpit.answer(key("910be000"), shown.questions[key("910be000")], [Chosen(("Yes",))])
        await until_shown(cockpit, lambda now: now.deliveries[delivery.id].state == "confirmed")
        await until_shown(cockpit, lambda now: key("910be000") not in now.questions)
        await cockpit.read_diff(key("5e6f7a8b"))
        diff = cockpit.snapshot.diffs[key("5e6f7a8b")].diff
        assert diff is not None
        assert diff.truncated
        await cockpit.resume(key("0dd50e5a"))
        await until_shown(cockpit, lambda now: now.colonies[key("0dd50e5a")].status == "queued")
        await cockpit.stop(key("90e0e001"))
        await until_shown(cockpit, lambda now: now.colonies[key("90e0e001")].status == "stopped")
        cockpit.open(key("a1b2c3d4"))
        await until_shown(
            cockpit, lambda now: key("a1b2c3d4") in now.transcripts and now.transcripts[key("a1b2c3d4")].epoch == 2
        )
