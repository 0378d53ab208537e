"""The person's hosts as the cockpit changes them: settings and tokens behind its port, errors in its words."""

from collections.abc import Callable, Generator
from contextlib import contextmanager

from colonizer_cli.failures import CommandError
from colonizer_cli.hosts import Hosts, exposure, removed, signed_out
from colonizer_cli.wiring import Wiring
from colonizer_client.errors import ClientError
from colonizer_client.identity import EndpointName
from colonizer_client.mothership.models import Standing
from colonizer_config.address import parse_address, split_sign_in_link
from colonizer_config.endpoints import Endpoint, Origin
from colonizer_config.errors import ConfigError, NoKeyringError
from colonizer_config.paths import Paths
from colonizer_config.settings import Kind, load
from colonizer_tui.hosts import HostError, NoKeyring, Trial


class CockpitHosts:
    """The port `colonizer_tui.hosts.Hosts`."""

    def __init__(self, paths: Paths, wiring: Wiring) -> None:
        self._paths = paths
        self._wiring = wiring
        self._hosts = Hosts(paths)

    def fault(self, address: str) -> str:
        """Why this is no address."""
        try:
            parse_address(address or "localhost")
        except ConfigError as problem:
            return str(problem)
        return ""

    def warning(self, address: str) -> str:
        """What has to be known before a token is sent there."""
        try:
            return exposure(Endpoint(EndpointName(""), Kind.MOTHERSHIP, parse_address(address), Origin.SETTINGS))
        except ConfigError:
            return ""  # `fault` tells it

    def try_token(self, name: str, pasted: str) -> Trial:
        """Tries a token at the address of the settings."""
        with _told():
            endpoint = self._hosts.find(name)
            return self._trial(endpoint, pasted, kept=None)

    def try_addition(self, name: str, address: str, pasted: str) -> Trial:
        """Tries a token at the address of a host that is new."""
        with _told():
            if not address and "?" not in pasted:
                raise HostError("give its address, or a sign-in link, which holds it")
            written = address or str(split_sign_in_link(pasted).address)
            added = self._hosts.addition(name, written)
            return self._trial(added.endpoint, pasted, kept=added.edit.save)

    def change(self, name: str, new_name: str, address: str) -> None:
        """Another name or address."""
        with _told():
            self._hosts.change(self._hosts.find(name), new_name, address)

    def sign_out(self, name: str) -> str:
        """Forgets a token."""
        with _told():
            endpoint = self._hosts.find(name)
            return signed_out(endpoint, self._hosts.sign_out(endpoint), self._hosts.sharing(endpoint))

    def remove(self, name: str) -> str:
        """Takes a host out of the settings."""
        with _told():
            return removed(name, self._hosts.remove(self._hosts.in_settings(name)))

    def apply(self, renamed: tuple[str, str] | None = None) -> None:
        """Connects the cockpit to what the settings say now."""
        with _told():
            settings = load(self._paths.settings)
            if renamed is not None:
                self._wiring.rename(*map(EndpointName, renamed))
            self._wiring.apply(settings)

    def _trial(self, endpoint: Endpoint, pasted: str, kept: Callable[[], object] | None) -> Trial:
        token = self._hosts.token(endpoint, pasted)
        standing = self._hosts.standing(endpoint, token)

        def keep(plain_file: bool) -> str:
            with _told():
                place = self._hosts.keep(endpoint, token, plain_file=plain_file)
                if kept is not None:
                    kept()
                return str(place)

        return Trial(_standing_words(standing), keep)


def _standing_words(standing: Standing) -> str:
    name = f" ({standing.name})" if standing.name else ""
    limits = ", ".join((*standing.orgs, *standing.repos))
    return f"scope {standing.scope}{name}" + (f", limited to {limits}" if limits else "")


@contextmanager
def _told() -> Generator[None]:
    """Turns the errors of the layers below into those of the port."""
    try:
        yield
    except NoKeyringError as problem:
        raise NoKeyring(str(problem)) from problem
    except (CommandError, ClientError, ConfigError) as problem:
        raise HostError(str(problem)) from problem
