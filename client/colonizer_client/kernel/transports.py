"""How a kernel is reached: as any MCP server, and its tools found among others.

Importing this loads the SDK, which takes most of a second: the first connection imports it, in a thread.
"""

import asyncio
from collections import defaultdict
from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager
from typing import cast

from mcp_types import CallToolResult, TextContent

from colonizer_client.kernel.calls import OPERATOR_TOOLS
from colonizer_client.kernel.repairs import Repairs, prefix_of
from colonizer_client.kernel.replies import Reply
from colonizer_client.kernel.session import ServerFacts
from colonizer_client.mcp import connection
from colonizer_client.mcp.connection import OPENING_TIMEOUT_S, Connection
from colonizer_config.address import HttpAddress, SocketAddress, StdioAddress
from colonizer_config.token import Token

EMBEDDED_ROUTE = "/mcp/kernel"
PAGES_LIMIT = 50

_RULES = "colonizer/kernel"


class McpWire:
    """An open connection to one kernel."""

    def __init__(self, opened: Connection, facts: ServerFacts) -> None:
        self._opened = opened
        self.facts = facts

    async def call(self, tool: str, arguments: Mapping[str, object], timeout_s: float) -> Reply:
        """What a tool answers."""
        with self._opened.talking():
            client = self._opened.client
            return _reply(await client.call_tool(tool, dict(arguments), read_timeout_seconds=timeout_s))


@asynccontextmanager
async def open_stdio(address: StdioAddress, environment: Mapping[str, str], mode: str) -> AsyncGenerator[McpWire]:
    """The connection to a command's process, which ends with it.

    Raises:
        Unreachable: The command cannot be run, ended at once, or does not answer.
        Unreadable: What it says is no MCP.
    """
    repairs = Repairs()
    async with connection.open_stdio(address, environment, mode, repairs) as opened:
        yield McpWire(opened, await _facts(opened, repairs))


@asynccontextmanager
async def open_http(address: HttpAddress | SocketAddress, token: Token | None, mode: str) -> AsyncGenerator[McpWire]:
    """The connection to a URL, or to the kernel behind the local engine's private socket.

    Raises:
        SignInNeeded: It asks for another token.
        Unreachable: Nothing answers there.
        Unreadable: What answers is no MCP.
    """
    repairs = Repairs()
    async with connection.open_http(address, token, mode, repairs, route=EMBEDDED_ROUTE) as opened:
        yield McpWire(opened, await _facts(opened, repairs))


async def _facts(opened: Connection, repairs: Repairs) -> ServerFacts:
    client = opened.client
    names: list[str] = []
    cursor: str | None = None
    async with asyncio.timeout(OPENING_TIMEOUT_S):
        for _ in range(PAGES_LIMIT):
            page = await client.list_tools(cursor=cursor)
            names += [tool.name for tool in page.tools]
            cursor = page.next_cursor
            if cursor is None:
                break
    prefix, listed = _kernel_among(names)
    capabilities = client.server_capabilities
    told = (capabilities.extensions or {}).get(_RULES) or (capabilities.experimental or {}).get(_RULES)
    return ServerFacts(
        name=opened.name,
        listed=listed,
        prefix=prefix,
        other_tools=repairs.other_tools,
        rules=told or {},
        mode=opened.mode,
    )


def _kernel_among(names: list[str]) -> tuple[str, Mapping[str, str]]:
    """The prefix under which most of a kernel's tools are listed, and their listed names by the bare ones."""
    by_prefix: defaultdict[str, dict[str, str]] = defaultdict(dict)
    for listed in names:
        found = prefix_of(listed)
        if found is not None:
            by_prefix[found[0]].setdefault(found[1], listed)
    operator = {bare: listed for bare, listed in by_prefix.get("", {}).items() if bare in OPERATOR_TOOLS}
    kernels = {
        prefix: {bare: listed for bare, listed in tools.items() if bare not in OPERATOR_TOOLS}
        for prefix, tools in by_prefix.items()
    }
    prefix = max(kernels, key=lambda prefix: len(kernels[prefix]), default="")
    return prefix, kernels.get(prefix, {}) | operator


def _reply(result: CallToolResult) -> Reply:
    text = next((block.text for block in result.content if isinstance(block, TextContent)), None)
    return Reply(cast("object", result.structured_content), text, bool(result.is_error))
