"""A colony's log as a person reads it: events folded into entries (spec 4.4).

A transcript grows at its end and changes near its end; what a delta costs does not depend on its length. Readers
remember the `version` that they drew and ask what changed since.
"""

from collections import deque
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from enum import Enum, auto

from colonizer_client.identity import QuestionId
from colonizer_client.mothership.events import (
    Answered,
    Asked,
    BlockKey,
    Event,
    Noted,
    QuestionClosed,
    Speaker,
    Stamp,
    StateChanged,
    TextDelta,
    TextFinal,
    Thought,
    ToolCalled,
    ToolReturned,
    TurnEnded,
    UserSaid,
)
from colonizer_client.mothership.models import OpenQuestion

CHANGES_KEPT = 512
"""Readers further behind than this draw everything anew."""


class Kind(Enum):
    """What an entry is, and so how it is drawn."""

    USER = auto()
    BRIEF = auto()
    AGENT = auto()
    THINKING = auto()
    TOOL = auto()
    SETTLER = auto()
    QUESTION = auto()
    TURN = auto()
    NOTICE = auto()
    MARK = auto()
    """A sign of ours, not an event: a gap, a new run, an unreadable frame."""


class State(Enum):
    """How far an entry is."""

    DONE = auto()
    RUNNING = auto()
    FAILED = auto()


@dataclass(frozen=True, slots=True)
class Entry:
    """One entry. `title` is its one line, `body` what it unfolds to; both are safe to show."""

    kind: Kind
    at: float | None
    title: str = ""
    body: str = ""
    state: State = State.DONE
    level: str = "info"
    speaker: Speaker | None = None
    result: str = ""
    """A tool's output, or how a question ended."""
    children: tuple["Entry", ...] = ()
    """What a settler did, oldest first."""
    question: OpenQuestion | None = None
    cost_usd: float | None = None
    """The cost of this turn alone."""


@dataclass(slots=True)
class _Draft:
    """An entry that may still change. Pieces of a text that is being written are joined only when it is read."""

    entry: Entry
    pieces: list[str] = field(default_factory=list[str])
    children: list["_Draft"] = field(default_factory=list["_Draft"])

    def built(self) -> Entry:
        if self.pieces:
            self.entry = replace(self.entry, body=self.entry.body + "".join(self.pieces))
            self.pieces.clear()
        if self.children:
            return replace(self.entry, children=tuple(child.built() for child in self.children))
        return self.entry


@dataclass(frozen=True, slots=True)
class _Spot:
    """Where a draft stands: the index of its top entry, and the draft itself."""

    index: int
    draft: _Draft


