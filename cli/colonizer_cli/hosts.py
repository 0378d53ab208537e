"""What a person may change of their hosts: the settings' list and the kept tokens, for commands and for the cockpit.

A token is tried before it is kept, is kept for its address alone, and where it goes is read from the settings: never
from a link, and never from what a server says.
"""

from collections.abc import Iterable
from typing import TYPE_CHECKING, TypeAlias

from msgspec.structs import replace

from colonizer_cli.failures import ExitCode, Failed
from colonizer_cli.mothership import through
from colonizer_client.mothership import calls
from colonizer_client.mothership.models import Standing
from colonizer_config.address import HttpAddress, SshAddress, split_sign_in_link
from colonizer_config.endpoints import Endpoint, Origin, known_endpoints
from colonizer_config.errors import AddressError
from colonizer_config.paths import Paths
from colonizer_config.secrets import Place, TokenStore
from colonizer_config.settings import EndpointName, EndpointSettings, Kind, Settings, load
from colonizer_config.token import Token
from colonizer_config.value import Value

if TYPE_CHECKING:
    from colonizer_config.edit import SettingsEdit

CHECK_LIMIT_S = 10.0

RemoteAddress: TypeAlias = HttpAddress | SshAddress


class Addition(Value):
    """An endpoint that may be added; nothing is written yet."""

    endpoint: Endpoint
    edit: "SettingsEdit"


class Hosts:
    """The hosts of one person. Every call may block: on the disk, on the keyring, `standing` on the network."""

    def __init__(self, paths: Paths) -> None:
        self._paths = paths
        self._tokens = TokenStore(paths)

    def find(self, name: str) -> Endpoint:
        """The mothership or server of that name whose token and address are the person's to change.

        Raises:
            Failed: There is none, or it exists by itself.
            SettingsError: The settings cannot be read.
        """
        known = known_endpoints(self._paths, load(self._paths.settings))
        for endpoint in known:
            if endpoint.name == name:
                return _own(endpoint, self._paths)
        names = ", ".join(endpoint.name for endpoint in known)
        raise Failed(f"there is no endpoint called {name}; known here: {names}", ExitCode.USAGE)

    def in_settings(self, name: str) -> Endpoint:
        """The endpoint of that name in the settings, of whatever kind.

        Raises:
            SettingsError: There is none, or the settings cannot be read.
        """
        row = self._edit().endpoint(EndpointName(name))
        return Endpoint(row.name, row.kind, row.target, Origin.SETTINGS, row.tags)

    def addition(self, name: str, written: str) -> Addition:
        """The mothership that would be added.

        Raises:
            SettingsError: The name is taken or none, or the settings are broken.
            AddressError: The address names nothing.
        """
        return self.new(EndpointSettings(EndpointName(name), Kind.MOTHERSHIP, written))

    def new(self, row: EndpointSettings) -> Addition:
        """The endpoint that would be added; raises as `addition`."""
        edit = self._edit()
        address = row.target
        edit.add_endpoint(row)
        return Addition(Endpoint(row.name, row.kind, address, Origin.SETTINGS), edit)

    def token(self, endpoint: Endpoint, pasted: str) -> Token:
        """The token that was pasted, by itself or in a sign-in link.

        A link that was made on the far machine names its loopback; one that names another machine is for that one.

        Raises:
            AddressError: It is a link for another address.
            SecretError: It is no token.
        """
        text = pasted.strip()
        if "://" not in text and "?" not in text:
            return Token(text)
        linked, token = split_sign_in_link(text)
        if linked.identity != remote(endpoint).identity and not linked.is_loopback:
            raise AddressError(f"this link is for {linked}, not for {endpoint.address}: nothing was sent")
        if token is None:
            raise AddressError("this link holds no token")
        return token

    def standing(self, endpoint: Endpoint, token: Token) -> Standing:
        """What the token may do there, asked with it.

        Raises:
            ClientError: The host refuses it, or does not answer.
        """
        mothership = through(endpoint, token, CHECK_LIMIT_S)
        try:
            return mothership.ask(calls.standing())
        finally:
            mothership.close()

    def keep(self, endpoint: Endpoint, token: Token, *, plain_file: bool = False) -> Place:
        """Keeps the token for the endpoint's address; where it is now.

        Raises:
            NoKeyringError: There is no keyring, and a plain file was not chosen.
            SecretError: The place cannot be written.
        """
        return self._tokens.store(remote(endpoint), token, plain_file=plain_file)

    def sign_out(self, endpoint: Endpoint) -> tuple[Place, ...]:
        """Forgets the token of the endpoint's address; where one was.

        Raises:
            SecretError: A place has trouble and may still hold the token.
        """
        return self._tokens.delete(remote(endpoint))

    def sharing(self, endpoint: Endpoint) -> tuple[EndpointName, ...]:
        """The other endpoints that use the same token, since they are at the same address."""
        return tuple(name for name in self._at(remote(endpoint)) if name != endpoint.name)

    def remove(self, endpoint: Endpoint) -> tuple[Place, ...]:
        """Takes the endpoint out of the settings and forgets its token, unless another one needs it; where that was.

        Raises:
            SettingsError: It is the default, or the file cannot be written.
            SecretError: A place has trouble and may still hold the token.
        """
        edit = self._edit()
        edit.remove_endpoint(endpoint.name)
        edit.save()
        return self._forget_unused(endpoint)

    def change(self, endpoint: Endpoint, name: str, written: str) -> Endpoint:
        """The endpoint under another name or at another address, saved. Another address has no token yet.

        Raises:
            SettingsError: The name is taken or none, or the file cannot be written.
            AddressError: The address names nothing.
            SecretError: The token of the address before cannot be forgotten.
        """
        edit = self._edit()
        before = edit.endpoint(endpoint.name)
        address = before.address if written == str(endpoint.address) else written
        row = replace(before, name=EndpointName(name), address=address)
        changed = Endpoint(row.name, row.kind, row.target, Origin.SETTINGS, row.tags)
        edit.replace_endpoint(endpoint.name, row)
        edit.save()
        self._forget_unused(endpoint)
        return changed

    def settings(self) -> Settings:
        """What the file says now."""
        return load(self._paths.settings)

    def _edit(self) -> "SettingsEdit":
        from colonizer_config.edit import SettingsEdit  # loaded where something is written: it takes a while

        return SettingsEdit(self._paths.settings)

    def _forget_unused(self, endpoint: Endpoint) -> tuple[Place, ...]:
        address = endpoint.address
        if not isinstance(address, HttpAddress | SshAddress) or self._at(address):
            return ()
        return self._tokens.delete(address)

    def _at(self, address: RemoteAddress) -> tuple[EndpointName, ...]:
        rows = load(self._paths.settings).endpoints
        return tuple(row.name for row in rows if row.target.identity == address.identity)


