"""One kernel as the screens show it: everything known of it at one moment.

A view is never changed. What did not change between two views is the same object in both, so that a screen tells by
`is` which of its parts it has to draw anew.
"""

from collections.abc import Mapping
from enum import Enum, StrEnum, auto
from types import MappingProxyType

from msgspec import field

from colonizer_client.endpoint_state import EndpointState, Health
from colonizer_client.identity import EndpointName
from colonizer_client.kernel.models import (
    COLUMNS,
    Consequence,
    Name,
    Profile,
    PruningReport,
    SignalType,
    Status,
    Verdict,
)
from colonizer_client.kernel.preset import FAILURES_COUNTED, SEED, Law, Preset
from colonizer_client.mcp.consents import ConsentAsked
from colonizer_config.value import Value


class Condition(Enum):
    """How a kernel's connection is, in the one way that a screen has to tell apart."""

    IDLE = auto()
    """Nobody looked at it yet: nothing was started and nothing is asked."""
    CONSENT_NEEDED = auto()
    """Its command was never agreed to, or is another one now: see `KernelView.consent`."""
    CONNECTING = auto()
    LIVE = auto()
    SILENT = auto()
    """It cannot be reached; it is tried again at `link.retry_at`."""
    SIGNED_OUT = auto()
    """It refused the token, or a fault of ours ended the traffic: nothing is sent until the person acts."""


class Capabilities(Value):
    """What the kernel on the other end can do for us."""

    is_embedded: bool = False
    """The local engine's own; others are shared with agents elsewhere, so writing to one asks first."""
    server: str = ""
    """Name and version as the server tells them."""
    tools: frozenset[str] = frozenset()
    """Bare names of the kernel's tools that it lists, such as `colony_tick`."""
    has_operator_calls: bool = False
    """The whole field, every verdict and every change can be read; without, places are sampled one by one."""
    other_tools: int = 0
    """Tools of the same server that are none of a kernel's, and are never called."""

    def offers(self, tool: str) -> bool:
        """Whether the tool can be called."""
        return tool in self.tools


class Mark(Value, gc=False):
    """How strong a trace was at one moment; until its next mark the kernel's law says how strong it is."""

    tick: int
    at: float
    """Unix seconds: by the kernel's clock where it tells, else by ours."""
    strength: float
    """0..10; 0 says that there was no trace."""
    decay: float | None
    """None where only the strength was told: then no law can be applied."""


class Cell(Value, gc=False):
    """One place's trace of one type. That there is a cell says that it was sampled; its strength may still be 0."""

    marks: tuple[Mark, ...]
    """Oldest first, never empty; the last one is the newest knowledge."""
    checked_tick: int
    checked_at: float
    """When it was last looked at, by our own clock."""
    last_reinforced: float | None = None
    source: str = ""
    evidence: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))

    @property
    def newest(self) -> Mark:
        """The last mark."""
        return self.marks[-1]

    def strength_at(self, tick: int, law: Law) -> float | None:
        """How strong it was at this tick, by the last mark before it; None before the first one."""
        for mark in reversed(self.marks):
            if mark.tick <= tick:
                return mark.strength if mark.decay is None else law.after(mark.strength, mark.decay, tick - mark.tick)
        return None

    def ticks_until(self, level: float, tick: int, law: Law) -> int | None:
        """Ticks from now until it is below the level, or gone where the level is 0; None where that is not known."""
        mark, strength = self.newest, self.strength_at(tick, law)
        if strength is None or mark.decay is None:
            return None
        return law.ticks_until(level, strength, mark.decay)


class Place(Value, gc=False):
    """One row of the heatmap."""

    name: Name
    cells: tuple[Cell | None, ...]
    """In the order of `SIGNAL_TYPES`; None is not sampled yet, a cell of strength 0 is absent."""

    def cell(self, signal: SignalType) -> Cell | None:
        """The cell of one type."""
        return self.cells[COLUMNS[signal]]

    def strength(self, signal: SignalType, tick: int, law: Law) -> float | None:
        """The strength at a tick; None where it was not sampled by then."""
        cell = self.cell(signal)
        return None if cell is None else cell.strength_at(tick, law)

    def hazard(self, tick: int, law: Law) -> float | None:
        """The stronger of FAILURE and RISK as far as they are known; None where neither is."""
        known = (self.strength(signal, tick, law) for signal in (SignalType.FAILURE, SignalType.RISK))
        return max((strength for strength in known if strength is not None), default=None)


class Sampling(Value, gc=False):
    """How far the field of a kernel without operator calls is known."""

    cells: int = 0
    sampled: int = 0
    round_began_at: float | None = None
    """When the present round over all cells began, by our own clock."""
    is_limited: bool = False
    """The kernel refused calls for their rate a short while ago: we ask more slowly."""


class TrustPoint(Value, gc=False):
    """An agent's trust at one moment."""

    tick: int
    at: float
    trust: float


