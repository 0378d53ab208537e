"""Moments of colony kernels, made by hand at a time that stands still."""

from collections.abc import Iterable, Mapping
from types import MappingProxyType

from msgspec.structs import replace

from colonizer_client.endpoint_state import EndpointState, Health
from colonizer_client.identity import ColonyId, ColonyKey, EndpointName
from colonizer_client.kernel.bridge import Happened, Offer
from colonizer_client.kernel.models import (
    COLUMNS,
    SIGNAL_TYPES,
    Budget,
    Budgets,
    Candidate,
    Consequence,
    Decision,
    Name,
    Profile,
    PruningReport,
    ScoreParts,
    SignalType,
    Status,
    Verdict,
)
from colonizer_client.kernel.preset import CODOMYRMEX, SEED
from colonizer_client.kernel.view import (
    Agent,
    Capabilities,
    Caution,
    CautionKind,
    Cell,
    KernelView,
    Mark,
    Place,
    Pulse,
    Sampling,
    TrustPoint,
)
from colonizer_client.mcp.consents import ConsentAsked
from colonizer_client.snapshot import EndpointChanged, HubEvent, KernelChanged
from moments import HQ, LOCAL, NOW, endpoint

TICK = 418
FIRST_TICK = 380
LAW = SEED.law

FAILURE, RISK, SUCCESS = SignalType.FAILURE, SignalType.RISK, SignalType.SUCCESS
NEED, DEPENDENCY, HUMAN = SignalType.NEED, SignalType.DEPENDENCY, SignalType.HUMAN_PRIORITY


def name(text: str) -> Name:
    return Name(text, text)


def cell(strength: float, ticks_ago: int = 0, *, was: Iterable[tuple[int, float]] = (), decay: float = 1.0) -> Cell:
    """A cell that was marked so many ticks ago, and before at these ticks with these strengths."""
    marks = [Mark(TICK - ago, NOW - ago * 30, strong, decay) for ago, strong in (*was, (ticks_ago, strength))]
    touched = NOW - ticks_ago * 30 - 4 if strength else None
    return Cell(tuple(marks), TICK, NOW, touched, "agent-7" if strength else "", MappingProxyType({}))


ABSENT = Cell((Mark(FIRST_TICK, NOW - 1_200, 0.0, 1.0),), TICK, NOW)


def place(text: str, *, rest: Cell | None = ABSENT, **cells: Cell) -> Place:
    """A place with these traces; the others are absent, or not sampled where `rest` is None."""
    found: list[Cell | None] = [rest] * len(SIGNAL_TYPES)
    for signal, one in cells.items():
        found[COLUMNS[SignalType(signal)]] = one
    return Place(name(text), tuple(found))


PLACES = (
    place(
        "src/auth/login.py",
        failure=cell(6.4, 0, was=((30, 0.5), (20, 2.0), (12, 4.2), (6, 5.8), (2, 6.9))),
        risk=cell(3.2, 2),
        success=cell(0.8, 9, decay=0.2),
    ),
    place("src/auth/session.py", failure=cell(2.1, 3, was=((14, 1.0), (9, 1.8))), rest=None),
    place("src/auth/tokens.py", failure=cell(3.4, 1, was=((8, 3.3),)), success=cell(5.2, 4, decay=0.2)),
    place("src/billing/invoice.py", success=cell(8.1, 1, was=((20, 4.0), (8, 6.4)), decay=0.2), risk=cell(0.6, 5)),
    place("src/billing/tax.py", success=cell(3.3, 7, decay=0.2), need=cell(1.0, 3)),
    place("src/billing/rounding.py", success=cell(2.4, 2, decay=0.2), dependency=cell(2.2, 2, decay=0.2)),
    place("codomyrmex.git_operations.core", risk=cell(5.9, 0, was=((5, 4.0),)), success=cell(9.9, 0, decay=0.2)),
    place("codomyrmex.git_operations.branches", risk=cell(1.4, 11), need=cell(4.5, 1)),
    place("docs/guide.md", human_priority=cell(10.0, 1, decay=0.2), dependency=cell(0.5, 2, decay=0.2)),
    place("tools/release", failure=cell(0.3, 1, decay=3.0)),
)


def many_places(count: int) -> tuple[Place, ...]:
    """So many places in a hundredth as many folders, of every strength."""
    return tuple(
        place(
            f"src/part_{number // 100:03}/module_{number % 100:02}.py",
            failure=cell((number * 7 % 100) / 10, number % 9),
            success=cell((number * 3 % 97) / 10, number % 5, decay=0.2),
        )
        for number in range(count)
    )


