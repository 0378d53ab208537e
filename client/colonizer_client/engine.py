"""Finds the local engine of this person, or starts it."""

import fcntl
import os
import select
import socket
import subprocess
import time
from dataclasses import dataclass
from pathlib import Path

from colonizer_client.errors import EngineUnavailable
from colonizer_client.mothership import wire
from colonizer_config.address import SocketAddress
from colonizer_config.errors import ConfigError
from colonizer_config.paths import Paths, make_private
from colonizer_config.private_file import read_private
from colonizer_config.token import Token

START_TIMEOUT_S = 20.0
CONNECT_TIMEOUT_S = 2.0
READY_LINE_LIMIT_BYTES = 64 * 1024


@dataclass(frozen=True, slots=True)
class LocalEngine:
    """The local engine of one data folder. `command` starts one; `--ready-fd N` is appended to it."""

    paths: Paths
    command: tuple[str, ...]

    @property
    def address(self) -> SocketAddress:
        """Its private socket."""
        return SocketAddress(self.paths.socket(self.paths.engine))

    def is_running(self) -> bool:
        """Whether something answers on the private socket."""
        with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as probe:
            probe.settimeout(CONNECT_TIMEOUT_S)
            try:
                probe.connect(str(self.address.path))
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
        if self.is_running():
            return
        deadline = time.monotonic() + START_TIMEOUT_S
        error = self._start(deadline)
        # Where another face started one in this moment, ours lost the lock, and theirs is about to answer.
        while not self.is_running():
            if time.monotonic() > deadline or (error and not self.is_locked()):
                raise EngineUnavailable(f"the local engine cannot be started: {error or 'it did not answer in time'}")
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

    def _start(self, deadline: float) -> str:
        """Starts a process and waits for its word: empty when it is ready, else why it is not."""
        folder = self.paths.engine
        try:
            make_private(folder.root)
            log = os.open(folder.log, os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o600)
        except (ConfigError, OSError) as problem:
            raise EngineUnavailable(f"the local engine cannot be started: {problem}") from problem
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
        except OSError as problem:
            os.close(reading)
            raise EngineUnavailable(f"the local engine cannot be started: {problem}") from problem
        finally:
            os.close(writing)
            os.close(log)
        try:
            return _word_from(reading, deadline) or _end_words(process, folder.log)
        finally:
            os.close(reading)


def _word_from(reading: int, deadline: float) -> str:
    """The error that the starting process reports, empty when it reports that it is ready or nothing at all."""
    received = b""
    while b"\n" not in received and len(received) < READY_LINE_LIMIT_BYTES:
        ready, _, _ = select.select([reading], [], [], max(deadline - time.monotonic(), 0))
        chunk = os.read(reading, 4096) if ready else b""
        if not chunk:
            return ""
        received += chunk
    return wire.line(wire.mapping(wire.parse(received)).get("error"))


def _end_words(process: "subprocess.Popen[bytes]", log: Path) -> str:
    """Why the process ended without a word, empty while it runs."""
    code = process.poll()
    if code is None:
        process.returncode = 0  # it is meant to outlive us: nobody waits for it
        return ""
    return f"its process ended with code {code}; see {log}"