class Agent(Value, gc=False):
    """One agent. Its name was harvested from what was seen, or listed by the operator call."""

    name: Name
    profile: Profile | None = None
    """None while it was not read."""
    outcomes: tuple[bool, ...] = ()
    """Whether its last outcomes passed, oldest first, as far as seen; see `is_whole`."""
    is_whole: bool = False
    """The outcomes are really the last ones; else older or other ones may have been missed."""
    trust_history: tuple[TrustPoint, ...] = ()
    """Oldest first."""

    @property
    def recent_failures(self) -> int:
        """How many of the last ten outcomes failed; from three on its trust counts less."""
        return sum(not passed for passed in self.outcomes[-FAILURES_COUNTED:])


class Pulse(Value, gc=False):
    """The field in short at one moment: the points of the tick bar."""

    tick: int
    at: float
    """By our own clock."""
    total_signals: int
    removed: int | None = None
    """Traces that went with this tick; None where the kernel does not tell."""
    is_restart: bool = False
    """Before this point the kernel lost its memory, or was calmed down: its ticks or its period went back."""


class CautionKind(StrEnum):
    """What a person should look at (kernel spec 19, panel 9)."""

    RESTARTED = "restarted"
    RATE_LIMITED = "rate limited"
    NO_OUTCOMES = "no outcomes"
    """Proposals were seen and no outcome of their agent."""
    NO_TICK = "no tick"
    TRUST_STUCK = "trust stuck"
    REPEATED_HOLD = "repeated hold"
    FAILURES_BELOW_SUCCESS = "failures below success"
    GAP = "gap"
    """Changes of the kernel were missed: it made more of them than it keeps."""


class Caution(Value, gc=False):
    """One warning, in words."""

    kind: CautionKind
    words: str
    subject: Name | None = None
    """The agent or the place that it is about."""
    since: float | None = None


class KernelView(Value):
    """Everything that is known of one kernel."""

    link: EndpointState
    """Address, health, error, latency, notice; its `kind` is `kernel`."""
    is_wanted: bool = False
    """Somebody looked at it: it is connected to and stays so."""
    consent: ConsentAsked | None = None
    """The command that waits for the person's word."""
    capabilities: Capabilities = Capabilities()
    preset: Preset = SEED
    """By its law `Cell` tells ticks and strengths. A remote kernel's is inferred from the names of its tools."""
    status: Status | None = None
    """The last one; older than `link.as_of` never."""
    places: Mapping[str, Place] = field(default_factory=lambda: MappingProxyType({}))
    """By raw name, in the order in which they were first seen."""
    sampling: Sampling = Sampling()
    agents: Mapping[str, Agent] = field(default_factory=lambda: MappingProxyType({}))
    """By raw name, in the order in which they were first seen."""
    verdicts: tuple[Verdict, ...] = ()
    """Oldest first. A remote kernel tells only those of proposals made from here."""
    consequences: tuple[Consequence, ...] = ()
    """Oldest first."""
    pruning: PruningReport | None = None
    pulses: tuple[Pulse, ...] = ()
    """Oldest first, one for each tick seen and some between."""
    cautions: tuple[Caution, ...] = ()

    @property
    def name(self) -> EndpointName:
        """The endpoint's name; kernels have their own, so that `local` is the embedded one here."""
        return self.link.name

    @property
    def tick(self) -> int:
        """The newest tick that is known, 0 before any."""
        return self.pulses[-1].tick if self.pulses else 0

    @property
    def ticks_kept(self) -> tuple[int, ...]:
        """The ticks since the last restart that a time slider can show, oldest first, each once."""
        start = max((at for at, pulse in enumerate(self.pulses) if pulse.is_restart), default=0)
        return tuple(dict.fromkeys(pulse.tick for pulse in self.pulses[start:]))

    @property
    def budgets_are_fed(self) -> bool:
        """Whether the budgets can move at all; where they cannot they say nothing."""
        return self.preset.feeds_budgets or (self.status is not None and self.status.budgets.is_moved)

    @property
    def condition(self) -> Condition:
        """How the connection is."""
        if self.consent is not None:
            return Condition.CONSENT_NEEDED
        if not self.is_wanted:
            return Condition.IDLE
        return _CONDITIONS[self.link.health]

    @property
    def health_words(self) -> str:
        """The connection in one sentence, without times."""
        match self.condition:
            case Condition.CONSENT_NEEDED:
                words = "changed: agree to its new words before it runs" if self.consent and self.consent.before else ""
                return f"its command {words or 'has to be agreed to before it runs'}"
            case Condition.IDLE:
                return "not connected: nobody looked at it yet"
            case Condition.LIVE:
                return "live" if not self.link.notice else f"live · {self.link.notice}"
            case Condition.CONNECTING:
                return "connecting" if not self.link.error else f"connecting · {self.link.error}"
            case Condition.SILENT | Condition.SIGNED_OUT:
                return self.link.error


_CONDITIONS = {
    Health.CONNECTING: Condition.CONNECTING,
    Health.LIVE: Condition.LIVE,
    Health.SILENT: Condition.SILENT,
    Health.SIGNED_OUT: Condition.SIGNED_OUT,
}
