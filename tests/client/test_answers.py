import json
from typing import Any, cast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from client.samples import prompt, question
from colonizer_client.answers import Chosen, dismissal, from_card, matched
from colonizer_client.errors import NothingToAnswer, UnmatchedAnswer
from colonizer_client.mothership import decode
from recorded import questions

BASE = prompt("Which base?", "main", "  Dev  ", "7")
MANY = prompt("Which checks?", "unit", "lint", multi_select=True)


def sent(body: Any) -> dict[str, Any]:
    return cast("dict[str, Any]", json.loads(json.dumps(body.to_json())))


@pytest.mark.parametrize(
    ("text", "label"),
    [
        ("1", "main"), (" 2 ", "Dev"), ("+1", "main"), ("0001", "main"), ("3", "7"),
        ("MAIN", "main"), ("dEv", "Dev"), ("  dev ", "Dev"),
    ],
)  # fmt: skip
def test_a_number_or_a_whole_label_chooses_an_option(text: str, label: str) -> None:
    assert sent(matched(question("q-1", BASE), text)) == {
        "question_id": "q-1",
        "answers": {"Which base?": label},
        "response": None,
    }


@pytest.mark.parametrize("text", ["", "  \n"])
def test_nothing_is_no_answer(text: str) -> None:
    with pytest.raises(UnmatchedAnswer, match="the answer is empty: nothing was sent"):
        matched(question("q-1", BASE), text)


@pytest.mark.parametrize(
    "text", ["-1", "1.0", "18446744073709551616", "9" * 6000, "+", "1 2", "mai", "main branch", "ｄev", "１"]
)
def test_what_is_neither_is_free_text_for_a_single_question(text: str) -> None:
    assert sent(matched(question("q-1", BASE), f" {text} ")) == {
        "question_id": "q-1",
        "answers": {"Which base?": text},
        "response": text,
    }


@pytest.mark.parametrize(
    ("text", "number"), [("0", 0), ("4", 4), ("+4", 4), ("18446744073709551615", 2**64 - 1), ("007", 7)]
)
def test_a_number_out_of_range_is_an_error_in_the_published_words(text: str, number: int) -> None:
    with pytest.raises(UnmatchedAnswer) as caught:
        matched(question("q-1", BASE), text)
    assert str(caught.value) == f"there is no option {number}; this question has 3 — see `colonizer ask <id>`"


def test_a_bare_number_cannot_answer_a_question_without_options() -> None:
    with pytest.raises(UnmatchedAnswer, match="there is no option 1; this question has 0"):
        matched(question("q-1", prompt("Why?")), "1")


def test_an_ambiguous_label_is_an_error_in_the_published_words() -> None:
    twice = question("q-1", prompt("Which?", "Yes", " yes "))
    with pytest.raises(UnmatchedAnswer) as caught:
        matched(twice, "YES")
    assert str(caught.value) == '"YES" matches more than one option; use the option\'s number'
    assert sent(matched(twice, "2"))["answers"] == {"Which?": "yes"}


def test_the_label_is_compared_in_ascii_only() -> None:
    assert sent(matched(question("q-1", prompt("Which?", "É")), "é"))["response"] == "é"


def test_free_text_for_several_questions_is_an_error_in_the_published_words() -> None:
    with pytest.raises(UnmatchedAnswer) as caught:
        matched(question("q-1", BASE, MANY), "neither")
    assert str(caught.value) == (
        "2 questions are pending and free text would answer only one of them; "
        "answer the others by number or label, or in the cockpit"
    )
    assert sent(matched(question("q-1", BASE, MANY), "main"))["answers"] == {"Which base?": "main"}


def test_several_choices_get_a_list() -> None:
    assert sent(matched(question("q-1", MANY), "lint"))["answers"] == {"Which checks?": ["lint"]}
    assert sent(matched(question("q-1", MANY), "none")) == {
        "question_id": "q-1",
        "answers": {"Which checks?": ["none"]},
        "response": "none",
    }


def test_a_question_that_carries_none_cannot_be_matched() -> None:
    with pytest.raises(NothingToAnswer, match="the pending question carries no questions; answer it in the cockpit"):
        matched(decode.open_question({"question_id": "q-1", "questions": []}), "yes")


