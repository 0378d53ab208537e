"""A program in a terminal of its own: all bytes that it writes are kept, and read as a terminal reads them."""

import fcntl
import os
import pty
import re
import select
import signal
import struct
import sys
import termios
import time
import warnings
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager, suppress

import pyte

COCKPIT = (sys.executable, "-m", "colonizer_cli.main", "tui")

PATIENCE_S = 30.0

_NOT_FOR_PYTE = re.compile(rb"\x1b\[[<>=?][0-9;]*u|\x1b\[\?[0-9;]*\$p|\x1b\[[0-9;]*m")
"""Requests of the kitty keyboard protocol and of modes, which pyte would draw as letters, and colours, which cost it
most of its time and change no letter."""

FRAME_BEGINS, FRAME_ENDS = b"\x1b[?2026h", b"\x1b[?2026l"
KNOWS_FRAMES, IT_DOES = b"\x1b[?2026$p", b"\x1b[?2026;2$y"
"""Whether the terminal holds a frame back until it is whole, and what one says that does."""

RESTORED = (b"\x1b[?1049l", b"\x1b[?25h", b"\x1b[?1000l", b"\x1b[?2004l")
"""What leaves the alternate screen, shows the cursor, and switches the mouse and bracketed paste off."""


_FRAMES = str.maketrans("│▌", "  ")


class RealTerminal:
    """One program on one pseudo-terminal."""

    def __init__(self, argv: Sequence[str], rows: int = 40, columns: int = 140) -> None:
        self.raw = bytearray()
        self._is_in_frame = False
        self.screen = pyte.Screen(columns, rows)
        self._text: str | None = None
        self._stream = pyte.ByteStream(self.screen)
        environment = {
            **{name: value for name, value in os.environ.items() if name not in ("COLUMNS", "LINES", "TMUX")},
            "TERM": "xterm-256color",
            "COLORTERM": "truecolor",
            "PYTHONPATH": os.pathsep.join(filter(None, sys.path)),
        }
        with warnings.catch_warnings():
            # A test may have threads; the child does nothing but become the program.
            warnings.simplefilter("ignore", DeprecationWarning)
            self.pid, self._master = pty.fork()
        if self.pid == 0:
            fcntl.ioctl(0, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))
            os.execve(argv[0], list(argv), environment)
        self.modes = termios.tcgetattr(self._master)
        """The terminal's modes as the program found them."""

    @property
    def text(self) -> str:
        """What is on the screen."""
        if self._text is None:
            rows, columns = map(self.screen.buffer.__getitem__, range(self.screen.lines)), range(self.screen.columns)
            # pyte's own `display` fails where half of a wide letter was drawn over.
            self._text = "\n".join("".join([row[x].data for x in columns]).rstrip() for row in rows)
        return self._text

    def send(self, keys: str | bytes) -> None:
        """Types."""
        os.write(self._master, keys.encode() if isinstance(keys, str) else keys)

    def paste(self, text: str) -> None:
        """Pastes as terminals do, as fast as the program reads it."""
        left = memoryview(f"\x1b[200~{text}\x1b[201~".encode())
        os.set_blocking(self._master, False)
        try:
            while left:
                with suppress(BlockingIOError):
                    left = left[os.write(self._master, left) :]
                self._read(0.001)
        finally:
            os.set_blocking(self._master, True)

    def resize(self, rows: int, columns: int) -> None:
        """Gives the terminal another size."""
        fcntl.ioctl(self._master, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))
        self.screen.resize(rows, columns)
        self._text = None

    def until(self, condition: Callable[[], object], what: str = "") -> None:
        """Reads until the condition holds while no frame is half drawn."""
        deadline = time.monotonic() + PATIENCE_S
        while self._is_in_frame or not condition():
            left = deadline - time.monotonic()
            if left <= 0:
                raise TimeoutError(f"{what or 'in vain'}; this is on the screen:\n{self.text}")
            self._read(min(left, 0.2))

    def shows(self, *texts: str) -> None:
        """Reads until all of these are on the screen."""
        self.until(lambda: all(text in self.text for text in texts), f"waited for {texts}")

    def reads(self, *texts: str) -> None:
        """Reads until all of these are on the screen, wherever its lines are broken."""
        self.until(lambda: all(text in self.flowing for text in texts), f"waited for {texts}")

    @property
    def flowing(self) -> str:
        """The screen's words without its frames and breaks."""
        return " ".join(self.text.translate(_FRAMES).split())

    @property
    def told(self) -> str:
        """The words of the notes in the corner, which lie over what is on the screen."""
        middle = self.screen.columns // 2
        notes = (line.rpartition("▌")[2] for line in self.text.split("\n") if "▌" in line[middle:])
        return " ".join(" ".join(notes).split())

    def hang_up(self) -> None:
        """Takes the terminal away."""
        os.close(self._master)

    def kill(self, number: int) -> None:
        """Sends a signal."""
        os.kill(self.pid, number)

    def ended(self) -> int:
        """Reads to the end; the exit code, negative for a signal."""
        deadline = time.monotonic() + PATIENCE_S
        while True:
            pid, status = os.waitpid(self.pid, os.WNOHANG)
            if pid:
                self._read(0)
                return os.waitstatus_to_exitcode(status)
            if time.monotonic() > deadline:
                raise TimeoutError(f"it does not end; this is on the screen:\n{self.text}")
            self._read(0.05)

    def is_restored(self) -> bool:
        """Whether the modes are those that the program found, and all that it switched on was switched off again."""
        return termios.tcgetattr(self._master) == self.modes and all(
            self.raw.rfind(off) > self.raw.rfind(off.replace(b"l", b"h") if off.endswith(b"l") else b"\x1b[?25l")
            for off in RESTORED
        )

    def _read(self, timeout_s: float) -> None:
        try:
            ready, _, _ = select.select([self._master], [], [], timeout_s)
            received = os.read(self._master, 1 << 16) if ready else b""
        except (OSError, ValueError):
            self._is_in_frame = False
            return  # nobody writes any more
        self.raw += received
        if KNOWS_FRAMES in received:
            self.send(IT_DOES)
        self._is_in_frame = self.raw.rfind(FRAME_BEGINS) > self.raw.rfind(FRAME_ENDS)
        self._stream.feed(_NOT_FOR_PYTE.sub(b"", received))
        self._text = None


@contextmanager
def real_terminal(*argv: str, rows: int = 40, columns: int = 140) -> Generator[RealTerminal]:
    """A program in a terminal, ended with the test."""
    terminal = RealTerminal(argv, rows, columns)
    try:
        yield terminal
    finally:
        with suppress(ProcessLookupError, ChildProcessError):
            os.kill(terminal.pid, signal.SIGKILL)
            os.waitpid(terminal.pid, 0)
        with suppress(OSError):
            terminal.hang_up()


@contextmanager
def cockpit(*argv: str, rows: int = 40, columns: int = 140) -> Generator[RealTerminal]:
    """The cockpit in a terminal, which is as it was once the person has left; another program may stand for it."""
    with real_terminal(*(argv or COCKPIT), rows=rows, columns=columns) as terminal:
        yield terminal
        terminal.send("\x11")
        assert terminal.ended() == 0
        assert terminal.is_restored()
