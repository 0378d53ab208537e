"""What an MCP server's messages have to be rid of before the SDK reads them, which throws whole answers away.

Of a list of tools only those stay that a kernel has, so that what a server has beside them costs nothing and cannot
be called; their schemas, which we do not need, are left out (MCP notes 7).
"""

import json
from collections.abc import Mapping

from colonizer_client.kernel.calls import OPERATOR_TOOLS, TOOLS
from colonizer_client.mothership import wire

_BOUNDARIES = "._-/:"
"""What a server puts between its own name and that of a tool."""

_BLOCKS = frozenset({"text", "image", "audio", "resource", "resource_link"})


def prefix_of(listed: str) -> tuple[str, str] | None:
    """What stands before the bare name of a kernel's tool, and that name; None where it is none of a kernel's."""
    for bare in TOOLS | OPERATOR_TOOLS:
        prefix = listed.removesuffix(bare)
        if prefix != listed and (not prefix or prefix[-1] in _BOUNDARIES):
            return prefix, bare
    return None


class Repairs:
    """Repairs the messages of one connection, in place, and counts what it left out."""

    def __init__(self) -> None:
        self.other_tools = 0
        """Tools that were left out since they are none of a kernel's."""
        self.noise = 0
        """Lines that were no message."""

    def mend(self, result: dict[str, object]) -> None:
        """Makes a result into one that the SDK reads."""
        if isinstance(result.get("tools"), list):
            result["tools"] = [_bare_tool(row) for row in wire.mappings(result["tools"]) if self._is_kept(row)]
        if "content" in result or "structuredContent" in result or "isError" in result:
            _mend_call(result)

    def _is_kept(self, row: Mapping[str, object]) -> bool:
        is_kept = prefix_of(wire.raw(row.get("name"))) is not None
        self.other_tools += not is_kept
        return is_kept


def _bare_tool(row: Mapping[str, object]) -> dict[str, object]:
    return {"name": row["name"], "inputSchema": {"type": "object"}}


def _mend_call(result: dict[str, object]) -> None:
    result["content"] = [_block(row) for row in wire.sequence(result.get("content"))]
    result["isError"] = result.get("isError") is True
    structured = result.get("structuredContent")
    if structured is None:
        result.pop("structuredContent", None)
    elif not isinstance(structured, dict):
        result["structuredContent"] = {"result": structured}


def _block(row: object) -> dict[str, object]:
    fields = wire.mapping(row)
    if fields.get("type") == "text" and isinstance(fields.get("text"), str):
        return {"type": "text", "text": fields["text"]}
    if fields.get("type") in _BLOCKS:
        return {"type": "text", "text": ""}  # no kernel tells anything by a picture
    return {"type": "text", "text": json.dumps(row, default=str)}
