"""The embedded kernel's own rules: their specification's examples, and where they depart from the recorded ones."""

import json
from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any

import pytest

from colonizer_engines.kernel.errors import BadArgument, ToolProblem
from colonizer_engines.kernel.kernel import Kernel
from colonizer_engines.kernel.rules import SEED
from colonizer_engines.kernel.signals import NORMAL, SignalType
from colonizer_engines.kernel.store import Store
from colonizer_engines.kernel.tools import call
from engines.kernel.kernels import GOOD_ROLLBACK, propose, record

_CORE = "codomyrmex.git_operations.core"
_PROPOSAL: Mapping[str, object] = {
    "agent_id": "repair-agent-42",
    "action_type": "patch_file",
    "target": _CORE,
    "rationale": "Fix off-by-one error in branch name parser identified in test_branch_names.py test suite",
    "rollback_plan": "git revert HEAD~1 and re-run pytest to confirm regression is cleared",
    "evidence": '{"test_ids": ["test_branch_names.py::test_slash_in_name"], "error": "IndexError at line 47"}',
}
_OUTCOME: Mapping[str, object] = {
    "agent_id": "repair-agent-42",
    "action_type": "patch_file",
    "target": _CORE,
    "actual_outcome": "Patch applied; all 42 git_operations tests pass; no regressions detected",
    "tests_passed": True,
    "human_feedback": 1.0,
}


@pytest.fixture
def kernel() -> Kernel:
    return Kernel(SEED)


def _call(kernel: Kernel, tool: str, arguments: Mapping[str, object] = MappingProxyType({})) -> Any:
    return call(kernel, f"colony_{tool}", arguments)


def test_refuses_the_proposal_of_a_new_agent(kernel: Kernel) -> None:
    assert _call(kernel, "propose_action", _PROPOSAL) == {
        "decision": "refuse",
        "gate_score": 0.0,
        "reason": "SANDBOX role: no write-path gate passes",
        "required_evidence": ["earn_higher_role_via_trust_growth", "accumulate_accepted_proposals"],
        "budget_approved": True,
        "falsification_severity": 0.45,
    }


def test_records_the_outcome_of_a_new_agent(kernel: Kernel) -> None:
    answer = _call(kernel, "record_outcome", _OUTCOME)
    assert (answer["status"], answer["trust_score"], answer["role"]) == ("recorded", 0.17, "sandbox")


def test_the_profile_names_proposals_and_outcomes(kernel: Kernel) -> None:
    for _ in range(3):
        _call(kernel, "propose_action", _PROPOSAL)
    consequence = _call(kernel, "record_outcome", _OUTCOME)["consequence_id"]
    profile = _call(kernel, "agent_profile", {"agent_id": "repair-agent-42"})
    assert (profile["role"], profile["total_proposals"], profile["accepted_proposals"]) == ("sandbox", 3, 1)
    assert profile["consequence_history"] == [consequence]


def test_the_status_of_a_used_kernel_shows_signals_and_budget(kernel: Kernel) -> None:
    _deposit(kernel, _CORE, SignalType.SUCCESS, 3.8)
    _deposit(kernel, "codomyrmex.crypto.hmac", SignalType.FAILURE, 2.1)
    for agent in ("one", "two", "three"):
        _call(kernel, "agent_profile", {"agent_id": agent})
    status = _call(kernel, "status")
    summary = status["pheromone_summary"]
    assert summary["total_signals"] == 2
    assert [(row["key"], row["strength"]) for row in summary["top_signals"]] == [
        (f"{_CORE}:success", 3.8),
        ("codomyrmex.crypto.hmac:failure", 2.1),
    ]
    assert status["role_distribution"] == {"sandbox": 3}
    assert (status["tick_count"], status["recent_consequences"], status["pruning_candidates_count"]) == (0, [], 0)


def test_a_tick_takes_a_tenth(kernel: Kernel) -> None:
    _deposit(kernel, _CORE, SignalType.SUCCESS, 3.8)
    status = _call(kernel, "tick")
    (signal,) = status["pheromone_summary"]["top_signals"]
    assert (status["tick_count"], round(signal["strength"], 9)) == (1, 3.42)


