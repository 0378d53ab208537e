"""Real connections: to a program with every quirk of the stock kernel, and to our own server over HTTP."""

import asyncio
import json
import os
import socket
import sys
import time
from collections.abc import AsyncGenerator, Generator, Mapping
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path
from typing import Any

import pytest
import uvicorn
from starlette.types import ASGIApp, Receive, Scope, Send

from client.hand_clock import LONG_S
from client.kernel.quirky_kernel import FOREIGN
from colonizer_client.clock import SystemClock
from colonizer_client.errors import (
    ClientError,
    NoReply,
    NotOffered,
    RateLimited,
    SignInNeeded,
    ToolFailed,
    Unreachable,
    Unreadable,
)
from colonizer_client.kernel import calls
from colonizer_client.kernel.calls import Call
from colonizer_client.kernel.decode import GateReply
from colonizer_client.kernel.models import (
    OutcomeOrder,
    PlanReview,
    Profile,
    ProposalOrder,
    PruningReport,
    Recorded,
    SignalType,
    Status,
    Trace,
)
from colonizer_client.kernel.pace import Pacer
from colonizer_client.kernel.session import KernelSession
from colonizer_client.kernel.transports import open_http, open_stdio
from colonizer_config.address import HttpAddress, StdioAddress
from colonizer_config.token import Token
from colonizer_engines.kernel.kernel import Kernel
from colonizer_engines.kernel.rules import SEED
from colonizer_engines.kernel.serve import KernelServer, Worker
from colonizer_engines.kernel.wire import PRESETS
from colonizer_engines.serve import over_http
from recorded import rows

pytestmark = pytest.mark.anyio

QUIRKY = Path(__file__).with_name("quirky_kernel.py")
ENVIRONMENT = {"HOME": "/", "PATH": os.environ["PATH"]}
FAST = 1e6
"""Calls a second, where a test is about something else than their pace."""

REPLAYED = (
    "seq_full_lifecycle", "seq_two_agents_shared_field", "gate_execute_clean_target", "propose_evidence_variants",
    "record_bad_args", "record_empty_strings", "fals_seed_example", "fals_malformed", "fals_all_ten",
    "prune_recent_and_stale", "query_evidence_shapes", "propose_odd_targets",
)  # fmt: skip


def quirky(folder: Path, answers: list[Any], **plan: object) -> StdioAddress:
    """The command of a kernel that gives these answers."""
    path = folder / "plan.json"
    path.write_text(json.dumps({"answers": answers, "heard": str(folder / "heard"), **plan}), encoding="utf-8")
    return StdioAddress((sys.executable, "-I", "-S", str(QUIRKY), str(path)))


def read_by(row: Mapping[str, Any]) -> Call[object]:
    """The call that a recorded row is of, with its very arguments."""
    order = ("a", "b", "c", "d", "e")
    readers: dict[str, Call[Any]] = {
        "colony_propose_action": calls.propose(ProposalOrder(*order)),
        "colony_record_outcome": calls.record(OutcomeOrder(*order[:4], tests_passed=True)),
        "colony_agent_profile": calls.profile("a"),
        "colony_status": calls.status(),
        "colony_pheromone_query": calls.query("a", SignalType.RISK),
        "colony_falsify_plan": calls.falsify({}),
        "colony_pruning_report": calls.pruning_report(),
        "colony_tick": calls.tick(),
    }
    return Call(row["tool"], readers[row["tool"]].read, row["arguments"])


def holds_error(row: Mapping[str, Any]) -> bool:
    """Whether the recorded answer says in any of its ways that the call failed."""
    return bool(row["is_error"]) or '"error":' in json.dumps(row["result"])[:12]


def figures(found: object) -> object:
    """What of a model is held against the recorded value."""
    match found:
        case Status():
            return found.tick, found.total_signals, len(found.recent)
        case Trace():
            return found.place.raw, found.strength, found.decay
        case Profile():
            return found.trust, found.proposals, found.role
        case Recorded():
            return found.trust, found.role
        case PlanReview():
            return [finding.vector for finding in found.findings], found.recommendation, found.mean
        case PruningReport():
            return len(found.candidates)
        case GateReply():
            return found.decision, found.score, found.severity
        case _:
            return found


