"""The agents that are there now, each driven by a task of its own; what goes wrong with one stays with it."""

import asyncio
import logging
from collections.abc import Coroutine
from dataclasses import replace
from functools import partial
from typing import Any

from colonizer_engines.mothership.errors import StoreError
from colonizer_engines.mothership.fleet import Change, Fleet
from colonizer_engines.mothership.run import Boot, Run
from colonizer_engines.mothership.session import ColonyId

GONE_WRONG = "something went wrong inside the engine, and the agent was ended; the engine's log says what"

SECRET_MINIMUM = 8
"""A shorter value would take ordinary words out of the transcript."""

_log = logging.getLogger(__name__)


class Runs:
    """Starts and ends agents."""

    def __init__(self, fleet: Fleet, boot: Boot) -> None:
        self._fleet = fleet
        self._boot = boot
        self._runs: dict[ColonyId, Run] = {}
        self._tasks: set[asyncio.Task[None]] = set()
        self._store_trouble: asyncio.Future[None] | None = None

    async def serve(self, stopping: asyncio.Event) -> None:
        """Runs agents until `stopping` is set and the last of them is gone.

        Raises:
            StoreError: What they say cannot be recorded any more.
        """
        self._store_trouble = asyncio.get_running_loop().create_future()
        stopped = asyncio.create_task(stopping.wait())
        try:
            ends: list[asyncio.Future[Any]] = [stopped, self._store_trouble]
            await asyncio.wait(ends, return_when=asyncio.FIRST_COMPLETED)
            if self._store_trouble.done():
                self._store_trouble.result()
            while self._tasks:
                await asyncio.wait(self._tasks)
        finally:
            stopped.cancel()
            self._store_trouble.cancel()
            for task in self._tasks:
                task.cancel()

    def start(self, colony: ColonyId, secrets: tuple[str, ...]) -> None:
        """Starts the colony's agent; its status is `starting` already."""
        before = self._runs.get(colony)
        run = Run(self._fleet, colony, self._boot, tuple(s for s in secrets if len(s) >= SECRET_MINIMUM))
        self._runs[colony] = run
        self._own(self._drive(run, before), run)

    def of(self, colony: ColonyId) -> Run | None:
        """The colony's run that takes commands."""
        run = self._runs.get(colony)
        return None if run is None or run.end_asked.is_set() else run

    async def end(self, colony: ColonyId) -> None:
        """Nothing, once no agent of the colony is there."""
        run = self._runs.get(colony)
        if run is not None:
            await run.end()

    async def _drive(self, run: Run, before: Run | None) -> None:
        # Two writers never share a worktree.
        if before is not None:
            await before.ended.wait()
        try:
            await run.drive()
        finally:
            if self._runs.get(run.colony) is run:
                del self._runs[run.colony]

    def _own(self, work: Coroutine[Any, Any, None], run: Run) -> None:
        task = asyncio.create_task(work, name=f"colony {run.colony}")
        self._tasks.add(task)
        task.add_done_callback(partial(self._over, run))

    def _over(self, run: Run, task: asyncio.Task[None]) -> None:
        self._tasks.discard(task)
        problem = None if task.cancelled() else task.exception()
        if isinstance(problem, StoreError):
            if self._store_trouble is not None and not self._store_trouble.done():
                self._store_trouble.set_exception(problem)
        elif problem is not None:
            _log.error("colony %s", run.colony, exc_info=problem)
            self._own(self._give_up(run), run)

    async def _give_up(self, run: Run) -> None:
        await self._fleet.insist(partial(_record_trouble, run.colony), unless=run.end_asked)


def _record_trouble(colony_id: ColonyId, change: Change) -> None:
    colony = replace(change.colony(colony_id), process=None)
    if colony.session.live:
        session = replace(colony.session, status="failed", error=GONE_WRONG, unseen_failure=True, attention=None)
        colony = replace(colony, session=session).with_unheard_as_notes()
    change.put(colony)
