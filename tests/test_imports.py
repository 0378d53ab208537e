"""What each face has loaded at the moment when a person waits for it; of plain commands tests/cli/test_start_up tells.

Import contracts cannot say it: to them an import inside a function is one like any other.
"""

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from colonizer_config.address import HttpAddress
from colonizer_config.paths import Paths
from colonizer_config.secrets import TokenStore
from colonizer_config.token import Token
from plain_command import LIMIT_S, colonizer, own_environment

FIRST_FRAME = Path(__file__).with_name("first_frame.py")

LATER = {"mcp", "httpx", "httpx2", "keyring", "pydantic", "markdown_it", "tree_sitter", "tomlkit", "websockets"}
"""What the cockpit may need after its first frame."""

DEAD_HOST = """
[[endpoints]]
name = "lab"
kind = "mothership"
address = "127.0.0.1:1"
"""


def loaded(*argv: str) -> set[str]:
    """The names that a program prints as JSON."""
    done = subprocess.run(
        (sys.executable, *argv),
        capture_output=True,
        text=True,
        env=own_environment({}),
        timeout=LIMIT_S,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return set(json.loads(done.stdout.splitlines()[-1]))


@pytest.fixture
def at_work() -> Iterator[None]:
    """A local engine that answers at once, and a host with a token that does not: both are asked from the start."""
    paths = Paths.from_environment()
    paths.config.mkdir(parents=True)
    paths.settings.write_text(DEAD_HOST, encoding="utf-8")
    TokenStore(paths).store(HttpAddress("http", "127.0.0.1", 1), Token("t0ken"), plain_file=True)
    colonizer("repo", "list")
    yield
    colonizer("engine", "stop", "--yes")


@pytest.mark.usefixtures("at_work")
def test_the_first_frame_of_the_cockpit_comes_before_what_only_a_connection_needs() -> None:
    modules = loaded(str(FIRST_FRAME))
    assert "textual.app" in modules
    assert {name.partition(".")[0] for name in modules} & LATER == set()
    assert not {name for name in modules if name.startswith("pygments.lexers.")}


@pytest.mark.parametrize("module", ["colonizer_engines.daemon.process", "colonizer_cli.hosting"])
def test_the_engine_loads_nothing_that_draws_and_no_face(module: str) -> None:
    names = loaded("-c", f"import json, sys, {module}; print(json.dumps(sorted(sys.modules)))")
    others = {"textual", "rich", "httpx", "keyring", "tomlkit", "colonizer_tui", "colonizer_client"}
    assert {name.partition(".")[0] for name in names} & others == set()
