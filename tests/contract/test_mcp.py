"""Both programs as MCP servers, each against the published mothership and against ours: they say the same."""

import asyncio
import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from colonizer_config.settings import AgentSettings
from colonizer_engines.mothership.fixture import load
from colonizer_server.scope import Scope
from colonizer_server.tools import tools_at
from contract.published import FIXTURE, FOLDER, KIT, TOKEN, every_state, program
from plain_command import LIMIT_S, PROGRAM, own_environment
from real_engine import real_engine
from recorded import Json
from served_mothership import served, settings
from spoken_server import spoken

COLONIES = ("a1b2c3d4", "5e6f7a8b", "4057113e", "910be000", "09e4ed00", "e3a6ed00", "1d1e0000", "51905e0d", "ffffffff")

READING: tuple[tuple[str, Json], ...] = (
    *(
        ("list_colonies", given)
        for given in ({}, {"org": "acme"}, {"org": "ACME"}, {"status": "QUEUED"}, {"org": None})
    ),
    *((tool, {"id": colony}) for tool in ("colony_status", "colony_question", "colony_pr") for colony in COLONIES),
    *(("colony_diff", {"id": colony, "stat_only": only}) for colony in COLONIES for only in (True, None)),
    ("colony_status", {}),
    ("colony_status", {"id": 3}),
    ("colony_status", {"id": None}),
    ("colony_status", {"id": ["a"]}),
    ("colony_diff", {"id": "a1b2c3d4", "stat_only": "yes"}),
    ("colony_diff", {"id": "a1b2c3d4", "stat_only": 1}),
    ("launch_colony", {"repo": "acme/widgets", "issue": 1.5}),
    ("launch_colony", {"repo": "acme/widgets", "issue": -1}),
    ("launch_colony", {"repo": "acme/widgets", "issue": True}),
    ("launch_colony", {"issue": 3}),
    ("launch_colony", {"repo": "nope"}),
    ("launch_colony", {"repo": "acme/widgets", "issue": 13}),
    ("search_repo_map", {"repo": "widgets", "query": "x"}),
    ("no_such_tool", {}),
)
"""Calls that change nothing."""

MAPS: tuple[tuple[str, Json], ...] = (
    *(
        ("search_repo_map", {"repo": "acme/widgets", "query": query})
        for query in ("app", "src/app.py", " SQLITE ", "zzz")
    ),
    ("search_repo_map", {"repo": "acme/widgets", "query": ""}),
    ("search_repo_map", {"repo": "globex/rocket", "query": "app"}),
)
"""Ours draws no maps."""

CHANGING: tuple[tuple[str, Json], ...] = (
    *(("answer_colony", {"id": "5e6f7a8b", "answer": answer}) for answer in ("0", "4", "whatever")),
    ("answer_colony", {"id": "4057113e", "answer": "yes"}),
    ("answer_colony", {"id": "910be000", "answer": "yes"}),
    ("answer_colony", {"id": "910be000", "answer": "yes"}),
    ("answer_colony", {"id": "a1b2c3d4", "answer": "1"}),
    *(("stop_colony", {"id": colony}) for colony in ("9b115400", "e3a6ed00", "1d1e0000", "1d1e0000", "ffffffff")),
    *(("resume_colony", {"id": colony}) for colony in ("a1b2c3d4", "ffffffff")),
)
"""In this order; each program on a mothership of its own. Ours sends no empty answer, theirs does."""

METHODS = ("ping", "nope/nothing", "prompts/list", "resources/list", "resources/templates/list", "tools/list")


def conversation(calls: tuple[tuple[str, Json], ...], host: str, command: tuple[str, ...]) -> Iterator[object]:
    """What a program answers, tool by tool; of its list what does not stand in its own words."""
    with spoken("mcp", "--scope", "launch", program=command, COLONIZER_BIND=host, COLONIZER_TOKEN=TOKEN) as server:
        opened = server.open()["result"]
        yield opened["protocolVersion"], opened["capabilities"]
        for method in METHODS:
            yield method, spared(server.ask(method))
        for tool, arguments in calls:
            yield tool, arguments, spared(server.ask("tools/call", name=tool, arguments=arguments))
        assert server.end()[0] == 0


def spared(answer: Json) -> Json:
    answer = {key: value for key, value in answer.items() if key != "id"}
    if "error" in answer:
        return {key: answer["error"][key] for key in ("code", "message")}
    tools = answer["result"].get("tools")
    if tools is None:
        return answer
    return {tool["name"]: without_words(tool["inputSchema"]) for tool in tools}


def without_words(schema: Json) -> Json:
    properties = {
        name: {key: value for key, value in field.items() if key != "description"}
        for name, field in schema["properties"].items()
    }
    return {**schema, "properties": properties}


THEIRS = (str(program("colonizer")),)


def apart(calls: tuple[tuple[str, Json], ...], ours_at: str, theirs_at: str) -> list[tuple[object, object]]:
    """Where the two programs part."""
    pairs = zip(conversation(calls, ours_at, PROGRAM), conversation(calls, theirs_at, THEIRS), strict=True)
    return [(mine, theirs) for mine, theirs in pairs if mine != theirs]


def test_both_servers_agree_on_published_motherships(tmp_path: Path) -> None:
    (tmp_path / "other").mkdir()
    with real_engine(), every_state(tmp_path) as one, every_state(tmp_path / "other") as other:
        assert apart((*READING, *MAPS), one.host, one.host) == []
        assert apart(CHANGING, one.host, other.host) == []


@pytest.mark.anyio
async def test_both_servers_agree_on_ours(tmp_path: Path) -> None:
    state = tmp_path / "state"
    subprocess.run([sys.executable, str(FIXTURE), str(state)], check=True)  # noqa: ASYNC221  # nothing else runs yet
    with real_engine():
        async with served(
            tmp_path,
            given=settings(agents={"claude-code": AgentSettings(("/bin/true",))}),
            recovering=False,
            running=False,
            know=False,
            over_tcp=True,
            fill=lambda store, out: load(state, store, out),
        ) as mothership:
            host = mothership.http.base_url.netloc.decode()
            assert await asyncio.to_thread(apart, READING, host, host) == []
            changed = await asyncio.to_thread(list, conversation(CHANGING, host, THEIRS))
            assert len(changed) == 1 + len(METHODS) + len(CHANGING)


def test_a_client_of_the_sdks_first_generation_is_served() -> None:
    python = Path(FOLDER) / "mcp1/bin/python"
    if not python.exists():
        pytest.skip(f"no SDK of the first generation in {python.parents[1]}")
    with real_engine():
        environment = own_environment({})
        ours = ("env", f"PYTHONPATH={environment.pop('PYTHONPATH')}", *PROGRAM, "mcp")
        done = subprocess.run(
            [python, KIT / "old_client.py", *ours],
            capture_output=True,
            encoding="utf-8",
            env=environment,
            timeout=LIMIT_S,
            check=True,
        )
    assert done.stderr == "colonizer mcp: serving 6 of 10 tools at scope read\n"
    assert json.loads(done.stdout) == {
        "server": "colonizer",
        "version": "2025-11-25",
        "tools": [tool.name for tool in tools_at(Scope.READ)],
        "colonies": 0,
        "missing": [True, "no such session"],
    }
