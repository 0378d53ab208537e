"""One run of one colony: its agent from the start to the end."""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import Protocol, cast

from colonizer_engines.mothership.agents import first_words
from colonizer_engines.mothership.colony import ProcessMark
from colonizer_engines.mothership.errors import StartProblem
from colonizer_engines.mothership.fleet import Change, Fleet
from colonizer_engines.mothership.ingest import RunFacts, absorb
from colonizer_engines.mothership.runner import Event, Runner, RunnerExit
from colonizer_engines.mothership.session import BootPhase, BootTiming, ColonyId
from colonizer_engines.mothership.worktrees import restore_links

REDACTED = "‹redacted›"


class Boot(Protocol):
    """Brings an agent up."""

    async def bring_up(self, colony: ColonyId, start: "Start") -> Runner:
        """The running agent, in its worktree.

        Raises:
            StartProblem: It cannot be started.
        """
        ...


class Start:
    """One start of a colony: its steps, when each of them was done, and how it is recorded."""

    def __init__(self, fleet: Fleet, colony: ColonyId, end_asked: asyncio.Event) -> None:
        self.colony = colony
        self._fleet = fleet
        self._end_asked = end_asked
        self._began = self._last = fleet.clock.monotonic()
        self.done: tuple[BootPhase, ...] = ()

    async def record(self, apply: Callable[[Change], None]) -> None:
        """Makes the change, however long the disk stays full, unless the colony is stopped meanwhile."""
        await self._fleet.insist(apply, unless=self._end_asked)

    def finish(self, name: str) -> None:
        """Notes that a step is done."""
        now = self._fleet.clock.monotonic()
        self.done = (*self.done, BootPhase(name, round((now - self._last) * 1000)))
        self._last = now

    def total_ms(self) -> int:
        """How long all of it took."""
        return round((self._last - self._began) * 1000)

    def words(self) -> str:
        """One line about the start."""
        steps = ", ".join(f"{phase.name} {phase.ms}" for phase in self.done)
        return f"boot {self.total_ms()} ms: {steps}"