def test_a_hostile_text_is_safe_in_the_words_about_it() -> None:
    with pytest.raises(UnmatchedAnswer) as caught:
        matched(question("q-1", prompt("Which?", "\x1b[2J", "\x1b[2J")), "\x1b[2J")
    assert "\x1b" not in str(caught.value)


def test_a_card_answers_all_of_its_questions_at_once_with_the_list_as_it_came() -> None:
    asked = question("q-1", BASE, MANY, prompt("Why?"))
    body = sent(from_card(asked, [Chosen(("main",)), Chosen(("unit", "lint"), " more "), Chosen(other=" because ")]))
    assert body == {
        "question_id": "q-1",
        "answers": {"Which base?": "main", "Which checks?": ["unit", "lint", "more"], "Why?": "because"},
        "response": None,
        "questions": json.loads(json.dumps(asked.raw)),
    }


@pytest.mark.parametrize(
    ("chosen", "value"),
    [(Chosen(("main",)), "main"), (Chosen(other="trunk"), "trunk"), (Chosen(("  Dev  ",)), "  Dev  ")],
)
def test_a_single_choice_is_a_label_as_it_came_or_something_else(chosen: Chosen, value: str) -> None:
    assert sent(from_card(question("q-1", BASE), [chosen]))["answers"] == {"Which base?": value}


@pytest.mark.parametrize("chosen", [Chosen(), Chosen(other="  "), Chosen(("main",), "trunk"), Chosen(("main", "7"))])
def test_a_single_choice_takes_one_answer_no_more_and_no_less(chosen: Chosen) -> None:
    with pytest.raises(UnmatchedAnswer, match="Which base"):
        from_card(question("q-1", BASE), [chosen])


def test_a_card_with_an_unanswered_question_is_not_sent() -> None:
    with pytest.raises(UnmatchedAnswer, match="not answered yet: Which checks"):
        from_card(question("q-1", BASE, MANY), [Chosen(("main",)), Chosen()])


def test_two_questions_with_the_same_text_get_the_later_answer() -> None:
    body = from_card(question("q-1", prompt("Same?", "a"), prompt("Same?", "b")), [Chosen(("a",)), Chosen(("b",))])
    assert sent(body)["answers"] == {"Same?": "b"}


def test_repeated_labels_are_sent_as_they_were_chosen() -> None:
    twice = question("q-1", prompt("Which?", "x", "x", multi_select=True))
    assert sent(from_card(twice, [Chosen(("x", "x"))]))["answers"] == {"Which?": ["x", "x"]}


@pytest.mark.parametrize("prompts", [[], "none", [5]])
def test_a_card_without_questions_is_answered_by_free_text_alone(prompts: object) -> None:
    bare = decode.open_question({"question_id": "q-1", "questions": prompts})
    assert sent(from_card(bare, [Chosen(other=" go on ")])) == {
        "question_id": "q-1",
        "answers": {},
        "response": "go on",
        "questions": prompts if isinstance(prompts, list) else [],
    }
    for nothing in ([], [Chosen()], [Chosen(other=" ")]):
        with pytest.raises(UnmatchedAnswer):
            from_card(bare, nothing)


def test_a_card_can_be_dismissed_with_a_reply() -> None:
    body = sent(dismissal(question("q-1", BASE), " do something else "))
    assert (body["answers"], body["response"], len(body["questions"])) == ({}, "do something else", 1)


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=10,
)


@given(st.lists(JSON, max_size=4))
def test_whatever_the_questions_hold_goes_back_value_by_value(raw: list[object]) -> None:
    asked = decode.open_question(json.loads(json.dumps({"question_id": "q-1", "questions": raw})))
    body = from_card(asked, [Chosen(other="x")] * max(len(asked.prompts), 1))
    assert json.dumps(sent(body)["questions"]) == json.dumps(raw)


def test_recorded_questions_go_back_byte_for_byte() -> None:
    for raw in questions():
        asked = decode.open_question(raw)
        body = from_card(asked, [Chosen(other="x")] * len(asked.prompts))
        assert json.dumps(body.to_json()["questions"]) == json.dumps(raw["questions"])
