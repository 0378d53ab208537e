"""What the published program said as an MCP server, and how it ended, for the same replies of the same mothership."""

import asyncio
import json
import re
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import cast

import pytest
from mcp.client import Client
from mcp_types import TextContent

from colonizer_config.address import SocketAddress
from colonizer_config.token import Token
from colonizer_engines.mothership.fixture import load
from colonizer_server.scope import Scope
from colonizer_server.serve import ColonyServer
from colonizer_server.session import Session, asking
from plain_command import process
from real_engine import real_engine
from real_git import new_clone
from recorded import Json, listed_sessions, rows
from scripted_mothership import Reply, scripted_mothership
from served_mothership import OWNER, served
from spoken_server import INITIALIZED, file_of

ROWS = {cast("int", row["n"]): row for row in rows("mcp")}
LAUNCHES = 20
TOKENS = {"owner": 38, "reader": 39, "operator": 40, "globex": 42, "onerepo": 43, "launcher": 44}
"""The rows of `http` in which a mothership tells what these tokens may do; the launcher's was not asked for."""

LISTS = {"owner": 47, "globex": 54}
"""The rows of `http` with the lists that these tokens see."""

OURS = {(17, 12): "no such session", (17, 13): "no such session"}
"""Answers of ours, by row and id, to ids that can be part of no request; the published program sent them."""

TIME = re.compile(r"\d{4}-\d\d-\d\dT[\d:.]+Z")

FIRST_CHANGE = 160
"""From here on the rows of `http` are about colonies that were changed meanwhile."""

FIXTURE = Path(__file__).parents[1] / "data/mothership/fixture.py"


def test_every_recorded_session_is_served_alike() -> None:
    with real_engine():
        for number in ROWS.keys() - {LAUNCHES}:
            check(ROWS[number])
        never_asked = process("mcp", stdin="")
    assert (never_asked.exit, never_asked.stdout) == (1, "")
    assert "the MCP stdio transport failed before the first message" in never_asked.stderr


def check(row: Json) -> None:
    """Has a process of ours say what the published program said."""
    number, argv, whose = row["n"], cast("list[str]", row["argv"]), cast("str | None", row["as"])
    exchange = [one for one in cast("list[Json]", row["exchange"]) if one["recv"] is not None]
    with scripted_mothership(replies(whose)) as mothership:
        host = mothership.host if exchange or row["exit"] == 2 else "127.0.0.1:1"
        environment = {"COLONIZER_BIND": host, "COLONIZER_CONFIG_DIR": "/srv/none"}
        if whose is not None:
            environment["COLONIZER_TOKEN"] = "a-token"
        said = [cast("Json", one["send"]) for one in exchange]
        done = process(*argv, stdin=file_of(*said[:1], INITIALIZED, *said[1:]), **environment)
    assert done.exit == row["exit"], done.stderr
    heard = {answer["id"]: answer for answer in map(json.loads, done.stdout.splitlines())}
    assert len(heard) == len(said)
    for one in exchange:
        request = cast("Json", one["send"])
        expected = expected_answer(one["recv"], (number, request["id"]))
        assert comparable(heard[request["id"]], request["method"]) == comparable(expected, request["method"]), number
    assert {asked.token for asked in mothership.asked} <= {"a-token"}
    if exchange:
        tools = next(
            (len(one["recv"]["result"]["tools"]) for one in exchange if one["send"]["method"] == "tools/list"), 0
        )
        scope = {0: "", 6: "read", 9: "operate", 10: "launch"}[tools]
        assert done.stderr.startswith(f"colonizer mcp: serving {tools or ''}")
        assert done.stderr.endswith(f"of 10 tools at scope {scope}\n" if scope else "\n")
    elif row["exit"] != 2:
        assert done.stderr.startswith(str(row["stderr"]).partition("error sending")[0])


def replies(whose: str | None) -> Mapping[tuple[str, str], Reply]:
    """What the mothership answers to this token."""
    recorded = {cast("int", row["n"]): row for row in rows("http") if row["request"]["method"] == "GET"}
    asked = [row for number, row in recorded.items() if number < FIRST_CHANGE and row["as"] in ("owner", None)]
    asked += [recorded[TOKENS[whose or "owner"]], recorded[LISTS.get(whose or "", LISTS["owner"])]]
    # Not every colony was asked for by itself; what the list says of one is the greater part of it.
    found = {("GET", f"/api/sessions/{session['id']}"): Reply.json(session) for session in listed_sessions()}
    found |= {("GET", str(row["request"]["path"])): _reply(row["response"]) for row in asked}
    return found if whose != "globex" else {key: reply for key, reply in found.items() if "a1b2c3d4" not in key[1]}


def _reply(response: Json) -> Reply:
    text = json.dumps(response["json"]) if "json" in response else response.get("text", "")
    return Reply(response["status"], text, response["content_type"] or None)


def expected_answer(recorded: Json, place: tuple[object, object]) -> Json:
    words = OURS.get(cast("tuple[int, int]", place))
    if words is None:
        return recorded
    return {**recorded, "result": {"content": [{"type": "text", "text": words}], "isError": True}}


def comparable(answer: Json, method: str) -> Json:
    """What has to be equal: the name, version and instructions are ours, so are descriptions and annotations."""
    if method == "initialize":
        result = answer["result"]
        return {key: result[key] for key in ("protocolVersion", "capabilities")}
    if method == "tools/list":
        return {"tools": [plain(tool) for tool in answer["result"]["tools"]]}
    if "error" in answer:
        return {**answer, "error": {key: answer["error"][key] for key in ("code", "message")}}
    return cast("Json", json.loads(TIME.sub("T", json.dumps(answer))))


def plain(tool: Json) -> Json:
    schema = tool["inputSchema"]
    bare = {
        name: {key: value for key, value in field.items() if key != "description"}
        for name, field in schema["properties"].items()
    }
    return {"name": tool["name"], "inputSchema": {**schema, "properties": bare}}


@pytest.mark.anyio
async def test_launches_are_guarded_and_answered_as_recorded(tmp_path: Path) -> None:
    state = tmp_path / "state"
    await asyncio.to_thread(subprocess.run, [sys.executable, str(FIXTURE), str(state)], check=True)
    async with served(
        tmp_path,
        recovering=False,
        running=False,
        know=False,
        fill=lambda store, out: load(state, store, out),
    ) as mothership:
        new_clone(tmp_path / "widgets")
        await mothership.mothership.repositories.add(tmp_path / "widgets", "acme/widgets")
        session = Session(Scope.LAUNCH, SocketAddress(mothership.socket), Token(OWNER), "it does not answer")
        async with asking(session) as mothership_asked, Client(ColonyServer(mothership_asked, session.scope)) as client:
            for one in cast("list[Json]", ROWS[LAUNCHES]["exchange"])[2:]:
                asked, expected = one["send"]["params"], one["recv"]["result"]
                answer = await client.call_tool(asked["name"], asked["arguments"])
                (block,) = answer.content
                assert isinstance(block, TextContent)
                assert (without_id(block.text), answer.is_error) == (
                    without_id(expected["content"][0]["text"]),
                    expected["isError"],
                )


def without_id(text: str) -> str:
    return re.sub(r'"id":"[0-9a-f]{8}"', '"id":""', text)
