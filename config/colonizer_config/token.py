"""A secret that does not show itself."""

import hmac
import re
from typing import NoReturn

from colonizer_config.errors import SecretError

TOKEN_LIMIT_CHARS = 8192
"""Far above any token in use; what is longer is some other file."""

_TOKEN = re.compile(rf"[\x21-\x7e]{{1,{TOKEN_LIMIT_CHARS}}}")


class Token:
    """A bearer token: printable ASCII without spaces. Only `reveal` gives it out.

    Raises:
        SecretError: The text is empty, too long, or holds characters that would be unsafe in an HTTP header.
    """

    __slots__ = ("_secret",)

    def __init__(self, secret: str) -> None:
        if not _TOKEN.fullmatch(secret):
            raise SecretError(
                f"this is no token: {len(secret)} characters, where printable ASCII without spaces is expected"
            )
        self._secret = secret

    def reveal(self) -> str:
        """The secret itself, for the header of one request and for nothing else."""
        return self._secret

    def __repr__(self) -> str:
        return f"Token({self})"

    def __str__(self) -> str:
        return redaction(len(self._secret))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Token) and hmac.compare_digest(self._secret, other._secret)

    def __hash__(self) -> int:
        return hash(self._secret)

    def __reduce__(self) -> NoReturn:
        raise TypeError("a token is not pickled or copied")


def redaction(length: int) -> str:
    """What stands on a screen or in a log in the place of a secret of `length` characters."""
    return f"‹redacted {length} chars›"
