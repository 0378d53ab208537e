"""Everything that is known at one moment, and how an event changes it.

A snapshot is never changed: readers may keep it. `fold` takes all events since the last one together, so that its
cost is paid once for however many there were.
"""

from collections.abc import Iterable, Mapping
from enum import Enum, auto
from types import MappingProxyType
from typing import Generic, TypeAlias, TypeVar

from msgspec import field
from msgspec.structs import replace

from colonizer_client.approvals.models import Approval
from colonizer_client.endpoint_state import EndpointState as EndpointState
from colonizer_client.endpoint_state import Health as Health
from colonizer_client.identity import ColonyKey, EndpointName
from colonizer_client.kernel.bridge import Offer
from colonizer_client.kernel.view import KernelView
from colonizer_client.mothership.models import Colony, ColonyDetail, Diff, OpenQuestion
from colonizer_client.outbox import Delivery
from colonizer_client.transcript import Transcript
from colonizer_config.value import Value

K = TypeVar("K")
V = TypeVar("V")


DELIVERIES_KEPT = 256
"""Settled answers and messages beyond this are forgotten here, the oldest first; the store keeps them."""

READINGS_KEPT = 64
"""Details and diffs of more colonies than this are forgotten, those that were read longest ago first."""

LATE_FRAME_S = 60.0
"""A frame that is older than what is known was overtaken by another socket's. By more than this it is not late: the
server's clock was set back."""


class Phase(Enum):
    """How a transcript stands to the log that it shows."""

    LOADING = auto()
    LIVE = auto()
    RECONNECTING = auto()


class TranscriptState(Value):
    """An opened colony's transcript. The transcript itself grows; compare its `version`."""

    transcript: Transcript
    phase: Phase = Phase.LOADING
    epoch: int = 0
    has_older: bool = False
    is_loading_older: bool = False
    error: str = ""


class DiffState(Value):
    """A colony's diff, as last read. `error` says why there is none, or why it is old."""

    diff: Diff | None = None
    as_of: float | None = None
    is_loading: bool = False
    error: str = ""


class Snapshot(Value):
    """All that is known."""

    endpoints: Mapping[EndpointName, EndpointState] = field(default_factory=lambda: MappingProxyType({}))
    colonies: Mapping[ColonyKey, Colony] = field(default_factory=lambda: MappingProxyType({}))
    questions: Mapping[ColonyKey, OpenQuestion] = field(default_factory=lambda: MappingProxyType({}))
    details: Mapping[ColonyKey, ColonyDetail] = field(default_factory=lambda: MappingProxyType({}))
    diffs: Mapping[ColonyKey, DiffState] = field(default_factory=lambda: MappingProxyType({}))
    transcripts: Mapping[ColonyKey, TranscriptState] = field(default_factory=lambda: MappingProxyType({}))
    deliveries: Mapping[str, Delivery] = field(default_factory=lambda: MappingProxyType({}))
    kernels: Mapping[EndpointName, KernelView] = field(default_factory=lambda: MappingProxyType({}))
    """In the order in which they are configured; they are none of `endpoints`, and have names of their own."""
    offers: tuple[Offer, ...] = ()
    approvals: tuple[Approval, ...] = ()
    """The calls of agents that wait for the person, oldest first."""
    offers_for: EndpointName | None = None
    """The kernel to which outcomes are offered."""
    """Ends of colonies that may be recorded in the chosen kernel, oldest first; none where none is chosen."""

    def endpoint_of(self, key: ColonyKey) -> EndpointState | None:
        """The connection through which the colony is known."""
        return self.endpoints.get(key.endpoint)


class EndpointChanged(Value):
    """A connection is new or changed."""

    state: EndpointState


class EndpointRemoved(Value):
    """A connection is no longer configured; what was known through it goes too."""

    name: EndpointName


class ColoniesListed(Value):
    """The whole list of one mothership."""

    endpoint: EndpointName
    colonies: tuple[Colony, ...]


class ColonyChanged(Value):
    """One colony is new or changed."""

    colony: Colony


class ColonyRemoved(Value):
    """A colony was deleted."""

    key: ColonyKey


class QuestionRead(Value):
    """What a colony asks, None for nothing."""

    key: ColonyKey
    question: OpenQuestion | None


class DetailRead(Value):
    """What only the answer for one colony holds."""

    key: ColonyKey
    detail: ColonyDetail


