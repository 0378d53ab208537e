"""Where a server is: the ways in which a person writes an address, and what they mean.

An address never holds a secret. Text that could (a user name with a password, a query) is refused without being
repeated, and a sign-in link is taken apart first.
"""

import hashlib
import ipaddress
import re
from pathlib import Path
from typing import Literal, NamedTuple, TypeAlias, cast
from urllib.parse import parse_qsl

from colonizer_config.errors import AddressError, SecretError
from colonizer_config.token import Token
from colonizer_config.value import Value

MOTHERSHIP_PORT = 7878
"""The port of a mothership whose address names none (spec 2.1)."""

_SSH_FORM = "ssh://[user@]host[:port][/port of the mothership there]"
_SCHEME_PORTS = {"http": 80, "https": 443}

# At most 63 characters a label, as in DNS: a token that was pasted in the place of a host is longer.
_HOST_NAME = re.compile(r"(?=.{1,253}\Z)[A-Za-z0-9_](?:[A-Za-z0-9_-]{0,62})(?:\.[A-Za-z0-9_][A-Za-z0-9_-]{0,62})*\.?")
_SSH_USER = re.compile(r"[A-Za-z0-9_][A-Za-z0-9._-]{0,63}")
_URL_PATH = re.compile(r"/[A-Za-z0-9._~!$&'()*+,;=:%/-]*")


class HttpAddress(Value):
    """A server that speaks HTTP."""

    scheme: Literal["http", "https"]
    host: str
    """As it was written, without brackets."""
    port: int | None = None
    """None is the scheme's own."""
    path: str = ""
    """Empty, or from its slash on: where below the host the server begins."""

    @property
    def named_host(self) -> str:
        """The host as the `Host` header has it before the port."""
        return f"[{self.host}]" if ":" in self.host else self.host

    @property
    def authority(self) -> str:
        """Host and port as the `Host` header has them."""
        return self.named_host if self.port is None else f"{self.named_host}:{self.port}"

    @property
    def base_url(self) -> str:
        """The address as a URL, without a route."""
        return f"{self.scheme}://{self.authority}{self.path}"

    @property
    def identity(self) -> str:
        """What a token is bound to: the same for each way to write one server, different for any other."""
        host = _canonical_host(self.host)
        host = f"[{host}]" if ":" in host else host
        return f"{self.scheme}://{host}:{self.port or _SCHEME_PORTS[self.scheme]}{self.path}"

    @property
    def is_loopback(self) -> bool:
        """Whether what is sent there stays on this machine."""
        host = _canonical_host(self.host)
        ip = _ip(host)
        if ip is None:
            return host == "localhost" or host.endswith(".localhost")
        return ip.is_loopback or ip.is_unspecified

    @property
    def is_everywhere(self) -> bool:
        """Whether it means every address of this machine, for whoever listens there."""
        ip = _ip(_canonical_host(self.host))
        return ip is not None and ip.is_unspecified

    @property
    def is_exposed(self) -> bool:
        """Whether others on the way can read what is sent there, the token included."""
        return self.scheme == "http" and not self.is_loopback

    def url(self, route: str) -> str:
        """The URL of a route, which begins with a slash."""
        return f"{self.base_url.rstrip('/')}{route}"

    def __str__(self) -> str:
        return self.base_url


class SshAddress(Value):
    """A mothership that is reached through ssh, on the loopback of the machine that ssh leads to."""

    host: str
    """A name or an alias of the person's ssh configuration; it never begins with a dash."""
    user: str | None = None
    """None is what the ssh configuration says."""
    port: int | None = None
    """Of ssh itself. None is what the ssh configuration says."""
    far_port: int = MOTHERSHIP_PORT
    """Where the mothership listens on its own machine."""

    @property
    def destination(self) -> str:
        """The destination argument of the ssh program, the port left out."""
        return self.host if self.user is None else f"{self.user}@{self.host}"

    @property
    def identity(self) -> str:
        """What a token is bound to: the ssh target, whatever local port is forwarded to it."""
        user = "" if self.user is None else f"{self.user}@"
        host = _canonical_host(self.host)
        host = f"[{host}]" if ":" in host else host
        port = "" if self.port is None else f":{self.port}"
        far_port = "" if self.far_port == MOTHERSHIP_PORT else f"/{self.far_port}"
        return f"ssh://{user}{host}{port}{far_port}"

    def __str__(self) -> str:
        return self.identity


class SocketAddress(Value):
    """The private socket of a local engine."""

    path: Path

    @property
    def identity(self) -> str:
        """The socket's own path."""
        return f"unix:{self.path}"

    def __str__(self) -> str:
        return self.identity


class StdioAddress(Value):
    """An MCP server that is started as a child process and spoken to over its stdin and stdout."""

    command: tuple[str, ...]
    env: tuple[str, ...] = ()
    """Names only: the values are taken from the environment of who starts it."""

    @property
    def identity(self) -> str:
        """A hash of the exact words, to which the person's consent is bound: changed words are another command."""
        words = ascii((self.command, self.env))
        return f"stdio:{hashlib.sha256(words.encode('ascii')).hexdigest()}"

    def __str__(self) -> str:
        return f"stdio:{self.command[0]}"


Address: TypeAlias = HttpAddress | SshAddress | SocketAddress | StdioAddress
"""Every way in which an endpoint is reached."""


class SignInLink(NamedTuple):
    """A pasted link, taken apart."""

    address: HttpAddress
    token: Token | None


