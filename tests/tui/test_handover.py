"""Copying and opening: real programs get what was copied, nothing reaches the terminal unasked, links show first."""

import stat
import sys
from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from msgspec.structs import replace
from textual.pilot import Pilot

from colonizer_client.mothership.models import Superseded
from colonizer_client.snapshot import ColonyChanged, HubEvent
from colonizer_tui import browser, clipboard
from colonizer_tui.app import CockpitApp
from moments import WORK, colony, diff_read, every_state, key_of, still_app, transcript_of
from real_engine import screen_text, settled, until

pytestmark = pytest.mark.anyio

GREET = key_of("a1b2c3d4")
OPENED = [*every_state(), transcript_of(GREET, WORK), diff_read(GREET)]
TO_GREET = ("j", "j", "j", "j", "j", "j", "enter")
PULL = "https://github.example/acme/widgets/pull/18"


@pytest.fixture(autouse=True)
def patient(monkeypatch: pytest.MonkeyPatch) -> None:
    """A busy machine starts programs late."""
    monkeypatch.setattr(clipboard, "LIMIT_S", 20.0)


class Session:
    def __init__(self, app: CockpitApp, pilot: Pilot[None], folder: Path) -> None:
        self.app, self.pilot, self.folder = app, pilot, folder
        self.sent: list[str] = []

    @property
    def text(self) -> str:
        return screen_text(self.pilot)

    @property
    def given(self) -> list[str]:
        """What the terminal was asked to take into its clipboard."""
        return [sequence for sequence in self.sent if sequence.startswith("\x1b]")]

    async def press(self, *keys: str) -> None:
        await self.pilot.press(*keys)

    async def shows(self, *texts: str) -> None:
        await until(self.pilot, lambda: all(text in self.text for text in texts))

    async def gets(self, name: str) -> str:
        """What a program of this test was given."""
        path = self.folder / f"{name}.got"
        await until(self.pilot, lambda: path.exists() and path.read_text().endswith("<end>"))
        return path.read_text().removesuffix("<end>")


def put_program(folder: Path, name: str, *, code: int = 0) -> None:
    """A program of this name, which writes down what it was given on stdin, or as its argument."""
    path = folder / "bin" / name
    path.parent.mkdir(exist_ok=True)
    given = 'printf "%s" "$1"' if name == "xdg-open" else "cat"
    path.write_text(f'#!/bin/sh\n{{ {given}; printf "<end>"; }} > "{folder}/{name}.got"\nexit {code}\n')
    path.chmod(0o755)


def environment(folder: Path, **more: str) -> Mapping[str, str]:
    return {"PATH": f"{folder / 'bin'}:/bin:/usr/bin", **more}


@asynccontextmanager
async def session(folder: Path, events: Sequence[HubEvent] = OPENED, **variables: str) -> AsyncGenerator[Session]:
    app = still_app(folder, events, environment=environment(folder, **variables))
    async with app.run_test(size=(120, 30), notifications=True) as pilot:
        found = Session(app, pilot, folder)
        app.send_to_terminal = found.sent.append  # type: ignore[method-assign, assignment]  # a test's screen has no terminal
        await until(pilot, lambda: app.deck.view.snapshot is app.cockpit.snapshot)
        await settled(pilot)
        yield found


@pytest.mark.parametrize(
    ("keys", "copied", "told"),
    [
        (("j", "j", "y"), "5e6f7a8b", "copied: the id 5e6f7a8b"),
        (("2", "j", "y"), "910be000", "copied: the id 910be000"),
        (("7", "j", "y"), "http://hq.tailnet:7878", "copied: the address of hq"),
        ((*TO_GREET, "y"), "Then mend the test.", "copied: the entry"),
        ((*TO_GREET, "d", "j", "y"), "--- a/src/app.py\n+++ b/src/app.py\n@@ -1,5 +1,6 @@ class App:", "a hunk of"),
        ((*TO_GREET, "d", "y"), "diff --git a/src/app.py b/src/app.py\n--- a/src/app.py", "the changes of src/app.py"),
        ((*TO_GREET, "v", "y"), "Then mend the test.", "copied: the text"),
        (("j", "j", "e", "y"), "Choose how to release\n5e6f7a8b  hq  acme/widgets #12", "the explanation"),
    ],
    ids=["list", "inbox", "connection", "entry", "hunk", "file", "viewer", "explanation"],
)
async def test_what_is_in_front_is_copied_by_the_clipboard_program(
    tmp_path: Path, keys: tuple[str, ...], copied: str, told: str
) -> None:
    put_program(tmp_path, "wl-copy")
    async with session(tmp_path, WAYLAND_DISPLAY="wayland-0") as it:
        await it.press(*keys)
        text = await it.gets("wl-copy")
        assert text.startswith(copied)
        assert not text.endswith("\n")
        await it.shows(told)
        assert it.given == []


