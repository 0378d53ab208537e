"""What people reported of tools like this one, played to ours."""

import asyncio
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest
from textual.events import Resize
from textual.geometry import Size
from textual.pilot import Pilot

from client.fleet_server import FleetServer, Message, Receive, Send
from client.hand_clock import LONG_S
from client.samples import HQ
from colonizer_client.identity import ColonyId, ColonyKey
from colonizer_client.mothership import calls
from colonizer_config.address import SocketAddress
from moments import LAB, every_state, silent, still_app
from real_engine import RealEngine, real_engine, screen_text, settled, until
from real_git import new_clone
from real_terminal import COCKPIT, real_terminal
from real_tmux import tmux
from still_hosts import StillHosts
from tui.test_faults import asking, bench
from tui.test_host_snapshots import DIALOGS
from tui.test_many_hosts import SELF
from tui.test_snapshots import OPENED, TO_GREET
from tui.test_terminal import launch

pytestmark = pytest.mark.anyio

ROOM = (120, 30)

TINY = [(width, height) for width in range(6) for height in range(6)]

SHARES = 9
"""Each picture has to bear no room at all, and one of so many shares of the tiny sizes."""

Way = tuple[str, Sequence[str]]
"""What one comes to, and the keys that lead there."""

WAYS: dict[str, list[Way]] = {
    "fleet": [
        ("the list", "jj"),
        ("an explanation", ["e"]),
        ("the find bar", ["escape", "slash", *"gre"]),
        ("places", ["escape", "escape", "colon", *"wid"]),
        ("actions", ["escape", "ctrl+p"]),
        ("help", ["escape", "question_mark"]),
        ("a form", ["escape", "c"]),
        ("a confirmation", ["escape", "s"]),
        ("all that is marked", ["escape", "space", "j", "space", "s"]),
    ],
    "needs you": [
        ("the list", "2jj"),
        ("a card", "a1"),
        ("what was written", ["4", *"by hand"]),
        ("the whole text", ["escape", "v"]),
    ],
    "colony": [
        ("transcript", TO_GREET),
        ("a draft", ["m", *"half a thought"]),
        ("the diff", ["escape", "d", "j", "j"]),
        ("ways to copy", "y"),
    ],
    "connections": [
        ("the list", "7jj"),
        ("signing in", "l"),
        ("adding", ["escape", "A"]),
        ("another name", ["escape", "E"]),
        ("signing out", ["escape", "O"]),
        ("removing", ["escape", "X"]),
    ],
}


@pytest.mark.parametrize("workspace", WAYS)
async def test_small_sizes_are_survived_and_all_is_back_when_there_is_room(workspace: str, tmp_path: Path) -> None:
    app = still_app(tmp_path, [*OPENED, silent(LAB)], hosts=StillHosts(has_keyring=False))
    async with app.run_test(size=ROOM, notifications=True) as pilot:
        await until(pilot, lambda: app.deck.view.snapshot is app.cockpit.snapshot)
        await settled(pilot)
        for number, (what, keys) in enumerate(WAYS[workspace]):
            for key in keys:
                await pilot.press(key)
            await survives_small_sizes(pilot, what, number)


@pytest.mark.parametrize("dialog", ["wire log", "tokens", "a new token"])
async def test_a_dialog_of_a_host_survives_small_sizes(dialog: str, tmp_path: Path) -> None:
    app = still_app(tmp_path, every_state())
    async with app.run_test(size=ROOM) as pilot:
        await until(pilot, lambda: app.deck.view.snapshot is app.cockpit.snapshot)
        await settled(pilot)
        await app.push_screen(DIALOGS[dialog]())
        await survives_small_sizes(pilot, dialog)


async def survives_small_sizes(pilot: Pilot[None], what: str, number: int = 0) -> None:
    await settled(pilot)
    before = screen_text(pilot)
    for size in ((0, 0), *TINY[number % SHARES :: SHARES]):
        await resize(pilot, size)
    await resize(pilot, (20, 5))
    await until(pilot, lambda: "too small" in screen_text(pilot))
    await resize(pilot, (40, 10))
    await until(pilot, lambda: "too small" not in screen_text(pilot))
    await resize(pilot, ROOM)
    await settled(pilot)
    assert screen_text(pilot) == before, what


async def resize(pilot: Pilot[None], size: tuple[int, int]) -> None:
    """Gives the terminal another size, and lets the application draw itself in it."""
    assert pilot.app._driver is not None  # pyright: ignore[reportPrivateUsage]
    pilot.app._driver._size = size  # pyright: ignore[reportPrivateUsage]
    pilot.app.post_message(Resize(Size(*size), Size(*size)))
    await pilot.pause(0)


async def test_a_host_that_stopped_with_a_question_open_comes_back_by_itself(tmp_path: Path) -> None:
    async with bench(tmp_path, asking()) as it:
        await it.shows("Needs you 1", "Which base?")
        it.server.replies[SELF] = (503, {"error": "resting"})
        it.server.end("/api/stream")
        await it.shows("Needs you +1?", "hq does not answer")
        await it.press("a")
        await it.shows("as of")
        del it.server.replies[SELF]
        await it.shows("Needs you 1", "a opens the card")
        assert it.answers_sent() == 0


