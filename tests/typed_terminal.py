"""A command on a terminal of its own, as a person sees and types it."""

import os
import pty
import select
import subprocess
from collections.abc import Generator, Sequence
from contextlib import contextmanager

from plain_command import LIMIT_S, PROGRAM, own_environment

_TAKE_TERMINAL = """
import fcntl, os, sys, termios
fcntl.ioctl(0, termios.TIOCSCTTY, 0)
os.execv(sys.argv[1], sys.argv[1:])
"""
"""Makes stdin the terminal that controls the process, on which secrets are asked for, before it becomes another."""


class Typed:
    """The conversation with one command."""

    def __init__(self, process: "subprocess.Popen[bytes]", terminal: int) -> None:
        self.process = process
        self._terminal = terminal
        self.seen = ""
        """All that the terminal showed."""

    def until(self, words: str) -> None:
        """Returns when the terminal shows these words."""
        while words not in self.seen:
            assert select.select([self._terminal], [], [], LIMIT_S)[0], self.seen
            self.seen += os.read(self._terminal, 4096).decode()

    def type(self, line: str) -> None:
        os.write(self._terminal, f"{line}\n".encode())

    def end(self) -> int:
        """The command's exit code."""
        return self.process.wait(LIMIT_S)


@contextmanager
def typed(*argv: str, program: Sequence[str] = PROGRAM) -> Generator[Typed]:
    """A command on a new terminal."""
    ours, theirs = pty.openpty()
    command = (*PROGRAM[:1], "-c", _TAKE_TERMINAL, *program, *argv)
    with subprocess.Popen(
        command, stdin=theirs, stdout=theirs, stderr=theirs, env=own_environment({}), start_new_session=True
    ) as process:
        os.close(theirs)
        try:
            yield Typed(process, ours)
        finally:
            process.kill()
            os.close(ours)
