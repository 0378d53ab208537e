"""Motherships behind ssh, by plain commands, with a real sshd on loopback."""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from loopback_fleet import loopback_fleet, silent_server
from plain_command import process
from real_sshd import FAR, RealSshd, free_port, real_sshd

SECRET = "5ec7e7" * 10


@pytest.fixture
def sshd(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[RealSshd]:
    with real_sshd(tmp_path / "ssh") as running:
        monkeypatch.setenv("PATH", f"{running.programs}{os.pathsep}{os.environ['PATH']}")
        monkeypatch.setenv("TMPDIR", str(tmp_path))
        yield running


def test_a_mothership_behind_ssh_is_added_and_asked_and_nothing_is_left(sshd: RealSshd, tmp_path: Path) -> None:
    server = silent_server()
    server.put("c0ffee00", status="running", instructions="Far away")
    with loopback_fleet(server) as port:
        added = process("connect", "add", "far", f"ssh://{FAR}/{port}", "--plain-file", stdin=f"{SECRET}\n")
        expected = f"far added: ssh://{FAR}/{port}, scope owner, token kept in: plain file\n"
        assert (added.exit, added.stdout) == (0, expected)
        listed = process("list")
        assert (listed.exit, listed.stderr) == (0, "")
        assert "Far away" in listed.stdout
        assert process("status", "c0ffee00").exit == 0
    assert not list(tmp_path.glob("colonizer-ssh-*"))
    assert SECRET not in (sshd.programs.parent / "log").read_text()


def test_a_mothership_that_is_not_there_is_told_in_the_words_of_ssh(sshd: RealSshd) -> None:
    port = free_port()
    tried = process("connect", "add", "far", f"ssh://{FAR}/{port}", "--plain-file", stdin=f"{SECRET}\n")
    assert tried.exit == 1
    assert f"no mothership answering on ssh://{FAR}/{port}" in tried.stderr
    assert "Connection refused" in tried.stderr

    sshd.stop()
    tried = process("connect", "add", "far", f"ssh://{FAR}/{port}", "--plain-file", stdin=f"{SECRET}\n")
    assert (tried.exit, f"ssh to {FAR}: " in tried.stderr) == (1, True)
