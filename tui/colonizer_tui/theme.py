"""Colours and attributes: what each role looks like in each theme.

A role is a word for a purpose, so that a view never names a colour. Every role differs from plain text by more than
its colour wherever it carries a meaning: a glyph or a word stands beside it.
"""

from collections.abc import Mapping
from functools import lru_cache

from rich.style import Style
from textual.theme import Theme

from colonizer_config.value import Value
from colonizer_tui import heat

DEFAULT_THEME = "colonizer-dark"
SIXTEEN = "colonizer-16"
"""The sixteen colours that every terminal with colours has, as its owner has set them."""

PLAIN = "colonizer-plain"
"""Attributes only: for `NO_COLOR`."""

FOR_TERMINAL = frozenset({SIXTEEN, PLAIN})
"""Themes that name the terminal's own colours."""


class Palette(Value, eq=False):
    """The colours of one theme."""

    background: str
    panel: str
    """The header, the footer and dialogs."""
    text: str
    strong: str
    muted: str
    dim: str
    """What is there but not to be read first, such as captions."""
    stale: str
    """What a host said that does not answer now."""
    off: str
    """Keys that do nothing now."""
    faint: str
    """Rules, borders and what is only there to guide the eye."""
    attention: str
    danger: str
    active: str
    ok: str
    info: str
    selection: str
    """The background of the row under the cursor, in the pane that has the focus."""
    selection_away: str
    """The same in a pane without the focus."""
    added: str
    removed: str
    added_word: str
    """The background of the words that a changed line has new."""
    removed_word: str
    syntax: Mapping[str, str]
    """The colours of source code, by what a token is."""
    match: str
    """The background of what was searched for."""
    on_selection: str = ""
    """The colour of all on the selected row, where not every role can be read on its background; else empty."""
    is_dark: bool = True


SYNTAX_DARK = {
    "keyword": "#c792ea", "string": "#a5d6a0", "number": "#f0a870", "comment": "#98a2ae", "name": "#82b8ff",
    "type": "#e6c37a", "operator": "#9fb0c4",
}  # fmt: skip
SYNTAX_LIGHT = {
    "keyword": "#7b2fa8", "string": "#1d6533", "number": "#8f460a", "comment": "#545c66", "name": "#1d5bb0",
    "type": "#785400", "operator": "#4b5563",
}  # fmt: skip
SYNTAX_CONTRAST = {
    "keyword": "#e0b8ff", "string": "#b8f5b0", "number": "#ffc48a", "comment": "#c0c0c0", "name": "#a8d4ff",
    "type": "#ffe08a", "operator": "#e0e0e0",
}  # fmt: skip
SYNTAX_SIXTEEN = {
    "keyword": "bright_magenta", "string": "green", "number": "bright_yellow", "comment": "white",
    "name": "bright_cyan", "type": "bright_yellow", "operator": "white",
}  # fmt: skip

PALETTES: Mapping[str, Palette] = {
    DEFAULT_THEME: Palette(
        background="#10141a", panel="#181e27", text="#c9d3df", strong="#f2f5f9", muted="#97a4b5", dim="#8d98a7",
        stale="#8e99a2", off="#667385",
        faint="#3d4856", attention="#f0b548", danger="#ff6b76", active="#62aef5", ok="#74c991", info="#5cc8cf",
        selection="#20303f", selection_away="#1a222c", added="#16301f", removed="#3a1a20",
        added_word="#1a3c26", removed_word="#471d24", syntax=SYNTAX_DARK, match="#6b5312",
    ),
    "colonizer-light": Palette(
        background="#fcfbf8", panel="#f0eee8", text="#2b323b", strong="#0d1117", muted="#535d69", dim="#5e6770",
        stale="#5f6770", off="#7e8691",
        faint="#c6c9ce", attention="#8f5a00", danger="#b81d2e", active="#125fb8", ok="#196b3c", info="#076874",
        selection="#dbe8f8", selection_away="#eceef2", added="#dcf2e2", removed="#fbe0e2",
        added_word="#c6ebd1", removed_word="#f9d3d6", syntax=SYNTAX_LIGHT, match="#f7dc8d", is_dark=False,
    ),
    "colonizer-contrast": Palette(
        background="#000000", panel="#000000", text="#ffffff", strong="#ffffff", muted="#d0d0d0", dim="#b0b0b0",
        stale="#b0b0b0", off="#8a8a8a",
        faint="#9a9a9a", attention="#ffd83d", danger="#ff8a8a", active="#7cc7ff", ok="#7dffa8", info="#7df6ff",
        selection="#003c78", selection_away="#333333", added="#003a12", removed="#550011",
        added_word="#004d18", removed_word="#6b0016", syntax=SYNTAX_CONTRAST, match="#806600",
    ),
    SIXTEEN: Palette(
        background="black", panel="black", text="white", strong="bright_white", muted="white", dim="white",
        stale="white", off="bright_black",
        faint="bright_black", attention="bright_yellow", danger="bright_red", active="bright_cyan", ok="bright_green",
        info="cyan", selection="cyan", selection_away="black", added="black", removed="black",
        added_word="black", removed_word="black", syntax=SYNTAX_SIXTEEN, match="magenta", on_selection="black",
    ),
}  # fmt: skip


