"""The token of each endpoint: where it is looked for, where it is kept, and how it stays out of texts.

A stored token is filed under the address that it was stored for, never under an endpoint's name. So an endpoint whose
address changes has no token until the person signs in again, and no host is ever sent the token of another one.
"""

import contextlib
import hashlib
import re
from collections.abc import Iterable, Mapping
from enum import StrEnum
from pathlib import Path
from typing import NamedTuple

from colonizer_config.address import Address, HttpAddress, SshAddress
from colonizer_config.endpoints import Endpoint, Origin
from colonizer_config.errors import NoKeyringError, SecretError
from colonizer_config.paths import Paths
from colonizer_config.private_file import PRIVATE_FILE_LIMIT_BYTES, read_private, write_private
from colonizer_config.system_keyring import SystemKeyring
from colonizer_config.token import Token, redaction


class Place(StrEnum):
    """Where a token was found, in the words of the screen."""

    ENVIRONMENT = "COLONIZER_TOKEN"
    TOKEN_FILE = "--token-file"
    KEYRING = "keyring"
    PLAIN_FILE = "plain file"
    OWNER_FILE = "owner token of this machine"


class FoundToken(NamedTuple):
    """A token and where it is kept."""

    token: Token
    place: Place


class TokenStore:
    """The tokens of one person on one machine.

    Its calls read files and may wait for the keyring: up to 2 s to find a token, up to 30 s to store or delete one.
    """

    def __init__(self, paths: Paths, keyring: SystemKeyring | None = None) -> None:
        self._paths = paths
        self._keyring = keyring or SystemKeyring()

    def for_endpoint(self, endpoint: Endpoint) -> FoundToken | None:
        """The token of an endpoint that exists by itself or by the settings; never one of the environment.

        Raises:
            SecretError: A file is open to others, or the keyring has trouble and no file holds the token.
        """
        match endpoint.origin:
            case Origin.BUILT_IN:
                return _found(read_private(self._paths.engine.token), Place.OWNER_FILE, self._paths.engine.token)
            case Origin.FOUND:
                return self._owner_token()
            case Origin.SETTINGS:
                return self.stored(endpoint.address)
            case Origin.NAMED:
                raise ValueError("the token of a named host is found by for_named_host")

    def for_named_host(
        self, address: Address, environment: Mapping[str, str], token_file: Path | None = None
    ) -> FoundToken:
        """The token for the host that the command line or the environment names (spec 2.1).

        In this order: the environment, `--token-file`, the keyring, the file kept for this address, the owner token of
        this machine. The last one goes to whatever host was named, as in the published program.

        Raises:
            SecretError: There is none; a `--token-file` that has none ends the search.
        """
        if offered := environment.get("COLONIZER_TOKEN", "").strip():
            return FoundToken(_token(offered, "COLONIZER_TOKEN"), Place.ENVIRONMENT)
        if token_file is not None:
            return self._from_token_file(token_file)
        trouble = ""
        try:
            found = self.stored(address)
        except SecretError as problem:
            found, trouble = None, f"; {problem}"
        found = found or self._owner_token()
        if found is None:
            raise SecretError(
                "no API token: set COLONIZER_TOKEN or --token-file, or start `colonizer` once "
                f"(it writes {self._paths.published_token}){trouble}"
            )
        return found

    def stored(self, address: Address) -> FoundToken | None:
        """The token that was stored for this address, the keyring's before the plain file's.

        Raises:
            SecretError: The file is open to others, or the keyring has trouble and no file holds the token.
        """
        if not isinstance(address, HttpAddress | SshAddress):
            return None
        trouble: SecretError | None = None
        try:
            kept = self._keyring.get(address.identity)
        except NoKeyringError:
            kept = None
        except SecretError as problem:
            kept, trouble = None, problem
        if kept is not None:
            return FoundToken(_token(kept, "the keyring's entry"), Place.KEYRING)
        found = self._from_plain_file(address)
        if found is None and trouble is not None:
            raise trouble
        return found

    def store(self, address: Address, token: Token, *, plain_file: bool = False) -> Place:
        """Keeps the token for this address, in the place of an older one; where it is kept now.

        Args:
            address: What the token is bound to.
            token: The token.
            plain_file: Whether the person chose a plain file, after being told that it is one.

        Raises:
            NoKeyringError: There is no keyring, and a plain file was not chosen.
            SecretError: The place cannot be written, or such an address has no token.
            FolderError: The folder of the tokens belongs to somebody else.
        """
        bound = _bound(address)
        file = self._plain_file(bound)
        if plain_file:
            write_private(file, f"{bound.identity}\n{token.reveal()}\n")
            # An older token in the keyring would be found first. A keyring that has trouble has it for the reader too.
            with contextlib.suppress(SecretError):
                self._keyring.delete(bound.identity)
            return Place.PLAIN_FILE
        try:
            self._keyring.set(bound.identity, token.reveal())
        except NoKeyringError as problem:
            raise NoKeyringError(
                f"{problem}: the token can be kept in the plain file {file}, if you choose so"
            ) from None
        _remove(file)
        return Place.KEYRING

    def delete(self, address: Address) -> tuple[Place, ...]:
        """Forgets the token of this address; the places that held one.

        Raises:
            SecretError: A place has trouble and may still hold the token.
        """
        bound = _bound(address)
        places = [Place.PLAIN_FILE] if _remove(self._plain_file(bound)) else []
        with contextlib.suppress(NoKeyringError):
            if self._keyring.delete(bound.identity):
                places.append(Place.KEYRING)
        return tuple(places)

    def _owner_token(self) -> FoundToken | None:
        """The token that a published mothership wrote; its mode is the business of that program."""
        path = self._paths.published_token
        return _found(_read_any(path), Place.OWNER_FILE, path)

    def _from_token_file(self, path: Path) -> FoundToken:
        """The token of the file that the person named; they may have made it readable to others, as containers do."""
        found = _found(_read_any(path), Place.TOKEN_FILE, path)
        if found is None:
            raise SecretError(f"no token in {path}: set COLONIZER_TOKEN or write the token into the file")
        return found

    def _plain_file(self, address: HttpAddress | SshAddress) -> Path:
        return self._paths.tokens / hashlib.sha256(address.identity.encode()).hexdigest()[:32]

    def _from_plain_file(self, address: HttpAddress | SshAddress) -> FoundToken | None:
        """The token of our own file: the address that it is for, and the token, each in a line."""
        path = self._plain_file(address)
        text = read_private(path)
        if text is None:
            return None
        bound, _, secret = text.partition("\n")
        if bound != address.identity:
            raise SecretError(f"{path} holds the token of another address: remove it and sign in again")
        return _found(secret, Place.PLAIN_FILE, path)


