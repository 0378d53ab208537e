"""Access: the owner's token, tokens with a scope, and what each of them may see and do (spec 2.2–2.4)."""

import hashlib
import hmac
import secrets
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from enum import IntEnum
from typing import NewType

from msgspec import UNSET, UnsetType

from colonizer_engines.mothership.clock import Clock, rfc3339
from colonizer_engines.mothership.errors import Refusal
from colonizer_engines.mothership.wire import as_array

TokenId = NewType("TokenId", str)

NAME_LIMIT_BYTES = 120

_USE_NOTED_EVERY = timedelta(minutes=1)
_LONG_AGO = datetime.min.replace(tzinfo=UTC)


class Scope(IntEnum):
    """How much a caller may do; a greater one may do all that a lesser one may."""

    ANYBODY = 0
    READ = 1
    OPERATE = 2
    LAUNCH = 3
    OWNER = 4

    @property
    def word(self) -> str:
        """Its word on the wire."""
        return self.name.lower()


GIVEN_SCOPES: Mapping[str, Scope] = {scope.word: scope for scope in (Scope.READ, Scope.OPERATE, Scope.LAUNCH)}
"""The scopes that a token can be made with."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TokenRecord:
    """What is kept and shown of a token: everything but its secret."""

    id: TokenId
    name: str
    scope: str
    orgs: tuple[str, ...] = ()
    repos: tuple[str, ...] = ()
    max_concurrent: int | UnsetType = UNSET
    budget_usd_per_day: float | UnsetType = UNSET
    created_at: str
    last_used_at: str | UnsetType = UNSET


@dataclass(frozen=True, slots=True)
class Caller:
    """Who makes a request."""

    scope: Scope
    token: TokenRecord | None = None
    """What is known of a token with a scope; None for the owner and for nobody."""

    @property
    def is_owner(self) -> bool:
        """Whether it is the owner."""
        return self.scope is Scope.OWNER

    def sees(self, repository: str) -> bool:
        """Whether the caller's limits include the repository; both limits must, and an empty one is none."""
        if self.token is None:
            return True
        name = repository.lower()
        orgs = [org.lower() for org in self.token.orgs]
        repos = [repo.lower() for repo in self.token.repos]
        return (not orgs or name.partition("/")[0] in orgs) and (not repos or name in repos)

    def marked(self, text: str) -> str:
        """The text as it reaches an agent: what a token sends is marked as coming from outside."""
        if self.token is None:
            return text
        return f'[external input from API token "{self.token.name}"] {text}'.rstrip()


OWNER = Caller(Scope.OWNER)
NOBODY = Caller(Scope.ANYBODY)
"""Somebody without a valid token."""


class Tokens:
    """Every token that is valid now."""

    def __init__(self, owner_secret: str, records: Mapping[str, TokenRecord], clock: Clock) -> None:
        self._clock = clock
        self._used: dict[TokenId, datetime] = {}
        self._owner_digest = digest(owner_secret)
        self._records = dict(records)
        self._watchers: dict[TokenId, set[Callable[[], None]]] = {}

    def caller(self, secret: str) -> Caller | None:
        """Whose secret this is, or None where it is nobody's."""
        found = digest(secret)
        if hmac.compare_digest(found, self._owner_digest):
            return OWNER
        record = self._records.get(found)
        if record is None:
            return None
        now = self._clock.now()
        if now - self._used.get(record.id, _LONG_AGO) >= _USE_NOTED_EVERY:
            self._used[record.id] = now
        return Caller(GIVEN_SCOPES[record.scope], record)

    def records(self) -> list[TokenRecord]:
        """All scoped tokens, oldest first, with the time of their last use in this engine's life."""
        records = sorted(self._records.values(), key=lambda record: record.created_at)
        used = self._used
        return [
            replace(record, last_used_at=rfc3339(used[record.id])) if record.id in used else record
            for record in records
        ]

    def find(self, token: str) -> TokenRecord | None:
        """The token with this id."""
        return next((record for record in self._records.values() if record.id == token), None)

    def add(self, secret_digest: str, record: TokenRecord) -> None:
        """Makes a stored token valid."""
        self._records[secret_digest] = record

    def revoke(self, token: TokenId) -> None:
        """Makes a token invalid, and tells those who hold a connection with it."""
        self._records = {key: record for key, record in self._records.items() if record.id != token}
        for revoked in tuple(self._watchers.pop(token, ())):
            revoked()

    def watch(self, caller: Caller, revoked: Callable[[], None]) -> Callable[[], None]:
        """Has `revoked` called when the caller's token ends; yields what ends the watching."""
        if caller.token is None:
            return lambda: None
        watchers = self._watchers.setdefault(caller.token.id, set())
        watchers.add(revoked)
        return lambda: watchers.discard(revoked)


def digest(secret: str) -> str:
    """The SHA-256 that stands for the secret."""
    return hashlib.sha256(secret.encode("utf-8", "surrogateescape")).hexdigest()


def new_token(
    fields: Mapping[str, object],
    created_at: str,
) -> tuple[str, TokenRecord]:
    """A new secret and what is kept of it, from the body of a request whose types are right.

    Raises:
        Refusal: 400, a value means nothing.
    """
    name = str(fields["name"]).strip()
    size = len(name.encode())
    if not name:
        raise Refusal(400, "name is required")
    if size > NAME_LIMIT_BYTES:
        raise Refusal(400, f"name is {size} characters; keep it under {NAME_LIMIT_BYTES}")
    if fields["scope"] not in GIVEN_SCOPES:
        raise Refusal(400, f"scope must be one of: {', '.join(GIVEN_SCOPES)}")
    orgs, repos = _names(fields.get("orgs")), _names(fields.get("repos"))
    for org in orgs:
        if not org or "/" in org:
            raise Refusal(400, f'orgs entries must be organization names, not repositories (got "{org}")')
    for repo in repos:
        owner, slash, rest = repo.partition("/")
        if not (owner and slash and rest) or "/" in rest:
            raise Refusal(400, f'repos entries must be owner/repo (got "{repo}")')
    record = TokenRecord(
        id=TokenId(f"tok_{secrets.token_hex(4)}"),
        name=name,
        scope=str(fields["scope"]),
        orgs=orgs,
        repos=repos,
        max_concurrent=_cap(fields.get("max_concurrent")),
        budget_usd_per_day=_budget(fields.get("budget_usd_per_day")),
        created_at=created_at,
    )
    return f"col_{secrets.token_hex(32)}", record


def _names(value: object) -> tuple[str, ...]:
    return tuple(str(name).strip() for name in as_array(value) or ())


def _cap(value: object) -> int | UnsetType:
    if not isinstance(value, int):
        return UNSET
    if value < 1:
        raise Refusal(400, "max_concurrent must be at least 1")
    return value


def _budget(value: object) -> float | UnsetType:
    if not isinstance(value, int | float):
        return UNSET
    if not 0 < value < float("inf"):
        raise Refusal(400, "budget_usd_per_day must be a positive number of dollars")
    return float(value)
