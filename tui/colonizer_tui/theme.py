"""Colours and attributes: what each role looks like in each theme.

A role is a word for a purpose, so that a view never names a colour. Every role differs from plain text by more than
its colour wherever it carries a meaning: a glyph or a word stands beside it.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache

from rich.style import Style
from textual.theme import Theme

DEFAULT_THEME = "colonizer-dark"
PLAIN = "colonizer-plain"
"""Attributes only: for `NO_COLOR`."""


@dataclass(frozen=True, slots=True)
class Palette:
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
    match: str
    """The background of what was searched for."""
    is_dark: bool = True


PALETTES: Mapping[str, Palette] = {
    "colonizer-dark": Palette(
        background="#10141a", panel="#181e27", text="#c9d3df", strong="#f2f5f9", muted="#8b99ab", dim="#7d8a9b",
        stale="#77848f", off="#667385",
        faint="#3d4856", attention="#f0b548", danger="#ff6b76", active="#62aef5", ok="#74c991", info="#5cc8cf",
        selection="#26384d", selection_away="#1c2530", added="#16301f", removed="#3a1a20", match="#6b5312",
    ),
    "colonizer-light": Palette(
        background="#fcfbf8", panel="#f0eee8", text="#2b323b", strong="#0d1117", muted="#5d6875", dim="#69727d",
        stale="#6d7681", off="#868f9a",
        faint="#c6c9ce", attention="#8f5a00", danger="#b81d2e", active="#125fb8", ok="#196b3c", info="#076874",
        selection="#d3e4f8", selection_away="#e8ebf0", added="#dcf2e2", removed="#fbe0e2", match="#f7dc8d",
        is_dark=False,
    ),
    "colonizer-contrast": Palette(
        background="#000000", panel="#000000", text="#ffffff", strong="#ffffff", muted="#d0d0d0", dim="#b0b0b0",
        stale="#b0b0b0", off="#8a8a8a",
        faint="#9a9a9a", attention="#ffd83d", danger="#ff8a8a", active="#7cc7ff", ok="#7dffa8", info="#7df6ff",
        selection="#00458a", selection_away="#333333", added="#003a12", removed="#550011", match="#806600",
    ),
}  # fmt: skip

SYNTAX_DARK = {
    "keyword": "#c792ea", "string": "#a5d6a0", "number": "#f0a870", "comment": "#74808f", "name": "#82b8ff",
    "type": "#e6c37a", "operator": "#9fb0c4",
}  # fmt: skip
SYNTAX_LIGHT = {
    "keyword": "#7b2fa8", "string": "#22703a", "number": "#a2500b", "comment": "#6d7783", "name": "#1d5bb0",
    "type": "#8a6100", "operator": "#4b5563",
}  # fmt: skip


_NONE = "ansi_default"
"""The terminal's own colour."""


def themes() -> list[Theme]:
    """The themes as Textual takes them; the last is without colours."""
    coloured = [
        Theme(
            name=name, primary=palette.active, secondary=palette.info, warning=palette.attention, error=palette.danger,
            success=palette.ok, accent=palette.attention, foreground=palette.text, background=palette.background,
            surface=palette.background, panel=palette.panel, dark=palette.is_dark, variables=_variables(palette),
        )
        for name, palette in PALETTES.items()
    ]  # fmt: skip
    plain = Theme(
        name=PLAIN, ansi=True, dark=True, primary=_NONE, secondary=_NONE, warning=_NONE, error=_NONE, success=_NONE,
        accent=_NONE, foreground=_NONE, background=_NONE, surface=_NONE, panel=_NONE, boost=_NONE,
        variables={
            **dict.fromkeys(
                (
                    "ansi-background", "ansi-foreground", "border", "border-blurred", "block-cursor-foreground",
                    "block-cursor-background", "edge", "edge-focus", "muted", "input-cursor-background",
                    "input-cursor-foreground", "input-selection-background", "input-selection-foreground",
                    "screen-selection-background", "screen-selection-foreground", "scrollbar", "scrollbar-background",
                ),
                _NONE,
            ),
            "input-cursor-text-style": "reverse",
        },
    )  # fmt: skip
    return [*coloured, plain]


@lru_cache(maxsize=1024)
def style(theme: str, role: str, ground: str = "background") -> Style:
    """How a role looks in a theme, on a ground that is a colour of the palette.

    A role that brings its own ground keeps it.
    """
    palette = PALETTES.get(theme)
    if palette is None:
        return _plain_style(role, ground)
    return Style(bgcolor=getattr(palette, ground)) + _roles(palette).get(role, Style(color=palette.text))


@lru_cache(maxsize=8)
def _roles(palette: Palette) -> Mapping[str, Style]:
    def colour(name: str, *, bold: bool = False, dim: bool = False) -> Style:
        return Style(color=getattr(palette, name), bold=bold or None, dim=dim or None)

    syntax = SYNTAX_DARK if palette.is_dark else SYNTAX_LIGHT
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
        "tab-on": Style(color=palette.strong, bgcolor=palette.selection, bold=True),
        "tab-off": colour("muted"),
        "tab-count": Style(color=palette.attention, bgcolor=palette.selection, bold=True),
        "match": Style(color=palette.strong, bgcolor=palette.match, bold=True),
        "added": colour("ok"),
        "removed": colour("danger"),
        "hunk": colour("info"),
        **{f"syntax-{name}": Style(color=value) for name, value in syntax.items()},
    }


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
    "stale": Style(dim=True),
    "dim": Style(dim=True),
    "faint": Style(dim=True),
    "muted": Style(dim=True),
    "key-off": Style(dim=True),
}


def _plain_style(role: str, ground: str) -> Style:
    found = _PLAIN_ROLES.get(role, Style())
    return found + Style(reverse=True) if ground == "selection" else found


def _variables(palette: Palette) -> dict[str, str]:
    return {
        "edge": palette.faint,
        "edge-focus": palette.active,
        "muted": palette.muted,
        "input-cursor-background": palette.strong,
        "input-cursor-foreground": palette.background,
        "input-selection-background": palette.selection,
        "scrollbar": palette.faint,
        "scrollbar-background": palette.background,
    }
