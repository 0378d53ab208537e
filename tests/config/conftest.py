import os
from collections.abc import Iterator

import keyring
import pytest
from keyring.backend import KeyringBackend

from colonizer_config.paths import Paths


class MemoryKeyring(KeyringBackend):
    """A keyring as a desktop has it, for the time of one test."""

    priority = 5.0  # pyright: ignore[reportAssignmentType, reportIncompatibleVariableOverride]

    def __init__(self) -> None:
        super().__init__()
        self.entries: dict[tuple[str, str], str] = {}

    def get_password(self, service: str, username: str) -> str | None:
        return self.entries.get((service, username))

    def set_password(self, service: str, username: str, password: str) -> None:
        self.entries[service, username] = password

    def delete_password(self, service: str, username: str) -> None:
        del self.entries[service, username]


@pytest.fixture
def memory_keyring() -> Iterator[MemoryKeyring]:
    before = keyring.get_keyring()
    backend = MemoryKeyring()
    keyring.set_keyring(backend)
    yield backend
    keyring.set_keyring(before)


@pytest.fixture
def paths() -> Paths:
    return Paths.from_environment(os.environ)
