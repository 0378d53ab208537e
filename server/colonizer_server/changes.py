"""Watches one mothership's colonies for whoever was told of their resources."""

import asyncio
import random
from collections.abc import Awaitable, Callable, Iterable, Mapping
from contextlib import suppress

from colonizer_client.attention import claims_issue, inbox, needs_you
from colonizer_client.clock import Clock
from colonizer_client.errors import ClientError, Refusal, SignInNeeded, Unreadable
from colonizer_client.identity import ColonyId, EndpointName
from colonizer_client.mothership import calls, stream
from colonizer_client.mothership.decode import Rows
from colonizer_client.mothership.link import POLL_S
from colonizer_client.mothership.models import Colony
from colonizer_client.reconnection import BackOff
from colonizer_config.value import Value
from colonizer_server.resource_uris import NEEDS_YOU, Aspect, uri_of
from colonizer_server.resources import listed_uris
from colonizer_server.tools import Mothership

REST_S = 1.0
"""After each notice: a colony at work changes many times a second, and one notice says as much as fifty."""

Picture = Mapping[ColonyId, Colony]


class Change(Value):
    """What is no longer as it was told: some resources, and maybe the list of them."""

    updated: tuple[str, ...] = ()
    list_changed: bool = False


def change_between(before: Picture, after: Picture, now: float) -> Change:
    """What changed for resources between two pictures of a mothership's colonies."""
    pairs = [(before.get(colony), after.get(colony)) for colony in {**before, **after}]
    changed = [(old, new) for old, new in pairs if old is not new and old != new]
    keys = [colony.key for old, new in changed if (colony := new or old) is not None]
    updated = tuple(uri_of(key, aspect) for key in keys for aspect in Aspect)
    if not any(_bears_on_inbox(old, new) for old, new in changed):
        return Change(updated)
    if _inbox(before.values(), now) != _inbox(after.values(), now):
        updated = (NEEDS_YOU, *updated)
    return Change(updated, listed_uris(before.values(), now) != listed_uris(after.values(), now))


def _bears_on_inbox(old: Colony | None, new: Colony | None) -> bool:
    """Whether the inbox may be another one by it; not by the work of a colony, which is most of what happens."""
    if old is None or new is None:
        return True
    return needs_you(old) or needs_you(new) or claims_issue(old) != claims_issue(new)


def _inbox(colonies: Iterable[Colony], now: float) -> list[object]:
    return [(need.urgency, need.colony.key, need.colony.status, need.since) for need in inbox(colonies, {}, now)]


class Watch:
    """Tells of changes until it is cancelled; what happened while nothing answered is told afterwards."""

    def __init__(
        self,
        mothership: Mothership,
        endpoint: EndpointName,
        tell: Callable[[Change], Awaitable[None]],
        clock: Clock,
    ) -> None:
        self._mothership = mothership
        self._endpoint = endpoint
        self._tell = tell
        self._clock = clock
        self._colonies: dict[ColonyId, Colony] = {}
        """As last heard."""
        self._told: Picture = {}
        """What is told already, or was there when it began."""
        self._begun = asyncio.Event()
        self._beginning = asyncio.Lock()
        self._heard = asyncio.Event()
        self._back_off = BackOff(random.Random())

    async def begin(self) -> None:
        """Notes what is there, so that every later change is told; once it has begun, nothing more is done."""
        async with self._beginning:
            if self._begun.is_set():
                return
            with suppress(ClientError):  # then all that comes later is news
                self._take((await self._mothership.ask(calls.colonies(self._endpoint)))[0])
            self._told = dict(self._colonies)
            self._begun.set()

    async def run(self) -> None:
        """Tells of changes from the time on when it was begun."""
        await self._begun.wait()
        async with asyncio.TaskGroup() as tasks:
            tasks.create_task(self._listen())
            tasks.create_task(self._tell_on())

    async def _tell_on(self) -> None:
        while True:
            await self._heard.wait()
            self._heard.clear()
            before, self._told = self._told, dict(self._colonies)
            change = change_between(before, self._told, self._clock.now())
            if change != Change():
                await self._tell(change)
                await self._clock.sleep(REST_S)

    async def _listen(self) -> None:
        while True:
            try:
                await self._stream()
            except SignInNeeded:
                return  # whoever reads a resource is told why
            except (Refusal, Unreadable):
                await self._poll()  # the token may not see the stream, or an older server has none
            except ClientError:
                pass
            await self._clock.sleep(self._back_off.pause_s())

    async def _stream(self) -> None:
        async with self._mothership.listen(calls.stream_path()) as socket:
            async for message in socket:
                try:
                    self._heed(stream.frame(self._endpoint, message))
                except Unreadable:
                    continue

    def _heed(self, frame: stream.StreamFrame | None) -> None:
        match frame:
            case stream.Listed(colonies, _):
                self._take(colonies)
            case stream.Changed(colony):
                self._colonies[colony.key.colony] = colony
            case stream.Removed(colony_id):
                self._colonies.pop(colony_id, None)
            case _:
                return
        self._heard.set()

    async def _poll(self) -> None:
        rows = Rows(self._endpoint)
        try:
            while True:
                self._take((await self._mothership.ask(calls.colonies(self._endpoint, rows)))[0])
                self._heard.set()
                await self._clock.sleep(POLL_S)
        except ClientError:
            return

    def _take(self, colonies: Iterable[Colony]) -> None:
        self._back_off.reset()
        self._colonies = {colony.key.colony: colony for colony in colonies}
