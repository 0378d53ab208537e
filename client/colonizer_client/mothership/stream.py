"""The frames of the fleet-wide socket (spec 3.5), as values. What they tell of orgs, hosts and storage is not read."""

from typing import Any, TypeAlias

import msgspec

from colonizer_client.identity import ColonyId, EndpointName
from colonizer_client.mothership import decode, wire
from colonizer_client.mothership.models import Colony
from colonizer_config.value import Value


class Listed(Value):
    """The whole list, which replaces all that was had. `unreadable` counts the rows that could not be read."""

    colonies: tuple[Colony, ...]
    unreadable: int


class Changed(Value):
    """One colony, new or changed."""

    colony: Colony


class Removed(Value):
    """A colony was deleted."""

    colony: ColonyId


StreamFrame: TypeAlias = Listed | Changed | Removed


class _Kind(msgspec.Struct):
    type: Any = None


_KIND = msgspec.json.Decoder(_Kind)


def frame(endpoint: EndpointName, message: str | bytes) -> StreamFrame | None:
    """What one message says, None for one that means nothing to us.

    Raises:
        Unreadable: It is no JSON, or the colony that it tells of cannot be read.
    """
    body = message.encode("utf-8", "surrogatepass") if isinstance(message, str) else message
    match _kind(body):
        case "sessions":
            return Listed(*decode.colonies(endpoint, body))
        case "session":
            return Changed(decode.framed(endpoint, body))
        case "session_removed":
            return Removed(ColonyId(wire.raw(wire.mapping(wire.parse(body)).get("id"))))
        case _:
            return None


def _kind(body: bytes) -> object:
    """The frame's type, found without building the rest: a list can hold ten thousand rows."""
    try:
        return _KIND.decode(body).type
    except (msgspec.MsgspecError, RecursionError):
        return wire.mapping(wire.parse(body)).get("type")
