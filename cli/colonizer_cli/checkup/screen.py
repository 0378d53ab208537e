"""The terminal and the clipboard: what the cockpit is drawn on and copies into."""

import os
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path

from colonizer_cli.checkup.finding import Finding, ok, warning
from colonizer_cli.checkup.program import said
from colonizer_tui import browser, clipboard, terminal

LEAST = (40, 10)
COMPLETE = (80, 24)


def screen(environment: Mapping[str, str]) -> Iterator[Finding]:
    """The terminal, the multiplexer around it, the clipboard and the browser."""
    refusal = terminal.refusal(environment)
    if refusal:
        yield warning("terminal", refusal.partition(";")[0], "the plain commands need no terminal")
    else:
        yield _size()
    yield _colours(environment)
    if terminal.wants_ascii(environment):
        yield warning(
            "letters", "the locale is not UTF-8: only ASCII is drawn", "set LANG to a UTF-8 locale, such as C.UTF-8"
        )
    else:
        yield ok("letters", "UTF-8")
    yield from _multiplexer(environment)
    yield _clipboard(environment)
    opener = browser.opener(environment)
    yield ok("browser", opener) if opener else ok("browser", "none here: addresses are shown, to be copied")


def _size() -> Finding:
    try:
        columns, lines = os.get_terminal_size(sys.__stderr__.fileno() if sys.__stderr__ else 2)
    except (OSError, ValueError):
        return warning("terminal", "it does not tell its size", "")
    size = f"{columns}×{lines}"
    if columns < LEAST[0] or lines < LEAST[1]:
        return warning("terminal", f"{size}: too small for the cockpit", f"make it {LEAST[0]}×{LEAST[1]} at least")
    if columns < COMPLETE[0] or lines < COMPLETE[1]:
        return warning("terminal", f"{size}: some things are cut", f"{COMPLETE[0]}×{COMPLETE[1]} shows all")
    return ok("terminal", size)


def _colours(environment: Mapping[str, str]) -> Finding:
    name = f"TERM={environment.get('TERM', '') or '(not set)'}"
    if environment.get("NO_COLOR"):
        return ok("colours", f"none: NO_COLOR is set ({name})")
    if terminal.has_few_colours(environment):
        return ok("colours", f"16 ({name})", "COLORTERM=truecolor says that the terminal has more, where it has")
    many = "24 bit" if environment.get("COLORTERM", "").lower() in ("truecolor", "24bit") else "256"
    return ok("colours", f"{many} ({name})")


def _multiplexer(environment: Mapping[str, str]) -> Iterator[Finding]:
    if "TMUX" in environment:
        yield _tmux()
    elif "STY" in environment:
        yield warning("multiplexer", "screen: it passes no copied text on (OSC 52)", "copy into a file, or use tmux")


def _tmux() -> Finding:
    version = said(["tmux", "-V"]) or "tmux of an unknown version"
    passing = said(["tmux", "show-options", "-sv", "set-clipboard"])
    if passing == "on":
        return ok("multiplexer", f"{version}: it passes copied text on (OSC 52)")
    how = f"set-clipboard is {passing}" if passing else "it does not tell its options"
    return warning(
        "multiplexer",
        f"{version}: it passes no copied text on ({how})",
        "`set -s set-clipboard on` in ~/.tmux.conf, where copying by the terminal is wanted",
    )


def _clipboard(environment: Mapping[str, str]) -> Finding:
    command = clipboard.program(environment)
    if command is not None:
        return ok("clipboard", Path(command[0]).name)
    if "SSH_CONNECTION" in environment:
        return ok("clipboard", "none over ssh: the cockpit asks whether the terminal or a file takes copied text")
    wanted = "wl-copy" if environment.get("WAYLAND_DISPLAY") else "xclip or xsel" if environment.get("DISPLAY") else ""
    if wanted:
        return warning("clipboard", "there is no clipboard program", f"install {wanted}")
    return ok("clipboard", "no screen: the cockpit asks whether the terminal or a file takes copied text")