class SlowDiffs(FleetServer):
    """Begins to tell of changes, and never comes to their end."""

    def __init__(self, address: SocketAddress) -> None:
        super().__init__(address)
        self.begun, self.left = asyncio.Event(), asyncio.Event()

    async def __call__(self, scope: Message, receive: Receive, send: Send) -> None:
        if not str(scope["path"]).endswith(f"{SLOW}/diff"):
            await super().__call__(scope, receive, send)
            return
        await send({"type": "http.response.start", "status": 200, "headers": [(b"content-length", b"1000000")]})
        await send({"type": "http.response.body", "body": b'{"base": "', "more_body": True})
        self.begun.set()
        while (await receive())["type"] != "http.disconnect":
            pass
        self.left.set()


SLOW = "5105105d"


async def test_changes_that_come_slowly_are_loading_and_are_read_no_longer_once_they_are_left(tmp_path: Path) -> None:
    def two(server: FleetServer) -> None:
        server.put("c0ffee00", issue_title="Another one", git_admin_dir="/x", status="idle")
        server.put(SLOW, issue_title="A slow one", git_admin_dir="/x")

    async with bench(tmp_path, two, SlowDiffs) as it:
        assert isinstance(it.server, SlowDiffs)
        await it.shows("A slow one", "Another one")
        await it.press("slash", *"slow", "enter")
        async with asyncio.timeout(LONG_S):
            await it.server.begun.wait()
        await it.press("d")
        await it.shows("reading the changes")
        await it.press("escape", "escape", "escape", "slash", *"another", "enter", "enter")
        async with asyncio.timeout(LONG_S):
            await it.server.left.wait()
        assert not it.app.cockpit.snapshot.diffs[ColonyKey(HQ, ColonyId(SLOW))].is_loading


@pytest.fixture
def engine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[RealEngine]:
    monkeypatch.chdir(new_clone(tmp_path / "notes", {"README.md": "# Notes\n"}).path)
    with real_engine() as running:
        yield running


def test_of_two_terminals_that_answer_one_question_at_once_one_is_heard_and_the_next_question_is_untouched(
    engine: RealEngine,
) -> None:
    with real_terminal(*COCKPIT) as first, real_terminal(*COCKPIT) as second:
        launch(first)
        second.shows("What should I add to this repository?")
        for terminal, choice in ((first, "1"), (second, "2")):
            terminal.send("a")
            terminal.shows("1 A guide for agents")
            terminal.send(choice)
            terminal.shows(f"(•) {choice}")
        first.send("\r\r")
        second.send("\r\r")
        for terminal in (first, second):
            terminal.shows("What else may I do?")
    (colony,) = engine.colonies()
    detail = engine.ask(calls.colony(colony.key.endpoint, colony.key.colony))
    assert [question.text_raw for question in detail.answered] == ["What should I add to this repository?"]
    assert colony.status == "waiting_for_answer"


def test_what_a_terminal_says_in_pieces_and_a_huge_paste_do_not_become_text(engine: RealEngine) -> None:
    lines = "\r".join(f"\tline {number}" for number in range(40))
    with real_terminal(*COCKPIT) as terminal:
        launch(terminal)
        terminal.send("a")
        terminal.shows("1 A guide for agents")
        terminal.send("4begin ")
        terminal.shows("begin")
        for piece in ("\x1b]11;rgb:1e1e", "/1e1e/1e", "1e\x1b\\", "\x1b[?2026;", "2$y", "\x1b[?1;2", "c"):
            terminal.send(piece)
            terminal.shows("begin")
        terminal.send(f"\x1b[200~{lines}\x1b[201~")
        terminal.shows("line 39")
        terminal.paste("x" * 300_000)
        terminal.shows("300,000 characters are too many", "line 39")
        terminal.send(" end")
        terminal.shows("line 39 end")
        assert "rgb" not in terminal.text
        terminal.send("\x11")
        assert terminal.ended() == 0
    (colony,) = engine.colonies()
    assert colony.status == "waiting_for_answer"


def test_two_clients_of_one_tmux_may_have_any_size(engine: RealEngine, tmp_path: Path) -> None:
    with tmux(tmp_path) as window:
        window.open(COCKPIT, Path.cwd())
        window.shows("No colonies yet")
        attach = ("/usr/bin/env", "tmux", "-S", str(tmp_path / "tmux"), "attach")
        with real_terminal(*attach, rows=30, columns=100) as large, real_terminal(*attach, rows=6, columns=30) as small:
            small.shows("too small")
            small.resize(2, 2)
            large.send("?")
            large.resize(1, 1)
            large.resize(30, 100)
            small.hang_up()
            large.shows("esc closes")
            large.send("\x1b")
            large.shows("No colonies yet")
            large.send("\x11")
            assert large.ended() == 0
