"""What can be wrong with settings and secrets.

ConfigError
├── SettingsError      the settings file cannot be read or written, or means nothing
├── AddressError       a host or address is not one
├── FolderError        a folder is missing, foreign or not private enough
└── SecretError        no token, or a place for tokens that cannot be used
    └── NoKeyringError   there is no keyring: a plain file needs the person's explicit choice
"""


class ConfigError(Exception):
    """The person's own configuration is at fault; trying again without a change does not help."""

    retryable = False


class SettingsError(ConfigError):
    """The settings file cannot be read or written, or a key or value in it is wrong.

    `line` is the line in the file, from 1, or None where it has none.
    """

    def __init__(self, message: str, *, line: int | None = None) -> None:
        super().__init__(message)
        self.line = line


class AddressError(ConfigError):
    """A host or an address is written in a way that names none. Its text never repeats what could be a secret."""


class FolderError(ConfigError):
    """A folder that we need cannot be used: it cannot be made, belongs to another user or is open to others."""


class SecretError(ConfigError):
    """A token is missing, or the place where it should be kept cannot be used."""


class NoKeyringError(SecretError):
    """This machine has no keyring that keeps secrets; a plain file is used only where the person chose it."""
