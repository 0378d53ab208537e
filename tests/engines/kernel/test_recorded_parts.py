"""What the recorded program's parts did that no tool reaches: costs, budgets, roles, the gate, the field, pruning."""

from collections import Counter
from pathlib import Path
from statistics import fmean
from typing import Any

import pytest

from colonizer_engines.kernel.calls import Outcome, Proposal
from colonizer_engines.kernel.colony import Colony
from colonizer_engines.kernel.errors import BadArgument
from colonizer_engines.kernel.field import Deposit, Field
from colonizer_engines.kernel.findings import WEIGHTS, Severity
from colonizer_engines.kernel.gate import Case, judge
from colonizer_engines.kernel.kernel import Kernel
from colonizer_engines.kernel.ledger import DIMENSIONS, Cost, Ledger
from colonizer_engines.kernel.pruning import Module, scan
from colonizer_engines.kernel.roles import Role, feedback_in_words, infer_role
from colonizer_engines.kernel.rules import CODOMYRMEX_1_3
from colonizer_engines.kernel.signals import FAST, NORMAL, SLOW, SignalType, Source
from colonizer_engines.kernel.store import Store
from colonizer_engines.kernel.views import proposal_reply
from engines.kernel.vectors import cases, differences
from recorded import Json

_CASES = cases("internal")
_NOW = 1_796_025_868.0
_TIGHT = Cost(3, 10.0, 0.5, 5.0, 0.5, 10.0, 0.5)
"""The ceilings of the recorded budget cases."""


def _rows(case: str) -> pytest.MarkDecorator:
    return pytest.mark.parametrize("row", [pytest.param(row, id=str(row["seq"])) for row in _CASES[case]])


def _outcome(**changed: Any) -> Outcome:
    usual: Json = {
        "agent_id": "a",
        "action_type": "patch",
        "target": "t",
        "actual_outcome": "done",
        "tests_passed": True,
        "repair_needed": False,
        "feedback": 0.0,
        "estimate": Cost(),
    }
    return Outcome(**usual | changed)


def _colony(ceilings: Cost = _TIGHT, period_s: float = 100.0) -> Colony:
    return Colony(CODOMYRMEX_1_3, _NOW, ceilings, period_s)


@_rows("cost")
def test_checks_and_adds_costs(row: Json) -> None:
    def dimensions(cost: Cost) -> Json:
        return {name: getattr(cost, name) for name in DIMENSIONS}

    given = row["arguments"]
    if row["tool"] == "ResourceCost.add":
        assert differences(row, dimensions(Cost(**given["a"]).plus(Cost(**given["b"])))) == []
    elif "raises" in row["result"]:
        with pytest.raises(BadArgument):
            Cost(**given)
    else:
        assert differences(row, dimensions(Cost(**given))) == []


@pytest.mark.parametrize("row", [row for row in _CASES["budget"] if row["tool"] == "check_budget"])
def test_names_the_first_dimension_that_an_estimate_violates(row: Json) -> None:
    violated = Ledger(_NOW, _TIGHT).violated(Cost(**row["arguments"]["estimate"]), _NOW)
    assert [violated is None, violated or "within"] == row["result"]


def test_a_period_of_no_length_never_ends() -> None:
    (row,) = (row for row in _CASES["budget"] if row["tool"] == "usage")
    ledger = Ledger(_NOW, _TIGHT, period_s=0)
    ledger.consume(Cost(llm_calls=2), _NOW)
    assert ledger.usage(_NOW + 1e9)["llm_calls"] == row["result"]


def test_a_spent_budget_holds_proposals_until_its_period_is_over() -> None:
    colony = _colony()
    now = _NOW
    for row in _CASES["budget_hold"]:
        now += 101 if row["arguments"].get("clock") else 0
        assert differences(row | {"prose": ["$.reason"]}, _budget_step(colony, row, now)) == [], row["note"]


def _budget_step(colony: Colony, row: Json, now: float) -> object:
    cost = Cost(llm_calls=1)
    if row["tool"] == "propose_action":
        proposal = Proposal(
            "a", "patch", "h.t", "a reason of some length", "git revert the whole commit", estimate=cost
        )
        if row["seq"] == 21:  # it went to a place of its own
            proposal = Proposal(
                "a", "patch", "h.o", "a reason of some length", "git revert the whole commit", estimate=cost
            )
        return proposal_reply(colony.propose(proposal, now))
    if row["tool"] == "record_outcome":
        return colony.record(_outcome(estimate=cost, target="h.r"), now)[0].trust_delta
    if row["tool"] == "query":
        kinds = (SignalType.FAILURE, SignalType.RISK)
        return [[kind.value, colony.field.strength("h.t", kind)] for kind in kinds]
    usage = colony.ledger.usage(now)
    usage.pop("period_start")
    return usage


