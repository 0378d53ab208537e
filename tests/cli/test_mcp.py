"""`colonizer mcp`: the tools over colonies, carried to the local engine, over its death and without it."""

import json
import os
import signal
import sys
from contextlib import ExitStack
from pathlib import Path
from typing import Any, cast

import pytest
from mcp.client import Client
from mcp.client.stdio import StdioServerParameters, stdio_client
from mcp_types import CallToolResult, TextContent

from colonizer_config.address import HttpAddress, SocketAddress
from colonizer_config.paths import Paths
from colonizer_config.token import Token
from colonizer_server.scope import Scope
from colonizer_server.serve import ColonyServer
from colonizer_server.session import Session, asking
from plain_command import own_environment, process
from real_engine import freeze, real_engine
from real_git import new_clone
from recorded import Json
from scripted_mothership import Reply, scripted_mothership
from spoken_server import spoken

QUESTION = {
    "question_id": "q",
    "risk": "low",
    "questions": [{"question": "Which?", "options": [{"label": "A \x1b[31m"}]}],
}
OPERATOR = Reply.json({"owner": False, "name": "operator", "scope": "operate", "orgs": [], "repos": []})
SELF = ("GET", "/api/tokens/self")


def said(answer: CallToolResult) -> str:
    """What a tool answered."""
    (block,) = answer.content
    assert isinstance(block, TextContent)
    return ("ERROR " if answer.is_error else "") + block.text


@pytest.mark.anyio
@pytest.mark.parametrize("mode", ["auto", "legacy"])
async def test_a_colony_is_launched_answered_stopped_and_resumed_by_a_client_of_either_era(
    mode: Any, tmp_path: Path
) -> None:
    clone = new_clone(tmp_path / "clone")
    with real_engine():
        command = ["-m", "colonizer_cli.main", "mcp", "--scope", "launch"]
        # The repository that it stands in is known from then on.
        server = StdioServerParameters(command=sys.executable, args=command, env=own_environment({}), cwd=clone.path)
        async with Client(stdio_client(server), mode=mode) as client:
            assert client.protocol_version == ("2026-07-28" if mode == "auto" else "2025-11-25")
            assert client.server_info is not None
            assert client.server_info.name == "colonizer"
            tools = {tool.name: tool for tool in (await client.list_tools()).tools}
            assert len(tools) == 10
            hints = {name: tool.annotations and tool.annotations.read_only_hint for name, tool in tools.items()}
            assert {name for name, is_read in hints.items() if not is_read} == {
                *("answer_colony", "launch_colony", "resume_colony", "stop_colony"),
            }

            async def call(tool: str, **arguments: object) -> str:
                return said(await client.call_tool(tool, arguments))

            launched = json.loads(await call("launch_colony", repo="local/clone", task="Say hello"))
            colony = launched["id"]
            while not (asked := await call("colony_question", id=colony)).startswith("{"):
                assert asked == "no question is pending for this colony"
            label = json.loads(asked)["questions"][0]["options"][0]["label"]
            assert await call("answer_colony", id=colony, answer="99") == (
                "ERROR there is no option 99; this question has"
                f" {len(json.loads(asked)['questions'][0]['options'])} — see `colonizer ask <id>`"
            )
            assert await call("answer_colony", id=colony, answer="1") == f'{colony}: answer sent, chose "{label}"'
            assert await call("colony_pr", id=colony) == f"{colony}: no pull request yet"
            assert await call("stop_colony", id=colony) == f"{colony}: stopped"
            assert await call("stop_colony", id=colony) == f"{colony}: already_stopped"
            resumed = await call("resume_colony", id=colony)
            assert resumed.startswith(f"{colony}: resumed (")
            assert json.loads(await call("colony_status", id=colony))["id"] == colony
            assert [row["id"] for row in json.loads(await call("list_colonies"))] == [colony]


MODERN = {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientCapabilities": {},
    "io.modelcontextprotocol/clientInfo": {"name": "lines", "version": "1"},
}


def test_lines_of_the_stateless_era_are_answered_without_a_handshake_over_the_engines_death_too() -> None:
    with real_engine() as engine, spoken("mcp") as agent:
        # Outside both eras: told so, and the server keeps waiting.
        assert agent.ask("ping")["result"] == {}
        assert agent.ask("tools/list")["error"]["message"].startswith("request _meta is missing or has malformed")
        assert agent.ask("server/discover", _meta=MODERN)["result"]["capabilities"] == {"tools": {}}
        listed = agent.ask("tools/list", _meta=MODERN)["result"]
        assert (len(listed["tools"]), listed["resultType"]) == (6, "complete")
        os.kill(engine.pid(), signal.SIGKILL)
        called = agent.ask("tools/call", name="list_colonies", arguments={}, _meta=MODERN)
        if "error" in called:  # it died while it was asked
            assert "the local engine ended before it answered" in called["error"]["message"]
            called = agent.ask("tools/call", name="list_colonies", arguments={}, _meta=MODERN)
        assert called["result"]["content"] == [{"type": "text", "text": "[]"}]
        hidden = agent.ask("tools/call", name="stop_colony", arguments={"id": "a"}, _meta=MODERN)["error"]
        assert hidden == {"code": -32602, "message": "tool not found"}


