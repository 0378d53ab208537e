"""Who starts when: slots, the queue's order, and why a colony has to wait (spec 3.2)."""

import asyncio
import contextlib
from dataclasses import dataclass, replace

from msgspec import UNSET

from colonizer_config.errors import SettingsError
from colonizer_config.settings import Settings
from colonizer_engines.mothership.agents import Environments, ReadSettings, find_agent, installed, lacking
from colonizer_engines.mothership.budgets import over_budget
from colonizer_engines.mothership.colony import Colony
from colonizer_engines.mothership.errors import Refusal, StorageFull
from colonizer_engines.mothership.fleet import Fleet
from colonizer_engines.mothership.runs import Runs
from colonizer_engines.mothership.session import ISSUE_HOLDING, LIVE, ColonyId, Session
from colonizer_engines.mothership.tokens import Tokens

TICK_S = 5.0
"""How often the queue is looked at when nothing calls for it."""


@dataclass(frozen=True, slots=True)
class Gate:
    """Why a queued colony does not start, in the kinds of spec 3.2 and in words."""

    kind: str
    words: str


def queue_order(session: Session) -> tuple[int, str]:
    """The key that sorts the queue: the more urgent first, then the older."""
    return (-session.effective_priority, session.created_at)


def issue_holder(fleet: Fleet, repository: str, issue: int) -> Session | None:
    """The colony that holds the issue: the oldest that does not wait for it itself, else the oldest waiter."""
    holding = [
        colony.session
        for colony in fleet.in_status(*ISSUE_HOLDING)
        if colony.session.issue == issue and colony.session.repo.lower() == repository.lower()
    ]
    return min(holding, key=lambda session: (session.claim_wait is True, session.created_at), default=None)


class Scheduler:
    """Starts queued colonies as slots become free."""

    def __init__(
        self, fleet: Fleet, runs: Runs, tokens: Tokens, read_settings: ReadSettings, environments: Environments
    ) -> None:
        self._fleet = fleet
        self._runs = runs
        self._tokens = tokens
        self._read_settings = read_settings
        self._environments = environments
        self._settings = Settings()
        self._wake = asyncio.Event()
        self.begun = False
        """Whether queued colonies start at all: reading alone shall have no effects."""
        self._closed = False
        self.last_tick: float | None = None
        fleet.on_change(self._wake.set)

    def begin(self) -> None:
        """Has queued colonies start from now on."""
        if not self.begun:
            self.begun = True
            self._wake.set()

    def close(self) -> None:
        """Has nothing start any more, since the engine ends."""
        self._closed = True
        self._wake.set()

    def settings(self) -> Settings:
        """The settings as they are now; where they cannot be read, as they were last."""
        with contextlib.suppress(SettingsError):
            self._settings = self._read_settings()
        return self._settings

    async def serve(self) -> None:
        """Looks at the queue every few seconds and whenever something changed, until closed."""
        while not self._closed:
            waiting = self.begun and self._queue()
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(TICK_S if waiting else None):
                    await self._wake.wait()
            self._wake.clear()
            if self.begun and not self._closed:
                self.tick()

    def tick(self) -> None:
        """Starts what can start, and writes down why the rest waits."""
        self.last_tick = self._fleet.clock.monotonic()
        queue = self._queue()
        if not queue:
            return
        settings = self.settings()
        with contextlib.suppress(StorageFull):  # the next tick tries again
            for colony in queue:
                gate = self.gate(colony.session, settings)
                if gate is None:
                    with self._fleet.change() as change:
                        change.put_session(self.starting(colony.session))
                    self.start_agent(colony.id)
                elif colony.session.blocked_reason != gate.words:
                    with self._fleet.change() as change:
                        change.put_session(replace(colony.session, blocked_reason=gate.words))

    def starts_now(self, session: Session, settings: Settings) -> bool:
        """Whether a colony that is about to be queued would start at once."""
        ahead = (
            other
            for other in self._queue()
            if other.id != session.id
            and queue_order(other.session) < queue_order(session)
            and self._obstacle(other.session, settings) is None
        )
        return not self._closed and self.gate(session, settings) is None and not any(True for _ in ahead)

    def gate(self, session: Session, settings: Settings) -> Gate | None:
        """Why the queued colony cannot start now, or None where it can."""
        return self._obstacle(session, settings) or self._full(settings)

    def queue_gates(self) -> dict[str, object]:
        """How many queued colonies could start, and what holds the others: the `queue` of a status (spec 3.6)."""
        settings, blocked = self.settings(), dict[str, int]()
        queue = self._queue()
        for colony in queue:
            obstacle = self._obstacle(colony.session, settings)
            if obstacle is not None:
                blocked[obstacle.kind] = blocked.get(obstacle.kind, 0) + 1
        return {"admissible": len(queue) - sum(blocked.values()), "blocked_by": blocked}

    def slots_taken(self) -> int:
        """How many colonies have a slot."""
        return sum(colony.session.holds_slot for colony in self._fleet.in_status(*LIVE, "publishing"))

    def starting(self, session: Session) -> Session:
        """The Session of a colony that gets its slot now."""
        return replace(
            session,
            status="starting",
            blocked_reason=UNSET,
            claim_wait=UNSET,
            queued_behind=UNSET,
            boot_attempt_started_at=int(self._fleet.clock.now().timestamp()),
        )

    def start_agent(self, colony: ColonyId) -> None:
        """Starts the agent of a colony that has its slot."""
        agent = installed(self.settings()).get(self._fleet.get(colony).session.agent)
        given = self._environments.of(colony)
        named = agent.env if agent else ()
        self._runs.start(colony, tuple(given[name] for name in named if name in given))

    def _queue(self) -> list[Colony]:
        return sorted(self._fleet.in_status("queued"), key=lambda colony: queue_order(colony.session))

    def _full(self, settings: Settings) -> Gate | None:
        ceiling, taken = settings.local.max_parallel, self.slots_taken()
        if taken < ceiling:
            return None
        over = len(self._fleet.in_status("idle"))
        hint = f", {over} by colonies whose turn is over: s stops one" if over else ""
        return Gate("host", f"{taken} of {ceiling} slots taken{hint}")

    def _obstacle(self, session: Session, settings: Settings) -> Gate | None:
        """What keeps the colony from starting even if a slot is free."""
        superseded = session.superseded
        if superseded and not superseded.get("kept"):
            return Gate("superseded", "superseded by a newer colony; starts only if kept")
        if session.claim_wait is True and session.issue is not None:
            holder = issue_holder(self._fleet, session.repo, session.issue)
            if holder is not None and holder.id != session.id:
                return Gate("held", "waiting to claim the issue (another colony holds it)")
        budget = over_budget(self._fleet, self._tokens, session)
        if budget is not None:
            return Gate("held", budget)
        try:
            need = lacking(find_agent(settings, session.agent), self._environments.of(session.id))
        except Refusal as problem:
            return Gate("host", problem.words)
        return None if need is None else Gate("host", need)
