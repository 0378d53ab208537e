"""What is read for the screen: the log, the detail and the diff of the colonies that the person looks at."""

import asyncio
import contextlib
from collections.abc import Awaitable, Callable
from functools import partial
from typing import TypeAlias

from textual.timer import Timer

from colonizer_client.cockpit import Cockpit
from colonizer_client.errors import ClientError
from colonizer_client.identity import ColonyKey
from colonizer_client.snapshot import Topics
from colonizer_tui.deck import Deck
from colonizer_tui.face import Face

FRESH_S = 1.0
"""How long after a change the shown colony's detail and diff are read anew: not more often than a person reads."""

REST_S = 0.3
"""How long the cursor rests on a colony before its detail and diff are read."""

Read: TypeAlias = Callable[[ColonyKey], Awaitable[None]]


class Reading:
    """Keeps what is on the screen of a colony as fresh as the list."""

    def __init__(self, deck: Deck, cockpit: Cockpit, face: Face) -> None:
        self._deck = deck
        self._cockpit = cockpit
        self._face = face
        self._opened: ColonyKey | None = None
        self._followed: set[ColonyKey] = set()
        self._waiting: Timer | None = None
        self._under_way: dict[tuple[ColonyKey, Read], asyncio.Task[object] | None] = {}
        """What is being read of a colony for as long as it is in sight."""
        self._again: set[tuple[ColonyKey, Read]] = set()
        """What changed while it was being read."""

    def selected(self, key: ColonyKey) -> None:
        """The cursor is on this colony."""
        self._deck.set_timer(REST_S, lambda: self._rested_on(key))

    def changed(self, topics: Topics) -> None:
        """Something changed; the shown colony may be among it."""
        key = self._deck.workspace.colony
        if key is not None and key in topics.colonies and self._waiting is None:
            self._waiting = self._deck.set_timer(FRESH_S, self._read_changed)

    def opened(self, key: ColonyKey) -> None:
        """A colony is shown whole."""
        self._opened = key
        self._follow()
        self._read(key)
        colony = self._deck.view.snapshot.colonies.get(key)
        if colony is not None and colony.unseen_failure:
            self._quietly(self._cockpit.mark_seen, key)
        if colony is not None and colony.suspended and not colony.answered_while_suspended:
            self._quietly(self._cockpit.prewarm, key)

    def older(self, key: ColonyKey) -> None:
        """Older events are wanted."""
        self._quietly(self._cockpit.load_older, key)

    def _rested_on(self, key: ColonyKey) -> None:
        if self._deck.workspace.colony == key:
            self._read(key)
            self._follow()

    def _read_changed(self) -> None:
        self._waiting = None
        key = self._deck.workspace.colony
        if key is not None:
            self._read(key)

    def _read(self, key: ColonyKey) -> None:
        colony = self._deck.view.snapshot.colonies.get(key)
        self._leave_all_but(key)
        if colony is None:
            return
        self._read_while_in_sight(self._cockpit.read_detail, key)
        if colony.has_worktree and not colony.cleaned_up:
            self._read_while_in_sight(self._cockpit.read_diff, key)

    def _leave_all_but(self, key: ColonyKey) -> None:
        """Ends what is being read of colonies that are no longer in sight: a server may take very long."""
        for (other, _), reading in self._under_way.items():
            if reading is not None and other not in (key, self._opened):
                reading.cancel()

    def _read_while_in_sight(self, read: Read, key: ColonyKey) -> None:
        """Reads once at a time, and once more where something changed meanwhile."""
        what = key, read
        if what in self._under_way:
            self._again.add(what)
            return
        self._under_way[what] = None
        self._face.start(partial(self._keep_reading, read, key))

    async def _keep_reading(self, read: Read, key: ColonyKey) -> None:
        what, is_new = (key, read), True
        self._under_way[what] = asyncio.current_task()
        try:
            while is_new:
                self._again.discard(what)
                with contextlib.suppress(ClientError):
                    await read(key)
                is_new = what in self._again
        finally:
            del self._under_way[what]

    def _follow(self) -> None:
        """Follows the logs that are on the screen, and lets go of the others."""
        fleet = self._deck.fleet
        peeked = fleet.colony if fleet.peeks and self._deck.workspace is fleet else None
        wanted = {key for key in (self._opened, peeked) if key is not None}
        for key in self._followed - wanted:
            self._face.attempt(partial(self._cockpit.close, key))
        for key in wanted - self._followed:
            self._face.attempt(partial(self._cockpit.open, key))
        self._followed = wanted

    def _quietly(self, read: Read, key: ColonyKey) -> None:
        """Does what the person did not ask for: its failure is not worth their attention."""

        async def do() -> None:
            with contextlib.suppress(ClientError):
                await read(key)

        self._face.start(do)
