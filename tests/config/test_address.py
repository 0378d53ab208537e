import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from colonizer_config.address import (
    HttpAddress,
    SocketAddress,
    SshAddress,
    StdioAddress,
    parse_address,
    parse_bind,
    parse_host,
    split_sign_in_link,
)
from colonizer_config.errors import AddressError

OWNER_TOKEN = "0123456789abcdef" * 4


@pytest.mark.parametrize(
    ("written", "url"),
    [
        ("127.0.0.1", "http://127.0.0.1:7878"),
        ("localhost:17878", "http://localhost:17878"),
        ("127.0.0.1:1", "http://127.0.0.1:1"),
        ("::1", "http://[::1]:7878"),
        ("[::1]", "http://[::1]:7878"),
        ("[::1]:80", "http://[::1]:80"),
        ("fe80::1:2", "http://[fe80::1:2]:7878"),
        ("HQ.Tailnet", "http://HQ.Tailnet:7878"),
        ("my_box", "http://my_box:7878"),
    ],
)
def test_a_named_host_becomes_the_url_of_the_specification(written: str, url: str) -> None:
    assert parse_host(written).base_url == url


@pytest.mark.parametrize("written", ["http://hq", "https://hq:1", "ssh://hq", "://", "HTTP://hq"])
def test_a_url_as_a_named_host_is_told_to_drop_its_scheme(written: str) -> None:
    with pytest.raises(AddressError, match=r"^--host takes a host or host:port, not a URL: drop the scheme$"):
        parse_host(written)


@pytest.mark.parametrize(
    ("written", "reason"),
    [
        ("", "names no host"),
        ("  ", "names no host"),
        ("hq ", "names no host"),
        ("h q:80", "names no host"),
        ("hq/api", "names no host"),
        ("hq\n:80", "names no host"),
        ("\x1b[31mhq", "in the wrong place"),
        ("hq\x1b", "names no host"),
        ("-oProxyCommand=x", "names no host"),
        ("münchen", "names no host"),
        ("hq..example", "names no host"),
        (f"{'a' * 64}", "names no host"),
        (":7878", "names no host"),
        ("[::1", r"a '\[' without its '\]'"),
        ("hq[", "in the wrong place"),
        ("[hq]", "not an IPv6 address"),
        ("[127.0.0.1]", "not an IPv6 address"),
        ("[::1]x", "not an IPv6 address"),
        ("[fe80::1%eth0]", "not an IPv6 address"),
        ("a:b:c", "not an IPv6 address"),
        ("hq:", "a port that is not a number from 1 to 65535"),
        ("hq:0", "a port that is not"),
        ("hq:65536", "a port that is not"),
        ("hq:x", "a port that is not"),
        ("hq:+1", "a port that is not"),
        ("hq:١", "a port that is not"),
        ("me@hq", "may not hold a user name"),
        ("hq?token=x", "may not hold a user name, a password, a token or a query"),
        ("hq#x", "may not hold"),
    ],
)
def test_what_names_no_host_is_refused_with_its_reason(written: str, reason: str) -> None:
    with pytest.raises(AddressError, match=reason):
        parse_host(written)


@pytest.mark.parametrize(
    "written",
    [
        "me:hunter2pass@hq",
        "http://me:hunter2pass@hq",
        "https://hq/?token=hunter2pass",
        "ssh://me:hunter2pass@hq",
        "https://hunter2pass@hq",
        "hunter2pass://hq",
        "hq:hunter2pass",
        "https://hq/#hunter2pass",
        "https://hq/a?b@c/hunter2pass",
        OWNER_TOKEN,
        f"col_{OWNER_TOKEN}",
    ],
)
def test_an_error_never_repeats_what_could_be_a_secret(written: str) -> None:
    with pytest.raises(AddressError) as refused:
        parse_address(written)
    assert "hunter2pass" not in str(refused.value)
    assert OWNER_TOKEN not in str(refused.value)