def verdict(
    number: int, decision: Decision, parts: tuple[float, float, float, float] | None, **changes: object
) -> Verdict:
    """A verdict with these parts of its score."""
    made = Verdict(
        number=number,
        at=NOW - (9 - number) * 95,
        tick=TICK - (9 - number) * 3,
        agent=name("agent-7"),
        action="patch_file",
        target=name("src/auth/login.py"),
        decision=decision,
        score=sum(parts) if parts else 0.0,
        reason="score 0.57 is below 0.75; hazard 6.4 (failure 6.4, risk 3.2)",
        required_evidence=(),
        parts=None if parts is None else ScoreParts(*parts),
        budget_approved=True,
        severity=0.45,
        risk=3.2,
        failure=6.4,
        trust=0.41,
        findings=3,
    )
    return replace(made, **changes)


VERDICTS = (
    verdict(
        5, Decision.REFUSE, None, agent=name("new-agent"), trust=0.1, action="exec_code", target=name("tools/release"),
        reason="sandbox: no action passes", failure=0.3, risk=0.0,
        required_evidence=("earn_higher_role_via_trust_growth", "accumulate_accepted_proposals"),
    ),
    verdict(6, Decision.EXECUTE, (0.30, 0.15, 0.25, 0.15), agent=name("guard-1"), trust=0.82, risk=5.1, failure=0.2,
            target=name("codomyrmex.git_operations.core"), reason="score 0.85 reaches 0.75"),
    verdict(7, Decision.REFUSE, (0.30, 0.0, 0.125, 0.045), reason="score 0.47 is below 0.50"),
    verdict(
        8, Decision.HOLD, (0.30, 0.0, 0.125, 0.0975), is_ours=True,
        required_evidence=(
            "supply_supporting_evidence",
            "increase_trust_score_via_accepted_proposals",
            "wait_for_risk_pheromone_to_decay_or_address_root_cause",
            "resolve_falsification_findings",
        ),
    ),
)  # fmt: skip


def agent(text: str, role: str, trust: float, proposals: int, accepted: int, outcomes: str, **changes: object) -> Agent:
    """An agent whose last outcomes are told by + and -."""
    profile = Profile(name(text), role, trust, proposals, accepted, (), NOW - 60)
    history = tuple(TrustPoint(TICK - 9 + at, NOW, trust * at / 9) for at in range(10))
    made = Agent(name(text), profile, tuple(sign == "+" for sign in outcomes), True, history)
    return replace(made, **changes)


AGENTS = (
    agent("guard-1", "guard_ant", 0.82, 41, 38, "++++++++++"),
    agent("agent-7", "memory_ant", 0.41, 22, 14, "+-+-++-+-+"),
    agent("repair-agent-42", "repair_ant", 0.22, 6, 3, "+++"),
    agent("new-agent", "sandbox", 0.1, 2, 0, "", is_whole=False),
    Agent(name("seen-once")),
)


def consequence(number: int, passed: bool, delta: float, **changes: object) -> Consequence:
    made = Consequence(
        f"c-{number}", name("agent-7"), "patch_file", name("src/auth/login.py"), passed, delta, NOW - (9 - number) * 180
    )
    return replace(made, **changes)


CONSEQUENCES = (
    consequence(1, True, 0.07, agent=name("guard-1"), feedback=1.0, outcome="All 42 tests pass; no regressions."),
    consequence(2, False, -0.13, has_gap_before=True, outcome="test_slash_in_name fails: IndexError at line 47"),
    consequence(3, True, 0.04, agent=name("repair-agent-42"), target=name("src/billing/tax.py")),
    consequence(4, False, -0.16, feedback=-1.0, outcome="Reverted: it broke the sign-in."),
)

BUDGETS = Budgets(
    (
        Budget("llm_calls", 431, 500),
        Budget("runtime_seconds", 845.5, 3_600.0),
        Budget("risk_level", 0.8, 0.8),
        Budget("human_attention_minutes", 0.0, 120.0),
        Budget("merge_risk", 0.21, 0.7),
        Budget("doc_debt", 12.0, 1_000.0),
        Budget("security_exposure", 0.05, 0.5),
    ),
    period_start=NOW - 50_000,
)
UNFED = Budgets(tuple(replace(row, used=0) for row in BUDGETS.rows), period_start=NOW - 50_000)

PRUNING = PruningReport(
    (
        Candidate(name("src/legacy/shim.py"), None, 0, "", "never used", 0.9),
        Candidate(name("src/legacy/compat.py"), NOW - 55 * 86_400, 2, "src/core/compat.py", "a duplicate", 0.85),
        Candidate(name("codomyrmex.old.reports"), NOW - 33 * 86_400, 1, "", "idle for 33 days", 0.5),
    ),
    3,
    NOW - 90,
    {"docs/guide.md": "a person wants it", "src/billing/rounding.py": "others depend on it"},
)

CAUTIONS = (
    Caution(CautionKind.FAILURES_BELOW_SUCCESS, "success 5.2 hides failures that rise: 3.4 now",
            name("src/auth/tokens.py"), NOW - 30),
    Caution(CautionKind.REPEATED_HOLD, "held 4 times in a row: it needs what the gate asks for, or ticks",
            name("src/auth/login.py"), NOW - 95),
    Caution(CautionKind.NO_OUTCOMES, "5 proposals without an outcome: its trust cannot move", name("new-agent")),
)  # fmt: skip

