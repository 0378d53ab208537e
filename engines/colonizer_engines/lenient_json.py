"""JSON that any value of ours becomes, whatever text from outside is in it."""

from collections.abc import Mapping
from typing import cast

import msgspec


def encode(value: object) -> bytes:
    """The value as JSON; what JSON cannot hold (a lone surrogate, NaN) becomes a replacement character or null."""
    try:
        return msgspec.json.encode(value)
    except UnicodeEncodeError:
        return msgspec.json.encode(_mended_value(msgspec.to_builtins(value)))


def mended(text: str) -> str:
    """The text with a replacement character for what UTF-8 cannot hold."""
    return text.encode("utf-8", "surrogatepass").decode("utf-8", "replace")


def _mended_value(value: object) -> object:
    if isinstance(value, str):
        return mended(value)
    if isinstance(value, Mapping):
        fields = cast("Mapping[object, object]", value)
        return {_mended_value(key): _mended_value(item) for key, item in fields.items()}
    if isinstance(value, list | tuple):
        return [_mended_value(item) for item in cast("list[object]", value)]
    return value