def test_the_host_of_the_environment_is_used_as_it_is_written() -> None:
    assert parse_bind("127.0.0.1:17878").base_url == "http://127.0.0.1:17878"
    assert parse_bind("hq").base_url == "http://hq"
    assert parse_bind("[::1]").base_url == "http://[::1]"


def test_a_bare_ipv6_address_in_the_environment_is_told_to_stand_in_brackets() -> None:
    with pytest.raises(AddressError, match="COLONIZER_BIND has more than one colon: an IPv6 address stands in bracket"):
        parse_bind("::1")


@pytest.mark.parametrize(
    ("written", "address"),
    [
        ("hq", HttpAddress("http", "hq", 7878)),
        ("hq:80", HttpAddress("http", "hq", 80)),
        ("http://hq", HttpAddress("http", "hq")),
        ("https://hq", HttpAddress("https", "hq")),
        ("HTTPS://hq/", HttpAddress("https", "hq")),
        ("https://hq:8443/mcp", HttpAddress("https", "hq", 8443, "/mcp")),
        ("https://hq/mcp/", HttpAddress("https", "hq", None, "/mcp/")),
        ("https://[::1]:8443/mcp", HttpAddress("https", "::1", 8443, "/mcp")),
        ("ssh://hq", SshAddress("hq")),
        ("ssh://hq/", SshAddress("hq")),
        ("ssh://me@hq:2222", SshAddress("hq", "me", 2222)),
        ("ssh://me@hq:2222/7900", SshAddress("hq", "me", 2222, 7900)),
        ("ssh://hq/7878", SshAddress("hq")),
        ("ssh://me@[::1]:22", SshAddress("::1", "me", 22)),
    ],
)
def test_an_address_of_the_settings_is_typed(written: str, address: HttpAddress | SshAddress) -> None:
    assert parse_address(written) == address


@pytest.mark.parametrize(
    ("written", "reason"),
    [
        ("ftp://hq", "none of http, https and ssh"),
        ("https://", "names no host"),
        ("https:///mcp", "names no host"),
        ("https://hq/m cp", "a path that no URL has"),
        ("https://hq/../mcp", "a path that no URL has"),
        ("https://hq/\x1b[2J", "a path that no URL has"),
        ("https://hq/a\nHost: x", "a path that no URL has"),
        ("ssh://-oProxyCommand=x", "names no host"),
        ("ssh://-l@hq", "without a password"),
        ("ssh://me:x@hq", "without a password"),
        ("ssh://@hq", "without a password"),
        ("ssh://hq/srv", "a port that is not a number"),
        ("ssh://hq/99999", "a port that is not a number"),
    ],
)
def test_an_address_that_is_none_is_refused_with_its_reason(written: str, reason: str) -> None:
    with pytest.raises(AddressError, match=reason):
        parse_address(written)


@given(st.text(max_size=40))
def test_any_text_is_an_address_or_refused_and_an_address_shows_no_control_character(written: str) -> None:
    for parse in (parse_host, parse_bind, parse_address):
        try:
            said = str(parse(written))
        except AddressError as refused:
            said = str(refused)
        assert re.fullmatch(r"[\x20-\x7e]+", said)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("HQ:7878", "hq"),
        ("hq.", "hq:7878"),
        ("http://hq:7878", "hq"),
        ("[0:0::1]", "::1"),
        ("[::ffff:127.0.0.1]", "127.0.0.1"),
        ("https://hq", "https://HQ:443"),
        ("ssh://me@HQ", "ssh://me@hq/"),
    ],
)
def test_two_ways_to_write_one_server_have_one_identity(one: str, other: str) -> None:
    assert parse_address(one).identity == parse_address(other).identity


