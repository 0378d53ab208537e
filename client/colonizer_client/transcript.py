"""A colony's log as a person reads it: events folded into entries (spec 4.4).

A transcript grows at its end and changes near its end; what a delta costs does not depend on its length. Readers
remember the `version` that they drew and ask what changed since.
"""

from collections import deque
from collections.abc import Iterable, Iterator
from enum import Enum, auto
from itertools import takewhile
from typing import TypeAlias

from msgspec import Struct, field
from msgspec.structs import replace

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
from colonizer_client.text import joined
from colonizer_config.value import Value

CHANGES_KEPT = 16_384
"""Readers further behind than this draw everything anew: more than a flood of events brings between two pictures."""

_HOST_MESSAGES = {"watchdog-": "watchdog", "verify-fix-": "verification", "pr-rewrite-": "pull request"}
"""How the ids of messages begin that no person wrote, and who did (spec 4.2, 13.1)."""

_AGENT_ENDED = "its agent ended before it returned"
"""A result that stands until a better one comes: a suspended colony's agent ends, and comes back."""


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


class Entry(Value):
    """One entry. `title` is its one line, `body` what it unfolds to; both are safe to show."""

    kind: Kind
    at: float | None
    title: str = ""
    argument: str = ""
    """What a tool was called with, in one line."""
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


class RunBegan(Value):
    """Where a run begins in a log that holds several: what was open in the run before is past."""

    epoch: int


class Mark(Value):
    """A sign of ours between the events."""

    text: str
    at: float | None = None
    level: str = "warn"


Item: TypeAlias = Event | RunBegan | Mark
"""What a transcript is made of."""


class _Draft(Struct):
    """An entry that may still change. Pieces of a text that is being written are joined only when it is read."""

    entry: Entry
    pieces: list[str] = field(default_factory=list[str])
    children: list["_Draft"] = field(default_factory=list["_Draft"])

    def built(self) -> Entry:
        if len(self.pieces) > 1:
            self.pieces[:] = (joined(self.pieces),)
        if self.pieces and self.entry.body is not self.pieces[0]:
            self.entry = replace(self.entry, body=self.pieces[0])
        if self.children:
            return replace(self.entry, children=tuple(child.built() for child in self.children))
        return self.entry


class _Writing(Value):
    """Stands in the log for all the pieces of one block."""

    first: TextDelta
    pieces: list[str]
    """Those of the block's draft."""

    def as_one_delta(self) -> TextDelta:
        return replace(self.first, delta=joined(self.pieces))


class _Spot(Value):
    """Where a draft stands: the index of its top entry, and the draft itself."""

    index: int
    draft: _Draft


class _Run(Struct):
    """What later events of the same run may refer to. Ids mean nothing in another run."""

    cost_usd: float | None = 0.0
    """What the run has cost so far; None while it is unknown."""
    blocks: dict[BlockKey, _Spot] = field(default_factory=dict[BlockKey, _Spot])
    finished_blocks: set[BlockKey] = field(default_factory=set[BlockKey])
    tools: dict[str, _Spot] = field(default_factory=dict[str, _Spot])
    settlers: dict[str, _Spot] = field(default_factory=dict[str, _Spot])
    working: set[str] = field(default_factory=set[str])
    """Settlers that have not returned."""
    questions: dict[QuestionId, _Spot] = field(default_factory=dict[QuestionId, _Spot])
    """Those that are open."""
    asked: set[str] = field(default_factory=set[str])
    """The ids of all questions."""


