"""The places where the engine can be reached: its private socket, and a port where it is asked for."""

import os
import socket
import stat
from collections.abc import Generator
from contextlib import contextmanager, suppress
from pathlib import Path

from colonizer_config.errors import FolderError
from colonizer_config.paths import make_private
from colonizer_engines.daemon.errors import SocketTrouble

_BACKLOG = 128


@contextmanager
def private_socket(path: Path) -> Generator[socket.socket]:
    """A listening Unix socket that only this user can reach: mode 0600 in a folder of mode 0700.

    Call it under the engine's lock: a socket file that is there already belongs to an engine that is gone.

    Raises:
        SocketTrouble: The folder is not private, or something else is in the way.
    """
    try:
        make_private(path.parent)
    except FolderError as problem:
        raise SocketTrouble(str(problem)) from problem
    listening = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    try:
        try:
            _remove_stale(path)
            # The mode is there from the first moment on, not changed afterwards.
            before = os.umask(0o177)
            try:
                listening.bind(str(path))
            finally:
                os.umask(before)
            listening.listen(_BACKLOG)
            listening.setblocking(False)
        except OSError as problem:
            raise SocketTrouble(f"cannot open the socket {path}: {problem.strerror or problem}") from problem
        yield listening
        with suppress(OSError):
            path.unlink()
    finally:
        listening.close()


@contextmanager
def tcp_port(host: str, port: int) -> Generator[socket.socket]:
    """A listening TCP socket.

    Raises:
        SocketTrouble: The address cannot be used.
    """
    try:
        # Without the protocol's number asyncio would leave Nagle's delay on, which costs 40 ms a reply.
        family, kind, protocol, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
        listening = socket.socket(family, kind, protocol)
    except OSError as problem:
        raise SocketTrouble(f"cannot listen on {host}:{port}: {problem.strerror or problem}") from problem
    try:
        try:
            listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            listening.bind(address)
            listening.listen(_BACKLOG)
            listening.setblocking(False)
        except OSError as problem:
            raise SocketTrouble(f"cannot listen on {host}:{port}: {problem.strerror or problem}") from problem
        yield listening
    finally:
        listening.close()


def _remove_stale(path: Path) -> None:
    with suppress(FileNotFoundError):
        if not stat.S_ISSOCK(path.lstat().st_mode):
            raise SocketTrouble(f"{path} is in the way, and is no socket; remove it")
        path.unlink()
