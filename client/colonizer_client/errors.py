"""What can go wrong between a face and a server: whose fault it is, and whether trying again may help.

ClientError
├── LinkError                  the server could not be asked, or did not answer      (retryable)
│   ├── Unreachable            nothing was sent
│   └── NoReply                something was sent; whether it took effect is unknown
├── Refusal                    the server understood and said no
│   ├── SignInNeeded           401: the token is missing, wrong or revoked
│   ├── Forbidden              403: the token's scope or limits do not cover it
│   ├── NotFound               404: no such thing, or outside the token's limits
│   ├── Conflict               409: the state does not allow it
│   └── TooMany                429: a cap of the token is reached
├── ServerFault                5xx: the server failed                                (retryable)
├── Unreadable                 the reply is not what the specification says
│   └── NotJson                nor is it JSON at all
├── BadRequest                 what we were asked to send can be sent to no server
├── UnmatchedAnswer            the given text or choice is no answer to the open question
├── NothingToAnswer            the open question carries no questions
├── OnItsWay                   another face is delivering it, or did so already
├── ToolFailed                 the tool of an MCP server answered with an error
│   └── RateLimited            it was called too often                               (retryable)
├── NotOffered                 the server has no such tool
├── ConsentNeeded              the command was not agreed to in these words
├── EmptyQuery                 the search has nothing to look for
├── EngineUnavailable          the local engine cannot be started or reached
└── StoreError                 the cockpit's own database cannot be read or written
"""

from collections.abc import Mapping


class ClientError(Exception):
    """The base of all errors of the client layer; its text is one sentence for a person."""

    retryable = False


class LinkError(ClientError):
    """The server could not be asked, or did not answer."""

    retryable = True


class Unreachable(LinkError):
    """No connection came about, so that nothing was sent."""


class NoReply(LinkError):
    """The request was sent, at least in part, and no whole reply came back."""


class Refusal(ClientError):
    """The server said no. `status` is the HTTP status; the text is the server's own words, made safe to show."""

    def __init__(self, message: str, *, status: int, body: Mapping[str, object] | None = None) -> None:
        super().__init__(message)
        self.status = status
        self.body: Mapping[str, object] = body or {}
        """The reply's JSON object as it came, raw: never draw it."""


class SignInNeeded(Refusal):
    """401: the token is missing, wrong or revoked. Asking again without a new token is pointless."""

    @classmethod
    def without_token(cls, name: str, address: str) -> "SignInNeeded":
        """What is said of an endpoint for whose address no token is kept."""
        words = f"no token is kept for {address}: sign in with `colonizer connect login {name}`"
        return cls(words, status=401)


class Forbidden(Refusal):
    """403: the token's scope or limits do not cover this."""


class NotFound(Refusal):
    """404: there is no such thing, or it lies outside the token's limits."""


class Conflict(Refusal):
    """409: the state of the colony, or of its issue, does not allow this."""


class TooMany(Refusal):
    """429: a cap of the token is reached."""


class ServerFault(ClientError):
    """The server failed to do it (5xx). Whether it took effect is unknown."""

    retryable = True

    def __init__(self, message: str, *, status: int) -> None:
        super().__init__(message)
        self.status = status


class Unreadable(ClientError):
    """A reply came that is not what the specification says; the text shows its beginning."""


class NotJson(Unreadable):
    """What came is no JSON at all, such as a page of HTML."""


class BadRequest(ClientError):
    """An id or name that can be part of no request, such as an empty id or one with a slash."""


class UnmatchedAnswer(ClientError):
    """The given text or choice is no answer to the open question."""


class NothingToAnswer(ClientError):
    """The open question carries no questions."""


class OnItsWay(ClientError):
    """What was to be delivered is on its way already, or was delivered, by this face or another one."""


class ToolFailed(ClientError):
    """A tool answered with an error; the text is the server's own words, made safe to show."""

    def __init__(self, message: str, *, code: str = "") -> None:
        super().__init__(message)
        self.code = code
        """The server's own word for the kind of error, safe to show; empty where it has none."""


class RateLimited(ToolFailed):
    """The server refuses calls for a moment, since it had too many of them, ours or others'."""

    retryable = True


class NotOffered(ClientError):
    """The server lists no such tool, so that it was not called."""


class ConsentNeeded(ClientError):
    """A command runs only after the person agreed to its exact words."""


class EmptyQuery(ClientError):
    """The search has nothing to look for."""


class EngineUnavailable(ClientError):
    """The local engine cannot be started or reached; the text says why and what to do."""


class StoreError(ClientError):
    """The cockpit's database, or its log of what was done, cannot be read or written."""


UNKNOWN_FATE = (NoReply, ServerFault, Unreadable)
"""After these a server may have done what it was asked, or not."""
