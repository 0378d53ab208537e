"""Reads the open questions of one mothership's colonies, a few at a time, and each again when it may have changed."""

import asyncio
from collections.abc import Callable
from typing import Protocol, TypeVar

from colonizer_client.errors import LinkError, NotFound, Refusal, SignInNeeded, Unreadable
from colonizer_client.identity import ColonyId, ColonyKey, EndpointName
from colonizer_client.mothership import calls, decode, events, wire
from colonizer_client.mothership.calls import Call
from colonizer_client.mothership.models import Colony, OpenQuestion
from colonizer_client.snapshot import HubEvent, QuestionRead, may_ask

T = TypeVar("T")

READERS = 4
"""Questions that are read at once: the rest of the mothership's traffic must not wait for them."""

EVENT_PAGE = 50
"""Events of the newest page in which a question's own event is looked for."""


class Ask(Protocol):
    """Runs calls against the mothership."""

    async def __call__(self, call: Call[T], /) -> T:
        """The call's result; raises ClientError."""
        ...


class QuestionReader:
    """Keeps the open questions of one mothership as fresh as its list of colonies."""

    def __init__(self, endpoint: EndpointName, ask: Ask, post: Callable[[HubEvent], None]) -> None:
        self._endpoint = endpoint
        self._ask = ask
        self._post = post
        self._wanted: asyncio.Queue[ColonyId] = asyncio.Queue()
        self._queued: set[ColonyId] = set()
        self._seen: dict[ColonyId, tuple[str, float]] = {}
        """Status and time of change of each colony whose question was read or is about to be."""
        self._known: dict[ColonyId, OpenQuestion] = {}

    def consider(self, colony: Colony) -> None:
        """Reads the colony's question if it may ask one that is not known yet."""
        colony_id = colony.key.colony
        if not may_ask(colony):
            if self._seen.pop(colony_id, None) is not None:
                self._known.pop(colony_id, None)
                self._post(QuestionRead(colony.key, None))
            return
        mark = (colony.status, colony.updated_at)
        if self._seen.get(colony_id) != mark:
            self._seen[colony_id] = mark
            self.read_again(colony_id)

    def read_again(self, colony: ColonyId) -> None:
        """Reads the colony's question, whatever is known of it."""
        if colony not in self._queued:
            self._queued.add(colony)
            self._wanted.put_nowait(colony)

    def forget(self, colony: ColonyId) -> None:
        """Forgets a colony that is gone."""
        self._seen.pop(colony, None)
        self._known.pop(colony, None)

    async def run(self) -> None:
        """Reads what is wanted until it is cancelled; LinkError ends it with the connection."""
        async with asyncio.TaskGroup() as readers:
            for _ in range(READERS):
                readers.create_task(self._read_on())

    async def _read_on(self) -> None:
        while True:
            colony = await self._wanted.get()
            self._queued.discard(colony)
            try:
                await self._read(colony)
            except (LinkError, SignInNeeded):
                self.read_again(colony)
                raise
            except NotFound:
                self._post(QuestionRead(ColonyKey(self._endpoint, colony), None))
            except (Refusal, Unreadable):
                self._seen.pop(colony, None)  # asked again with the colony's next change

    async def _read(self, colony: ColonyId) -> None:
        question = await self._ask(calls.question(colony))
        known = self._known.get(colony)
        if question is None:
            self._known.pop(colony, None)
        elif known is not None and known.fingerprint == question.fingerprint:
            question = known
        else:
            question = await self._with_its_event(colony, question)
            self._known[colony] = question
        self._post(QuestionRead(ColonyKey(self._endpoint, colony), question))

    async def _with_its_event(self, colony: ColonyId, question: OpenQuestion) -> OpenQuestion:
        """The question with what only its event tells: when it was asked, and whether a tool call hangs on it."""
        try:
            page = await self._ask(calls.log_page(colony, limit=EVENT_PAGE))
        except (Refusal, Unreadable):
            return question
        for fields in reversed([wire.mapping(event) for event in wire.sequence(page.get("events"))]):
            if fields.get("type") == "question" and fields.get("question_id") == question.question_id:
                found = events.numbered(fields)
                if found is not None and isinstance(found.event, events.Asked):
                    return decode.with_event(question, found.event.question)
        return question
