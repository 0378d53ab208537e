"""One mothership that a command asks: how it is reached, and with which token."""

import atexit
import os
from pathlib import Path
from typing import TypeVar

from colonizer_cli.local import local_engine
from colonizer_client.engine import START_TIMEOUT_S
from colonizer_client.errors import ClientError, LinkError, SignInNeeded
from colonizer_client.mothership.calls import Call
from colonizer_client.mothership.oneshot import OneShot
from colonizer_client.mothership.transport import REQUEST_TIMEOUT_S
from colonizer_client.tunnel import Tunnel
from colonizer_config.address import HttpAddress, SocketAddress, SshAddress
from colonizer_config.endpoints import Endpoint, Origin
from colonizer_config.errors import AddressError
from colonizer_config.paths import Paths
from colonizer_config.secrets import TokenStore
from colonizer_config.token import Token
from colonizer_config.value import Value

T = TypeVar("T")


class Mothership(Value):
    """A mothership and the token for it. Nothing is connected between two requests."""

    endpoint: Endpoint
    server: HttpAddress | SocketAddress
    token: Token
    timeout_s: float = REQUEST_TIMEOUT_S
    tunnel: Tunnel | None = None

    @property
    def is_local(self) -> bool:
        """Whether it is the local engine, whose private socket takes what belongs to no other server."""
        return self.endpoint.origin is Origin.BUILT_IN

    def ask(self, call: Call[T]) -> T:
        """The call's result.

        Raises:
            ClientError: It does not answer, refuses, fails, or its reply cannot be read.
        """
        try:
            return OneShot(self.server, self.token, timeout_s=self.timeout_s).run(call)
        except LinkError as problem:
            words = self.tunnel.last_words() if self.tunnel is not None else ""
            raise type(problem)(f"{self.silence}: {words or problem}") from problem

    def close(self) -> None:
        """Ends the way through ssh, where there is one."""
        if self.tunnel is not None:
            self.tunnel.close()

    @property
    def silence(self) -> str:
        """What is said when it does not answer, up to the reason."""
        where = self.endpoint.address if self.tunnel is not None else self.server
        return "the local engine does not answer" if self.is_local else f"no mothership answering on {where}"


def reach_named(endpoint: Endpoint, paths: Paths, token_file: Path | None) -> Mothership:
    """The mothership that the command line or the environment names (spec 2.1).

    Raises:
        SecretError: There is no token for it.
        AddressError: It is named in a way in which no host is named.
    """
    if not isinstance(endpoint.address, HttpAddress | SocketAddress):
        raise AddressError("a host is named by HOST[:PORT]")
    found = TokenStore(paths).for_named_host(endpoint.address, os.environ, token_file)
    return Mothership(endpoint, endpoint.address, found.token)


def reach(endpoint: Endpoint, paths: Paths, timeout_s: float = REQUEST_TIMEOUT_S) -> Mothership:
    """A mothership that exists by itself or by the settings; the local engine is started where it does not run.

    Raises:
        ClientError: No token is kept for it, the local engine cannot be started, or ssh does not come through.
        SecretError: Its token cannot be read.
    """
    if isinstance(endpoint.address, SocketAddress):
        engine = local_engine(paths)
        engine.ensure_running()
        return Mothership(endpoint, endpoint.address, engine.token(), timeout_s)
    found = TokenStore(paths).for_endpoint(endpoint)
    if found is None:
        raise SignInNeeded.without_token(endpoint.name, str(endpoint.address))
    return through(endpoint, found.token, timeout_s)


def through(endpoint: Endpoint, token: Token, timeout_s: float = REQUEST_TIMEOUT_S) -> Mothership:
    """A mothership that is reached over HTTP, or through ssh, which lasts as long as the command.

    Raises:
        Unreachable: ssh does not come through; in its own words.
    """
    match endpoint.address:
        case HttpAddress() as address:
            return Mothership(endpoint, address, token, timeout_s)
        case SshAddress() as address:
            tunnel = Tunnel(address)
            atexit.register(tunnel.close)
            return Mothership(endpoint, tunnel.open(), token, timeout_s, tunnel)
        case _:
            raise ClientError(f"{endpoint.name} is no mothership")


def patience_s(endpoint: Endpoint, answer_s: float) -> float:
    """How long to wait for an endpoint whose answer may take so long: the local engine may have to start first."""
    return answer_s + (START_TIMEOUT_S if endpoint.origin is Origin.BUILT_IN else 0)
