"""One kernel: its calls, one after another, from any number of threads and tasks; each kept before it is answered."""

import threading
import time
from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Protocol

import msgspec

from colonizer_engines.kernel.calls import Outcome, Proposal
from colonizer_engines.kernel.colony import Colony, Journal
from colonizer_engines.kernel.errors import BadArgument
from colonizer_engines.kernel.falsification import RepositoryAccess, findings_of
from colonizer_engines.kernel.field import Deposit
from colonizer_engines.kernel.plan import Plan
from colonizer_engines.kernel.records import AnyChange, Consequence, Marked
from colonizer_engines.kernel.replies import (
    CalmReply,
    MatrixReply,
    OutcomeReply,
    PlanReply,
    ProfileReply,
    ProposalReply,
    PruningReply,
    SignalReply,
    StatusReply,
)
from colonizer_engines.kernel.roles import clamp_feedback
from colonizer_engines.kernel.rules import Rules
from colonizer_engines.kernel.signals import Decay, SignalType, Source
from colonizer_engines.kernel.views import (
    matrix_reply,
    outcome_reply,
    plan_reply,
    profile_reply,
    proposal_reply,
    pruning_reply,
    signal_reply,
    status_reply,
)

Watcher = Callable[[Sequence[AnyChange]], None]
"""Told of the changes of one call, once they are kept. Must not block, call the kernel, or raise."""


class Keeper(Protocol):
    """Where a kernel's state outlives its process."""

    def load(self, colony: Colony) -> None:
        """Gives the new colony what was kept.

        Raises:
            StoreError: It cannot be read.
        """
        ...

    def keep(self, colony: Colony, journal: Journal) -> None:
        """Keeps all that one call touched, or nothing of it.

        Raises:
            StoreError: It was not kept.
        """
        ...