NAMES = (*PALETTES, PLAIN)
"""The themes of our own."""

_NONE = "ansi_default"
"""The terminal's own colour."""


def themes() -> list[Theme]:
    """The themes as Textual takes them; the last is without colours."""
    coloured = [
        Theme(
            name=name, ansi=name in FOR_TERMINAL, dark=palette.is_dark, primary=_css(palette.active),
            secondary=_css(palette.info), warning=_css(palette.attention), error=_css(palette.danger),
            success=_css(palette.ok), accent=_css(palette.attention), foreground=_css(palette.text),
            background=_css(palette.background), surface=_css(palette.background), panel=_css(palette.panel),
            boost=_css(palette.panel), variables=_variables(palette),
        )
        for name, palette in PALETTES.items()
    ]  # fmt: skip
    plain = Theme(
        name=PLAIN, ansi=True, dark=True, primary=_NONE, secondary=_NONE, warning=_NONE, error=_NONE, success=_NONE,
        accent=_NONE, foreground=_NONE, background=_NONE, surface=_NONE, panel=_NONE, boost=_NONE,
        variables={
            **dict.fromkeys(
                (
                    *_TEXTUALS_OWN, *_FOREGROUNDS, *_BACKGROUNDS, "edge", "edge-focus", "muted",
                    "input-cursor-background", "input-cursor-foreground", "input-selection-background", "scrollbar",
                    "scrollbar-background",
                ),
                _NONE,
            ),
            "input-cursor-text-style": "reverse",
        },
    )  # fmt: skip
    return [*coloured, plain]


_TEXTUALS_OWN = ("border", "border-blurred")
_FOREGROUNDS = (
    "ansi-foreground", "block-cursor-foreground", "input-selection-foreground", "screen-selection-foreground",
)  # fmt: skip
_BACKGROUNDS = ("ansi-background", "block-cursor-background", "screen-selection-background")
"""Variables that Textual wants of a theme for the terminal's own colours."""


def _css(colour: str) -> str:
    """A palette's colour in Textual's style sheets."""
    return colour if colour.startswith("#") else f"ansi_{colour}"


@lru_cache(maxsize=1024)
def style(theme: str, role: str, ground: str = "background") -> Style:
    """How a role looks in a theme, on a ground that is a colour of the palette.

    A role that brings its own ground keeps it. A role may be followed by `+` and a mark that is laid over it.
    """
    role, _, mark = role.partition("+")
    palette = PALETTES.get(theme)
    if palette is None:
        return _plain_style(role, ground) + _PLAIN_ROLES.get(mark, Style())
    roles = _roles(palette)
    found = roles.get(role, roles[""])
    if palette.on_selection and ground == "selection" and found.bgcolor is None:
        found = Style(color=palette.on_selection)
    if theme in FOR_TERMINAL and ground == "selection_away":
        found += Style(underline=True)  # no background is left for it
    if mark:
        found += roles[mark] if theme not in FOR_TERMINAL else _PLAIN_ROLES[mark]
    return Style(bgcolor=getattr(palette, ground)) + found


