"""What a server answered, and its refusals as errors (spec 2.2)."""

from collections.abc import Callable, Mapping
from email.utils import parsedate_to_datetime
from http import HTTPStatus
from typing import NoReturn, TypeVar

from colonizer_client.errors import (
    Conflict,
    Forbidden,
    NotFound,
    NotJson,
    Refusal,
    ServerFault,
    SignInNeeded,
    TooMany,
    Unreadable,
)
from colonizer_client.mothership import wire
from colonizer_client.text import safe_line, safe_text
from colonizer_config.value import Value

T = TypeVar("T")

ERROR_TEXT_LIMIT = 500
JSON_ERROR_LIMIT = 20_000

_REFUSALS: dict[int, type[Refusal]] = {401: SignInNeeded, 403: Forbidden, 404: NotFound, 409: Conflict, 429: TooMany}


def clock_skew_s(date: str, now: float) -> float | None:
    """How far a server's clock is ahead of ours, which says `now`, by its `Date`; None where that tells no time."""
    try:
        return parsedate_to_datetime(date).timestamp() - now
    except (ValueError, TypeError, OverflowError):
        return None


class Reply(Value):
    """A whole HTTP reply. `date` is the server's `Date` header as it came, for the clock's skew."""

    status: int
    body: bytes
    content_type: str = ""
    date: str = ""

    def body_of_success(self) -> bytes:
        """The body of a 2xx.

        Raises:
            Refusal: A subclass for the status, with the server's words.
            ServerFault: A 5xx.
            Unreadable: A redirect, which is never followed, or another status that is no answer.
        """
        if 200 <= self.status < 300:
            return self.body
        if 300 <= self.status < 400:
            raise Unreadable(f"the server redirects ({self.status}); a token is never sent along: check the address")
        fields = self._fields()
        words = self._error_words(fields.get("error"))
        if self.status >= 500:
            raise ServerFault(words, status=self.status)
        if self.status >= 400:
            raise _REFUSALS.get(self.status, Refusal)(words, status=self.status, body=fields)
        raise Unreadable(f"an answer with status {self.status}")

    def _fields(self) -> Mapping[str, object]:
        try:
            return wire.mapping(wire.parse(self.body)) if self.body else {}
        except Unreadable:
            return {}

    def _error_words(self, error: object) -> str:
        """The server's own words, else the status line."""
        if isinstance(error, str) and error:
            return safe_text(error, limit=JSON_ERROR_LIMIT)
        text = self.body.decode("utf-8", "replace").strip()
        if text and "html" not in self.content_type:
            return safe_text(text, limit=ERROR_TEXT_LIMIT)
        return f"{self.status} {status_phrase(self.status)}".strip()


def refuse_encoding(encoding: str) -> None:
    """Returns where a reply's `Content-Encoding` is none: that is what was asked for, and what cannot be a bomb.

    Raises:
        Unreadable: It is another one.
    """
    if encoding.strip().lower() not in ("", "identity"):
        raise Unreadable(f"a reply in an encoding that was not asked for: {safe_line(encoding, limit=100)}")


def refuse_socket(status: int, body: bytes | bytearray | None, content_type: str) -> NoReturn:
    """Raises what a server answered in place of opening a WebSocket.

    Raises:
        ClientError: As `Reply.body_of_success`; `Unreadable` where it was no refusal either.
    """
    Reply(status, bytes(body or b""), content_type).body_of_success()
    raise Unreadable(f"the server answered a socket with status {status}")


def json_of(reply: Reply) -> object:
    """The JSON of a 2xx; raises as `read_of`."""
    return read_of(reply, wire.parse)


def read_of(reply: Reply, read: Callable[[bytes], T]) -> T:
    """What is read of a 2xx. A page of HTML with 200, as older servers send for unknown routes, is unreadable.

    Raises:
        ClientError: As `Reply.body_of_success` and `read`; `Unreadable` where the body is no JSON.
    """
    body = reply.body_of_success()
    try:
        return read(body)
    except NotJson as problem:
        line = f"{reply.status} {status_phrase(reply.status)}"
        raise Unreadable(f"the mothership answered {line} with something but JSON: {wire.excerpt(body)}") from problem


def status_phrase(status: int) -> str:
    """The standard words of an HTTP status, empty where there are none."""
    try:
        return HTTPStatus(status).phrase
    except ValueError:
        return ""
