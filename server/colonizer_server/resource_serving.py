"""The resources and prompts as an MCP server, beside the tools. Loading this module loads the SDK."""

import asyncio
from collections.abc import AsyncGenerator, Awaitable
from contextlib import asynccontextmanager
from typing import Any, TypeVar

from mcp.server.lowlevel import Server
from mcp.server.lowlevel.server import NotificationOptions
from mcp.server.session import ServerSession
from mcp.server.subscriptions import (
    InMemorySubscriptionBus,
    ListenHandler,
    ResourcesListChanged,
    ResourceUpdated,
)
from mcp.shared.exceptions import MCPError
from mcp_types import (
    INTERNAL_ERROR,
    INVALID_PARAMS,
    EmptyResult,
    GetPromptRequestParams,
    GetPromptResult,
    ListPromptsResult,
    ListResourcesResult,
    ListResourceTemplatesResult,
    PaginatedRequestParams,
    PromptArgument,
    PromptMessage,
    PromptsCapability,
    ReadResourceRequestParams,
    ReadResourceResult,
    Resource,
    ResourcesCapability,
    ResourceTemplate,
    ServerCapabilities,
    SubscribeRequestParams,
    SubscriptionsListenRequestParams,
    SubscriptionsListenResult,
    TextContent,
    TextResourceContents,
    UnsubscribeRequestParams,
)
from mcp_types import Prompt as ListedPrompt

from colonizer_client.clock import Clock, SystemClock
from colonizer_client.errors import ClientError, NotFound
from colonizer_client.identity import EndpointName
from colonizer_server.approver import Approver
from colonizer_server.catalogue import CatalogueTools
from colonizer_server.changes import Change, Watch
from colonizer_server.errors import ToolError
from colonizer_server.prompts import PROMPTS, Prompt, prompt_named
from colonizer_server.resources import Offered, Shelf
from colonizer_server.scope import Scope
from colonizer_server.serve import ColonyServer
from colonizer_server.tools import Mothership

T = TypeVar("T")

PLAIN = "text/plain"

_MORE = (
    " Resources tell the same as prose: needs-you:// who waits for a person, colony://ENDPOINT/ID a colony, with"
    " /question, /diff and /transcript. What colonies say stands there behind `| `."
)


