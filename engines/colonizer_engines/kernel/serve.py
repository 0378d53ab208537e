"""A kernel as an MCP server. Loading this module loads the SDK, which takes most of a second."""

import asyncio
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, TypeVar

import anyio
import anyio.to_thread
from mcp.server.lowlevel import Server
from mcp.server.lowlevel.server import NotificationOptions
from mcp.server.models import InitializationOptions
from mcp.shared.exceptions import MCPError
from mcp_types import (
    INVALID_PARAMS,
    CallToolRequestParams,
    CallToolResult,
    ContentBlock,
    ListToolsResult,
    PaginatedRequestParams,
    TextContent,
    Tool,
)
from mcp_types.version import MODERN_PROTOCOL_VERSIONS

from colonizer_config.version import __version__
from colonizer_engines.kernel.errors import KernelError
from colonizer_engines.kernel.kernel import Kernel
from colonizer_engines.kernel.opening import open_kernel
from colonizer_engines.kernel.operator_calls import CARDS, OPERATOR_CALLS, Changes, ChangesReply, OperatorCall, read
from colonizer_engines.kernel.rules import Rules
from colonizer_engines.kernel.tools import call
from colonizer_engines.kernel.wire import Answer, Card, Preset, as_text, told

T = TypeVar("T")

SERVER_NAME = "colonizer-kernel"
EXTENSION = "colonizer/kernel"
"""Under which capability a server says which kind of kernel it is."""


class Worker:
    """Runs the calls of one kernel beside the event loop, one after another, in the order in which they came."""

    def __init__(self, kernel: Kernel) -> None:
        self._kernel = kernel
        self._turn = anyio.CapacityLimiter(1)
        self._changed = asyncio.Event()
        self._ended = False

    async def run(self, work: Callable[[Kernel], T]) -> T:
        """What the work yields. Once begun it is finished, whether or not somebody still waits for it."""
        return await anyio.to_thread.run_sync(work, self._kernel, limiter=self._turn)

    async def changes(self, wanted: Changes) -> ChangesReply:
        """The changes that are wanted, as soon as there are some or the caller has waited long enough."""
        with anyio.move_on_after(wanted.wait_s):
            while True:
                changed = self._changed
                found = await self.run(wanted.value)
                if found["changes"] or found["last"] < wanted.after or self._ended:
                    return found
                await changed.wait()
        return await self.run(wanted.value)

    @asynccontextmanager
    async def hearing(self) -> AsyncGenerator[None]:
        """Hears of the kernel's changes while it lasts."""
        loop = asyncio.get_running_loop()

        def heard(_: object) -> None:
            loop.call_soon_threadsafe(self._ring)

        watching = self._kernel.watching(heard)
        await self.run(lambda _: watching.__enter__())
        try:
            yield
        finally:
            watching.__exit__(None, None, None)
            self._ended = True
            self._ring()

    def _ring(self) -> None:
        self._changed.set()
        self._changed = asyncio.Event()


@asynccontextmanager
async def at_work(rules: Rules, path: Path | None) -> AsyncGenerator[Worker]:
    """A kernel, kept in the database at `path` or in memory, for as long as this lasts.

    Raises:
        StoreError: The database cannot be had, or another process has it.
    """
    opening = open_kernel(rules, path)
    worker = Worker(await anyio.to_thread.run_sync(opening.__enter__))
    try:
        async with worker.hearing():
            yield worker
    finally:
        opening.__exit__(None, None, None)


class KernelServer(Server[Any]):
    """The kernel's tools as one kind of kernel lists them; with the operator's calls where they are asked for."""

    def __init__(self, worker: Worker, preset: Preset, *, for_operator: bool = False) -> None:
        super().__init__(
            SERVER_NAME,
            version=__version__,
            on_list_tools=self._list,
            on_call_tool=self._call,
            get_tool_input_schema=_no_repeated_arguments,
        )
        self._worker = worker
        self._wire = preset.wire
        self._cards = {card.name: card for card in (*preset.wire.cards, *(CARDS if for_operator else ()))}
        self.middleware.clear()  # telemetry, which nobody here collects; it takes a tenth of a call
        self.extensions = {EXTENSION: {"preset": preset.name, "law": preset.rules.law.described}}

    def create_initialization_options(
        self,
        notification_options: NotificationOptions | None = None,
        experimental_capabilities: dict[str, dict[str, Any]] | None = None,
        extensions: dict[str, dict[str, Any]] | None = None,
    ) -> InitializationOptions:
        """What the handshake tells; its revisions know no extensions."""
        experimental = {**self.extensions, **(experimental_capabilities or {})}
        return super().create_initialization_options(notification_options, experimental, extensions)

    async def _list(self, context: Any, params: PaginatedRequestParams | None) -> ListToolsResult:
        del params
        return ListToolsResult(tools=[_listed(card, modern=_is_modern(context)) for card in self._cards.values()])

    async def _call(self, context: Any, params: CallToolRequestParams) -> CallToolResult:
        name, arguments = params.name, params.arguments or {}
        if name not in self._cards and not self._wire.answers_unknown_tools:
            raise MCPError(code=INVALID_PARAMS, message=f"there is no tool {name!r}")
        operator = OPERATOR_CALLS.get(name) if name in self._cards else None
        try:
            if operator is None:
                answer = await self._worker.run(lambda kernel: self._wire.answered(call(kernel, name, arguments)))
            else:
                answer = await self._asked_by_operator(read(operator, arguments))
        except KernelError as problem:
            answer = (told if operator else self._wire.refused)(problem, name)
        return _result(answer, modern=_is_modern(context))

    async def _asked_by_operator(self, asked: OperatorCall) -> Answer:
        if isinstance(asked, Changes):
            found = await self._worker.changes(asked)
            return await self._worker.run(lambda _: as_text(found))
        return await self._worker.run(lambda kernel: as_text(asked.value(kernel)))


def _no_repeated_arguments(tool: str) -> None:
    """Nothing: a header may repeat an argument only where its schema says so, which none of ours does."""
    del tool


def _is_modern(context: Any) -> bool:
    """Whether the request is of the era in which what is structured may be any JSON."""
    return context.protocol_version in MODERN_PROTOCOL_VERSIONS


def _listed(card: Card, *, modern: bool) -> Tool:
    output = card.output_schema
    if output is not None and not modern and output["type"] != "object":
        output = None
    return Tool(
        name=card.name,
        description=card.description,
        input_schema=dict(card.input_schema),
        output_schema=None if output is None else dict(output),
    )


def _result(answer: Answer, *, modern: bool) -> CallToolResult:
    structured = answer.structured if modern or isinstance(answer.structured, dict) else None
    content: list[ContentBlock] = [TextContent(type="text", text=answer.text)]
    return CallToolResult(content=content, structured_content=structured, is_error=answer.failed)
