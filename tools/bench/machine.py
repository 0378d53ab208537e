"""A home of nobody's, the program in it, and what a process uses."""

import compileall
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from pathlib import Path

import psutil

from colonizer_config.address import HttpAddress
from colonizer_config.paths import Paths
from colonizer_config.secrets import TokenStore
from colonizer_config.token import Token

CHECKOUT = Path(__file__).parents[2]
ROOTS = ("cli", "client", "config", "engines", "server", "tui")
PROGRAM = (sys.executable, "-c", "from colonizer_cli.main import main; main()")
"""What the console script does."""

SETTLED_S = 3.0
"""How long a program that is to be at rest is left alone first."""


@contextmanager
def home() -> Generator[Path]:
    """An empty home for this process and all that it starts; the program is compiled, as an installed one is."""
    before = dict(os.environ)
    with tempfile.TemporaryDirectory(prefix="bench-") as folder:
        place = Path(folder)
        (place / "run").mkdir(mode=0o700)
        for name in [name for name in os.environ if name.startswith(("COLONIZER_", "XDG_", "SSH_", "TMUX"))]:
            del os.environ[name]
        os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
        os.environ |= {
            "HOME": folder,
            "XDG_RUNTIME_DIR": str(place / "run"),
            "PYTHON_KEYRING_BACKEND": "keyring.backends.null.Keyring",
            "PYTHONPATH": os.pathsep.join(str(CHECKOUT / root) for root in (*ROOTS, "tools")),
            "TERM": "xterm-256color",
            "COLORTERM": "truecolor",
        }
        for root in (*ROOTS, "tools"):
            compileall.compile_dir(CHECKOUT / root, quiet=2)
        try:
            yield place
        finally:
            os.environ.clear()
            os.environ |= before


def configure(ports: Sequence[int], *, default: str = "") -> None:
    """Settings with one mothership on each of these loopback ports, signed in to."""
    paths = Paths.from_environment()
    paths.settings.parent.mkdir(parents=True, exist_ok=True)
    lines = [f'default_endpoint = "{default}"\n' if default else ""]
    for place, port in enumerate(ports):
        lines.append(f'[[endpoints]]\nname = "host{place}"\nkind = "mothership"\naddress = "127.0.0.1:{port}"\n')
        TokenStore(paths).store(HttpAddress("http", "127.0.0.1", port), Token("0" * 63 + "1"), plain_file=True)
    paths.settings.write_text("\n".join(lines), encoding="utf-8")


def cpu_s(pid: int) -> float:
    """User and system time of a process so far."""
    times = psutil.Process(pid).cpu_times()
    return times.user + times.system


def memory_mib(pid: int) -> float:
    """What a process holds in memory that is its own or shared, its largest so far not counted."""
    return float(psutil.Process(pid).memory_info().rss) / 2**20


def run_cpu_s(*argv: str) -> tuple[float, float]:
    """CPU and wall time of one whole run, its children included; its output is thrown away."""
    before, started = os.times(), time.monotonic()
    subprocess.run(argv, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    after = os.times()
    used = after.children_user + after.children_system - before.children_user - before.children_system
    return used, time.monotonic() - started
