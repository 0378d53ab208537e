"""The supervised connection, over the engine's own kernel in this process."""

import asyncio
import math
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from itertools import pairwise
from pathlib import Path

import pytest

from client.cockpits import running, until
from client.kernel.real_kernel import PRESETS, KernelConnector
from client.simulated_time import LoopClock, SimulatedLoop
from colonizer_client.cockpit import Cockpit
from colonizer_client.endpoint_state import EndpointState
from colonizer_client.errors import (
    BadRequest,
    ClientError,
    ConsentNeeded,
    NoReply,
    NotOffered,
    RateLimited,
    SignInNeeded,
    ToolFailed,
    Unreachable,
)
from colonizer_client.identity import EndpointName
from colonizer_client.kernel.models import (
    Decision,
    DepositOrder,
    OutcomeOrder,
    ProposalOrder,
    SignalType,
)
from colonizer_client.kernel.pace import CALLS_PER_S
from colonizer_client.kernel.view import CautionKind, Condition, KernelView
from colonizer_client.store import Store
from colonizer_config.address import StdioAddress
from colonizer_engines.kernel.kernel import Kernel

pytestmark = pytest.mark.anyio

ANT = EndpointName("ant")


@pytest.fixture
def anyio_backend() -> tuple[str, dict[str, object]]:
    return "asyncio", {"loop_factory": SimulatedLoop}


@asynccontextmanager
async def watched(
    connector: KernelConnector, folder: Path, command: StdioAddress | None = None
) -> AsyncGenerator[Cockpit, None]:
    """A running cockpit with one kernel that somebody watches."""
    cockpit = Cockpit(lambda: Store(folder / "cockpit.db"), connector.clock)
    state = EndpointState(ANT, "somewhere", "kernel", is_local=connector.is_embedded)
    cockpit.kernels.add(state, connector, command)
    async with running(cockpit):
        cockpit.kernels.watch(ANT)
        yield cockpit


async def seen(cockpit: Cockpit, holds: Callable[[KernelView], object]) -> KernelView:
    """The first view for which the condition holds."""
    snapshot = await until(cockpit, lambda snapshot: holds(snapshot.kernels[ANT]))
    return snapshot.kernels[ANT]


def is_close(found: float | None, expected: float) -> bool:
    return found is not None and math.isclose(found, expected, abs_tol=1e-9)


def is_live(view: KernelView) -> bool:
    return view.condition is Condition.LIVE


def proposal(target: str = "src/parser.py", agent: str = "ant-1") -> ProposalOrder:
    return ProposalOrder(
        agent, "patch_file", target, "the parser drops the last line", "git revert HEAD, run the tests"
    )


def outcome(passed: bool = True, target: str = "src/parser.py", agent: str = "ant-1") -> OutcomeOrder:
    return OutcomeOrder(agent, "patch_file", target, "applied", passed, 1.0)


def others(kernel: Kernel | None, passed: bool = True, target: str = "src/parser.py", agent: str = "ant-2") -> None:
    """What an agent somewhere else reports."""
    assert kernel is not None
    kernel.record_outcome(agent, "merge_pr", target, "merged", tests_passed=passed)


async def test_nothing_is_started_before_somebody_looks(tmp_path: Path) -> None:
    connector = KernelConnector()
    cockpit = Cockpit(lambda: Store(tmp_path / "cockpit.db"), LoopClock())
    cockpit.kernels.add(EndpointState(ANT, "somewhere", "kernel"), connector)
    async with running(cockpit):
        assert cockpit.snapshot.kernels[ANT].condition is Condition.IDLE
        assert cockpit.snapshot.endpoints == {}, "a kernel is no mothership"
        assert connector.modes == []
        await cockpit.kernels.ready(ANT)
        view = cockpit.snapshot.kernels[ANT]
        assert is_live(view)
        assert [tool for tool, *_ in connector.wire.called] == ["colony_status"], "nobody watches: it is not polled"
        cockpit.kernels.remove(ANT)
        assert ANT not in cockpit.snapshot.kernels


