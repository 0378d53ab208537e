import os
from collections.abc import Iterator

import keyring
import pytest

from colonizer_config.paths import Paths
from config.memory_keyring import MemoryKeyring


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