class Transcript:
    """The entries of one run, or of several when older pages are put before them."""

    def __init__(self) -> None:
        self.version = 0
        self.state = ""
        """The runner's last state, empty before the first."""
        self._drafts: list[_Draft] = []
        self._changes: deque[tuple[int, int]] = deque(maxlen=CHANGES_KEPT)
        self._rebuilt_at = 0
        self._log: list[Item | _Writing] = []
        """What the entries are made of, so that they can be made anew when an older page comes before it."""
        self._run = _Run()
        self._said: set[str] = set()

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
        newest_first = takewhile(lambda change: change[0] > version, reversed(self._changes))
        return frozenset(index for _, index in newest_first)

    def begin_midway(self) -> None:
        """Notes, before the first event, that the run had begun earlier: what it had cost by then is not known."""
        self._run.cost_usd = None

    def put_before(self, older: Iterable[Item], *, is_midway: bool) -> None:
        """Puts an older page of the log before what is there; `is_midway` as `begin_midway` says, for the page."""
        newer = [item.as_one_delta() if isinstance(item, _Writing) else item for item in self._log]
        self._drafts, self._log, self._said = [], [], set()
        self._run = _Run()
        if is_midway:
            self.begin_midway()
        for item in (*older, *newer):
            self.apply(item)
        self._changes.clear()
        self._rebuilt_at = self.version = self.version + 1

    def apply(self, item: Item) -> None:
        """Takes what comes next in the log."""
        if isinstance(item, TextDelta):
            self._delta(item)
            return
        self._log.append(item)
        match item:
            case TextFinal():
                self._final(item)
            case ToolCalled():
                self._tool_called(item)
            case ToolReturned():
                self._tool_returned(item)
            case UserSaid():
                self._user_said(item)
            case Thought():
                first, _, _ = item.text.partition("\n")
                self._add(item.stamp, Entry(Kind.THINKING, item.stamp.at, title=first, body=item.text))
            case Asked():
                self._asked(item)
            case Answered():
                self._close(item.question_id, _how_answered(item))
            case QuestionClosed():
                self._close(item.question_id, f"no longer needed ({item.reason})" if item.reason else "closed")
            case TurnEnded():
                self._turn_ended(item)
            case StateChanged():
                self._state_changed(item)
            case Noted():
                entry = Entry(Kind.NOTICE, item.stamp.at, title=item.text, body=item.body, level=item.level)
                self._add(item.stamp, entry)
            case RunBegan():
                self._run_began(item)
            case Mark():
                self._append(Entry(Kind.MARK, item.at, title=item.text, level=item.level))

    def _delta(self, event: TextDelta) -> None:
        if event.block in self._run.finished_blocks:
            return
        spot = self._run.blocks.get(event.block)
        if spot is None:
            spot = self._add(event.stamp, Entry(Kind.AGENT, event.stamp.at, state=State.RUNNING))
            self._run.blocks[event.block] = spot
            self._log.append(_Writing(event, spot.draft.pieces))
        spot.draft.pieces.append(event.delta)
        self._touch(spot.index)

    def _final(self, event: TextFinal) -> None:
        spot = self._run.blocks.pop(event.block, None)
        if event.block[0]:
            self._run.finished_blocks.add(event.block)
        entry = Entry(Kind.AGENT, event.stamp.at, body=event.text)
        if spot is None:
            self._add(event.stamp, entry)
        else:
            spot.draft.pieces.clear()
            self._set(spot, replace(entry, at=spot.draft.entry.at, speaker=spot.draft.entry.speaker))

    def _tool_called(self, event: ToolCalled) -> None:
        if event.call_id and event.call_id in self._run.tools:
            return
        entry = Entry(
            Kind.TOOL, event.stamp.at, event.name, argument=event.argument, body=event.input, state=State.RUNNING
        )
        spot = self._add(event.stamp, entry)
        if event.call_id:
            self._run.tools[event.call_id] = spot

    def _tool_returned(self, event: ToolReturned) -> None:
        failed = event.is_error or bool(event.denial)
        state = State.FAILED if failed else State.DONE
        self._close(QuestionId(event.call_id), f"closed by its tool: {event.output}".rstrip(": \n"))
        self._settler_returned(event.call_id, state)
        spot = self._run.tools.get(event.call_id)
        if spot is None:
            if event.call_id in self._run.asked:
                return  # a question that was no tool call
            entry = Entry(
                Kind.TOOL, event.stamp.at, "result", argument="of a call that is not here", state=State.RUNNING
            )
            spot = self._add(event.stamp, entry)
            if event.call_id:
                self._run.tools[event.call_id] = spot
        if spot.draft.entry.state is not State.RUNNING and spot.draft.entry.result != _AGENT_ENDED:
            return  # a repeated result: the first one stands
        result = f"{event.denial}\n{event.output}".strip("\n") if event.denial else event.output
        self._set(spot, replace(spot.draft.entry, result=result, state=state))

    def _user_said(self, event: UserSaid) -> None:
        self._said.add(event.id)
        first, _, _ = event.text.partition("\n")
        host = next((words for prefix, words in _HOST_MESSAGES.items() if event.id.startswith(prefix)), None)
        if host is not None:
            entry = Entry(Kind.NOTICE, event.stamp.at, title=f"{host}: {first}", body=event.text)
        else:
            kind = Kind.BRIEF if event.id == "initial" else Kind.USER
            entry = Entry(kind, event.stamp.at, title=first, body=event.text)
        self._add(event.stamp, entry)

    def _asked(self, event: Asked) -> None:
        self._close_all("replaced by a newer question")
        title = "; ".join(prompt.text.partition("\n")[0] for prompt in event.question.prompts) or "asks"
        entry = Entry(Kind.QUESTION, event.stamp.at, title=title, state=State.RUNNING, question=event.question)
        self._run.questions[event.question.question_id] = self._add(event.stamp, entry)
        self._run.asked.add(event.question.question_id)

    def _close(self, question_id: QuestionId, how: str) -> None:
        spot = self._run.questions.pop(question_id, None)
        if spot is not None:
            self._set(spot, replace(spot.draft.entry, state=State.DONE, result=how))

    def _close_all(self, how: str, *, only_blocking: bool = False) -> None:
        for question_id, spot in list(self._run.questions.items()):
            question = spot.draft.entry.question
            if not only_blocking or (question is not None and question.is_blocking):
                self._close(question_id, how)

    def _turn_ended(self, event: TurnEnded) -> None:
        self._close_all("closed with its turn", only_blocking=True)
        self._rest()
        seconds = "" if event.duration_s is None else f"{event.duration_s:.0f} s"
        facts = " · ".join(filter(None, ("turn failed" if event.is_error else "turn over", seconds, *event.models)))
        state = State.FAILED if event.is_error else State.DONE
        body = event.result if event.is_error else ""
        cost = self._cost_since(event.run_cost_usd)
        self._append(Entry(Kind.TURN, event.stamp.at, title=facts, body=body, state=state, cost_usd=cost))

    def _cost_since(self, run_cost: float | None) -> float | None:
        """What the turn cost: turns tell what their run has cost so far (spec 4.4)."""
        before, self._run.cost_usd = self._run.cost_usd, run_cost
        if run_cost is None or before is None:
            return None
        return run_cost - before if run_cost >= before else run_cost  # less than before: another run (spec 13.1)

    def _state_changed(self, event: StateChanged) -> None:
        self.state = event.state
        if event.state == "exited":
            self._rest()
            self._cut_off(_AGENT_ENDED)
        if event.state in ("error", "exited"):
            text = f"agent {event.state}: {event.detail}" if event.detail else f"agent {event.state}"
            level = "error" if event.state == "error" else "info"
            self._add(event.stamp, Entry(Kind.NOTICE, event.stamp.at, title=text, level=level))

    def _run_began(self, item: RunBegan) -> None:
        self._close_all("closed with its run")
        self._rest()
        self._cut_off("its run ended before it returned")
        self._run = _Run()
        if self._drafts:
            self._append(Entry(Kind.MARK, None, title=f"run {item.epoch}", level="info"))

    def _rest(self) -> None:
        """Nobody writes or works any more. A text whose end did not come takes it if it comes later."""
        for spot in self._run.blocks.values():
            if spot.draft.entry.state is State.RUNNING:
                self._set(spot, replace(spot.draft.entry, state=State.DONE))
        for settler_id in list(self._run.working):
            self._settler_returned(settler_id, State.DONE)

    def _cut_off(self, why: str) -> None:
        """No tool that is at work returns any more, as far as is known."""
        for spot in self._run.tools.values():
            if spot.draft.entry.state is State.RUNNING:
                self._set(spot, replace(spot.draft.entry, result=why, state=State.FAILED))

    def _settler_returned(self, settler_id: str, state: State) -> None:
        if settler_id in self._run.working:
            self._run.working.discard(settler_id)
            spot = self._run.settlers[settler_id]
            self._set(spot, replace(spot.draft.entry, state=state))

    def _add(self, stamp: Stamp, entry: Entry) -> _Spot:
        """Appends an entry, under its settler's card where one speaks."""
        if stamp.settler is None:
            return self._append(entry)
        card = self._run.settlers.get(stamp.settler.id)
        if card is None:
            title = stamp.settler.description or stamp.settler.name
            card = self._append(Entry(Kind.SETTLER, stamp.at, title, state=State.RUNNING, speaker=stamp.settler))
            self._run.settlers[stamp.settler.id] = card
            self._run.working.add(stamp.settler.id)
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


def _how_answered(event: Answered) -> str:
    shown = "; ".join(answer for _, answer in event.answers if answer) or event.response
    by = "answered by the judge" if event.stamp.origin == "autonomy" else "answered"
    return f"{by}: {shown}" if shown else by
