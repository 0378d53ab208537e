"""JSON as it goes over the wire and into the database."""

from collections.abc import Mapping
from typing import cast

import msgspec

from colonizer_engines.lenient_json import encode


def decode_object(body: bytes) -> dict[str, object]:
    """The JSON object that we stored ourselves."""
    return cast("dict[str, object]", msgspec.json.decode(body))


def as_object(value: object) -> Mapping[str, object] | None:
    """The value where it is a JSON object."""
    return cast("Mapping[str, object]", value) if isinstance(value, Mapping) else None


def as_array(value: object) -> list[object] | None:
    """The value where it is a JSON array."""
    return cast("list[object]", value) if isinstance(value, list) else None


def session_frame(session: object) -> bytes:
    """The frame that carries one Session."""
    return b'{"type":"session","session":' + encode(session) + b"}"