@_rows("outcome_cost")
def test_an_outcome_consumes_its_cost_or_else_the_estimate(row: Json) -> None:
    colony = _colony()
    given = row["arguments"]
    colony.record(_outcome(estimate=Cost(**given["estimate"]), cost=given["outcome.cost"]), _NOW)
    usage: Json = colony.ledger.usage(_NOW)
    used: list[float] = [usage[name]["used"] for name in ("llm_calls", "runtime_seconds", "risk_level")]
    assert differences(row, used) == []


@_rows("outcome")
def test_an_outcome_moves_trust_and_leaves_traces(row: Json) -> None:
    colony = _colony()
    given = row["arguments"]
    feedback = feedback_in_words(given["human_feedback"])
    outcome = _outcome(tests_passed=given["tests_passed"], repair_needed=given["repair_needed"], feedback=feedback)
    consequence, agent = colony.record(outcome, _NOW)
    ours = {
        "human_feedback": consequence.human_feedback,
        "trust_delta": consequence.trust_delta,
        "trust": agent.trust,
        "accepted": agent.accepted,
        "signals": [
            [trace.kind.value, colony.field.strength_of(trace), trace.decay, trace.source.value]
            for trace in colony.field
        ],
    }
    assert differences(row, ours) == []


def test_a_pass_that_needs_repair_only_reinforces() -> None:
    colony = _colony()
    for row in _CASES["outcome_repair_reinforce"]:
        colony.record(_outcome(repair_needed=row["arguments"]["repair_needed"]), _NOW)
        assert differences(row, colony.field.strength("t", SignalType.SUCCESS)) == []


@_rows("deposit")
def test_deposits_weigh_by_source_and_trust(row: Json) -> None:
    given = row["arguments"]
    field = Field(CODOMYRMEX_1_3.law)

    def deposit(strength: float, source: Source = Source.AGENT, trust: float = 1.0, location: str = "l") -> float:
        what = Deposit(location, SignalType.RISK, strength, NORMAL, source, {}, trust)
        field.deposit(what, _NOW)
        return field.strength(location, SignalType.RISK)

    if row["tool"] == "store.reinforce":
        field.deposit(Deposit("l", SignalType.RISK, 1.0, NORMAL, Source.AGENT, {}), _NOW)
        assert field.reinforce(given["location"], SignalType.RISK, _NOW) is None
        assert len(field) == row["result"]
    elif row["tool"] == "ColonySignal":
        with pytest.raises(BadArgument):
            deposit(given["strength"], location=given["location"])
    else:
        source = next((source for source in Source if source == given.get("source")), Source.AGENT)
        ours = deposit(given["strength"], source, given.get("trust_factor", 1.0))
        assert differences(row, ours) == []


def _places() -> Field:
    """The field of the recorded prefix queries: six places, each with two traces of the same strength.

    No query finds `other`; it has the strength by which the recorded mean comes out.
    """
    field = Field(CODOMYRMEX_1_3.law)
    places = {"p": 1.1, "pq": 1.2, "p.a": 1.3, "other": 1.3, "p.a.b": 1.5, "p/x.py": 1.6}
    for place, strength in places.items():
        for kind in (SignalType.RISK, SignalType.SUCCESS):
            deposit = Deposit(place, kind, strength / 2, SLOW, Source.HUMAN, {})
            field.deposit(deposit, _NOW)
    return field


@pytest.mark.parametrize("row", [row for row in _CASES["prefix_query"] if row["tool"] == "store.query_pressure"])
def test_finds_traces_at_and_below_a_place(row: Json) -> None:
    field = _places()
    found = field.pressure(row["arguments"]["location"], SignalType(row["arguments"]["signal_type"]))
    assert differences(row, [[trace.location, field.strength_of(trace)] for trace in found]) == []


