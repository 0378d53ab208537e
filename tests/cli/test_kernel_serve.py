"""`colonizer kernel serve`: the local engine's kernel, carried, and kernels of its own."""

import json
import os
import signal
import sys
from collections.abc import Generator, Mapping
from contextlib import contextmanager
from pathlib import Path

import httpx
import pytest
from mcp.client import Client
from mcp.client.stdio import StdioServerParameters, stdio_client

from colonizer_engines.kernel.kernel import Kernel
from colonizer_engines.kernel.rules import SEED
from colonizer_engines.kernel.store import Store
from plain_command import LIMIT_S, colonizer, own_environment, process, started
from real_engine import RealEngine, freeze, real_engine
from real_sshd import free_port
from recorded import Json
from spoken_server import INITIALIZE, INITIALIZED, OUTCOME, file_of, spoken

_RUBBISH = (
    b"rubbish\n",
    b"\n",
    b"[]\n",
    b"7\n",
    b'{"jsonrpc":"2.0"}\n',
    b"\xff\xfe\n",
    b'{"a":' * 5000 + b"\n",
    b'{"jsonrpc":"2.0","id":[],"method":"ping"}\n',
    b'{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":[]}}\n',
)
_HEADERS = {"accept": "application/json, text/event-stream"}


@contextmanager
def killed(engine: RealEngine) -> Generator[None]:
    """What is done inside reaches an engine that answers nothing any more, and is killed then."""
    pid = engine.pid()
    freeze(pid)
    yield
    os.kill(pid, signal.SIGKILL)


def test_what_an_agent_says_is_carried_to_the_local_engine_also_over_its_death() -> None:
    with real_engine() as engine, spoken("kernel", "serve") as agent:
        assert agent.open()["result"]["serverInfo"]["name"] == "colonizer-kernel"
        names = [tool["name"] for tool in agent.ask("tools/list")["result"]["tools"]]
        assert (len(names), {name.partition("_")[0] for name in names}) == (8, {"colony"})
        for line in _RUBBISH:
            agent.say(line)
        agent.call("colony_record_outcome", **OUTCOME)
        with killed(engine):
            asked = agent.send("tools/call", name="colony_tick", arguments={})
        lost = agent.hear()
        assert (lost["id"], lost["error"]["code"]) == (asked, -32000)
        assert "the local engine ended before it answered" in lost["error"]["message"]
        # The next one starts the engine again, which has kept what it answered.
        assert agent.call("colony_agent_profile", agent_id="a")["accepted_proposals"] == 1
        assert agent.ask("no/such/method")["error"]["code"] == -32601
        assert agent.end() == (0, b"")


@pytest.mark.anyio
async def test_a_modern_client_is_carried_too_and_a_file_of_messages_is_answered_whole() -> None:
    with real_engine():
        command = ["-m", "colonizer_cli.main", "kernel", "serve"]
        server = StdioServerParameters(command=sys.executable, args=command, env=own_environment({}))
        async with Client(stdio_client(server)) as client:
            assert client.protocol_version == "2026-07-28"
            assert len((await client.list_tools()).tools) == 8
            assert not (await client.call_tool("colony_tick", {})).is_error
        _check_a_file_of_messages(process("kernel", "serve", stdin=_messages()).stdout, ticks=11)
    _check_a_file_of_messages(process("kernel", "serve", "--memory", stdin=_messages()).stdout, ticks=10)


def _messages() -> str:
    ticks = [_request(number, "colony_tick") for number in range(1, 11)]
    return file_of(INITIALIZE, INITIALIZED, *ticks, b"rubbish\n", _request(11, "colony_status"))


def _request(number: int, tool: str) -> Json:
    return {"jsonrpc": "2.0", "id": number, "method": "tools/call", "params": {"name": tool, "arguments": {}}}


def _check_a_file_of_messages(said: str, ticks: int) -> None:
    """Checks that all requests were answered, and carried out in their order."""
    answers = {answer["id"]: answer["result"] for answer in map(json.loads, said.splitlines())}
    assert set(answers) == set(range(12))
    assert answers[11]["structuredContent"]["tick_count"] == ticks


