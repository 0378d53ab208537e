"""A program in a pseudo-terminal, whose frames are told apart and whose bytes are counted."""

import fcntl
import os
import pty
import re
import select
import signal
import struct
import termios
import time
from collections.abc import Callable, Generator
from contextlib import contextmanager, suppress

PATIENCE_S = 120.0
TEXT_CELLS = 20
"""So many letters are text to a person."""

_ASKS_FOR_FRAMES = b"\x1b[?2026$p"
_HAS_FRAMES = b"\x1b[?2026;2$y"
FRAME_END = b"\x1b[?2026l"

_SEQUENCE = re.compile(
    rb"\x1b\[[0-?]*[ -/]*[@-~]|\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)|\x1b[P_^][^\x1b]*\x1b\\|\x1b[ -/]*[0-~]"
)


class Terminal:
    """One program on one pseudo-terminal, and all that it wrote."""

    def __init__(self, argv: tuple[str, ...], rows: int, columns: int) -> None:
        self.raw = bytearray()
        self.started = time.monotonic()
        self._answered = False
        self.pid, self._master = pty.fork()
        if self.pid == 0:
            fcntl.ioctl(0, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))
            os.execv(argv[0], argv)

    def send(self, keys: str) -> None:
        """Types."""
        os.write(self._master, keys.encode())

    def read(self, timeout_s: float) -> bytes:
        """What comes next, empty where nothing came in time."""
        ready, _, _ = select.select([self._master], [], [], timeout_s)
        if not ready:
            return b""
        try:
            received = os.read(self._master, 1 << 16)
        except OSError:
            return b""  # nobody writes any more
        self.raw += received
        if not self._answered and _ASKS_FOR_FRAMES in self.raw:
            self._answered = True
            os.write(self._master, _HAS_FRAMES)
        return received

    def until(self, holds: Callable[[], object], patience_s: float = PATIENCE_S) -> float:
        """Reads until the condition holds; the seconds since the start."""
        deadline = time.monotonic() + patience_s
        while not holds():
            if time.monotonic() > deadline:
                raise TimeoutError(f"it wrote at last: {text_of(bytes(self.raw[-4000:])).decode(errors='replace')}")
            self.read(0.5)
        return time.monotonic() - self.started

    def until_text(self) -> float:
        """Reads until there is text to read; the seconds since the start."""
        return self.until(lambda: _letters(self.raw) >= TEXT_CELLS)

    def until_shown(self, text: str, patience_s: float = PATIENCE_S) -> float:
        """Reads until this text was written from now on; the seconds since the start."""
        begin = len(self.raw)
        sought = text.encode()
        return self.until(lambda: sought in text_of(bytes(self.raw[begin:])), patience_s)

    def rest(self, seconds: float) -> int:
        """Reads for so long; how many bytes came."""
        before, deadline = len(self.raw), time.monotonic() + seconds
        while (left := deadline - time.monotonic()) > 0:
            self.read(left)
        return len(self.raw) - before

    def press(self, key: str, mark: str) -> tuple[float, int]:
        """Presses a key; the seconds until a whole frame with the mark was written, and how many bytes that took."""
        begin, sought = len(self.raw), mark.encode()

        def is_painted() -> bool:
            place = self.raw.find(sought, begin)
            return place >= 0 and self.raw.find(FRAME_END, place) >= 0

        started = time.monotonic()
        self.send(key)
        ended = self.until(is_painted) + self.started
        return ended - started, len(self.raw) - begin

    def leave(self) -> float:
        """Presses the key that leaves; the seconds until the process was gone."""
        started = time.monotonic()
        self.send("\x11")
        while os.waitpid(self.pid, os.WNOHANG)[0] == 0:
            if time.monotonic() - started > PATIENCE_S:
                raise TimeoutError("it does not leave")
            self.read(0.002)
        return time.monotonic() - started

    def end(self) -> None:
        """Ends the program, whatever it does."""
        with suppress(ProcessLookupError, ChildProcessError):
            os.kill(self.pid, signal.SIGKILL)
            os.waitpid(self.pid, 0)
        with suppress(OSError):
            os.close(self._master)


@contextmanager
def terminal(*argv: str, rows: int = 40, columns: int = 140) -> Generator[Terminal]:
    """A program in a terminal, ended with the block."""
    opened = Terminal(argv, rows, columns)
    try:
        yield opened
    finally:
        opened.end()


def text_of(written: bytes) -> bytes:
    """What was written, without the control sequences."""
    return _SEQUENCE.sub(b"", written)


def _letters(written: bytearray) -> int:
    return sum(not chr(letter).isspace() for letter in text_of(bytes(written)) if letter >= 32)
