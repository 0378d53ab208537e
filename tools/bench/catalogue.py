"""`colonizer mcp --catalog` over ten servers with 600 tools: its start in tokens, a search, a call, reconnections.

A call is held against the same call made to the server itself, both over stdio.
"""

import asyncio
import gc
import json
import os
import sys
import time
from collections.abc import Awaitable, Callable, Sequence
from contextlib import closing
from pathlib import Path

from bench.engine import engine
from bench.figure import Figure, median, percentile
from bench.machine import CHECKOUT, PROGRAM, home, memory_mib
from bench.mcp import Spoken, spoken
from colonizer_client.catalogue.access import OwnAccess, Reachable
from colonizer_client.catalogue.catalogue import Catalogue, CatalogueCall, Result
from colonizer_client.catalogue.pool import Pool
from colonizer_client.clock import SystemClock
from colonizer_client.errors import NoReply
from colonizer_client.identity import EndpointName
from colonizer_client.mcp import consents
from colonizer_client.store import Store
from colonizer_config.address import SocketAddress, StdioAddress
from colonizer_config.endpoints import Endpoint, Origin
from colonizer_config.paths import Paths
from colonizer_config.secrets import TokenStore
from colonizer_config.settings import Kind
from colonizer_config.token import Token

SERVERS, TOOLS_EACH = 10, 60
CALLS = 300
SEARCHES = 50
RECONNECTIONS = 1_000
WARM_UP = 100

SERVER = CHECKOUT / "tests/client/catalogue/planned_server.py"
COSTLY = frozenset({"call_tool", "describe_tool", "discover_tools", "search_tools"})


def measure() -> None:
    """Prints the figures."""
    with home() as place:
        commands = [_command(place, f"server{number}") for number in range(SERVERS)]
        _configure(commands)
        with engine(0), spoken((*PROGRAM, "mcp", "--catalog", "--scope", "operate")) as ours:
            _tokens(ours)
            _searches(ours)
            with spoken(commands[0].command) as direct:
                _calls(ours, direct)
        asyncio.run(_reconnections(place))


def _tokens(ours: Spoken) -> None:
    hello = json.loads(ours.open())["result"]
    tools = json.loads(ours.ask("tools/list", {}))["result"]["tools"]
    said = hello["instructions"] + json.dumps([tool for tool in tools if tool["name"] in COSTLY])
    note = "a token taken for four characters"
    Figure(name="catalogue: start", value=len(said) / 4, unit="tokens", target=1000, note=note).print()


def _searches(ours: Spoken) -> None:
    def search() -> None:
        assert b"server3/tool_7_of_server3" in ours.call("search_tools", query="tool 7 of server3")

    Figure(name="catalogue: first search, ten servers started", value=_taken(search), unit="ms").print()
    Figure(name="catalogue: search, p50", value=median([_taken(search) for _ in range(SEARCHES)]), unit="ms").print()


def _calls(ours: Spoken, direct: Spoken) -> None:
    direct.open()
    tool = "tool_0_of_server0"
    through: list[float] = []
    straight: list[float] = []
    for _ in range(CALLS):
        straight.append(_taken(lambda: direct.call(tool, text="x")))
        through.append(_taken(lambda: ours.call("call_tool", name=f"server0/{tool}", arguments={"text": "x"})))
    for part, share in (("p50", 0.5), ("p95", 0.95)):
        value, peer = percentile(through, share), percentile(straight, share)
        name = f"catalogue: a call, {part}"
        Figure(name=name, value=value, unit="ms", peer=peer, peer_name="the same call to the server itself").print()


async def _reconnections(place: Path) -> None:
    """Has a server die in each call."""
    paths = Paths.from_environment()
    address = _command(place, "dying", [_tool("die")])
    endpoint = Endpoint(EndpointName("dying"), Kind.MCP, address, Origin.SETTINGS)
    with closing(Store(place / "reconnections.db")) as store:
        consents.agree(store, endpoint.name, address)
        nowhere = SocketAddress(place / "none")
        pool = Pool(OwnAccess(nowhere, lambda: Token("none"), TokenStore(paths), lambda: store), SystemClock())
        catalogue = Catalogue(pool, lambda: [Reachable(endpoint, {"HOME": "/"})])
        async with pool.used():
            await _die(catalogue, WARM_UP)
            before = _own_memory()
            await _die(catalogue, RECONNECTIONS)
            grown = _own_memory() - before
    name = f"catalogue: memory grown by {RECONNECTIONS:,} reconnections"
    Figure(name=name, value=grown, unit="MiB", target=5).print()


async def _die(catalogue: Catalogue, times: int) -> None:
    for _ in range(times):
        try:
            await catalogue.call(CatalogueCall(await catalogue.card("dying/die"), {}), _unheard, _let_through)
        except NoReply:
            continue
        raise AssertionError("it should have died")


async def _unheard(progress: float, total: float | None, message: str | None) -> None:
    del progress, total, message


def _own_memory() -> float:
    gc.collect()
    return memory_mib(os.getpid())


def _taken(work: Callable[[], object]) -> float:
    """How long it takes, in ms."""
    before = time.perf_counter()
    work()
    return (time.perf_counter() - before) * 1000


def _configure(commands: Sequence[StdioAddress]) -> None:
    """Settings with these servers, to which the person agreed."""
    paths = Paths.from_environment()
    paths.settings.parent.mkdir(parents=True, exist_ok=True)
    rows: list[str] = []
    with closing(Store(paths.engine.cockpit_db)) as store:
        for number, address in enumerate(commands):
            words = json.dumps(list(address.command))
            rows.append(f'[[endpoints]]\nname = "server{number}"\nkind = "mcp"\ncommand = {words}\n')
            consents.agree(store, EndpointName(f"server{number}"), address)
    paths.settings.write_text("\n".join(rows), encoding="utf-8")


def _command(place: Path, name: str, tools: Sequence[object] = ()) -> StdioAddress:
    plan = place / f"{name}.json"
    plan.write_text(json.dumps(tools or [_tool(f"tool_{number}_of_{name}") for number in range(TOOLS_EACH)]))
    return StdioAddress((sys.executable, "-I", "-S", str(SERVER), str(plan), str(place / f"{name}.heard")))


def _tool(name: str) -> object:
    text = {"type": "string", "description": "What is given back."}
    schema = {"type": "object", "properties": {"text": text}}
    return {"name": name, "description": f"Gives back what {name} is given.", "inputSchema": schema}


async def _let_through(call: CatalogueCall, run: Callable[[], Awaitable[Result]]) -> Result:
    del call
    return await run()


if __name__ == "__main__":
    measure()
