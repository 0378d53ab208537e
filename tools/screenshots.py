"""Draws the pictures in `screenshots/` from the running program: real engines and colonies, in a home made for it.

Run by `make screenshots`, on Linux. The PNGs need Chromium; without it there are SVGs only.
"""

import asyncio
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path

from textual.pilot import Pilot

import neutral_machine
from colonizer_cli.wiring import Wiring
from colonizer_config.paths import Paths
from colonizer_config.settings import load
from colonizer_tui import theme
from colonizer_tui.app import CockpitApp
from colonizer_tui.surroundings import Surroundings
from garden_story import PATIENCE_S, Garden, colonies_at_work

CHECKOUT = Path(__file__).parents[1]
SCREENSHOTS = CHECKOUT / "screenshots"
SIZE = (120, 30)
LIGHT = "colonizer-light"

_DONE = ("--action", "patch_file", "--agent")
OUTCOMES = (
    *((*_DONE, "scout", "--target", "beds/harvest.py", "--outcome", "it broke", "--failed") for _ in range(3)),
    (*_DONE, "scout", "--target", "beds/seeds.py", "--outcome", "it broke", "--failed"),
    *((*_DONE, "demo", "--target", "beds/seeds.py", "--outcome", "it works", "--passed") for _ in range(2)),
    *((*_DONE, "demo", "--target", "paths/gate.md", "--outcome", "it reads well", "--passed") for _ in range(4)),
)
"""What is recorded in the local engine's kernel."""

_REMOTE_FONTS = re.compile(r"\s*@font-face \{.*?\}", re.DOTALL)
_CREDIT = re.compile(r"\s*<!--.*?-->", re.DOTALL)
_FONTS = 'font-family: "Fira Code", "DejaVu Sans Mono", Menlo, Consolas, monospace; font-variant-ligatures: none'
_VIEW_BOX = re.compile(r'viewBox="0 0 ([0-9.]+) ([0-9.]+)"')

_CHROMIUM_FLAGS = (
    *("--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--hide-scrollbars"),
    *("--disable-background-networking", "--disable-component-update", "--disable-sync"),
)


class Camera:
    """A cockpit whose screen is looked at while keys are pressed."""

    def __init__(self, app: CockpitApp, pilot: Pilot[None]) -> None:
        self._app = app
        self._pilot = pilot

    async def press(self, *keys: str) -> None:
        """Presses keys, one after the other."""
        for key in keys:
            await self._pilot.press(key)

    async def type(self, text: str) -> None:
        """Types a text."""
        await self.press(*("space" if letter == " " else letter for letter in text))

    async def select(self, title: str) -> None:
        """Moves down the list in front from its first row until the colony is under the cursor."""
        await self.press("g")

        async def is_under_the_cursor() -> bool:
            colony = self._app.deck.colony
            if colony is not None and colony.title == title:
                return True
            await self.press("down")
            return False

        await self._until(is_under_the_cursor)

    async def sees(self, *texts: str) -> None:
        """Returns when all texts are on the screen."""

        async def are_there() -> bool:
            return all(text in self._text() for text in texts)

        await self._until(are_there)

    def take(self, name: str) -> None:
        """Keeps the picture."""
        svg = self._app.export_screenshot(simplify=True)
        (SCREENSHOTS / f"{name}.svg").write_text(self_contained(svg), encoding="utf-8")

    async def _until(self, condition: Callable[[], Awaitable[bool]]) -> None:
        try:
            async with asyncio.timeout(PATIENCE_S):
                while not await condition():
                    await self._pilot.pause(0.05)
        except TimeoutError:
            raise TimeoutError(f"this is on the screen:\n{self._text()}") from None

    def _text(self) -> str:
        strips = self._app.screen._compositor.render_strips(self._app.size)  # pyright: ignore[reportPrivateUsage]
        return "\n".join(strip.text for strip in strips)


