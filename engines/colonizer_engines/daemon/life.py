"""How long the engine lives: until it is told to end, or nobody has needed it for a while."""

import asyncio
import os
from collections.abc import Mapping

from colonizer_engines.mothership.api.presence import Presence
from colonizer_engines.mothership.clock import rfc3339
from colonizer_engines.mothership.mothership import Mothership
from colonizer_engines.mothership.session import LIVE


class Life:
    """Decides when the engine ends."""

    def __init__(self, mothership: Mothership, presence: Presence, idle_end_s: float | None) -> None:
        self._mothership = mothership
        self._presence = presence
        self._idle_end_s = idle_end_s
        self.stopping = asyncio.Event()
        """Set when the engine is to end."""
        mothership.fleet.on_change(presence.changed.set)

    def stop(self) -> None:
        """Has the engine end in order."""
        self.stopping.set()

    def report(self) -> Mapping[str, object]:
        """What the engine says of itself."""
        fleet = self._mothership.fleet
        return {
            "pid": os.getpid(),
            "version": self._mothership.given.version,
            "started_at": rfc3339(self._mothership.started_at),
            "clients": self._presence.clients,
            "colonies": {
                "total": sum(1 for _ in fleet.colonies()),
                "live": len(fleet.in_status(*LIVE)),
                "publishing": len(fleet.in_status("publishing")),
                "queued": len(fleet.in_status("queued")),
            },
            "idle_end": self._idle_end_s,
        }

    async def watch(self) -> None:
        """Ends the engine once it has been idle for long enough; returns when it ends for whatever reason."""
        while not self.stopping.is_set():
            self._presence.changed.clear()
            patience = self._idle_end_s if self._idle() else None
            try:
                async with asyncio.timeout(patience):
                    await self._something()
            except TimeoutError:
                self.stop()

    async def _something(self) -> None:
        waits = [asyncio.create_task(event.wait()) for event in (self._presence.changed, self.stopping)]
        try:
            await asyncio.wait(waits, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for wait in waits:
                wait.cancel()

    def _idle(self) -> bool:
        """Whether nobody is connected and no colony needs the engine."""
        fleet = self._mothership.fleet
        busy = bool(fleet.in_status(*LIVE, "publishing"))
        # Queued colonies keep an engine alive that starts them; one that only answered questions lets them lie.
        waiting = self._mothership.scheduler.begun and bool(fleet.in_status("queued"))
        return not (self._presence.clients or busy or waiting)
