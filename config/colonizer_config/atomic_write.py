"""Files that are replaced whole or not at all."""

import contextlib
import fcntl
import os
import stat
from collections.abc import Generator
from pathlib import Path


def write_atomically(path: Path, content: bytes, *, mode: int, owner: tuple[int, int] | None = None) -> None:
    """Puts `content` in the place of the file, which at every moment is the old one or the new one.

    Args:
        path: The file itself; a symbolic link here would be replaced by a file.
        content: All that it shall hold.
        mode: The permissions of the new file; until it is whole it is open to its owner alone.
        owner: The user and group that the new file shall belong to, where we may give it away.

    Raises:
        OSError: It cannot be written; the old file is as it was, and nothing is left beside it.
    """
    import tempfile  # loaded where something is written

    handle, name = tempfile.mkstemp(prefix=f".{path.name}.", dir=path.parent)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(content)
            file.flush()
            if owner is not None:
                # An ordinary user may not give files away, and in a container an owner can be one who has no number
                # there; the file is then the writer's, as with any editor.
                with contextlib.suppress(OSError):
                    os.fchown(handle, *owner)
            os.fchmod(handle, mode)
            os.fsync(handle)
        os.replace(name, path)
    except BaseException:
        with contextlib.suppress(OSError):
            os.unlink(name)
        raise
    _sync_folder(path.parent)


def rewrite(path: Path, content: bytes) -> None:
    """Puts `content` in the place of the file, whose mode and owner stay; a new file is for its owner alone.

    Raises:
        OSError: As `write_atomically`.
    """
    try:
        found = path.stat()
    except FileNotFoundError:
        write_atomically(path, content, mode=0o600)
    else:
        write_atomically(path, content, mode=stat.S_IMODE(found.st_mode), owner=(found.st_uid, found.st_gid))


@contextlib.contextmanager
def only_writer(folder: Path) -> Generator[None]:
    """Keeps our other processes from writing in the folder, such as between a comparison and a rename."""
    handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        # Some network file systems cannot lock a folder; the comparison then stands alone.
        with contextlib.suppress(OSError):
            fcntl.flock(handle, fcntl.LOCK_EX)
        yield
    finally:
        os.close(handle)


def _sync_folder(folder: Path) -> None:
    """Makes the rename survive a power cut, where the file system can."""
    with contextlib.suppress(OSError):
        handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)
