"""From what a person chose or typed to the body of an answer (spec 3.1, 7.3)."""

import re
from collections.abc import Mapping, Sequence

from colonizer_client.errors import NothingToAnswer, UnmatchedAnswer
from colonizer_client.mothership.models import OpenQuestion, Prompt
from colonizer_client.text import safe_line
from colonizer_config.value import Value

_UNSIGNED_64 = re.compile(r"\+?0*[0-9]{1,20}")
_UNSIGNED_64_LIMIT = 2**64


class AnswerBody(Value):
    """What `POST …/answer` takes. `answers` is keyed by the exact question texts."""

    question_id: str
    answers: Mapping[str, str | Sequence[str]]
    response: str | None = None
    questions: Sequence[object] | None = None
    """The questions it was written for, as they came; a server that asks something else by now refuses it."""

    def to_json(self) -> dict[str, object]:
        """The JSON object to send."""
        body: dict[str, object] = {
            "question_id": self.question_id,
            "answers": {text: value if isinstance(value, str) else list(value) for text, value in self.answers.items()},
            "response": self.response,
        }
        if self.questions is not None:
            body["questions"] = list(self.questions)
        return body


class Chosen(Value):
    """A person's answer to one prompt of a card: labels, and what they wrote under "something else"."""

    labels: tuple[str, ...] = ()
    other: str = ""

    @property
    def is_empty(self) -> bool:
        """Whether nothing was chosen or written."""
        return not self.labels and not self.other.strip()


def matched(question: OpenQuestion, text: str) -> AnswerBody:
    """The body for one line of text, matched against the first question as the plain command does (spec 7.3).

    Raises:
        NothingToAnswer: The question carries no questions.
        UnmatchedAnswer: Nothing, a number out of range, an ambiguous label, or free text for several questions.
    """
    if not question.prompts:
        raise NothingToAnswer("the pending question carries no questions; answer it in the cockpit")
    first, text = question.prompts[0], text.strip()
    if not text:
        raise UnmatchedAnswer("the answer is empty: nothing was sent")
    if _UNSIGNED_64.fullmatch(text) and int(text) < _UNSIGNED_64_LIMIT:
        number = int(text)
        if not 1 <= number <= len(first.options):
            raise UnmatchedAnswer(
                f"there is no option {number}; this question has {len(first.options)} — see `colonizer ask <id>`"
            )
        return _single(question, first, first.options[number - 1].label_raw.strip(), None)
    hits = [option.label_raw for option in first.options if _same_label(option.label_raw, text)]
    if len(hits) > 1:
        raise UnmatchedAnswer(f'"{safe_line(text)}" matches more than one option; use the option\'s number')
    if hits:
        return _single(question, first, hits[0].strip(), None)
    if len(question.prompts) > 1:
        raise UnmatchedAnswer(
            f"{len(question.prompts)} questions are pending and free text would answer only one of them; "
            "answer the others by number or label, or in the cockpit"
        )
    return _single(question, first, text, text)


def from_card(question: OpenQuestion, chosen: Sequence[Chosen]) -> AnswerBody:
    """The body for a whole card: every question answered, sent with the list it was written for.

    `chosen` has one entry for each prompt. Where two prompts have the same text the later answer stands, since the
    wire keys answers by text. A card without prompts is answered by the free text alone.

    Raises:
        UnmatchedAnswer: A prompt is not answered, or several labels are given to a single choice.
    """
    if not question.prompts:
        other = chosen[0].other.strip() if chosen else ""
        if not other:
            raise UnmatchedAnswer("the answer is empty")
        return AnswerBody(question.question_id, {}, other, question.raw)
    answers = {prompt.text_raw: _value(prompt, given) for prompt, given in zip(question.prompts, chosen, strict=True)}
    return AnswerBody(question.question_id, answers, None, question.raw)


def dismissal(question: OpenQuestion, words: str) -> AnswerBody:
    """The body that dismisses the whole card with a free reply."""
    return AnswerBody(question.question_id, {}, words.strip(), question.raw)


def _single(question: OpenQuestion, prompt: Prompt, value: str, response: str | None) -> AnswerBody:
    answer: str | Sequence[str] = (value,) if prompt.multi_select else value
    return AnswerBody(question.question_id, {prompt.text_raw: answer}, response)


def _value(prompt: Prompt, given: Chosen) -> str | Sequence[str]:
    other = given.other.strip()
    if given.is_empty:
        raise UnmatchedAnswer(f"not answered yet: {prompt.text or prompt.header or 'a question without a text'}")
    if prompt.multi_select:
        return (*given.labels, other) if other else given.labels
    if len(given.labels) + bool(other) > 1:
        raise UnmatchedAnswer(f"one answer only: {prompt.text or prompt.header}")
    return other or "".join(given.labels)


def _same_label(label: str, text: str) -> bool:
    return _ascii_lower(label.strip()) == _ascii_lower(text)


def _ascii_lower(text: str) -> str:
    return "".join(chr(ord(character) + 32) if "A" <= character <= "Z" else character for character in text)
