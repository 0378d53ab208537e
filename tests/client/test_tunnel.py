"""The way through ssh, with a real sshd on loopback."""

import os
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest

from colonizer_client.errors import LinkError, Unreachable
from colonizer_client.mothership import calls
from colonizer_client.mothership.http import open_transport
from colonizer_client.mothership.oneshot import OneShot
from colonizer_client.tunnel import Tunnel
from colonizer_config.address import SshAddress
from colonizer_config.token import Token
from loopback_fleet import loopback_fleet, silent_server
from real_sshd import FAR, RealSshd, free_port, real_sshd

pytestmark = pytest.mark.anyio

TOKEN = Token("0" * 64)
HOLD_A_TUNNEL = """
import sys
from colonizer_client.tunnel import Tunnel
from colonizer_config.address import SshAddress
print(Tunnel(SshAddress(sys.argv[1], far_port=int(sys.argv[2]))).open().path, flush=True)
sys.stdin.read()
"""


@pytest.fixture
def sshd(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[RealSshd]:
    with real_sshd(tmp_path / "ssh") as running:
        monkeypatch.setenv("PATH", f"{running.programs}{os.pathsep}{os.environ['PATH']}")
        yield running


def ssh_processes(parent: psutil.Process) -> list[psutil.Process]:
    """The ssh programs below a process."""
    return [child for child in parent.children(recursive=True) if child.name() == "ssh"]


async def test_calls_and_sockets_reach_the_loopback_of_the_other_machine(sshd: RealSshd) -> None:
    del sshd
    server = silent_server()
    server.put("c0ffee00", status="running", issue_title="Far away")
    with loopback_fleet(server) as port:
        tunnel = Tunnel(SshAddress(FAR, far_port=port))
        transport = await open_transport(tunnel.open(), TOKEN, tunnel)
        assert (await transport.run(calls.standing())).is_owner
        async with transport.socket("/api/stream") as frames:
            first = await anext(aiter(frames))
        await transport.close()
        assert "Far away" in str(first)
        assert not ssh_processes(psutil.Process())


def test_the_near_end_is_nobody_elses_and_goes_with_the_tunnel(sshd: RealSshd) -> None:
    del sshd
    tunnel = Tunnel(SshAddress(FAR, far_port=free_port()))
    near = tunnel.open().path
    assert (near.parent.stat().st_mode & 0o777, near.is_socket()) == (0o700, True)
    tunnel.close()
    tunnel.close()
    assert not near.parent.exists()


def test_a_key_that_is_not_taken_is_told_in_the_words_of_ssh(sshd: RealSshd) -> None:
    del sshd
    tunnel = Tunnel(SshAddress("stranger"))
    with pytest.raises(Unreachable, match=r"^ssh to stranger: .*Permission denied"):
        tunnel.open()
    assert not ssh_processes(psutil.Process())


def test_a_machine_that_is_away_is_told_in_the_words_of_ssh(sshd: RealSshd) -> None:
    sshd.stop()
    with pytest.raises(Unreachable, match="Connection refused"):
        Tunnel(SshAddress(FAR)).open()


def test_a_machine_without_ssh_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "/nowhere")
    with pytest.raises(Unreachable, match="ssh"):
        Tunnel(SshAddress(FAR)).open()


def test_where_nothing_listens_over_there_the_error_says_it(sshd: RealSshd) -> None:
    del sshd
    tunnel = Tunnel(SshAddress(FAR, far_port=free_port()))
    try:
        with pytest.raises(LinkError):
            OneShot(tunnel.open(), TOKEN).run(calls.standing())
        assert "Connection refused" in tunnel.last_words()
    finally:
        tunnel.close()


def test_closing_ends_an_attempt_that_hangs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    program = tmp_path / "ssh"
    program.write_text("#!/bin/sh\nexec sleep 1000\n")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}{os.pathsep}{os.environ['PATH']}")
    tunnel = Tunnel(SshAddress(FAR))
    problems: list[Unreachable] = []

    def attempt() -> None:
        try:
            tunnel.open()
        except Unreachable as problem:
            problems.append(problem)

    attempting = threading.Thread(target=attempt)
    attempting.start()
    tunnel.close()
    attempting.join()
    assert "given up" in str(problems)
    assert not [child for child in psutil.Process().children(recursive=True) if child.name() == "sleep"]


def test_ssh_ends_with_a_program_that_is_killed(sshd: RealSshd) -> None:
    del sshd
    command = [sys.executable, "-c", HOLD_A_TUNNEL, FAR, str(free_port())]
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=environment) as holder:
        assert holder.stdout is not None
        assert holder.stdout.readline()
        found = ssh_processes(psutil.Process(holder.pid))
        assert found
        holder.send_signal(signal.SIGKILL)
        gone, left = psutil.wait_procs(found, timeout=10)
        assert (len(gone), left) == (len(found), [])
