"""Addresses in texts from outside, judged before a browser is given one."""

import re
from collections.abc import Iterator
from urllib.parse import SplitResult, quote, urlsplit, urlunsplit

from colonizer_config.value import Value

_ADDRESS = re.compile(r"https?://(\[[0-9a-f:.]+\])?[^\s<>\"'`|\\^{}\[\]⟨⟩␀-␡\0-\x1f\x7f-\x9f]*", re.IGNORECASE)
_HOST = re.compile(r"[0-9a-z_-]+(\.[0-9a-z_-]+)*\.?|[0-9a-f:.]*:[0-9a-f:.]*")
_PATH_SIGNS = "/%:@!$&'()*+,;=~-._"


class Link(Value):
    """An address that a browser may be given."""

    address: str
    """In ASCII, every odd letter encoded."""
    host: str
    """Where it leads, in ASCII, with the port where one is named."""
    letters: str = ""
    """The host as a browser may show it, where it is written with letters beyond ASCII."""

    @property
    def warning(self) -> str:
        """What to know before it is opened; empty for nothing."""
        if not self.letters:
            return ""
        return f"The name is written with other letters, {self.letters}: it may only look like one that you know."


def links(text: str) -> tuple[Link, ...]:
    """The links in a text, each once, in order."""
    found = dict.fromkeys(filter(None, map(link, _candidates(text))))
    return tuple(found)


def link(address: str) -> Link | None:
    """The link of an address; None where it is none of http or https, or hides where it leads."""
    if _ADDRESS.fullmatch(address) is None:
        return None
    try:
        parts = urlsplit(address)
        host, port = parts.hostname or "", parts.port
        plain = host if ":" in host else host.encode("idna").decode("ascii")
        letters = plain if ":" in host else plain.encode("ascii").decode("idna")
    except ValueError:  # also what Python says of a host that is no name
        return None
    if _HOST.fullmatch(plain) is None or "@" in parts.netloc:
        return None
    shown = f"[{plain}]" if ":" in plain else plain
    place = shown if port is None else f"{shown}:{port}"
    return Link(_address(parts, place), place, letters if letters != plain else "")


def _address(parts: SplitResult, place: str) -> str:
    path, query, fragment = (quote(part, safe=f"{_PATH_SIGNS}?") for part in (parts.path, parts.query, parts.fragment))
    return urlunsplit((parts.scheme.lower(), place, path, query, fragment))


def _candidates(text: str) -> Iterator[str]:
    for found in _ADDRESS.finditer(text):
        yield _without_punctuation(found[0])


def _without_punctuation(address: str) -> str:
    """The address without the signs of the sentence around it."""
    while address:
        last = address[-1]
        if last in ".,;:!?…*" or (last == ")" and address.count(")") > address.count("(")):
            address = address[:-1]
        else:
            break
    return address
