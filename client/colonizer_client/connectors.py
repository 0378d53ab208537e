"""How each kind of endpoint is reached: where its token is, and what has to be started first."""

import asyncio
from collections.abc import Callable
from pathlib import Path

from colonizer_client.engine import LocalEngine
from colonizer_client.errors import ClientError, LinkError, SignInNeeded
from colonizer_client.mothership import calls
from colonizer_client.mothership.http import HttpTransport, open_transport
from colonizer_client.mothership.models import LocalRepository
from colonizer_client.tunnel import Tunnel
from colonizer_config.address import HttpAddress, SshAddress
from colonizer_config.endpoints import Endpoint
from colonizer_config.errors import ConfigError
from colonizer_config.secrets import FoundToken, TokenStore
from colonizer_config.token import Token
from colonizer_config.version import __version__


class LocalConnector:
    """Reaches the local engine: starts it where it does not run, and tells it the repository of the face."""

    def __init__(self, engine: LocalEngine, repository: Path | None = None) -> None:
        self._engine = engine
        self._repository = repository
        self.standing_in: LocalRepository | None = None
        """The repository that the face stands in, once the engine knows it."""

    async def open(self, notice: Callable[[str], None]) -> HttpTransport:
        """A transport over the private socket; raises EngineUnavailable."""
        await asyncio.to_thread(self._engine.ensure_running)
        transport = await open_transport(self._engine.address, self._engine.token())
        try:
            notice(await self._introduce(transport))
        except BaseException:
            await transport.close()
            raise
        return transport

    async def _introduce(self, transport: HttpTransport) -> str:
        """What the person should know of the engine and of the folder, empty for nothing."""
        words: list[str] = []
        version = await transport.run(calls.server_version())
        if version != __version__:
            words.append(f"the running engine has version {version}, this is {__version__}: `colonizer engine stop`")
        if self._repository is not None:
            try:
                self.standing_in = await transport.run(calls.add_local_repository(str(self._repository)))
            except (LinkError, SignInNeeded):
                raise
            except ClientError as problem:  # agents on other repositories go on without this one
                words.append(str(problem))
        return " · ".join(words)


class RemoteConnector:
    """Reaches a mothership, over HTTP or through ssh, with the token that is kept for its address."""

    def __init__(self, endpoint: Endpoint, address: HttpAddress | SshAddress, tokens: TokenStore) -> None:
        self._endpoint = endpoint
        self._address = address
        self._tokens = tokens

    async def open(self, notice: Callable[[str], None]) -> HttpTransport:
        """A transport; raises SignInNeeded where no token is kept, and Unreachable in the words of ssh."""
        del notice
        token, place = await self._token()
        transport = await self._transport(token)
        transport.token_place = place
        return transport

    async def _transport(self, token: Token) -> HttpTransport:
        if isinstance(self._address, HttpAddress):
            return await open_transport(self._address, token)
        tunnel = Tunnel(self._address)
        try:
            near = await asyncio.to_thread(tunnel.open)
            return await open_transport(near, token, tunnel)
        except BaseException:
            await asyncio.to_thread(tunnel.close)
            raise

    async def _token(self) -> FoundToken:
        try:
            found = await asyncio.to_thread(self._tokens.for_endpoint, self._endpoint)
        except ConfigError as problem:
            raise SignInNeeded(str(problem), status=401) from problem
        if found is None:
            raise SignInNeeded.without_token(self._endpoint.name, str(self._address))
        return found
