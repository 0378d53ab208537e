"""Lets what a server said pass through the SDK unchanged.

The SDK refuses whole answers for one odd field, and drops fields that it does not know. `_meta` alone it leaves as it
is: what came travels there, beside what the SDK wants to see.
"""

from collections.abc import Mapping

from colonizer_client.mothership import wire

_CAME = "colonizer/came"

_OF_A_CALL = frozenset({"content", "structuredContent", "isError", "toolResult"})


class AsItCame:
    """Puts what came into the `_meta` of each listed tool and of each call's result."""

    def __init__(self) -> None:
        self.noise = 0

    def mend(self, result: dict[str, object]) -> None:
        """Makes a result into one that the SDK reads."""
        if isinstance(result.get("tools"), list):
            result["tools"] = [_tool(row) for row in wire.mappings(result["tools"]) if wire.raw(row.get("name"))]
        elif _OF_A_CALL & result.keys() or result.get("resultType") == "input_required":
            came = dict(result)
            result.clear()
            result.update({"content": [], "isError": False, "resultType": "complete", "_meta": {_CAME: came}})


def came(meta: object) -> Mapping[str, object]:
    """What came with this `_meta`, raw; empty where that was lost."""
    return wire.mapping(wire.mapping(meta).get(_CAME))


def _tool(row: Mapping[str, object]) -> dict[str, object]:
    # Of the schema the SDK wants to know which arguments it has to repeat in headers.
    schema = {**wire.mapping(row.get("inputSchema")), "type": "object"}
    return {"name": row["name"], "inputSchema": schema, "_meta": {_CAME: row}}