async def test_a_copied_hunk_can_be_applied(tmp_path: Path) -> None:
    put_program(tmp_path, "xclip")
    async with session(tmp_path, DISPLAY=":0") as it:
        await it.press(*TO_GREET, "d", "right_curly_bracket", "j", "j", "y")
        assert await it.gets("xclip") == "--- a/old.txt\n+++ /dev/null\n@@ -1,3 +0,0 @@\n-one\n-two\n-three"


async def test_without_a_program_the_person_is_asked_once_and_the_terminal_is_written_to_only_then(
    tmp_path: Path,
) -> None:
    async with session(tmp_path) as it:
        await it.press("j", "j", "y")
        await it.shows("Copy the id 5e6f7a8b", "OSC 52", "may ignore it")
        assert it.given == []
        await it.press("t")
        await it.shows("given to the terminal: the id 5e6f7a8b")
        assert it.given == ["\x1b]52;c;NWU2ZjdhOGI=\x07"]
        await it.press("k", "y")
        await it.shows("given to the terminal: the id 910be000")


async def test_a_choice_that_is_left_copies_nothing(tmp_path: Path) -> None:
    async with session(tmp_path) as it:
        await it.press("y", "escape", "y")
        await it.shows("Copy the id")
        assert it.given == []
        assert not (tmp_path / "copied").exists()


async def test_a_copy_into_a_file_is_the_persons_alone_and_told_with_its_path(tmp_path: Path) -> None:
    async with session(tmp_path) as it:
        await it.press("j", "j", "y", "f")
        await it.shows("the id 5e6f7a8b is in")
        (path,) = (tmp_path / "copied").iterdir()
        assert path.read_text() == "5e6f7a8b\n"
        assert stat.S_IMODE(path.stat().st_mode) == 0o600
        assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700


async def test_a_program_that_fails_is_told_and_the_next_key_offers_other_ways(tmp_path: Path) -> None:
    put_program(tmp_path, "wl-copy", code=1)
    async with session(tmp_path, WAYLAND_DISPLAY="wayland-0") as it:
        await it.press("y")
        await it.shows("wl-copy failed (code 1)")
        await it.press("y")
        await it.shows("OSC 52")


async def test_nothing_is_no_text_to_copy(tmp_path: Path) -> None:
    async with session(tmp_path, every_state()) as it:
        await it.press(*TO_GREET, "y")
        await it.shows("there is nothing to copy")


async def test_a_pull_request_is_opened_after_its_host_was_shown(tmp_path: Path) -> None:
    put_program(tmp_path, "xdg-open")
    async with session(tmp_path, DISPLAY=":0") as it:
        await it.press("slash", *"Ready", "enter", "o")
        await it.shows("Open this in the browser?", "github.example", PULL)
        await it.press("enter")
        await it.shows("Open this in the browser?")
        await it.press("y")
        assert await it.gets("xdg-open") == PULL
        await it.shows("github.example is opened")


@pytest.mark.parametrize("variables", [{}, {"DISPLAY": ":0", "SSH_CONNECTION": "10.0.0.1 5 10.0.0.2 22"}])
async def test_where_no_browser_can_be_seen_the_address_is_shown_and_can_be_copied(
    tmp_path: Path, variables: dict[str, str]
) -> None:
    put_program(tmp_path, "xdg-open")
    async with session(tmp_path, OPENED, **variables) as it:
        await it.press("slash", *"Ready", "enter", "o")
        await it.shows("No browser can be opened from here", PULL)
        await it.press("y", "f")
        await it.shows("the address is in")
        (path,) = (tmp_path / "copied").iterdir()
        assert path.read_text() == f"{PULL}\n"
        assert not (tmp_path / "xdg-open.got").exists()


async def test_several_links_are_chosen_from_and_a_name_of_other_letters_is_marked(tmp_path: Path) -> None:
    put_program(tmp_path, "xdg-open")
    said: dict[str, object] = {
        "type": "user_message",
        "id": "u-1",
        "text": "See https://gіthub.example/x and https://b.example/y.",
    }
    async with session(tmp_path, [*every_state(), transcript_of(GREET, [said])], DISPLAY=":0") as it:
        await it.press(*TO_GREET, "o")
        await it.shows("Which link?", "xn--", "b.example")
        await it.press("1")
        await it.shows("Open this in the browser?", "xn--gthub-n2e.example", "letters, gіthub.example")
        await it.press("escape")
        assert not (tmp_path / "xdg-open.got").exists()


