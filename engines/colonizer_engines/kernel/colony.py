"""The state of a colony and what every call does to it, by one table of rules. Knows no storage, wire, thread or clock.

A call fills the journal with what it touched; whoever keeps the state takes it from there.
"""

from collections import deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from uuid import uuid4

import msgspec

from colonizer_engines.kernel.agents import Agent, Agents
from colonizer_engines.kernel.attacks import attack_rationale
from colonizer_engines.kernel.calls import Outcome, Proposal
from colonizer_engines.kernel.falsification import RepositoryAccess, findings_of, max_weight
from colonizer_engines.kernel.field import Deposit, Field
from colonizer_engines.kernel.findings import Finding, Severity
from colonizer_engines.kernel.gate import Case, Decision, Verdict, judge
from colonizer_engines.kernel.ledger import CEILINGS, PERIOD_S, Cost, Ledger
from colonizer_engines.kernel.pruning import IDLE_AFTER_S, Candidate, Module, protection, scan
from colonizer_engines.kernel.records import (
    AnyChange,
    Calmed,
    Consequence,
    Judged,
    Marked,
    Pruned,
    Recorded,
    Ticked,
)
from colonizer_engines.kernel.roles import clamp_trust, trust_delta
from colonizer_engines.kernel.rules import Rules
from colonizer_engines.kernel.signals import FAST, NORMAL, SLOW, SignalType, Source
from colonizer_engines.kernel.trace import Trace

CONSEQUENCES_LIMIT = 1000
"""How many of the newest outcomes stay in memory."""

CHANGES_LIMIT = 20_000
"""How many of the newest changes stay in memory."""

_REGISTRY_LIMIT = 10_000
"""How many of the strongest traces may name a module."""

_FINDING_MARKS: Mapping[str, tuple[SignalType, float]] = {
    Severity.HIGH: (SignalType.FAILURE, 3.0),
    Severity.MEDIUM: (SignalType.RISK, 1.0),
}
"""What a proposal's findings leave on its target."""

_GRAVE = frozenset({Severity.MEDIUM, Severity.HIGH, Severity.CRITICAL})


class Judgement(msgspec.Struct, frozen=True, gc=False):
    """A verdict, and what it rests on."""

    verdict: Verdict
    budget_approved: bool
    severity: float
    """The gravest finding's weight, 0..1."""


@dataclass(slots=True)
class Journal:
    """What a call touched."""

    traces: dict[str, Trace] = field(default_factory=dict[str, Trace])
    removed: list[str] = field(default_factory=list[str])
    """Keys of traces that a tick removed."""
    agents: dict[str, Agent] = field(default_factory=dict[str, Agent])
    changes: list[AnyChange] = field(default_factory=list[AnyChange])
    cleared: bool = False
    """Whether all traces went before the ones here appeared."""

    @property
    def empty(self) -> bool:
        """Whether the call changed nothing."""
        return not (self.changes or self.agents)


