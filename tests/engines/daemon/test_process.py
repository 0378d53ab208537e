"""The engine's process: started, found, used, and ended in every way."""

import json
import os
import signal
import socket
import stat
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import httpx
import psutil
import pytest
from websockets.sync.client import unix_connect

from colonizer_engines.daemon.process import EXIT_FAILED, EXIT_HELD
from engine_process import WAIT_S, Engine, EnginePlace, running, start, start_at_once
from real_git import new_clone
from served_mothership import Step, say, task

TURN_END = say("turn_end", is_error=False)


@pytest.fixture
def place(tmp_path: Path) -> EnginePlace:
    found = EnginePlace(tmp_path)
    found.configure()
    return found


def launched(place: EnginePlace, *steps: Step) -> str:
    """A colony whose agent has done its steps."""
    clone = place.root / "clone"
    if not clone.exists():
        new_clone(clone)
    with place.client() as http:
        assert http.post("/api/local/repos", json={"path": str(clone)}).status_code == 200
        made = http.post("/api/sessions", json={"repo": "local/clone", "instructions": task(*steps), "title": "t"})
        colony = str(made.json()["id"])
        waited_for(place, colony, lambda session: session["status"] == "idle")
    return colony


def waited_for(place: EnginePlace, colony: str, holds: Callable[[dict[str, Any]], bool]) -> dict[str, Any]:
    """The Session once the condition holds; the server says when something changed."""
    changes = unix_connect(
        str(place.socket),
        uri="ws://local/api/stream",
        additional_headers={"authorization": f"Bearer {place.token}"},
        max_size=None,
    )
    with place.client() as http, changes as stream:
        while True:
            session: dict[str, Any] = http.get(f"/api/sessions/{colony}").json()
            if holds(session):
                return session
            stream.recv(WAIT_S)


def test_an_engine_makes_its_things_private_and_says_when_it_is_ready(place: EnginePlace) -> None:
    with running(place) as engine:
        assert engine.first_words == {"ready": True}
        for path, mode in (
            (place.folder.root, 0o700),
            (place.socket.parent, 0o700),
            (place.socket, 0o600),
            (place.folder.token, 0o600),
            (place.folder.lock, 0o600),
            (place.folder.log, 0o600),
            (place.folder.mothership_db, 0o600),
        ):
            assert stat.S_IMODE(path.stat().st_mode) == mode, path
        assert len(place.token) == 64
        with place.client() as http:
            assert http.get("/api/tokens/self").json()["owner"] is True
            report = http.get("/api/local/engine").json()
        assert report["pid"] == engine.process.pid
        assert report["colonies"] == {"total": 0, "live": 0, "publishing": 0, "queued": 0}
        lock = json.loads(place.folder.lock.read_text())
        assert lock["pid"] == engine.process.pid
        assert engine.end() == 0
    assert not place.socket.exists()


def test_a_caller_without_the_token_is_refused_on_the_private_socket_too(place: EnginePlace) -> None:
    with running(place):
        transport = httpx.HTTPTransport(uds=str(place.socket))
        with httpx.Client(transport=transport, base_url="http://local") as http:
            for path in ("/api/sessions", "/api/local/engine", "/api/local/repos"):
                assert http.get(path).status_code == 401
            assert http.post("/api/local/engine/stop").status_code == 401


def test_a_second_engine_loses_and_names_the_first(place: EnginePlace) -> None:
    with running(place) as first:
        second = start(place)
        assert second.process.wait(WAIT_S) == EXIT_HELD
        assert second.first_words["held"] is True
        words = second.first_words["error"]
        assert f"process {first.process.pid}" in words
        assert "colonizer engine stop" in words
        assert "--data-dir" in words
        with place.client() as http:
            assert http.get("/api/version").status_code == 200


def test_many_engines_started_at_once_leave_one(place: EnginePlace) -> None:
    engines = start_at_once(place, 5)
    ready = [engine for engine in engines if engine.first_words == {"ready": True}]
    held = [engine for engine in engines if engine.first_words.get("held")]
    try:
        assert (len(ready), len(held)) == (1, 4)
        assert [engine.process.wait(WAIT_S) for engine in held] == [EXIT_HELD] * 4
    finally:
        for engine in engines:
            engine.process.kill()
            engine.process.wait(WAIT_S)


def test_a_new_engine_takes_over_from_one_that_was_killed(place: EnginePlace) -> None:
    with running(place) as engine:
        colony = launched(place, TURN_END)
        with place.client() as http:
            http.post(f"/api/sessions/{colony}/messages", json={"id": "m", "text": "go on"})
        agents = psutil.Process(engine.process.pid).children(recursive=True)
        assert engine.end(signal.SIGKILL) == -signal.SIGKILL
    assert place.socket.exists()
    with running(place) as engine:
        assert engine.first_words == {"ready": True}
        gone, alive = psutil.wait_procs(agents, timeout=WAIT_S)
        assert gone
        assert not alive
        with place.client() as http:
            session = waited_for(place, colony, lambda session: session["status"] == "stopped")
            assert session["error"].startswith("the engine was killed")
            events = http.get(f"/api/sessions/{colony}/events").json()["events"]
            # What was accepted is in the log, or it waits for the next run.
            notes = [note["id"] for note in session.get("pending_notes", [])]
            assert "u-m" in [event.get("id") for event in events] or notes == ["m"]
            assert http.post(f"/api/sessions/{colony}/resume", json={}).status_code == 200
            waited_for(place, colony, lambda session: session["status"] == "idle")
        assert engine.end() == 0


