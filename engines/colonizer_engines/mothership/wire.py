"""JSON as it goes over the wire and into the database."""

from collections.abc import Mapping
from typing import cast

import msgspec


def encode(value: object) -> bytes:
    """The value as JSON; what JSON cannot hold (a lone surrogate, NaN) becomes a replacement character or null."""
    try:
        return msgspec.json.encode(value)
    except UnicodeEncodeError:
        return msgspec.json.encode(_mended_value(msgspec.to_builtins(value)))


def decode_object(body: bytes) -> dict[str, object]:
    """The JSON object that we stored ourselves."""
    return cast("dict[str, object]", msgspec.json.decode(body))


def mended(text: str) -> str:
    """The text with a replacement character for what UTF-8 cannot hold."""
    return text.encode("utf-8", "surrogatepass").decode("utf-8", "replace")


def as_object(value: object) -> Mapping[str, object] | None:
    """The value where it is a JSON object."""
    return cast("Mapping[str, object]", value) if isinstance(value, Mapping) else None


def as_array(value: object) -> list[object] | None:
    """The value where it is a JSON array."""
    return cast("list[object]", value) if isinstance(value, list) else None


def session_frame(session: object) -> bytes:
    """The frame that carries one Session."""
    return b'{"type":"session","session":' + encode(session) + b"}"


def _mended_value(value: object) -> object:
    if isinstance(value, str):
        return mended(value)
    if isinstance(value, Mapping):
        fields = cast("Mapping[object, object]", value)
        return {_mended_value(key): _mended_value(item) for key, item in fields.items()}
    if isinstance(value, list | tuple):
        return [_mended_value(item) for item in cast("list[object]", value)]
    return value
