"""The log of what was done to others in the person's name: JSON lines that are only ever appended.

Each line holds the hash of the one before it, so that a line that was changed or taken out shows.
"""

import fcntl
import hashlib
import json
import os
from collections.abc import Generator, Mapping
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path

from colonizer_client.clock import Clock
from colonizer_client.errors import StoreError
from colonizer_config.errors import FolderError
from colonizer_config.paths import make_private

TAIL_BYTES = 64 * 1024
"""At least as long as any line, so that the last one is found from the file's end."""

LINE_LIMIT_BYTES = 32 * 1024


class AuditLog:
    """One log file, mode 0600, which any number of processes append to."""

    def __init__(self, path: Path, clock: Clock) -> None:
        self._path = path
        self._clock = clock

    @classmethod
    def beside(cls, database: Path, clock: Clock) -> "AuditLog":
        """The log that lies in the folder of the cockpit's database."""
        return cls(database.with_name("audit.jsonl"), clock)

    def append(self, record: Mapping[str, object]) -> None:
        """Writes a record, with its time and the hash of the line before it.

        Raises:
            StoreError: It cannot be written whole; what it would announce must not be done then.
        """
        at = datetime.fromtimestamp(self._clock.now(), UTC).isoformat(timespec="milliseconds")
        try:
            with self._opened() as file:
                end = os.fstat(file).st_size
                tail = os.pread(file, TAIL_BYTES, max(end - TAIL_BYTES, 0))
                line = json.dumps({"at": at, **record, "previous": _hash_of_last(tail)}).encode() + b"\n"
                if len(line) > LINE_LIMIT_BYTES:
                    raise StoreError(f"this is too long for {self._path}")
                # A line that was cut off by the death of its writer stays one of its own.
                _write_whole(file, line if not tail or tail.endswith(b"\n") else b"\n" + line, end)
        except (OSError, FolderError) as problem:
            words = problem.strerror if isinstance(problem, OSError) and problem.strerror else str(problem)
            raise StoreError(f"cannot write {self._path}: {words}") from problem

    @contextmanager
    def _opened(self) -> Generator[int]:
        make_private(self._path.parent)
        flags = os.O_RDWR | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW
        file = os.open(self._path, flags, 0o600)
        try:
            fcntl.flock(file, fcntl.LOCK_EX)
            yield file
        finally:
            os.close(file)


def first_break(path: Path) -> int | None:
    """The number of the first line of a log that does not follow the line before it, None where all do.

    Raises:
        OSError: It cannot be read.
    """
    previous = b""
    for number, line in enumerate(path.read_bytes().splitlines(), 1):
        try:
            record: object = json.loads(line)
        except ValueError:
            return number
        if not isinstance(record, dict) or record.get("previous") != _hash(previous):  # pyright: ignore[reportUnknownMemberType]
            return number
        previous = line
    return None


def _write_whole(file: int, line: bytes, end: int) -> None:
    written = os.write(file, line)
    if written < len(line):
        os.ftruncate(file, end)
        raise OSError(0, "the disk is full")


def _hash_of_last(tail: bytes) -> str:
    lines = tail.splitlines()
    return _hash(lines[-1] if lines else b"")


def _hash(line: bytes) -> str:
    return hashlib.sha256(line).hexdigest() if line else ""
