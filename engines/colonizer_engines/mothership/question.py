"""Questions of agents: which one is open, what an answer looks like, what was decided before (spec 3.1, 4.2, 4.4)."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import msgspec

from colonizer_engines.mothership.errors import Refusal
from colonizer_engines.mothership.wire import as_array, as_object

RISKS = frozenset({"read_only", "workspace_write", "publish_affecting", "credential_adjacent"})

DECISIONS_KEPT = 50
"""How many decisions of a colony stay on record."""

ANSWER_SHAPE = 'expected {"question_id": str, "answers": {option: choice}, "response": str?} matching the open question'
NOTHING_PENDING = "no question is pending for this colony"
ANOTHER_QUESTION = (
    "the colony is asking a different question now; re-read GET /api/sessions/{id}/question and answer that one"
)


@dataclass(frozen=True, slots=True)
class OpenQuestion:
    """What an agent asked and nobody has answered or closed yet."""

    question_id: str
    risk: str
    questions: tuple[object, ...]
    """The prompts as they came: a server passes them through untouched."""
    holds_tool_call: bool
    """A tool call hangs on the answer, so the end of the turn closes it."""
    repeatable: bool
    """An earlier decision may answer it: nothing leaves the worktree by it, and it is about no command to run."""

    def wire(self) -> dict[str, object]:
        """The body of GET question."""
        return {"question_id": self.question_id, "risk": self.risk, "questions": self.questions}

    def prompts(self) -> tuple[Mapping[str, object], ...]:
        """The prompts that are objects, in order."""
        return tuple(prompt for prompt in map(as_object, self.questions) if prompt is not None)


@dataclass(frozen=True, slots=True)
class Answer:
    """A person's answer to one question card."""

    question_id: str
    answers: Mapping[str, object]
    response: str | None
    questions: Sequence[object] | None = None
    """The prompts that it was written for, where the client sent them."""

    def command(self) -> dict[str, object]:
        """The line that tells the agent (spec 8.3)."""
        return {
            "type": "answer",
            "question_id": self.question_id,
            "answers": self.answers,
            "response": self.response,
        }


@dataclass(frozen=True, slots=True)
class Decision:
    """One prompt that was decided, with the choice as it was sent."""

    question_id: str
    header: str
    question: str
    choice: object
    answered_at: str
    response: str | None = None
    run: int = 0
    """The number of the run in which it was decided, 0 where that is not known."""


def choice_words(choice: object) -> str:
    """A choice, or several, as one line of text."""
    labels = as_array(choice)
    return str(choice) if labels is None else ", ".join(str(label) for label in labels)


def asked(event: Mapping[str, object]) -> OpenQuestion | None:
    """The question that a `question` event opens, or None where the event is malformed."""
    question_id, prompts = event.get("question_id"), as_array(event.get("questions"))
    if not isinstance(question_id, str) or prompts is None:
        return None
    risk = _risk(event.get("risk"))
    about_command = event.get("kind") == "exec_policy"
    return OpenQuestion(
        question_id=question_id,
        risk=risk,
        questions=tuple(prompts),
        holds_tool_call=about_command or event.get("blocking") is True,
        repeatable=not about_command and risk in ("read_only", "workspace_write"),
    )


def closing(question: OpenQuestion, event: Mapping[str, object]) -> str | None:
    """Why the event closes the question: `said`, or the reason of a `question_closed` to write; None: it stays open."""
    kind = event.get("type")
    if kind in ("question_answered", "question_closed") and event.get("question_id") == question.question_id:
        return "said"
    if kind == "tool_result" and event.get("tool_call_id") == question.question_id:
        return "tool_resolved"
    if kind == "turn_end" and question.holds_tool_call:
        return "turn_end"
    return None


def read_answer(body: object) -> Answer:
    """The answer that a request's body holds.

    Raises:
        Refusal: 400, the body is not an answer.
    """
    fields = as_object(body) or {}
    question_id, response = fields.get("question_id"), fields.get("response")
    answers, questions = as_object(fields.get("answers")), as_array(fields.get("questions"))
    if not isinstance(question_id, str) or answers is None or not (response is None or isinstance(response, str)):
        raise Refusal(400, ANSWER_SHAPE)
    if questions is None and fields.get("questions") is not None:
        raise Refusal(400, ANSWER_SHAPE)
    return Answer(question_id, answers, response, questions)


def check_meant(answer: Answer, question: OpenQuestion | None) -> OpenQuestion:
    """The open question, which is the one that the answer was written for.

    Raises:
        Refusal: 409, nothing is open, or something else is asked.
    """
    if question is None:
        raise Refusal(409, NOTHING_PENDING)
    if answer.question_id != question.question_id:
        raise Refusal(409, ANOTHER_QUESTION)
    if answer.questions is not None and _canonical(answer.questions) != _canonical(question.questions):
        raise Refusal(409, ANOTHER_QUESTION)
    return question


def decided(question: OpenQuestion, answer: Answer, answered_at: str, run: int) -> tuple[Decision, ...]:
    """What the answer decides, one for each prompt that it names; a dismissal decides nothing."""
    return tuple(
        Decision(
            question.question_id,
            str(prompt.get("header") or ""),
            text,
            answer.answers[text],
            answered_at,
            answer.response,
            run,
        )
        for prompt in question.prompts()
        if (text := str(prompt.get("question") or "")) in answer.answers
    )


def answer_on_record(question: OpenQuestion, decisions: Sequence[Decision], run: int) -> Answer | None:
    """The answer that the decisions of earlier runs give to every prompt of the question, or None where one gives none.

    The record spares a person what an agent asks once more after it was resumed. It answers narrower than spec 8.4
    allows, where a header alone makes a prompt the same: the text has to be the same too, what was chosen has to be an
    option still, and in the very run in which it was decided nothing is repeated. Otherwise one yes would answer what
    nobody has seen, and an agent that takes no answer would be given the same one for ever.
    """
    prompts = question.prompts()
    if not question.repeatable or not prompts or len(prompts) != len(question.questions):
        return None
    answers: dict[str, object] = {}
    for prompt in prompts:
        text = str(prompt.get("question") or "")
        known = (d for d in reversed(decisions) if d.run < run and _is_about(d, prompt))
        found = next(known, None)
        if found is None or not _can_be_chosen(found.choice, prompt):
            return None
        answers[text] = found.choice
    # The published program answers from its record with an empty note, not with none.
    return Answer(question.question_id, answers, "")


def _is_about(decision: Decision, prompt: Mapping[str, object]) -> bool:
    asked_now = (str(prompt.get("header") or ""), str(prompt.get("question") or ""))
    return (decision.header, decision.question) == asked_now


def _can_be_chosen(choice: object, prompt: Mapping[str, object]) -> bool:
    """Whether every part of the choice is an option now; where there are none, words are."""
    options = [option.get("label") for option in map(as_object, as_array(prompt.get("options")) or ()) if option]
    chosen = as_array(choice)
    return not options or all(part in options for part in ([choice] if chosen is None else chosen))


def _risk(value: object) -> str:
    if value is None:
        return "workspace_write"
    return value if isinstance(value, str) and value in RISKS else "unknown"


def _canonical(prompts: Sequence[object]) -> bytes:
    return msgspec.json.encode(prompts, order="sorted")