@pytest.mark.parametrize("preset", PRESETS)
async def test_the_field_of_a_remote_kernel_is_sampled_cell_by_cell(preset: str, tmp_path: Path) -> None:
    connector = KernelConnector(preset)
    others(connector.kernel)
    others(connector.kernel, passed=False, target="C:\\x:y")
    async with watched(connector, tmp_path) as cockpit:
        first = await seen(cockpit, lambda view: view.places)
        assert any(cell is None for place in first.places.values() for cell in place.cells), "not sampled yet"
        view = await seen(cockpit, lambda view: view.places and view.sampling.sampled == view.sampling.cells == 12)
        assert connector.kernel is not None
        whole = connector.kernel.matrix()
        assert list(view.places) == ["C:\\x:y", "src/parser.py"] or list(view.places) == ["src/parser.py", "C:\\x:y"]
        for raw, row in zip(whole["locations"], whole["strengths"], strict=True):
            for kind, strength in zip(whole["signal_types"], row, strict=True):
                found = view.places[raw].strength(SignalType(kind), view.tick, view.preset.law)
                assert is_close(found, strength), (raw, kind)
        profiled = await seen(cockpit, lambda view: view.agents["ant-2"].profile)
        assert profiled.agents["ant-2"].outcomes == (True, False)
        assert profiled.agents["ant-2"].is_whole
        assert profiled.preset.name == preset


async def test_between_samples_the_law_of_the_kernel_says_how_strong_a_trace_is(tmp_path: Path) -> None:
    connector = KernelConnector("codomyrmex-1.3")
    others(connector.kernel, passed=False)
    async with watched(connector, tmp_path) as cockpit:
        view = await seen(cockpit, lambda view: view.sampling.sampled == view.sampling.cells > 0)
        cell = view.places["src/parser.py"].cell(SignalType.FAILURE)
        assert cell is not None
        assert cell.strength_at(view.tick, view.preset.law) == 3.0
        assert cell.ticks_until(3.0, view.tick, view.preset.law) == 1
        assert cell.ticks_until(0, view.tick, view.preset.law) == 10
        assert (await cockpit.kernels.tick(ANT)).tick == 1
        view = cockpit.snapshot.kernels[ANT]
        assert view.tick == 1
        assert view.ticks_kept == (0, 1)
        cell = view.places["src/parser.py"].cell(SignalType.FAILURE)
        assert cell is not None
        assert is_close(cell.strength_at(1, view.preset.law), 2.7)
        assert cell.strength_at(0, view.preset.law) == 3.0


async def test_an_embedded_kernel_tells_every_trace_verdict_and_outcome(tmp_path: Path) -> None:
    connector = KernelConnector(is_embedded=True)
    kernel = connector.kernel
    assert kernel is not None
    for _ in range(12):
        others(kernel)
    kernel.tick()
    kernel.propose("ant-2", "patch_file", "src/parser.py", "the parser drops the last line", "", None)
    async with watched(connector, tmp_path) as cockpit:
        view = await seen(cockpit, is_live)
        assert view.sampling.sampled == view.sampling.cells
        assert not any("query" in tool for tool, *_ in connector.wire.called)
        assert view.tick == 1
        assert [verdict.agent.shown for verdict in view.verdicts] == ["ant-2"]
        assert view.verdicts[0].hazard == 0.0
        assert len(view.consequences) == 12
        assert view.consequences[0].outcome == "merged"
        assert view.agents["ant-2"].profile is not None
        kernel.propose("ant-3", "patch_file", "x", "the parser drops the last line", "", None)
        others(kernel, passed=False, agent="ant-3", target="x")
        view = await seen(cockpit, lambda view: (agent := view.agents.get("ant-3")) and agent.profile)
        assert view.agents["ant-3"].outcomes == (False,)
        failure = view.places["x"].strength(SignalType.FAILURE, 1, view.preset.law)
        assert is_close(failure, kernel.pheromone_query("x", "failure")[0]["strength"])
        assert view.places["x"].strength(SignalType.NEED, 1, view.preset.law) == 0.0, "absent, not unknown"
        trace = await cockpit.kernels.deposit(ANT, DepositOrder("y", SignalType.NEED, 2.0))
        assert trace is not None
        assert trace.strength == 4.0
        report = await cockpit.kernels.prune(ANT)
        assert list(report.protected) == ["src/parser.py"]
        await cockpit.kernels.calm_down(ANT, "a test")
        view = await seen(cockpit, lambda view: any(pulse.is_restart for pulse in view.pulses))
        assert view.places["y"].strength(SignalType.NEED, view.tick, view.preset.law) == 0.0
        assert view.ticks_kept == (0,)


