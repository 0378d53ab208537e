"""Opens files in folders where an agent can put anything in their place."""

import os
import stat
from pathlib import Path
from typing import BinaryIO, Final

# A pipe, which nobody may ever write, must not be waited for.
_FILE: Final = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
_FOLDER: Final = os.O_RDONLY | os.O_NOFOLLOW | os.O_DIRECTORY | os.O_CLOEXEC


def open_regular(path: Path | bytes, folder: int | None = None) -> BinaryIO:
    """The file at `path`, if it is a regular one and no link; relative to the descriptor `folder`, if that is given.

    Raises:
        OSError: It is not there, or something else.
    """
    descriptor = os.open(path, _FILE, dir_fd=folder)
    if stat.S_ISREG(os.fstat(descriptor).st_mode):
        return open(descriptor, "rb")
    os.close(descriptor)
    raise OSError(f"{os.fsdecode(path)} is no file")


def open_below(root: Path, name: bytes) -> BinaryIO:
    """The regular file `name` below `root`, reached without following a link in the place of one of its folders.

    Raises:
        OSError: It is not there, or something else.
    """
    *parents, last = name.split(b"/")
    folder = os.open(root, _FOLDER)
    try:
        for parent in parents:
            inner = os.open(parent, _FOLDER, dir_fd=folder)
            os.close(folder)
            folder = inner
        return open_regular(last, folder)
    finally:
        os.close(folder)
