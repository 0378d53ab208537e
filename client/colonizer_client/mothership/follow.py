"""Follows the log of one opened colony: its socket, its place in the log, its older pages."""

import json
import random
from collections.abc import Callable, Iterator, Mapping

from msgspec.structs import replace

from colonizer_client.clock import Clock
from colonizer_client.errors import ClientError, SignInNeeded, Unreachable, Unreadable
from colonizer_client.identity import ColonyId, ColonyKey
from colonizer_client.mothership import calls, events, frames, wire
from colonizer_client.mothership.calls import Ask
from colonizer_client.mothership.log import Place, Verdict
from colonizer_client.mothership.models import Colony
from colonizer_client.mothership.transport import Socket, Transport
from colonizer_client.snapshot import HubEvent, Phase, TranscriptChanged, TranscriptState
from colonizer_client.transcript import Item, Mark, RunBegan, Transcript

FIRST_PAGE = 200
OLDER_PAGE = 500
BACKOFF_FIRST_S = 1.0
BACKOFF_LIMIT_S = 10.0

HOST_LINES_KEPT = 400
"""Lines of the mothership's own log that are known again; it sends the last 200 at each connection."""

Seen = Callable[[Colony | None, ColonyId], None]
"""Told of the colony as a frame showed it, or of None where its question may have changed."""


class _AskAgain(Exception):
    """The log is asked again from its place: something is missing, or it began anew."""


class Follower:
    """One colony's transcript, kept in step with its log over reconnections."""

    def __init__(self, key: ColonyKey, post: Callable[[HubEvent], None], clock: Clock, chance: random.Random) -> None:
        self._key = key
        self._post = post
        self._clock = clock
        self._chance = chance
        self._place = Place()
        self._state = TranscriptState(Transcript())
        self._host_lines: dict[str, None] = {}
        self._older: frames.History | None = None
        self._socket: Socket | None = None
        self._is_live = False

    async def run(self, transport: Transport, seen: Seen) -> None:
        """Follows the log until it is cancelled. What fails is said in the state and tried again.

        Raises:
            SignInNeeded: The token was refused.
        """
        failures = 0
        while True:
            had = (self._place.epoch, self._place.seq)
            try:
                await self._follow(transport, seen)
            except _AskAgain:
                pass
            except SignInNeeded:
                raise
            except ClientError as problem:
                self._show(error=str(problem))
            finally:
                self._show(phase=Phase.RECONNECTING)
            failures = 0 if had != (self._place.epoch, self._place.seq) else failures + 1
            longest = min(BACKOFF_FIRST_S * 2**failures, BACKOFF_LIMIT_S)
            await self._clock.sleep(longest * self._chance.uniform(0.5, 1.0))

    async def send(self, command: Mapping[str, object]) -> None:
        """Sends a command over the socket.

        Raises:
            LinkError: The socket is not open, or closed meanwhile.
        """
        if self._socket is None:
            raise Unreachable("the colony's log is not connected right now; try again")
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
            self._older = frames.history(page)
            items = logged(page, self._older.epoch, start)
            self._state.transcript.put_before(items, is_midway=self._older.oldest_seq > 1)
            self._show(has_older=self._older.has_more)
        self._show(is_loading_older=False)

    async def _follow(self, transport: Transport, seen: Seen) -> None:
        # The limit counts where nothing was had of the current run; else all since the place is sent.
        path = calls.events_path(self._key.colony, since=self._place.seq, epoch=self._place.epoch, limit=FIRST_PAGE)
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
            frame = frames.frame(self._key.endpoint, message)
        except Unreadable as problem:
            self._mark(f"an unreadable frame: {problem}")
            self._show()
            return
        match frame:
            case frames.RunEpoch(epoch):
                self._start_run(epoch)
            case frames.SessionFrame(colony):
                seen(colony, self._key.colony)
            case frames.Hosted(note):
                self._take_host_line(note)
            case frames.History():
                self._older = frame
                self._place.start_at(frame.oldest_seq)
                if frame.oldest_seq > 1:
                    self._state.transcript.begin_midway()
                self._show(has_older=frame.has_more)
            case frames.ReplayDone(seq):
                self._heed(self._place.replayed(seq))
                self._is_live = True
                self._show(phase=Phase.LIVE, error="")
            case frames.Numbered():
                self._take_numbered(frame, seen)
            case None:
                pass

    def _start_run(self, epoch: int) -> None:
        had_another = self._place.epoch != 0
        if self._place.start_run(epoch) and had_another:
            self._begin_anew()
        self._show(epoch=epoch)

    def _begin_anew(self) -> None:
        self._older = None
        self._host_lines.clear()
        self._state = TranscriptState(Transcript())

    def _take_numbered(self, frame: frames.Numbered, seen: Seen) -> None:
        verdict = self._place.judge(frame.seq, frame.at, is_live=self._is_live)
        self._heed(verdict)
        if verdict is Verdict.DROP or frame.event is None:
            return
        self._state.transcript.apply(frame.event)
        if isinstance(frame.event, events.Asked | events.Answered | events.QuestionClosed) and self._is_live:
            seen(None, self._key.colony)
        self._show()

    def _heed(self, verdict: Verdict) -> None:
        """Marks what is lost, and begins again where the log cannot go on."""
        if verdict is Verdict.LOST and self._place.missing is not None:
            first, last = self._place.missing
            self._mark(f"events {first} to {last} are missing from the log")
        elif verdict is Verdict.GAP:
            raise _AskAgain
        elif verdict is Verdict.RESTART:
            self._begin_anew()
            self._mark("the log began anew: what was here before is no longer in it")
            self._place = Place()
            raise _AskAgain

    def _take_host_line(self, note: events.Noted) -> None:
        """The mothership's lines come again at each connection: what was had is not shown twice."""
        line = f"{note.stamp.at} {note.text}"
        if line in self._host_lines:
            return
        self._host_lines[line] = None
        if len(self._host_lines) > HOST_LINES_KEPT:
            del self._host_lines[next(iter(self._host_lines))]
        if note.level in ("warn", "error") or self._is_live:
            self._state.transcript.apply(note)
            self._show()

    def _mark(self, text: str) -> None:
        self._state.transcript.apply(Mark(text, self._clock.now()))

    def _show(self, **changes: object) -> None:
        self._state = replace(self._state, **changes)
        self._post(TranscriptChanged(self._key, self._state))


def logged(page: Mapping[str, object], epoch: int, after: frames.History | None = None) -> Iterator[Item]:
    """The events of a page of the log, with a sign where a run begins in it or after it.

    They carry no epoch: a number that is not above the one before is of the next run (spec 13.1).

    Args:
        page: The reply.
        epoch: The run of its oldest event.
        after: Where the page that comes after it begins, None for the newest page.
    """
    before = 0
    for found in map(frames.numbered, wire.mappings(page.get("events"))):
        if found is None:
            continue
        if found.seq <= before:
            epoch += 1
            yield RunBegan(epoch)
        before = found.seq
        if found.event is not None:
            yield found.event
    if after is not None and after.oldest_seq <= before:
        yield RunBegan(after.epoch)
