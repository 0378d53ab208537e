"""A settings file that is looked at often."""

import os
from pathlib import Path
from typing import TypeAlias

from colonizer_config.settings import Loaded, load_or_default

Mark: TypeAlias = tuple[int, int, int] | None
"""What another content of the file would change: inode, size and time of change; None where there is no file."""


class SettingsFile:
    """What a settings file says now; it is read again when it has changed."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._seen: Mark = None
        self._loaded: Loaded | None = None

    def now(self) -> Loaded:
        """The settings, or the defaults together with what is wrong with the file."""
        seen = mark_of(self._path)
        if self._loaded is None or seen != self._seen:
            self._loaded, self._seen = load_or_default(self._path), seen
        return self._loaded


def mark_of(path: Path) -> Mark:
    """What to compare with an earlier look at the file."""
    try:
        found = os.stat(path)
    except OSError:
        return None
    return found.st_ino, found.st_size, found.st_mtime_ns
