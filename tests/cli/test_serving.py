"""`mothership serve`: a mothership of this machine, in the foreground."""

import socket
from pathlib import Path

from colonizer_config.paths import Paths
from plain_command import colonizer, process
from real_git import new_clone
from real_sshd import free_port
from serving_process import serving


def test_it_says_where_it_is_and_where_the_token_is_but_never_the_token(tmp_path: Path) -> None:
    with serving(folder=tmp_path / "data") as it:
        token, host = it.token_file.read_text(encoding="ascii").strip(), it.host
        assert it.words == f"serving http://{host}\nowner's token in {tmp_path}/data/api-token\n"
        assert colonizer("list", "--host", host, "--token-file", str(it.token_file)).stderr == "no colonies\n"
        assert colonizer("list", "--host", f"localhost:{host.rpartition(':')[2]}", COLONIZER_TOKEN=token).exit == 0
        assert colonizer("list", "--host", host, COLONIZER_TOKEN="another").exit == 3
        assert it.process.poll() is None
    assert token not in it.words
    assert not Paths.from_environment().engine.root.exists()


def test_repositories_that_are_named_are_known_from_the_start(tmp_path: Path) -> None:
    clone = new_clone(tmp_path / "widgets")
    with serving("--repo", str(clone.path)) as it:
        colony = it.ask("launch", "local/widgets", "x").split()[1]
        it.ask("stop", colony)


def test_a_folder_that_another_engine_has_is_refused_with_the_ways_out(tmp_path: Path) -> None:
    with serving(folder=tmp_path):
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


def test_every_address_of_this_machine_is_one_that_others_can_reach(tmp_path: Path) -> None:
    no_folder = tmp_path / "file"
    no_folder.touch()
    done = process("mothership", "serve", "--bind", "0.0.0.0:1", "--data-dir", str(no_folder))
    assert done.exit == 1
    assert done.stderr.startswith("colonizer: warning: whoever reaches http://0.0.0.0:1 can try tokens")


def test_what_is_no_address_is_a_mistake_of_usage() -> None:
    done = colonizer("mothership", "serve", "--bind", "http://here")
    assert (done.exit, done.stdout) == (2, "")
    assert done.stderr.startswith("colonizer: --bind takes a host or host:port")
