"""One moment as the panes see it: the snapshot, the time, and what needs the person."""

from operator import is_not

from msgspec import field

from colonizer_client.attention import Need
from colonizer_client.identity import ColonyKey, EndpointName
from colonizer_client.snapshot import Health, Snapshot, Topics
from colonizer_config.value import Value
from colonizer_tui.keys import AS_SHIPPED, Keymap
from colonizer_tui.present.digest import Digest


class View(Value):
    """What there is to draw."""

    snapshot: Snapshot = field(default_factory=Snapshot)
    now: float = 0.0
    """Seconds since 1970 by our own clock."""
    keymap: Keymap = field(default_factory=lambda: AS_SHIPPED)
    """The keys as the person has them, for what is said about them."""
    needs: tuple[Need, ...] = ()
    """What needs the person, most urgent first; what is on hosts that do not answer, and cannot be met, comes last."""
    needs_of: frozenset[ColonyKey] = frozenset()
    answerable: int = 0
    """How many needs can be met now: those of hosts that do not answer are not counted."""
    cost_today_usd: float = 0.0
    """What the colonies created since local midnight cost, as far as is known."""
    cost_is_partial: bool = False
    """The cost of one of them is not known."""
    longest_name: int = 0
    """The length of the longest colony name, for its column."""

    def shown(self, action: str) -> str:
        """The key of an action as a person reads it."""
        return self.keymap.shown(action)

    def server_now(self, key: ColonyKey) -> float:
        """The time by the clock of the colony's host, from which its ages count."""
        endpoint = self.snapshot.endpoints.get(key.endpoint)
        return self.now if endpoint is None else endpoint.server_now(self.now)


class Digests:
    """Makes views, each from the one before: what nothing changed is not looked at again, but for once an hour."""

    def __init__(self) -> None:
        self._had = Snapshot()
        self._of: dict[EndpointName, Digest] = {}
        self._parts: tuple[tuple[Need, ...], ...] = ()
        self._live: frozenset[EndpointName] = frozenset()
        self._needs: tuple[Need, ...] = ()
        self._needs_of: frozenset[ColonyKey] = frozenset()

    def view(self, snapshot: Snapshot, topics: Topics, now: float) -> View:
        """The view of a snapshot."""
        self._follow(snapshot, topics, now)
        self._had = snapshot
        endpoints, digests = snapshot.endpoints, self._of.values()
        needs = {
            name: digest.needs(snapshot.questions, endpoints[name].server_now(now)) for name, digest in self._of.items()
        }
        live = frozenset(name for name in needs if endpoints[name].health is Health.LIVE)
        self._merge(tuple(needs.values()), live)
        return View(
            snapshot=snapshot,
            now=now,
            needs=self._needs,
            needs_of=self._needs_of,
            answerable=sum(len(needs[name]) for name in live),
            cost_today_usd=sum(digest.cost_today_usd for digest in digests),
            cost_is_partial=any(digest.cost_is_partial for digest in digests),
            longest_name=max((digest.longest_name for digest in digests), default=0),
        )

    def _follow(self, snapshot: Snapshot, topics: Topics, now: float) -> None:
        """Brings the digests up to the snapshot."""
        before, after = self._had.colonies, snapshot.colonies
        for key in topics.colonies:
            digest = self._of.get(key.endpoint)
            if digest is not None:
                digest.change(before.get(key), after.get(key))
        for name in topics.endpoints:
            if name not in snapshot.endpoints:
                self._of.pop(name, None)
            elif name in self._of:
                self._of[name].judge_again()
        for name in snapshot.endpoints:
            if name not in self._of or now >= self._of[name].until:
                self._of[name] = Digest((colony for key, colony in after.items() if key.endpoint == name), now)

    def _merge(self, parts: tuple[tuple[Need, ...], ...], live: frozenset[EndpointName]) -> None:
        if live != self._live or len(parts) != len(self._parts) or any(map(is_not, parts, self._parts)):
            self._parts, self._live = parts, live

            def order(need: Need) -> tuple[bool, tuple[int, int, float]]:
                return need.colony.key.endpoint not in live, need.order

            self._needs = tuple(sorted((need for part in parts for need in part), key=order))
            self._needs_of = frozenset(colony.key for need in self._needs for colony in need.colonies)
