"""What the terminal must offer before the application starts, and its state afterwards."""

import os
import sys
from collections.abc import Mapping


def refusal(environment: Mapping[str, str]) -> str:
    """Why the application cannot start on this terminal, and what to use instead; empty when it can.

    Textual draws on stderr and reads from stdin; it would run for ever without them.
    """
    instead = "use the plain commands instead: colonizer list, status, ask, answer, diff (see colonizer --help)"
    for stream, name in ((sys.stdin, "standard input"), (sys.stderr, "standard error")):
        try:
            is_terminal = stream is not None and stream.isatty()
        except ValueError:
            is_terminal = False
        if not is_terminal:
            return f"{name} is not a terminal; {instead}"
    if environment.get("TERM", "") in ("dumb", "unknown"):
        return f"the terminal (TERM={environment['TERM']}) cannot place text on its screen; {instead}"
    return ""


def wants_ascii(environment: Mapping[str, str]) -> bool:
    """Whether the terminal's locale cannot show more than ASCII."""
    locale = environment.get("LC_ALL") or environment.get("LC_CTYPE") or environment.get("LANG") or ""
    return environment.get("TERM") == "linux" or not ("utf" in locale.lower() or locale == "")


def has_few_colours(environment: Mapping[str, str]) -> bool:
    """Whether the terminal has no more than sixteen colours, as Textual judges it."""
    chosen = environment.get("TEXTUAL_COLOR_SYSTEM", "auto")
    if chosen != "auto":
        return chosen == "standard"
    if environment.get("COLORTERM", "").strip().lower() in ("truecolor", "24bit"):
        return False
    return environment.get("TERM", "").strip().lower().rpartition("-")[2] not in ("256color", "kitty")


def is_remote(environment: Mapping[str, str]) -> bool:
    """Whether what is drawn travels over a network or through a multiplexer, where animation is a burden."""
    return any(name in environment for name in ("SSH_CONNECTION", "SSH_TTY", "TMUX", "STY"))


def user_name(environment: Mapping[str, str]) -> str:
    """The name of the person, for words on the screen."""
    return environment.get("USER") or environment.get("LOGNAME") or str(os.getuid())
