"""Gives an address to the browser of the person's own screen."""

import asyncio
import shutil
import subprocess
import sys
from collections.abc import Mapping
from threading import Thread

LIMIT_S = 3.0
"""An opener that still runs after this long is the browser itself."""


class BrowserFailed(Exception):
    """The browser was not opened; the words say why."""


def opener(environment: Mapping[str, str]) -> str | None:
    """The program that opens an address on the screen before the person; None where there is no such screen.

    A browser in text mode would draw over the cockpit, and one of the far end of ssh opens where nobody sees it.
    """
    if "SSH_CONNECTION" in environment or "SSH_TTY" in environment:
        return None
    names: tuple[str, ...] = ()
    if sys.platform == "darwin":
        names = ("open",)
    elif "WSL_DISTRO_NAME" in environment:
        names = ("wslview", "explorer.exe")
    elif environment.get("WAYLAND_DISPLAY") or environment.get("DISPLAY"):
        names = ("xdg-open", "gio")
    found = (shutil.which(name, path=environment.get("PATH", "")) for name in names)
    return next(filter(None, found), None)


async def show(program: str, address: str, environment: Mapping[str, str]) -> None:
    """Opens the address.

    Raises:
        BrowserFailed: The opener cannot be run, or says that it failed.
    """
    await asyncio.to_thread(_show, program, address, environment)


def _show(program: str, address: str, environment: Mapping[str, str]) -> None:
    try:
        process = subprocess.Popen(
            [program, *(["open"] if program.endswith("/gio") else []), address],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            env=dict(environment),
            start_new_session=True,  # it outlives the cockpit
        )
    except OSError as problem:
        raise BrowserFailed(f"{program} cannot be run: {problem.strerror or problem}") from problem
    try:
        code = process.wait(LIMIT_S)
    except subprocess.TimeoutExpired:
        Thread(target=process.wait, name="browser's end", daemon=True).start()  # else it stays as a zombie
        return
    # Windows' explorer ends with 1 whatever it did.
    if code and not program.endswith("/explorer.exe"):
        raise BrowserFailed(f"{program} failed (code {code})")
