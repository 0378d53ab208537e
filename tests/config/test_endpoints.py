import os

import pytest

from colonizer_config.address import HttpAddress, SocketAddress
from colonizer_config.endpoints import Endpoint, Origin, default_endpoint, known_endpoints, known_kernels, named_host
from colonizer_config.errors import AddressError, SettingsError
from colonizer_config.paths import Paths
from colonizer_config.settings import EndpointName, Kind, Settings, parse

TWO = parse(
    """
    default_endpoint = "hq"
    [[endpoints]]
    name = "safety"
    kind = "kernel"
    command = ["codomyrmex", "mcp"]
    [[endpoints]]
    name = "hq"
    kind = "mothership"
    address = "hq.example"
    tags = ["work"]
    """,
    "cockpit.toml",
)


def publish(paths: Paths) -> None:
    paths.config.mkdir(parents=True)
    paths.published_token.write_text("x", encoding="ascii")


def test_the_local_endpoint_always_exists(paths: Paths) -> None:
    [local] = known_endpoints(paths, Settings())
    socket = SocketAddress(paths.socket(paths.engine))
    assert local == Endpoint(EndpointName("local"), Kind.MOTHERSHIP, socket, Origin.BUILT_IN)


def test_a_published_mothership_exists_where_its_owner_token_does(paths: Paths) -> None:
    publish(paths)
    _, found = known_endpoints(paths, Settings())
    address = HttpAddress("http", "127.0.0.1", 7878)
    assert found == Endpoint(EndpointName("mothership"), Kind.MOTHERSHIP, address, Origin.FOUND)


def test_the_endpoints_of_the_settings_come_last_and_in_their_order(paths: Paths) -> None:
    publish(paths)
    endpoints = known_endpoints(paths, TWO)
    assert [endpoint.name for endpoint in endpoints] == ["local", "mothership", "safety", "hq"]
    assert endpoints[3] == Endpoint(
        EndpointName("hq"), Kind.MOTHERSHIP, HttpAddress("http", "hq.example", 7878), Origin.SETTINGS, ("work",)
    )


def test_a_folder_in_the_place_of_the_owner_token_is_no_mothership(paths: Paths) -> None:
    paths.published_token.mkdir(parents=True)
    assert len(known_endpoints(paths, Settings())) == 1


@pytest.mark.parametrize(("settings", "name"), [(Settings(), "local"), (TWO, "hq")])
def test_the_default_endpoint_is_the_one_that_is_set_else_the_local_one(
    paths: Paths, settings: Settings, name: str
) -> None:
    assert default_endpoint(known_endpoints(paths, settings), settings).name == name


def test_a_default_that_does_not_exist_on_this_machine_is_an_error(paths: Paths) -> None:
    settings = Settings(default_endpoint=EndpointName("mothership"))
    with pytest.raises(SettingsError, match="which does not exist here: no mothership has been started"):
        default_endpoint(known_endpoints(paths, settings), settings)
    publish(paths)
    assert default_endpoint(known_endpoints(paths, settings), settings).origin is Origin.FOUND


@pytest.mark.parametrize(
    ("flag", "bind", "url"),
    [
        ("hq", "other:1", "http://hq:7878"),
        ("hq", None, "http://hq:7878"),
        (None, "other:1", "http://other:1"),
        (None, "other", "http://other"),
    ],
)
def test_the_flag_names_the_host_before_the_environment(flag: str | None, bind: str | None, url: str) -> None:
    endpoint = named_host(flag, {} if bind is None else {"COLONIZER_BIND": bind})
    assert endpoint is not None
    assert isinstance(endpoint.address, HttpAddress)
    assert endpoint.address.base_url == url
    assert (endpoint.origin, endpoint.name) == (Origin.NAMED, endpoint.address.authority)


@pytest.mark.parametrize("environment", [{}, {"COLONIZER_BIND": ""}, {"COLONIZER_BIND": "  \t"}])
def test_no_host_is_named_by_a_blank_environment(environment: dict[str, str]) -> None:
    assert named_host(None, environment) is None


def test_an_empty_flag_names_no_host_and_does_not_fall_through(paths: Paths) -> None:
    with pytest.raises(AddressError, match="--host names no host"):
        named_host("", {"COLONIZER_BIND": "other:1"})


def test_a_wrong_host_of_the_environment_is_named_by_its_variable() -> None:
    with pytest.raises(AddressError, match=r"^COLONIZER_BIND takes a host or host:port, not a URL"):
        named_host(None, {**os.environ, "COLONIZER_BIND": "http://hq"})


def test_the_embedded_kernel_comes_before_those_of_the_settings() -> None:
    found = known_kernels(Paths.from_environment(), TWO)
    assert [(kernel.name, kernel.kind, kernel.origin) for kernel in found] == [
        ("local", Kind.KERNEL, Origin.BUILT_IN),
        ("safety", Kind.KERNEL, Origin.SETTINGS),
    ]