def test_a_failed_test_leaves_a_trace_of_normal_decay(kernel: Kernel) -> None:
    _call(kernel, "record_outcome", {**_OUTCOME, "tests_passed": False})
    (signal,) = _call(kernel, "pheromone_query", {"location": _CORE, "signal_type": "failure"})
    assert (signal["decay_rate"], signal["source"], signal["evidence"]["action_type"]) == (1.0, "test", "patch_file")


def test_finds_three_faults_in_a_careless_deletion(kernel: Kernel) -> None:
    plan = {
        "action_type": "delete",
        "target": "codomyrmex.dark",
        "rationale": "Unused",
        "rollback_plan": "",
        "budget_estimate": {"llm_calls": 0, "runtime_seconds": 0},
    }
    answer = _call(kernel, "falsify_plan", {"plan_json": json.dumps(plan)})
    assert answer["findings"] == [
        {
            "claim": "plan specifies a safe rollback path",
            "attack_vector": "no_rollback",
            "severity": "high",
            "evidence": {"rollback_plan": ""},
            "remediation": "Provide a concrete rollback_plan describing how to undo the action.",
        },
        {
            "claim": "The plan includes automated test coverage.",
            "attack_vector": "no_test_value",
            "severity": "high",
            "evidence": {"tests": "<key absent>"},
            "remediation": "Add a `tests` key listing the test file paths or test IDs that will exercise the changed"
            " behaviour.",
        },
        {
            "claim": "action blast radius is bounded and reversible",
            "attack_vector": "scope_creep",
            "severity": "high",
            "evidence": {"action_type": "delete", "target": "codomyrmex.dark"},
            "remediation": "Destructive actions require a `scope` field enumerating all affected files, callers, and"
            " dependent modules.",
        },
    ]
    assert round(answer["severity_score"], 9) == 0.45
    assert answer["recommendation"] == "hold"


def test_a_fresh_field_has_nothing_to_prune(kernel: Kernel) -> None:
    report = _call(kernel, "pruning_report")
    assert (report["candidates"], report["total_candidates"]) == ([], 0)


def test_destroying_something_sensitive_for_good_is_critical(kernel: Kernel) -> None:
    for _ in range(13):
        record(kernel, "guard")
        propose(kernel, "guard", "elsewhere")
    answer = kernel.propose("guard", "delete", "vault", "Remove the secret that nobody reads", "none")
    assert (answer["decision"], answer["gate_score"], answer["falsification_severity"]) == ("refuse", 0.0, 1.0)
    assert answer["required_evidence"]


def test_a_trusted_agent_executes_again_and_again_on_a_clean_target(kernel: Kernel) -> None:
    for _ in range(13):
        record(kernel, "guard", "elsewhere")
        propose(kernel, "guard", "elsewhere")
    assert [propose(kernel, "guard")["decision"] for _ in range(3)] == ["execute"] * 3


def test_a_short_rationale_is_a_finding_of_a_proposal_alone(kernel: Kernel) -> None:
    for _ in range(3):
        propose(kernel, "a")
        record(kernel, "a", "elsewhere")
        record(kernel, "a", "elsewhere")
    assert "2 findings" in propose(kernel, "a", rationale="so")["reason"]
    plan = {"rationale": "so", "rollback_plan": GOOD_ROLLBACK, "tests": ["one"]}
    assert kernel.falsify_plan(plan)["findings"] == []


def test_an_outcome_consumes_what_its_proposal_was_taken_to_cost(kernel: Kernel) -> None:
    record(kernel)
    usage = kernel.status()["budget_usage"]
    assert usage["llm_calls"] == {"used": 1, "max": 500}
    assert usage["runtime_seconds"] == {"used": 5.0, "max": 3600.0}


def test_a_location_with_a_colon_is_shown_whole(kernel: Kernel) -> None:
    _deposit(kernel, "C:\\x", SignalType.RISK, 1.0)
    (signal,) = kernel.status()["pheromone_summary"]["top_signals"]
    assert (signal["location"], signal["signal_type"]) == ("C:\\x", "risk")


