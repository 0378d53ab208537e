"""The embedded mothership: its parts, wired together, and its life."""

import asyncio
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime

from colonizer_engines.mothership.agents import Environments, ReadSettings
from colonizer_engines.mothership.boot import Folders, LocalBoot, Sandboxes
from colonizer_engines.mothership.clock import Clock
from colonizer_engines.mothership.conversation import Conversation
from colonizer_engines.mothership.errors import StorageFull
from colonizer_engines.mothership.fleet import Fleet
from colonizer_engines.mothership.known_repositories import KnownRepositories
from colonizer_engines.mothership.launch import Launches
from colonizer_engines.mothership.lifecycle import Lifecycle, stop_in
from colonizer_engines.mothership.recovery import STOPPED, recover
from colonizer_engines.mothership.runs import Runs
from colonizer_engines.mothership.scheduler import Scheduler
from colonizer_engines.mothership.session import LIVE
from colonizer_engines.mothership.store import Store
from colonizer_engines.mothership.tokens import Tokens


@dataclass(frozen=True, slots=True, kw_only=True)
class Circumstances:
    """What the embedded mothership is given."""

    folders: Folders
    read_settings: ReadSettings
    owner_token: str
    version: str
    own_environment: Mapping[str, str]
    """The process's environment, of which agents get a little."""
    agent_environment: Mapping[str, str]
    """Where the variables that an agent names may come from besides the launching face."""
    writes_blocked: bool = False
    """Whether nothing may leave this machine."""
    clock: Clock


class Mothership:
    """The embedded mothership."""

    def __init__(self, store: Store, given: Circumstances) -> None:
        self.store = store
        self.given = given
        self.clock = given.clock
        self.started_at: datetime = given.clock.now()
        self.tokens = Tokens(given.owner_token, store.tokens(), given.clock)
        self.repositories = KnownRepositories(store)
        self.environments = Environments(given.agent_environment)
        self.sandboxes = Sandboxes()
        self.fleet = Fleet(store, given.clock)
        boot = LocalBoot(
            self.fleet,
            given.folders,
            self.sandboxes,
            given.read_settings,
            self.environments,
            given.own_environment,
        )
        self.runs = Runs(self.fleet, boot)
        self.scheduler = Scheduler(self.fleet, self.runs, self.tokens, given.read_settings, self.environments)
        self.lifecycle = Lifecycle(self.fleet, self.runs, self.scheduler, self.environments, given.folders)
        self.conversation = Conversation(self.fleet, self.runs, self.lifecycle.go_on)
        self.launches = Launches(
            self.fleet,
            self.scheduler,
            self.repositories,
            given.folders,
            self.sandboxes,
            self.environments,
            given.read_settings,
        )

    async def serve(self, stopping: asyncio.Event, *, recovering: bool = True) -> None:
        """Runs colonies until `stopping` is set; then ends every agent in order.

        Args:
            stopping: Set by whoever ends the engine.
            recovering: Whether what an earlier engine left is settled first.

        Raises:
            StoreError: What happens cannot be recorded any more.
        """
        if recovering:
            await recover(self.fleet)
        no_more_agents = asyncio.Event()
        async with asyncio.TaskGroup() as tasks:
            tasks.create_task(self.runs.serve(no_more_agents))
            tasks.create_task(self.scheduler.serve())
            await stopping.wait()
            self.scheduler.close()
            await self._stop_all()
            no_more_agents.set()

    async def _stop_all(self) -> None:
        live = self.fleet.in_status(*LIVE)
        # On a full disk the next engine settles what this one cannot write down.
        with suppress(StorageFull), self.fleet.change() as change:
            for colony in live:
                stop_in(change, colony, STOPPED)
                change.log(colony.id, STOPPED, "warn")
        await asyncio.gather(*(self.runs.end(colony.id) for colony in live))
