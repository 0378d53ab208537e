"""Every recorded call of the real program, made over stdio with the official client."""

import json
import sys
from pathlib import Path
from typing import Any

import pytest
from mcp.client import Client
from mcp.client.stdio import StdioServerParameters, stdio_client
from mcp_types import CallToolResult, TextContent

from engines.kernel.renewed_kernel import RENEW, SET_CLOCK
from engines.kernel.vectors import cases, differences, placed, tool_name
from plain_command import own_environment
from recorded import Json

pytestmark = pytest.mark.anyio

_SERVER = StdioServerParameters(
    command=sys.executable, args=["-m", "engines.kernel.renewed_kernel", "codomyrmex-1.3"], env=own_environment({})
)


@pytest.mark.parametrize("mode", ["auto", "legacy"])
async def test_every_recorded_call_is_answered_alike_over_stdio(mode: str, tmp_path: Path) -> None:
    recorded = list(cases("calls").items())
    share = recorded[::2] if mode == "auto" else recorded[1::2]
    wrong: list[str] = []
    async with Client(stdio_client(_SERVER), mode=mode) as client:
        await client.list_tools()
        for case, rows in share:
            await client.call_tool(RENEW, {})
            offset_s = 0.0
            for row in rows:
                if offset_s != (offset_s := row.get("clock_offset_s", 0.0)):
                    await client.call_tool(SET_CLOCK, {"offset_s": offset_s})
                asked = placed(row, tmp_path)
                answer = await client.call_tool(tool_name(row), asked["arguments"])
                assert answer.is_error == row["is_error"], (case, row["step"])
                wrong += [f"{case} {row['step']}: {found}" for found in differences(asked, _value(answer))]
    assert wrong == []
    assert len(share) > 30


def _value(answer: CallToolResult) -> Any:
    """What was answered, out of its wrapping."""
    (block,) = answer.content
    assert isinstance(block, TextContent)
    assert answer.structured_content is None
    value: Json = json.loads(block.text)
    return value if answer.is_error else value["result"]
