"""An open connection to one kernel, typed: finds its tools among others, paces calls, reads values."""

import time
from collections.abc import Mapping
from contextlib import AbstractAsyncContextManager
from typing import Protocol, TypeVar

from colonizer_client.errors import NoReply, NotOffered
from colonizer_client.kernel.calls import OPERATOR_TOOLS, TOOLS, Call
from colonizer_client.kernel.pace import Pacer
from colonizer_client.kernel.preset import CODOMYRMEX, SEED, Law, LinearLaw, Preset, ProportionalLaw
from colonizer_client.kernel.replies import Reply, value_of
from colonizer_client.kernel.view import Capabilities
from colonizer_client.mothership import wire
from colonizer_client.text import safe_line
from colonizer_config.value import Value

T = TypeVar("T")

REPLY_TIMEOUT_S = 70.0
"""A stock kernel gives up a call after 60 s."""

_NEEDED = ("colony_status", "colony_pheromone_query")
"""Without these a server is no kernel, whatever else it lists: others have a `colony_status` too."""


class ServerFacts(Value):
    """What a server told of itself when it was connected to."""

    name: str = ""
    """Name and version, safe to show."""
    listed: Mapping[str, str] = {}
    """The listed name of each tool of a kernel, by its bare name."""
    prefix: str = ""
    """What stands before the bare names, raw."""
    other_tools: int = 0
    rules: Mapping[str, object] = {}
    """What a kernel of ours tells of its rules, raw: `preset` and `law`."""
    mode: str = ""
    """How to connect to it the next time: in which era of the protocol it speaks."""


class Wire(Protocol):
    """An open connection to an MCP server."""

    facts: ServerFacts

    async def call(self, tool: str, arguments: Mapping[str, object], timeout_s: float) -> Reply:
        """What a tool answers; `tool` is the name that the server listed.

        Raises:
            ClientError: No reply, a refusal, or an unreadable reply.
        """
        ...


class Connector(Protocol):
    """Opens the connection to one kernel: finds its token, starts what has to be started."""

    is_embedded: bool

    def open(self, mode: str) -> AbstractAsyncContextManager[Wire]:
        """A connection, for the task that enters it alone; `mode` is what `ServerFacts` told the last time, or empty.

        Raises:
            ClientError: There is no token, the engine cannot be started, or nothing answers.
        """
        ...


class KernelSession:
    """Calls one kernel. Any number of tasks may call at once; each waits for its turn."""

    def __init__(self, wire: Wire, pacer: Pacer, *, is_embedded: bool) -> None:
        """Raises NotOffered where the server is no kernel."""
        self._wire = wire
        self._pacer = pacer
        self.latency_s: float | None = None
        """How long the last reply took that was not waited for on purpose."""
        facts = wire.facts
        if any(tool not in facts.listed for tool in _NEEDED):
            raise NotOffered(_no_kernel(facts))
        self.preset = preset_of(facts)
        self.capabilities = Capabilities(
            is_embedded=is_embedded,
            server=facts.name,
            tools=TOOLS & facts.listed.keys(),
            # Only on our own engine's private socket are they what we take them for.
            has_operator_calls=is_embedded and facts.listed.keys() >= OPERATOR_TOOLS,
            other_tools=facts.other_tools,
        )

    async def run(self, call: Call[T]) -> T:
        """The call's result.

        Raises:
            ClientError: The kernel does not offer the tool, refuses the call, or does not answer.
        """
        listed = self._wire.facts.listed.get(call.tool)
        if listed is None or (call.tool in OPERATOR_TOOLS and not self.capabilities.has_operator_calls):
            raise NotOffered(f"this kernel does not offer {call.tool}")
        arguments = call.checked().arguments
        await self._pacer.turn()
        started = time.monotonic()
        try:
            reply = await self._wire.call(listed, arguments, REPLY_TIMEOUT_S + call.waits_s)
        except NoReply as problem:
            if not call.leaves:
                raise
            raise NoReply(f"{problem}; {call.leaves}") from problem
        if not call.waits_s:
            self.latency_s = time.monotonic() - started
        return call.read(value_of(reply))


def preset_of(facts: ServerFacts) -> Preset:
    """The rules of a kernel: what it tells of them, else what the names of its tools hint at."""
    told = wire.raw(facts.rules.get("preset"))
    is_program = told == CODOMYRMEX.name if told else facts.prefix.startswith("codomyrmex")
    base = CODOMYRMEX if is_program else SEED
    law = wire.mapping(facts.rules.get("law"))
    rate, end = wire.number(law.get("base")), wire.number(law.get("gone_at"))
    if rate is None or not 0 < rate < 1 / 3:
        return base
    kinds: dict[str, Law] = {
        "linear": LinearLaw(rate),
        "proportional": ProportionalLaw(rate, end if end and end > 0 else 0.01),
    }
    found = kinds.get(wire.raw(law.get("kind")), base.law)
    return Preset(safe_line(told, limit=60) or base.name, found, base.feeds_budgets, base.counts_outcomes)


def _no_kernel(facts: ServerFacts) -> str:
    among = f"lists {facts.other_tools} tools and" if facts.other_tools else "lists"
    advice = ": was it started with `--profile full`?" if facts.other_tools else ""
    return f"{facts.name or 'this server'} {among} none of a colony kernel{advice}"
