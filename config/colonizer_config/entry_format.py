"""The ways in which settings files of other programs are written, as far as one entry in them is changed."""

from collections.abc import Mapping, Sequence
from typing import Any, Protocol, cast

from colonizer_config.errors import SettingsError
from colonizer_config.jsonc_edit import member_value, remove_empty, remove_member, set_member
from colonizer_config.toml_text import line_of, toml_values


class EntryFormat(Protocol):
    """Reads and changes one entry of a text, which lies under `keys`, and leaves the rest of the text as it is.

    `file` is the name that errors give the file. Each call raises a `SettingsError` where the text cannot be read, or
    where something on the way to the entry is not what entries lie in.
    """

    def value(self, text: str, keys: Sequence[str], file: str) -> Any:
        """What the entry says, None where there is none."""
        ...

    def put(self, text: str, keys: Sequence[str], value: Mapping[str, object], file: str) -> str:
        """The text with that entry, in the place of an older one."""
        ...

    def remove(self, text: str, keys: Sequence[str], file: str) -> str:
        """The text without the entry."""
        ...

    def remove_empty(self, text: str, keys: Sequence[str], file: str) -> str:
        """The text without what lies under `keys`, where there is nothing in it."""
        ...


class JsonFormat:
    """JSON, with comments where the file has some."""

    def value(self, text: str, keys: Sequence[str], file: str) -> Any:
        """What the entry says, None where there is none."""
        return member_value(text, keys, file)

    def put(self, text: str, keys: Sequence[str], value: Mapping[str, object], file: str) -> str:
        """The text with that entry, in the place of an older one."""
        return set_member(text, keys, value, file)

    def remove(self, text: str, keys: Sequence[str], file: str) -> str:
        """The text without the entry."""
        return remove_member(text, keys, file)

    def remove_empty(self, text: str, keys: Sequence[str], file: str) -> str:
        """The text without the object under `keys`, where there is nothing in it."""
        return remove_empty(text, keys, file)


class TomlFormat:
    """TOML, the entry a table of its own."""

    def value(self, text: str, keys: Sequence[str], file: str) -> Any:
        """What the entry says, None where there is none."""
        here: Any = toml_values(text, file)
        for number, key in enumerate(keys):
            if not isinstance(here, dict):
                line = line_of(text, tuple(keys[:number])) or 1
                raise SettingsError(f"{file}, line {line}: {'.'.join(keys[:number])} is no table", line=line)
            here = cast(dict[str, Any], here).get(key)
            if here is None:
                return None
        return here

    def put(self, text: str, keys: Sequence[str], value: Mapping[str, object], file: str) -> str:
        """The text with that entry, in the place of an older one."""
        from colonizer_config.toml_edit import edit_errors, set_tree  # loaded where something is written

        self.value(text, keys, file)
        with edit_errors(file):
            return set_tree(text, tuple(keys), value)

    def remove(self, text: str, keys: Sequence[str], file: str) -> str:
        """The text without the entry."""
        from colonizer_config.toml_edit import edit_errors, remove_tree

        self.value(text, keys, file)
        with edit_errors(file):
            return remove_tree(text, tuple(keys))

    def remove_empty(self, text: str, keys: Sequence[str], file: str) -> str:
        """The text as it is: a table around the entry has no line of its own."""
        del keys, file
        return text
