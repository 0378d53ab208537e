"""One moment as the panes see it: the snapshot, the time, and what needs the person."""

from collections.abc import Iterable
from datetime import datetime, timedelta

from msgspec import field

from colonizer_client.attention import Need, inbox
from colonizer_client.identity import ColonyKey, EndpointName
from colonizer_client.mothership.models import Colony
from colonizer_client.snapshot import EndpointState, Health, Snapshot, Topics
from colonizer_config.value import Value


class View(Value):
    """What there is to draw."""

    snapshot: Snapshot = field(default_factory=Snapshot)
    now: float = 0.0
    """Seconds since 1970 by our own clock."""
    needs: tuple[Need, ...] = ()
    """What needs the person, most urgent first."""
    needs_of: frozenset[ColonyKey] = frozenset()
    cost_today_usd: float = 0.0
    """What the colonies created since local midnight cost, as far as is known."""
    cost_is_partial: bool = False
    """The cost of one of them is not known."""
    longest_name: int = 0
    """The length of the longest colony name, for its column."""

    def server_now(self, key: ColonyKey) -> float:
        """The time by the clock of the colony's host, from which its ages count."""
        endpoint = self.snapshot.endpoints.get(key.endpoint)
        return self.now if endpoint is None else endpoint.server_now(self.now)


class _Digest(Value):
    """What is made of all colonies of one mothership together."""

    needs: tuple[Need, ...]
    cost_today_usd: float
    cost_is_partial: bool
    longest_name: int
    until: float
    """The next full hour: at midnight another day's money begins, and a question that nobody answered grows old."""


class Digests:
    """Digests of the motherships; only those are made anew whose colonies changed, and all of them every hour."""

    def __init__(self) -> None:
        self._of: dict[EndpointName, _Digest] = {}

    def view(self, snapshot: Snapshot, topics: Topics, now: float) -> View:
        """The view of a snapshot."""
        expired = {name for name, digest in self._of.items() if now >= digest.until}
        for name in {key.endpoint for key in topics.colonies} | topics.endpoints | expired:
            self._of.pop(name, None)
            state = snapshot.endpoints.get(name)
            if state is not None:
                self._of[name] = _digest(snapshot, state, now)
        digests = self._of.values()
        needs = tuple(sorted((need for digest in digests for need in digest.needs), key=lambda need: need.order))
        return View(
            snapshot=snapshot,
            now=now,
            needs=needs,
            needs_of=frozenset(colony.key for need in needs for colony in need.colonies),
            cost_today_usd=sum(digest.cost_today_usd for digest in digests),
            cost_is_partial=any(digest.cost_is_partial for digest in digests),
            longest_name=max((digest.longest_name for digest in digests), default=0),
        )


def colony_name(colony: Colony) -> str:
    """A colony's place: the repository's own name, and the issue where there is one."""
    name = colony.repo.rpartition("/")[2] or colony.repo
    return f"{name} #{colony.issue}" if colony.issue is not None else name


def answerable(needs: Iterable[Need], snapshot: Snapshot) -> int:
    """How many needs can be met now: those of hosts that do not answer are not counted."""
    return sum(_is_reachable(snapshot.endpoints.get(need.colony.key.endpoint)) for need in needs)


def _is_reachable(endpoint: EndpointState | None) -> bool:
    return endpoint is not None and endpoint.health is Health.LIVE


def _digest(snapshot: Snapshot, state: EndpointState, now: float) -> _Digest:
    colonies = [colony for key, colony in snapshot.colonies.items() if key.endpoint == state.name]
    hour = datetime.fromtimestamp(now).replace(minute=0, second=0, microsecond=0)
    midnight = hour.replace(hour=0).timestamp()
    costs = [colony.cost_usd for colony in colonies if colony.created_at >= midnight]
    return _Digest(
        needs=inbox(colonies, snapshot.questions, state.server_now(now)),
        cost_today_usd=sum(cost for cost in costs if cost is not None),
        cost_is_partial=any(cost is None for cost in costs),
        longest_name=max((len(colony_name(colony)) for colony in colonies), default=0),
        until=(hour + timedelta(hours=1)).timestamp(),
    )
