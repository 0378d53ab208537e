"""Lock, token, socket and log of an engine: private, whole, and taken over from nobody."""

import logging
import os
import socket
import stat
from pathlib import Path

import pytest

from colonizer_engines.daemon.errors import DaemonError, EngineHeld, SocketTrouble
from colonizer_engines.daemon.listeners import private_socket
from colonizer_engines.daemon.lock import engine_lock
from colonizer_engines.daemon.log_file import LOG_LIMIT_BYTES, open_log
from colonizer_engines.daemon.token_file import kept_token


def test_a_lock_is_held_by_one_and_names_its_holder(tmp_path: Path) -> None:
    path = tmp_path / "engine.lock"
    with engine_lock(path, "1.2.3"):
        with pytest.raises(EngineHeld) as held, engine_lock(path, "9"):
            pass
        assert (held.value.pid, held.value.version) == (os.getpid(), "1.2.3")
    assert path.read_bytes() == b""
    with engine_lock(path, "1.2.3"):
        pass


@pytest.mark.parametrize("text", [b"", b"[1]", b"nonsense", b'{"pid": "x"}'])
def test_a_holder_that_cannot_be_read_is_another_process(tmp_path: Path, text: bytes) -> None:
    path = tmp_path / "engine.lock"
    with engine_lock(path, "1"):
        path.write_bytes(text)
        with pytest.raises(EngineHeld, match="another process"), engine_lock(path, "1"):
            pass


def test_a_lock_that_is_a_link_is_not_followed(tmp_path: Path) -> None:
    (tmp_path / "victim").write_text("mine")
    (tmp_path / "engine.lock").symlink_to(tmp_path / "victim")
    with pytest.raises(DaemonError, match="cannot use the lock"), engine_lock(tmp_path / "engine.lock", "1"):
        pass
    assert (tmp_path / "victim").read_text() == "mine"


def test_the_token_is_made_once(tmp_path: Path) -> None:
    path = tmp_path / "api-token"
    token = kept_token(path)
    assert kept_token(path) == token
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert [entry.name for entry in tmp_path.iterdir()] == ["api-token"]


def test_a_token_that_others_may_read_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "api-token"
    kept_token(path)
    path.chmod(0o640)
    with pytest.raises(DaemonError, match="others may read"):
        kept_token(path)


@pytest.mark.parametrize("text", ["", "short", "G" * 64, "0" * 65])
def test_a_file_without_a_token_is_refused_and_its_text_not_told(tmp_path: Path, text: str) -> None:
    path = tmp_path / "api-token"
    path.touch(0o600)
    path.write_text(text)
    with pytest.raises(DaemonError, match="there is no token") as problem:
        kept_token(path)
    assert not text or text not in str(problem.value)
    assert path.read_text() == text


def test_a_token_file_that_is_a_link_or_a_pipe_is_refused(tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(DaemonError):
        kept_token(tmp_path / "link")
    os.mkfifo(tmp_path / "pipe", 0o600)
    with pytest.raises(DaemonError):
        kept_token(tmp_path / "pipe")


def test_the_socket_is_private_from_its_first_moment(tmp_path: Path) -> None:
    path = tmp_path / "run/engine.sock"
    with private_socket(path):
        assert stat.S_IMODE(path.stat().st_mode) == 0o600
        assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700
    assert not path.exists()


def test_a_socket_that_an_engine_left_is_replaced(tmp_path: Path) -> None:
    path = tmp_path / "run/engine.sock"
    path.parent.mkdir(mode=0o700)
    left = socket.socket(socket.AF_UNIX)
    left.bind(str(path))
    left.close()
    with private_socket(path), socket.socket(socket.AF_UNIX) as client:
        client.connect(str(path))


def test_something_else_in_the_sockets_place_is_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "run/engine.sock"
    path.parent.mkdir(mode=0o700)
    path.write_text("precious")
    with pytest.raises(SocketTrouble, match="in the way"), private_socket(path):
        pass
    assert path.read_text() == "precious"


def test_a_socket_path_that_is_too_long_is_said(tmp_path: Path) -> None:
    with pytest.raises(SocketTrouble), private_socket(tmp_path / ("x" * 150) / "engine.sock"):
        pass


def test_a_socket_folder_of_somebody_else_is_refused(tmp_path: Path) -> None:
    if os.geteuid() != 0:
        pytest.skip("only root can give a folder away")
    folder = tmp_path / "run"
    folder.mkdir(mode=0o700)
    os.chown(folder, 12345, 12345)
    with pytest.raises(SocketTrouble, match="belongs to user 12345"), private_socket(folder / "engine.sock"):
        pass


def test_the_log_shows_escapes_and_hides_tokens(tmp_path: Path) -> None:
    handler = open_log(tmp_path / "engine.log")
    try:
        logging.getLogger("test").info("title \x1b[2J\r\u202e and Bearer abc.def and col_%s and %s", "a" * 64, "0" * 64)
    finally:
        logging.getLogger().removeHandler(handler)
        handler.close()
    text = (tmp_path / "engine.log").read_text(encoding="utf-8")
    assert "title ⟨U+001B⟩[2J⟨U+000D⟩⟨U+202E⟩ and Bearer ‹redacted› and ‹redacted› and ‹redacted›" in text
    assert stat.S_IMODE((tmp_path / "engine.log").stat().st_mode) == 0o600


def test_nothing_in_the_log_can_pose_as_a_line_of_it(tmp_path: Path) -> None:
    handler = open_log(tmp_path / "engine.log")
    try:
        logging.getLogger("test").info("one\n2026-11-30 12:00:00,000 INFO all is well")
        try:
            raise ValueError("two\n2026-11-30 12:00:00,000 INFO all is well")
        except ValueError:
            logging.getLogger("test").exception("it failed")
    finally:
        logging.getLogger().removeHandler(handler)
        handler.close()
    lines = (tmp_path / "engine.log").read_text(encoding="utf-8").splitlines()
    begun = [line for line in lines if not line.startswith("    ")]
    assert ["one⟨U+000A⟩" in begun[0], begun[1].endswith("ERROR test: it failed"), len(begun)] == [True, True, 2]


def test_the_log_is_bounded(tmp_path: Path) -> None:
    handler = open_log(tmp_path / "engine.log")
    try:
        for _ in range(50):
            logging.getLogger("test").info("x" * 100_000)
    finally:
        logging.getLogger().removeHandler(handler)
        handler.close()
    files = sorted(path.name for path in tmp_path.iterdir())
    assert files == ["engine.log", "engine.log.1"]
    for path in tmp_path.iterdir():
        assert path.stat().st_size <= LOG_LIMIT_BYTES + 200_000
        assert stat.S_IMODE(path.stat().st_mode) == 0o600
