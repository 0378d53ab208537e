"""Pictures of an application that shows one moment, compared with the ones that are kept."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from itertools import product

from pytest_textual_snapshot import SVGImageExtension  # type: ignore[import-untyped]  # pyright: ignore[reportMissingTypeStubs]
from syrupy.assertion import SnapshotAssertion
from textual.pilot import Pilot

from colonizer_tui import theme
from colonizer_tui.app import CockpitApp
from real_engine import settled, until

Compare = Callable[..., bool]
"""What the fixture `snap_compare` is."""

Prepare = Callable[[Pilot[None]], Awaitable[None]]

SIZES = {"80x24": (80, 24), "120x30": (120, 30), "200x60": (200, 60)}


def looks_as_before(
    compare: Compare, app: CockpitApp, keys: Sequence[str], size: tuple[int, int] = SIZES["120x30"]
) -> bool:
    """Whether the picture is the one that is kept, once the moment is on the screen and each key has had its effect."""
    return compare(app, run_before=pressing(app, keys), terminal_size=size)


def pressing(app: CockpitApp, keys: Sequence[str]) -> Prepare:
    """Waits until the moment is on the screen and each key has had its effect."""

    async def press(pilot: Pilot[None]) -> None:
        await until(pilot, lambda: app.deck.view.snapshot is app.cockpit.snapshot)
        await settled(pilot)
        for key in keys:
            await pilot.press(key)
        await settled(pilot)

    return press


def kept_pictures(snapshot: SnapshotAssertion) -> SnapshotAssertion:
    """What the fixture `snapshot` keeps, as one SVG file for each picture."""
    return snapshot.use_extension(SVGImageExtension)


async def seen_from_all_sides(
    app: CockpitApp,
    prepare: Prepare,
    snapshot: SnapshotAssertion,
    sizes: Mapping[str, tuple[int, int]],
    themes: Sequence[str] = (theme.DEFAULT_THEME,),
) -> Sequence[str]:
    """The sizes and themes in which the picture is another than the kept one; one application goes through them all."""
    kept = kept_pictures(snapshot)
    different: list[str] = []
    async with app.run_test(size=SIZES["120x30"]) as pilot:
        await prepare(pilot)
        for size, name in product(sizes, themes):
            app.theme = name
            await pilot.resize_terminal(*sizes[size])
            await settled(pilot)
            title = f"{size}-{name}" if len(themes) > 1 else size
            if app.export_screenshot(simplify=True) != kept(name=title):
                different.append(title)
    return different
