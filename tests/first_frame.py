"""A program that opens the cockpit, prints which modules are loaded when its first frame is drawn, and leaves."""

import asyncio
import json
import sys

from rich.console import RenderableType
from textual.screen import Screen

from colonizer_cli.wiring import Wiring
from colonizer_config.paths import Paths
from colonizer_config.settings import load
from colonizer_tui.app import CockpitApp
from colonizer_tui.surroundings import Surroundings


class Watched(CockpitApp):
    """Knows what was loaded when there was something to see for the first time."""

    loaded: list[str] | None = None

    def _display(self, screen: Screen[object], renderable: RenderableType | None) -> None:
        super()._display(screen, renderable)  # pyright: ignore[reportUnknownMemberType]  # Textual leaves its type open
        strips = screen._compositor.render_strips(self.size)  # pyright: ignore[reportPrivateUsage]
        if self.loaded is None and any(strip.text.strip() for strip in strips):
            self.loaded = sorted(sys.modules)
            self.exit()


async def main() -> None:
    """Prints the modules as JSON."""
    paths = Paths.from_environment()
    wiring = Wiring(paths, load(paths.settings))
    app = Watched(wiring.cockpit, Surroundings(crash_folder=paths.engine.root))
    async with asyncio.timeout(20):
        await app.run_async(headless=True, size=(120, 30))
    print(json.dumps(app.loaded))


if __name__ == "__main__":
    asyncio.run(main())
