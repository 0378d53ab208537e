"""Finds the local engine of this person, or starts it."""

import fcntl
import os
import select
import socket
import stat
import subprocess
import time
from collections.abc import Mapping
from io import FileIO
from pathlib import Path
from threading import Thread

from colonizer_client.errors import EngineUnavailable, Unreadable
from colonizer_client.mothership import wire
from colonizer_config.address import SocketAddress
from colonizer_config.errors import ConfigError
from colonizer_config.paths import Paths, make_private
from colonizer_config.private_file import read_private
from colonizer_config.token import Token
from colonizer_config.value import Value

START_TIMEOUT_S = 20.0
CONNECT_TIMEOUT_S = 2.0
END_TIMEOUT_S = 2.0
"""Between the end of a process's pipe and its own."""

READY_LINE_LIMIT_BYTES = 64 * 1024


class LocalEngine(Value):
    """The local engine of one data folder. `command` starts one; `--ready-fd N` is appended to it."""

    paths: Paths
    command: tuple[str, ...]

    @property
    def address(self) -> SocketAddress:
        """Its private socket."""
        return SocketAddress(self.paths.socket(self.paths.engine))

    def is_running(self) -> bool:
        """Whether something answers on the private socket.

        Raises:
            EngineUnavailable: The socket lies in a folder in which others could have put theirs.
        """
        path = self.address.path
        _refuse_foreign(path.parent)
        with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as probe:
            probe.settimeout(CONNECT_TIMEOUT_S)
            try:
                probe.connect(str(path))
            except OSError:
                return False
            return True

    def is_locked(self) -> bool:
        """Whether a process has the folder, be it about to answer, about to end, or stuck."""
        try:
            descriptor = os.open(self.paths.engine.lock, os.O_RDWR | os.O_CLOEXEC)
        except OSError:
            return False
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            return True
        finally:
            os.close(descriptor)
        return False

    def ensure_running(self) -> None:
        """Returns when the engine answers; starts it where it does not run. Blocks for at most 20 s.

        Raises:
            EngineUnavailable: It cannot be started; the text is its own words.
        """
        deadline = time.monotonic() + START_TIMEOUT_S
        while not self.is_running():
            # Where another process has the folder, its engine is about to answer, or to make room for ours.
            if not self.is_locked():
                self._start(deadline)
            if time.monotonic() > deadline:
                raise EngineUnavailable(f"the local engine did not answer in time; see {self.paths.engine.log}")
            time.sleep(0.02)

    def token(self) -> Token:
        """The owner token of the embedded mothership.

        Raises:
            EngineUnavailable: The engine's token file is missing or cannot be used.
        """
        try:
            return Token((read_private(self.paths.engine.token) or "").strip())
        except ConfigError as problem:
            raise EngineUnavailable(f"the local engine's token cannot be read: {problem}") from problem

    def _start(self, deadline: float) -> None:
        """Starts a process and waits for its word.

        Raises:
            EngineUnavailable: It cannot run, for another reason than that another process has the folder.
        """
        try:
            process, reading = self._spawn()
        except (ConfigError, OSError) as problem:
            raise EngineUnavailable(f"the local engine cannot be started: {problem}") from problem
        with reading:
            word = _word_from(reading, deadline)
        error = _end_words(process, self.paths.engine.log) if word is None else wire.line(word.get("error"))
        Thread(target=process.wait, name="engine's end", daemon=True).start()  # else it stays as a zombie
        if error and not wire.flag(wire.mapping(word).get("held")):
            raise EngineUnavailable(f"the local engine cannot be started: {error}")

    def _spawn(self) -> "tuple[subprocess.Popen[bytes], FileIO]":
        """The process, and the pipe through which it says its word."""
        folder = self.paths.engine
        make_private(folder.root)
        log = os.open(folder.log, os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o600)
        reading, writing = os.pipe()
        try:
            process = subprocess.Popen(
                [*self.command, "--ready-fd", str(writing)],
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                pass_fds=(writing,),
                start_new_session=True,  # it outlives the terminal
                cwd="/",
            )
        except OSError:
            os.close(reading)
            raise
        finally:
            os.close(writing)
            os.close(log)
        return process, open(reading, "rb", buffering=0)


def _word_from(reading: FileIO, deadline: float) -> Mapping[str, object] | None:
    """What the starting process says of itself, None when it says nothing."""
    received = b""
    while b"\n" not in received and len(received) < READY_LINE_LIMIT_BYTES:
        ready, _, _ = select.select([reading], [], [], max(deadline - time.monotonic(), 0))
        chunk = reading.read(4096) if ready else b""
        if not chunk:
            return None
        received += chunk
    try:
        return wire.mapping(wire.parse(received))
    except Unreadable as problem:
        return {"error": str(problem)}


def _end_words(process: "subprocess.Popen[bytes]", log: Path) -> str:
    """Why the process said nothing."""
    try:
        code = process.wait(END_TIMEOUT_S)
    except subprocess.TimeoutExpired:
        return f"it says nothing of itself; see {log}"
    return f"its process ended with code {code}; see {log}"


def _refuse_foreign(folder: Path) -> None:
    try:
        found = folder.lstat()
    except OSError:
        return  # there is no socket either
    if not stat.S_ISDIR(found.st_mode) or found.st_uid != os.geteuid() or found.st_mode & 0o022:
        raise EngineUnavailable(f"{folder} is open to others, who could pose as the local engine: remove it")
