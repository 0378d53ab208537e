"""An open connection to one server of the catalogue. Importing this loads the SDK, which takes most of a second."""

import asyncio
from collections.abc import AsyncGenerator, Callable, Mapping
from contextlib import asynccontextmanager
from typing import Protocol

from mcp import MCPError
from mcp.client.session import IncomingMessage, MessageHandlerFnT
from mcp.client.subscriptions import SubscriptionLost
from mcp_types import CallToolRequest, CallToolRequestParams, CallToolResult, ToolListChangedNotification
from mcp_types.version import MODERN_PROTOCOL_VERSIONS

from colonizer_client.catalogue.as_it_came import AsItCame, came
from colonizer_client.errors import ToolFailed, Unreadable
from colonizer_client.mcp import connection
from colonizer_client.mcp.connection import Connection
from colonizer_config.address import HttpAddress, SocketAddress, StdioAddress
from colonizer_config.token import Token

PAGES_LIMIT = 50
TOOLS_LIMIT = 5_000

LISTING_LIMIT_S = 15.0


class Heard(Protocol):
    """Takes each notice of progress; the words are raw."""

    async def __call__(self, progress: float, total: float | None, message: str | None) -> None:
        """How far it is, of how much."""
        ...


class OpenServer:
    """A connection that lists and calls; any number of tasks may use it at once."""

    def __init__(self, opened: Connection) -> None:
        self._opened = opened
        self.name = opened.name
        self.mode = opened.mode

    @property
    def is_over(self) -> bool:
        """Whether it is known that nothing comes any more."""
        return self._opened.is_over

    async def over(self) -> None:
        """Returns when nothing comes any more, as far as that can be told unasked."""
        await self._opened.over()

    async def tools(self) -> tuple[Mapping[str, object], ...]:
        """The rows of all its tools, as they came.

        Raises:
            ClientError: They cannot be read.
        """
        rows: list[Mapping[str, object]] = []
        cursor: str | None = None
        with self._opened.talking():
            async with asyncio.timeout(LISTING_LIMIT_S):
                for _ in range(PAGES_LIMIT):
                    page = await self._opened.client.list_tools(cursor=cursor)
                    rows += [came(tool.meta) for tool in page.tools]
                    cursor = page.next_cursor
                    if cursor is None or len(rows) > TOOLS_LIMIT:
                        break
        return tuple(rows[:TOOLS_LIMIT])

    async def call(self, tool: str, arguments: Mapping[str, object], heard: Heard) -> Mapping[str, object]:
        """The result of a call, as it came. It may take for ever; who gives up cancels it.

        Raises:
            ClientError: No result, a refusal, or one that asks for more than a result can.
        """
        request = CallToolRequest(params=CallToolRequestParams(name=tool, arguments=dict(arguments)))
        with self._opened.talking():
            sent = self._opened.client.session.send_request(request, CallToolResult, progress_callback=heard)
            result = came((await sent).meta)
        if not result:
            raise Unreadable("the server's reply is no result of a tool")
        if result.get("resultType") == "input_required":
            raise ToolFailed("the tool asks for more than its arguments, which cannot be given here")
        return result

    async def follow(self, on_change: Callable[[], None]) -> None:
        """Tells of changes of its tools for as long as the server does, where that has to be asked for."""
        client = self._opened.client
        tools = client.server_capabilities.tools
        if client.protocol_version not in MODERN_PROTOCOL_VERSIONS or tools is None or not tools.list_changed:
            return
        try:
            async with client.listen(tools_list_changed=True) as changes:
                async for _ in changes:
                    on_change()
        except (MCPError, SubscriptionLost, TimeoutError):
            on_change()  # from here on nothing tells


@asynccontextmanager
async def over_stdio(
    address: StdioAddress, environment: Mapping[str, str], mode: str, on_change: Callable[[], None]
) -> AsyncGenerator[OpenServer]:
    """The connection to a command's process; raises ClientError."""
    async with connection.open_stdio(address, environment, mode, AsItCame(), _noticing(on_change)) as opened:
        yield OpenServer(opened)


@asynccontextmanager
async def over_http(
    address: HttpAddress | SocketAddress,
    token: Token | None,
    mode: str,
    on_change: Callable[[], None],
    route: str = "",
) -> AsyncGenerator[OpenServer]:
    """The connection to a URL, or to a route of the private socket; raises ClientError."""
    notices = _noticing(on_change)
    async with connection.open_http(address, token, mode, AsItCame(), notices, route=route) as opened:
        yield OpenServer(opened)


def _noticing(on_change: Callable[[], None]) -> MessageHandlerFnT:
    async def take(message: IncomingMessage) -> None:
        if isinstance(message, ToolListChangedNotification):
            on_change()

    return take
