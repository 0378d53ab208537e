"""`mothership serve`: a mothership of this machine, in the foreground."""

import signal
import socket
import subprocess
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

from colonizer_config.paths import Paths
from plain_command import LIMIT_S, colonizer, process, started
from real_git import new_clone


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@contextmanager
def serving(*argv: str) -> Generator[tuple["subprocess.Popen[str]", str]]:
    """The process, and the two lines that it says when it is there."""
    with started("mothership", "serve", *argv) as server:
        assert server.stdout is not None
        yield server, server.stdout.readline() + server.stdout.readline()
        server.send_signal(signal.SIGINT)
        assert server.wait(LIMIT_S) == 0


def test_it_says_where_it_is_and_where_the_token_is_but_never_the_token(tmp_path: Path) -> None:
    host, folder = f"127.0.0.1:{free_port()}", tmp_path / "data"
    with serving("--bind", host, "--data-dir", str(folder)) as (server, words):
        token = (folder / "api-token").read_text(encoding="ascii").strip()
        assert words == f"serving http://{host}\nowner's token in {folder}/api-token\n"
        assert colonizer("list", "--host", host, "--token-file", str(folder / "api-token")).stderr == "no colonies\n"
        assert colonizer("list", "--host", f"localhost:{host.rpartition(':')[2]}", COLONIZER_TOKEN=token).exit == 0
        assert colonizer("list", "--host", host, COLONIZER_TOKEN="another").exit == 3
        assert server.poll() is None
    assert token not in words
    assert not Paths.from_environment().engine.root.exists()


def test_repositories_that_are_named_are_known_from_the_start(tmp_path: Path) -> None:
    clone = new_clone(tmp_path / "widgets")
    host = f"127.0.0.1:{free_port()}"
    with serving("--bind", host, "--repo", str(clone.path)):
        token_file = str(Paths.from_environment().engine.token)
        done = colonizer("launch", "local/widgets", "x", "--host", host, "--token-file", token_file)
        assert (done.exit, done.stderr) == (0, "")
        colony = done.stdout.split()[1]
        assert colonizer("stop", colony, "--host", host, "--token-file", token_file).exit == 0


def test_a_folder_that_another_engine_has_is_refused_with_the_ways_out(tmp_path: Path) -> None:
    host = f"127.0.0.1:{free_port()}"
    with serving("--bind", host, "--data-dir", str(tmp_path)):
        done = process("mothership", "serve", "--bind", f"127.0.0.1:{free_port()}", "--data-dir", str(tmp_path))
    assert (done.exit, done.stdout) == (1, "")
    assert "colonizer engine stop" in done.stderr
    assert "--data-dir" in done.stderr


def test_a_port_that_is_taken_is_told(tmp_path: Path) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        host = f"127.0.0.1:{taken.getsockname()[1]}"
        done = process("mothership", "serve", "--bind", host, "--data-dir", str(tmp_path))
    assert (done.exit, done.stdout) == (1, "")
    assert done.stderr == f"colonizer: cannot listen on {host}: Address already in use\n"


def test_an_address_that_others_can_reach_is_warned_of() -> None:
    # The address is one of a network for documentation, which this machine has not.
    done = process("mothership", "serve", "--bind", "192.0.2.1:1")
    assert done.exit == 1
    assert done.stderr.startswith("colonizer: warning: whoever reaches http://192.0.2.1:1 can try tokens")


def test_what_is_no_address_is_a_mistake_of_usage() -> None:
    done = colonizer("mothership", "serve", "--bind", "http://here")
    assert (done.exit, done.stdout) == (2, "")
    assert done.stderr.startswith("colonizer: --bind takes a host or host:port")