def told(value: Any) -> object:
    """The same of a recorded value."""
    match value:
        case {"tick_count": tick, "pheromone_summary": {"total_signals": total}, "recent_consequences": recent}:
            return tick, total, len(recent)
        case [{"location": place, "strength": strength, "decay_rate": decay}]:
            return place, strength, decay
        case {"trust_score": trust, "total_proposals": proposals, "role": role}:
            return trust, proposals, role
        case {"trust_score": trust, "role": role}:
            return trust, role
        case {"findings": findings, "recommendation": advice, "severity_score": mean}:
            return [row["attack_vector"] for row in findings], advice, mean
        case {"total_candidates": total}:
            return total
        case {"decision": decision, "gate_score": score, "falsification_severity": severity}:
            return decision, score, severity
        case _:
            return None


async def test_every_quirk_of_the_stock_kernel_is_survived(tmp_path: Path) -> None:
    recorded = [row for row in rows("kernel/calls") if row["case"] in REPLAYED]
    address = quirky(tmp_path, list(recorded), child=str(tmp_path / "left"))
    failed = 0
    async with open_stdio(address, ENVIRONMENT, "") as wire:
        session = KernelSession(wire, Pacer(SystemClock(), FAST), is_embedded=False)
        assert session.capabilities.other_tools == FOREIGN + 1
        assert session.capabilities.tools == calls.TOOLS
        assert session.capabilities.server == "codomyrmex-mcp 1.0.0"
        assert session.preset.name == "codomyrmex-1.3"
        assert wire.facts.mode == "legacy"
        for row in recorded:
            try:
                found = await session.run(read_by(row))
            except (ToolFailed, NotOffered):
                failed += 1
                assert holds_error(row), row
            else:
                assert figures(found) == told(row["result"]), row
        with pytest.raises(NotOffered):
            await session.run(calls.matrix())
        with pytest.raises(NotOffered, match="no answer is recorded"):
            await session.run(calls.query("nowhere", SignalType.NEED))
    assert failed == sum(map(holds_error, recorded)) > 20
    heard = (tmp_path / "heard").read_text(encoding="utf-8").splitlines()
    assert len(heard) == len(recorded) + 1
    assert all(name.startswith("codomyrmex.colony_") for name in heard)
    assert has_ended(int((tmp_path / "left").read_text(encoding="ascii")))


def has_ended(process: int) -> bool:
    """Whether the process ends, which takes a moment after the signal."""
    deadline = time.monotonic() + LONG_S
    while is_running(process) and time.monotonic() < deadline:
        time.sleep(0.01)
    return not is_running(process)


def is_running(process: int) -> bool:
    """Whether the process is there and no zombie."""
    try:
        return "\nState:\tZ" not in Path(f"/proc/{process}/status").read_text(encoding="ascii")
    except FileNotFoundError:
        return False


STATUS = {"tool": "colony_status", "arguments": {}, "result": {"tick_count": 4}, "is_error": False}


async def test_a_process_that_dies_is_told_of_with_its_last_words(tmp_path: Path) -> None:
    address = quirky(tmp_path, [STATUS], calls_lived=2, limit=1)
    async with open_stdio(address, ENVIRONMENT, "legacy") as wire:
        session = KernelSession(wire, Pacer(SystemClock(), FAST), is_embedded=False)
        assert (await session.run(calls.status())).tick == 4
        with pytest.raises(RateLimited, match="too many calls"):
            await session.run(calls.status())
        for _ in range(2):
            with pytest.raises(NoReply, match=r"code 139: .*fault ␛\[2J"):
                await session.run(calls.status())


async def test_what_is_no_kernel_and_what_cannot_run_is_said_in_words(tmp_path: Path) -> None:
    async with open_stdio(quirky(tmp_path, [], tools=["status"]), ENVIRONMENT, "legacy") as wire:
        with pytest.raises(NotOffered, match=r"lists 501 tools and none of a colony kernel: .*--profile full"):
            KernelSession(wire, Pacer(SystemClock()), is_embedded=False)
    for command, words in (
        (("no-such-program-anywhere",), "No such file"),
        ((sys.executable, "-I", "-S", "-c", "import sys; sys.exit('no \x1b[31mlicence')"), "code 1: no ␛"),
        ((sys.executable, "-I", "-S", "-c", "print('hello')"), "code 0"),
    ):
        with pytest.raises(ClientError) as caught:
            async with open_stdio(StdioAddress(command), ENVIRONMENT, "legacy"):
                pass
        assert words in str(caught.value)


