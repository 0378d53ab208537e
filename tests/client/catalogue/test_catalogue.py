"""The catalogue over real servers: ten with 600 tools, two that are dead, and one with broken schemas."""

import json
import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any, cast

import anyio
import anyio.lowlevel
import pytest
from mcp.server.lowlevel import Server
from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
from mcp.server.subscriptions import InMemorySubscriptionBus, ListenHandler
from mcp.shared.subscriptions import ToolsListChanged
from mcp_types import CallToolRequestParams, CallToolResult, ListToolsResult, TextContent, Tool
from starlette.types import Receive, Scope, Send

from client.catalogue import six_hundred
from client.catalogue.pooled_servers import OBJECT, READS, let_all_through, nobody, row, servers
from client.kernel.test_transports import served, served_kernel
from colonizer_client.catalogue.cards import ToolCard, cards_of, shown_schema
from colonizer_client.catalogue.catalogue import Catalogue, CatalogueCall, Domain, Gate
from colonizer_client.catalogue.schemas import fault_of, objection
from colonizer_client.errors import (
    BadRequest,
    ClientError,
    ConsentNeeded,
    NoReply,
    NotOffered,
    SignInNeeded,
    Unreachable,
)
from colonizer_client.identity import EndpointName
from colonizer_config.address import SocketAddress, StdioAddress

pytestmark = pytest.mark.anyio


async def call(catalogue: Catalogue, name: str, gate: Gate = let_all_through, **arguments: object) -> Any:
    result = await catalogue.call(CatalogueCall(await catalogue.card(name), arguments), nobody, gate)
    return json.loads(cast("Any", result["content"])[0]["text"])


def problems(domains: Sequence[Domain]) -> dict[str, str]:
    return {domain.endpoint.name: str(domain.problem) for domain in domains if domain.problem is not None}


async def test_ten_servers_with_600_tools_are_searched_whatever_others_do(tmp_path: Path) -> None:
    async with servers(tmp_path) as found:
        for server in six_hundred.SERVERS:
            found.add(server, six_hundred.command(tmp_path, server))
        found.add("gone", StdioAddress((str(tmp_path / "no-such-program"),)))
        found.add(
            "crashing", StdioAddress((sys.executable, "-I", "-S", "-c", "raise SystemExit('no \x1b[2J license')"))
        )
        found.add("unagreed", StdioAddress(("true",)), agreed=False)
        found.add("engine", SocketAddress(tmp_path / "no.sock"))
        found.plan("broken", row("sound"), {"name": "unsound", "inputSchema": {"type": "objekt"}}, {"name": 7})
        catalogue = found.catalogue()
        domains = await catalogue.domains()
        assert sum(len(domain.cards) for domain in domains) == 602
        told = problems(domains)
        assert sorted(told) == ["crashing", "engine", "gone", "unagreed"]
        assert "no ␛[2J license" in told["crashing"]
        assert told["gone"].startswith("the command cannot be run: No such file")
        assert told["engine"].startswith("nothing answers there")
        assert told["unagreed"] == (
            "not started: nobody agreed to its command; in a terminal `colonizer connect test unagreed` asks"
        )
        wrong = {
            query: [card.name for card in catalogue.best(domains, query, 3, writes=True)]
            for query, expected in six_hundred.QUERIES.items()
            if catalogue.best(domains, query, 1, writes=True)[0].name != expected
        }
        assert not wrong
        reads = catalogue.best(domains, "delete a branch", 10, writes=False)
        assert {card.access for card in reads} == {"read"}
        in_mail = await catalogue.domains("mail")
        assert {card.endpoint for card in catalogue.best(in_mail, "list", 10, writes=True)} == {"mail"}
        assert len(await catalogue.domains("work")) == len(await catalogue.domains("mcp")) == len(domains)
        assert catalogue.best(domains, "of the ¡!", 10, writes=True) == ()
        # What cannot be called says why, and no other.
        assert (await call(catalogue, "broken/sound"))[0] == "sound"
        with pytest.raises(NotOffered, match='cannot be called: its schema is not one of an object: type is "objekt"'):
            await call(catalogue, "broken/unsound")
        with pytest.raises(ConsentNeeded):
            await call(catalogue, "unagreed/x")
        for name, words in {
            "nowhere/x": "there is no tool nowhere/x",
            "mail": "names are DOMAIN/TOOL",
            "mail/no_\x1b": "mail has no tool no_␛",
        }.items():
            with pytest.raises(NotOffered, match=words):
                await catalogue.card(name)
        with pytest.raises(NotOffered, match="there is no domain x; there are: forge, chat"):
            await catalogue.domains("x")


