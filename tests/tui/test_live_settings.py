"""The settings file changes while the cockpit runs: what is set takes effect, and a mistake costs nothing."""

import os
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from textual.pilot import Pilot

import colonizer_tui.app
from colonizer_cli.cockpit_face import live_surroundings
from colonizer_cli.wiring import Wiring
from colonizer_config.paths import Paths
from colonizer_config.settings import load_or_default
from colonizer_tui import theme
from colonizer_tui.app import CockpitApp
from real_engine import screen_text, until

pytestmark = pytest.mark.anyio

HOST = '[[endpoints]]\nname = "{}"\nkind = "mothership"\naddress = "127.0.0.1:{}"\n'


@pytest.fixture(autouse=True)
def quick_looks(monkeypatch: pytest.MonkeyPatch) -> None:
    """The file is looked at often, and the terminal has all colours."""
    monkeypatch.setattr(colonizer_tui.app, "AGES_S", 0.02)
    monkeypatch.setenv("COLORTERM", "truecolor")
    monkeypatch.setenv("LC_ALL", "C.UTF-8")


def write(text: str) -> None:
    """Puts another file in the place of the settings, as editors do."""
    path = Paths.from_environment().settings
    path.parent.mkdir(parents=True, exist_ok=True)
    beside = path.with_suffix(".new")
    beside.write_text(text, encoding="utf-8")
    os.replace(beside, path)


class Session:
    def __init__(self, app: CockpitApp, pilot: Pilot[None]) -> None:
        self.app, self.pilot = app, pilot

    async def shows(self, *texts: str) -> None:
        await until(self.pilot, lambda: all(text in screen_text(self.pilot) for text in texts))

    async def has(self, *hosts: str) -> None:
        await until(self.pilot, lambda: set(self.app.cockpit.snapshot.endpoints) == {"local", *hosts})

    def address(self, name: str) -> str:
        states = self.app.cockpit.snapshot.endpoints
        return next(state.address for key, state in states.items() if key == name)


@asynccontextmanager
async def session(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, text: str = "") -> AsyncGenerator[Session]:
    monkeypatch.chdir(tmp_path)
    if text:
        write(text)
    paths = Paths.from_environment()
    loaded = load_or_default(paths.settings)
    wiring = Wiring(paths, loaded.settings)
    monkeypatch.setattr(wiring.cockpit, "run", nothing)
    app = CockpitApp(wiring.cockpit, live_surroundings(paths, loaded, wiring))
    async with app.run_test(size=(120, 30), notifications=True) as pilot:
        yield Session(app, pilot)


async def nothing() -> None:
    """Connects to nothing: which hosts there are is what counts."""


async def test_a_theme_and_signs_take_effect(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async with session(tmp_path, monkeypatch) as it:
        write('[ui]\ntheme = "colonizer-light"\nascii = true\n')
        await it.shows("the settings are read again")
        assert it.app.theme == "colonizer-light"
        assert it.app.ink.glyphs.ascii
        assert screen_text(it.pilot).isascii()


async def test_a_theme_that_does_not_exist_is_named_with_those_that_do(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with session(tmp_path, monkeypatch) as it:
        write('[ui]\ntheme = "colonizer-lihgt"\n')
        await it.shows("there is no theme colonizer-lihgt", "colonizer-light")
        assert it.app.theme == theme.DEFAULT_THEME


async def test_the_theme_of_few_colours_is_taken_and_left_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with session(tmp_path, monkeypatch, f'[ui]\ntheme = "{theme.SIXTEEN}"\n') as it:
        assert it.app.native_ansi_color
        write("")
        await it.shows("the settings are read again")
        assert (it.app.theme, it.app.native_ansi_color) == (theme.DEFAULT_THEME, False)


async def test_another_key_works_at_once_and_a_clash_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async with session(tmp_path, monkeypatch) as it:
        write('[keys]\nhelp = "f1"\nstop = "a"\n')
        await it.shows("[keys] stop: a already means answer", "f1 help")
        await it.pilot.press("f1")
        await it.shows("esc closes")


async def test_hosts_come_go_and_move(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async with session(tmp_path, monkeypatch, HOST.format("hq", 1)) as it:
        await it.has("hq")
        write(HOST.format("hq", 1) + HOST.format("lab", 2))
        await it.has("hq", "lab")
        write(HOST.format("lab", 3))
        await until(it.pilot, lambda: "hq" not in it.app.cockpit.snapshot.endpoints)
        assert it.address("lab") == "http://127.0.0.1:3"


async def test_a_mistake_is_named_with_its_line_and_changes_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with session(tmp_path, monkeypatch, HOST.format("hq", 1) + '[ui]\ntheme = "colonizer-light"\n') as it:
        write(HOST.format("hq", 1) + '[ui]\ntheem = "colonizer-dark"\n')
        await it.shows("line 6", "theme", "what was set before goes on")
        assert it.app.theme == "colonizer-light"
        await it.has("hq")
        write("")
        await it.has()
        assert it.app.theme == theme.DEFAULT_THEME


async def test_a_key_of_the_settings_means_something_else_only_once_they_are_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with session(tmp_path, monkeypatch, '[keys]\nhelp = "f1"\n') as it:
        write('[keys]\nhelp = "f2"\n')
        await it.shows("f2 help")
        await it.pilot.press("f1")
        assert "esc closes" not in screen_text(it.pilot)
