"""Tokens of servers on this machine: made when they are first needed, private to the person."""

import os
import re
import secrets
import stat
from pathlib import Path

from colonizer_engines.daemon.errors import DaemonError

_TOKEN = re.compile(r"[0-9a-f]{64}")


def kept_token(path: Path) -> str:
    """The 64 hexadecimal characters of the token, kept in a file that nobody else may read.

    Raises:
        DaemonError: The file is another user's, open to others, or holds no token.
    """
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC | os.O_NONBLOCK)
    except FileNotFoundError:
        return _made(path)
    except OSError as problem:
        raise DaemonError(f"cannot read the token file {path}: {problem.strerror}") from problem
    with os.fdopen(descriptor, "rb") as file:
        facts = os.fstat(descriptor)
        if not stat.S_ISREG(facts.st_mode) or facts.st_uid != os.geteuid():
            raise DaemonError(f"the token file {path} is not a file of yours; remove it")
        if stat.S_IMODE(facts.st_mode) & 0o077:
            raise DaemonError(f"others may read the token file {path}; remove it, and a new one is made")
        token = file.read(100).decode("ascii", "replace").strip()
    if not _TOKEN.fullmatch(token):
        raise DaemonError(f"there is no token in {path}; remove it, and a new one is made")
    return token


def _made(path: Path) -> str:
    """A new token, in the file as a whole or not at all; where another process was faster, its token."""
    token = secrets.token_hex(32)
    unfinished = path.with_name(f"{path.name}.{os.getpid()}")
    try:
        unfinished.unlink(missing_ok=True)
        descriptor = os.open(unfinished, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
        with os.fdopen(descriptor, "w", encoding="ascii") as file:
            file.write(token + "\n")
            file.flush()
            os.fsync(descriptor)
        try:
            os.link(unfinished, path)
        except FileExistsError:
            return kept_token(path)
        finally:
            unfinished.unlink()
    except OSError as problem:
        raise DaemonError(f"cannot write the token file {path}: {problem.strerror}") from problem
    return token
