"""The way to a mothership on another machine's loopback, through the system's own ssh."""

import os
import signal
import subprocess
import threading
import time
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from colonizer_client.errors import Unreachable
from colonizer_client.text import safe_line
from colonizer_config.address import SocketAddress, SshAddress

if TYPE_CHECKING:
    import tempfile

OPEN_TIMEOUT_S = 30.0
"""For the name, the connection, the keys and whatever agent has to be asked for them."""

CHECK_EVERY_S = 0.05
END_TIMEOUT_S = 1.0
WORDS_S = 2.0
SAID_LIMIT_BYTES = 4096

_OPTIONS = (
    "BatchMode=yes",  # a question would come up on a terminal that is not ours to ask on
    "ExitOnForwardFailure=yes",
    "ConnectTimeout=10",
    "ServerAliveInterval=10",
    "ServerAliveCountMax=3",
    "StreamLocalBindUnlink=yes",
    "ControlMaster=no",  # a shared connection would keep the way open after us
    "ControlPath=none",
    "ForwardAgent=no",
    "ForwardX11=no",
    "PermitLocalCommand=no",
    "RemoteCommand=none",
    "LogLevel=INFO",  # tells when nothing listens at the far end
)

_WATCHED = """
exec 3<&0
"$@" </dev/null 3<&- &
ssh=$!
{ cat <&3; kill "$ssh"; } >/dev/null 2>&1 &
wait "$ssh"
"""
"""Ends ssh as soon as the pipe to us is closed: also where we are killed and can close nothing ourselves."""


class Tunnel:
    """One ssh process that leads from a private socket of ours to the loopback of another machine."""

    def __init__(self, address: SshAddress) -> None:
        self.address = address
        self._folder: tempfile.TemporaryDirectory[str] | None = None
        self._process: subprocess.Popen[bytes] | None = None
        self._reader: threading.Thread | None = None
        self._said = b""
        self._closed = threading.Event()
        self._heard = threading.Event()

    def open(self) -> SocketAddress:
        """The near end, once the far machine is connected; blocks until then. `close` from another thread ends it.

        Raises:
            Unreachable: ssh is missing, ends, or takes too long; in its own words.
        """
        import tempfile  # loads four compression libraries

        self._folder = tempfile.TemporaryDirectory(prefix="colonizer-ssh-")  # mode 0700: nobody else may connect
        near = Path(self._folder.name) / "near"
        try:
            self._process = subprocess.Popen(
                ["/bin/sh", "-c", _WATCHED, "sh", *self._command(near)],
                stdin=subprocess.PIPE,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.PIPE,
                start_new_session=True,  # ctrl+c is not for it
            )
            self._reader = threading.Thread(target=self._listen, args=(self._process,), daemon=True)
            self._reader.start()
            self._wait_for(near, self._process)
        except OSError as problem:
            self.close()
            raise Unreachable(f"ssh cannot be started: {problem.strerror}") from problem
        except Unreachable:
            self.close()
            raise
        return SocketAddress(near)

    @property
    def words(self) -> str:
        """The last line that ssh said, safe to show; empty when it said nothing."""
        lines = [line for line in self._said.decode(errors="replace").splitlines() if line.strip()]
        return safe_line(lines[-1], limit=200) if lines else ""

    def last_words(self) -> str:
        """As `words`; waits a moment for them, since what ssh says comes behind the connection that it closes."""
        self._heard.wait(WORDS_S)
        return self.words

    def close(self) -> None:
        """Ends ssh and takes the near end away."""
        self._closed.set()
        process = self._process
        if process is not None:
            if process.stdin is not None:
                process.stdin.close()
            try:
                process.wait(END_TIMEOUT_S)
            except subprocess.TimeoutExpired:
                with suppress(ProcessLookupError):
                    os.killpg(process.pid, signal.SIGKILL)
                process.wait()
        if self._folder is not None:
            self._folder.cleanup()

    def _command(self, near: Path) -> list[str]:
        options = [part for option in _OPTIONS for part in ("-o", option)]
        port = [] if self.address.port is None else ["-p", str(self.address.port)]
        forward = f"{near}:127.0.0.1:{self.address.far_port}"
        return ["ssh", "-N", "-T", *options, *port, "-L", forward, "--", self.address.destination]

    def _wait_for(self, near: Path, process: "subprocess.Popen[bytes]") -> None:
        deadline = time.monotonic() + OPEN_TIMEOUT_S
        while not near.exists():
            if process.poll() is not None:
                if self._reader is not None:
                    self._reader.join(END_TIMEOUT_S)
                raise Unreachable(f"ssh to {self.address.destination}: {self.words or 'it ended without a word'}")
            if time.monotonic() > deadline:
                raise Unreachable(f"ssh to {self.address.destination}: no connection in {OPEN_TIMEOUT_S:.0f} s")
            if self._closed.wait(CHECK_EVERY_S):
                raise Unreachable(f"ssh to {self.address.destination}: given up")

    def _listen(self, process: "subprocess.Popen[bytes]") -> None:
        """Reads to the end, so that ssh never waits for a reader."""
        if process.stderr is not None:
            for said in process.stderr:
                self._said = (self._said + said)[-SAID_LIMIT_BYTES:]
                self._heard.set()
            process.stderr.close()
