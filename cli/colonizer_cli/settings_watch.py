"""Notices that the settings file changed, by looking at it now and then."""

from collections.abc import Callable
from pathlib import Path

from colonizer_config.settings import Loaded, load_or_default
from colonizer_config.settings_file import mark_of


class SettingsWatch:
    """What the person has set, as it changes.

    `use` is given the settings that are to go on with: those of the file, or where it cannot be read the last ones
    that could, with what is wrong.
    """

    def __init__(self, path: Path, loaded: Loaded, use: Callable[[Loaded], None]) -> None:
        self._path = path
        self._use = use
        self._loaded = loaded
        self._seen = self._read = mark_of(path)

    def look(self) -> Loaded | None:
        """What is set now, where that is news; else None.

        A file is read when it looks the same twice in a row: an editor that empties it first, or that moves it away
        and puts another one in its place, is not caught in between.
        """
        mark = mark_of(self._path)
        is_resting = mark == self._seen
        self._seen = mark
        if mark == self._read or not is_resting:
            return None
        self._read = mark
        found = load_or_default(self._path)
        if found.problem is not None:
            found = Loaded(self._loaded.settings, found.problem)
        if str(found.problem) == str(self._loaded.problem) and found.settings == self._loaded.settings:
            return None
        self._loaded = found
        self._use(found)
        return found
