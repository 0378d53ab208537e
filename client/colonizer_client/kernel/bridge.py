"""What a colony's end means to a kernel: which changes of its status are outcomes that a person may record there.

Nothing is recorded by itself. Each run of a colony is offered once: a later end of the same run, such as the merge of
what was stopped before, takes the place of an offer that nobody settled yet, and is passed over where one was.
"""

from enum import StrEnum
from typing import Literal

from colonizer_client.identity import ColonyKey
from colonizer_client.kernel.models import OutcomeOrder
from colonizer_client.mothership.models import Colony
from colonizer_client.mothership.status import LIVE, TERMINAL
from colonizer_client.text import safe_line
from colonizer_config.value import Value

ACTION = "run_colony"
"""The type of action under which outcomes of colonies are recorded."""

NAMELESS = "colony"
"""Stands for the agent of a colony whose mothership tells none."""

OUTCOME_LIMIT = 300

LAST_WORDS_S = 5.0
"""An agent that did something longer than this after its end was resumed, and ended again, while nobody looked."""

State = Literal["open", "sent", "recorded", "dismissed"]
"""`sent` says that the kernel was asked and that its answer is not known: on its way, cut off, or lost."""


class Happened(StrEnum):
    """How a run of a colony ended."""

    STOPPED = "stopped"
    FAILED = "failed"
    MERGED = "merged"
    REFUSED = "refused"
    """Its pull request was closed without being merged."""


class Seen(Value, gc=False):
    """What was known of a colony when it was last looked at."""

    status: str
    run: int = 1
    """Counted from 1 on: it ended and went on so often before, as far as that was seen."""
    active_at: float | None = None
    """When its agent last did something."""


class Offer(Value, gc=False):
    """The end of a colony's run, as it may be recorded."""

    id: str
    key: ColonyKey
    run: int
    happened: Happened
    agent: str
    target: str
    """The repository as its mothership names it: raw, to be sent; draw it with `safe_line`."""
    outcome: str
    """What happened, in words."""
    passed: bool | None
    """Whether its tests passed, as far as that can be told; None is for the person to say."""
    feedback: float
    """What a merge or a refusal says of the work, -1..1."""
    state: State = "open"
    words: str = ""
    """Why it could not be recorded the last time."""
    created_at: float = 0.0

    def order(self, passed: bool, feedback: float | None = None) -> OutcomeOrder:
        """The outcome to record, with the person's own feedback where there is one."""
        given = self.feedback if feedback is None else feedback
        return OutcomeOrder(self.agent, ACTION, self.target, self.outcome, passed, given)


_ENDS = {
    "stopped": Happened.STOPPED,
    "failed": Happened.FAILED,
    "merged": Happened.MERGED,
    "closed": Happened.REFUSED,
}
_ENDS_OF_AGENTS = frozenset({"stopped", "failed"})
_AT_WORK = LIVE | {"queued", "blocked"}
_FEEDBACK = {Happened.MERGED: 1.0, Happened.REFUSED: -1.0}
_WORDS = {
    Happened.STOPPED: "was stopped",
    Happened.FAILED: "failed",
    Happened.MERGED: "was merged",
    Happened.REFUSED: "was refused: its pull request was closed",
}


def seen_now(before: Seen | None, colony: Colony) -> Seen:
    """What is known of the colony from now on."""
    run = 1 if before is None else before.run + _goes_on(before, colony)
    return Seen(colony.status, run, colony.last_activity_at)


def happened(before: Seen | None, colony: Colony) -> Happened | None:
    """How the colony's run has ended since it was last looked at, None where it did not, or not for a kernel to know.

    A colony that another one's merge made needless says nothing of its agent.
    """
    if before is not None and before.status == colony.status and not _goes_on(before, colony):
        return None
    return None if colony.superseded is not None or not colony.repo_raw else _ENDS.get(colony.status)


def _goes_on(before: Seen, colony: Colony) -> bool:
    """Whether the colony is in another run than before."""
    if before.status not in TERMINAL:
        return False
    if colony.status in _AT_WORK:
        return True
    if before.status != colony.status or colony.status not in _ENDS_OF_AGENTS:
        return False
    then, now = before.active_at, colony.last_activity_at
    return then is not None and now is not None and now - then > LAST_WORDS_S


def offered(offer_id: str, run: int, end: Happened, colony: Colony, now: float) -> Offer:
    """The end of the colony's run as an offer."""
    reason = f" ({colony.error.partition(chr(10))[0]})" if end is Happened.FAILED and colony.error else ""
    words = f"colony {colony.shown_id} {_WORDS[end]}{reason}: {colony.title}"
    return Offer(
        id=offer_id,
        key=colony.key,
        run=run,
        happened=end,
        agent=colony.agent or NAMELESS,
        target=colony.repo_raw,
        outcome=safe_line(words, limit=OUTCOME_LIMIT),
        passed=_passed(end, colony),
        feedback=_FEEDBACK.get(end, 0.0),
        created_at=now,
    )


def _passed(end: Happened, colony: Colony) -> bool | None:
    match end:
        case Happened.STOPPED:
            return None  # most often somebody had seen enough, which says neither
        case Happened.MERGED:
            return colony.ci_state != "failure"
        case Happened.FAILED | Happened.REFUSED:
            return False
