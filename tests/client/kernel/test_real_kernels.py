"""The cockpit beside the real local engine, and beside our own server as a command on stdio."""

import json
import os
import signal
import sys
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

import psutil
import pytest

from client.cockpits import running, until
from colonizer_client.cockpit import Cockpit
from colonizer_client.endpoint_state import EndpointState
from colonizer_client.engine import LocalEngine
from colonizer_client.identity import EndpointName
from colonizer_client.kernel.connectors import EmbeddedConnector, StdioConnector
from colonizer_client.kernel.models import OutcomeOrder, ProposalOrder, SignalType
from colonizer_client.kernel.view import CautionKind, Condition
from colonizer_client.mothership import calls
from colonizer_client.mothership.oneshot import OneShot
from colonizer_client.store import Store
from colonizer_config.address import StdioAddress
from colonizer_config.paths import Paths

pytestmark = pytest.mark.anyio

LOCAL = EndpointName("local")
PROGRAM = (sys.executable, "-m", "colonizer_cli.main")
PROPOSAL = ProposalOrder("ant", "patch_file", "a.b", "the parser drops the last line", "git revert HEAD, then test")


@contextmanager
def own_engine() -> Generator[LocalEngine]:
    engine = LocalEngine(Paths.from_environment(), (*PROGRAM, "engine", "run"))
    try:
        yield engine
    finally:
        if engine.is_running():
            process = psutil.Process(pid_of(engine))
            OneShot(engine.address, engine.token()).run(calls.stop_engine())
            psutil.wait_procs([process], timeout=30)


def pid_of(engine: LocalEngine) -> int:
    return int(json.loads(engine.paths.engine.lock.read_text(encoding="ascii"))["pid"])


def cockpit_at(folder: Path) -> Cockpit:
    return Cockpit(lambda: Store(folder / "cockpit.db"))


async def test_the_embedded_kernel_tells_all_and_a_killed_engine_comes_back_with_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(sys.path))
    cockpit = cockpit_at(tmp_path)
    with own_engine() as engine:
        cockpit.kernels.add(EndpointState(LOCAL, "embedded", "kernel", is_local=True), EmbeddedConnector(engine))
        async with running(cockpit):
            cockpit.kernels.watch(LOCAL)
            await cockpit.kernels.ready(LOCAL)
            view = cockpit.snapshot.kernels[LOCAL]
            assert view.capabilities.is_embedded
            assert view.capabilities.has_operator_calls
            assert view.preset.name == "seed"
            await cockpit.kernels.propose(LOCAL, PROPOSAL)
            snapshot = await until(cockpit, lambda snapshot: snapshot.kernels[LOCAL].verdicts)
            assert snapshot.kernels[LOCAL].verdicts[0].target.shown == "a.b"
            os.kill(pid_of(engine), signal.SIGKILL)
            await until(cockpit, lambda snapshot: snapshot.kernels[LOCAL].condition is Condition.SILENT)
            cockpit.kernels.reconnect(LOCAL)
            await until(cockpit, lambda snapshot: snapshot.kernels[LOCAL].condition is Condition.LIVE)
            await cockpit.kernels.record(LOCAL, OutcomeOrder("ant", "patch_file", "a.b", "done", True))
            snapshot = await until(cockpit, lambda snapshot: snapshot.kernels[LOCAL].consequences)
            view = snapshot.kernels[LOCAL]
            place = view.places["a.b"]
            assert (place.strength(SignalType.FAILURE, view.tick, view.preset.law) or 0) > 0
            assert CautionKind.RESTARTED not in {found.kind for found in view.cautions}


async def test_our_own_server_is_a_command_on_stdio(tmp_path: Path) -> None:
    cockpit = cockpit_at(tmp_path)
    address = StdioAddress((*PROGRAM, "kernel", "serve", "--memory", "--preset", "codomyrmex-1.3"), ("PYTHONPATH",))
    environment = {"HOME": str(tmp_path), "PYTHONPATH": os.pathsep.join(sys.path)}
    state = EndpointState(EndpointName("ant"), "a command", "kernel")
    cockpit.kernels.add(state, StdioConnector(address, environment), address)
    async with running(cockpit):
        cockpit.kernels.watch(state.name)
        await until(cockpit, lambda snapshot: snapshot.kernels[state.name].consent)
        cockpit.kernels.agree(state.name)
        snapshot = await until(cockpit, lambda snapshot: snapshot.kernels[state.name].condition is Condition.LIVE)
        view = snapshot.kernels[state.name]
        assert not view.capabilities.has_operator_calls
        assert view.preset.name == "codomyrmex-1.3"
        await cockpit.kernels.record(state.name, OutcomeOrder("ant", "patch_file", "a.b", "done", True))
        await cockpit.kernels.tick(state.name)
        await until(
            cockpit, lambda snapshot: (place := snapshot.kernels[state.name].places.get("a.b")) and all(place.cells)
        )
        view = cockpit.snapshot.kernels[state.name]
        assert round(view.places["a.b"].strength(SignalType.SUCCESS, view.tick, view.preset.law) or 0, 9) == 2.23