async def test_names_that_two_servers_share_go_each_to_its_own_and_every_call_passes_the_gate(tmp_path: Path) -> None:
    passed: list[tuple[str, str, object, bool]] = []

    async def gate(asked: CatalogueCall, run: Any) -> Any:
        passed.append((asked.endpoint, asked.tool, asked.arguments, asked.is_write))
        if asked.is_write:
            raise NotOffered("not without me")
        return await run()

    schema = {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]}
    async with servers(tmp_path) as found:
        for name in ("a", "b"):
            found.plan(name, row("colony_status", annotations=READS, inputSchema=schema), row("tick"))
        catalogue = found.catalogue()
        first, second = (
            await call(catalogue, "a/colony_status", gate, n=1),
            await call(catalogue, "b/colony_status", gate, n=2),
        )
        assert (first[2], second[2], first[1] != second[1]) == ({"n": 1}, {"n": 2}, True)
        with pytest.raises(NotOffered, match="not without me"):
            await call(catalogue, "a/tick", gate)
        with pytest.raises(BadRequest, match="do not fit: n: 'x' is not of type 'integer'"):
            await call(catalogue, "a/colony_status", gate, n="x")
        assert passed == [
            ("a", "colony_status", {"n": 1}, False),
            ("b", "colony_status", {"n": 2}, False),
            ("a", "tick", {}, True),
        ]
        assert found.heard("a") == ["colony_status"]


async def test_a_result_comes_as_its_server_gave_it_and_progress_is_heard(tmp_path: Path) -> None:
    steps: list[float] = []

    async def hear(progress: float, total: float | None, message: str | None) -> None:
        del total, message
        steps.append(progress)

    async with servers(tmp_path) as found:
        found.plan("a", row("odd", outputSchema={"type": "object"}), row("slow"))
        command = six_hundred.command(tmp_path, "b", [row("environment")]).command
        found.add("b", StdioAddress(command, ("KEY",)), KEY="k", OTHER="o")
        catalogue = found.catalogue()
        odd = await catalogue.call(CatalogueCall(await catalogue.card("a/odd"), {}), nobody, let_all_through)
        assert odd == {
            "content": [{"type": "hologram", "beam": 3}],
            "structuredContent": [1],
            "isError": True,
            "x-more": "\x1b",
        }
        await catalogue.call(CatalogueCall(await catalogue.card("a/slow"), {}), hear, let_all_through)
        assert steps == [0, 1, 2]
        given = await call(catalogue, "b/environment")
        assert ("KEY" in given, "OTHER" in given) == (True, False)


async def test_a_server_that_died_is_started_again_and_only_what_is_harmless_is_sent_twice(tmp_path: Path) -> None:
    async with servers(tmp_path) as found:
        found.plan("a", row("echo", annotations=READS), row("die"), row("die_reading", annotations=READS), row("grow"))
        catalogue, other = found.catalogue(), found.catalogue()
        _, before, _ = await call(catalogue, "a/echo")
        assert (await call(other, "a/echo"))[1] == before, "one connection for all"
        with pytest.raises(NoReply, match="its process ended with code 3"):
            await call(catalogue, "a/die")
        _, after, _ = await call(catalogue, "a/echo")
        assert after != before
        with pytest.raises(ClientError):
            await call(catalogue, "a/die_reading")
        _, pid, _ = await call(catalogue, "a/echo")
        os.kill(pid, 9)
        assert (await call(catalogue, "a/echo"))[1] != pid
        assert found.heard("a").count("die") == 1
        assert found.heard("a").count("die_reading") == 2
        # Changes of the list are followed.
        before_it = (await catalogue.domains())[0].cards
        await call(catalogue, "a/grow")
        with anyio.fail_after(10):
            while (await catalogue.domains())[0].cards is before_it:
                await anyio.lowlevel.checkpoint()
        assert (await call(catalogue, "a/grown"))[0] == "grown"


async def test_a_server_that_cannot_start_is_left_alone_for_a_moment(tmp_path: Path) -> None:
    log = tmp_path / "starts"
    async with servers(tmp_path) as found:
        words = f"open({str(log)!r}, 'a').write('x')"
        found.add("a", StdioAddress((sys.executable, "-I", "-S", "-c", words)))
        catalogue = found.catalogue()
        tries = [(await catalogue.domains())[0].problem for _ in range(3)]
        assert all(isinstance(problem, Unreachable | NoReply) for problem in tries)
        assert log.read_text(encoding="utf-8") == "x"
        assert "tried again in" in str(tries[2])