def remote(endpoint: Endpoint) -> RemoteAddress:
    """The address of an endpoint that is reached over http, https or ssh.

    Raises:
        Failed: It is something else, which has no token of its own.
    """
    if isinstance(endpoint.address, HttpAddress | SshAddress):
        return endpoint.address
    raise Failed(f"{endpoint.name} has no token of its own", ExitCode.USAGE)


def signed_out(endpoint: Endpoint, places: Iterable[Place], others: Iterable[str]) -> str:
    """What signing out did, in words."""
    where, also = ", ".join(places), ", ".join(others)
    if not where:
        return f"{endpoint.name} had no token here"
    return f"{endpoint.name} signed out: its token is forgotten ({where})" + (f"; {also} used it too" if also else "")


def removed(name: str, places: Iterable[Place]) -> str:
    """What removing an endpoint did, in words."""
    where = ", ".join(places)
    return f"{name} removed" + (f"; its token is forgotten ({where})" if where else "")


def exposure(endpoint: Endpoint) -> str:
    """What has to be known before a token is sent there; empty for nothing."""
    address = endpoint.address
    if not isinstance(address, HttpAddress) or not address.is_exposed:
        return ""
    return (
        f"{address} is not encrypted: others may read the token and the rest; use https, a tunnel or a private network"
    )


def _own(endpoint: Endpoint, paths: Paths) -> Endpoint:
    match endpoint.origin:
        case Origin.BUILT_IN:
            raise Failed("the local engine keeps its own token; there is nothing to sign in to", ExitCode.USAGE)
        case Origin.FOUND:
            raise Failed(f"{endpoint.name} is signed in to by {paths.published_token}, which it wrote", ExitCode.USAGE)
        case _:
            return endpoint
