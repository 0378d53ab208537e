"""Which endpoints there are, and which one a command means."""

from collections.abc import Iterable, Mapping
from enum import StrEnum

from colonizer_config.address import MOTHERSHIP_PORT, Address, HttpAddress, SocketAddress, parse_bind, parse_host
from colonizer_config.errors import SettingsError
from colonizer_config.paths import Paths
from colonizer_config.settings import LOCAL, PUBLISHED, EndpointName, Kind, Settings
from colonizer_config.value import Value


class Origin(StrEnum):
    """Why an endpoint is there; its token is looked for accordingly."""

    BUILT_IN = "built in"
    FOUND = "found on this machine"
    SETTINGS = "settings"
    NAMED = "named on the command line"


class Endpoint(Value):
    """One connection that exists."""

    name: EndpointName
    """Unique among those of one command; of a named host, the host as it was written."""
    kind: Kind
    address: Address
    origin: Origin
    tags: tuple[str, ...] = ()


def known_endpoints(paths: Paths, settings: Settings) -> tuple[Endpoint, ...]:
    """Every endpoint: the embedded one first, then a published mothership of this machine, then those of the settings.

    Raises:
        AddressError: An address of `settings` names nothing; those that were read from a file have been checked.
    """
    local = Endpoint(LOCAL, Kind.MOTHERSHIP, SocketAddress(paths.socket(paths.engine)), Origin.BUILT_IN)
    published = Endpoint(PUBLISHED, Kind.MOTHERSHIP, HttpAddress("http", "127.0.0.1", MOTHERSHIP_PORT), Origin.FOUND)
    return (
        local,
        *([published] if paths.published_token.is_file() else []),
        *(Endpoint(row.name, row.kind, row.target, Origin.SETTINGS, row.tags) for row in settings.endpoints),
    )


def known_servers(paths: Paths, settings: Settings) -> tuple[Endpoint, ...]:
    """Every MCP server: the embedded kernel first, which has the name of the embedded mothership, then the settings'.

    Raises:
        AddressError: As `known_endpoints`.
    """
    embedded = Endpoint(LOCAL, Kind.KERNEL, SocketAddress(paths.socket(paths.engine)), Origin.BUILT_IN)
    return (embedded, *(found for found in known_endpoints(paths, settings) if found.kind is not Kind.MOTHERSHIP))


def known_kernels(paths: Paths, settings: Settings) -> tuple[Endpoint, ...]:
    """Every kernel: the embedded one first, then those of the settings.

    Raises:
        AddressError: As `known_endpoints`.
    """
    return tuple(found for found in known_servers(paths, settings) if found.kind is Kind.KERNEL)


def default_endpoint(endpoints: Iterable[Endpoint], settings: Settings) -> Endpoint:
    """The endpoint that `launch` and `mcp` mean when no host is named.

    Raises:
        SettingsError: The settings name one that does not exist here.
    """
    wanted = settings.default_endpoint
    for endpoint in endpoints:
        if endpoint.name == wanted:
            return endpoint
    reason = ": no mothership has been started on this machine" if wanted == PUBLISHED else ""
    raise SettingsError(f"default_endpoint is {wanted}, which does not exist here{reason}")


def named_host(flag: str | None, environment: Mapping[str, str]) -> Endpoint | None:
    """The mothership that `--host` or `COLONIZER_BIND` names, the flag first (spec 2.1); None where neither does.

    Args:
        flag: The value of `--host`, or None where it was not given.
        environment: The environment of the command.

    Raises:
        AddressError: What names it is not a host.
    """
    bind = environment.get("COLONIZER_BIND", "")
    if flag is not None:
        address = parse_host(flag)
    elif bind.strip():
        address = parse_bind(bind)
    else:
        return None
    return Endpoint(EndpointName(address.authority), Kind.MOTHERSHIP, address, Origin.NAMED)
