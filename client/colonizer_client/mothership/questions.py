"""Reads the open questions of one mothership's colonies, a few at a time, and each again when it may have changed."""

import asyncio
from collections.abc import Callable, Iterable

from colonizer_client.clock import Clock
from colonizer_client.errors import ClientError, NotFound, Refusal, ServerFault, SignInNeeded, Unreadable
from colonizer_client.identity import ColonyId, ColonyKey, EndpointName
from colonizer_client.mothership import calls, decode, frames, wire
from colonizer_client.mothership.calls import Ask
from colonizer_client.mothership.events import Asked
from colonizer_client.mothership.models import Colony, OpenQuestion
from colonizer_client.snapshot import HubEvent, QuestionRead

READERS = 4
"""Questions that are read at once: the rest of the mothership's traffic must not wait for them."""

RETRY_S = 5.0
"""After a reading that failed."""

SECOND_LOOK_S = 0.7
"""After a reading that found nothing though the list has it that the colony asks: the list is older than the question
that was just answered, and the next one may be there before the list is read again."""

EVENT_PAGE = 50
"""Events of the newest page in which a question's own event is looked for."""


class QuestionReader:
    """Keeps the open questions of one mothership as fresh as its list of colonies."""

    def __init__(self, endpoint: EndpointName, ask: Ask, post: Callable[[HubEvent], None], clock: Clock) -> None:
        self._endpoint = endpoint
        self._ask = ask
        self._post = post
        self._clock = clock
        self._wanted: asyncio.Queue[ColonyId] = asyncio.Queue()
        self._queued: set[ColonyId] = set()
        self._reading: set[ColonyId] = set()
        self._outdated: set[ColonyId] = set()
        """Colonies whose question is being read and may have changed since."""
        self._considered: dict[ColonyId, tuple[str, float]] = {}
        """Status and time of change of each colony whose question was read or is about to be."""
        self._known: dict[ColonyId, OpenQuestion] = {}
        self._looked_again: set[ColonyId] = set()
        """Colonies whose second look is due or was had: after it the list's next word on them is waited for."""

    def consider_all(self, colonies: Iterable[Colony]) -> None:
        """Considers every colony of a whole list, and forgets those that are not in it."""
        listed = {colony.key.colony: colony for colony in colonies}
        for gone in self._considered.keys() - listed.keys():
            self.forget(gone)
        for colony in listed.values():
            self.consider(colony)

    def consider(self, colony: Colony) -> None:
        """Reads the colony's question if it may ask one that is not known yet."""
        colony_id = colony.key.colony
        if not colony.may_ask:
            self.forget(colony_id)
            return
        mark = (colony.status, colony.updated_at)
        if self._considered.get(colony_id) != mark:
            self._considered[colony_id] = mark
            self.read_again(colony_id)

    def read_again(self, colony: ColonyId) -> None:
        """Reads the colony's question, whatever is known of it."""
        if colony in self._reading:
            self._outdated.add(colony)
        elif colony not in self._queued:
            self._queued.add(colony)
            self._wanted.put_nowait(colony)

    def forget(self, colony: ColonyId) -> None:
        """Forgets a colony that asks nothing, or is gone."""
        self._considered.pop(colony, None)
        self._known.pop(colony, None)
        self._looked_again.discard(colony)

    async def run(self) -> None:
        """Reads what is wanted until it is cancelled; each connection begins with reading every question anew.

        Raises:
            SignInNeeded: The token was refused.
        """
        for ids in (self._considered, self._reading, self._outdated, self._looked_again):
            ids.clear()
        async with asyncio.TaskGroup() as tasks:
            for _ in range(READERS):
                tasks.create_task(self._read_on(tasks))

    async def _read_on(self, tasks: asyncio.TaskGroup) -> None:
        while True:
            colony = await self._wanted.get()
            self._queued.discard(colony)
            self._reading.add(colony)
            try:
                if await self._read(colony) is None and colony not in self._looked_again:
                    self._looked_again.add(colony)
                    tasks.create_task(self._read_later(colony, SECOND_LOOK_S))
            except NotFound:
                self._post(QuestionRead(ColonyKey(self._endpoint, colony), None))
            except SignInNeeded:
                raise
            except Refusal:
                pass  # it is asked again with the colony's next change
            except ClientError:
                tasks.create_task(self._read_later(colony, RETRY_S))
            self._reading.discard(colony)
            if colony in self._outdated:
                self._outdated.discard(colony)
                self.read_again(colony)

    async def _read_later(self, colony: ColonyId, after_s: float) -> None:
        await self._clock.sleep(after_s)
        if colony in self._considered:
            self.read_again(colony)

    async def _read(self, colony: ColonyId) -> OpenQuestion | None:
        question = await self._ask(calls.question(colony))
        known = self._known.get(colony)
        if question is None:
            self._known.pop(colony, None)
        elif known is not None and known.fingerprint == question.fingerprint:
            question = known
        else:
            question = await self._with_its_event(colony, question)
            self._known[colony] = question
            self._looked_again.discard(colony)
        self._post(QuestionRead(ColonyKey(self._endpoint, colony), question))
        return question

    async def _with_its_event(self, colony: ColonyId, question: OpenQuestion) -> OpenQuestion:
        """The question with what only its event tells: when it was asked, and whether a tool call hangs on it."""
        try:
            page = await self._ask(calls.log_page(colony, limit=EVENT_PAGE))
        except SignInNeeded:
            raise
        except (Refusal, ServerFault, Unreadable):
            return question
        for found in map(frames.numbered, reversed(wire.mappings(page.get("events")))):
            match found:
                case frames.Numbered(event=Asked(question=asked)) if asked.question_id == question.question_id:
                    return decode.with_event(question, asked)
                case _:
                    pass
        return question