class DiffChanged(Value):
    """A colony's diff was read, is being read, or cannot be."""

    key: ColonyKey
    state: DiffState


class TranscriptChanged(Value):
    """A transcript grew, or stands otherwise to its log; None when it is no longer followed."""

    key: ColonyKey
    state: TranscriptState | None


class DeliveryChanged(Value):
    """An answer or a message is on its way, or arrived, or did not."""

    delivery: Delivery


class KernelChanged(Value):
    """A kernel is new, or something of it changed."""

    view: KernelView


class KernelRemoved(Value):
    """A kernel is no longer configured; what was known of it goes too."""

    name: EndpointName


class OffersChanged(Value):
    """Something became an offer to record an outcome, or is none any more."""

    offers: tuple[Offer, ...]
    kernel: EndpointName | None = None
    """The kernel to which they are offered."""


class ApprovalsChanged(Value):
    """Other calls of agents wait for the person."""

    approvals: tuple[Approval, ...]


HubEvent: TypeAlias = (
    EndpointChanged
    | EndpointRemoved
    | ColoniesListed
    | ColonyChanged
    | ColonyRemoved
    | QuestionRead
    | DetailRead
    | DiffChanged
    | TranscriptChanged
    | DeliveryChanged
    | KernelChanged
    | KernelRemoved
    | OffersChanged
    | ApprovalsChanged
)


class Topics(Value):
    """What changed between two snapshots."""

    endpoints: frozenset[EndpointName] = frozenset()
    colonies: frozenset[ColonyKey] = frozenset()
    """Changed, new or removed, by itself or by its question."""
    opened: frozenset[ColonyKey] = frozenset()
    """Colonies whose detail, diff or transcript changed."""
    deliveries: frozenset[str] = frozenset()
    kernels: frozenset[EndpointName] = frozenset()
    offers: bool = False
    approvals: bool = False

    def __bool__(self) -> bool:
        rows = self.endpoints or self.colonies or self.opened or self.deliveries or self.kernels
        return bool(rows or self.offers or self.approvals)

    def __or__(self, other: "Topics") -> "Topics":
        return Topics(
            self.endpoints | other.endpoints,
            self.colonies | other.colonies,
            self.opened | other.opened,
            self.deliveries | other.deliveries,
            self.kernels | other.kernels,
            self.offers or other.offers,
            self.approvals or other.approvals,
        )


def fold(snapshot: Snapshot, events: Iterable[HubEvent]) -> tuple[Snapshot, Topics]:
    """The snapshot after the events, and what changed. The given snapshot stays as it is."""
    work = _Work(snapshot)
    for event in events:
        work.take(event)
    return work.done()


class _Table(Generic[K, V]):
    """A mapping that is copied at its first change."""

    def __init__(self, original: Mapping[K, V]) -> None:
        self.original = original
        self.copy: dict[K, V] | None = None

    def current(self) -> Mapping[K, V]:
        return self.original if self.copy is None else self.copy

    def writable(self) -> dict[K, V]:
        if self.copy is None:
            self.copy = dict(self.original)
        return self.copy

    def put(self, key: K, value: V | None) -> None:
        if value is not None:
            self.writable()[key] = value
        elif key in self.current():
            del self.writable()[key]

    def put_newest(self, key: K, value: V, kept: int) -> None:
        """Puts a value last, and forgets the first ones where there are more than `kept`."""
        table = self.writable()
        table.pop(key, None)
        table[key] = value
        while len(table) > kept:
            del table[next(iter(table))]