TOOLS = frozenset(
    {"colony_propose_action", "colony_record_outcome", "colony_agent_profile", "colony_status",
     "colony_pheromone_query", "colony_falsify_plan", "colony_pruning_report", "colony_tick"}
)  # fmt: skip
EMBEDDED = Capabilities(is_embedded=True, server="colonizer 0.1.0", tools=TOOLS, has_operator_calls=True)
REMOTE = Capabilities(server="codomyrmex 1.3.0", tools=TOOLS, other_tools=503)


def link(kernel: str = "local", **changes: object) -> EndpointState:
    """A live connection to a kernel."""
    address = "embedded" if kernel == "local" else f"https://{kernel}.tailnet/mcp"
    made = EndpointState(
        EndpointName(kernel), address, "kernel", is_local=kernel == "local", health=Health.LIVE, since=NOW - 3_600,
        as_of=NOW, latency_s=0.002,
    )  # fmt: skip
    return replace(made, **changes)


def offer(number: int, end: Happened, **changes: object) -> Offer:
    """What a colony came to."""
    made = Offer(
        id=f"offer-{number}",
        key=ColonyKey(HQ, ColonyId(f"c0ffee0{number}")),
        run=1,
        happened=end,
        agent="claude",
        target="acme/widgets",
        outcome=f"colony c0ffee0{number} {end.value}: Greet people by name",
        passed={Happened.MERGED: True, Happened.STOPPED: None}.get(end, False),
        feedback={Happened.MERGED: 1.0, Happened.REFUSED: -1.0}.get(end, 0.0),
        created_at=NOW - 600 * number,
    )
    return replace(made, **changes)


OFFERS = (
    offer(4, Happened.MERGED),
    offer(3, Happened.FAILED, agent="codex", words="the kernel refused it: the disk is full"),
    offer(2, Happened.STOPPED),
    offer(1, Happened.REFUSED, state="sent", words="the kernel does not answer: it took too long"),
)


def status(budgets: Budgets = BUDGETS, tick: int = TICK) -> Status:
    return Status(tick, 1_204, (), budgets, {"guard_ant": 1}, (), 3)


def kernel(places: Iterable[Place] = PLACES, **changes: object) -> KernelView:
    """An embedded kernel at work."""
    found = {one.name.raw: one for one in places}
    made = KernelView(
        link(),
        is_wanted=True,
        capabilities=EMBEDDED,
        status=status(),
        places=MappingProxyType(found),
        agents=MappingProxyType({one.name.raw: one for one in AGENTS}),
        verdicts=VERDICTS,
        consequences=CONSEQUENCES,
        pruning=PRUNING,
        pulses=tuple(Pulse(tick, NOW - (TICK - tick) * 30, 40 + tick % 7, 1) for tick in range(FIRST_TICK, TICK + 1)),
        cautions=CAUTIONS,
    )
    return replace(made, **changes)


def remote(text: str = "hive", **changes: object) -> KernelView:
    """Another kernel of the published kind, reached over HTTP, of which less is told."""
    made = kernel(
        link=link(text),
        capabilities=REMOTE,
        preset=CODOMYRMEX,
        sampling=Sampling(60, 41),
        status=status(UNFED),
    )
    return replace(made, **changes)


ASKED = ConsentAsked(("uv", "run", "--with", "codomyrmex", "codomyrmex", "mcp"), ("CODOMYRMEX_HOME",))
ASKED_AGAIN = replace(
    ASKED, command=(*ASKED.command, "--data-dir", "/srv/colony"), before=ASKED.command, env_before=ASKED.env
)


def silent(view: KernelView, seconds: float = 40) -> KernelView:
    """The kernel, of which nothing is heard any more."""
    changed = replace(
        view.link, health=Health.SILENT, since=NOW - seconds, as_of=NOW - seconds, error="it took too long",
        retry_at=NOW + 4,
    )  # fmt: skip
    return replace(view, link=changed)


def blank(text: str = "local", **changes: object) -> KernelView:
    """A kernel of which nothing is known."""
    return replace(KernelView(link(text), is_wanted=True, capabilities=EMBEDDED), **changes)


def fresh() -> KernelView:
    """A kernel that answers and has nothing to tell."""
    budgets = replace(UNFED, period_start=NOW - 60)
    return blank(status=replace(status(budgets, 0), total_signals=0), pulses=(Pulse(0, NOW, 0),))


def kernels(*views: KernelView) -> list[HubEvent]:
    """A cockpit with these kernels."""
    return [EndpointChanged(endpoint(LOCAL)), *(KernelChanged(view) for view in views)]


def by_name(places: Iterable[Place]) -> Mapping[str, Place]:
    return MappingProxyType({one.name.raw: one for one in places})
