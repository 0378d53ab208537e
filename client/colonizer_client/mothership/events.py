"""Events of a colony's log (spec 4), as values."""

from typing import TypeAlias

from colonizer_client.identity import QuestionId
from colonizer_client.mothership.models import OpenQuestion
from colonizer_config.value import Value

RUNNER_STATES = frozenset({"idle", "working", "waiting_for_answer", "error", "exited"})


class Speaker(Value):
    """A settler: a subagent inside the colony. `id` is raw and names the tool call that started it."""

    id: str
    name: str
    description: str


class Stamp(Value):
    """Where an event stands in its log. `seq` counts from 1 in each run; None on frames outside the log."""

    seq: int | None
    at: float | None
    origin: str
    settler: Speaker | None


class StateChanged(Value):
    """The runner's own state, one of `RUNNER_STATES`."""

    stamp: Stamp
    state: str
    detail: str


class UserSaid(Value):
    """A message to the agent. `id` is raw: `initial` is the brief, `u-…` a client's, `watchdog-…` no person's."""

    stamp: Stamp
    id: str
    text: str


BlockKey: TypeAlias = tuple[str, int]
"""A block of an assistant's message: message id and block index."""


class TextDelta(Value):
    """A further piece of a block that is being written."""

    stamp: Stamp
    block: BlockKey
    delta: str


class TextFinal(Value):
    """A whole block; it replaces the pieces of the same key."""

    stamp: Stamp
    block: BlockKey
    text: str


class Thought(Value):
    """What the agent thought."""

    stamp: Stamp
    block: BlockKey
    text: str


class ToolCalled(Value):
    """The agent uses a tool. `argument` is the one that tells most, `input` all of them, as indented JSON."""

    stamp: Stamp
    call_id: str
    name: str
    argument: str
    input: str


class ToolReturned(Value):
    """A tool's result. `denial` says which control refused it, empty where none did."""

    stamp: Stamp
    call_id: str
    output: str
    is_error: bool
    denial: str


class Asked(Value):
    """The agent asks a person."""

    stamp: Stamp
    question: OpenQuestion


class Answered(Value):
    """A question was answered: by a person, or where the stamp's origin says so by the host."""

    stamp: Stamp
    question_id: QuestionId
    answers: tuple[tuple[str, str], ...]
    """Question text and answer, safe to show."""
    response: str


class QuestionClosed(Value):
    """A question is no longer needed."""

    stamp: Stamp
    question_id: QuestionId
    reason: str


class TurnEnded(Value):
    """A turn is over. The cost is the run's so far, not the turn's."""

    stamp: Stamp
    is_error: bool
    result: str
    run_cost_usd: float | None
    duration_s: float | None
    models: tuple[str, ...]


class Noted(Value):
    """Something worth a quiet line. `level` is debug, info, warn or error; `body` is what it unfolds to."""

    stamp: Stamp
    kind: str
    level: str
    text: str
    body: str = ""


Event: TypeAlias = (
    StateChanged
    | UserSaid
    | TextDelta
    | TextFinal
    | Thought
    | ToolCalled
    | ToolReturned
    | Asked
    | Answered
    | QuestionClosed
    | TurnEnded
    | Noted
)