def parse_host(text: str, *, source: str = "--host") -> HttpAddress:
    """The mothership that `HOST[:PORT]` names, by the rules of spec 2.1.

    A bare name gets the port 7878; one colon is kept as written; two or more without brackets are an IPv6 address.

    Args:
        text: What the person wrote.
        source: Where it was written, for the error.

    Raises:
        AddressError: It is a URL, has an open bracket, or names no host.
    """
    _refuse_url(text, source)
    if "[" not in text and text.count(":") > 1:
        text = f"[{text}]"
    host, port = _split_port(text, source)
    return HttpAddress("http", host, MOTHERSHIP_PORT if port is None else port)


def parse_bind(text: str, *, source: str = "COLONIZER_BIND") -> HttpAddress:
    """The mothership that the environment names: as it is written, no port added (spec 2.1).

    Raises:
        AddressError: It is a URL or names no host.
    """
    _refuse_url(text, source)
    return HttpAddress("http", *_split_port(text, source))


def parse_address(text: str, *, source: str = "address") -> HttpAddress | SshAddress:
    """What the settings write: `HOST[:PORT]`, `http://…`, `https://…` or `ssh://[user@]host[:port][/far port]`.

    Raises:
        AddressError: It is none of these, or it holds a user name with a password, a query or a fragment.
    """
    scheme, separator, rest = text.partition("://")
    if not separator:
        return parse_host(text, source=source)
    match scheme.lower():
        case "http" | "https" as known:
            return _parse_url(known, rest, source)
        case "ssh":
            return _parse_ssh(rest, source)
        case _:
            raise AddressError(f"{source} begins with a scheme that is none of http, https and ssh")


def split_sign_in_link(text: str) -> SignInLink:
    """The address and the token of a pasted `http://host/?token=…`; a link without a token has None.

    Raises:
        AddressError: It is no http or https link, or its query holds anything but one token.
    """
    scheme, separator, rest = text.strip().partition("://")
    if not separator or scheme.lower() not in _SCHEME_PORTS:
        raise AddressError("a sign-in link begins with http:// or https://")
    bare, _, query = rest.partition("#")[0].partition("?")
    address = _parse_url(cast(Literal["http", "https"], scheme.lower()), bare, "the link")
    if not query:
        return SignInLink(address, None)
    match parse_qsl(query, keep_blank_values=True):
        case [("token", secret)]:
            try:
                return SignInLink(address, Token(secret))
            except SecretError as problem:
                raise AddressError(f"the link's token cannot be used: {problem}") from None
        case _:
            raise AddressError("a sign-in link's query is ?token=… and nothing else")


def _refuse_url(text: str, source: str) -> None:
    if "://" in text:
        raise AddressError(f"{source} takes a host or host:port, not a URL: drop the scheme")


def _parse_url(scheme: Literal["http", "https"], rest: str, source: str) -> HttpAddress:
    authority, slash, path = rest.partition("/")
    _refuse_secrets(rest, source)
    host, port = _split_port(authority, source)
    path = "" if path == "" else f"{slash}{path}"
    if path and (not _URL_PATH.fullmatch(path) or ".." in path.split("/")):
        raise AddressError(f"{source} has a path that no URL has")
    return HttpAddress(scheme, host, port, path)


def _parse_ssh(rest: str, source: str) -> SshAddress:
    user, at, target = rest.rpartition("@")
    if at and not _SSH_USER.fullmatch(user):
        raise AddressError(f"{source} is {_SSH_FORM}, without a password")
    target, _, far_port = target.partition("/")
    host, port = _split_port(target, source)
    return SshAddress(host, user if at else None, port, _port(far_port, source) if far_port else MOTHERSHIP_PORT)


def _split_port(text: str, source: str) -> tuple[str, int | None]:
    """Host and port of `host`, `host:port`, `[v6]` or `[v6]:port`."""
    _refuse_secrets(text, source)
    if text.startswith("["):
        host, closed, tail = text[1:].partition("]")
        if not closed:
            raise AddressError(f"{source} has a '[' without its ']'")
        if ":" not in host or "%" in host or _ip(host) is None or (tail and not tail.startswith(":")):
            raise AddressError(f"{source} has brackets around what is not an IPv6 address")
    else:
        host, colon, digits = text.partition(":")
        tail = colon + digits
        if "[" in host or "[" in tail:
            raise AddressError(f"{source} has a '[' in the wrong place")
        if ":" in digits:
            raise AddressError(f"{source} has more than one colon: an IPv6 address stands in brackets")
        if not _HOST_NAME.fullmatch(host):
            raise AddressError(f"{source} names no host: a name, an IP address, or either with :port")
    return host, _port(tail[1:], source) if tail else None


def _port(digits: str, source: str) -> int:
    if not re.fullmatch(r"[0-9]{1,5}", digits) or not 0 < int(digits) < 65536:
        raise AddressError(f"{source} has a port that is not a number from 1 to 65535")
    return int(digits)


def _refuse_secrets(text: str, source: str) -> None:
    if any(mark in text for mark in "@?#"):
        raise AddressError(f"{source} may not hold a user name, a password, a token or a query")


def _canonical_host(host: str) -> str:
    ip = _ip(host)
    return host.lower().removesuffix(".") if ip is None else str(ip)


def _ip(host: str) -> ipaddress.IPv4Address | ipaddress.IPv6Address | None:
    try:
        ip = ipaddress.ip_address(host)
    except ValueError:
        return None
    return getattr(ip, "ipv4_mapped", None) or ip