class _Work:
    """One fold in progress."""

    def __init__(self, snapshot: Snapshot) -> None:
        self._snapshot = snapshot
        self._endpoints = _Table(snapshot.endpoints)
        self._colonies = _Table(snapshot.colonies)
        self._questions = _Table(snapshot.questions)
        self._details = _Table(snapshot.details)
        self._diffs = _Table(snapshot.diffs)
        self._transcripts = _Table(snapshot.transcripts)
        self._deliveries = _Table(snapshot.deliveries)
        self._kernels = _Table(snapshot.kernels)
        self._changed_endpoints: set[EndpointName] = set()
        self._changed_colonies: set[ColonyKey] = set()
        self._opened: set[ColonyKey] = set()
        self._changed_deliveries: set[str] = set()
        self._changed_kernels: set[EndpointName] = set()
        self._offers = (snapshot.offers, snapshot.offers_for)
        self._approvals = snapshot.approvals

    def take(self, event: HubEvent) -> None:
        match event:
            case ColonyChanged(colony):
                had = self._colonies.current().get(colony.key)
                if had is None or not 0 < had.updated_at - colony.updated_at < LATE_FRAME_S:
                    self._put_colony(colony)
            case TranscriptChanged(key, state):
                self._transcripts.put(key, state)
                self._opened.add(key)
            case QuestionRead(key, question):
                asker = self._colonies.current().get(key)
                # It may have been on its way while the colony went on.
                self._put_question(key, question if asker is not None and asker.may_ask else None)
            case DetailRead(key, detail):
                self._details.put_newest(key, detail, READINGS_KEPT)
                self._opened.add(key)
            case DiffChanged(key, state):
                self._diffs.put_newest(key, state, READINGS_KEPT)
                self._opened.add(key)
            case DeliveryChanged(delivery):
                self._put_delivery(delivery)
            case EndpointChanged(state):
                self._endpoints.put(state.name, state)
                self._changed_endpoints.add(state.name)
            case ColoniesListed(endpoint, colonies):
                self._list(endpoint, colonies)
            case ColonyRemoved(key):
                self._remove_colony(key)
            case KernelChanged(view):
                self._put_kernel(view.name, view)
            case KernelRemoved(name):
                self._put_kernel(name, None)
            case OffersChanged(offers, kernel):
                self._offers = (offers, kernel)
            case ApprovalsChanged(approvals):
                self._approvals = approvals
            case EndpointRemoved(name):
                self._list(name, ())
                self._endpoints.put(name, None)
                self._changed_endpoints.add(name)

    def done(self) -> tuple[Snapshot, Topics]:
        topics = Topics(
            frozenset(self._changed_endpoints),
            frozenset(self._changed_colonies),
            frozenset(self._opened),
            frozenset(self._changed_deliveries),
            frozenset(self._changed_kernels),
            self._offers != (self._snapshot.offers, self._snapshot.offers_for),
            self._approvals != self._snapshot.approvals,
        )
        if not topics:
            return self._snapshot, topics
        after = replace(
            self._snapshot,
            endpoints=self._endpoints.current(),
            colonies=self._colonies.current(),
            questions=self._questions.current(),
            details=self._details.current(),
            diffs=self._diffs.current(),
            transcripts=self._transcripts.current(),
            deliveries=self._deliveries.current(),
            kernels=self._kernels.current(),
            offers=self._offers[0],
            offers_for=self._offers[1],
            approvals=self._approvals,
        )
        return after, topics

    def _put_kernel(self, name: EndpointName, view: KernelView | None) -> None:
        self._kernels.put(name, view)
        self._changed_kernels.add(name)

    def _put_colony(self, colony: Colony) -> None:
        had = self._colonies.current().get(colony.key)
        if had is not colony and had != colony:
            self._colonies.put(colony.key, colony)
            self._changed_colonies.add(colony.key)
        if not colony.may_ask:
            self._put_question(colony.key, None)

    def _put_question(self, key: ColonyKey, question: OpenQuestion | None) -> None:
        if self._questions.current().get(key) != question:
            self._questions.put(key, question)
            self._changed_colonies.add(key)

    def _put_delivery(self, delivery: Delivery) -> None:
        deliveries = self._deliveries.writable()
        deliveries[delivery.id] = delivery
        if len(deliveries) > DELIVERIES_KEPT:
            settled = [old.id for old in deliveries.values() if old.is_settled and old.id != delivery.id]
            for old in settled[: DELIVERIES_KEPT // 2]:
                del deliveries[old]
        self._changed_deliveries.add(delivery.id)
        self._changed_colonies.add(delivery.key)

    def _remove_colony(self, key: ColonyKey) -> None:
        for table in (self._colonies, self._questions, self._details, self._diffs, self._transcripts):
            table.put(key, None)
        self._changed_colonies.add(key)
        self._opened.add(key)

    def _list(self, endpoint: EndpointName, colonies: tuple[Colony, ...]) -> None:
        listed = {colony.key for colony in colonies}
        for key in [key for key in self._colonies.current() if key.endpoint == endpoint and key not in listed]:
            self._remove_colony(key)
        for colony in colonies:
            self._put_colony(colony)
