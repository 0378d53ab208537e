"""Wires the layers together: settings, engine, cockpit."""

from contextlib import suppress

from colonizer_cli.kernels import connector
from colonizer_cli.local import local_engine, repository_here
from colonizer_client.cockpit import Cockpit
from colonizer_client.connectors import LocalConnector, RemoteConnector
from colonizer_client.errors import StoreError
from colonizer_client.identity import EndpointName
from colonizer_client.mothership.link import Connector
from colonizer_client.snapshot import EndpointState
from colonizer_client.store import Store
from colonizer_config.address import HttpAddress, SshAddress, StdioAddress
from colonizer_config.endpoints import Endpoint, Origin, known_endpoints, known_kernels
from colonizer_config.paths import Paths
from colonizer_config.secrets import TokenStore
from colonizer_config.settings import Kind, Settings


class Wiring:
    """A cockpit with a link for each mothership and each kernel, and what the face needs to know of them."""

    def __init__(self, paths: Paths, settings: Settings) -> None:
        self.cockpit = Cockpit(lambda: Store(paths.engine.cockpit_db))
        self.local = LocalConnector(local_engine(paths), repository_here())
        self._paths = paths
        self._tokens = TokenStore(paths)
        self._wired: dict[EndpointName, Endpoint] = {}
        self._wired_kernels: dict[EndpointName, Endpoint] = {}
        self.cockpit.follow_approvals()
        self.apply(settings)

    def apply(self, settings: Settings) -> None:
        """Gives the cockpit the hosts of these settings: what is new, gone or elsewhere; the rest is not touched.

        To be called in the cockpit's own event loop once it runs.
        """
        known = known_endpoints(self._paths, settings)
        wanted = {endpoint.name: endpoint for endpoint in known if endpoint.kind is Kind.MOTHERSHIP}
        for name in self._wired.keys() - wanted.keys():
            self.cockpit.remove(name)
        for name, endpoint in wanted.items():
            before = self._wired.get(name)
            if before is None or before.address != endpoint.address:
                self.cockpit.add(_state(endpoint), self._connector(endpoint))
        self._wired = wanted
        self._apply_kernels({kernel.name: kernel for kernel in known_kernels(self._paths, settings)})
        self.cockpit.offers.lead_to(settings.kernel.bridge)

    def _apply_kernels(self, wanted: dict[EndpointName, Endpoint]) -> None:
        for name in self._wired_kernels.keys() - wanted.keys():
            self.cockpit.kernels.remove(name)
        for name, endpoint in wanted.items():
            before = self._wired_kernels.get(name)
            if before is None or before.address != endpoint.address:
                self._add_kernel(endpoint)
        self._wired_kernels = wanted

    def _add_kernel(self, kernel: Endpoint) -> None:
        command = kernel.address if isinstance(kernel.address, StdioAddress) else None
        self.cockpit.kernels.add(_state(kernel), connector(kernel, self._paths), command)

    def rename(self, before: EndpointName, after: EndpointName) -> None:
        """Moves what was typed for a mothership to its new name; `apply` has to follow."""
        if self._wired.pop(before, None) is not None:
            with suppress(StoreError):  # it is nowhere to be kept, and the person was told when the cockpit began
                self.cockpit.rename(before, after)

    def _connector(self, endpoint: Endpoint) -> Connector:
        if endpoint.origin is Origin.BUILT_IN:
            return self.local
        assert isinstance(endpoint.address, HttpAddress | SshAddress), "a mothership has one of these"
        return RemoteConnector(endpoint, endpoint.address, self._tokens)


def _state(endpoint: Endpoint) -> EndpointState:
    return EndpointState(
        endpoint.name,
        str(endpoint.address),
        endpoint.kind,
        is_local=endpoint.origin is Origin.BUILT_IN,
        is_own=endpoint.origin is Origin.SETTINGS,
    )
