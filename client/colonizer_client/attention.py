"""Which colonies need a person, and in what order (spec 1.5, exact)."""

from collections.abc import Iterable, Mapping
from enum import Enum, IntEnum, auto
from typing import TypeAlias

from colonizer_client.identity import ColonyKey
from colonizer_client.mothership.models import Colony, OpenQuestion
from colonizer_client.mothership.status import HOLDS_ISSUE, Risk
from colonizer_config.value import Value

Issue: TypeAlias = tuple[str, int]
"""A repository, raw, and the number of an issue in it."""

CASCADE_FAILURES = ("no branch to build on", "cannot be stacked on", "stopped or parked, so")
"""Errors of colonies that failed only because their parent did."""

ABANDONED = "abandoned_question"
ABANDONED_FOLD_AGE_S = 72 * 3600
"""An abandoned question older than this joins the one row of old questions."""


class Ground(Enum):
    """What decides whether a colony needs a person; the first of these that holds. Its value is the decision."""

    UNSEEN_FAILURE = "it failed, and nobody has looked at it", True
    ENDED = "nothing goes on by itself, whatever stands there still", False
    ANSWERED = "it was answered while it slept", False
    ASKS = "it waits for an answer", True
    NOTHING = "nothing is marked", False
    RECOVERING = "an error of the model while it works", False
    IDLE = "it was parked for sitting idle", False
    ATTENTION = "anything else that the mothership marks", True

    @property
    def needs_you(self) -> bool:
        """Whether the colony needs a person by it."""
        return self.value[1]


def ground(colony: Colony) -> Ground:
    """What decides whether the colony needs a person."""
    if colony.status == "failed" and colony.unseen_failure:
        return Ground.UNSEEN_FAILURE
    if colony.is_terminal:
        return Ground.ENDED
    if colony.status == "waiting_for_answer":
        return Ground.ANSWERED if colony.suspended and colony.answered_while_suspended else Ground.ASKS
    if colony.attention is None:
        return Ground.NOTHING
    if colony.attention.reason == "model_error" and colony.status in ("running", "starting"):
        return Ground.RECOVERING
    return Ground.IDLE if colony.attention.reason == "idle_timeout" else Ground.ATTENTION


def needs_you(colony: Colony) -> bool:
    """Whether the colony waits for a person."""
    return ground(colony).needs_you


def issue_of(colony: Colony) -> Issue | None:
    """The issue that the colony works on, None for one without."""
    return None if colony.issue is None else (colony.repo_raw, colony.issue)


def claims_issue(colony: Colony) -> bool:
    """Whether the colony has taken its issue over from older ones, or has done with it."""
    return colony.status in HOLDS_ISSUE or colony.status == "merged"


class Urgency(IntEnum):
    """The order of the inbox: a smaller value comes first."""

    SECURITY_HOLD = 0
    QUESTION = 1
    UNSEEN_FAILURE = 2
    OTHER = 3
    OLD_QUESTIONS = 4


class Need(Value):
    """One row of the inbox."""

    urgency: Urgency
    risk: Risk | None
    """The risk of the open question, None while it is not known or where none is open."""
    since: float
    """Since when it waits, seconds by the server's clock."""
    colonies: tuple[Colony, ...]
    """One colony, or all of those folded into the row of old questions."""

    @property
    def colony(self) -> Colony:
        """The colony of the row, the newest of a folded one."""
        return self.colonies[0]

    @property
    def order(self) -> tuple[int, int, float]:
        """Sorts the inbox: by urgency, then by risk with the highest first, then the oldest first."""
        return (self.urgency, -(self.risk or 0), self.since)


class LeftOut(Enum):
    """Why the inbox does not list a colony that needs a person."""

    CASCADE = auto()
    """It failed only because its parent did."""
    OVERTAKEN = auto()
    """It ended, and a newer colony works on its issue."""
    OLDER = auto()
    """Another colony of its issue is newer and needs a person too."""
    OLD_QUESTION = auto()
    """Nobody answered it for days: it is in the one row of old questions."""


