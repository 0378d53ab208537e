"""The bodies and refusals that go back."""

from collections.abc import Mapping

from starlette.responses import Response

from colonizer_engines.lenient_json import encode
from colonizer_engines.mothership.errors import Refusal


def json_reply(value: object, status: int = 200) -> Response:
    """The value as JSON."""
    return Response(encode(value), status, media_type="application/json")


def raw_json(body: bytes) -> Response:
    """JSON that is encoded already."""
    return Response(body, 200, media_type="application/json")


def plain_reply(text: str, status: int) -> Response:
    """Plain text, as the guard and the framework of the published program answer."""
    return Response(text, status, media_type="text/plain")


def empty_reply(status: int = 204) -> Response:
    """No body."""
    return Response(None, status)


def refusal_reply(refusal: Refusal) -> Response:
    """What a refusal looks like on the wire."""
    if refusal.body is None:
        return plain_reply(refusal.words, refusal.status)
    return json_reply(refusal.body, refusal.status)


def with_result(result: str, session: object) -> Response:
    """The Session with the `result` of a stop before it."""
    return raw_json(b'{"result":' + encode(result) + b"," + encode(session)[1:])


def with_more(session: object, more: Mapping[str, object]) -> Response:
    """The Session with the keys that only the reply for one colony has."""
    if not more:
        return json_reply(session)
    return raw_json(encode(session)[:-1] + b"," + encode(more)[1:])
