"""The kernel behind the local engine: who may ask it what, and what is left when the engine is gone."""

import json
import signal
import time
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import anyio
import httpx
import httpx2
import psutil
import pytest
from mcp.client import Client
from mcp.client.streamable_http import streamable_http_client
from mcp_types import TextContent

from colonizer_engines.kernel.kernel import Kernel
from colonizer_engines.kernel.rules import SEED
from colonizer_engines.kernel.store import Store
from engine_process import WAIT_S, Engine, EnginePlace, running
from real_sshd import free_port

pytestmark = pytest.mark.anyio

_OPENING = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "initialize",
    "params": {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}},
}
_JSON = {"accept": "application/json, text/event-stream", "content-type": "application/json"}


@pytest.fixture
def place(tmp_path: Path) -> EnginePlace:
    return EnginePlace(tmp_path)


@asynccontextmanager
async def asking(place: EnginePlace, path: str = "/mcp/kernel", port: int = 0) -> AsyncGenerator[Client]:
    """The official client, on the private socket or on a port."""
    transport = None if port else httpx2.AsyncHTTPTransport(uds=str(place.socket))
    headers = {"authorization": f"Bearer {place.token}"}
    base = f"http://127.0.0.1:{port}" if port else "http://local"
    async with (
        httpx2.AsyncClient(transport=transport, headers=headers, timeout=WAIT_S) as http,
        Client(streamable_http_client(base + path, http_client=http)) as client,
    ):
        yield client


async def operator(client: Client, call: str, **arguments: object) -> Any:
    answer = await client.call_tool(f"operator_{call}", arguments)
    (block,) = answer.content
    assert isinstance(block, TextContent)
    assert not answer.is_error, block.text
    assert answer.structured_content is None
    return json.loads(block.text)


async def names(client: Client) -> set[str]:
    return {tool.name.partition("_")[0] for tool in (await client.list_tools()).tools}


async def test_only_the_private_socket_has_the_operators_calls(place: EnginePlace) -> None:
    port = free_port()
    with running(place, bind=("127.0.0.1", port)) as engine:
        assert not _has_loaded_the_sdk(engine.process.pid)
        async with asking(place) as client:
            assert await names(client) == {"colony", "operator"}
        for path, on in (("/mcp/kernel/carried", 0), ("/mcp/kernel", port)):
            async with asking(place, path, on) as client:
                assert await names(client) == {"colony"}
        assert _has_loaded_the_sdk(engine.process.pid)
        _check_refusals(place, port)


def _check_refusals(place: EnginePlace, port: int) -> None:
    mine = {"authorization": f"Bearer {place.token}"}
    with httpx.Client(base_url=f"http://127.0.0.1:{port}", headers=_JSON, timeout=WAIT_S) as http:
        for headers, path, status in (
            ({}, "/mcp/kernel", 401),
            ({"authorization": "Bearer another"}, "/mcp/kernel", 401),
            (mine, "/mcp/kernel", 200),
            (mine | {"origin": "http://localhost:1"}, "/mcp/kernel", 200),
            (mine | {"origin": "https://example.org"}, "/mcp/kernel", 403),
            (mine | {"host": "example.org"}, "/mcp/kernel", 403),
            (mine, "/mcp/kernel/carried", 404),
            (mine, "/mcp/kernel/lines", 404),
        ):
            assert http.post(path, json=_OPENING, headers=headers).status_code == status, (headers, path)
    with place.client() as http:
        for path in ("/mcp/kernel", "/mcp/kernel/carried", "/mcp/kernel/lines"):
            assert http.post(path, json=_OPENING, headers={"authorization": "Bearer x"}).status_code == 401