class ResourceServer(ColonyServer):
    """The tools, resources and prompts of one session; it serves one client, which it tells of changes."""

    def __init__(
        self,
        mothership: Mothership,
        scope: Scope,
        endpoint: EndpointName,
        clock: Clock | None = None,
        approver: Approver | None = None,
        catalogue: CatalogueTools | None = None,
    ) -> None:
        super().__init__(mothership, scope, approver, catalogue)
        self.instructions = (self.instructions or "") + _MORE
        self.lifespan = self._watching
        self._endpoint = endpoint
        self._clock = clock or SystemClock()
        self._shelf = Shelf(mothership.ask, endpoint)
        self._watch = Watch(mothership, endpoint, self._tell, self._clock)
        self._bus = InMemorySubscriptionBus()
        self._listening = ListenHandler(self._bus)
        self._session: ServerSession | None = None
        """Through which a client of the handshake's era is told, None while there is none."""
        self._subscribed: set[str] = set()
        """Its resources."""
        self.add_request_handler("resources/list", PaginatedRequestParams, self._list_resources)
        self.add_request_handler("resources/templates/list", PaginatedRequestParams, self._list_templates)
        self.add_request_handler("resources/read", ReadResourceRequestParams, self._read)
        self.add_request_handler("resources/subscribe", SubscribeRequestParams, self._subscribe)
        self.add_request_handler("resources/unsubscribe", UnsubscribeRequestParams, self._unsubscribe)
        self.add_request_handler("subscriptions/listen", SubscriptionsListenRequestParams, self._listen)
        self.add_request_handler("prompts/list", PaginatedRequestParams, self._list_prompts)
        self.add_request_handler("prompts/get", GetPromptRequestParams, self._get_prompt)

    def get_capabilities(
        self,
        notification_options: NotificationOptions | None = None,
        experimental_capabilities: dict[str, dict[str, Any]] | None = None,
        extensions: dict[str, dict[str, Any]] | None = None,
        *,
        protocol_version: str | None = None,
    ) -> ServerCapabilities:
        """Tools, resources and prompts; of resources it tells what changes."""
        tools = super().get_capabilities(
            notification_options, experimental_capabilities, extensions, protocol_version=protocol_version
        )
        resources = ResourcesCapability(subscribe=True, list_changed=True)
        return tools.model_copy(update={"resources": resources, "prompts": PromptsCapability()})

    @asynccontextmanager
    async def _watching(self, server: Server[Any]) -> AsyncGenerator[dict[str, object]]:
        del server
        async with asyncio.TaskGroup() as tasks:
            watching = tasks.create_task(self._watch.run())
            try:
                yield {}
            finally:
                watching.cancel()

    async def _tell(self, change: Change) -> None:
        for uri in change.updated:
            await self._bus.publish(ResourceUpdated(uri))
            if self._session is not None and uri in self._subscribed:
                await self._session.send_resource_updated(uri)
        if change.list_changed:
            await self._bus.publish(ResourcesListChanged())
            if self._session is not None:
                await self._session.send_resource_list_changed()

    async def _list_resources(self, context: Any, params: PaginatedRequestParams) -> ListResourcesResult:
        del params
        await self._watch_for(context)
        listed = await _in_protocol(self._shelf.listed(self._clock.now()))
        return ListResourcesResult(resources=[Resource(uri=one.uri, **_described(one)) for one in listed])

    async def _list_templates(self, context: Any, params: PaginatedRequestParams) -> ListResourceTemplatesResult:
        del context, params
        templates = [ResourceTemplate(uri_template=one.uri, **_described(one)) for one in self._shelf.templates()]
        return ListResourceTemplatesResult(resource_templates=templates)

    async def _read(self, context: Any, params: ReadResourceRequestParams) -> ReadResourceResult:
        del context
        text = await _in_protocol(self._shelf.read(str(params.uri), self._clock.now()))
        return ReadResourceResult(contents=[TextResourceContents(uri=params.uri, mime_type=PLAIN, text=text)])

    async def _subscribe(self, context: Any, params: SubscribeRequestParams) -> EmptyResult:
        self._subscribed.add(str(params.uri))
        await self._watch_for(context)
        return EmptyResult()

    async def _unsubscribe(self, context: Any, params: UnsubscribeRequestParams) -> EmptyResult:
        del context
        self._subscribed.discard(str(params.uri))
        return EmptyResult()

    async def _listen(self, context: Any, params: SubscriptionsListenRequestParams) -> SubscriptionsListenResult:
        await self._watch.begin()
        return await self._listening(context, params)

    async def _list_prompts(self, context: Any, params: PaginatedRequestParams) -> ListPromptsResult:
        del context, params
        return ListPromptsResult(prompts=[_listed(prompt) for prompt in PROMPTS])

    async def _get_prompt(self, context: Any, params: GetPromptRequestParams) -> GetPromptResult:
        del context
        ready = await _in_protocol(self._ready(params))
        messages = [PromptMessage(role="user", content=TextContent(type="text", text=text)) for text in ready]
        return GetPromptResult(messages=messages)

    async def _ready(self, params: GetPromptRequestParams) -> tuple[str, str]:
        prompt = prompt_named(params.name)
        ready = await prompt.work(self._shelf, self._endpoint, params.arguments or {}, self._clock.now())
        return ready.wish, ready.data

    async def _watch_for(self, context: Any) -> None:
        # In the newer era the SDK drops what is told through it: there a client listens.
        self._session = context.session
        await self._watch.begin()


async def _in_protocol(asking: Awaitable[T]) -> T:
    """What is asked; a failure as the protocol tells those of resources and prompts.

    Raises:
        MCPError: It cannot be had; in words.
    """
    try:
        return await asking
    except (ToolError, NotFound) as problem:
        raise MCPError(code=INVALID_PARAMS, message=str(problem)) from problem
    except ClientError as problem:
        raise MCPError(code=INTERNAL_ERROR, message=str(problem)) from problem


def _described(one: Offered) -> dict[str, Any]:
    return {"name": one.uri, "title": one.title, "description": one.description, "mime_type": PLAIN}


def _listed(prompt: Prompt) -> ListedPrompt:
    arguments = [
        PromptArgument(name=parameter.name, description=parameter.description, required=parameter.required)
        for parameter in prompt.parameters
    ]
    return ListedPrompt(name=prompt.name, title=prompt.title, description=prompt.description, arguments=arguments)


def server_of(
    mothership: Mothership,
    scope: Scope,
    resources_of: EndpointName,
    approver: Approver | None = None,
    catalogue: CatalogueTools | None = None,
) -> ColonyServer:
    """The server of a session: with resources and prompts where they were asked for."""
    if not resources_of:
        return ColonyServer(mothership, scope, approver, catalogue)
    return ResourceServer(mothership, scope, resources_of, approver=approver, catalogue=catalogue)
