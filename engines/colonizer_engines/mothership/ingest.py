"""What an agent's event does to its colony (spec 4.1, 4.4, 8.3, 8.6)."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from msgspec import UNSET

from colonizer_engines.mothership.colony import Colony
from colonizer_engines.mothership.fleet import Change
from colonizer_engines.mothership.question import answer_on_record, asked, closing
from colonizer_engines.mothership.session import ColonyId, Session, Status
from colonizer_engines.mothership.wire import as_object

_STATUS_OF_STATE: Mapping[str, Status] = {
    "working": "running",
    "waiting_for_answer": "waiting_for_answer",
    "idle": "idle",
    "error": "idle",
    "exited": "idle",
}

_PROGRESS = frozenset({"assistant_text", "assistant_text_delta", "thinking", "tool_call", "tool_result"})
"""Events that show an agent at work, so that what a person was called for is over."""

COST_LIMIT_USD = 1e9
"""A greater number is no cost."""

NOT_PUBLISHING = "autopilot: publishing is not built yet in the local mothership; the work stays in the worktree"


@dataclass(slots=True)
class RunFacts:
    """What is remembered of one run while it lasts."""

    lines: int = 0
    """How many lines the agent wrote."""
    turn_ended_well: bool = False
    """The last thing that it did was to end a turn without an error."""
    said_exited: bool = False
    commands: list[dict[str, object]] = field(default_factory=list[dict[str, object]])
    """What is to be written to the agent once the events are committed."""


def absorb(change: Change, colony_id: ColonyId, event: Mapping[str, object], facts: RunFacts) -> None:
    """Adds the agent's event to the log and does to the colony what it says."""
    facts.lines += 1
    change.append(colony_id, event, _origin(event, change.colony(colony_id).session), facts.lines)
    kind = event.get("type")
    if kind == "status":
        _status(change, colony_id, event, facts)
    elif kind == "user_message":
        _heard_message(change, colony_id, event)
    elif kind == "question":
        _question(change, colony_id, event, facts)
    elif kind in ("question_answered", "question_closed", "tool_result", "turn_end"):
        _close_question(change, colony_id, event)
    if kind == "turn_end":
        _turn_end(change, colony_id, event, facts)
    elif kind == "agent_session" and isinstance(event.get("session_id"), str):
        session = change.colony(colony_id).session
        change.put_session(replace(session, agent_session=str(event["session_id"])))
    elif kind in _PROGRESS:
        _progress(change, colony_id)


def _origin(event: Mapping[str, object], session: Session) -> str:
    if "agent" in event:
        return "subagent"
    if event.get("type") == "user_message":
        message = str(event.get("id", ""))
        if message == "initial" and session.origin in ("burn_down", "redteam"):
            return str(session.origin)
        return "watchdog" if message.startswith("watchdog-") else "user"
    return "user" if event.get("type") == "question_answered" else "agent"


def _status(change: Change, colony_id: ColonyId, event: Mapping[str, object], facts: RunFacts) -> None:
    state = event.get("state")
    session = change.colony(colony_id).session
    if not isinstance(state, str):
        change.log(colony_id, "ignored a malformed status event: `state` is not a text", "warn")
        return
    status = _STATUS_OF_STATE.get(state)
    if state in ("working", "waiting_for_answer"):
        facts.turn_ended_well = False
    if state == "exited":
        facts.said_exited = True
    if status is None or not session.live or session.suspended:
        return
    error = session.error
    if state in ("error", "exited"):
        detail = event.get("detail")
        error = f"agent {state}: {detail}" if isinstance(detail, str) and detail else f"agent {state}"
    if status != session.status or error != session.error:
        change.put_session(replace(session, status=status, error=error))


def _heard_message(change: Change, colony_id: ColonyId, event: Mapping[str, object]) -> None:
    colony = change.colony(colony_id)
    if event.get("id") == "initial":
        _heard_brief(change, colony)
    left = tuple(note for note in colony.unheard_messages if note.id != event.get("id"))
    if len(left) != len(colony.unheard_messages):
        change.put(replace(colony, unheard_messages=left))


def _heard_brief(change: Change, colony: Colony) -> None:
    """Strikes out what the first message of the run has told the agent."""
    notes = len(colony.session.pending_notes or ())
    if notes:
        change.log(colony.id, f"{notes} operator note{'' if notes == 1 else 's'} delivered")
    if notes or colony.session.resume_note:
        colony = replace(colony, session=replace(colony.session, pending_notes=UNSET, resume_note=UNSET))
    if colony.unheard_answers:
        colony = replace(colony, unheard_answers=())
    change.put(colony)


def _question(change: Change, colony_id: ColonyId, event: Mapping[str, object], facts: RunFacts) -> None:
    question = asked(event)
    colony = change.colony(colony_id)
    if question is None:
        change.log(colony_id, "ignored a malformed question event: it needs `question_id` and `questions`", "warn")
        return
    known = answer_on_record(question, colony.decisions, colony.epoch)
    if known is None:
        change.put(replace(colony, question=question))
        return
    headers = ", ".join(str(prompt.get("header") or prompt.get("question")) for prompt in question.prompts())
    change.log(
        colony_id,
        f"answered from the record: the operator already decided '{headers}', so their earlier answer goes back down",
    )
    change.put(replace(colony, question=None))
    facts.commands.append(known.command())


def _close_question(change: Change, colony_id: ColonyId, event: Mapping[str, object]) -> None:
    colony = change.colony(colony_id)
    confirmed = event.get("question_id") if event.get("type") == "question_answered" else None
    left = tuple(answer for answer in colony.unheard_answers if answer.question_id != confirmed)
    if len(left) != len(colony.unheard_answers):
        colony = replace(colony, unheard_answers=left)
        change.put(colony)
    question = colony.question
    reason = None if question is None else closing(question, event)
    if question is None or reason is None:
        return
    change.put(replace(colony, question=None))
    if reason != "said":
        close_unanswered(change, colony, question.question_id, reason)


def close_unanswered(change: Change, colony: Colony, question_id: str, reason: str) -> None:
    """Writes down that a question was closed without an answer."""
    closed = {"type": "question_closed", "question_id": question_id, "reason": reason}
    change.append(colony.id, closed, "system")
    change.log(colony.id, f"question {question_id} closed without an answer ({reason})")


def _turn_end(change: Change, colony_id: ColonyId, event: Mapping[str, object], facts: RunFacts) -> None:
    session = change.colony(colony_id).session
    facts.turn_ended_well = event.get("is_error") is not True
    costed = _with_cost(session, event.get("cost_usd"))
    usage = as_object(event.get("model_usage"))
    if usage is not None:
        costed = replace(costed, model_usage=usage)
    if costed is not session:
        change.put_session(costed)
    if facts.turn_ended_well and session.autopilot:
        change.log(colony_id, NOT_PUBLISHING)


def _with_cost(session: Session, cost: object) -> Session:
    if isinstance(cost, bool) or not isinstance(cost, int | float) or not 0 <= cost <= COST_LIMIT_USD:
        return session
    return replace(session, cost_usd=float(cost))


def _progress(change: Change, colony_id: ColonyId) -> None:
    session = change.colony(colony_id).session
    # A control that was defeated stays on the screen until a person has spoken (spec 1.4).
    if session.attention is not None and session.attention.get("reason") != "control_defeat":
        change.put_session(replace(session, attention=None))
