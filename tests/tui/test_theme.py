"""The themes: every text can be read on whatever it stands on, and nothing is told by its colour alone."""

from collections.abc import Iterator

import pytest
from rich.color import Color
from rich.style import Style

from colonizer_tui import heat, theme
from colonizer_tui.theme import PALETTES, PLAIN, SIXTEEN, style

GROUNDS = ("background", "panel", "selection", "selection_away")
CODE_GROUNDS = ("background", "added", "removed")
WORDS = ("added-word", "removed-word")

TEXTS = (
    "", "strong", "muted", "dim", "stale", "attention", "attention-strong", "attention-cell", "danger", "danger-strong",
    "active", "active-strong", "ok", "info", "key", "tab-on", "tab-off", "tab-count", "match", "hunk",
)  # fmt: skip
SYNTAX = ("", *(f"syntax-{name}" for name in theme.SYNTAX_DARK))
HEAT = tuple(f"heat-{family}-{level}" for family in theme.HEAT for level in range(1, heat.LEVELS + 1))
CODE = (*SYNTAX, "dim", "added", "removed")

READABLE = 4.5
"""WCAG 2.1, 1.4.3: the least contrast of text."""

OFF = 3.0
"""The least contrast of a key that does nothing now."""

XTERM = (
    "#000000", "#cd0000", "#00cd00", "#cdcd00", "#0000ee", "#cd00cd", "#00cdcd", "#e5e5e5",
    "#7f7f7f", "#ff0000", "#00ff00", "#ffff00", "#5c5cff", "#ff00ff", "#00ffff", "#ffffff",
)  # fmt: skip
"""The sixteen colours as xterm has them; every terminal has its own."""


def luminance(colour: Color | None) -> float:
    """The relative luminance, 0..1 (WCAG 2.1)."""
    assert colour is not None
    found = Color.parse(XTERM[colour.number]) if colour.number is not None else colour
    assert found.triplet is not None
    parts = [part / 255 for part in found.triplet]
    red, green, blue = (part / 12.92 if part <= 0.03928 else ((part + 0.055) / 1.055) ** 2.4 for part in parts)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def contrast(shown: Style) -> float:
    """The contrast of a text with what it stands on, 1..21."""
    brighter, darker = sorted((luminance(shown.color), luminance(shown.bgcolor)), reverse=True)
    return (brighter + 0.05) / (darker + 0.05)


def every_text() -> Iterator[tuple[str, str]]:
    """Each role with each ground on which it is drawn."""
    yield from ((role, ground) for role in TEXTS for ground in GROUNDS)
    yield from ((role, ground) for role in HEAT for ground in ("background", "selection", "selection_away"))
    yield from ((role, ground) for role in CODE for ground in CODE_GROUNDS)
    yield from ((f"{role}+{word}", word.split("-")[0]) for role in SYNTAX for word in WORDS)


@pytest.mark.parametrize("name", PALETTES)
def test_every_text_can_be_read_on_what_it_stands_on(name: str) -> None:
    poor = {
        (role, ground): round(found, 2)
        for role, ground in every_text()
        if (found := contrast(style(name, role, ground))) < READABLE
    }
    assert poor == {}


@pytest.mark.parametrize("name", PALETTES)
def test_a_key_that_does_nothing_now_can_still_be_made_out(name: str) -> None:
    assert contrast(style(name, "key-off", "panel")) >= OFF


def test_too_little_contrast_is_found() -> None:
    assert contrast(Style(color="#777777", bgcolor="#888888")) < OFF


def test_a_theme_for_sixteen_colours_uses_no_other_ones() -> None:
    for role, ground in every_text():
        shown = style(SIXTEEN, role, ground)
        assert all(colour is not None and colour.number in range(16) for colour in (shown.color, shown.bgcolor))


@pytest.mark.parametrize("role", [*TEXTS, *CODE, "syntax-string+added-word"])
@pytest.mark.parametrize("ground", GROUNDS)
def test_without_colours_there_are_none(role: str, ground: str) -> None:
    shown = style(PLAIN, role, ground)
    assert shown.color is None
    assert shown.bgcolor is None


@pytest.mark.parametrize("name", [SIXTEEN, PLAIN])
def test_the_row_under_the_cursor_is_seen_where_backgrounds_are_few(name: str) -> None:
    away = style(name, "", "selection_away")
    assert style(name, "", "selection") not in (style(name, ""), away)
    assert name == PLAIN or away != style(name, "")


@pytest.mark.parametrize("name", [*PALETTES, PLAIN])
@pytest.mark.parametrize("word", WORDS)
def test_a_changed_word_differs_by_an_attribute_too(name: str, word: str) -> None:
    ground = word.split("-")[0]
    marked, beside = style(name, f"syntax-string+{word}", ground), style(name, "syntax-string", ground)
    assert (marked.bold, marked.underline) != (beside.bold, beside.underline)


def test_heat_without_colours_is_told_by_attributes() -> None:
    shown = [style(PLAIN, role, ground) for role in HEAT for ground in GROUNDS]
    assert not [one for one in shown if one.color is not None or one.bgcolor is not None]


@pytest.mark.parametrize("name", [SIXTEEN, PLAIN])
def test_hot_warm_and_cool_cells_differ_where_there_are_no_shades(name: str) -> None:
    hot, warm, cool = (style(name, f"heat-hazard-{level}") for level in (heat.HOT, heat.WARM, heat.WARM - 1))
    assert len({hot, warm, cool}) == 3


@pytest.mark.parametrize("name", [name for name in PALETTES if name != SIXTEEN])
def test_each_level_of_heat_has_its_own_shade(name: str) -> None:
    for family in theme.HEAT:
        levels = [style(name, f"heat-{family}-{level}").bgcolor for level in range(1, heat.LEVELS + 1)]
        assert len(set(levels)) == heat.LEVELS