def test_another_scheme_host_port_user_or_path_is_another_identity() -> None:
    written = (
        "hq",
        "hq2",
        "hq:7879",
        "https://hq:7878",
        "https://hq:7878/mcp",
        "https://hq:7878/mcp2",
        "ssh://hq",
        "ssh://hq:7878",
        "ssh://me@hq",
        "ssh://you@hq",
        "[::1]:7878",
    )
    assert len({parse_address(text).identity for text in written}) == len(written)


@pytest.mark.parametrize(
    "written",
    ["localhost", "LOCALHOST.", "a.localhost", "127.0.0.1", "127.8.8.8", "::1", "[::ffff:127.0.0.1]", "0.0.0.0"],
)
def test_plain_http_to_this_machine_is_not_exposed(written: str) -> None:
    address = parse_host(written)
    assert address.is_loopback
    assert not address.is_exposed


@pytest.mark.parametrize("written", ["hq", "10.0.0.1", "localhost.example", "128.0.0.1", "fe80::1", "127.example"])
def test_plain_http_to_another_machine_is_exposed_and_https_is_not(written: str) -> None:
    address = parse_host(written)
    assert not address.is_loopback
    assert address.is_exposed
    assert not HttpAddress("https", address.host).is_exposed


def test_a_route_is_put_after_the_path_of_the_address_with_one_slash() -> None:
    assert parse_host("hq").url("/api/sessions") == "http://hq:7878/api/sessions"
    assert parse_address("https://gate/hq/") == HttpAddress("https", "gate", None, "/hq/")
    assert HttpAddress("https", "gate", None, "/hq/").url("/api/sessions") == "https://gate/hq/api/sessions"


def test_an_ssh_destination_leaves_the_port_out() -> None:
    assert SshAddress("hq", "me", 22).destination == "me@hq"
    assert SshAddress("hq").destination == "hq"


def test_a_command_is_known_by_its_exact_words_and_the_names_of_its_variables() -> None:
    commands = (
        StdioAddress(("npx", "server")),
        StdioAddress(("npx server",)),
        StdioAddress(("npx", "server", "")),
        StdioAddress(("npx", "server"), ("HOME",)),
        StdioAddress(("npx", "server", "HOME")),
    )
    assert len({command.identity for command in commands}) == len(commands)
    assert StdioAddress(("npx", "server")).identity == commands[0].identity


def test_a_command_and_a_socket_are_shown_without_arguments() -> None:
    assert str(StdioAddress(("npx", "--key=hunter2"))) == "stdio:npx"
    assert str(SocketAddress(Path("/run/x.sock"))) == "unix:/run/x.sock"


@pytest.mark.parametrize(
    "link", [f"http://hq:7878/?token={OWNER_TOKEN}", f"  http://hq:7878?token={OWNER_TOKEN}#top\n"]
)
def test_a_sign_in_link_is_split_into_address_and_token(link: str) -> None:
    address, token = split_sign_in_link(link)
    assert address == HttpAddress("http", "hq", 7878)
    assert token is not None
    assert token.reveal() == OWNER_TOKEN


def test_a_link_without_a_token_has_none() -> None:
    assert split_sign_in_link("https://hq/") == (HttpAddress("https", "hq"), None)


@pytest.mark.parametrize(
    "link",
    [
        "hq/?token=hunter2pass",
        "ftp://hq/?token=hunter2pass",
        "http://hq/?token=",
        "http://hq/?token=hunter2pass&x=1",
        "http://hq/?token=hunter2pass&token=hunter2pass",
        "http://hq/?key=hunter2pass",
        "http://hq/?token=hunter2pass%0d%0aX:%20y",
        "http://me:hunter2pass@hq/?token=hunter2pass",
        "http://hq/hunter2pass@x/?token=hunter2pass",
    ],
)
def test_a_link_that_holds_anything_else_is_refused_without_repeating_it(link: str) -> None:
    with pytest.raises(AddressError) as refused:
        split_sign_in_link(link)
    assert "hunter2pass" not in str(refused.value)
    assert refused.value.__cause__ is None
