"""Files that hold a secret: open to their owner and to nobody else."""

import os
import stat
from pathlib import Path

from colonizer_config.atomic_write import write_atomically
from colonizer_config.errors import SecretError
from colonizer_config.paths import make_private

PRIVATE_FILE_LIMIT_BYTES = 64 * 1024


def read_private(path: Path) -> str | None:
    """The text of a file of our own, or None where there is none.

    Raises:
        SecretError: Others may read it, it belongs to somebody else, or it is no readable text file.
    """
    try:
        handle = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
        try:
            _refuse_open_file(path, os.fstat(handle))
            content = os.read(handle, PRIVATE_FILE_LIMIT_BYTES + 1)
        finally:
            os.close(handle)
    except FileNotFoundError:
        return None
    except OSError as problem:
        raise SecretError(f"cannot read {path}: {problem.strerror or problem}") from problem
    if len(content) > PRIVATE_FILE_LIMIT_BYTES or not content.isascii():
        raise SecretError(f"{path} holds something else than a token")
    return content.decode("ascii")


def write_private(path: Path, text: str) -> None:
    """Puts the text into a file of mode 0600 in a folder of mode 0700; an older one is replaced whole.

    Raises:
        SecretError: It cannot be written.
        FolderError: The folder cannot be made, or belongs to somebody else.
    """
    make_private(path.parent)
    try:
        write_atomically(path, text.encode("ascii"), mode=0o600)
    except OSError as problem:
        raise SecretError(f"cannot write {path}: {problem.strerror or problem}") from problem


def _refuse_open_file(path: Path, found: os.stat_result) -> None:
    if not stat.S_ISREG(found.st_mode):
        raise SecretError(f"{path} is not a file")
    if found.st_uid != os.geteuid():
        raise SecretError(f"{path} belongs to user {found.st_uid}, not to you: remove it and sign in again")
    if stat.S_IMODE(found.st_mode) & 0o077:
        mode = stat.S_IMODE(found.st_mode)
        raise SecretError(f"{path} is open to others (mode {mode:04o}): chmod 600 it, and replace the token if need be")