def test_cards_show_nothing_that_acts_and_tell_writes_by_their_silence() -> None:
    rows: list[dict[str, object]] = [
        row("plain"),
        row("reads", annotations=READS, title="T\x1b", description="One \x9b31m. Two.\n\u202eThree"),
        row("again", annotations={"idempotentHint": True, "readOnlyHint": "yes"}),
        row("x\x00y"),
        row("x␀y", description="looks like the one before"),
    ]
    cards = cards_of(EndpointName("e"), rows)
    assert [(card.name, card.access, card.is_repeatable) for card in cards] == [
        ("e/plain", "write", False),
        ("e/reads", "read", True),
        ("e/again", "write", True),
        ("e/x␀y", "write", False),
    ]
    reads: ToolCard = cards[1]
    assert (reads.title, reads.summary) == ("T␛", "One ⟨U+009B⟩31m.")
    assert reads.description == "One ⟨U+009B⟩31m. Two.\n⟨U+202E⟩Three"
    assert cards[3].raw_tool == "x\x00y"
    schema = {"properties": {"description": {"description": "\x1b", "enum": ["\x1b"]}}}
    assert shown_schema(schema) == {"properties": {"description": {"description": "␛", "enum": ["\x1b"]}}}


SCHEMAS: list[tuple[Any, str, str]] = [
    (None, "it has no schema", ""),
    ({}, "its schema is not one of an object", ""),
    ({"type": "object", "properties": 5}, "properties: 5 is not of type 'object'", ""),
    ({"type": "object", "properties": {"a": {"type": "strin"}}}, "properties/a/type: 'strin' is not valid", ""),
    ({"type": "object", "description": "x" * 300_000}, "more than 256 KiB", ""),
    ({"type": "object", "$schema": 5}, "$schema: 5 is not of type 'string'", ""),
    ({"type": "object", "$ref": "#"}, "", "refers to itself without end"),
    ({"type": "object", "$ref": "http://127.0.0.1:9/x"}, "", "refers to what is not in it"),
    # A pattern that would keep Python busy for longer than the universe is old is left to its server.
    ({"type": "object", "properties": {"pattern": {"pattern": "(a+)+$"}}}, "", ""),
    ({"type": "object", "patternProperties": {"(a+)+$": {}}, "additionalProperties": False}, "", ""),
    ({"type": "object", "additionalProperties": False}, "", "('pattern' was unexpected)"),
    ({"type": "object", "$schema": "http://json-schema.org/draft-07/schema#", "required": ["b"]}, "", "'b' is a req"),
]  # fmt: skip


def test_schemas_are_judged_and_arguments_held_against_them() -> None:
    for schema, fault, words in SCHEMAS:
        told = fault_of(schema)
        assert fault in told, schema
        assert bool(told) == bool(fault), schema
        if not told:
            objected = objection(schema, {"pattern": "a" * 60 + "b"})
            assert words in objected, schema
            assert bool(objected) == bool(words), schema


async def test_a_server_at_a_url_is_followed_in_the_stateless_era_and_asked_for_no_more_than_it_lets_us(
    tmp_path: Path,
) -> None:
    tools, bus = [Tool(name="first", input_schema=OBJECT)], InMemorySubscriptionBus()

    async def listed(context: Any, params: Any) -> ListToolsResult:
        del context, params
        return ListToolsResult(tools=tools)

    async def called(context: Any, params: CallToolRequestParams) -> CallToolResult:
        del context
        return CallToolResult(content=[TextContent(type="text", text=json.dumps([params.name]))])

    handler = ListenHandler(bus)
    server = Server("web", on_list_tools=listed, on_call_tool=called, on_subscriptions_listen=handler)
    manager = StreamableHTTPSessionManager(server)

    async def answer(scope: Scope, receive: Receive, send: Send) -> None:
        await manager.handle_request(scope, receive, send)

    async with manager.run(), served(answer) as address, served_kernel() as closed, servers(tmp_path) as found:
        found.add("web", address)
        found.add("closed", closed)
        catalogue = found.catalogue()
        web, closed_one = await catalogue.domains()
        assert [card.name for card in web.cards] == ["web/first"]
        assert isinstance(closed_one.problem, SignInNeeded)
        assert await call(catalogue, "web/first") == ["first"]
        tools.append(Tool(name="second", input_schema=OBJECT))
        with anyio.fail_after(10):
            while (await catalogue.domains("web"))[0].cards is web.cards:
                await bus.publish(ToolsListChanged())
        assert await call(catalogue, "web/second") == ["second"]
        handler.close()
