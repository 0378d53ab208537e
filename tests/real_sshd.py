"""A real sshd on loopback, and an `ssh` in front of the system's that knows how to sign in there."""

import os
import shutil
import socket
import subprocess
import time
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest

SSHD = shutil.which("sshd", path=f"{os.environ.get('PATH', '')}:/usr/sbin:/usr/local/sbin")
SSH = shutil.which("ssh")
FAR = "far"
LOOK_AGAIN_S = 0.02


@dataclass(frozen=True, slots=True)
class RealSshd:
    """A running sshd; the person's ssh configuration calls it `far`."""

    process: "subprocess.Popen[bytes]"
    programs: Path
    """The folder to put in front of the PATH."""

    def stop(self) -> None:
        """Ends it; connections that are open go on."""
        self.process.terminate()
        self.process.wait()


@contextmanager
def real_sshd(folder: Path) -> Generator[RealSshd]:
    """An sshd that takes one key, which only the `ssh` in `programs` has."""
    if SSHD is None or SSH is None:
        pytest.skip("needs ssh and sshd")
    if os.getuid() == 0:
        Path("/run/sshd").mkdir(mode=0o755, exist_ok=True)  # which its own start script would make
    folder.mkdir(mode=0o700)
    for name in ("host_key", "key"):
        subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", str(folder / name)], check=True)
    port = free_port()
    _write_server_settings(folder, port)
    _write_client_settings(folder, port)
    programs = folder / "bin"
    programs.mkdir()
    (programs / "ssh").write_text(f'#!/bin/sh\nexec {SSH} -F {folder}/ssh_config "$@"\n')
    (programs / "ssh").chmod(0o755)
    command = [SSHD, "-D", "-E", str(folder / "log"), "-f", str(folder / "sshd_config")]
    with subprocess.Popen(command) as process:
        try:
            while "Server listening" not in _text(folder / "log"):
                assert process.poll() is None, f"sshd does not start: {_text(folder / 'log')}"
                time.sleep(LOOK_AGAIN_S)
            yield RealSshd(process, programs)
        finally:
            process.kill()


def free_port() -> int:
    """A port on which nothing listens at the moment."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def _text(file: Path) -> str:
    return file.read_text() if file.exists() else ""


def _write_server_settings(folder: Path, port: int) -> None:
    (folder / "sshd_config").write_text(
        f"ListenAddress 127.0.0.1\nPort {port}\nHostKey {folder}/host_key\nPidFile none\nUsePAM no\n"
        f"StrictModes no\nAuthorizedKeysFile {folder}/key.pub\nPasswordAuthentication no\nPermitRootLogin yes\n"
    )


def _write_client_settings(folder: Path, port: int) -> None:
    known = (folder / "host_key.pub").read_text().rpartition(" ")[0]
    (folder / "known_hosts").write_text(f"[127.0.0.1]:{port} {known}\n")
    (folder / "ssh_config").write_text(
        f"Host {FAR}\n IdentityFile {folder}/key\n"
        f"Host stranger\n IdentityFile none\n"
        f"Host *\n HostName 127.0.0.1\n Port {port}\n UserKnownHostsFile {folder}/known_hosts\n"
        " IdentitiesOnly yes\n IdentityAgent none\n"
    )
