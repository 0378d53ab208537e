"""`colonizer mcp --catalog`: the tools of other servers, behind four, in the local engine."""

import json
from contextlib import closing
from pathlib import Path
from typing import Any

from client.catalogue import six_hundred
from colonizer_client.identity import EndpointName
from colonizer_client.mcp import consents
from colonizer_client.store import Store
from colonizer_config.address import StdioAddress
from colonizer_config.paths import Paths
from plain_command import colonizer
from real_engine import real_engine
from spoken_server import Spoken, spoken
from typed_terminal import typed

ROWS = [
    {
        "name": "look",
        "description": "Looks \x1b[2Jaround. Twice.",
        "inputSchema": {"type": "object", "properties": {"where": {"type": "string", "description": "\u202e"}}},
        "annotations": {"readOnlyHint": True},
    },
    {"name": "odd", "inputSchema": {"type": "object"}},
    {"name": "slow", "inputSchema": {"type": "object"}},
]


def add(name: str, command: StdioAddress) -> None:
    assert colonizer("connect", "add", name, "--kind", "mcp", "--", *command.command).exit == 0


def ask(agent: Spoken, tool: str, **arguments: object) -> Any:
    return agent.ask("tools/call", name=tool, arguments=arguments)["result"]


def told(agent: Spoken, tool: str, **arguments: object) -> Any:
    result = ask(agent, tool, **arguments)
    assert not result.get("isError"), result
    return json.loads(result["content"][0]["text"])


def refused(agent: Spoken, tool: str, **arguments: object) -> str:
    result = ask(agent, tool, **arguments)
    assert result["isError"] is True
    return str(result["content"][0]["text"])


def test_an_agent_finds_reads_and_calls_what_its_scope_allows_once_the_command_is_agreed_to(tmp_path: Path) -> None:
    add("tools", six_hundred.command(tmp_path, "tools", ROWS))
    add("gone", StdioAddress((str(tmp_path / "gone"),)))
    with real_engine():
        with spoken("mcp", "--catalog") as agent:
            agent.open()
            listed = [tool["name"] for tool in agent.ask("tools/list")["result"]["tools"]]
            assert len(listed) == 10
            assert listed == sorted(listed)
            assert {"discover_tools", "search_tools", "describe_tool", "call_tool"} < set(listed)
            # The kernel of the engine is there with the tools of agents, and none of the operator's.
            local, tools, gone = told(agent, "discover_tools")["domains"]
            assert (local["domain"], local["kind"], local["tools"]) == ("local", "kernel", 8)
            asks = "not started: nobody agreed to its command; in a terminal `colonizer connect test {} asks"
            assert (tools["error"], gone["error"]) == (asks.format("tools`"), asks.format("gone`"))
            with typed("connect", "test", "tools") as testing:
                testing.until("The MCP server tools is a command")
                testing.until("[y/N] ")
                testing.type("y")
                testing.until("ok ")
                assert testing.end() == 0
            found = told(agent, "search_tools", query="looking around", domain="tools")
            look = {"name": "tools/look", "summary": "Looks ␛[2Jaround.", "access": "read"}
            withheld = "2 that may change something: they need the scope operate"
            assert found == {"tools": [look], "withheld": withheld}
            assert "gone" in told(agent, "search_tools", query="look")["errors"]
            described = told(agent, "describe_tool", name="tools/look")
            assert described["arguments"]["properties"] == {"where": {"type": "string", "description": "⟨U+202E⟩"}}
            assert refused(agent, "describe_tool", name="tools/odd") == (
                "tools/odd may change something, which needs the scope operate; this session has read"
            )
            assert "may change something" in refused(agent, "call_tool", name="tools/odd")
            assert refused(agent, "call_tool", name="tools/look", arguments={"where": 1}) == (
                "tools/look: the arguments do not fit: where: 1 is not of type 'string'"
            )
            assert told(agent, "call_tool", name="tools/look", arguments={"where": "x"})[2] == {"where": "x"}
            assert "missing field `name`" in refused(agent, "call_tool")
            assert "expected a map" in refused(agent, "call_tool", name="tools/look", arguments="x")
        with spoken("mcp", "--catalog", "--scope", "operate") as agent:
            agent.open()
            assert ask(agent, "call_tool", name="tools/odd") == {
                "content": [{"type": "hologram", "beam": 3}],
                "structuredContent": [1],
                "isError": True,
                "x-more": "\x1b",
            }
            slow = {"name": "call_tool", "arguments": {"name": "tools/slow"}, "_meta": {"progressToken": "p"}}
            agent.say({"jsonrpc": "2.0", "id": "s", "method": "tools/call", "params": slow})
            heard = [agent.hear() for _ in range(4)]
            assert [one["params"]["progress"] for one in heard[:3]] == [0, 1, 2]
            assert heard[3]["id"] == "s"
            assert agent.end() == (
                0,
                b"colonizer mcp: serving 9 of 10 tools at scope operate\n"
                b"colonizer mcp: with a catalogue of 3 MCP servers\n",
            )
    assert (tmp_path / "tools.heard").read_text(encoding="utf-8").split() == ["look", "odd", "slow"]
    assert colonizer("mcp", "--catalog", "install", "codex").exit == 2


def test_a_call_of_another_server_waits_for_the_person_where_one_of_ours_would(tmp_path: Path) -> None:
    command = six_hundred.command(tmp_path, "tools", ROWS)
    add("tools", command)
    with real_engine(), spoken("mcp", "--catalog", "--scope", "operate", "--approve", "writes") as agent:
        agent.open()
        with closing(Store(Paths.from_environment().engine.cockpit_db)) as store:
            consents.agree(store, EndpointName("tools"), command)
        arguments = {"name": "tools/odd", "arguments": {"n": 1}}
        told_of = ask(agent, "call_tool", **arguments)["content"][0]["text"]
        assert told_of.startswith("Not done yet: this call waits for a person's approval")
        (asked,) = json.loads(colonizer("approvals", "list", "--json").stdout)
        assert asked["tool"] == "tools/odd"
        shown = colonizer("approvals", "show", asked["id"]).stdout
        assert "Calls the tool odd of tools." in shown
        assert 'arguments = {"n": 1}' in shown
        assert not (tmp_path / "tools.heard").exists()
        assert colonizer("approvals", "approve", asked["id"], "--digest", asked["digest"]).exit == 0
        assert ask(agent, "call_tool", **arguments)["content"] == [{"type": "hologram", "beam": 3}]
        assert "waits for a person" in ask(agent, "call_tool", **arguments)["content"][0]["text"]
        assert told(agent, "call_tool", name="tools/look")[0] == "look"
    assert (tmp_path / "tools.heard").read_text(encoding="utf-8").split() == ["odd", "look"]
