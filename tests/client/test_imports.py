import subprocess
import sys

import pytest

HEAVY = (
    "httpx",
    "httpx2",
    "anyio",
    "websockets",
    "mcp",
    "keyring",
    "pydantic",
    "psutil",
    "tomlkit",
    "uvicorn",
    "starlette",
    "textual",
    "rich",
)


def loaded_by(statement: str) -> set[str]:
    """The heavy packages that a fresh interpreter has loaded after the statement."""
    check = f"print(*[name for name in {HEAVY!r} if name in sys.modules])"
    program = f"import sys; sys.path[:] = {sys.path!r}\n{statement}\n{check}"
    run = subprocess.run([sys.executable, "-I", "-c", program], capture_output=True, text=True, check=True, timeout=60)
    return set(run.stdout.split())


@pytest.mark.parametrize(
    "module",
    [
        "cockpit",
        "connectors",
        "engine",
        "store",
        "drafts",
        "outbox",
        "transcript",
        "attention",
        "mothership.oneshot",
        "mothership.calls",
        "kernel.desk",
        "kernel.connectors",
    ],
)
def test_what_the_first_picture_needs_loads_nothing_heavy(module: str) -> None:
    assert loaded_by(f"import colonizer_client.{module}") == set()


def test_a_cockpit_with_its_store_and_links_loads_nothing_heavy_until_it_runs() -> None:
    assert (
        loaded_by(
            "import tempfile, pathlib\n"
            "from colonizer_client.cockpit import Cockpit\n"
            "from colonizer_client.connectors import LocalConnector\n"
            "from colonizer_client.engine import LocalEngine\n"
            "from colonizer_client.kernel.connectors import EmbeddedConnector\n"
            "from colonizer_client.snapshot import EndpointState\n"
            "from colonizer_client.store import Store\n"
            "from colonizer_config.paths import Paths\n"
            "folder = pathlib.Path(tempfile.mkdtemp())\n"
            "paths = Paths(folder, folder, folder, folder)\n"
            "cockpit = Cockpit(lambda: Store(paths.engine.cockpit_db))\n"
            "cockpit.add(EndpointState('local', 'x', is_local=True), LocalConnector(LocalEngine(paths, ('false',))))\n"
            "engine = EmbeddedConnector(LocalEngine(paths, ('false',)))\n"
            "cockpit.kernels.add(EndpointState('local', 'x', 'kernel'), engine)\n"
            "assert cockpit.snapshot.endpoints and cockpit.snapshot.kernels\n"
        )
        == set()
    )
