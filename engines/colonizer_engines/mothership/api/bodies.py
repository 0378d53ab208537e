"""Reading JSON bodies, with the answers that the published program's framework gives to wrong ones (spec 2.2)."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import msgspec
from starlette.requests import Request

from colonizer_engines.mothership.errors import Refusal
from colonizer_engines.mothership.wire import as_array, as_object

BODY_LIMIT_BYTES = 2 * 1024 * 1024

_WRONG_SHAPE = "Failed to deserialize the JSON body into the target type: "

Kind = Callable[[object], str | None]
"""Says what is wrong with a value, in the framework's words; None where nothing is."""


@dataclass(frozen=True, slots=True)
class Field:
    """One field of a body."""

    kind: Kind
    required: bool = False
    nullable: bool = False


async def read_json(request: Request) -> object:
    """The decoded body.

    Raises:
        Refusal: 415, 413 or 400, all in plain text.
    """
    if not _is_json(request):
        raise Refusal(415, "Expected request with `Content-Type: application/json`", plain=True)
    body = await read_bytes(request)
    try:
        return msgspec.json.decode(body)
    except (msgspec.DecodeError, RecursionError) as problem:
        raise Refusal(400, f"Failed to parse the request body as JSON: {problem}", plain=True) from problem


async def read_optional_json(request: Request) -> Mapping[str, object]:
    """The object in the body; an empty one where there is no JSON.

    Raises:
        Refusal: As `read_json`; 422, it is no object.
    """
    empty = request.headers.get("content-length", "0") == "0" and "transfer-encoding" not in request.headers
    if empty or not _is_json(request):
        return {}
    return shaped(await read_json(request), "the body", {})


async def read_bytes(request: Request) -> bytes:
    """The whole body.

    Raises:
        Refusal: 413, it is too long.
    """
    body = bytearray()
    async for chunk in request.stream():
        body += chunk
        if len(body) > BODY_LIMIT_BYTES:
            raise Refusal(413, "Failed to buffer the request body: length limit exceeded", plain=True)
    return bytes(body)


def _is_json(request: Request) -> bool:
    content_type = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    return content_type == "application/json" or content_type.endswith("+json")


def shaped(body: object, name: str, fields: Mapping[str, Field]) -> Mapping[str, object]:
    """The body as an object whose known fields have the right types; unknown ones stay in it.

    Raises:
        Refusal: 422, it has not.
    """
    values = as_object(body)
    if values is None:
        raise Refusal(422, f"{_WRONG_SHAPE}invalid type: {_described(body)}, expected struct {name}", plain=True)
    for key, value in values.items():
        field = fields.get(key)
        if field is None or (value is None and field.nullable):
            continue
        wrong = field.kind(value)
        if wrong is not None:
            raise Refusal(422, f"{_WRONG_SHAPE}{key}{'' if wrong.startswith('[') else ': '}{wrong}", plain=True)
    for key, field in fields.items():
        if field.required and key not in values:
            raise Refusal(422, f"{_WRONG_SHAPE}missing field `{key}`", plain=True)
    return values


def text(value: object) -> str | None:
    """A string."""
    return None if isinstance(value, str) else _invalid(value, "a string")


def flag(value: object) -> str | None:
    """A boolean."""
    return None if isinstance(value, bool) else _invalid(value, "a boolean")


def count(value: object) -> str | None:
    """A whole number from 0."""
    if isinstance(value, bool) or not isinstance(value, int):
        return _invalid(value, "u64")
    return None if 0 <= value < 1 << 64 else f"invalid value: integer `{value}`, expected u64"


def amount(value: object) -> str | None:
    """A number."""
    return None if isinstance(value, int | float) and not isinstance(value, bool) else _invalid(value, "f64")


def texts(value: object) -> str | None:
    """An array of strings."""
    items = as_array(value)
    if items is None:
        return _invalid(value, "a sequence")
    wrong = ((place, text(item)) for place, item in enumerate(items))
    return next((f"[{place}]: {words}" for place, words in wrong if words is not None), None)


def target(value: object) -> str | None:
    """A supply-chain target."""
    fields = as_object(value)
    if fields is None:
        return _invalid(value, "struct SupplyChain")
    for key in ("package", "advisory"):
        if key not in fields:
            return f"missing field `{key}`"
        if (wrong := text(fields[key])) is not None:
            return wrong
    return None


def targets(value: object) -> str | None:
    """An array of supply-chain targets."""
    items = as_array(value)
    if items is None:
        return _invalid(value, "a sequence")
    wrong = ((place, target(item)) for place, item in enumerate(items))
    return next((f"[{place}]: {words}" for place, words in wrong if words is not None), None)


def _invalid(value: object, expected: str) -> str:
    return f"invalid type: {_described(value)}, expected {expected}"


def _described(value: object) -> str:
    if value is None:
        return "null"
    if isinstance(value, bool):
        return f"boolean `{str(value).lower()}`"
    if isinstance(value, int):
        return f"integer `{value}`"
    if isinstance(value, float):
        return f"floating point `{value}`"
    if isinstance(value, str):
        return f'string "{value[:100]}"'
    return "sequence" if isinstance(value, list) else "map"