@lru_cache(maxsize=8)
def _roles(palette: Palette) -> Mapping[str, Style]:
    def colour(name: str, *, bold: bool = False, dim: bool = False) -> Style:
        return Style(color=getattr(palette, name), bold=bold or None, dim=dim or None)

    on_selection = palette.on_selection
    return {
        "": colour("text"),
        "strong": colour("strong", bold=True),
        "muted": colour("muted"),
        "dim": colour("dim"),
        "faint": colour("faint"),
        "attention": colour("attention"),
        "attention-strong": colour("attention", bold=True),
        "attention-cell": Style(color=palette.background, bgcolor=palette.attention, bold=True),
        "danger": colour("danger"),
        "danger-strong": colour("danger", bold=True),
        "active": colour("active"),
        "active-strong": colour("active", bold=True),
        "ok": colour("ok"),
        "info": colour("info"),
        "stale": colour("stale"),
        "key": colour("active", bold=True),
        "key-off": colour("off"),
        "tab-on": Style(color=on_selection or palette.strong, bgcolor=palette.selection, bold=not on_selection),
        "tab-off": colour("muted"),
        "tab-count": Style(color=on_selection or palette.attention, bgcolor=palette.selection, bold=True),
        "match": Style(color=palette.strong, bgcolor=palette.match, bold=True),
        "jump": Style(color=palette.background, bgcolor=palette.info, bold=True),
        "added": colour("ok"),
        "removed": colour("danger"),
        "hunk": colour("info"),
        "added-word": Style(bgcolor=palette.added_word, bold=True),
        "removed-word": Style(bgcolor=palette.removed_word, bold=True),
        **{f"syntax-{name}": Style(color=value) for name, value in palette.syntax.items()},
        **_heat_roles(palette),
    }


HEAT: Mapping[str, tuple[str, str]] = {
    "hazard": ("attention", "danger"),
    "success": ("ok", "ok"),
    "need": ("info", "info"),
    "human": ("active", "active"),
}
"""The colours of a palette for each family of traces: of the weaker ones, and of the strong ones."""


def _heat_roles(palette: Palette) -> dict[str, Style]:
    hues = {family: (getattr(palette, hue), getattr(palette, hot)) for family, (hue, hot) in HEAT.items()}
    has_shades = palette.background.startswith("#")
    return (heat.roles if has_shades else heat.roles_of_sixteen)(palette.background, hues)


_PLAIN_ROLES: Mapping[str, Style] = {
    "strong": Style(bold=True),
    "attention": Style(bold=True),
    "attention-strong": Style(bold=True),
    "attention-cell": Style(bold=True, reverse=True),
    "danger": Style(bold=True),
    "danger-strong": Style(bold=True),
    "active-strong": Style(bold=True),
    "key": Style(bold=True),
    "tab-on": Style(bold=True, reverse=True),
    "tab-count": Style(bold=True, reverse=True),
    "match": Style(reverse=True),
    "added-word": Style(bold=True, underline=True),
    "removed-word": Style(bold=True, underline=True),
    "jump": Style(bold=True, reverse=True, underline=True),
    "stale": Style(dim=True),
    "dim": Style(dim=True),
    "faint": Style(dim=True),
    "muted": Style(dim=True),
    "key-off": Style(dim=True),
    **heat.plain_roles(HEAT),
}


def _plain_style(role: str, ground: str) -> Style:
    found = _PLAIN_ROLES.get(role, Style())
    return found + Style(reverse=True) if ground == "selection" else found


def _variables(palette: Palette) -> dict[str, str]:
    ours = {
        "edge": palette.faint,
        "edge-focus": palette.active,
        "muted": palette.muted,
        "input-cursor-background": palette.strong,
        "input-cursor-foreground": palette.background,
        "input-selection-background": palette.selection,
        "scrollbar": palette.faint,
        "scrollbar-background": palette.background,
    }
    if palette.on_selection:
        ours |= dict.fromkeys(_TEXTUALS_OWN, palette.faint) | dict.fromkeys(_FOREGROUNDS, palette.text)
        ours |= dict.fromkeys(_BACKGROUNDS, palette.background)
        ours["input-selection-foreground"] = palette.on_selection
    return {name: _css(colour) for name, colour in ours.items()}
