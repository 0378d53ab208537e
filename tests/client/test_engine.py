import json
import os
import socket
import subprocess
import sys
import threading
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

import psutil
import pytest

from colonizer_client import engine as engine_module
from colonizer_client.engine import LocalEngine
from colonizer_client.errors import EngineUnavailable
from colonizer_client.mothership import calls
from colonizer_client.mothership.oneshot import OneShot
from colonizer_config.paths import Paths
from colonizer_config.version import __version__

REAL = (sys.executable, "-m", "colonizer_cli.main", "engine", "run")


@pytest.fixture
def paths(monkeypatch: pytest.MonkeyPatch) -> Paths:
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(sys.path))
    return Paths.from_environment()


def scripted(paths: Paths, script: str) -> LocalEngine:
    """An engine whose process runs this script; `fd` is where it says its word."""
    lines = ("import os, sys, time, socket, fcntl, json", "fd = int(sys.argv[-1])", script)
    return LocalEngine(paths, (sys.executable, "-I", "-S", "-c", "\n".join(lines)))


@contextmanager
def ended(engine: LocalEngine) -> Generator[LocalEngine]:
    """Ends the real engine afterwards, and waits until its process is gone."""
    try:
        yield engine
    finally:
        if engine.is_running():
            pid = json.loads(engine.paths.engine.lock.read_text())["pid"]
            OneShot(engine.address, engine.token()).run(calls.stop_engine())
            psutil.wait_procs([psutil.Process(pid)] if psutil.pid_exists(pid) else [], timeout=30)


def test_the_real_engine_is_started_once_and_found_again(paths: Paths) -> None:
    with ended(LocalEngine(paths, REAL)) as engine:
        assert not engine.is_running()
        assert not engine.is_locked()
        engine.ensure_running()
        assert engine.is_running()
        assert engine.is_locked()
        pid = json.loads(paths.engine.lock.read_text())["pid"]
        engine.ensure_running()
        assert json.loads(paths.engine.lock.read_text())["pid"] == pid
        assert OneShot(engine.address, engine.token()).run(calls.server_version()) == __version__
        assert os.getsid(pid) == pid, "it outlives the terminal"
    assert not engine.is_locked()


def test_two_starts_at_once_end_in_one_engine(paths: Paths) -> None:
    engine = LocalEngine(paths, REAL)
    failures: list[BaseException] = []

    def start() -> None:
        try:
            engine.ensure_running()
        except EngineUnavailable as problem:
            failures.append(problem)

    with ended(engine):
        starters = [threading.Thread(target=start) for _ in range(3)]
        for starter in starters:
            starter.start()
        for starter in starters:
            starter.join(60)
        assert failures == []
        assert engine.is_running()
        winner = json.loads(paths.engine.lock.read_text())["pid"]
        others = [child for child in psutil.Process().children() if child.pid != winner]
        assert psutil.wait_procs(others, timeout=30)[1] == [], "the losers go"
        assert psutil.pid_exists(winner)


def test_a_stale_socket_is_no_engine(paths: Paths) -> None:
    with ended(LocalEngine(paths, REAL)) as engine:
        path = engine.address.path
        path.parent.mkdir(mode=0o700, parents=True)
        with socket.socket(socket.AF_UNIX) as stale:
            stale.bind(str(path))
        assert not engine.is_running()
        engine.ensure_running()
        assert engine.is_running()


def failure(engine: LocalEngine) -> str:
    with pytest.raises(EngineUnavailable) as caught:
        engine.ensure_running()
    return str(caught.value)


def test_a_process_that_says_why_it_cannot_run_is_quoted(paths: Paths) -> None:
    engine = scripted(paths, 'os.write(fd, json.dumps({"error": "no room on \x1b[31m this disk"}).encode() + b"\\n")')
    assert failure(engine) == "the local engine cannot be started: no room on ␛[31m this disk"


@pytest.mark.parametrize(
    ("script", "words"), [("sys.exit(7)", "ended with code 7"), ("os.kill(os.getpid(), 9)", "ended with code -9")]
)
def test_a_process_that_ends_without_a_word_is_said_with_its_log(paths: Paths, script: str, words: str) -> None:
    engine = scripted(paths, f"print('last words', flush=True)\n{script}")
    said = failure(engine)
    assert words in said
    assert str(paths.engine.log) in said
    assert paths.engine.log.read_text() == "last words\n"


def test_a_word_that_is_no_json_is_said(paths: Paths) -> None:
    assert "not JSON: nonsense" in failure(scripted(paths, "os.write(fd, b'nonsense\\n')"))


def test_a_command_that_is_not_there_is_said(paths: Paths) -> None:
    assert "No such file" in failure(LocalEngine(paths, ("/nonexistent/engine",)))


def test_a_data_folder_that_cannot_be_made_is_said(paths: Paths) -> None:
    paths.data.parent.mkdir(parents=True, exist_ok=True)
    paths.data.write_text("in the way")
    assert "cannot be started" in failure(LocalEngine(paths, ("true",)))


