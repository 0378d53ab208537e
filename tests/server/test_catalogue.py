"""The catalogue's four tools as a client of the SDK sees them, in both eras."""

import json
from pathlib import Path
from typing import Any

import pytest
from mcp.client import Client
from mcp_types import CallToolResult, TextContent

from client.catalogue import six_hundred
from client.catalogue.pooled_servers import servers
from colonizer_server.catalogue import INSTRUCTIONS as CATALOGUE_INSTRUCTIONS
from colonizer_server.catalogue import CatalogueTools
from colonizer_server.scope import Scope
from colonizer_server.serve import INSTRUCTIONS, ColonyServer
from colonizer_server.tools import Mothership

pytestmark = pytest.mark.anyio

CATALOGUE = {"call_tool", "describe_tool", "discover_tools", "search_tools"}
TOKEN_CHARACTERS = 4
"""What a token of JSON in English comes to, at the least."""


async def no_mothership(call: object) -> Any:
    raise AssertionError(call)


def text_of(result: CallToolResult) -> Any:
    (block,) = result.content
    assert isinstance(block, TextContent)
    return json.loads(block.text)


async def test_ten_servers_with_600_tools_cost_less_than_1000_tokens_at_the_start(tmp_path: Path) -> None:
    async with servers(tmp_path) as found:
        for name in six_hundred.SERVERS:
            found.add(name, six_hundred.command(tmp_path, name))
        tools = CatalogueTools(found.catalogue(), Scope.OPERATE)
        server = ColonyServer(Mothership(no_mothership, {}), Scope.READ, catalogue=tools)
        for mode in ("auto", "legacy"):
            async with Client(server, mode=mode) as client:
                assert client.instructions == INSTRUCTIONS + CATALOGUE_INSTRUCTIONS
                listed = (await client.list_tools()).tools
                ours = [tool for tool in listed if tool.name in CATALOGUE]
                assert [tool.name for tool in ours] == sorted(CATALOGUE)
                assert {tool.name for tool in ours if tool.annotations and tool.annotations.read_only_hint} == (
                    CATALOGUE - {"call_tool"}
                )
                said = [tool.model_dump_json(by_alias=True, exclude_none=True) for tool in ours]
                assert len("".join((*said, CATALOGUE_INSTRUCTIONS, INSTRUCTIONS))) / TOKEN_CHARACTERS < 1000
                domains = text_of(await client.call_tool("discover_tools"))["domains"]
                assert [(domain["domain"], domain["tools"], domain["reads"]) for domain in domains] == [
                    (name, 60, 24) for name in six_hundred.SERVERS
                ]
                assert len(json.dumps(domains)) / TOKEN_CHARACTERS < 1000
                (in_full,) = text_of(await client.call_tool("discover_tools", {"domain": "mail"}))["domains"]
                assert in_full["tools"][0] == {
                    "name": "mail/list_emails",
                    "summary": "Lists the emails that match, page by page in the mailbox.",
                    "access": "read",
                }
                called = await client.call_tool("call_tool", {"name": "mail/get_draft", "arguments": {"id": "7"}})
                assert text_of(called)[2] == {"id": "7"}
                missing = await client.call_tool("call_tool", {"name": "mail/get_draft"})
                assert missing.is_error
                assert isinstance(missing.content[0], TextContent)
                assert missing.content[0].text.endswith(
                    "mail/get_draft: the arguments do not fit: 'id' is a required property"
                )
