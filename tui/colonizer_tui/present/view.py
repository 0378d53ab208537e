"""One moment as the panes see it: the snapshot, the time, and what needs the person."""

from collections.abc import Iterable
from dataclasses import dataclass, field

from colonizer_client.attention import Need, inbox
from colonizer_client.identity import ColonyKey, EndpointName
from colonizer_client.mothership.models import Colony
from colonizer_client.snapshot import EndpointState, Snapshot, Topics


@dataclass(frozen=True, slots=True)
class View:
    """What there is to draw."""

    snapshot: Snapshot = field(default_factory=Snapshot)
    now: float = 0.0
    """Seconds since 1970 by our own clock."""
    needs: tuple[Need, ...] = ()
    """What needs the person, most urgent first."""
    needs_of: frozenset[ColonyKey] = frozenset()

    def server_now(self, key: ColonyKey) -> float:
        """The time by the clock of the colony's host, from which its ages count."""
        endpoint = self.snapshot.endpoints.get(key.endpoint)
        return self.now if endpoint is None else endpoint.server_now(self.now)


class Inboxes:
    """The inbox of each mothership; only those are computed anew whose colonies changed."""

    def __init__(self) -> None:
        self._of: dict[EndpointName, tuple[Need, ...]] = {}

    def view(self, snapshot: Snapshot, topics: Topics, now: float) -> View:
        """The view of a snapshot."""
        changed = {key.endpoint for key in topics.colonies} | topics.endpoints
        for name in changed:
            self._of.pop(name, None)
            state = snapshot.endpoints.get(name)
            if state is not None:
                self._of[name] = inbox(_colonies(snapshot, name), snapshot.questions, state.server_now(now))
        needs = tuple(sorted((need for needs in self._of.values() for need in needs), key=lambda need: need.order))
        return View(snapshot, now, needs, frozenset(colony.key for need in needs for colony in need.colonies))


def answerable(needs: Iterable[Need], snapshot: Snapshot) -> int:
    """How many needs can be met now: those of hosts that do not answer are not counted."""
    return sum(_is_reachable(snapshot.endpoints.get(need.colony.key.endpoint)) for need in needs)


def _is_reachable(endpoint: EndpointState | None) -> bool:
    return endpoint is not None and endpoint.health.name == "LIVE"


def _colonies(snapshot: Snapshot, name: EndpointName) -> list[Colony]:
    return [colony for key, colony in snapshot.colonies.items() if key.endpoint == name]
