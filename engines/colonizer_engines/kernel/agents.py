"""The agents that a kernel knows, and their records."""

from collections import Counter, deque
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from colonizer_engines.kernel.roles import START_TRUST, Role, infer_role

HISTORY_LIMIT = 200
"""How many of an agent's outcomes its profile names."""

RECENT_LIMIT = 10
"""How many of an agent's outcomes the gate looks at."""


@dataclass(slots=True, eq=False)
class Agent:
    """One agent's record."""

    id: str
    last_updated: float
    """Unix seconds."""
    role: Role = Role.SANDBOX
    trust: float = START_TRUST
    """0..1."""
    proposals: int = 0
    accepted: int = 0
    history: deque[str] = field(default_factory=lambda: deque(maxlen=HISTORY_LIMIT))
    """Ids of its newest consequences, oldest first."""
    recent_failures: deque[bool] = field(default_factory=lambda: deque(maxlen=RECENT_LIMIT))
    """Whether its newest outcomes failed, oldest first."""

    @property
    def earned_role(self) -> Role:
        """The role that its trust and proposals stand for."""
        return infer_role(self.trust, self.proposals)


class Agents:
    """All agents that proposed something or were reported on."""

    def __init__(self) -> None:
        self._agents: dict[str, Agent] = {}
        self._roles: Counter[Role] = Counter()

    def __iter__(self) -> Iterator[Agent]:
        """All agents, in the order of their first call."""
        return iter(self._agents.values())

    def find(self, agent: str) -> Agent | None:
        """The agent's record, where it is known."""
        return self._agents.get(agent)

    def get(self, agent: str, now: float) -> Agent:
        """The agent's record, made where it is unknown."""
        found = self._agents.get(agent)
        if found is None:
            found = self._agents[agent] = Agent(agent, now)
            self._roles[found.role] += 1
        return found

    def refresh_role(self, agent: Agent) -> None:
        """Gives the agent the role that it earned."""
        earned = agent.earned_role
        if earned is not agent.role:
            self._roles[agent.role] -= 1
            self._roles[earned] += 1
            agent.role = earned

    def restore(self, agents: Iterable[Agent]) -> None:
        """Takes over earlier records, in place of all that are here."""
        self._agents = {agent.id: agent for agent in agents}
        self._roles = Counter(agent.role for agent in self._agents.values())

    def distribution(self) -> dict[str, int]:
        """The number of agents by role, roles that nobody has left out."""
        return {role.value: count for role, count in self._roles.items() if count}