def redact(text: str, tokens: Iterable[Token] = ()) -> str:
    """The text with known tokens, and all that has the shape of one, replaced by their lengths."""
    known = sorted((token.reveal() for token in tokens), key=len, reverse=True)
    if known:
        text = re.sub("|".join(map(re.escape, known)), lambda secret: redaction(len(secret[0])), text)
    return _SHAPES.sub(_masked, text)


_SHAPES = re.compile(
    r"col_[0-9A-Fa-f]{64}"
    r"|cph_[0-9A-Za-z_-]{8,}"
    r"|(?<![0-9A-Za-z])[0-9A-Fa-f]{64}(?![0-9A-Za-z])"
    r"|(?P<scheme>\b(?i:bearer)[ \t]+)[0-9A-Za-z._~+/=-]+"
)
"""Tokens of motherships and of phones, owner tokens, and whatever an `Authorization` header holds."""


def _masked(secret: re.Match[str]) -> str:
    kept = secret["scheme"] or ""
    return kept + redaction(len(secret[0]) - len(kept))


def _bound(address: Address) -> HttpAddress | SshAddress:
    if not isinstance(address, HttpAddress | SshAddress):
        raise SecretError("only a server that is reached over http, https or ssh has a token to keep")
    return address


def _found(text: str | None, place: Place, path: Path) -> FoundToken | None:
    secret = (text or "").strip()
    return FoundToken(_token(secret, str(path)), place) if secret else None


def _token(secret: str, source: str) -> Token:
    try:
        return Token(secret)
    except SecretError as problem:
        raise SecretError(f"{source}: {problem}") from None


def _read_any(path: Path) -> str | None:
    """The text of a file that another program or the person wrote; None where it cannot be read."""
    try:
        with path.open("rb") as file:
            return file.read(PRIVATE_FILE_LIMIT_BYTES).decode("utf-8", errors="replace")
    except OSError:
        return None


def _remove(path: Path) -> bool:
    try:
        path.unlink()
    except FileNotFoundError:
        return False
    except OSError as problem:
        raise SecretError(f"cannot remove {path}: {problem.strerror or problem}") from problem
    return True
