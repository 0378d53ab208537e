"""Hosts for a cockpit to connect to, in a process of their own so that their work is not counted as the cockpit's."""

import json
import select
import socket
import subprocess
import sys
from collections.abc import Generator
from contextlib import ExitStack, contextmanager
from typing import IO


class Fleet:
    """The running motherships of `bench.motherships`."""

    def __init__(self, process: "subprocess.Popen[str]") -> None:
        self._process = process
        self.ports: list[int] = json.loads(_of(process.stdout).readline())
        self.following = 0
        """The number of the next news."""

    def begin(self, what: str, rate: float, seconds: float) -> None:
        """Has news sent; see `bench.motherships` for `what`."""
        _of(self._process.stdin).write(f"{what} {rate} {seconds}\n")
        _of(self._process.stdin).flush()

    def has_sent(self) -> bool:
        """Whether all of it was sent."""
        if select.select([_of(self._process.stdout)], [], [], 0)[0]:
            self.following = int(_of(self._process.stdout).readline())
            return True
        return False


@contextmanager
def fleet(**asked: int) -> Generator[Fleet]:
    """Motherships, see the arguments of `bench.motherships`."""
    arguments = [word for name, value in asked.items() for word in (f"--{name}", str(value))]
    process = subprocess.Popen(
        [sys.executable, "-P", "-m", "bench.motherships", *arguments],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    try:
        yield Fleet(process)
    finally:
        process.kill()
        process.communicate()


@contextmanager
def dead_ports(count: int) -> Generator[list[int]]:
    """Ports that belong to nobody else while nothing answers on them."""
    with ExitStack() as held:
        sockets = [held.enter_context(socket.socket()) for _ in range(count)]
        for bound in sockets:
            bound.bind(("127.0.0.1", 0))
        yield [bound.getsockname()[1] for bound in sockets]


def _of(pipe: IO[str] | None) -> IO[str]:
    assert pipe is not None
    return pipe