async def test_where_there_is_no_link_that_is_said(tmp_path: Path) -> None:
    async with session(tmp_path) as it:
        await it.press("o")
        await it.shows("there is no link here")


async def test_publishing_names_what_others_will_see_and_keeping_what_covers_it(tmp_path: Path) -> None:
    covered = replace(
        colony("0dd50e5a", "stopped", 50, issue=41, title="Stopped by a person"),
        superseded=Superseded("files", PULL),
    )
    async with session(tmp_path, [*every_state(), ColonyChanged(covered)]) as it:
        await it.press("slash", *"Stopped by", "enter", "p")
        await it.shows("Publish this colony's work?", "pushes", "request against main: others can see it")
        await it.press("escape", "K")
        await it.shows("Keep this colony?", "pull/18 covered its work")
        await it.press("escape", "k")
        await it.shows("covered")


async def test_what_cannot_be_kept_or_published_says_why(tmp_path: Path) -> None:
    async with session(tmp_path) as it:
        await it.press("K")
        await it.shows("nothing to keep")
        await it.press("slash", *"Ready", "enter", "p")
        await it.shows("its pull request is there: o opens it")


@pytest.mark.parametrize(
    ("text", "pasted"),
    [
        ("word\n", "word"),
        ("a\x1b[201~rm -rf ~\r", "a[201~rm -rf ~"),
        ("one\ntwo\n\n", "one\ntwo"),
        ("x\x9b2J\u202ey\x07", "x2Jy"),
        ("\x1b[20\x1b[201~1~", "[20[201~1~"),
    ],
)
def test_what_is_pasted_can_neither_end_the_paste_nor_press_enter(text: str, pasted: str) -> None:
    assert clipboard.pasteable(text) == pasted


@pytest.mark.parametrize(
    ("programs", "variables", "found"),
    [
        (("xclip", "xsel"), {"DISPLAY": ":0"}, "xclip"),
        (("xsel",), {"DISPLAY": ":0"}, "xsel"),
        (("wl-copy", "xclip"), {"DISPLAY": ":0", "WAYLAND_DISPLAY": "w"}, "wl-copy"),
        (("xclip",), {}, None),
        (("clip.exe",), {"WSL_DISTRO_NAME": "Debian"}, "clip.exe"),
        (("clip.exe",), {"WSL_DISTRO_NAME": "Debian", "SSH_CONNECTION": "far"}, None),
        (("xclip",), {"DISPLAY": "localhost:10.0", "SSH_CONNECTION": "far"}, "xclip"),
        ((), {"DISPLAY": ":0"}, None),
    ],
)
@pytest.mark.skipif(sys.platform == "darwin", reason="there pbcopy is always found")
def test_the_clipboard_program_is_that_of_the_screen_before_the_person(
    tmp_path: Path, programs: tuple[str, ...], variables: dict[str, str], found: str | None
) -> None:
    for name in programs:
        put_program(tmp_path, name)
    command = clipboard.program({"PATH": str(tmp_path / "bin"), **variables})
    assert (None if command is None else Path(command[0]).name) == found


async def test_a_program_that_never_ends_is_given_up(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(clipboard, "LIMIT_S", 0.05)
    with pytest.raises(clipboard.CopyFailed, match="did not end"):
        await clipboard.give(("/bin/sleep", "60"), "text", {})


async def test_a_program_that_is_not_there_is_told(tmp_path: Path) -> None:
    with pytest.raises(clipboard.CopyFailed, match="cannot be run"):
        await clipboard.give((str(tmp_path / "gone"),), "text", {})
    with pytest.raises(browser.BrowserFailed, match="cannot be run"):
        await browser.show(str(tmp_path / "gone"), PULL, {})


async def test_a_browser_that_fails_is_told_and_one_that_goes_on_is_left_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    put_program(tmp_path, "xdg-open", code=3)
    with pytest.raises(browser.BrowserFailed, match=r"failed \(code 3\)"):
        await browser.show(str(tmp_path / "bin/xdg-open"), PULL, environment(tmp_path))
    monkeypatch.setattr(browser, "LIMIT_S", 0.05)
    await browser.show("/bin/sleep", "0.3", {})


def test_a_text_too_long_for_terminals_is_not_sent_to_one() -> None:
    assert clipboard.terminal_sequence("x" * 50_000) is not None
    assert clipboard.terminal_sequence("x" * 60_000) is None


def test_a_file_is_never_written_over_and_no_link_is_followed(tmp_path: Path) -> None:
    first, second = clipboard.write_file("a", tmp_path), clipboard.write_file("b", tmp_path)
    assert (first.read_text(), second.read_text()) == ("a\n", "b\n")
    with pytest.raises(clipboard.CopyFailed, match="cannot write into"):
        clipboard.write_file("a", first)
