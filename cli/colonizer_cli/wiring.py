"""Wires the layers together: settings, engine, cockpit."""

from colonizer_cli.local import agent_env, local_engine, repository_here
from colonizer_client.cockpit import Cockpit
from colonizer_client.connectors import LocalConnector, RemoteConnector
from colonizer_client.mothership.link import Connector
from colonizer_client.snapshot import EndpointState
from colonizer_client.store import Store
from colonizer_config.address import HttpAddress, SshAddress
from colonizer_config.endpoints import Endpoint, Origin, known_endpoints
from colonizer_config.paths import Paths
from colonizer_config.secrets import TokenStore
from colonizer_config.settings import Kind, Settings

__all__ = ["Wiring", "agent_env", "local_engine"]


class Wiring:
    """A cockpit with a link for each mothership, and what the face needs to know of them."""

    def __init__(self, paths: Paths, settings: Settings) -> None:
        self.cockpit = Cockpit(lambda: Store(paths.engine.cockpit_db))
        self.local = LocalConnector(local_engine(paths), repository_here())
        tokens = TokenStore(paths)
        for endpoint in known_endpoints(paths, settings):
            if endpoint.kind is Kind.MOTHERSHIP:
                state = EndpointState(
                    endpoint.name, str(endpoint.address), endpoint.kind, is_local=endpoint.origin is Origin.BUILT_IN
                )
                self.cockpit.add(state, self._connector(endpoint, tokens))

    def _connector(self, endpoint: Endpoint, tokens: TokenStore) -> Connector:
        if endpoint.origin is Origin.BUILT_IN:
            return self.local
        assert isinstance(endpoint.address, HttpAddress | SshAddress), "a mothership has one of these"
        return RemoteConnector(endpoint, endpoint.address, tokens)
