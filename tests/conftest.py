"""What every test stands on: a machine that is sealed off, and tools that may be missing."""

import gc
import itertools
import os
import signal
import time
from collections.abc import Generator, Iterator
from pathlib import Path

import hypothesis
import pytest

ALL_REQUIRED = os.environ.get("REQUIRE_ALL") == "1"
"""Whether a test that lacks its tool fails instead of being skipped (the CI sets it)."""

hypothesis.settings.register_profile("quick", max_examples=40, deadline=None)
hypothesis.settings.register_profile("soak", max_examples=2_000, deadline=None)
hypothesis.settings.load_profile("quick")

# A shell has what it runs in the background ignore ctrl-c, and so would the commands that a test starts and interrupts.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture(scope="session")
def homes(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """Names of folders that are not there yet. The factory's own numbers are sought among all folders each time."""
    folder = tmp_path_factory.mktemp("homes", numbered=False)
    return (folder / str(number) for number in itertools.count())


@pytest.fixture(autouse=True)
def sealed_machine(homes: Iterator[Path], monkeypatch: pytest.MonkeyPatch) -> Path:
    """Points every folder of the person at a new, empty home, so that no test reads or writes the real one."""
    home = next(homes)
    runtime = home / "run"
    runtime.mkdir(mode=0o700, parents=True)
    for name in [name for name in os.environ if name.startswith(("COLONIZER_", "GIT_", "XDG_"))]:
        monkeypatch.delenv(name)
    for name in ("NO_COLOR", "TEXTUAL_THEME", "SSH_CONNECTION", "SSH_TTY", "DBUS_SESSION_BUS_ADDRESS"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(runtime))
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", os.devnull)
    monkeypatch.setenv("GIT_CONFIG_NOSYSTEM", "1")
    monkeypatch.setenv("PYTHON_KEYRING_BACKEND", "keyring.backends.null.Keyring")
    monkeypatch.setenv("COLONIZER_DEMO_PACE", "0")
    monkeypatch.setenv("TZ", "UTC")
    time.tzset()
    return home


def pytest_xdist_auto_num_workers() -> int:
    """Twice as many workers as cores: half of the time, a test waits for a process, a socket or a screen."""
    return 2 * len(os.sched_getaffinity(0))


def pytest_collection_finish() -> None:
    """Lets the garbage collector pass over what stays until the end; a third of the time goes to it otherwise."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(50_000, 20, 100)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item, call: pytest.CallInfo[None]
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Turns a skip into a failure where every tool is required."""
    report = yield
    if ALL_REQUIRED and report.skipped and "wasxfail" not in report.__dict__:
        report.outcome = "failed"
        report.longrepr = f"{item.nodeid} was skipped, and REQUIRE_ALL is set: {report.longrepr}"
    return report
