"""Everything that is known of one kernel, as it grows; it gives the view that screens show."""

from collections import deque
from collections.abc import Iterable, Mapping

from msgspec.structs import replace

from colonizer_client.endpoint_state import EndpointState
from colonizer_client.kernel.agents import AgentBook
from colonizer_client.kernel.cautions import LIMITED_FOR_S, cautions_of
from colonizer_client.kernel.changes import CalmedDown, Change, Judged, Marked, Matrix, OutcomeKept, Ticked
from colonizer_client.kernel.decode import GateReply, name
from colonizer_client.kernel.field import FieldBook
from colonizer_client.kernel.gate import parts_of
from colonizer_client.kernel.models import (
    SIGNAL_TYPES,
    Budgets,
    Consequence,
    Name,
    OutcomeOrder,
    Profile,
    ProposalOrder,
    PruningReport,
    SignalType,
    Status,
    Trace,
    Verdict,
)
from colonizer_client.kernel.preset import PROTECTED_DEPENDENCY, SEED, Preset
from colonizer_client.kernel.view import Capabilities, KernelView, Mark, Pulse, Sampling
from colonizer_client.text import safe_line

VERDICTS_KEPT = 500
PULSES_KEPT = 512
PULSE_S = 60.0
"""Between two ticks one point of the tick bar is kept for each of these, and for each change of the field's size."""

SLACK_S = 1.0
"""Two moments that lie no further apart are the same to a clock that is set now and then."""

CAUTIONS_S = 1.0
"""Warnings look at every place: not more often than this."""