@dataclass(slots=True)
class Run:
    """A colony's agent while it is there."""

    fleet: Fleet
    colony: ColonyId
    boot: Boot
    secrets: tuple[str, ...] = ()
    """Values of the person's shell that must not get into the transcript."""
    end_asked: asyncio.Event = field(default_factory=asyncio.Event)
    """Somebody stopped the colony: what the agent still says is not recorded."""
    ended: asyncio.Event = field(default_factory=asyncio.Event)
    runner: Runner | None = None
    briefed: bool = False
    """The agent has its task; until then what people write waits, so that nothing comes before it or twice."""
    starting: asyncio.Task[Runner] | None = None
    facts: RunFacts = field(default_factory=RunFacts)

    async def drive(self) -> None:
        """Nothing, once the agent is gone and its end is recorded."""
        try:
            await self._live()
        except BaseException:
            # Whatever went wrong: nobody else may write to the worktree while the agent is there.
            if self.runner is not None:
                await self.runner.shut_down()
            raise
        finally:
            self.ended.set()

    async def send(self, command: Mapping[str, object]) -> bool:
        """Whether the agent was there to be told."""
        return self.runner is not None and self.briefed and await self.runner.send(command)

    async def end(self) -> None:
        """Nothing, once the agent is gone."""
        self.end_asked.set()
        if self.runner is not None:
            await self.runner.shut_down()
        elif self.starting is not None:
            # A large repository takes long to check out; nobody has to wait for that.
            self.starting.cancel()
        await self.ended.wait()

    async def _live(self) -> None:
        if self.end_asked.is_set():
            return
        start = Start(self.fleet, self.colony, self.end_asked)
        runner = await self._brought_up(start)
        if runner is None:
            return
        self.runner = runner
        if self.end_asked.is_set():
            await runner.shut_down()
        else:
            await self._insist(lambda change: self._record_start(change, runner, start))
            await self._brief(runner)
        async for batch in runner.batches():
            if not self.end_asked.is_set():
                await self._record(batch)
        ending = await runner.wait()
        await self._make_safe()
        await self._insist(lambda change: self._record_end(change, ending))

    async def _make_safe(self) -> None:
        """Takes away what the agent may have left in git's own folders for whoever runs git there next."""
        colony = self.fleet.find(self.colony)
        if colony is not None and colony.worktree is not None:
            with suppress(OSError):  # the next start makes them safe, or refuses
                await asyncio.to_thread(restore_links, colony.worktree)

    async def _brought_up(self, start: Start) -> Runner | None:
        """The running agent; None where it could not be started, which is recorded, or is not wanted any more."""
        self.starting = asyncio.create_task(self.boot.bring_up(self.colony, start))
        try:
            return await self.starting
        except StartProblem as problem:
            words = str(problem)
            await self._insist(lambda change: self._record_no_start(change, words))
        except asyncio.CancelledError:
            if not self.end_asked.is_set():
                raise
        return None

    async def _insist(self, apply: Callable[[Change], None]) -> bool:
        return await self.fleet.insist(apply, unless=self.end_asked)

    async def _brief(self, runner: Runner) -> None:
        """Tells the agent its task, and what people wrote while it started."""
        colony = self.fleet.get(self.colony)
        self.briefed = True
        await runner.send({"type": "user_message", "id": "initial", "text": first_words(colony)})
        for note in colony.unheard_messages:
            await runner.send({"type": "user_message", "id": note.id, "text": note.text})

    async def _record(self, batch: tuple[Event, ...]) -> None:
        events = [self._redacted(event) for event in batch] if self.secrets else batch
        facts = self.facts

        def apply(change: Change) -> None:
            nonlocal facts
            facts = replace(self.facts, commands=[])
            for event in events:
                absorb(change, self.colony, event, facts)

        if not await self._insist(apply):
            return
        self.facts = facts
        for command in facts.commands:
            await self.send(command)

    def _redacted(self, event: Event) -> Event:
        """The event without the person's secrets.

        What is asked stays as it is: a person has to see what they decide, and the agent has to know its own labels
        again when they come back as the answer.
        """
        if event.get("type") in ("question", "question_answered"):
            return event
        return {name: value if name == "type" else self._masked(value) for name, value in event.items()}

    def _masked(self, value: object) -> object:
        match value:
            case str():
                return self._without_secrets(value)
            case list() | tuple():
                return [*map(self._masked, cast("Sequence[object]", value))]
            case dict():
                return {name: self._masked(inner) for name, inner in cast("Mapping[str, object]", value).items()}
            case _:
                return value

    def _without_secrets(self, words: str) -> str:
        for secret in self.secrets:
            words = words.replace(secret, REDACTED)
        return words

    def _record_no_start(self, change: Change, words: str) -> None:
        colony = change.colony(self.colony)
        change.log(self.colony, f"session failed to start: {words}", "error")
        if not self.end_asked.is_set():
            failed = replace(colony.session, status="failed", error=words, unseen_failure=True, attention=None)
            change.put(replace(colony, session=failed).with_unheard_as_notes())

    def _record_start(self, change: Change, runner: Runner, start: Start) -> None:
        mark = ProcessMark(runner.pid, runner.started_at)
        colony = replace(change.colony(self.colony), process=mark)
        if self.end_asked.is_set():  # somebody stopped it while the disk was full
            change.put(colony)
            return
        timing = BootTiming(start.total_ms(), start.done)
        change.log(self.colony, start.words())
        change.put(replace(colony, session=replace(colony.session, status="running", boot_timing=timing)))
        change.log(self.colony, "connected to the agent")

    def _record_end(self, change: Change, ending: RunnerExit) -> None:
        colony = replace(change.colony(self.colony), process=None)
        if self.end_asked.is_set() or not colony.session.live:
            change.put(colony)
            return
        if not self.facts.said_exited:
            change.append(self.colony, {"type": "status", "state": "exited", "detail": ending.words}, "agent")
        clean = ending.code == 0 and self.facts.turn_ended_well
        error = None if clean else self._without_secrets(_exit_words(ending))
        session = replace(
            colony.session,
            status="stopped" if clean else "failed",
            error=error,
            unseen_failure=not clean,
            attention=None,
        )
        change.put(replace(colony, session=session).with_unheard_as_notes())
        change.log(
            self.colony,
            f"the agent ended ({ending.words}); the worktree is kept, so this colony can be resumed",
            "info" if clean else "error",
        )


def _exit_words(ending: RunnerExit) -> str:
    words = f"agent exited: {ending.words}"
    return f"{words}: {ending.last_words}" if ending.last_words else words
