"""The agents of one kernel and their outcomes, as they become known."""

from collections import deque
from collections.abc import Iterable, Mapping
from types import MappingProxyType

from msgspec.structs import replace

from colonizer_client.kernel.models import Consequence, Name, Profile
from colonizer_client.kernel.preset import FAILURES_COUNTED
from colonizer_client.kernel.view import Agent, TrustPoint

AGENTS_KEPT = 2_000
CONSEQUENCES_KEPT = 1_000
OUTCOMES_KEPT = 32
TRUST_KEPT = 64

LISTED_AT_ONCE = 10
"""So many of the newest outcomes a status tells."""


class AgentBook:
    """What is known of a kernel's agents. For one event loop."""

    def __init__(self) -> None:
        self.is_complete = False
        """Every outcome reaches us, so that the last ones that we know are the last ones."""
        self._agents: dict[str, Agent] = {}
        self._kept: deque[Consequence] = deque(maxlen=CONSEQUENCES_KEPT)
        self._ids: set[str] = set()
        self._agents_view: Mapping[str, Agent] | None = None
        self._kept_view: tuple[Consequence, ...] | None = None

    @property
    def agents(self) -> Mapping[str, Agent]:
        """All agents; the same object until something changes."""
        if self._agents_view is None:
            self._agents_view = MappingProxyType(dict(self._agents))
        return self._agents_view

    @property
    def consequences(self) -> tuple[Consequence, ...]:
        """The newest outcomes, oldest first; the same object until something changes."""
        if self._kept_view is None:
            self._kept_view = tuple(self._kept)
        return self._kept_view

    def meet(self, name: Name) -> bool:
        """Makes an agent known; whether it is new."""
        if name.raw in self._agents or len(self._agents) >= AGENTS_KEPT:
            return False
        self._put(Agent(name))
        return True

    def take_profile(self, profile: Profile, tick: int, now: float) -> None:
        """Takes an agent's record as it was read."""
        self.meet(profile.agent)
        agent = self._agents.get(profile.agent.raw)
        if agent is None:
            return
        history = agent.trust_history
        if not history or history[-1].trust != profile.trust:
            history = (*history[1 - TRUST_KEPT :], TrustPoint(tick, now, profile.trust))
        is_whole = self.is_complete or all(told in self._ids for told in profile.history[-FAILURES_COUNTED:])
        changed = replace(agent, profile=profile, trust_history=history, is_whole=is_whole)
        if changed != agent:
            self._put(changed)

    def take_outcomes(self, newest_first: Iterable[Consequence]) -> list[Consequence]:
        """Takes the newest outcomes; those that were not known, oldest first."""
        rows = list(newest_first)
        fresh = [row for row in reversed(rows) if row.id not in self._ids]
        if fresh and len(fresh) == len(rows) >= LISTED_AT_ONCE and not self.is_complete:
            fresh[0] = replace(fresh[0], has_gap_before=True)
        for row in fresh:
            self._add(row)
        return fresh

    def _add(self, row: Consequence) -> None:
        if len(self._kept) == CONSEQUENCES_KEPT:
            self._ids.discard(self._kept[0].id)
        self._kept.append(row)
        self._ids.add(row.id)
        self._kept_view = None
        self.meet(row.agent)
        agent = self._agents.get(row.agent.raw)
        if agent is not None:
            outcomes = (*agent.outcomes[1 - OUTCOMES_KEPT :], row.tests_passed)
            self._put(replace(agent, outcomes=outcomes, is_whole=self.is_complete))

    def _put(self, agent: Agent) -> None:
        self._agents[agent.name.raw] = agent
        self._agents_view = None
