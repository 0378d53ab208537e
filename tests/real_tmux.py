"""A program in tmux: keys go in as a person types them, and what comes out is what tmux shows."""

import os
import shlex
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from pathlib import Path

import pytest

PATIENCE_S = 30.0
LOOK_AGAIN_S = 0.05


class Tmux:
    """One window of a tmux server of the test's own."""

    def __init__(self, socket: Path) -> None:
        self._socket = socket

    def open(self, argv: Sequence[str], folder: Path) -> None:
        """A new terminal with the program in it."""
        path = os.pathsep.join(filter(None, sys.path))
        # COLUMNS and LINES would be the test run's own.
        program = ["env", "-u", "COLUMNS", "-u", "LINES", f"PYTHONPATH={path}", "COLORTERM=truecolor", *argv]
        # A server that ends with its last terminal could be met by the next one while it does.
        self._tmux("start-server", ";", "set-option", "-s", "exit-empty", "off")
        self._tmux("new-session", "-d", "-x", "140", "-y", "40", "-c", str(folder), shlex.join(program))

    def close(self) -> None:
        """Takes the terminal away, as closing its window does."""
        self._tmux("kill-session")

    def press(self, *keys: str) -> None:
        """Presses keys by tmux's names for them."""
        self._tmux("send-keys", *keys)

    def type(self, text: str) -> None:
        """Types a text."""
        self._tmux("send-keys", "-l", text)

    @property
    def text(self) -> str:
        """What is on the screen."""
        return self._tmux("capture-pane", "-p")

    def shows(self, *texts: str) -> None:
        """Returns when all of these are on the screen."""
        self.until(lambda: all(text in self.text for text in texts), f"waited for {texts}")

    def until(self, condition: Callable[[], object], what: str) -> None:
        """Returns when the condition holds. tmux tells of no change of a screen: it is looked at again and again."""
        deadline = time.monotonic() + PATIENCE_S
        while not condition():
            if time.monotonic() > deadline:
                raise TimeoutError(f"{what}; this is on the screen:\n{self.text}")
            time.sleep(LOOK_AGAIN_S)

    def _tmux(self, *arguments: str) -> str:
        command = ["tmux", "-S", str(self._socket), "-f", os.devnull, *arguments]
        return subprocess.run(command, check=True, capture_output=True, text=True).stdout


@contextmanager
def tmux(folder: Path) -> Generator[Tmux]:
    """A tmux server of the test's own, ended with it."""
    if shutil.which("tmux") is None:
        pytest.skip("needs tmux")
    socket = folder / "tmux"
    try:
        yield Tmux(socket)
    finally:
        subprocess.run(["tmux", "-S", str(socket), "kill-server"], check=False, capture_output=True)