# Over HTTP

TOKEN = Token("t" * 64)


class Listener(uvicorn.Server):
    """Says when it listens, and leaves the test its signals."""

    def __init__(self, answer: ASGIApp) -> None:
        super().__init__(uvicorn.Config(answer, port=0, log_config=None, lifespan="off", ws="none"))
        self.listens = asyncio.Event()

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        self.listens.set()

    @contextmanager
    def capture_signals(self) -> Generator[None, None, None]:
        yield


@asynccontextmanager
async def served(answer: ASGIApp) -> AsyncGenerator[HttpAddress, None]:
    """An application on a port of its own."""
    server = Listener(answer)
    task = asyncio.create_task(server.serve())
    async with asyncio.timeout(LONG_S):
        await server.listens.wait()
    port = server.servers[0].sockets[0].getsockname()[1]
    try:
        yield HttpAddress("http", "127.0.0.1", port, "/mcp")
    finally:
        server.should_exit = True
        await task


@asynccontextmanager
async def served_kernel() -> AsyncGenerator[HttpAddress, None]:
    """Our own server, which asks for a token."""
    async with over_http(KernelServer(Worker(Kernel(SEED)), PRESETS["seed"])) as kernel:

        async def guarded(scope: Scope, receive: Receive, send: Send) -> None:
            given = dict(scope["headers"]).get(b"authorization", b"").decode()
            if given == f"Bearer {TOKEN.reveal()}":
                await kernel(scope, receive, send)
                return
            await send({"type": "http.response.start", "status": 401, "headers": []})
            await send({"type": "http.response.body", "body": b"say \x1b[2J who you are"})

        async with served(guarded) as address:
            yield address


@pytest.mark.parametrize("mode", ["", "legacy"])
async def test_our_own_server_is_spoken_to_over_http_in_both_eras(mode: str) -> None:
    async with served_kernel() as address, open_http(address, TOKEN, mode) as wire:
        session = KernelSession(wire, Pacer(SystemClock(), FAST), is_embedded=False)
        assert wire.facts.mode == mode
        assert session.preset.name == "seed"
        assert not session.capabilities.has_operator_calls
        assert session.capabilities.tools == calls.TOOLS
        for _ in range(3):
            await session.run(calls.record(OutcomeOrder("ant", "patch_file", "a.b", "done", True, 1.0)))
        trace = await session.run(calls.query("a.b", SignalType.SUCCESS))
        assert trace is not None
        assert round(trace.strength, 9) == 7.05
        assert await session.run(calls.query("a.b", SignalType.NEED)) is None
        with pytest.raises(ToolFailed, match="human_feedback"):
            await session.run(calls.record(OutcomeOrder("ant", "patch_file", "a.b", "done", True, 7.0)))


async def test_a_server_that_refuses_us_or_is_none_is_told_apart() -> None:
    async with served_kernel() as address:
        for token in (None, Token("x" * 64)):
            with pytest.raises(SignInNeeded, match=r"refused the token: say ␛\[2J"):
                async with open_http(address, token, ""):
                    pass

    async def page(scope: Scope, receive: Receive, send: Send) -> None:
        status = 404 if scope["path"] == "/mcp" else 200
        await send({"type": "http.response.start", "status": status, "headers": [(b"content-type", b"text/html")]})
        await send({"type": "http.response.body", "body": b"<html>"})

    async with served(page) as address:
        with pytest.raises(Unreachable, match="no MCP server"):
            async with open_http(address, None, ""):
                pass
        with pytest.raises((Unreadable, ToolFailed)):
            async with open_http(HttpAddress("http", "127.0.0.1", address.port, "/other"), None, ""):
                pass
    with pytest.raises(Unreachable, match="nothing answers"):
        async with open_http(address, None, ""):
            pass
