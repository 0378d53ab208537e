"""The colours of a heatmap's cells: the stronger a trace, the further from the background towards its hue."""

from collections.abc import Iterable, Mapping

from rich.color import Color, blend_rgb
from rich.color_triplet import ColorTriplet
from rich.style import Style

LEVELS = 10
"""One for each whole strength, 1 for a trace below 1: from 4 on it is 3 or more, from 7 on 6 or more."""

WARM, HOT = 4, 7

_FAINTEST, _FULL = 0.14, 0.86
"""How much of its hue a cell of the lowest and of the highest level has."""


def role_of(family: str, strength: float) -> str:
    """The role of a cell with this strength, 0..10."""
    return f"heat-{family}-{min(int(max(strength, 0.0)) + 1, LEVELS)}"


def roles(background: str, hues: Mapping[str, tuple[str, str]]) -> dict[str, Style]:
    """The styles of all families; each has a hue for the levels below `HOT`, and one from there on."""
    return {
        f"heat-{family}-{level}": _on_ground(background, hot if level >= HOT else hue, level)
        for family, (hue, hot) in hues.items()
        for level in range(1, LEVELS + 1)
    }


def roles_of_sixteen(dark: str, hues: Mapping[str, tuple[str, str]]) -> dict[str, Style]:
    """The same where there are no shades: a trace is coloured, a warm one bold too, and a hot one stands on its hue."""
    found: dict[str, Style] = {}
    for family, (hue, hot) in hues.items():
        for level in range(1, LEVELS + 1):
            is_hot = level >= HOT
            style = Style(color=dark, bgcolor=hot) if is_hot else Style(color=hue, bold=level >= WARM or None)
            found[f"heat-{family}-{level}"] = style
    return found


def plain_roles(families: Iterable[str]) -> dict[str, Style]:
    """The same without colours."""
    warm, hot = Style(bold=True), Style(bold=True, reverse=True)
    return {
        f"heat-{family}-{level}": hot if level >= HOT else warm
        for family in families
        for level in range(WARM, LEVELS + 1)
    }


def _on_ground(background: str, hue: str, level: int) -> Style:
    share = _FAINTEST + (_FULL - _FAINTEST) * (level - 1) / (LEVELS - 1)
    ground = blend_rgb(Color.parse(background).get_truecolor(), Color.parse(hue).get_truecolor(), share)
    return Style(color=_ink_on(ground), bgcolor=Color.from_triplet(ground), bold=level >= WARM or None)


def _ink_on(ground: ColorTriplet) -> str:
    """Black or white, whichever can be read better: one of them always has a contrast of 4.5 and more."""
    parts = [part / 255 for part in ground]
    red, green, blue = (part / 12.92 if part <= 0.03928 else ((part + 0.055) / 1.055) ** 2.4 for part in parts)
    return "#000000" if 0.2126 * red + 0.7152 * green + 0.0722 * blue > 0.179 else "#ffffff"
