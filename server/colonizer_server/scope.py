"""How far a session's tools reach (spec 5.1)."""

from enum import IntEnum

from colonizer_client.mothership.models import Standing


class Scope(IntEnum):
    """What a session may do; each one may do what those before it may."""

    READ = 1
    OPERATE = 2
    LAUNCH = 3

    @property
    def word(self) -> str:
        """As it is written on the command line and in a token."""
        return self.name.lower()

    @classmethod
    def named(cls, word: object) -> "Scope":
        """The scope of that name; whatever else is read as the least one."""
        return next((scope for scope in cls if scope.word == word), cls.READ)


def session_scope(standing: Standing, asked: Scope | None) -> Scope:
    """What a session with this token may do: a scoped token what it says, an owner's only what was asked for."""
    if standing.is_owner:
        return asked or Scope.READ
    own = Scope.named(standing.scope)
    return own if asked is None else min(own, asked)