def test_holds_the_traces_of_the_recorded_summary() -> None:
    (row,) = (row for row in _CASES["prefix_query"] if row["tool"] == "store.summary")
    traces = list(_places())
    strengths = [trace.strength for trace in traces]
    ours = {
        "total_signals": len(traces),
        "by_signal_type": Counter(trace.kind.value for trace in traces),
        "by_source": Counter(trace.source.value for trace in traces),
        "by_decay_rate": Counter(str(trace.decay) for trace in traces),
        "max_strength": max(strengths),
        "min_strength": min(strengths),
        "mean_strength": fmean(strengths),
    }
    assert differences(row, ours) == []


def test_calms_down() -> None:
    first, after = _CASES["calm"]
    kernel = Kernel(CODOMYRMEX_1_3)
    for trace in _places():
        kernel.deposit(trace.location, trace.kind, trace.strength / 2, trace.decay, {})
    kernel.tick()
    assert differences(first, kernel.calm_down("r")) == []
    status = kernel.status()
    assert [status["tick_count"], status["pheromone_summary"]["total_signals"]] == after["result"]


def test_traces_of_every_decay_fade_to_the_recorded_doubles() -> None:
    field = Field(CODOMYRMEX_1_3.law)
    decays = {SignalType.RISK: FAST, SignalType.NEED: NORMAL, SignalType.HUMAN_PRIORITY: SLOW}
    for kind, decay in decays.items():
        field.deposit(Deposit("d", kind, 1.0, decay, Source.AGENT, {}), _NOW)
    recorded = {row["arguments"]["n"]: row["result"] for row in _CASES["decay"]}
    for tick in range(1, max(recorded) + 1):
        removed = field.advance()
        if tick in recorded:
            left = {kind.value: field.strength("d", kind) for kind in decays}
            assert {"removed": len(removed), "left": left} == recorded[tick]


def test_nominates_modules_for_pruning() -> None:
    (row,) = _CASES["prune"]
    (registry,) = row["arguments"].values()
    day_s = 86400.0
    modules = [
        Module(
            path,
            last_used=_NOW + known["last_used"] * day_s if "last_used" in known else 0.0,
            call_count=known.get("call_count", 0),
            duplicate_of=known.get("duplicate_of"),
        )
        for path, known in registry.items()
    ]
    found = scan(modules, _NOW, {"prot", "used"}.__contains__)
    ours = [[item.module.path, item.confidence, item.module.call_count, item.module.duplicate_of] for item in found]
    assert differences(row, ours) == []


@_rows("roles")
def test_infers_roles(row: Json) -> None:
    assert infer_role(row["arguments"]["trust"], row["arguments"]["total_proposals"]) == row["result"]


def test_profiles_and_consequences_survive_a_restart_and_the_field_does_not(tmp_path: Path) -> None:
    (row,) = _CASES["persistence"]
    store = Store.open(tmp_path / "kernel.db")
    kernel = Kernel(CODOMYRMEX_1_3, store)
    for _ in range(row["arguments"]["outcomes"]):
        kernel.record_outcome("a", "patch", "t", "done", tests_passed=True)
    kernel.tick()
    store.close()
    again = Store.open(tmp_path / "kernel.db")
    kernel = Kernel(CODOMYRMEX_1_3, again)
    profile, status = kernel.agent_profile("a"), kernel.status()
    again.close()
    ours = {
        "trust": profile["trust_score"],
        "role": profile["role"],
        "history": len(profile["consequence_history"]),
        "recent": len(status["recent_consequences"]),
        "signals": status["pheromone_summary"]["total_signals"],
        "tick": status["tick_count"],
    }
    assert differences(row, ours) == []


@_rows("gate_grid")
def test_judges_as_the_recorded_gate(row: Json) -> None:
    given = row["arguments"]
    critical = given.get("finding") == "critical"
    proposal = Proposal(
        "a",
        "patch",
        "t",
        "why",
        given.get("rollback", "git revert"),
        given.get("evidence", {"a": 1}),
        given.get("expected_outcome", "e"),
    )
    verdict = judge(
        Case(
            violated_budget=None,
            role=Role(given.get("role", "guard_ant")),
            trust=given["trust"],
            recent_failures=0,
            risk=given.get("risk", 0.0),
            failure=0.0,
            missing=proposal.missing,
            findings=given.get("findings", 0),
            max_severity="",
            critical_remedies=("do x",) if critical else (),
        )
    )
    ours: list[object] = [verdict.decision.value, verdict.score]
    if len(row["result"]) > 2:
        ours.append(list(verdict.required_evidence))
    if critical:
        ours.append(WEIGHTS[Severity.CRITICAL])
    assert differences(row, ours) == []