def left_out(colony: Colony, colonies: Iterable[Colony], now: float) -> LeftOut | None:
    """Why the inbox leaves out a colony that needs a person; None where it lists it.

    `colonies` are all of its mothership, `now` is in seconds by the server's clock.
    """
    everyone = tuple(colonies)
    if _is_cascade_failure(colony):
        return LeftOut.CASCADE
    if _is_overtaken(colony, _newest_at_work(everyone)):
        return LeftOut.OVERTAKEN
    listed, old = narrowed(everyone, now)
    if any(colony.key == other.key for other in old):
        return LeftOut.OLD_QUESTION
    return None if any(colony.key == other.key for other in listed) else LeftOut.OLDER


def narrowed(colonies: Iterable[Colony], now: float) -> tuple[tuple[Colony, ...], tuple[Colony, ...]]:
    """The colonies that the inbox lists, and those folded into its row of old questions.

    `now` is in seconds by the server's clock. Judge each mothership's colonies by themselves: its issues are its own.
    """
    everyone = tuple(colonies)
    newest_at_work = _newest_at_work(everyone)
    listed: list[Colony] = []
    newest_of_issue: dict[Issue, Colony] = {}
    for colony in everyone:
        if not needs_you(colony) or _is_cascade_failure(colony) or _is_overtaken(colony, newest_at_work):
            continue
        issue = issue_of(colony)
        if issue is None:
            listed.append(colony)
            continue
        rival = newest_of_issue.get(issue)
        if rival is None or colony.created_at > rival.created_at:
            newest_of_issue[issue] = colony
    listed.extend(newest_of_issue.values())
    old = tuple(colony for colony in listed if _is_old_question(colony, now))
    return tuple(colony for colony in listed if not _is_old_question(colony, now)), old


def inbox(colonies: Iterable[Colony], questions: Mapping[ColonyKey, OpenQuestion], now: float) -> tuple[Need, ...]:
    """The inbox of one mothership, in order."""
    listed, old = narrowed(colonies, now)
    needs = [_need(colony, questions.get(colony.key)) for colony in listed]
    if old:
        newest_first = tuple(sorted(old, key=lambda colony: -colony.updated_at))
        needs.append(Need(Urgency.OLD_QUESTIONS, None, min(colony.updated_at for colony in old), newest_first))
    return tuple(sorted(needs, key=lambda need: need.order))


def waiting_since(colony: Colony, question: OpenQuestion | None) -> float:
    """Since when the colony waits: its question's event, else its attention, else its last sign of life."""
    if question is not None and question.asked_at is not None:
        return question.asked_at
    if colony.attention is not None and colony.attention.since is not None:
        return colony.attention.since
    return colony.last_activity_at or colony.updated_at


def _need(colony: Colony, question: OpenQuestion | None) -> Need:
    if colony.attention is not None and colony.attention.is_security_hold and not colony.is_terminal:
        urgency = Urgency.SECURITY_HOLD
    elif colony.status == "waiting_for_answer" or colony.may_ask:
        urgency = Urgency.QUESTION
    elif colony.status == "failed":
        urgency = Urgency.UNSEEN_FAILURE
    else:
        urgency = Urgency.OTHER
    risk = question.risk if question is not None and urgency is Urgency.QUESTION else None
    return Need(urgency, risk, waiting_since(colony, question), (colony,))


def _newest_at_work(colonies: Iterable[Colony]) -> Mapping[Issue, float]:
    """When the newest colony that works on an issue, or has worked it out, was created."""
    newest: dict[Issue, float] = {}
    for colony in colonies:
        issue = issue_of(colony)
        if issue is not None and claims_issue(colony):
            newest[issue] = max(newest.get(issue, 0.0), colony.created_at)
    return newest


def _is_overtaken(colony: Colony, newest_at_work: Mapping[Issue, float]) -> bool:
    if colony.issue is None or colony.status not in ("failed", "stopped"):
        return False
    return newest_at_work.get((colony.repo_raw, colony.issue), 0.0) > colony.created_at


def _is_cascade_failure(colony: Colony) -> bool:
    error = colony.error.lower()
    return colony.status == "failed" and any(words in error for words in CASCADE_FAILURES)


def _is_old_question(colony: Colony, now: float) -> bool:
    return colony.status == "failed" and colony.error == ABANDONED and now - colony.updated_at > ABANDONED_FOLD_AGE_S