def test_a_killed_server_has_kept_every_call_that_it_answered_and_no_other_process_can_have_its_folder(
    tmp_path: Path,
) -> None:
    folder = tmp_path / "kernel"
    with spoken("kernel", "serve", "--data-dir", str(folder)) as agent:
        agent.open()
        for line in _RUBBISH:
            agent.say(line)
        answered = [agent.call("colony_record_outcome", **OUTCOME)["consequence_id"] for _ in range(30)]
        second = process("kernel", "serve", "--data-dir", str(folder))
        assert (second.exit, second.stdout) == (1, "")
        assert second.stderr == f"colonizer: the database {folder}/kernel.db is in use by another process\n"
        agent.process.kill()
        agent.process.wait(LIMIT_S)
    assert {path.name: path.stat().st_mode & 0o77 for path in folder.iterdir() if path.stat().st_mode & 0o77} == {}
    store = Store.open(folder / "kernel.db")
    assert Kernel(SEED, store).agent_profile("a")["consequence_history"] == answered
    store.close()


@contextmanager
def serving_http(*argv: str) -> Generator[tuple[str, Path]]:
    """The address of a server, and the file with its token."""
    port = free_port()
    with started("kernel", "serve", "--http", "--bind", f"127.0.0.1:{port}", *argv) as server:
        assert server.stdout is not None
        assert server.stdout.readline() == f"serving http://127.0.0.1:{port}/mcp\n"
        token_file = Path(server.stdout.readline().removeprefix("token in ").strip())
        assert token_file.stat().st_mode & 0o777 == 0o600
        yield f"http://127.0.0.1:{port}", token_file
        server.send_signal(signal.SIGTERM)
        assert server.wait(LIMIT_S) == 0


def test_over_http_only_who_has_the_token_and_names_this_host_is_answered(tmp_path: Path) -> None:
    with serving_http("--data-dir", str(tmp_path / "kernel")) as (url, token_file):
        assert token_file == tmp_path / "kernel/kernel-token"
        _check_the_guard(url, token_file)
    with real_engine() as engine, serving_http() as (url, token_file):
        _check_the_guard(url, token_file)
        # The token of this server is not the engine's, which opens much more.
        assert token_file.read_text() != engine.paths.engine.token.read_text()


def _check_the_guard(url: str, token_file: Path) -> None:
    mine = {"authorization": f"Bearer {token_file.read_text().strip()}"}
    with httpx.Client(base_url=url, headers=_HEADERS, timeout=LIMIT_S) as http:

        def status(path: str = "/mcp", **headers: str) -> int:
            return http.post(path, json=INITIALIZE, headers=headers).status_code

        assert status() == 401
        assert status(authorization="Bearer another") == 401
        assert status(**mine, host="example.org") == 403
        assert status(**mine, origin="https://example.org") == 403
        assert status("/mcp/kernel", **mine) == 404
        opened = http.post("/mcp", json=INITIALIZE, headers=mine)
        session = mine | {"mcp-session-id": opened.headers["mcp-session-id"]}
        assert http.post("/mcp", json=INITIALIZED, headers=session).status_code == 202
        assert _tools(http, session) == {"colony"}
        assert http.post("/mcp", content=b"x" * (5 * 1024 * 1024), headers=session).status_code == 413
        with http.stream("GET", "/mcp", headers=session | {"accept": "text/event-stream"}) as stream:
            assert stream.headers["content-type"] == "text/event-stream"
        assert http.delete("/mcp", headers=session).status_code == 200
        assert status(**session) == 404


def _tools(http: httpx.Client, headers: Mapping[str, str]) -> set[str]:
    asked: Json = {"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {}}
    listed = http.post("/mcp", json=asked, headers=dict(headers)).json()["result"]["tools"]
    return {tool["name"].partition("_")[0] for tool in listed}


def test_options_that_do_not_go_together_are_mistakes_of_usage(tmp_path: Path) -> None:
    for argv in (("--memory", "--data-dir", str(tmp_path)), ("--bind", "127.0.0.1:1"), ("--preset", "other")):
        done = colonizer("kernel", "serve", *argv)
        assert (done.exit, done.stdout) == (2, "")