def test_a_process_that_says_nothing_is_given_up(paths: Paths, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(engine_module, "START_TIMEOUT_S", 0.3)
    monkeypatch.setattr(engine_module, "END_TIMEOUT_S", 0.1)
    pid_file = paths.data.parent / "pid"
    engine = scripted(paths, f"open({str(pid_file)!r}, 'w').write(str(os.getpid()))\ntime.sleep(60)")
    assert "says nothing of itself" in failure(engine)
    psutil.Process(int(pid_file.read_text())).kill()


def test_a_process_that_is_ready_but_does_not_listen_is_given_up(paths: Paths, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(engine_module, "START_TIMEOUT_S", 3.0)
    lock = paths.engine.lock
    script = (
        f"lock = os.open({str(lock)!r}, os.O_RDWR | os.O_CREAT)\n"
        "fcntl.flock(lock, fcntl.LOCK_EX)\n"
        f"os.write(lock, str(os.getpid()).encode())\n"
        "os.write(fd, b'{\"ready\": true}\\n')\n"
        "time.sleep(60)"
    )
    assert "did not answer in time" in failure(scripted(paths, script))
    psutil.Process(int(lock.read_text())).kill()


def test_an_engine_that_lost_the_race_is_no_failure_and_the_winner_is_waited_for(paths: Paths) -> None:
    path = LocalEngine(paths, ()).address.path
    path.parent.mkdir(mode=0o700, parents=True)
    script = (
        'os.write(fd, b\'{"error": "another one has the folder", "held": true}\\n\')\n'
        "listening = socket.socket(socket.AF_UNIX)\n"
        f"listening.bind({str(path)!r}); listening.listen(5)\n"
        "listening.settimeout(30)\n"
        "listening.accept()"
    )
    scripted(paths, script).ensure_running()


def test_an_engine_that_is_about_to_end_is_waited_for(paths: Paths) -> None:
    with ended(LocalEngine(paths, REAL)) as engine:
        paths.engine.root.mkdir(parents=True)
        holder = subprocess.Popen(
            [sys.executable, "-I", "-c", "import fcntl, os, sys\nlock = os.open(sys.argv[1], os.O_RDWR | os.O_CREAT)\n"
             "fcntl.flock(lock, fcntl.LOCK_EX)\nprint('held', flush=True)\nsys.stdin.read()", str(paths.engine.lock)],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE,
        )  # fmt: skip
        assert holder.stdout is not None
        assert holder.stdout.readline() == b"held\n"
        assert engine.is_locked()
        starting = threading.Thread(target=engine.ensure_running)
        starting.start()
        holder.communicate(timeout=30)
        starting.join(60)
        assert engine.is_running()


def test_a_process_that_ended_leaves_no_zombie(paths: Paths) -> None:
    failure(scripted(paths, 'os.write(fd, b\'{"error": "no"}\\n\')'))
    children = psutil.Process().children()
    _, alive = psutil.wait_procs([child for child in children if child.status() == psutil.STATUS_ZOMBIE], timeout=10)
    assert alive == []


@pytest.mark.parametrize("spoil", ["open", "link", "file"])
def test_a_runtime_folder_in_which_others_could_pose_as_the_engine_is_not_trusted(
    paths: Paths, tmp_path: Path, spoil: str
) -> None:
    folder = LocalEngine(paths, ()).address.path.parent
    match spoil:
        case "open":
            folder.mkdir(parents=True)
            folder.chmod(0o777)
        case "link":
            folder.parent.mkdir(parents=True, exist_ok=True)
            folder.symlink_to(tmp_path)
        case _:
            folder.parent.mkdir(parents=True, exist_ok=True)
            folder.write_text("")
    engine = LocalEngine(paths, ("true",))
    with pytest.raises(EngineUnavailable, match="pose as the local engine"):
        engine.is_running()
    assert "pose as the local engine" in failure(engine)


def test_a_folder_of_somebody_else_is_not_trusted(paths: Paths) -> None:
    if os.geteuid() != 0:
        pytest.skip("only root can give a folder away")
    folder = LocalEngine(paths, ()).address.path.parent
    folder.mkdir(mode=0o700, parents=True)
    os.chown(folder, 12345, 12345)
    assert "pose as the local engine" in failure(LocalEngine(paths, ("true",)))


def test_a_missing_or_open_token_file_is_said(paths: Paths) -> None:
    engine = LocalEngine(paths, ())
    with pytest.raises(EngineUnavailable, match="token cannot be read"):
        engine.token()
    paths.engine.root.mkdir(parents=True)
    paths.engine.token.write_text("f" * 64)
    paths.engine.token.chmod(0o644)
    with pytest.raises(EngineUnavailable) as caught:
        engine.token()
    assert "f" * 8 not in str(caught.value)
    paths.engine.token.chmod(0o600)
    assert engine.token().reveal() == "f" * 64
