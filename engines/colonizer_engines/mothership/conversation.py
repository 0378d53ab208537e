"""What people say to a colony: answers, messages, commands of the events socket (spec 3.1, 3.3)."""

import re
import secrets
from collections.abc import Callable, Mapping
from dataclasses import replace

from colonizer_engines.mothership.colony import Colony
from colonizer_engines.mothership.errors import Refusal
from colonizer_engines.mothership.fleet import Change, Fleet
from colonizer_engines.mothership.question import Answer, check_meant, choice_words, decided, read_answer
from colonizer_engines.mothership.runs import Runs
from colonizer_engines.mothership.session import ColonyId, Note, Session, Status
from colonizer_engines.mothership.tokens import Caller
from colonizer_engines.mothership.wire import as_object

TEXT_LIMIT_BYTES = 100_000

UNREAD_LIMIT = 100
"""Messages that an agent has not read; they are kept, so there is an end to them."""

_MESSAGE_SHAPE = 'expected {"id": str of 1-64 of A-Z a-z 0-9 _ -, "text": str}'
_MESSAGE_TEXT = 'expected a non-empty "text" of at most 100,000 characters'
_MESSAGE_ID = re.compile(r"[A-Za-z0-9_-]{1,64}")
_MODEL = re.compile(r"[A-Za-z0-9._:/\[\]-]{1,153}")
_ANSWERED_ASLEEP = (
    "Earlier you asked the user something, and this colony was asleep while it waited. This is their answer."
)

_NO_NEXT_RUN: frozenset[Status] = frozenset({"pr_opened", "merged", "closed", "no_changes"})


class Conversation:
    """Takes answers and messages, and passes them on."""

    def __init__(self, fleet: Fleet, runs: Runs, go_on: Callable[[Colony, str], Session]) -> None:
        self._fleet = fleet
        self._runs = runs
        self._go_on = go_on
        """Resumes a parked colony with a note."""

    # Answers

    async def answer(self, colony_id: str, body: object, caller: Caller) -> None:
        """Closes the open question and tells the agent; what is accepted is kept until the agent confirms it.

        Raises:
            Refusal: 400, no answer; 404, no colony; 409, not to be answered, or not the question that is open.
        """
        answer = read_answer(body)
        if answer.response is not None:
            answer = replace(answer, response=caller.marked(answer.response))
        colony = self._fleet.get(colony_id)
        session = colony.session
        parked = session.status == "parked" and session.parked and session.parked.get("question_risk")
        if not session.live and not parked:
            raise Refusal(409, f"the colony is {session.status} and cannot take an answer; resume it first")
        question = check_meant(answer, colony.question)
        answer = replace(answer, questions=list(question.questions))
        made = decided(question, answer, self._fleet.change_moment(), colony.epoch)
        answered = replace(colony.with_decisions(made), question=None)
        with self._fleet.change() as change:
            if session.suspended:
                self._keep_answer(change, answered, answer)
            elif parked:
                change.put(answered)
            else:
                change.put(replace(answered, unheard_answers=(*answered.unheard_answers, answer)))
        if parked:
            self._go_on(self._fleet.get(colony_id), _told(answer))
        elif not session.suspended:
            await self._send(colony.id, answer.command())

    def _keep_answer(self, change: Change, colony: Colony, answer: Answer) -> None:
        """Keeps the answer of a colony that sleeps."""
        event = {
            "type": "question_answered",
            "question_id": answer.question_id,
            "answers": answer.answers,
            "response": answer.response or "",
        }
        change.append(colony.id, event, "user")
        pending = {"question_id": answer.question_id, "prompt": _told(answer), "answered_at": change.moment}
        change.put(replace(colony, session=replace(colony.session, pending_answer=pending)))

    # Messages

    async def message(self, colony_id: str, body: object, caller: Caller) -> tuple[int, dict[str, object]]:
        """The status and body of the reply: 200 for an agent that is there, 202 for a note to the next run.

        Raises:
            Refusal: 400, no message; 404, no colony; 409, nobody will read it.
        """
        message_id, text = _read_message(body)
        colony = self._fleet.get(colony_id)
        self._check_heard(colony)
        live = colony.session.live
        duplicate = self._fleet.store.knows_message_id(colony.id, message_id)
        if not duplicate:
            self._check_room(colony)
            text = caller.marked(text)
            with self._fleet.change() as change:
                change.remember_message(colony.id, message_id)
                if live:
                    note = Note(text, f"u-{message_id}")
                    change.put(replace(colony, unheard_messages=(*colony.unheard_messages, note)))
                else:
                    notes = (*(colony.session.pending_notes or ()), Note(text, message_id))
                    change.put_session(replace(colony.session, pending_notes=notes))
            if live:
                await self._send(colony.id, {"type": "user_message", "id": f"u-{message_id}", "text": text})
        pending = 0 if live else len(self._fleet.get(colony_id).session.pending_notes or ())
        reply: dict[str, object] = {"id": f"u-{message_id}", "duplicate": duplicate, "pending_notes": pending}
        return (200 if live else 202), reply

    def _check_heard(self, colony: Colony) -> None:
        status = colony.session.status
        if status in _NO_NEXT_RUN:
            hint = "; comment on the pull request instead" if status == "pr_opened" else ""
            raise Refusal(409, f"colony finished ({status}): the note would go nowhere{hint}")
        if status == "publishing":
            raise Refusal(409, "the colony is publishing and cannot take a message; retry once it has resumed")

    def _check_room(self, colony: Colony) -> None:
        waiting = len(colony.unheard_messages) + len(colony.session.pending_notes or ())
        if waiting >= UNREAD_LIMIT:
            raise Refusal(409, f"{waiting} messages wait already; the agent has to read them first")

    # Commands of the events socket

    async def command(self, colony_id: ColonyId, command: Mapping[str, object], caller: Caller) -> None:
        """Carries out what a client wrote to the events socket; what means nothing is ignored.

        Raises:
            Refusal: The colony cannot take it.
        """
        kind = command.get("type")
        if kind == "user_message":
            text = command.get("text")
            if isinstance(text, str) and text.strip() and len(text.encode("utf-8", "replace")) <= TEXT_LIMIT_BYTES:
                await self.message(colony_id, {"id": secrets.token_hex(4), "text": text}, caller)
        elif kind == "answer":
            await self.answer(colony_id, command, caller)
        elif kind == "interrupt":
            await self._send(colony_id, {"type": "interrupt"})
        elif kind == "set_model":
            model = command.get("model")
            if isinstance(model, str) and _MODEL.fullmatch(model):
                await self._send(colony_id, {"type": "set_model", "model": model})

    async def _send(self, colony: ColonyId, command: Mapping[str, object]) -> None:
        run = self._runs.of(colony)
        if run is not None:
            await run.send(command)


def _read_message(body: object) -> tuple[str, str]:
    fields = as_object(body) or {}
    message_id, text = fields.get("id"), fields.get("text")
    if not isinstance(message_id, str) or not isinstance(text, str) or not _MESSAGE_ID.fullmatch(message_id):
        raise Refusal(400, _MESSAGE_SHAPE)
    text = text.strip()
    if not text or len(text.encode("utf-8", "replace")) > TEXT_LIMIT_BYTES:
        raise Refusal(400, _MESSAGE_TEXT)
    return message_id, text


def _told(answer: Answer) -> str:
    lines = [_ANSWERED_ASLEEP]
    for question, choice in answer.answers.items():
        lines += [f"Q: {question}", f"A: {choice_words(choice)}"]
    return "\n".join([*lines, answer.response] if answer.response else lines)