async def test_a_verdict_on_a_proposal_from_here_is_kept_with_the_parts_of_its_score(tmp_path: Path) -> None:
    connector = KernelConnector("codomyrmex-1.3")
    async with watched(connector, tmp_path) as cockpit:
        await seen(cockpit, is_live)
        roles = [(await cockpit.kernels.record(ANT, outcome())).role for _ in range(9)]
        assert roles[-1] == "guard_ant"
        verdict = await cockpit.kernels.propose(ANT, proposal())
        assert verdict.decision is Decision.EXECUTE
        assert verdict.parts is not None
        assert verdict.parts.risk == 0.15
        assert is_close(verdict.parts.completeness, 0.0975)
        assert cockpit.snapshot.kernels[ANT].verdicts == (verdict,)
        view = await seen(cockpit, lambda view: (agent := view.agents.get("ant-1")) and agent.profile)
        assert view.agents["ant-1"].profile is not None
        assert view.agents["ant-1"].profile.proposals == 10
        review = await cockpit.kernels.falsify(ANT, {})
        assert (review.verdict, review.mean, review.maximum) == ("FAIL", 0.325, 0.45)
        assert (await cockpit.kernels.query(ANT, "nowhere", SignalType.RISK)) is None
        assert (await cockpit.kernels.profile(ANT, "ant-9")).trust == 0.1
        with pytest.raises(NotOffered):
            await cockpit.kernels.calm_down(ANT, "it is not ours")
        with pytest.raises(ToolFailed, match="target"):
            await cockpit.kernels.record(ANT, outcome(target=""))
        with pytest.raises(BadRequest):
            await cockpit.kernels.propose(ANT, proposal("\ud800"))


async def test_no_more_than_twenty_calls_are_made_in_a_second_whoever_wants_them(tmp_path: Path) -> None:
    connector = KernelConnector()
    others(connector.kernel)
    async with watched(connector, tmp_path) as cockpit:
        await seen(cockpit, is_live)
        queries = (cockpit.kernels.query(ANT, f"place {number}", SignalType.RISK) for number in range(50))
        await asyncio.gather(*queries)
        moments = [at for _, _, at in connector.wire.called]
        assert len(moments) > 50, "it was polled and sampled beside"
        assert all(later - earlier >= 1 / CALLS_PER_S - 1e-6 for earlier, later in pairwise(moments))


async def test_a_refusal_for_the_rate_of_calls_is_noticed_and_ends_nothing(tmp_path: Path) -> None:
    connector = KernelConnector()
    others(connector.kernel)
    async with watched(connector, tmp_path) as cockpit:
        await seen(cockpit, is_live)
        connector.wire.failures += [RateLimited("too many calls", code="RATE_LIMITED")]
        view = await seen(cockpit, lambda view: any(found.kind is CautionKind.RATE_LIMITED for found in view.cautions))
        assert view.sampling.is_limited
        await seen(cockpit, lambda view: view.sampling.sampled == view.sampling.cells > 0)
        assert len(connector.opened) == 1


async def test_a_kernel_that_lost_its_memory_is_noticed(tmp_path: Path) -> None:
    connector = KernelConnector("codomyrmex-1.3")
    others(connector.kernel)
    assert connector.kernel is not None
    for _ in range(3):
        connector.kernel.tick()
    async with watched(connector, tmp_path) as cockpit:
        await seen(cockpit, lambda view: view.sampling.sampled == view.sampling.cells > 0)
        connector.wire.kernel = Kernel(PRESETS["codomyrmex-1.3"])
        view = await seen(cockpit, lambda view: any(pulse.is_restart for pulse in view.pulses))
        assert view.tick == 0
        assert view.ticks_kept == (0,)
        assert list(view.places) == ["src/parser.py"], "the names stay"
        await seen(cockpit, lambda view: any(found.kind is CautionKind.RESTARTED for found in view.cautions))
        await seen(cockpit, lambda view: view.sampling.sampled == view.sampling.cells > 0)


async def test_another_period_before_the_last_one_was_over_is_another_memory(tmp_path: Path) -> None:
    connector = KernelConnector("codomyrmex-1.3")
    async with watched(connector, tmp_path) as cockpit:
        await seen(cockpit, is_live)
        connector.wire.kernel = Kernel(PRESETS["codomyrmex-1.3"], clock=lambda: 1.0)
        await seen(cockpit, lambda view: any(pulse.is_restart for pulse in view.pulses))


async def test_changes_that_a_kernel_keeps_no_longer_are_made_up_for_by_its_whole_field(tmp_path: Path) -> None:
    connector = KernelConnector(is_embedded=True)
    others(connector.kernel)
    async with watched(connector, tmp_path) as cockpit:
        await seen(cockpit, is_live)
        connector.wire.forgets_changes = True
        others(connector.kernel, target="x", passed=False)
        view = await seen(cockpit, lambda view: any(found.kind is CautionKind.GAP for found in view.cautions))
        assert (view.places["x"].strength(SignalType.FAILURE, view.tick, view.preset.law) or 0) > 0
        assert not any(pulse.is_restart for pulse in view.pulses)