class Kernel:
    """A colony kernel.

    Every call that changes something is kept before it returns; where that fails nothing of the call remains,
    neither here nor there.

    Raises:
        BadArgument: From every call: an argument cannot be taken; nothing was changed.
        StoreError: From every call that changes something: it was not kept.
    """

    def __init__(
        self,
        rules: Rules,
        keeper: Keeper | None = None,
        clock: Callable[[], float] = time.time,
        repositories: Sequence[Path] = (),
    ) -> None:
        """`clock` gives Unix seconds; `repositories` are the folders that a plan may have walked."""
        self.rules = rules
        self._keeper = keeper
        self._clock = clock
        self._access = RepositoryAccess(rules.walks_any_repository, tuple(folder.resolve() for folder in repositories))
        self._lock = threading.Lock()
        self._watchers: list[Watcher] = []
        self._latest = clock()
        self._colony: Colony | None = self._loaded()

    # The eight tools

    def propose(
        self, agent_id: str, action_type: str, target: str, rationale: str, rollback_plan: str, evidence: object = None
    ) -> ProposalReply:
        """The gate's verdict on an action; `evidence` is any JSON value."""
        _checked(agent_id=agent_id, action_type=action_type, target=target, rationale=rationale)
        proposal = Proposal(agent_id, action_type, target, rationale, rollback_plan, evidence)
        with self._call() as (colony, now):
            return proposal_reply(colony.propose(proposal, now))

    def record_outcome(
        self,
        agent_id: str,
        action_type: str,
        target: str,
        actual_outcome: str,
        *,
        tests_passed: bool,
        human_feedback: float = 0.0,
    ) -> OutcomeReply:
        """What the outcome did to its agent; `human_feedback` is -1..1."""
        if not self.rules.feedback_clamped and not -1 <= human_feedback <= 1:
            raise BadArgument("human_feedback", f"human_feedback must be -1..1, not {human_feedback}")
        _checked(agent_id=agent_id, action_type=action_type, target=target, actual_outcome=actual_outcome)
        outcome = Outcome(
            agent_id,
            action_type,
            target,
            actual_outcome,
            tests_passed=tests_passed,
            repair_needed=not tests_passed,
            feedback=clamp_feedback(human_feedback),
            estimate=self.rules.outcome_estimate,
        )
        with self._call() as (colony, now):
            return outcome_reply(*colony.record(outcome, now))

    def agent_profile(self, agent_id: str) -> ProfileReply:
        """The agent's record; one as new where the agent is unknown."""
        _checked(agent_id=agent_id)
        with self._call() as (colony, now):
            return profile_reply(colony.profile(agent_id, now))

    def status(self) -> StatusReply:
        """The colony in short."""
        with self._call() as (colony, now):
            return status_reply(colony, now)

    def pheromone_query(self, location: str, signal_type: str) -> list[SignalReply]:
        """The location's trace of this type, or nothing."""
        try:
            kind = SignalType(signal_type.lower())
        except ValueError:
            known = ", ".join(SignalType)
            raise BadArgument("signal_type", f"signal_type must be one of {known}, not {signal_type!r}") from None
        with self._call() as (colony, _):
            trace = colony.field.find(location, kind)
            return [signal_reply(colony, trace)] if trace else []

    def falsify_plan(self, fields: Mapping[str, object]) -> PlanReply:
        """What the attacks on the plan amount to; nothing is stored."""
        plan = Plan.of(fields)
        return plan_reply(plan, findings_of(plan, self.rules.attack, self._access))

    def pruning_report(self) -> PruningReply:
        """The modules that may go."""
        with self._call() as (colony, now):
            return pruning_reply(colony.prune(now), now)

    def tick(self) -> StatusReply:
        """The colony in short, one tick later."""
        with self._call() as (colony, now):
            colony.tick(now)
            return status_reply(colony, now)

    # What only the operator may call

    def matrix(self) -> MatrixReply:
        """The whole field: locations by signal types."""
        with self._call() as (colony, _):
            return matrix_reply(colony)

    def profiles(self) -> list[ProfileReply]:
        """The records of all agents, in the order of their first calls."""
        with self._call() as (colony, _):
            return [profile_reply(agent) for agent in colony.agents]

    def consequences(self) -> list[Consequence]:
        """The newest outcomes, newest first."""
        with self._call() as (colony, _):
            return list(reversed(colony.consequences))

    def protections(self, locations: Sequence[str]) -> dict[str, str]:
        """Why a pruning report leaves alone those of the locations that it does."""
        with self._call() as (colony, _):
            return {place: why for place in locations if (why := colony.protection_of(place))}

    def deposit(
        self, location: str, signal_type: SignalType, strength: float, decay: Decay, evidence: Mapping[str, object]
    ) -> list[SignalReply]:
        """The trace after a person's deposit, which weighs twice."""
        _checked(location=location, evidence=evidence)
        deposit = Deposit(location, signal_type, strength, decay, Source.HUMAN, evidence)
        with self._call() as (colony, now):
            trace = colony.deposit(deposit, now)
            return [signal_reply(colony, trace)] if trace else []

    def calm_down(self, reason: str) -> CalmReply:
        """What went: traces, budget and ticks are back at the start; trust and history stay."""
        _checked(reason=reason)
        with self._call() as (colony, now):
            calmed = colony.calm_down(reason, now)
            return {
                "reset_reason": reason,
                "tick_count_before": calmed.tick_before,
                "signals_cleared": calmed.cleared,
            }

    def changes_after(self, number: int) -> list[AnyChange]:
        """The changes after this one, oldest first; a gap in the numbers says that older ones are no longer kept."""
        with self._call() as (colony, _):
            if number >= colony.changes_made:
                return []
            return [change for change in colony.changes if change.number > number]

    def changes_made(self) -> int:
        """The number of the newest change; 0 where there is none."""
        with self._call() as (colony, _):
            return colony.changes_made

    def history_of(self, location: str, signal_type: SignalType) -> list[Marked]:
        """The kept marks of one trace, oldest first; between two marks the law says how strong it was."""
        return [
            change
            for change in self.changes_after(0)
            if isinstance(change, Marked) and change.location == location and change.signal_type is signal_type
        ]

    @contextmanager
    def watching(self, watcher: Watcher) -> Generator[int]:
        """Has the watcher told of every change while it lasts; yields the number of the last change before."""
        with self._call() as (colony, _):
            self._watchers.append(watcher)
            before = colony.changes_made
        try:
            yield before
        finally:
            with self._lock:
                self._watchers.remove(watcher)

    # One call

    @contextmanager
    def _call(self) -> Generator[tuple[Colony, float]]:
        """The colony, for one call alone, and the time; what the call changed is kept when this ends well."""
        with self._lock:
            # The order of traces by age needs a time that never goes back.
            self._latest = now = max(self._latest, self._clock())
            colony = self._colony = self._colony or self._loaded()
            try:
                yield colony, now
                journal = colony.take_journal(now)
                if self._keeper is not None and not journal.empty:
                    self._keeper.keep(colony, journal)
            except BadArgument:  # nothing was changed yet
                raise
            except BaseException:
                colony.take_journal(now)
                if self._keeper is not None:
                    self._colony = None  # what is kept is the truth; the next call begins with that
                raise
            if journal.changes:
                for watcher in self._watchers:
                    watcher(journal.changes)

    def _loaded(self) -> Colony:
        colony = Colony(self.rules, self._latest)
        if self._keeper is not None:
            self._keeper.load(colony)
        return colony


def _checked(**given: object) -> None:
    """Nothing, where JSON can hold all that is given.

    Raises:
        BadArgument: It cannot hold one of them, and which.
    """
    try:
        msgspec.json.encode(given)
    except (UnicodeEncodeError, TypeError, ValueError, RecursionError) as problem:
        if len(given) > 1:
            for name, value in given.items():
                _checked(**{name: value})
        raise BadArgument(next(iter(given)), f"{next(iter(given))} cannot be kept: {problem}") from None