class Picture:
    """What is known of one kernel. For one event loop; every `now` is Unix seconds by our own clock."""

    def __init__(self, state: EndpointState) -> None:
        self._view = KernelView(state)
        self._field = FieldBook(SEED.law)
        self._agents = AgentBook()
        self._verdicts: deque[Verdict] = deque(maxlen=VERDICTS_KEPT)
        self._pulses: deque[Pulse] = deque(maxlen=PULSES_KEPT)
        self._judged = 0
        self._period_start: float | None = None
        self._tick_seen_at = 0.0
        self._limited_at: float | None = None
        self._missed_at: float | None = None
        self._round_began_at: float | None = None
        self._cautioned_at = 0.0
        self.urgent: dict[tuple[Name, SignalType], None] = {}
        """Cells of which something other than expected was told, to be sampled first, in order."""
        self.stale_agents: dict[str, None] = {}
        """Raw names of agents whose record may have changed since it was read, in order."""

    @property
    def view(self) -> KernelView:
        """The last view that `refresh` made."""
        return self._view

    @property
    def tick(self) -> int:
        """The newest tick that is known."""
        return self._pulses[-1].tick if self._pulses else 0

    def set(self, **parts: object) -> None:
        """Sets parts of the view; one that is equal to what is there stays the object that it was."""
        changed = {name: part for name, part in parts.items() if not _is_same(getattr(self._view, name), part)}
        if changed:
            self._view = replace(self._view, **changed)

    def refresh(self, now: float) -> KernelView:
        """The view of all that is known now; what did not change is the same object as before, the view included."""
        cells = len(self._field.places) * len(SIGNAL_TYPES)
        is_limited = self._limited_at is not None and now - self._limited_at < LIMITED_FOR_S
        self.set(
            places=self._field.places,
            sampling=Sampling(cells, self._field.sampled, self._round_began_at, is_limited),
            agents=self._agents.agents,
            consequences=self._agents.consequences,
            verdicts=tuple(self._verdicts),
            pulses=tuple(self._pulses),
        )
        if now - self._cautioned_at >= CAUTIONS_S:
            self._cautioned_at = now
            self.set(cautions=cautions_of(self._view, now, limited_at=self._limited_at, missed_at=self._missed_at))
        return self._view

    def opened(self, preset: Preset, capabilities: Capabilities) -> None:
        """Takes what a new connection told of its kernel."""
        is_other = (preset, capabilities.has_operator_calls) != (self._view.preset, self._field.is_whole)
        self._field.law = preset.law
        self._field.is_whole = self._agents.is_complete = capabilities.has_operator_calls
        if is_other:
            self._field.forget()
        self.set(preset=preset, capabilities=capabilities)

    # What the eight tools tell

    def take_status(self, status: Status, asked_at: float, now: float) -> None:
        """Takes the colony in short. One that was asked for before the newest tick was known is out of date."""
        is_older = bool(self._pulses) and status.tick < self.tick
        if is_older and asked_at <= self._tick_seen_at:
            return
        has_restarted = is_older or self._has_other_period(status.budgets)
        if has_restarted:
            self._field.forget()
        self._pulse(status.tick, now, status.total_signals, is_restart=has_restarted)
        if not self._field.is_whole:
            self._harvest(status, now)
        self.set(status=status)

    def take_trace(self, place: Name, signal: SignalType, trace: Trace | None, now: float) -> None:
        """Takes the answer to a query."""
        mark = Mark(self.tick, now, 0.0, 1.0) if trace is None else Mark(self.tick, now, trace.strength, trace.decay)
        self._field.see(place, signal, mark, now, trace)

    def take_profile(self, profile: Profile, now: float) -> None:
        """Takes an agent's record."""
        self.stale_agents.pop(profile.agent.raw, None)
        self._agents.take_profile(profile, self.tick, now)

    def take_own_verdict(self, order: ProposalOrder, reply: GateReply, now: float) -> Verdict:
        """The verdict on a proposal from here; kept where the kernel's own stream does not tell it."""
        verdict = Verdict(
            number=self._judged + 1,
            at=now,
            tick=self.tick,
            agent=_named(order.agent),
            action=safe_line(order.action, limit=300),
            target=_named(order.target),
            decision=reply.decision,
            score=reply.score,
            reason=reply.reason,
            required_evidence=reply.required_evidence,
            parts=parts_of(reply.score, order, budget_approved=reply.budget_approved),
            budget_approved=reply.budget_approved,
            severity=reply.severity,
            trust=self._trust_of(order.agent),
            is_ours=True,
        )
        if not self._field.is_whole:
            self._keep_verdict(verdict)
            self._met(verdict.agent)
            self._expect(verdict.target)
        return verdict

    def take_own_outcome(self, order: OutcomeOrder) -> None:
        """Notes that an outcome was recorded from here: its cells and its agent have changed."""
        self._met(_named(order.agent))
        self._expect(_named(order.target))

    def take_pruning(self, report: PruningReport, told: Mapping[str, str]) -> None:
        """Takes a pruning report, and why the places with these raw names are left alone."""
        shown = {self._field.places[raw].name.shown: words for raw, words in told.items() if raw in self._field.places}
        self.set(pruning=replace(report, protected=shown or self._protected_by_rule()))

    def note_limited(self, now: float) -> None:
        """Notes that the kernel refused a call for the rate of calls."""
        self._limited_at = now

    def note_round(self, now: float) -> None:
        """Notes that a round over all cells begins."""
        self._round_began_at = now

    # What only an embedded kernel tells

    def take_changes(self, changes: Iterable[Change], now: float) -> None:
        """Takes changes in their order."""
        for change in changes:
            match change:
                case Marked():
                    mark = Mark(change.tick, change.at, change.strength, change.decay)
                    trace = Trace(
                        change.place, change.signal, change.strength, change.decay, change.source, {}, change.at
                    )
                    self._field.see(change.place, change.signal, mark, now, trace)
                case Judged():
                    self._judge(change)
                case OutcomeKept():
                    self.take_outcomes((change.consequence,))
                case Ticked():
                    self._pulse(change.tick, change.at, self._total - change.removed, removed=change.removed)
                case CalmedDown():
                    self._field.forget()
                    self._pulse(change.tick, change.at, 0, is_restart=True)
                case _:
                    pass

    def take_matrix(self, matrix: Matrix, now: float) -> None:
        """Takes the whole field: what is not in it is absent."""
        if matrix.tick > self.tick:
            self._pulse(matrix.tick, now, len(matrix.trails))
        self._field.see_all(matrix, now)

    def take_outcomes(self, newest_first: Iterable[Consequence]) -> None:
        """Takes the newest outcomes."""
        for row in self._agents.take_outcomes(newest_first):
            self._met(row.agent)
            self._expect(row.target)

    def lost_track(self, now: float, *, is_other: bool) -> None:
        """Notes that changes were missed; or that they are another kernel's, which remembers nothing of before."""
        self._missed_at = now
        if is_other:
            self._field.forget()
            self._pulse(0, now, 0, is_restart=True)

    # Within

    @property
    def _total(self) -> int:
        return self._pulses[-1].total_signals if self._pulses else 0

    def _has_other_period(self, budgets: Budgets) -> bool:
        """Whether the budget's period is another one than before though that was not over (kernel spec 6)."""
        start, before = budgets.period_start, self._period_start
        if start is None:
            return False
        self._period_start = start
        return before is not None and abs(start - before) > SLACK_S and start - before < budgets.period_s - SLACK_S

    def _harvest(self, status: Status, now: float) -> None:
        for top in status.top:
            mark = Mark(status.tick, top.updated_at or now, top.strength, None)
            if self._field.see(top.place, top.signal, mark, now):
                self.urgent[top.place, top.signal] = None
        self.take_outcomes(status.recent)

    def _expect(self, target: Name) -> None:
        """Puts a target's cells among those to be sampled first."""
        if not self._field.is_whole:
            self._field.meet(target)
            self.urgent.update(dict.fromkeys((target, signal) for signal in SIGNAL_TYPES))

    def _met(self, agent: Name) -> None:
        """Notes that an agent's record has changed."""
        self._agents.meet(agent)
        self.stale_agents[agent.raw] = None

    def _judge(self, change: Judged) -> None:
        self._field.meet(change.target)
        self._met(change.agent)
        self._keep_verdict(
            Verdict(
                number=self._judged + 1,
                at=change.at,
                tick=change.tick,
                agent=change.agent,
                action=change.action,
                target=change.target,
                decision=change.decision,
                score=change.score,
                reason=change.reason,
                required_evidence=change.required_evidence,
                parts=change.parts,
                budget_approved="budget_recovered" not in change.required_evidence,
                severity=change.severity,
                risk=change.risk,
                failure=change.failure,
                trust=change.trust,
                findings=change.findings,
            )
        )

    def _keep_verdict(self, verdict: Verdict) -> None:
        self._judged = verdict.number
        self._verdicts.append(verdict)

    def _pulse(self, tick: int, at: float, total: int, *, removed: int | None = None, is_restart: bool = False) -> None:
        last = self._pulses[-1] if self._pulses else None
        is_same = last is not None and (last.tick, last.total_signals) == (tick, total) and at - last.at < PULSE_S
        if is_same and removed is None and not is_restart:
            return
        if last is not None and last.tick == tick and removed is not None and not is_restart:
            self._pulses[-1] = replace(last, removed=removed)  # a status was faster than the change
            return
        if last is None or last.tick != tick:
            self._tick_seen_at = max(at, self._tick_seen_at)
        self._pulses.append(Pulse(tick, at, max(total, 0), removed, is_restart))

    def _trust_of(self, agent: str) -> float | None:
        known = self._agents.agents.get(agent)
        return None if known is None or known.profile is None else known.profile.trust

    def _protected_by_rule(self) -> dict[str, str]:
        """Why places are left alone, by the rules that every kernel has (kernel spec 12), as far as is sampled."""
        found: dict[str, str] = {}
        for place in self._field.places.values():
            wanted = place.strength(SignalType.HUMAN_PRIORITY, self.tick, self._field.law) or 0.0
            needed = place.strength(SignalType.DEPENDENCY, self.tick, self._field.law) or 0.0
            if wanted > 0:
                found[place.name.shown] = f"people want it (human priority {wanted:.2f})"
            elif needed >= PROTECTED_DEPENDENCY:
                found[place.name.shown] = f"others depend on it (dependency {needed:.2f})"
        return found


def _is_same(before: object, after: object) -> bool:
    # The large tables are new objects where they changed: comparing them entry by entry would tell nothing more.
    return before is after or (not isinstance(after, Mapping) and before == after)


def _named(raw: str) -> Name:
    return name(raw) or Name(raw, safe_line(raw, limit=300))
