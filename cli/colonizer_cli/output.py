"""What commands print. Text from outside is shown and never obeyed, whether a terminal or a file is behind.

Lines pass `safe_text` here, whatever was done to their parts before. Where a part may not bring a line of its own,
as in a column, its command makes one line of it first.
"""

import io
import json
import os
import re
import sys
from typing import TextIO

from colonizer_client.text import has_hidden_characters, safe_text


class OutputLost(Exception):
    """The output cannot be written, as on a full disk."""


def say(text: str = "") -> None:
    """Prints one or more lines on stdout."""
    _write(sys.stdout, f"{safe_text(text)}\n")


def note(text: str) -> None:
    """Prints one or more lines on stderr, which stays free for what is not the answer."""
    _write(sys.stderr, f"{safe_text(text)}\n")


def ask(question: str) -> None:
    """Prints a question on stderr, the cursor behind it."""
    _write(sys.stderr, safe_text(question))
    sys.stderr.flush()


def show_json(value: object) -> None:
    """Prints a value as indented JSON."""
    _write(sys.stdout, f"{_json(value, indent=2)}\n")


def show_json_line(value: object) -> None:
    """Prints a value as JSON in one line."""
    _write(sys.stdout, f"{_json(value, indent=None)}\n")


def show_diff(text: str) -> None:
    """Prints a unified diff: for a terminal made safe, for a program as it is, so that `git apply` can read it."""
    if sys.stdout is None or sys.stdout.isatty():
        _write(sys.stdout, safe_text(text))
        return
    flush()
    try:
        sys.stdout.buffer.write(text.encode("utf-8", "surrogatepass"))
    except BrokenPipeError:
        raise
    except OSError as problem:
        raise _lost(problem) from problem


def flush() -> None:
    """Hands over what was printed.

    Raises:
        BrokenPipeError: Nobody reads stdout any more.
        OutputLost: It cannot be written.
    """
    if sys.stdout is None:
        return
    try:
        sys.stdout.flush()
    except BrokenPipeError:
        raise
    except OSError as problem:
        raise _lost(problem) from problem


def flush_quietly() -> None:
    """Hands over what was printed; where that fails, there is something worse to tell."""
    try:
        flush()
    except (BrokenPipeError, OutputLost):
        discard()


def discard() -> None:
    """Drops what was printed and could not be handed over, so that the interpreter's end does not stumble over it."""
    try:
        with open(os.devnull, "wb") as nowhere:
            os.dup2(nowhere.fileno(), sys.stdout.fileno())
    except (OSError, io.UnsupportedOperation):
        return


def _write(stream: TextIO | None, text: str) -> None:
    if stream is None:  # it was closed before we began
        return
    try:
        stream.write(text)
    except BrokenPipeError:
        raise
    except OSError as problem:
        raise _lost(problem) from problem


def _lost(problem: OSError) -> OutputLost:
    return OutputLost(f"the output cannot be written: {problem.strerror or problem}")


def _json(value: object, *, indent: int | None) -> str:
    encoding = "utf-8" if sys.stdout is None else sys.stdout.encoding
    separators = None if indent else (",", ":")
    ascii_only = encoding.replace("-", "").casefold() != "utf8"
    text = json.dumps(value, indent=indent, separators=separators, ensure_ascii=ascii_only)
    # What is hidden can only stand inside a string, where its escape means the same.
    return _OUTSIDE_ASCII.sub(_escaped, text)


_OUTSIDE_ASCII = re.compile(r"[^\n -~]")


def _escaped(found: re.Match[str]) -> str:
    character = found[0]
    return json.dumps(character)[1:-1] if has_hidden_characters(character) else character