@asynccontextmanager
async def cockpit(name: str = theme.DEFAULT_THEME) -> AsyncGenerator[Camera]:
    """A cockpit that stands in the current folder."""
    paths = Paths.from_environment()
    wiring = Wiring(paths, load(paths.settings))
    local = wiring.local
    surroundings = Surroundings(
        repo=lambda: "" if local.standing_in is None else local.standing_in.name_raw,
        agents=("demo", "scout"),
        theme=name,
        crash_folder=paths.engine.root,
    )
    app = CockpitApp(wiring.cockpit, surroundings)
    async with app.run_test(size=SIZE) as pilot:
        camera = Camera(app, pilot)
        await camera.sees("local ●")
        yield camera


async def draw(garden: Garden) -> None:
    """All pictures, as SVG."""
    async with cockpit() as camera:
        await camera.sees("No colonies yet")
        camera.take("first-run")
    with colonies_at_work(garden) as lab:
        async with cockpit() as camera:
            await camera.sees("9 colonies", "lab ●")
            lab.terminate()
            await camera.sees("lab ○")
            await draw_dark(camera)
        for outcome in OUTCOMES:
            garden.run("kernel", "record", *outcome)
        async with cockpit() as camera:
            await camera.press("4")
            await camera.sees("paths/gate.md", "harvest.py")
            await camera.press("j")
            camera.take("kernel")
        async with cockpit(LIGHT) as camera:
            await camera.sees("hq ●")
            await camera.select("Say what each folder is for")
            await camera.sees("What else may I do?", "Draw the map of the beds")
            camera.take("fleet-light")
    garden.run("engine", "stop", "--yes")


async def draw_dark(camera: Camera) -> None:
    """The pictures of the cockpit at work."""
    await camera.select("Help newcomers find their way")
    await camera.sees("FILES.md +")
    camera.take("fleet")
    await camera.press("2")
    await camera.select("Write down how we work here")
    await camera.press("a", "1")
    await camera.sees("draft kept")
    camera.take("needs-you")
    await camera.press("escape", "1")
    await camera.select("Help newcomers find their way")
    await camera.press("d")
    await camera.sees("against main")
    camera.take("colony")
    await camera.press("7", "down", "down")
    await camera.sees("next try in")
    camera.take("connections")
    await camera.press("1", "c")
    await camera.type("Tell visitors where to park their bicycles")
    await camera.sees("bicycles")
    camera.take("launch")


def self_contained(svg: str) -> str:
    """The picture without what it would load from elsewhere."""
    return _CREDIT.sub("", _REMOTE_FONTS.sub("", svg)).replace("font-family: Fira Code, monospace", _FONTS)


def photograph(chromium: str, picture: Path) -> None:
    """Makes a PNG beside an SVG."""
    svg = picture.read_text(encoding="utf-8")
    found = _VIEW_BOX.search(svg)
    assert found is not None
    width, height = (round(float(side)) for side in found.groups())
    with tempfile.TemporaryDirectory() as scratch:
        page = Path(scratch) / "page.html"
        page.write_text(f"<meta charset=utf-8><style>body{{margin:0}}</style>{svg}", encoding="utf-8")
        subprocess.run(
            [
                *(chromium, *_CHROMIUM_FLAGS, f"--user-data-dir={scratch}/profile"),
                *(f"--window-size={width},{height}", f"--screenshot={picture.with_suffix('.png')}", page.as_uri()),
            ],
            check=True,
            capture_output=True,
        )


def main() -> None:
    """Draws the pictures: in a machine of nobody's, where this program runs itself, then here."""
    if sys.argv[1:] == ["--inside"]:
        asyncio.run(draw(Garden(neutral_machine.HOME)))
        return
    SCREENSHOTS.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory() as home:
        garden = Garden(Path(home))
        garden.settle_in()
        folder = Garden(neutral_machine.HOME).folder("website")
        inside = (sys.executable, __file__, "--inside")
        subprocess.run(neutral_machine.command(Path(home), CHECKOUT, folder, *inside), check=True)
    chromium = shutil.which("chromium") or shutil.which("google-chrome")
    if chromium is None:
        print("there is no Chromium here: the PNGs are as they were", file=sys.stderr)
        return
    for picture in sorted(SCREENSHOTS.glob("*.svg")):
        photograph(chromium, picture)
        print(picture.with_suffix(".png").relative_to(CHECKOUT))


if __name__ == "__main__":
    main()
