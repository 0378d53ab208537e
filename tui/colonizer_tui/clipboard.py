"""Puts a text where the person can paste it from: a clipboard program, the terminal's clipboard, or a file.

What is copied came from outside. It is pasted into shells: no control character is among it, and no line feed at its
end, so that a single line does nothing before somebody presses enter.
"""

import asyncio
import base64
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Mapping
from pathlib import Path
from typing import TypeAlias

from colonizer_tui.printable import printable

LIMIT_S = 2.0
"""How long a clipboard program may take."""

TERMINAL_LIMIT_BYTES = 74_994
"""The longest text, encoded, that terminals commonly take."""

Command: TypeAlias = tuple[str, ...]


class CopyFailed(Exception):
    """The text was not copied; the words say why."""


def pasteable(text: str) -> str:
    """The text as it may be pasted anywhere."""
    return printable(text).rstrip()


def program(environment: Mapping[str, str]) -> Command | None:
    """The clipboard program of the person's own screen; None where there is none.

    Over ssh a program of the far machine would fill a clipboard that nobody sees, unless a display is passed on.
    """
    ways: list[Command] = []
    is_far = "SSH_CONNECTION" in environment or "SSH_TTY" in environment
    if environment.get("WAYLAND_DISPLAY"):
        ways.append(("wl-copy",))
    if environment.get("DISPLAY"):
        ways += [("xclip", "-selection", "clipboard"), ("xsel", "--clipboard", "--input")]
    if not is_far:
        ways += [("pbcopy",)] if sys.platform == "darwin" else []
        ways += [("clip.exe",)] if "WSL_DISTRO_NAME" in environment else []
    for name, *arguments in ways:
        found = shutil.which(name, path=environment.get("PATH", ""))
        if found is not None:
            return (found, *arguments)
    return None


async def give(command: Command, text: str, environment: Mapping[str, str]) -> None:
    """Gives the text to a clipboard program.

    Raises:
        CopyFailed: The program fails, or does not end in time.
    """
    await asyncio.to_thread(_give, command, text, environment)


def _give(command: Command, text: str, environment: Mapping[str, str]) -> None:
    name = Path(command[0]).name
    # Windows reads the bytes as UTF-16 where a mark says so, and by its old code pages otherwise.
    data = text.encode("utf-16") if name == "clip.exe" else text.encode("utf-8", "replace")
    try:
        done = subprocess.run(
            command,
            input=data,
            stdout=subprocess.DEVNULL,  # xclip goes on in the background and would keep a pipe open
            stderr=subprocess.DEVNULL,
            env=dict(environment),
            start_new_session=True,
            timeout=LIMIT_S,
            check=False,
        )
    except subprocess.TimeoutExpired:
        raise CopyFailed(f"{name} did not end within {LIMIT_S:g} s") from None
    except OSError as problem:
        raise CopyFailed(f"{name} cannot be run: {problem.strerror or problem}") from problem
    if done.returncode:
        raise CopyFailed(f"{name} failed (code {done.returncode})")


def terminal_sequence(text: str) -> str | None:
    """What asks the terminal to take the text into its clipboard (OSC 52); None where it is too long for that."""
    data = base64.b64encode(text.encode("utf-8", "replace")).decode("ascii")
    return f"\x1b]52;c;{data}\x07" if len(data) <= TERMINAL_LIMIT_BYTES else None


def write_file(text: str, folder: Path) -> Path:
    """A new file with the text, which only the person can read.

    Raises:
        CopyFailed: It cannot be written.
    """
    stem = f"{time.strftime('%Y%m%d-%H%M%S')}-{os.getpid()}"
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        for number in range(1000):
            path = folder / f"{stem}-{number}.txt"
            try:
                descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
            except FileExistsError:
                continue
            with os.fdopen(descriptor, "w", encoding="utf-8", errors="replace") as file:
                file.write(f"{text}\n")
            return path
    except OSError as problem:
        raise CopyFailed(f"cannot write into {folder}: {problem.strerror or problem}") from problem
    raise CopyFailed(f"{folder} has no free name")