class Transcript:
    """The entries of one run, or of several when older pages are put before them."""

    def __init__(self) -> None:
        self.version = 0
        self.state = ""
        """The runner's last state, empty before the first."""
        self._drafts: list[_Draft] = []
        self._changes: deque[tuple[int, int]] = deque(maxlen=CHANGES_KEPT)
        self._rebuilt_at = 0
        self._blocks: dict[BlockKey, _Spot] = {}
        self._finished_blocks: set[BlockKey] = set()
        self._tools: dict[str, _Spot] = {}
        self._settlers: dict[str, _Spot] = {}
        self._questions: dict[QuestionId, _Spot] = {}
        self._said: set[str] = set()
        self._run_cost_usd: float | None = 0.0

    def __len__(self) -> int:
        return len(self._drafts)

    def __getitem__(self, index: int) -> Entry:
        return self._drafts[index].built()

    def __iter__(self) -> Iterator[Entry]:
        return (draft.built() for draft in self._drafts)

    def has_said(self, message_id: str) -> bool:
        """Whether a message with this id (raw, such as `u-…`) was echoed by the agent."""
        return message_id in self._said

    def changed_since(self, version: int) -> frozenset[int] | None:
        """The indices of entries that are new or changed since `version`; None when everything must be drawn anew."""
        if version < self._rebuilt_at:
            return None
        if self._changes and len(self._changes) == CHANGES_KEPT and version < self._changes[0][0] - 1:
            return None
        return frozenset(index for at, index in self._changes if at > version)

    def mark(self, text: str, at: float | None = None, level: str = "warn") -> None:
        """Appends a sign of ours."""
        self._append(Entry(Kind.MARK, at, title=text, level=level))

    def put_before(self, events: Iterable[Event], mark: str = "") -> None:
        """Puts an older page of the log before what is there, with a sign between them where `mark` says so."""
        older = Transcript()
        for event in events:
            older.apply(event)
        if mark:
            older.mark(mark, level="info")
        shift = len(older)
        self._drafts[:0] = older._drafts
        for spots in (self._blocks, self._tools, self._settlers, self._questions):
            for key, spot in spots.items():
                spots[key] = _Spot(spot.index + shift, spot.draft)  # type: ignore[index]
        self._said |= older._said
        for call_id, spot in older._tools.items():
            self._tools.setdefault(call_id, spot)
        self._rebuild()

    def apply(self, event: Event) -> None:
        """Takes the next event of the log."""
        match event:
            case TextDelta():
                self._delta(event)
            case TextFinal():
                self._final(event)
            case ToolCalled():
                self._tool_called(event)
            case ToolReturned():
                self._tool_returned(event)
            case UserSaid():
                self._user_said(event)
            case Thought():
                first, _, _ = event.text.partition("\n")
                self._add(event.stamp, Entry(Kind.THINKING, event.stamp.at, title=first, body=event.text))
            case Asked():
                self._asked(event)
            case Answered():
                shown = "; ".join(answer for _, answer in event.answers if answer) or event.response
                by = "answered by the judge" if event.stamp.origin == "autonomy" else "answered"
                self._close(event.question_id, f"{by}: {shown}" if shown else by)
            case QuestionClosed():
                self._close(event.question_id, f"no longer needed ({event.reason})" if event.reason else "closed")
            case TurnEnded():
                self._turn_ended(event)
            case StateChanged():
                self._state_changed(event)
            case Noted():
                entry = Entry(Kind.NOTICE, event.stamp.at, title=event.text, body=event.body, level=event.level)
                self._add(event.stamp, entry)

    def _delta(self, event: TextDelta) -> None:
        if event.block in self._finished_blocks:
            return
        spot = self._blocks.get(event.block)
        if spot is None:
            spot = self._add(event.stamp, Entry(Kind.AGENT, event.stamp.at, state=State.RUNNING))
            self._blocks[event.block] = spot
        spot.draft.pieces.append(event.delta)
        self._touch(spot.index)

    def _final(self, event: TextFinal) -> None:
        spot = self._blocks.pop(event.block, None)
        if event.block[0]:
            self._finished_blocks.add(event.block)
        entry = Entry(Kind.AGENT, event.stamp.at, body=event.text)
        if spot is None:
            self._add(event.stamp, entry)
        else:
            spot.draft.pieces.clear()
            self._set(spot, replace(entry, at=spot.draft.entry.at, speaker=spot.draft.entry.speaker))

    def _tool_called(self, event: ToolCalled) -> None:
        if event.call_id and event.call_id in self._tools:
            return
        entry = Entry(Kind.TOOL, event.stamp.at, title=event.name, body=event.input, state=State.RUNNING)
        spot = self._add(event.stamp, replace(entry, title=f"{event.name}\t{event.argument}"))
        if event.call_id:
            self._tools[event.call_id] = spot

    def _tool_returned(self, event: ToolReturned) -> None:
        self._close(QuestionId(event.call_id), "closed by its tool")
        self._settler_done(event.call_id, failed=event.is_error)
        spot = self._tools.get(event.call_id)
        if spot is None:
            title = "result\tof a call that is not here"
            spot = self._add(event.stamp, Entry(Kind.TOOL, event.stamp.at, title=title, state=State.RUNNING))
            if event.call_id:
                self._tools[event.call_id] = spot
        if spot.draft.entry.state is not State.RUNNING:
            return  # a repeated result: the first one stands
        result = f"{event.denial}\n{event.output}".strip("\n") if event.denial else event.output
        failed = event.is_error or bool(event.denial)
        self._set(spot, replace(spot.draft.entry, result=result, state=State.FAILED if failed else State.DONE))

    def _user_said(self, event: UserSaid) -> None:
        self._said.add(event.id)
        if event.id.startswith(("watchdog-", "verify-fix-", "pr-rewrite-")):
            who = event.id.rpartition("-")[0].replace("-", " ")
            entry = Entry(
                Kind.NOTICE, event.stamp.at, title=f"{who}: {event.text.partition(chr(10))[0]}", body=event.text
            )
        else:
            kind = Kind.BRIEF if event.id == "initial" else Kind.USER
            entry = Entry(kind, event.stamp.at, title=event.text.partition("\n")[0], body=event.text)
        self._add(event.stamp, entry)

    def _asked(self, event: Asked) -> None:
        for question_id in list(self._questions):
            self._close(question_id, "replaced by a newer question")
        title = "; ".join(prompt.text.partition("\n")[0] for prompt in event.question.prompts) or "asks"
        entry = Entry(Kind.QUESTION, event.stamp.at, title=title, state=State.RUNNING, question=event.question)
        self._questions[event.question.question_id] = self._add(event.stamp, entry)

    def _close(self, question_id: QuestionId, how: str) -> None:
        spot = self._questions.pop(question_id, None)
        if spot is not None:
            self._set(spot, replace(spot.draft.entry, state=State.DONE, result=how))

    def _turn_ended(self, event: TurnEnded) -> None:
        for question_id, spot in list(self._questions.items()):
            question = spot.draft.entry.question
            if question is not None and question.is_blocking:
                self._close(question_id, "closed with its turn")
        cost = None
        if event.run_cost_usd is not None and self._run_cost_usd is not None:
            cost = max(event.run_cost_usd - self._run_cost_usd, 0.0)
        self._run_cost_usd = event.run_cost_usd
        for settler_id in list(self._settlers):
            self._settler_done(settler_id, failed=False)
        seconds = "" if event.duration_s is None else f"{event.duration_s:.0f} s"
        facts = " · ".join(filter(None, ("turn failed" if event.is_error else "turn over", seconds, *event.models)))
        state = State.FAILED if event.is_error else State.DONE
        body = event.result if event.is_error else ""
        self._append(Entry(Kind.TURN, event.stamp.at, title=facts, body=body, state=state, cost_usd=cost))

    def _state_changed(self, event: StateChanged) -> None:
        self.state = event.state
        if event.state in ("error", "exited"):
            text = f"agent {event.state}: {event.detail}" if event.detail else f"agent {event.state}"
            level = "error" if event.state == "error" else "info"
            self._add(event.stamp, Entry(Kind.NOTICE, event.stamp.at, title=text, level=level))

    def _settler_done(self, settler_id: str, *, failed: bool) -> None:
        spot = self._settlers.pop(settler_id, None)
        if spot is not None:
            self._set(spot, replace(spot.draft.entry, state=State.FAILED if failed else State.DONE))

    def _add(self, stamp: Stamp, entry: Entry) -> _Spot:
        """Appends an entry, under its settler's card where one speaks."""
        if stamp.settler is None:
            return self._append(entry)
        card = self._settlers.get(stamp.settler.id)
        if card is None:
            title = stamp.settler.description or stamp.settler.name
            card = self._append(Entry(Kind.SETTLER, stamp.at, title, state=State.RUNNING, speaker=stamp.settler))
            self._settlers[stamp.settler.id] = card
        draft = _Draft(replace(entry, speaker=stamp.settler))
        card.draft.children.append(draft)
        self._touch(card.index)
        return _Spot(card.index, draft)

    def _append(self, entry: Entry) -> _Spot:
        self._drafts.append(_Draft(entry))
        index = len(self._drafts) - 1
        self._touch(index)
        return _Spot(index, self._drafts[index])

    def _set(self, spot: _Spot, entry: Entry) -> None:
        spot.draft.entry = entry
        self._touch(spot.index)

    def _touch(self, index: int) -> None:
        if self._changes and self._changes[-1][1] == index:
            self._changes.pop()  # one entry that changes again and again takes one place
        self.version += 1
        self._changes.append((self.version, index))

    def _rebuild(self) -> None:
        self.version += 1
        self._changes.clear()
        self._rebuilt_at = self.version
