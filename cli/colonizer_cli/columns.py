"""Lines cut to the terminal that reads them; a file and a pipe get them whole."""

import os
import sys
import unicodedata

from colonizer_client.text import CUT_MARK


def width_of_output() -> int | None:
    """How many columns the terminal behind stdout has, None where it is none or does not tell."""
    try:
        return os.get_terminal_size(sys.stdout.fileno()).columns or None if sys.stdout.isatty() else None
    except (AttributeError, OSError, ValueError):
        return None


def cut(line: str, columns: int | None) -> str:
    """The line in at most so many columns, its end marked where something was cut off; whole for None."""
    if columns is None or (len(line) <= columns and line.isascii()):
        return line
    used, fits = 0, 0
    for at, character in enumerate(line):
        used += _width(character)
        if used > columns:
            return line[:fits] + CUT_MARK
        if used < columns:
            fits = at + 1
    return line


def _width(character: str) -> int:
    if unicodedata.combining(character):
        return 0
    return 2 if unicodedata.east_asian_width(character) in "WF" else 1
