"""What the catalogue of an MCP session stands on: the servers of the settings, tokens, consents and variables."""

import os
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING

from colonizer_config.address import SocketAddress, StdioAddress
from colonizer_config.endpoints import known_servers
from colonizer_config.paths import Paths
from colonizer_config.settings import Settings
from colonizer_config.settings_file import SettingsFile
from colonizer_config.token import Token

if TYPE_CHECKING:
    from colonizer_client.catalogue.access import Reachable
    from colonizer_client.catalogue.pool import Pool
    from colonizer_client.store import Store
    from colonizer_server.catalogue import CatalogueTools
    from colonizer_server.session import Session


def commands_env(settings: Settings) -> dict[str, str]:
    """The values of the variables that the commands of MCP servers are given, as far as this environment has them."""
    targets = (row.target for row in settings.endpoints)
    names = {name for target in targets if isinstance(target, StdioAddress) for name in target.env}
    return {name: os.environ[name] for name in ("HOME", *sorted(names)) if name in os.environ}


class CatalogueWiring:
    """Makes the catalogues of all sessions of this process, which share their connections."""

    def __init__(
        self,
        paths: Paths,
        socket: SocketAddress,
        socket_token: Callable[[], Token],
        open_store: "Callable[[], Store]",
    ) -> None:
        self._paths = paths
        self._open_store = open_store
        self._settings = SettingsFile(paths.settings)
        self.pool = self._pool(socket, socket_token)

    def tools(self, session: "Session") -> "CatalogueTools | None":
        """The catalogue's tools for a session, None where it has no catalogue."""
        if session.catalogue_env is None:
            return None
        from colonizer_client.catalogue.catalogue import Catalogue
        from colonizer_server.catalogue import CatalogueTools

        environment = session.catalogue_env
        return CatalogueTools(Catalogue(self.pool, lambda: self._servers(environment)), session.scope)

    def _pool(self, socket: SocketAddress, socket_token: Callable[[], Token]) -> "Pool":
        from colonizer_client.catalogue.access import OwnAccess
        from colonizer_client.catalogue.pool import Pool
        from colonizer_client.clock import SystemClock
        from colonizer_config.secrets import TokenStore

        return Pool(OwnAccess(socket, socket_token, TokenStore(self._paths), self._open_store), SystemClock())

    def _servers(self, environment: Mapping[str, str]) -> "Sequence[Reachable]":
        from colonizer_client.catalogue.access import Reachable

        return [
            Reachable(endpoint, _given(endpoint.address, environment))
            for endpoint in known_servers(self._paths, self._settings.now().settings)
        ]


def _given(address: object, environment: Mapping[str, str]) -> Mapping[str, str]:
    """What a server's command is given of the caller's variables: those that it names."""
    names = address.env if isinstance(address, StdioAddress) else ()
    return {name: environment[name] for name in ("HOME", *names) if name in environment}
