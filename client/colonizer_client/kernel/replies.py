"""What comes back from a tool of an MCP server, and the value within (kernel spec 2.4, 3).

Kernels wrap a value in three ways, and say that a call failed in three: the call's own flag, an error object in the
place of the value, and a list with one such object.
"""

from collections.abc import Mapping
from typing import NoReturn

from colonizer_client.errors import NotJson, NotOffered, RateLimited, ToolFailed, Unreadable
from colonizer_client.mothership import wire
from colonizer_config.value import Value

WRAPPINGS = 3
"""A value is taken out of at most so many `{"result": …}`."""

_LATER = frozenset({"RATE_LIMITED"})
_ABSENT = frozenset({"NOT_FOUND"})


class Reply(Value):
    """A tool's result as it came over the wire. Raw: nothing of it may be drawn."""

    structured: object = None
    """`structuredContent`, None where there is none."""
    text: str | None = None
    """The first block of text, None where there is none."""
    is_error: bool = False


def value_of(reply: Reply) -> object:
    """The value that the tool answered with.

    Raises:
        ToolFailed: It answered with an error.
        NotOffered: It says that there is no such tool.
        Unreadable: The reply holds no value.
    """
    if reply.is_error:
        _refuse(_failure(reply))
    value = _unwrapped(_parsed(reply) if reply.structured is None else reply.structured)
    # A query's answer is a list: it fails with a list that holds the error.
    rows = wire.sequence(value)
    error = wire.mapping(rows[0] if len(rows) == 1 else value).get("error")
    if error is not None:
        raise ToolFailed(wire.line(error) or "the kernel says that it failed, and not why")
    return value


def _parsed(reply: Reply) -> object:
    if reply.text is None:
        raise Unreadable("the kernel's reply is empty")
    return wire.parse(reply.text.encode("utf-8", "surrogatepass"))


def _unwrapped(value: object) -> object:
    for _ in range(WRAPPINGS):
        wrapping = wire.mapping(value)
        if list(wrapping) != ["result"]:
            break
        value = wrapping["result"]
    return value


def _failure(reply: Reply) -> Mapping[str, object]:
    """The error's fields; words without a form become its message."""
    if reply.structured is None and reply.text is not None:
        try:
            found = wire.maybe_mapping(_unwrapped(_parsed(reply)))
        except (NotJson, Unreadable):
            found = None
        return {"message": reply.text} if found is None else found
    return wire.mapping(_unwrapped(reply.structured))


def _refuse(failure: Mapping[str, object]) -> NoReturn:
    code = wire.word(failure.get("code"))
    words = wire.line(failure.get("message")) or wire.line(failure.get("error"))
    fields = "; ".join(
        f"{wire.line(row.get('field'))}: {wire.line(row.get('constraint'))}"
        for row in wire.mappings(failure.get("field_errors"))[:8]
    )
    said = " · ".join(filter(None, (words, fields))) or code or "the tool failed, and does not say why"
    if code in _LATER:
        raise RateLimited(said, code=code)
    if code in _ABSENT:
        raise NotOffered(said)
    raise ToolFailed(said, code=code)