async def test_the_operator_sees_and_changes_what_agents_cannot_until_the_engine_ends(place: EnginePlace) -> None:
    with running(place) as engine:
        async with asking(place) as client:
            await client.list_tools()
            strong = await operator(client, "deposit", location="a.b", signal_type="need", strength=2, decay="slow")
            assert (strong["signals"][0]["strength"], strong["signals"][0]["source"]) == (4.0, "human")
            await client.call_tool("colony_agent_profile", {"agent_id": "ant"})
            matrix = await operator(client, "matrix")
            assert (matrix["locations"], matrix["last_change"]) == (["a.b"], 1)
            assert matrix["strengths"][0][matrix["signal_types"].index("need")] == 4.0
            marks = (await operator(client, "history", location="a.b", signal_type="need"))["marks"]
            assert [(mark["type"], mark["strength"]) for mark in marks] == [("marked", 4.0)]
            assert [row["agent_id"] for row in (await operator(client, "profiles"))["profiles"]] == ["ant"]
            assert (await operator(client, "consequences"))["consequences"] == []
            assert (await operator(client, "protections", locations=["a.b"]))["protections"] == {}
            assert await _change_that_comes(client, after=1) == "ticked"
            assert (await operator(client, "calm_down", reason="enough"))["signals_cleared"] == 1
            changes = await operator(client, "changes", after=2)
            assert ([change["type"] for change in changes["changes"]], changes["last"]) == (["calmed"], 3)
            assert await operator(client, "changes", after=3) == {"changes": [], "last": 3}
            for call, arguments in (
                ("deposit", {"location": "a", "signal_type": "joy", "strength": 1}),
                ("deposit", {"location": "a", "signal_type": "need", "strength": 0}),
                ("deposit", {"location": "a", "signal_type": "need", "strength": 1, "colour": "red"}),
                ("changes", {"wait_s": 3600}),
                ("calm_down", {}),
            ):
                assert (await client.call_tool(f"operator_{call}", arguments)).is_error, (call, arguments)
            await _waits_until_the_engine_ends(client, place, engine)


async def _change_that_comes(client: Client, after: int) -> str:
    """The kind of the change that somebody waited for while it was made; he counts as a client of the engine."""
    kinds: list[str] = []

    async def wait() -> None:
        found = await operator(client, "changes", after=after, wait_s=30)
        kinds.extend(change["type"] for change in found["changes"])

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(wait)
        await anyio.lowlevel.checkpoint()
        await client.call_tool("colony_tick", {})
    return kinds[0]


async def _waits_until_the_engine_ends(client: Client, place: EnginePlace, engine: Engine) -> None:
    """Has the operator wait for a change that never comes; who waits counts as a client, and is let go at the end."""
    last = (await operator(client, "changes"))["last"]
    found: list[Any] = []

    async def wait() -> None:
        found.append(await operator(client, "changes", after=last, wait_s=30))

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(wait)
        await anyio.to_thread.run_sync(_wait_for_a_second_client, place)
        engine.process.send_signal(signal.SIGTERM)
        await anyio.to_thread.run_sync(engine.process.wait, WAIT_S)
    assert found == [{"changes": [], "last": last}]
    assert [path.name for path in place.folder.root.glob("kernel.db*")] == ["kernel.db"]


def _wait_for_a_second_client(place: EnginePlace) -> None:
    with place.client() as http:
        deadline = time.monotonic() + WAIT_S
        while http.get("/api/local/engine").json()["clients"] < 2:
            assert time.monotonic() < deadline


async def test_a_killed_engine_has_kept_every_call_that_it_answered(place: EnginePlace) -> None:
    outcome = {"agent_id": "a", "action_type": "x", "target": "t", "actual_outcome": "done", "tests_passed": True}
    answered: list[str] = []
    with running(place) as engine:
        async with asking(place) as client:
            await client.list_tools()
            for _ in range(20):
                answer: Any = (await client.call_tool("colony_record_outcome", outcome)).structured_content
                answered.append(answer["consequence_id"])
            engine.process.kill()
            engine.process.wait(WAIT_S)
    store = Store.open(place.folder.kernel_db)
    assert Kernel(SEED, store).agent_profile("a")["consequence_history"] == answered
    store.close()


def test_a_kernel_that_cannot_be_had_is_refused_in_words_until_it_can(place: EnginePlace) -> None:
    place.folder.root.mkdir(parents=True, mode=0o700)
    held = Store.open(place.folder.kernel_db)
    settings = place.root / "cockpit.toml"
    with running(place), place.client() as http:
        refused = http.post("/mcp/kernel", json=_OPENING, headers=_JSON)
        assert (refused.status_code, "in use by another process" in refused.text) == (503, True)
        held.close()
        settings.write_text('[kernel]\npreset = "sead"\n', encoding="utf-8")
        refused = http.post("/mcp/kernel", json=_OPENING, headers=_JSON)
        assert (refused.status_code, "nearest valid word is seed" in refused.text) == (503, True)
        settings.write_text('[kernel]\npreset = "codomyrmex-1.3"\n', encoding="utf-8")
        answer = http.post("/mcp/kernel", json=_OPENING, headers=_JSON).json()["result"]
        assert answer["capabilities"]["experimental"]["colonizer/kernel"]["preset"] == "codomyrmex-1.3"


def _has_loaded_the_sdk(pid: int) -> bool:
    return any("pydantic_core" in mapped.path for mapped in psutil.Process(pid).memory_maps())
