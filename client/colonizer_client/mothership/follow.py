"""Follows the log of one opened colony: its socket, its place in the log, its older pages."""

import json
import random
from collections.abc import Callable, Mapping
from dataclasses import replace

from colonizer_client.clock import Clock
from colonizer_client.errors import ClientError, LinkError, Refusal, SignInNeeded, Unreadable
from colonizer_client.identity import ColonyId, ColonyKey
from colonizer_client.mothership import calls, events, wire
from colonizer_client.mothership.log import Place, Verdict
from colonizer_client.mothership.models import Colony
from colonizer_client.mothership.questions import Ask
from colonizer_client.mothership.transport import Socket, Transport
from colonizer_client.snapshot import HubEvent, Phase, TranscriptChanged, TranscriptState
from colonizer_client.transcript import Transcript

FIRST_PAGE = 200
OLDER_PAGE = 500
BACKOFF_FIRST_S = 1.0
BACKOFF_LIMIT_S = 10.0

Seen = Callable[[Colony | None, ColonyId], None]
"""Told of the colony as a frame showed it, or of None where its question may have changed."""


class _Hole(Exception):
    """Events are missing before this one: the log is asked again from the last that was had."""


class Follower:
    """One colony's transcript, kept in step with its log over reconnections."""

    def __init__(self, key: ColonyKey, post: Callable[[HubEvent], None], clock: Clock, chance: random.Random) -> None:
        self._key = key
        self._post = post
        self._clock = clock
        self._chance = chance
        self._place = Place()
        self._state = TranscriptState(Transcript())
        self._hosted: list[str] = []
        self._older: events.History | None = None
        self._refetched_hole: tuple[int, int] | None = None
        self._socket: Socket | None = None
        self._is_live = False

    async def run(self, transport: Transport, seen: Seen) -> None:
        """Follows the log while the connection lasts.

        Raises:
            LinkError: The server does not answer; the link starts anew.
            SignInNeeded: The token was refused.
        """
        failures = 0
        while True:
            try:
                had = self._place.seq
                await self._follow(transport, seen)
                failures = 0 if self._place.seq > had else failures + 1
            except _Hole:
                failures = 0
                continue
            except SignInNeeded:
                raise
            except (Refusal, Unreadable) as problem:
                self._show(error=str(problem))
                failures += 1
            self._show(phase=Phase.RECONNECTING)
            longest = min(BACKOFF_FIRST_S * 2**failures, BACKOFF_LIMIT_S)
            await self._clock.sleep(longest * self._chance.uniform(0.5, 1.0))

    async def send(self, command: Mapping[str, object]) -> None:
        """Sends a command over the socket.

        Raises:
            LinkError: The socket is not open.
        """
        if self._socket is None:
            raise LinkError("the colony's log is not connected right now; try again")
        await self._socket.send(json.dumps(command))

    async def load_older(self, ask: Ask) -> None:
        """Puts the next older page before the transcript; the state says so while it loads."""
        if self._older is None or not self._older.has_more or self._state.is_loading_older:
            return
        start = self._older
        self._show(is_loading_older=True, error="")
        try:
            page = await ask(
                calls.log_page(
                    self._key.colony, limit=OLDER_PAGE, before=start.oldest_seq, epoch=start.epoch, offset=start.offset
                )
            )
        except ClientError as problem:
            self._show(is_loading_older=False, error=f"older events could not be read: {problem}")
            return
        if self._older is start:  # else another run began meanwhile, and the page belongs to the past
            numbered = [events.numbered(wire.mapping(fields)) for fields in wire.sequence(page.get("events"))]
            self._older = events.history(page)
            mark = f"run {start.epoch}" if self._older.epoch != start.epoch else ""
            older = [found.event for found in numbered if found is not None and found.event is not None]
            self._state.transcript.put_before(older, mark)
            self._show(has_older=self._older.has_more)
        self._show(is_loading_older=False)

    async def _follow(self, transport: Transport, seen: Seen) -> None:
        first_time = self._place.seq == 0
        path = calls.events_path(
            self._key.colony,
            since=self._place.seq,
            epoch=self._place.epoch,
            limit=FIRST_PAGE if first_time else None,
        )
        self._is_live = False
        async with transport.socket(path) as socket:
            self._socket = socket
            try:
                async for message in socket:
                    self._take(message, seen)
            finally:
                self._socket = None

    def _take(self, message: str | bytes, seen: Seen) -> None:
        try:
            frame = events.frame(self._key.endpoint, message)
        except Unreadable as problem:
            self._state.transcript.mark(f"an unreadable frame: {problem}", self._clock.now())
            self._show()
            return
        match frame:
            case events.RunEpoch(epoch):
                self._start_run(epoch)
            case events.SessionFrame(colony):
                seen(colony, self._key.colony)
            case events.Hosted(note):
                self._take_host_line(note)
            case events.History():
                self._older = frame
                self._place.start_at(frame.oldest_seq)
                self._show(has_older=frame.has_more)
            case events.ReplayDone():
                self._is_live = True
                self._show(phase=Phase.LIVE, error="")
            case events.Numbered():
                self._take_numbered(frame, seen)
            case None:
                pass

    def _start_run(self, epoch: int) -> None:
        if self._place.start_run(epoch):
            self._older = None
            self._hosted.clear()
            self._state = TranscriptState(Transcript(), epoch=epoch)
        self._show(epoch=epoch)

    def _take_numbered(self, frame: events.Numbered, seen: Seen) -> None:
        before = self._place.seq
        verdict = self._place.judge(frame.seq)
        if verdict is Verdict.DROP:
            return
        if verdict is Verdict.GAP:
            missing = self._place.missing
            if missing != self._refetched_hole:
                self._refetched_hole = missing
                self._place.seq = before
                raise _Hole
            self._state.transcript.mark(f"events {before + 1} to {frame.seq - 1} are missing from the log")
        if frame.event is None:
            return
        self._state.transcript.apply(frame.event)
        if isinstance(frame.event, events.Asked | events.Answered | events.QuestionClosed) and self._is_live:
            seen(None, self._key.colony)
        self._show()

    def _take_host_line(self, note: events.Noted) -> None:
        """The mothership's lines come again at each connection: what was had is not shown twice."""
        line = f"{note.stamp.at} {note.text}"
        if line not in self._hosted:
            self._hosted.append(line)
            if note.level in ("warn", "error") or self._is_live:
                self._state.transcript.apply(note)
        self._show()

    def _show(self, **changes: object) -> None:
        self._state = replace(self._state, **changes)  # type: ignore[arg-type]  # the names are the state's own
        self._post(TranscriptChanged(self._key, self._state))
