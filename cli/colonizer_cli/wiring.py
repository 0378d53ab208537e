"""Wires the layers together: settings, engine, cockpit."""

import os
import sys
from pathlib import Path

from colonizer_client.cockpit import Cockpit
from colonizer_client.connectors import LocalConnector, RemoteConnector, Unsupported
from colonizer_client.engine import LocalEngine
from colonizer_client.mothership.link import Connector
from colonizer_client.snapshot import EndpointState
from colonizer_client.store import Store
from colonizer_config.address import HttpAddress
from colonizer_config.endpoints import Endpoint, Origin, known_endpoints
from colonizer_config.paths import Paths
from colonizer_config.secrets import TokenStore
from colonizer_config.settings import Kind, Settings


def local_engine(paths: Paths) -> LocalEngine:
    """The local engine of these folders, started where needed by this very program."""
    return LocalEngine(paths, (sys.executable, "-m", "colonizer_cli.main", "engine", "run"))


def repository_here() -> Path | None:
    """The folder that the person stands in, None where it is gone."""
    try:
        return Path.cwd()
    except OSError:
        return None


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
        if isinstance(endpoint.address, HttpAddress):
            return RemoteConnector(endpoint, endpoint.address, tokens)
        return Unsupported("ssh addresses are not built yet: forward a port yourself and use its address")


def agent_env(settings: Settings, agent: str) -> dict[str, str]:
    """The values of the variables that an agent's settings name, as far as this environment has them."""
    chosen = settings.agents.get(agent or settings.default_agent)
    return {} if chosen is None else {name: os.environ[name] for name in chosen.env if name in os.environ}
