"""What goes out live: one queue for each events socket, one set of changes for each fleet stream."""

import asyncio
from collections import deque

from colonizer_engines.mothership.session import ColonyId

FRAMES_BEHIND_LIMIT = 1024
"""A socket that is this many frames behind is closed; its client reads the log again from where it was."""

BYTES_BEHIND_LIMIT = 16 * 1024 * 1024
"""The same for large frames: an agent may write lines of 256 KiB."""


class Watcher:
    """The frames that one events socket still has to send."""

    def __init__(self) -> None:
        self.caught_up = False
        """Whether the stored log has been sent; until then events are not queued, since the log holds them."""
        self.ended = False
        self._frames: deque[bytes] = deque()
        self._size = 0
        self._wake = asyncio.Event()

    def offer_event(self, frame: bytes) -> None:
        """Queues a numbered event."""
        if self.caught_up:
            self.offer(frame)

    def offer(self, frame: bytes) -> None:
        """Queues a frame that is not in the log; ends the watching where the socket is too far behind."""
        if self.ended:
            return
        self._size += len(frame)
        if len(self._frames) >= FRAMES_BEHIND_LIMIT or self._size > BYTES_BEHIND_LIMIT:
            self._frames.clear()
            self.end()
            return
        self._frames.append(frame)
        self._wake.set()

    def end(self) -> None:
        """Ends the watching, once what is queued has been taken."""
        self.ended = True
        self._wake.set()

    async def take(self) -> tuple[bytes, ...]:
        """The next frames, as soon as there are any; none when the watching has ended."""
        await self._wake.wait()
        frames = tuple(self._frames)
        self._frames.clear()
        self._size = 0
        if not self.ended:
            self._wake.clear()
        return frames


class StreamReader:
    """What has changed since one fleet stream last looked.

    Changes of one colony merge, so a slow reader costs nothing and misses nothing.
    """

    def __init__(self) -> None:
        self.ended = False
        self._changed: dict[ColonyId, None] = {}
        self._removed: dict[ColonyId, None] = {}
        self._wake = asyncio.Event()

    def changed(self, colony: ColonyId) -> None:
        """Marks a colony as changed."""
        self._changed[colony] = None
        self._wake.set()

    def removed(self, colony: ColonyId) -> None:
        """Marks a colony as gone."""
        self._changed.pop(colony, None)
        self._removed[colony] = None
        self._wake.set()

    def nudge(self) -> None:
        """Has the reader look at the other lists."""
        self._wake.set()

    def end(self) -> None:
        """Ends the reading."""
        self.ended = True
        self._wake.set()

    async def take(self) -> tuple[tuple[ColonyId, ...], tuple[ColonyId, ...]]:
        """The ids of changed and of removed colonies, as soon as there is something to look at."""
        await self._wake.wait()
        if not self.ended:
            self._wake.clear()
        changed, removed = tuple(self._changed), tuple(self._removed)
        self._changed.clear()
        self._removed.clear()
        return changed, removed
