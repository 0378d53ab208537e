"""A client of the SDK's first generation: talks to the MCP server that its arguments start, and prints what it heard.

usage: old_client.py COMMAND [ARGUMENT …]     (with a Python that has mcp 1.30; the environment is passed on)
"""

import asyncio
import json
import os
import sys
from typing import Any

import mcp
from mcp.client import stdio

sdk: Any = mcp
transport: Any = stdio
"""Another generation than the one that this project is checked against."""


async def main(command: str, *arguments: str) -> None:
    """Opens a session, lists the tools, and calls two that change nothing."""
    server = sdk.StdioServerParameters(command=command, args=list(arguments), env=dict(os.environ))
    async with transport.stdio_client(server) as (incoming, outgoing), sdk.ClientSession(incoming, outgoing) as session:
        opened = await session.initialize()
        tools = await session.list_tools()
        listed = await session.call_tool("list_colonies", {})
        missing = await session.call_tool("colony_status", {"id": "ffffffff"})
        heard = {
            "server": opened.serverInfo.name,
            "version": opened.protocolVersion,
            "tools": [tool.name for tool in tools.tools],
            "colonies": len(json.loads(listed.content[0].text)),
            "missing": [missing.isError, missing.content[0].text],
        }
    print(json.dumps(heard))


asyncio.run(main(*sys.argv[1:]))