def ended_with_a_colony(place: EnginePlace, engine: Engine, number: int) -> str:
    """A colony that was idle when the engine was ended by this signal."""
    colony = launched(place, TURN_END)
    agents = psutil.Process(engine.process.pid).children(recursive=True)
    assert engine.end(number) == 0
    assert not any(agent.is_running() and agent.status() != psutil.STATUS_ZOMBIE for agent in agents)
    return colony


def is_stopped_by_its_engine(place: EnginePlace, colony: str) -> bool:
    with place.client() as http:
        session = http.get(f"/api/sessions/{colony}").json()
    return (session["status"], session["error"].startswith("the engine was stopped")) == ("stopped", True)


def test_a_signal_ends_it_in_order_and_its_log_holds_no_token(place: EnginePlace) -> None:
    with running(place) as engine:
        terminated = ended_with_a_colony(place, engine, signal.SIGTERM)
    with running(place) as engine:
        assert is_stopped_by_its_engine(place, terminated)
        interrupted = ended_with_a_colony(place, engine, signal.SIGINT)
    with running(place):
        assert is_stopped_by_its_engine(place, interrupted)
    log = place.folder.log.read_text(encoding="utf-8")
    assert "runs, process" in log
    assert place.token not in log


def test_hanging_up_does_not_end_it_and_being_told_to_does(place: EnginePlace) -> None:
    with running(place) as engine:
        engine.process.send_signal(signal.SIGHUP)
        with place.client() as http:
            assert http.get("/api/version").status_code == 200
            reply = http.post("/api/local/engine/stop")
        assert (reply.status_code, reply.json()) == (202, {"stopping": True})
        assert engine.process.wait(WAIT_S) == 0


def test_it_ends_by_itself_when_nobody_needs_it(place: EnginePlace) -> None:
    with running(place, idle_end_s=0.2) as engine:
        assert engine.process.wait(WAIT_S) == 0


def test_a_colony_at_work_keeps_it_alive_and_a_stopped_one_does_not(place: EnginePlace) -> None:
    new_clone(place.root / "clone")
    with running(place, idle_end_s=2.0) as engine:
        colony = launched(place, TURN_END)
        with pytest.raises(subprocess.TimeoutExpired):
            engine.process.wait(3)
        with place.client() as http:
            http.post(f"/api/sessions/{colony}/stop")
        assert engine.process.wait(WAIT_S) == 0


def test_it_serves_the_network_where_it_is_asked_to(place: EnginePlace) -> None:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    clone = new_clone(place.root / "clone")
    with running(place, bind=("127.0.0.1", port), repositories=(str(clone.path),)) as engine:
        assert engine.first_words == {"ready": True}
        headers = {"authorization": f"Bearer {place.token}"}
        with httpx.Client(base_url=f"http://127.0.0.1:{port}", headers=headers) as http:
            assert http.get("/api/tokens/self").json()["owner"] is True
            assert http.get("/api/local/repos").status_code == 404
            assert http.get("/api/version", headers={"host": "evil.example"}).status_code == 403
            assert [repo["full_name"] for repo in http.get("/api/repos").json()] == ["local/clone"]
        with place.client() as http:
            assert http.get("/api/local/repos").json() == [{"name": "local/clone", "path": str(clone.path)}]
        assert engine.end() == 0


def test_a_port_that_is_taken_is_said(place: EnginePlace) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        engine = start(place, bind=("127.0.0.1", taken.getsockname()[1]))
        assert engine.process.wait(WAIT_S) == EXIT_FAILED
    assert "cannot listen on 127.0.0.1" in engine.first_words["error"]


def test_a_damaged_database_is_said_and_left_alone(place: EnginePlace) -> None:
    place.folder.root.mkdir(parents=True, mode=0o700)
    place.folder.mothership_db.write_bytes(b"my diary\n" * 1000)
    engine = start(place)
    assert engine.process.wait(WAIT_S) == EXIT_FAILED
    assert "damaged" in engine.first_words["error"]
    assert place.folder.mothership_db.read_bytes() == b"my diary\n" * 1000


def test_a_folder_of_somebody_else_is_refused(place: EnginePlace) -> None:
    place.folder.root.mkdir(parents=True)
    if os.geteuid() != 0:
        pytest.skip("only root can give a folder away")
    os.chown(place.folder.root, 12345, 12345)
    engine = start(place)
    assert engine.process.wait(WAIT_S) == EXIT_FAILED
    assert "belongs to user 12345" in engine.first_words["error"]


def test_the_engine_loads_neither_the_faces_nor_the_client(place: EnginePlace) -> None:
    program = (
        "import sys, colonizer_engines.daemon.process\n"
        "print([name for name in ('textual', 'httpx', 'mcp', 'keyring', 'tomlkit', 'colonizer_client') "
        "if name in sys.modules])"
    )
    found = subprocess.run([sys.executable, "-c", program], capture_output=True, check=True, text=True)
    assert found.stdout.strip() == "[]"