@pytest.mark.parametrize(
    ("tool", "arguments", "field"),
    [
        ("propose_action", {**_PROPOSAL, "target": ""}, "target"),
        ("propose_action", {**_PROPOSAL, "evidence": "{"}, "evidence"),
        ("record_outcome", {**_OUTCOME, "human_feedback": 1.5}, "human_feedback"),
        ("record_outcome", {**_OUTCOME, "human_feedback": float("nan")}, "human_feedback"),
        ("pheromone_query", {"location": "x", "signal_type": "joy"}, "signal_type"),
        ("falsify_plan", {"plan_json": "[" * 100_000}, "plan_json"),
    ],
)
def test_a_bad_argument_is_refused_by_name_and_changes_nothing(
    kernel: Kernel, tool: str, arguments: Mapping[str, object], field: str
) -> None:
    with pytest.raises(BadArgument, match=field) as refused:
        _call(kernel, tool, arguments)
    assert refused.value.field == field
    assert kernel.changes_after(0) == []


def test_the_recorded_program_s_names_are_unknown(kernel: Kernel) -> None:
    with pytest.raises(ToolProblem):
        call(kernel, "codomyrmex.colony_status", {})


@pytest.mark.parametrize("allowed", [True, False])
def test_walks_a_repository_only_where_the_operator_allowed_it(tmp_path: Path, allowed: bool) -> None:
    package = tmp_path / "pkg"
    package.mkdir()
    package.joinpath("a.py").write_text("from pkg import b\n", encoding="utf-8")
    package.joinpath("b.py").write_text("import pkg.a\n", encoding="utf-8")
    kernel = Kernel(SEED, repositories=[tmp_path] if allowed else [tmp_path / "elsewhere"])
    plan = {"target": "pkg", "rollback_plan": GOOD_ROLLBACK, "tests": ["one"], "repo_root": str(tmp_path)}
    vectors = [finding["attack_vector"] for finding in kernel.falsify_plan(plan)["findings"]]
    assert vectors == (["circular_architecture"] if allowed else [])


@pytest.mark.parametrize("target", ["outside", "/etc", "x" * 5000, "nul\0", "linked"])
def test_a_target_leads_out_of_no_allowed_repository(tmp_path: Path, target: str) -> None:
    outside, allowed = tmp_path / "elsewhere", tmp_path / "allowed"
    for folder in (outside, allowed):
        folder.mkdir()
    outside.joinpath("a.py").write_text("import linked.b\nimport elsewhere.b\n", encoding="utf-8")
    outside.joinpath("b.py").write_text("import linked.a\nimport elsewhere.a\n", encoding="utf-8")
    allowed.joinpath("linked").symlink_to(outside)
    kernel = Kernel(SEED, repositories=[allowed])
    plan = {"target": target, "rollback_plan": GOOD_ROLLBACK, "tests": ["one"], "repo_root": str(allowed)}
    assert kernel.falsify_plan(plan)["findings"] == []


@pytest.mark.parametrize("root", ["x" * 5000, "nul\0", "/nowhere/at/all", 5, [], ""])
def test_a_repository_that_is_none_is_ignored(root: object) -> None:
    plan = {"target": "a", "rollback_plan": GOOD_ROLLBACK, "tests": ["one"], "repo_root": root}
    assert Kernel(SEED).falsify_plan(plan)["findings"] == []


def test_everything_survives_a_restart(tmp_path: Path) -> None:
    store = Store.open(tmp_path / "kernel.db")
    kernel = Kernel(SEED, store)
    for number in range(5):
        propose(kernel, f"agent {number}", f"place {number}")
        record(kernel, f"agent {number}", f"place {number}", passed=number % 2 == 0)
        kernel.tick()
    kernel.agent_profile("asked for")
    kernel.pruning_report()
    before = (kernel.status(), kernel.matrix(), kernel.profiles(), kernel.consequences(), kernel.changes_after(0))
    store.close()
    store = Store.open(tmp_path / "kernel.db")
    kernel = Kernel(SEED, store)
    after = (kernel.status(), kernel.matrix(), kernel.profiles(), kernel.consequences(), kernel.changes_after(0))
    store.close()
    assert after == before


def _deposit(kernel: Kernel, location: str, kind: SignalType, strength: float) -> None:
    kernel.deposit(location, kind, strength / 2, NORMAL, {})