def test_resources_are_served_where_they_are_asked_for_and_a_client_that_listens_may_leave() -> None:
    with real_engine(), spoken("mcp", "--resources") as agent:
        discovered = agent.ask("server/discover", _meta=MODERN)["result"]["capabilities"]
        assert discovered.keys() == {"prompts", "resources", "tools"}
        read = agent.ask("resources/read", uri="needs-you://", _meta=MODERN)["result"]
        assert read["contents"] == [
            {"uri": "needs-you://", "mimeType": "text/plain", "text": "Nothing needs a person."}
        ]
        templates = agent.ask("resources/templates/list", _meta=MODERN)["result"]["resourceTemplates"]
        assert templates[0]["uriTemplate"] == "colony://local/{id}"
        agent.send("subscriptions/listen", notifications={"resourcesListChanged": True}, _meta=MODERN)
        assert agent.hear()["method"] == "notifications/subscriptions/acknowledged"
        assert agent.end()[0] == 0
    refused = process("mcp", "--resources", "install", "codex", "--print")
    assert (refused.exit, refused.stdout) == (2, "")
    assert "--resources goes after `install`" in refused.stderr


def test_what_was_under_way_when_the_engine_died_is_told_and_never_sent_again() -> None:
    replies = {SELF: OPERATOR, ("POST", "/api/sessions/a/stop"): Reply.json({"result": "stopped"})}
    with real_engine() as engine, scripted_mothership(replies) as mothership:
        named = {"COLONIZER_BIND": mothership.host, "COLONIZER_TOKEN": "a-token"}
        with spoken("mcp", **named) as agent:
            agent.open()
            assert words(agent.ask("tools/call", name="stop_colony", arguments={"id": "a"})) == "a: stopped"
            pid = engine.pid()
            freeze(pid)
            lost = agent.send("tools/call", name="stop_colony", arguments={"id": "a"})
            os.kill(pid, signal.SIGKILL)
            told = agent.hear()
            assert (told["id"], told["error"]["code"]) == (lost, -32000)
            assert "whether the call was carried out is not known" in told["error"]["message"]
            # The next one starts the engine again, which is told of the same session.
            assert words(agent.ask("tools/call", name="colony_status", arguments={"id": "a"})) == "no such session"
            assert agent.end() == (0, b"colonizer mcp: serving 9 of 10 tools at scope operate\n")
        assert [one.path for one in mothership.asked if one.method == "POST"] == ["/api/sessions/a/stop"]


@pytest.mark.anyio
async def test_the_local_engine_alone_is_given_what_agents_need_of_the_shell(tmp_path: Path) -> None:
    replies = {
        ("POST", "/api/sessions"): Reply.json({"id": "a", "status": "queued"}),
        ("POST", "/api/sessions/a/resume"): Reply.json({"status": "queued"}),
    }
    for place, given in ((tmp_path / "s", {"MODEL_KEY": "k"}), (None, {})):
        with scripted_mothership(replies, place) as mothership:
            own = SocketAddress(tmp_path / "s")
            server = own if place else HttpAddress("http", "127.0.0.1", int(mothership.port))
            told = Session(Scope.LAUNCH, server, Token("a-token"), "", {"MODEL_KEY": "k"}).to_header()
            session = Session.from_header(told, own, Token("a-token"))
            async with asking(session) as asked, Client(ColonyServer(asked, session.scope)) as client:
                await client.call_tool("launch_colony", {"repo": "acme/widgets"})
                await client.call_tool("resume_colony", {"id": "a"})
        launched, resumed = (cast("Json", one.sent or {}) for one in mothership.asked)
        assert launched.pop("agent_env", {}) == resumed.get("agent_env", {}) == given
        assert list(launched) == [
            *("repo", "issue", "instructions", "autopilot", "model_override"),
            *("allow_duplicate", "queue_behind_holder", "allow_epic"),
        ]


def test_where_no_engine_can_run_the_process_serves_by_itself() -> None:
    replies = {
        SELF: OPERATOR,
        ("GET", "/api/sessions/a/question"): Reply.json(QUESTION),
        ("POST", "/api/sessions/a/answer"): Reply(204, "", None),
        ("GET", "/api/sessions/b"): Reply(500, "", None),
        ("GET", "/api/sessions/c"): Reply(200, "<html>"),
        ("GET", "/api/sessions/d/question"): Reply.json({"questions": 7}),
        ("GET", "/api/sessions"): Reply.json({"error": "no"}),
    }
    Paths.from_environment().engine.root.parent.mkdir(parents=True)
    Paths.from_environment().engine.root.touch()  # where a folder should be
    with ExitStack() as stack:
        mothership = stack.enter_context(scripted_mothership(replies))
        named = {"COLONIZER_BIND": mothership.host, "COLONIZER_TOKEN": "a-token"}
        with spoken("mcp", **named) as agent:
            agent.open()

            def call(tool: str, **arguments: object) -> str:
                return words(agent.ask("tools/call", name=tool, arguments=arguments))

            assert call("answer_colony", id="a", answer="1") == 'a: answer sent, chose "A ␛[31m"'
            assert call("answer_colony", id="a", answer="no") == "a: answer sent, sent a free-text note"
            assert call("colony_status", id="b") == "500 Internal Server Error"
            assert call("colony_status", id="c").startswith("the mothership answered 200 OK with something but JSON:")
            assert call("answer_colony", id="d", answer="1").startswith("the question came back in a shape")
            assert call("list_colonies") == "[]"
            assert call("colony_status", id="a" * 100_000) == "no such session"
            agent.say({"jsonrpc": "2.0", "id": "odd", "method": "tools/list", "params": [1]})
            assert agent.hear() == {
                "jsonrpc": "2.0",
                "id": "odd",
                "error": {"code": -32600, "message": "Invalid request"},
            }
            stack.close()
            silence = call("list_colonies")
            assert silence == f"no mothership answering on http://{mothership.host}: Connection refused"
            _, told = agent.end()
    assert b"serving from this process instead" in told


def words(answer: Json) -> str:
    """What a tool answered."""
    return str(answer["result"]["content"][0]["text"])
