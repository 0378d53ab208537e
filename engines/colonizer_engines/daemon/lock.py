"""One engine for each folder: the lock that it holds while it runs."""

import fcntl
import json
import os
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import cast

from colonizer_engines.daemon.errors import DaemonError, EngineHeld

_HOLDER_LIMIT_BYTES = 4096


@contextmanager
def engine_lock(path: Path, version: str) -> Generator[None]:
    """Holds the lock; its text names this process and version for whoever comes second.

    The file stays: removing it would let two engines lock two files of the same name.

    Raises:
        EngineHeld: Another engine has it, and which one.
        DaemonError: The file cannot be used.
    """
    try:
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
    except OSError as problem:
        raise DaemonError(f"cannot use the lock {path}: {problem.strerror}") from problem
    try:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise _held(path, os.pread(descriptor, _HOLDER_LIMIT_BYTES, 0)) from None
        os.ftruncate(descriptor, 0)
        os.pwrite(descriptor, json.dumps({"pid": os.getpid(), "version": version}).encode() + b"\n", 0)
        yield
        os.ftruncate(descriptor, 0)
    finally:
        os.close(descriptor)


def _held(path: Path, text: bytes) -> EngineHeld:
    try:
        facts = cast("dict[str, object]", json.loads(text))
        pid, version = facts.get("pid"), facts.get("version")
    except (ValueError, AttributeError):
        pid = version = None
    pid = pid if isinstance(pid, int) else None
    version = version if isinstance(version, str) else None
    who = f"process {pid}, version {version}" if pid else "another process"
    words = (
        f"an engine is already running on {path.parent} ({who}); end it with `colonizer engine stop`,"
        " or name another folder with --data-dir"
    )
    return EngineHeld(words, pid=pid, version=version)
