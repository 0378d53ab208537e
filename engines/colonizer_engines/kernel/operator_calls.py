"""What only the operator may ask of a kernel, as calls by name: the same whatever the preset (kernel rules, end).

Each call is a record of its arguments. Its value is a JSON object.
"""

from collections.abc import Mapping
from typing import Annotated, Any, ClassVar, Literal, TypedDict, TypeVar

import msgspec
from msgspec import Meta, field

from colonizer_engines.kernel.errors import BadArgument
from colonizer_engines.kernel.kernel import Kernel
from colonizer_engines.kernel.records import AnyChange
from colonizer_engines.kernel.signals import FAST, NORMAL, SLOW, Decay, SignalType
from colonizer_engines.kernel.wire import Card, Schema

WAIT_LIMIT_S = 30.0
"""How long a caller may wait for a change."""

CHANGES_AT_ONCE = 1000

_DECAYS: Mapping[str, Decay] = {"fast": FAST, "normal": NORMAL, "slow": SLOW}

Location = Annotated[str, Meta(min_length=1)]
Strength = Annotated[float, Meta(gt=0, le=1e6)]


class OperatorCall(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One call; the docstring of its class is what is listed of it."""

    name: ClassVar[str]

    def value(self, kernel: Kernel) -> Mapping[str, object]:
        """What the kernel answers."""
        raise NotImplementedError


class Matrix(OperatorCall, frozen=True):
    """The whole field: locations by signal types; strength 0 is no trace."""

    name = "operator_matrix"

    def value(self, kernel: Kernel) -> Mapping[str, object]:
        """The field."""
        return kernel.matrix()


class History(OperatorCall, frozen=True):
    """The kept marks of one trace, oldest first; between two marks the law says how strong it was."""

    name = "operator_history"
    location: Location
    signal_type: SignalType

    def value(self, kernel: Kernel) -> Mapping[str, object]:
        """`marks`."""
        return {"marks": kernel.history_of(self.location, self.signal_type)}


class MakeDeposit(OperatorCall, frozen=True):
    """Leaves a person's trace, which weighs twice; answers with the trace as it is then."""

    name = "operator_deposit"
    location: Location
    signal_type: SignalType
    strength: Strength
    decay: Literal["fast", "normal", "slow"] = "normal"
    evidence: dict[str, Any] = field(default_factory=dict[str, Any])

    def value(self, kernel: Kernel) -> Mapping[str, object]:
        """`signals`: none or one."""
        decay = _DECAYS[self.decay]
        return {"signals": kernel.deposit(self.location, self.signal_type, self.strength, decay, self.evidence)}


class CalmDown(OperatorCall, frozen=True):
    """Takes traces, budget and ticks back to the start; trust and history stay."""

    name = "operator_calm_down"
    reason: Annotated[str, Meta(min_length=1)]

    def value(self, kernel: Kernel) -> Mapping[str, object]:
        """What went."""
        return kernel.calm_down(self.reason)


class ChangesReply(TypedDict):
    """Changes, and the number of the last one that there is."""

    changes: list[AnyChange]
    last: int


class Changes(OperatorCall, frozen=True):
    """The changes after one, oldest first, at most 1000; waits for one where there is none."""

    name = "operator_changes"
    after: Annotated[int, Meta(ge=0)] = 0
    wait_s: Annotated[float, Meta(ge=0, le=WAIT_LIMIT_S)] = 0.0

    def value(self, kernel: Kernel) -> ChangesReply:
        """The changes that there are now."""
        last = kernel.changes_made()
        changes = kernel.changes_after(self.after)[:CHANGES_AT_ONCE]
        return {"changes": changes, "last": max(last, changes[-1].number) if changes else last}


class Profiles(OperatorCall, frozen=True):
    """The records of all agents, in the order of their first calls."""

    name = "operator_profiles"

    def value(self, kernel: Kernel) -> Mapping[str, object]:
        """`profiles`."""
        return {"profiles": kernel.profiles()}


class Consequences(OperatorCall, frozen=True):
    """The newest reported outcomes, newest first, with what was said of them."""

    name = "operator_consequences"

    def value(self, kernel: Kernel) -> Mapping[str, object]:
        """`consequences`."""
        return {"consequences": kernel.consequences()}


class Protections(OperatorCall, frozen=True):
    """Why a pruning report leaves alone those of the locations that it does."""

    name = "operator_protections"
    locations: list[str]

    def value(self, kernel: Kernel) -> Mapping[str, object]:
        """`protections`: the reason by location."""
        return {"protections": kernel.protections(self.locations)}


_ALL: tuple[type[OperatorCall], ...] = (
    Matrix,
    History,
    MakeDeposit,
    CalmDown,
    Changes,
    Profiles,
    Consequences,
    Protections,
)

OPERATOR_CALLS: Mapping[str, type[OperatorCall]] = {kind.name: kind for kind in _ALL}

_Call = TypeVar("_Call", bound=OperatorCall)


def read(kind: type[_Call], arguments: Mapping[str, object]) -> _Call:
    """The call with these arguments.

    Raises:
        BadArgument: They do not fit it.
    """
    try:
        return msgspec.convert(arguments, kind)
    except msgspec.ValidationError as problem:
        raise BadArgument("arguments", f"{kind.name}: {problem}") from None


def _schema(kind: type[OperatorCall]) -> Schema:
    _, parts = msgspec.json.schema_components([kind], ref_template="#/$defs/{name}")
    own = parts.pop(kind.__name__)
    for listed_elsewhere in ("title", "description"):
        own.pop(listed_elsewhere, None)
    return {**own, "$defs": parts} if parts else own


CARDS = tuple(Card(kind.name, (kind.__doc__ or "").strip(), _schema(kind)) for kind in _ALL)
