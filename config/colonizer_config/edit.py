"""Changes of the settings file: what was asked, and nothing else."""

from pathlib import Path

from colonizer_config.atomic_write import only_writer, rewrite
from colonizer_config.errors import SettingsError
from colonizer_config.settings import SETTINGS_LIMIT_BYTES, EndpointName, EndpointSettings, Settings, parse, read_text
from colonizer_config.toml_edit import append_table, edit_errors, remove_table, remove_value, set_value
from colonizer_config.toml_text import KeyPath

_ENDPOINTS = "endpoints"
_DEFAULT: KeyPath = ("default_endpoint",)
_BRIDGE: KeyPath = ("kernel", "bridge")


class SettingsEdit:
    """Changes of one settings file; nothing is written before `save`.

    A change that would make the file wrong is refused, and the ones before it stay.

    Raises:
        SettingsError: The file cannot be read, or something in it is wrong, which has to be mended by hand first.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._opened = read_text(path)
        self._text = self._opened or ""
        self._settings = parse(self._text, path.name)

    @property
    def settings(self) -> Settings:
        """What the file will say."""
        return self._settings

    @property
    def text(self) -> str:
        """The text that the file will have."""
        return self._text

    def endpoint(self, name: EndpointName) -> EndpointSettings:
        """The endpoint of that name.

        Raises:
            SettingsError: There is none.
        """
        return self._settings.endpoints[self._index(name)]

    def add_endpoint(self, endpoint: EndpointSettings) -> None:
        """Puts an endpoint after the others.

        Raises:
            SettingsError: Its name is taken or reserved, or its values do not go together.
        """
        with edit_errors(self._path.name):
            self._accept(append_table(self._text, _ENDPOINTS, _values(endpoint)))

    def replace_endpoint(self, name: EndpointName, endpoint: EndpointSettings) -> None:
        """Makes the endpoint of that name into `endpoint`. The default and the bridge follow a new name.

        Raises:
            SettingsError: There is none of that name, the new name is taken or reserved, or the values do not go
                together.
        """
        index = self._index(name)
        before, after = _values(self._settings.endpoints[index]), _values(endpoint)
        text = self._text
        with edit_errors(self._path.name):
            for key in before.keys() - after.keys():
                text = remove_value(text, (_ENDPOINTS, index, key))
            for key, value in after.items():
                if value != before.get(key):
                    text = set_value(text, (_ENDPOINTS, index, key), value)
            if endpoint.name != name and self._settings.default_endpoint == name:
                text = set_value(text, _DEFAULT, endpoint.name)
            if endpoint.name != name and self._settings.kernel.bridge == name:
                text = set_value(text, _BRIDGE, endpoint.name)
            self._accept(text)

    def remove_endpoint(self, name: EndpointName) -> None:
        """Takes the endpoint of that name out, the comments between its keys included.

        Raises:
            SettingsError: There is none of that name, it is the default, or the bridge leads to it.
        """
        index = self._index(name)
        if self._settings.default_endpoint == name:
            raise SettingsError(f"{name} is the default endpoint: make another one the default first")
        if self._settings.kernel.bridge == name:
            raise SettingsError(f"outcomes of colonies are offered for {name}: change `bridge` under [kernel] first")
        with edit_errors(self._path.name):
            self._accept(remove_table(self._text, _ENDPOINTS, index))

    def set_default_endpoint(self, name: EndpointName) -> None:
        """Makes that endpoint the one of `launch` and `mcp`.

        Raises:
            SettingsError: There is none of that name, or it is no mothership.
        """
        if self._settings.default_endpoint != name:
            with edit_errors(self._path.name):
                self._accept(set_value(self._text, _DEFAULT, name))

    def set_key(self, action: str, key: str | None) -> None:
        """Binds a key to an action; None gives the action its own key back.

        Raises:
            SettingsError: Action or key is empty or no text in one line.
        """
        path: KeyPath = ("keys", action)
        if self._settings.keys.get(action) != key:
            with edit_errors(self._path.name):
                self._accept(remove_value(self._text, path) if key is None else set_value(self._text, path, key))

    def save(self) -> Settings:
        """Writes the file whole and gives what it says now. A link to the file stays a link.

        Raises:
            SettingsError: The file was changed by somebody else since it was opened, or it cannot be written; it is
                as it was, and the changes are kept for another try.
        """
        if self._text == (self._opened or ""):
            return self._settings
        try:
            target = self._path.resolve()
            target.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            with only_writer(target.parent):
                if read_text(self._path) != self._opened:
                    raise SettingsError(f"{self._path} was changed meanwhile: nothing was written, look at it again")
                rewrite(target, self._text.encode())
        except OSError as problem:
            raise SettingsError(f"cannot write {self._path}: {problem.strerror or problem}") from problem
        self._opened = self._text
        return self._settings

    def _index(self, name: EndpointName) -> int:
        for index, endpoint in enumerate(self._settings.endpoints):
            if endpoint.name == name:
                return index
        raise SettingsError(f"there is no endpoint {name} in {self._path.name}")

    def _accept(self, text: str) -> None:
        """Takes a text that can be written and read again."""
        try:
            size_bytes = len(text.encode())
        except UnicodeEncodeError:
            raise SettingsError("this holds a character that no text file can hold") from None
        if size_bytes > SETTINGS_LIMIT_BYTES:
            raise SettingsError(f"{self._path.name} would become larger than {SETTINGS_LIMIT_BYTES // 1024} KiB")
        self._settings = parse(text, self._path.name)
        self._text = text


def _values(endpoint: EndpointSettings) -> dict[str, object]:
    """The keys and values of its table; what is empty is left out."""
    rows: dict[str, object] = {
        "name": str(endpoint.name),
        "kind": str(endpoint.kind),
        "address": endpoint.address,
        "command": list(endpoint.command),
        "env": list(endpoint.env),
        "tags": list(endpoint.tags),
    }
    return {key: value for key, value in rows.items() if value}
