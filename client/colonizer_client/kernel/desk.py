"""All kernels of a cockpit, and what a person does with them. Faces talk to this."""

import asyncio
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import TypeVar

from colonizer_client.clock import Clock
from colonizer_client.endpoint_state import EndpointState
from colonizer_client.errors import Unreachable
from colonizer_client.identity import EndpointName
from colonizer_client.kernel import calls
from colonizer_client.kernel.calls import Call
from colonizer_client.kernel.link import KernelLink
from colonizer_client.kernel.models import (
    Calmed,
    DepositOrder,
    OutcomeOrder,
    PlanReview,
    Profile,
    ProposalOrder,
    PruningReport,
    Recorded,
    SignalType,
    Status,
    Trace,
    Verdict,
)
from colonizer_client.kernel.session import Connector
from colonizer_client.kernel.view import KernelView
from colonizer_client.mcp import consents
from colonizer_client.mcp.consents import ConsentAsked
from colonizer_client.reconnection import supervise
from colonizer_client.snapshot import HubEvent, KernelChanged, KernelRemoved
from colonizer_client.store import Store
from colonizer_config.address import StdioAddress

T = TypeVar("T")


class Kernels:
    """The kernels of one cockpit, for one event loop.

    `open_store` gives the cockpit's database, or raises StoreError.
    """

    def __init__(self, post: Callable[[HubEvent], None], open_store: Callable[[], Store], clock: Clock) -> None:
        self._post = post
        self._open_store = open_store
        self._clock = clock
        self._links: dict[EndpointName, KernelLink] = {}
        self._commands: dict[EndpointName, StdioAddress] = {}
        self._running: dict[EndpointName, asyncio.Task[None]] = {}
        self._tasks: asyncio.TaskGroup | None = None

    @property
    def commands(self) -> Collection[EndpointName]:
        """The kernels that are commands, run by us."""
        return self._commands.keys()

    def add(self, state: EndpointState, connector: Connector, command: StdioAddress | None = None) -> None:
        """Adds a kernel, instead of one that has this name. A `command` runs only after the person agreed to it."""
        before = self._let_go(state.name)

        def post(view: KernelView) -> None:
            if self._links.get(state.name) is link:
                self._post(KernelChanged(view))

        def consent() -> ConsentAsked | None:
            return None if command is None else consents.asked(self._open_store(), state.name, command)

        link = KernelLink(state, connector, post, self._clock, consent)
        self._links[state.name] = link
        if command is not None:
            self._commands[state.name] = command
        link.publish()
        for _ in range(0 if before is None else before.watchers):
            link.watch()
        self._start(state.name, link)

    def remove(self, name: EndpointName) -> None:
        """Lets go of a kernel and of what was known of it."""
        if self._let_go(name) is not None:
            self._post(KernelRemoved(name))

    def start(self, tasks: asyncio.TaskGroup) -> None:
        """Runs every kernel's link among these tasks, now and when one is added."""
        self._tasks = tasks
        for name, link in self._links.items():
            self._start(name, link)

    def stop(self) -> None:
        """Notes that the tasks have ended."""
        self._tasks = None
        self._running.clear()

    def watch(self, name: EndpointName) -> None:
        """Connects to a kernel and reads on, until `unwatch` was called as often."""
        self._link(name).watch()

    def unwatch(self, name: EndpointName) -> None:
        """Reads no more once nobody watches."""
        link = self._links.get(name)
        if link is not None:
            link.unwatch()

    async def ready(self, name: EndpointName) -> None:
        """Returns when the kernel can be called.

        Raises:
            ClientError: It cannot be connected to, or not before the person acts.
        """
        await self._link(name).ready()

    def reconnect(self, name: EndpointName) -> None:
        """Connects anew at once, with the token that is kept now."""
        self._link(name).reconnect()

    def agree(self, name: EndpointName) -> None:
        """Notes that the person agreed to the exact words of the kernel's command, and runs it.

        Raises:
            StoreError: That cannot be kept, so that nothing is run either.
        """
        command = self._commands.get(name)
        if command is not None:
            consents.agree(self._open_store(), name, command)
        self._link(name).reconnect()

    def sample_first(self, name: EndpointName, places: Sequence[str]) -> None:
        """Has the places with these raw names sampled before others, instead of those that were before."""
        link = self._link(name)
        known = link.picture.view.places
        link.sample_first([known[raw].name for raw in places if raw in known])

    async def propose(self, name: EndpointName, order: ProposalOrder) -> Verdict:
        """The gate's verdict on an action. It leaves traces."""
        link = self._link(name)
        reply = await link.run_call(calls.propose(order))
        verdict = link.picture.take_own_verdict(order, reply, self._clock.now())
        link.publish()
        return verdict

    async def record(self, name: EndpointName, order: OutcomeOrder) -> Recorded:
        """What an outcome did to its agent."""
        link = self._link(name)
        recorded = await link.run_call(calls.record(order))
        link.picture.take_own_outcome(order)
        link.publish()
        return recorded

    async def tick(self, name: EndpointName) -> Status:
        """The colony in short, one tick later."""
        link = self._link(name)
        asked_at = self._clock.now()
        status = await link.run_call(calls.tick())
        link.picture.take_status(status, asked_at, self._clock.now())
        link.publish()
        return status

    async def prune(self, name: EndpointName) -> PruningReport:
        """The modules that may go."""
        link = self._link(name)
        report = await link.run_call(calls.pruning_report())
        view = link.picture.view
        told: Mapping[str, str] = {}
        if view.capabilities.has_operator_calls:
            told = await link.run_call(calls.protections(tuple(view.places)))
        link.picture.take_pruning(report, told)
        link.publish()
        return link.picture.view.pruning or report

    async def falsify(self, name: EndpointName, plan: Mapping[str, object]) -> PlanReview:
        """What the attacks on a plan amount to; nothing is stored."""
        return await self._run(name, calls.falsify(plan))

    async def query(self, name: EndpointName, place: str, signal: SignalType) -> Trace | None:
        """One trace, with its evidence; the view has it from then on."""
        link = self._link(name)
        trace = await link.run_call(calls.query(place, signal))
        known = link.picture.view.places.get(place)
        if known is not None:
            link.picture.take_trace(known.name, signal, trace, self._clock.now())
            link.publish()
        return trace

    async def profile(self, name: EndpointName, agent: str) -> Profile:
        """An agent's record. Some kernels keep one from then on, also of an agent that nobody knew."""
        link = self._link(name)
        profile = await link.run_call(calls.profile(agent))
        link.picture.take_profile(profile, self._clock.now())
        link.publish()
        return profile

    async def deposit(self, name: EndpointName, order: DepositOrder) -> Trace | None:
        """The trace after a person's deposit, which weighs twice; raises NotOffered elsewhere than here."""
        return await self._run(name, calls.deposit(order))

    async def calm_down(self, name: EndpointName, reason: str) -> Calmed:
        """What a reset took away; raises NotOffered elsewhere than here."""
        return await self._run(name, calls.calm_down(reason))

    async def _run(self, name: EndpointName, call: Call[T]) -> T:
        return await self._link(name).run_call(call)

    def _link(self, name: EndpointName) -> KernelLink:
        link = self._links.get(name)
        if link is None:
            raise Unreachable(f"there is no kernel {name}")
        return link

    def _start(self, name: EndpointName, link: KernelLink) -> None:
        if self._tasks is not None and name not in self._running:
            self._running[name] = self._tasks.create_task(supervise(link))

    def _let_go(self, name: EndpointName) -> KernelLink | None:
        running = self._running.pop(name, None)
        if running is not None:
            running.cancel()
        self._commands.pop(name, None)
        return self._links.pop(name, None)
