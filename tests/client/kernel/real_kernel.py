"""The engine's kernel behind the client's own interface, without a wire: what a server answers, at once."""

import json
from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

from client.simulated_time import LoopClock
from colonizer_client.clock import Clock
from colonizer_client.errors import ClientError
from colonizer_client.kernel.calls import OPERATOR_TOOLS, TOOLS
from colonizer_client.kernel.replies import Reply
from colonizer_client.kernel.session import ServerFacts, Wire
from colonizer_engines.kernel.errors import KernelError
from colonizer_engines.kernel.kernel import Kernel
from colonizer_engines.kernel.operator_calls import OPERATOR_CALLS, read
from colonizer_engines.kernel.rules import CODOMYRMEX_1_3, SEED
from colonizer_engines.kernel.tools import call
from colonizer_engines.lenient_json import encode

PRESETS = {"seed": SEED, "codomyrmex-1.3": CODOMYRMEX_1_3}


@dataclass
class KernelWire:
    """A connection to a kernel in this process; keeps what was called."""

    kernel: Kernel
    facts: ServerFacts
    failures: list[ClientError] = field(default_factory=list[ClientError])
    """Raised by the next calls."""
    clock: Clock = field(default_factory=LoopClock)
    forgets_changes: bool = False
    """Tells the newest of the changes that are asked for, as if it kept no other."""
    called: list[tuple[str, Mapping[str, object], float]] = field(
        default_factory=list[tuple[str, Mapping[str, object], float]]
    )
    """Each call's tool, arguments and moment."""

    async def call(self, tool: str, arguments: Mapping[str, object], timeout_s: float) -> Reply:
        self.called.append((tool, arguments, self.clock.monotonic()))
        if self.failures:
            raise self.failures.pop(0)
        try:
            value = json.loads(encode(self._value(tool, arguments)))
            if self.forgets_changes and tool == "operator_changes":
                value["changes"] = value["changes"][-1:]
            return Reply(structured=value)
        except KernelError as problem:
            return Reply(text=str(problem), is_error=True)

    def _value(self, tool: str, arguments: Mapping[str, object]) -> object:
        kind = OPERATOR_CALLS.get(tool)
        return call(self.kernel, tool, arguments) if kind is None else read(kind, arguments).value(self.kernel)


@dataclass
class KernelConnector:
    """Connects to a kernel in this process, as often as it is asked to."""

    preset: str = "seed"
    is_embedded: bool = False
    kernel: Kernel | None = None
    failure: ClientError | None = None
    clock: Clock = field(default_factory=LoopClock)
    opened: list[KernelWire] = field(default_factory=list[KernelWire])
    modes: list[str] = field(default_factory=list[str])

    def __post_init__(self) -> None:
        self.kernel = self.kernel or Kernel(PRESETS[self.preset])

    @property
    def wire(self) -> KernelWire:
        return self.opened[-1]

    @asynccontextmanager
    async def open(self, mode: str) -> AsyncGenerator[Wire, None]:
        self.modes.append(mode)
        if self.failure is not None:
            raise self.failure
        assert self.kernel is not None
        prefix = self.kernel.rules.tool_prefix
        listed = {tool: prefix + tool for tool in TOOLS}
        if self.is_embedded:
            listed |= {tool: tool for tool in OPERATOR_TOOLS}
        facts = ServerFacts("a kernel", listed, prefix, mode="legacy")
        self.opened.append(KernelWire(self.kernel, facts, clock=self.clock))
        yield self.opened[-1]
