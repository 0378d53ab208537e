"""A settings file that is looked at often."""

import os
from pathlib import Path

from colonizer_config.settings import Loaded, load_or_default


class SettingsFile:
    """What a settings file says now; it is read again when it has changed."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._seen: object = None
        self._loaded: Loaded | None = None

    def now(self) -> Loaded:
        """The settings, or the defaults together with what is wrong with the file."""
        seen = self._look()
        if self._loaded is None or seen != self._seen:
            self._loaded, self._seen = load_or_default(self._path), seen
        return self._loaded

    def _look(self) -> object:
        try:
            found = os.stat(self._path)
        except OSError as problem:
            return type(problem).__name__
        return found.st_mtime_ns, found.st_size, found.st_ino
