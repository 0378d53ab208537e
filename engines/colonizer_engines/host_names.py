"""Whether a request over the network names this host: a page of somebody else's, made to point here, names another."""

import re
from collections.abc import Iterable

_AUTHORITY = re.compile(r"(\[[^\]]*\]|[^:]*)(:\d*)?")
_LOOPBACK = frozenset({"localhost", "127.0.0.1", "[::1]"})


class HostNames:
    """The names by which clients may call this host; those of its loopback are always among them."""

    def __init__(self, others: Iterable[str] = ()) -> None:
        self._names = _LOOPBACK | {name.lower() for name in others}

    def allow_host(self, header: str) -> bool:
        """Whether a `Host` header names it, whatever the port."""
        named = _AUTHORITY.fullmatch(header.lower())
        return named is not None and named[1] in self._names

    def allow_origin(self, header: str | None) -> bool:
        """Whether an `Origin` header names it; programs that are no browsers send none."""
        if header is None:
            return True
        scheme, _, authority = header.partition("://")
        return scheme.lower() in ("http", "https") and self.allow_host(authority)
