import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import keyring
import pytest
from keyring.backends import fail, null
from keyring.backends.chainer import ChainerBackend
from keyring.errors import KeyringLocked

import colonizer_config
from colonizer_config.errors import NoKeyringError, SecretError
from colonizer_config.system_keyring import SystemKeyring
from config.memory_keyring import MemoryKeyring

ROOT = Path(colonizer_config.__file__).parents[1]


def run(code: str, *folders: Path) -> subprocess.CompletedProcess[str]:
    """A process of its own, because what is tested is how it ends."""
    environment = {
        "PYTHONPATH": ":".join(map(str, [*folders, ROOT])),
        "PATH": "/usr/bin:/bin",
        "DBUS_SESSION_BUS_ADDRESS": "unix:path=/nowhere",
    }
    return subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=False, env=environment, timeout=20
    )


class HangingKeyring(MemoryKeyring):
    def __init__(self) -> None:
        super().__init__()
        self.unlocked = threading.Event()
        self.reached = threading.Event()
        self.asked = 0

    def get_password(self, service: str, username: str) -> str | None:
        self.asked += 1
        self.reached.set()
        self.unlocked.wait()
        return super().get_password(service, username)


@pytest.fixture
def hanging_keyring(memory_keyring: MemoryKeyring) -> Iterator[HangingKeyring]:
    backend = HangingKeyring()
    keyring.set_keyring(backend)
    yield backend
    backend.unlocked.set()


def test_a_secret_is_kept_replaced_and_removed(memory_keyring: MemoryKeyring) -> None:
    ring = SystemKeyring()
    assert ring.get("http://hq:7878") is None
    ring.set("http://hq:7878", "one")
    ring.set("http://hq:7878", "two")
    assert ring.get("http://hq:7878") == "two"
    assert memory_keyring.entries == {("colonizer", "http://hq:7878"): "two"}
    assert ring.delete("http://hq:7878")
    assert not ring.delete("http://hq:7878")
    assert ring.get("http://hq:7878") is None


class PlainTextKeyring(MemoryKeyring):
    priority = 0.5  # pyright: ignore[reportAssignmentType, reportIncompatibleVariableOverride]


@pytest.mark.parametrize("backend", [null.Keyring, fail.Keyring, PlainTextKeyring])
def test_a_backend_that_is_not_recommended_is_no_keyring(
    memory_keyring: MemoryKeyring, backend: type[MemoryKeyring]
) -> None:
    keyring.set_keyring(backend())
    ring = SystemKeyring()
    for call in (lambda: ring.get("x"), lambda: ring.set("x", "y"), lambda: ring.delete("x")):
        with pytest.raises(NoKeyringError, match="no keyring on this machine"):
            call()


def test_a_chain_never_goes_on_to_a_backend_that_keeps_plain_text(memory_keyring: MemoryKeyring) -> None:
    class LockedKeyring(MemoryKeyring):
        def set_password(self, service: str, username: str, password: str) -> None:
            raise NotImplementedError

    plain = PlainTextKeyring()

    class Chain(ChainerBackend):
        backends = (LockedKeyring(), plain)  # pyright: ignore[reportAssignmentType]
        priority = 10.0  # pyright: ignore[reportAssignmentType]

    keyring.set_keyring(Chain())  # type: ignore[no-untyped-call] # keyring has no annotation here
    with pytest.raises(SecretError, match=r"the keyring failed \(NotImplementedError\)"):
        SystemKeyring().set("x", "y")
    assert plain.entries == {}


@pytest.mark.parametrize("problem", [KeyringLocked("s3cret"), OSError("s3cret"), ValueError("s3cret")])
def test_a_failing_keyring_is_named_by_its_error_alone(memory_keyring: MemoryKeyring, problem: Exception) -> None:
    class FailingKeyring(MemoryKeyring):
        def set_password(self, service: str, username: str, password: str) -> None:
            raise problem

    keyring.set_keyring(FailingKeyring())
    with pytest.raises(SecretError) as refused:
        SystemKeyring().set("x", "s3cret")
    assert str(refused.value) == f"the keyring failed ({type(problem).__name__})"
    assert (refused.value.__cause__, refused.value.__context__) == (None, None)


def test_a_keyring_that_does_not_answer_is_given_up(hanging_keyring: HangingKeyring) -> None:
    ring = SystemKeyring(read_limit_s=0.01)
    with pytest.raises(SecretError, match=r"the keyring did not answer within 0\.01 s"):
        ring.get("x")
    with pytest.raises(SecretError, match="the keyring still does not answer"):
        ring.get("y")
    assert hanging_keyring.reached.wait(timeout=10)
    assert hanging_keyring.asked == 1


def test_a_keyring_that_answers_again_is_used_again(hanging_keyring: HangingKeyring) -> None:
    ring = SystemKeyring(read_limit_s=0.01)
    with pytest.raises(SecretError):
        ring.get("x")
    hanging_keyring.unlocked.set()
    for thread in threading.enumerate():
        if thread.name == "keyring":
            thread.join(timeout=10)
    assert SystemKeyring().get("x") is None
    assert ring.delete("x") is False


HANG = """
import threading
from keyring.backend import KeyringBackend
import keyring
class Hanging(KeyringBackend):
    priority = 9
    def get_password(self, service, username):
        threading.Event().wait()
    def set_password(self, service, username, password):
        pass
keyring.set_keyring(Hanging())
"""


def ask(limit_s: float) -> str:
    return f"""
from colonizer_config.errors import SecretError
from colonizer_config.system_keyring import SystemKeyring
try:
    SystemKeyring(read_limit_s={limit_s}).get("x")
except SecretError as problem:
    print(problem)
"""


def test_a_keyring_that_hangs_keeps_no_process_from_ending() -> None:
    ended = run(HANG + ask(0.5))
    assert (ended.returncode, ended.stdout, ended.stderr) == (0, "the keyring did not answer within 0.5 s\n", "")


def test_an_import_that_hangs_keeps_no_process_from_ending(tmp_path: Path) -> None:
    (tmp_path / "keyring.py").write_text("import threading\nthreading.Event().wait()\n", encoding="utf-8")
    ended = run(ask(0.5), tmp_path)
    assert (ended.returncode, ended.stdout, ended.stderr) == (0, "the keyring did not answer within 0.5 s\n", "")


def test_a_keyring_that_cannot_be_imported_is_an_error_of_ours(tmp_path: Path) -> None:
    (tmp_path / "keyring.py").write_text("raise ImportError('no libffi')\n", encoding="utf-8")
    ended = run(ask(15), tmp_path)
    assert (ended.returncode, ended.stdout) == (0, "the keyring failed (ImportError)\n")


def test_an_error_that_nobody_foresaw_does_not_end_the_program() -> None:
    odd = HANG.replace("threading.Event().wait()", "raise type('Odd', (Exception,), {})")
    ended = run(odd + ask(15))
    assert (ended.returncode, ended.stdout) == (0, "the keyring failed\n")


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux does without a keyring")
def test_a_bare_machine_has_no_keyring() -> None:
    ended = run(ask(15))
    assert (ended.returncode, ended.stdout) == (0, "there is no keyring on this machine\n")