class Colony:
    """All state of one kernel. Every time is in Unix seconds and is given by the caller."""

    def __init__(self, rules: Rules, now: float, ceilings: Cost = CEILINGS, period_s: float = PERIOD_S) -> None:
        self.rules = rules
        self.field = Field(rules.law)
        self.ledger = Ledger(now, ceilings, period_s)
        self.agents = Agents()
        self.consequences: deque[Consequence] = deque(maxlen=CONSEQUENCES_LIMIT)
        """The newest outcomes, oldest first."""
        self.changes: deque[AnyChange] = deque(maxlen=CHANGES_LIMIT)
        """The newest changes, oldest first."""
        self.changes_made = 0
        self.pruning_count = 0
        self.journal = Journal()

    def take_journal(self, now: float) -> Journal:
        """What was touched since this was last asked, the traces that grew noted among the changes."""
        for trace in self.journal.traces.values():
            self._note_mark(trace, now)
        taken, self.journal = self.journal, Journal()
        return taken

    # Calls of agents

    def propose(self, proposal: Proposal, now: float) -> Judgement:
        """The gate's verdict on the proposal, after its traces were left (spec 9)."""
        proposal_id = str(uuid4())
        plan = proposal.plan
        rules = self.rules.attack
        findings = (*findings_of(plan, rules, RepositoryAccess()), *attack_rationale(plan, rules))
        if self.rules.findings_mark_target:
            self._mark_findings(proposal.target, findings, now)
        violated = self.ledger.violated(proposal.estimate, now)
        agent = self.agents.get(proposal.agent_id, now)
        agent.proposals += 1
        agent.last_updated = now
        role = agent.earned_role
        if self.rules.proposals_refresh_role:
            self.agents.refresh_role(agent)
        self.journal.agents[agent.id] = agent
        case = Case(
            violated_budget=violated,
            role=role,
            trust=agent.trust,
            recent_failures=sum(agent.recent_failures),
            risk=self.field.strength(proposal.target, SignalType.RISK),
            failure=self.field.strength(proposal.target, SignalType.FAILURE),
            missing=proposal.missing,
            findings=len(findings),
            max_severity=self._shown_maximum(findings),
            critical_remedies=tuple(item.remediation for item in findings if item.severity is Severity.CRITICAL),
        )
        verdict = judge(case)
        severity = max_weight(findings)
        self._mark_verdict(proposal_id, proposal.target, verdict, findings, agent.trust, now)
        self._note_verdict(proposal_id, proposal, case, verdict, severity, now)
        return Judgement(verdict, violated is None, severity)

    def record(self, outcome: Outcome, now: float) -> tuple[Consequence, Agent]:
        """The outcome as it was kept, and its agent as it is now (spec 9)."""
        accepted = outcome.tests_passed and not outcome.repair_needed
        delta = trust_delta(
            tests_passed=outcome.tests_passed, repair_needed=outcome.repair_needed, feedback=outcome.feedback
        )
        consequence = Consequence(
            id=str(uuid4()),
            agent_id=outcome.agent_id,
            action_type=outcome.action_type,
            target=outcome.target,
            actual_outcome=outcome.actual_outcome,
            tests_passed=outcome.tests_passed,
            repair_needed=outcome.repair_needed,
            human_feedback=outcome.feedback,
            trust_delta=delta,
            recorded_at=now,
        )
        self.consequences.append(consequence)
        agent = self.agents.get(outcome.agent_id, now)
        agent.proposals += self.rules.outcomes_count_as_proposals
        agent.accepted += accepted
        agent.trust = clamp_trust(agent.trust + delta)
        agent.history.append(consequence.id)
        agent.recent_failures.append(not accepted)
        agent.last_updated = now
        self.ledger.consume(outcome.consumed, now)
        self._mark_outcome(outcome, now)
        self.agents.refresh_role(agent)
        self.journal.agents[agent.id] = agent
        self._note(Recorded(self._next_number(), self.field.tick, now, consequence, agent.trust, agent.role))
        return consequence, agent

    def profile(self, agent_id: str, now: float) -> Agent:
        """The agent's record; one as new where the agent is unknown."""
        known = self.agents.find(agent_id)
        if known is not None:
            return known
        if not self.rules.asked_agents_kept:
            return Agent(agent_id, now)
        agent = self.journal.agents[agent_id] = self.agents.get(agent_id, now)
        return agent

    def tick(self, now: float) -> None:
        """Moves the field one tick on."""
        gone = self.field.advance()
        self.ledger.roll(now)
        self.journal.removed += [trace.key for trace in gone]
        self._note(Ticked(self._next_number(), self.field.tick, now, len(gone)))

    def prune(self, now: float) -> list[Candidate]:
        """The modules that may go, the surest first (spec 12)."""
        found = scan(self._idle_modules(now), now, self.is_protected)
        self.pruning_count = len(found)
        self._note(Pruned(self._next_number(), self.field.tick, now, len(found)))
        return found

    # Calls of the operator

    def deposit(self, deposit: Deposit, now: float) -> Trace | None:
        """The trace that the deposit made or made stronger; None where nothing came of it."""
        trace = self.field.deposit(deposit, now)
        if trace is not None:
            self.journal.traces[trace.key] = trace
        return trace

    def calm_down(self, reason: str, now: float) -> Calmed:
        """Takes traces, budget and ticks back to the start; trust and history stay."""
        tick = self.field.tick
        cleared = self.field.clear()
        self.ledger.restart(now)
        self.journal.traces.clear()
        self.journal.cleared = True
        calmed = Calmed(self._next_number(), 0, now, reason, tick, cleared)
        self._note(calmed)
        return calmed

    def protection_of(self, location: str) -> str | None:
        """Why a pruning report leaves the module alone, or None where it does not."""
        return protection(
            human_priority=self.field.strength(location, SignalType.HUMAN_PRIORITY),
            dependency=self.field.strength(location, SignalType.DEPENDENCY),
        )

    def is_protected(self, location: str) -> bool:
        """Whether a pruning report leaves the module alone."""
        return self.protection_of(location) is not None

    # Traces that calls leave

    def _mark_findings(self, target: str, findings: Sequence[Finding], now: float) -> None:
        for finding in findings:
            if finding.severity in _FINDING_MARKS:
                kind, strength = _FINDING_MARKS[finding.severity]
                evidence = {"attack_vector": finding.vector.value, "claim": finding.claim}
                self.deposit(Deposit(target, kind, strength, FAST, Source.AGENT, evidence), now)

    def _mark_verdict(
        self, proposal_id: str, target: str, verdict: Verdict, findings: Sequence[Finding], trust: float, now: float
    ) -> None:
        if verdict.decision is Decision.REFUSE:
            strength = 1 + 3 * max_weight(findings)
            evidence: dict[str, object] = {"proposal_id": proposal_id, "reason": verdict.reason}
            self.deposit(Deposit(target, SignalType.FAILURE, strength, NORMAL, Source.AGENT, evidence, trust), now)
            return
        grave = [finding for finding in findings if finding.severity in _GRAVE]
        if grave:
            evidence = {
                "proposal_id": proposal_id,
                "finding_count": len(grave),
                "max_severity": self._shown_maximum(grave),
            }
            strength = min(3.0, 0.8 * len(grave))
            self.deposit(Deposit(target, SignalType.RISK, strength, FAST, Source.AGENT, evidence, trust), now)

    def _mark_outcome(self, outcome: Outcome, now: float) -> None:
        target = outcome.target
        evidence: dict[str, object] = {"proposal_id": str(uuid4())}
        if outcome.tests_passed:
            reinforced = self.field.reinforce(target, SignalType.SUCCESS, now)
            if not outcome.repair_needed:
                decay = self.rules.success_decay
                self.deposit(Deposit(target, SignalType.SUCCESS, 1.5, decay, Source.TEST, evidence), now)
            elif reinforced is not None:
                self.journal.traces[reinforced.key] = reinforced
        else:
            evidence |= {"action_type": outcome.action_type, "actual_outcome": outcome.actual_outcome}
            decay = self.rules.test_failure_decay
            self.deposit(Deposit(target, SignalType.FAILURE, 2.0, decay, Source.TEST, evidence), now)
        used = Deposit(target, SignalType.DEPENDENCY, 0.5, SLOW, Source.RUNTIME, {"agent_id": outcome.agent_id})
        self.deposit(used, now)

    # Changes

    def _next_number(self) -> int:
        self.changes_made += 1
        return self.changes_made

    def _note(self, change: AnyChange) -> None:
        self.changes.append(change)
        self.journal.changes.append(change)

    def _note_mark(self, trace: Trace, now: float) -> None:
        mark = Marked(
            self._next_number(),
            self.field.tick,
            now,
            trace.location,
            trace.kind,
            trace.strength,
            trace.decay,
            trace.source,
        )
        self._note(mark)

    def _note_verdict(
        self, proposal_id: str, proposal: Proposal, case: Case, verdict: Verdict, severity: float, now: float
    ) -> None:
        parts = verdict.parts
        judged = Judged(
            number=self._next_number(),
            tick=self.field.tick,
            at=now,
            proposal_id=proposal_id,
            agent_id=proposal.agent_id,
            action_type=proposal.action_type,
            target=proposal.target,
            decision=verdict.decision.value,
            score=verdict.score,
            parts=(parts.budget, parts.risk, parts.trust, parts.completeness) if parts else None,
            reason=verdict.reason,
            required_evidence=verdict.required_evidence,
            risk=case.risk,
            failure=case.failure,
            trust=case.trust,
            findings=case.findings,
            severity=severity,
        )
        self._note(judged)

    def _shown_maximum(self, findings: Sequence[Finding]) -> str:
        return self.rules.shown_maximum(item.severity for item in findings).value if findings else ""

    # Pruning

    def _idle_modules(self, now: float) -> list[Module]:
        """Modules with a dependency trace that nobody touched for long, those with the strongest traces first."""
        idle = self.field.dependencies_before(now - IDLE_AFTER_S)
        if idle and len(self.field) > _REGISTRY_LIMIT:
            strongest = set(self.field.strongest(_REGISTRY_LIMIT))
            idle = [trace for trace in idle if trace in strongest]
        modules: dict[str, Module] = {}
        for trace in self.field.by_strength(idle):
            modules.setdefault(trace.location, Module(trace.location, trace.last_reinforced, call_count=1))
        return list(modules.values())
