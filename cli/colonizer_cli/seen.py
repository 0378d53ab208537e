"""The colonies that were seen last, for completing what a person types without asking anybody."""

import hashlib
import json
import re
from collections.abc import Iterable, Mapping
from contextlib import suppress
from pathlib import Path

from colonizer_client.mothership import wire
from colonizer_client.mothership.status import KNOWN
from colonizer_config.errors import ConfigError
from colonizer_config.paths import Paths
from colonizer_config.private_file import read_private, write_private
from colonizer_config.settings import EndpointName

KEPT = 500
"""Of one endpoint, the newest first: nobody completes among more."""

_ID = re.compile(r"[0-9A-Za-z_-]{1,64}")
"""What goes into a shell as it is."""


class SeenColonies:
    """Ids and states of colonies by endpoint, in one file each. What cannot be read or written is as if never seen."""

    def __init__(self, paths: Paths) -> None:
        self._folder = paths.engine.root / "seen"

    def keep(self, endpoint: EndpointName, colonies: Iterable[tuple[str, str]]) -> None:
        """Keeps the ids and states of an endpoint's colonies in the place of those before."""
        rows = [[name, state if state in KNOWN else ""] for name, state in colonies if _ID.fullmatch(name)]
        text = json.dumps(rows[:KEPT])
        path = self._file(endpoint)
        with suppress(ConfigError):
            if read_private(path) != text:
                write_private(path, text)

    def of(self, endpoint: EndpointName) -> Mapping[str, str]:
        """State by id."""
        try:
            rows: object = json.loads(read_private(self._file(endpoint)) or "[]")
        except (ConfigError, ValueError):
            return {}
        pairs = [wire.sequence(row) for row in wire.sequence(rows)]
        named = {wire.raw(pair[0]): wire.word(pair[1]) for pair in pairs if len(pair) == 2}
        return {name: state for name, state in named.items() if _ID.fullmatch(name)}

    def _file(self, endpoint: EndpointName) -> Path:
        return self._folder / hashlib.sha256(endpoint.encode()).hexdigest()[:16]
