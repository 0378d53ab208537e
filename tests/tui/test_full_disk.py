"""A disk that is full, below the mothership or below the cockpit: what a person reads, and that nothing is lost."""

import signal
import sys
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path

import pytest
from anyio import from_thread, to_thread

from client.samples import Json, prompt, question_body
from loopback_fleet import loopback_fleet, sign_in, silent_server
from real_engine import real_engine
from real_terminal import RealTerminal, cockpit
from served_mothership import Served, asks, served

ROOM = 1 << 30

LONG = "abcd " * 1_500
"""More than still fits into the pages that a database has."""

CRAMPED = (
    sys.executable,
    "-c",
    """
import signal
from colonizer_cli.main import main
from colonizer_client.store import Store

opened = Store.__init__

def cramped(self, path):
    opened(self, path)
    def fill(*_):
        (pages,) = self.rows("PRAGMA page_count")[0]
        self.rows(f"PRAGMA max_page_count = {pages}")
    signal.signal(signal.SIGUSR1, fill)

Store.__init__ = cramped
main()
""",
    "tui",
)
"""The program; its own database cannot grow any more after a signal."""


@contextmanager
def full(mothership: Served) -> Generator[None]:
    """While this lasts, the mothership's database cannot grow by a page."""
    store = mothership.mothership.store
    from_thread.run_sync(store.limit_pages, 1)
    try:
        yield
    finally:
        from_thread.run_sync(store.limit_pages, ROOM)


def sessions(mothership: Served) -> list[Json]:
    """All colonies, as the mothership lists them."""
    found: list[Json] = from_thread.run(mothership.call, "GET", "/api/sessions").json()
    return found


def events(mothership: Served, colony: str, kind: str) -> list[Json]:
    """What the mothership has on record."""
    return from_thread.run_sync(mothership.events, colony, kind)


def launch(terminal: RealTerminal, mothership: Served) -> None:
    with full(mothership):
        terminal.send("c")
        terminal.shows("Colonize on hq")
        terminal.send("Say hello\x13")
        terminal.reads("the disk is full, and nothing was changed", "task Say hello")
        assert sessions(mothership) == []
    terminal.send("\x13")
    terminal.reads("1 colony", "Say hello")
    assert [session["instructions"] for session in sessions(mothership)] == ["Say hello"]


def answer(terminal: RealTerminal, mothership: Served) -> None:
    question = f"Really? {LONG}"
    colony = from_thread.run(mothership.launch, *asks("q1", question))
    terminal.shows("2 colonies", "asks")
    terminal.send("g")
    terminal.shows("Really?", "a opens the card")
    with full(mothership):
        terminal.send("a2\r")
        terminal.reads("not sent again", "the disk is full, and nothing was changed", "your draft is kept")
        assert from_thread.run_sync(mothership.session, colony)["status"] == "waiting_for_answer"
        assert events(mothership, colony, "question_answered") == []
    terminal.send("\r")
    terminal.reads("✓ delivered")
    from_thread.run(mothership.said, colony, "question_answered")
    assert [event["answers"] for event in events(mothership, colony, "question_answered")] == [{question: "No"}]


def write(terminal: RealTerminal, mothership: Served) -> None:
    colony = from_thread.run(mothership.launch)
    terminal.shows("A task")
    terminal.send("m")
    terminal.paste(f"{LONG}hold on")
    terminal.reads("hold on")
    before = len(events(mothership, colony, "user_message"))
    with full(mothership):
        terminal.send("\r")
        terminal.reads("the disk is full, and nothing was changed")
        assert len(events(mothership, colony, "user_message")) == before
    from_thread.run(partial(mothership.said, colony, "user_message", text=f"{LONG}hold on"))
    assert len(events(mothership, colony, "user_message")) == before + 1


@pytest.mark.anyio
# A mothership that could not store what an agent said rests for a while, and a message would wait for that.
@pytest.mark.parametrize("scenes", [(launch, answer), (write,)], ids=["launch and answer", "message"])
async def test_what_a_mothership_cannot_store_is_refused_with_the_reason_and_taken_once_there_is_room(
    scenes: Sequence[Callable[[RealTerminal, Served], None]], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def look(mothership: Served) -> None:
        port = mothership.http.base_url.port
        assert port is not None
        sign_in(port)
        with real_engine(), cockpit() as terminal:
            terminal.shows("local ●", "hq ●", "No colonies yet")
            for scene in scenes:
                scene(terminal, mothership)

    async with served(tmp_path, over_tcp=True) as mothership:
        monkeypatch.chdir(mothership.clone.path)
        await to_thread.run_sync(look, mothership)


def type_a_message(terminal: RealTerminal) -> None:
    terminal.send("m")
    terminal.paste(f"{LONG * 4}hold on")
    terminal.reads("hold on")


def pick_an_answer(terminal: RealTerminal) -> None:
    terminal.send("a")
    terminal.shows("the agent waits for you", "1 main")
    terminal.send("1")
    terminal.shows("(•) 1 main")


@pytest.mark.parametrize(
    ("prepare", "kept"), [(type_a_message, "hold on"), (pick_an_answer, "(•) 1 main")], ids=["message", "answer"]
)
def test_what_the_cockpit_cannot_keep_is_not_sent_and_stays_where_it_was(
    prepare: Callable[[RealTerminal], None], kept: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    server = silent_server()
    server.put("c0ffee00", status="waiting_for_answer", issue_title="Choose a base")
    long = prompt("Which base?", "main", preview="really? " * 5_000)
    server.questions["c0ffee00"] = question_body("q-1", long)
    with real_engine(), loopback_fleet(server) as port:
        sign_in(port)
        with cockpit(*CRAMPED) as terminal:
            terminal.shows("Choose a base", "a opens the card")
            prepare(terminal)
            terminal.kill(signal.SIGUSR1)
            terminal.send("\r")
            terminal.until(lambda: "database or disk is full" in terminal.told, "the reason")
            terminal.shows(kept)
    assert server.posts() == []