async def test_changes_with_lower_numbers_are_those_of_another_memory(tmp_path: Path) -> None:
    connector = KernelConnector(is_embedded=True)
    for _ in range(5):
        others(connector.kernel)
    async with watched(connector, tmp_path) as cockpit:
        await seen(cockpit, is_live)
        connector.wire.kernel = Kernel(PRESETS["seed"])
        others(connector.wire.kernel, target="x")
        view = await seen(cockpit, lambda view: "x" in view.places)
        assert any(pulse.is_restart for pulse in view.pulses)
        assert view.places["src/parser.py"].strength(SignalType.SUCCESS, view.tick, view.preset.law) == 0.0


async def test_a_connection_that_ends_comes_back_and_goes_on_in_the_way_that_worked(tmp_path: Path) -> None:
    connector = KernelConnector(is_embedded=True)
    async with watched(connector, tmp_path) as cockpit:
        await seen(cockpit, is_live)
        connector.failure = Unreachable("nothing answers there")
        connector.wire.failures += [NoReply("the connection ended")] * 2
        view = await seen(cockpit, lambda view: view.condition is Condition.SILENT and view.link.retry_at)
        assert view.health_words == "nothing answers there" or view.health_words == "the connection ended"
        with pytest.raises(ClientError, match=r"nothing answers|ended"):
            await cockpit.kernels.tick(ANT)
        connector.failure = None
        others(connector.kernel, agent="ant-7")
        view = await seen(cockpit, lambda view: is_live(view) and "ant-7" in view.agents)
        assert connector.modes[0] == ""
        assert set(connector.modes[1:]) == {"legacy"}


async def test_a_refused_token_ends_all_traffic_until_the_person_acts(tmp_path: Path) -> None:
    connector = KernelConnector(failure=SignInNeeded("the server refused the token", status=401))
    async with watched(connector, tmp_path) as cockpit:
        view = await seen(cockpit, lambda view: view.condition is Condition.SIGNED_OUT)
        assert "refused the token" in view.health_words
        assert len(connector.modes) == 1
        connector.failure = None
        cockpit.kernels.reconnect(ANT)
        await seen(cockpit, is_live)


async def test_a_command_runs_after_the_person_agreed_to_its_very_words(tmp_path: Path) -> None:
    connector = KernelConnector()
    first = StdioAddress(("kernel", "--db", "a\u202eb"), ("HOME",))
    async with watched(connector, tmp_path, command=first) as cockpit:
        view = await seen(cockpit, lambda view: view.condition is Condition.CONSENT_NEEDED)
        assert view.consent is not None
        assert view.consent.command == ("kernel", "--db", "a⟨U+202E⟩b")
        assert view.consent.env == ("HOME",)
        assert view.consent.hides_characters
        assert view.consent.before == ()
        for _ in range(2):
            with pytest.raises(ConsentNeeded, match="agreed"):
                await cockpit.kernels.tick(ANT)
        with pytest.raises(ConsentNeeded):
            await cockpit.kernels.ready(ANT)
        assert connector.modes == []
        cockpit.kernels.agree(ANT)
        await seen(cockpit, is_live)
    async with watched(connector, tmp_path, command=first) as cockpit:
        await seen(cockpit, is_live)
    async with watched(connector, tmp_path, command=StdioAddress(("kernel", "--db", "c"), ("HOME",))) as cockpit:
        view = await seen(cockpit, lambda view: view.condition is Condition.CONSENT_NEEDED)
        assert view.consent is not None
        assert view.consent.before == ("kernel", "--db", "a⟨U+202E⟩b")
        assert "changed" in view.health_words
        assert len(connector.modes) == 2


async def test_what_nobody_watches_is_not_asked(tmp_path: Path) -> None:
    connector = KernelConnector()
    others(connector.kernel)
    async with watched(connector, tmp_path) as cockpit:
        await seen(cockpit, is_live)
        cockpit.kernels.unwatch(ANT)
        await asyncio.sleep(60)
        asked = len(connector.wire.called)
        await asyncio.sleep(600)
        assert len(connector.wire.called) == asked
        assert is_live(cockpit.snapshot.kernels[ANT]), "the connection stays"


async def test_rows_on_the_screen_are_sampled_before_others(tmp_path: Path) -> None:
    connector = KernelConnector("codomyrmex-1.3")
    for number in range(40):
        others(connector.kernel, target=f"place {number:02}")
    async with watched(connector, tmp_path) as cockpit:
        view = await seen(cockpit, lambda view: len(view.places) >= 10)
        last = list(view.places)[-1]
        await seen(cockpit, lambda view: view.sampling.sampled > 10)
        cockpit.kernels.sample_first(ANT, [last])
        view = await seen(cockpit, lambda view: None not in view.places[last].cells)
        assert view.sampling.sampled <= view.sampling.cells
