"""A question's card: every shape of question, whole and unmistakable, at every width."""

from typing import Any

import pytest
from msgspec.structs import replace

from colonizer_client.answers import Chosen
from colonizer_client.mothership import decode
from colonizer_client.mothership.models import OpenQuestion
from colonizer_client.outbox import Delivery, Fate, State
from colonizer_tui.present import card
from colonizer_tui.present.card import Spot
from colonizer_tui.present.line import Line, width_of
from colonizer_tui.present.states import Glyphs
from moments import BRANCHES, CHECKS, NOW, RELEASE, THREE_QUESTIONS, TITLE, colony, prompt, question

GLYPHS = Glyphs()
NOTHING = Chosen()
LONG = "A rather long text that says what would come of it, with 日本語 and more of it than fits beside anything. " * 3


def asked(*prompts: dict[str, object]) -> OpenQuestion:
    return question(*prompts)


def optional(*labels: str) -> dict[str, object]:
    return prompt("Which one?", *labels)


SHAPES: dict[str, OpenQuestion] = {
    "three": THREE_QUESTIONS,
    "one choice": asked(BRANCHES),
    "several choices": asked(CHECKS),
    "free text": asked(TITLE),
    "no text": asked(prompt("", "a", "b")),
    "no text but a header": asked(prompt("", "a", "b", header="Base")),
    "nothing at all": asked({}),
    "blank lines first": asked(prompt("\n\n  Which?\nthis or that", "a"), TITLE),
    "one option": asked(optional("only")),
    "empty label": asked(optional("", "b")),
    "repeated labels": asked(optional("same", "same", "other")),
    "thirty options": asked(optional(*(f"option {number}" for number in range(30)))),
    "long texts": asked(
        {
            "question": LONG,
            "options": [{"label": LONG, "description": LONG, "preview": LONG}, {"label": "b", "description": LONG}],
        }
    ),
    "wide labels": asked(
        {"question": "どれ？", "options": [{"label": "日本語のラベル", "description": "説明"}, {"label": "英語"}]}
    ),
    "wrong types": decode.open_question(
        {"question_id": "q", "risk": 7, "questions": [{"question": 5, "options": [None, {"label": 5}, "x"]}, None, "x"]}
    ),
}


def shown(
    asks: OpenQuestion, place: int = 0, chosen: Chosen = NOTHING, spot: Spot | None = None, width: int = 76
) -> list[str]:
    return [text_of(row) for row in card.prompt_lines(asks, place, chosen, spot, width, GLYPHS)]


def text_of(row: Line) -> str:
    return "".join(piece.text for piece in row).rstrip()


@pytest.mark.parametrize("name", SHAPES)
def test_nothing_but_previews_is_wider_than_the_card(name: str) -> None:
    asks = SHAPES[name]
    for width in (20, 28, 36, 40, 56, 76, 100, 200):
        for place, one in enumerate(asks.prompts):
            for spot in (None, *(Spot(place, option) for option in range(len(one.options) + 1)), Spot(place + 1)):
                chosen = Chosen(tuple(option.label_raw for option in one.options[:2]), "in my own words " * 9)
                for row in card.prompt_lines(asks, place, chosen, spot, width, GLYPHS):
                    if not any(piece.role == "info" for piece in row):
                        assert width_of(row) <= max(width, 24), text_of(row)
        assert max(map(width_of, card.no_prompts_lines(width))) <= width


@pytest.mark.parametrize("name", SHAPES)
def test_a_card_of_any_shape_is_drawn_and_has_its_whole_text(name: str) -> None:
    asks = SHAPES[name]
    whole = card.whole_text(asks)
    for place, one in enumerate(asks.prompts):
        assert shown(asks, place)[0].strip()
        assert one.text in whole
        for option in one.options:
            assert option.label in whole
            assert option.description in whole


@pytest.mark.parametrize("width", [36, 56, 76, 120])
def test_the_labels_of_options_are_never_cut(width: int) -> None:
    labels = (
        "Use the database that is there already (postgres)",
        "Use the database that is there already (mysql)",
        "short",
    )
    for meaning in ("", LONG):
        options = [{"label": label, "description": meaning} for label in labels]
        rows = "".join(shown(asked({"question": "Which one?", "options": options}), width=width))
        assert all(label.replace(" ", "") in rows.replace(" ", "") for label in labels)


def test_wide_labels_are_whole_beside_what_they_mean() -> None:
    rows = shown(SHAPES["wide labels"])
    assert "日本語のラベル  説明" in rows[1]


def test_of_the_option_under_the_cursor_everything_is_shown() -> None:
    asks = SHAPES["long texts"]
    away, here = shown(asks), shown(asks, spot=Spot(0, 1))
    assert any(row.endswith("…") for row in away)
    assert "".join(here).replace(" ", "").count(LONG.replace(" ", "")) >= 2


def test_digits_stand_beside_options_only_in_an_open_card() -> None:
    asks = SHAPES["one choice"]
    assert shown(asks)[1:] == [
        "   ( ) · main      the default branch",
        "   ( ) · develop   next release",
        "   ( ) · something else…",
    ]
    assert shown(asks, spot=Spot())[1:] == [
        "  ▌( ) 1 main      the default branch", "   ( ) 2 develop   next release", "   ( ) 3 something else…",
    ]  # fmt: skip


def test_an_option_beyond_the_ninth_has_no_digit() -> None:
    rows = shown(SHAPES["thirty options"], spot=Spot(0, 29))
    assert rows[9] == "   ( ) 9 option 8"
    assert rows[10] == "   ( ) › option 9"
    assert rows[30] == "  ▌( ) › option 29"
    assert rows[31] == "   ( ) · something else…"


def test_what_is_chosen_is_marked_by_shape() -> None:
    assert shown(SHAPES["one choice"], chosen=Chosen(("develop",)))[2].startswith("   (•) ")
    assert shown(SHAPES["several choices"], chosen=Chosen(("unit", "2")))[2:] == [
        "   [x] · unit      fast", "   [ ] · lint      ruff", "   [x] · 2         a label that is a number",
        "   [ ] · something else…",
    ]  # fmt: skip
    assert shown(SHAPES["one choice"], chosen=Chosen((), "by hand"))[3] == "   (•) · something else…"


def test_in_ascii_nothing_that_tells_a_choice_is_beyond_it() -> None:
    rows = card.prompt_lines(SHAPES["one choice"], 0, Chosen(("main",)), Spot(), 76, Glyphs(ascii=True))
    assert all(text_of(row).removesuffix("…").isascii() for row in rows)
    assert text_of(rows[1]).startswith("  >(*) 1 main")


def test_of_several_questions_one_is_unfolded_and_the_others_are_a_line_with_their_answer() -> None:
    spot = Spot(1)
    assert shown(THREE_QUESTIONS, 0, Chosen(("develop",)), spot) == [
        "1 ✓ Which base branch?" + " " * 47 + "develop",
    ]  # fmt: skip
    assert shown(THREE_QUESTIONS, 1, NOTHING, spot)[:2] == ["2 ▸ Which checks should run?", "    choose any"]
    assert shown(THREE_QUESTIONS, 2, NOTHING, spot)[0].split() == [
        "3", "What", "should", "the", "title", "say?", "free", "text",
    ]  # fmt: skip


@pytest.mark.parametrize("width", [30, 40, 60])
def test_an_answer_leaves_room_for_its_question(width: int) -> None:
    (row,) = shown(THREE_QUESTIONS, 0, Chosen((), "a long answer in my own words, " * 5), Spot(1), width)
    assert row.startswith("1 ✓ Which b")


def test_the_first_words_stand_for_a_question_that_is_folded() -> None:
    assert shown(SHAPES["blank lines first"], 0, NOTHING, Spot(1))[0] == "1   Which?"


def test_a_preview_shows_at_its_option_only_and_its_end_is_told() -> None:
    many = {"label": "a", "preview": "\n".join(f"row {number}" for number in range(20))}
    asks = asked({"question": "Which?", "options": [many, {"label": "b"}]})
    assert not any("row 0" in row for row in shown(asks, spot=Spot(0, 1)))
    rows = shown(asks, spot=Spot(0, 0))
    assert [row.strip() for row in rows[2:11]] == [*(f"│ row {number}" for number in range(8)), "│ … v shows all"]


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({}, ["57 min · the agent waits for you", "workspace write"]),
        ({"is_blocking": True}, ["57 min · a tool call waits for it", "workspace write"]),
    ],
)
def test_the_head_says_who_waits_and_what_may_come_of_it(changes: dict[str, Any], words: list[str]) -> None:
    asks = replace(THREE_QUESTIONS, **changes)
    one = colony("5e6f7a8b", "waiting_for_answer", 57, issue=12, title="Choose")
    title, state, _ = card.heading(one, asks, 57 * 60, "", 76)
    assert text_of(title) == "hq · acme/widgets #12 · Choose"
    assert all(part in text_of(state) for part in words)
    assert width_of(state) == 76


def test_the_head_says_why_it_cannot_be_answered_in_one_line() -> None:
    state = card.heading(colony("a", "parked", 1), THREE_QUESTIONS, 1, "hq does not answer:\nno route", 76)[1]
    assert text_of(state).startswith("hq does not answer: no route")


@pytest.mark.parametrize(
    ("risk", "words", "role"),
    [
        ("read_only", "read only", "muted"),
        ("publish_affecting", "publish affecting", "attention"),
        ("credential_adjacent", "credential adjacent", "danger"),
        ("of_tomorrow", "unknown risk", "danger-strong"),
    ],
)
@pytest.mark.parametrize("width", [36, 76])
def test_the_risk_is_always_told_in_words(risk: str, words: str, role: str, width: int) -> None:
    state = card.heading(colony("a", "idle", 1), question(TITLE, risk=risk), 1, "a long refusal " * 9, width)[1]
    assert (state[-1].text, state[-1].role) == (words, role)


def delivery(state: State, words: str = "it said no") -> Delivery:
    settled: tuple[Fate, ...] = ("confirmed", "refused", "elsewhere", "undelivered")
    return Delivery(
        "d", RELEASE, "answer", {}, state, words, created_at=NOW, settled_at=NOW + 4 if state in settled else None
    )


@pytest.mark.parametrize("chosen", [[NOTHING], [Chosen(("main",))]])
@pytest.mark.parametrize(
    ("state", "words", "text"),
    [
        ("queued", "", "sending…"),
        ("sending", "", "sending…"),
        ("unsure", "no reply: asking again", "? no reply: asking again"),
        ("confirmed", "delivered", "✓ delivered 12:00:04"),
        ("confirmed", "it was resumed", "✓ delivered 12:00:04 · it was resumed"),
        ("refused", "something else is open", "✗ refused: something else is open (your draft is kept)"),
        ("elsewhere", "", "✗ answered elsewhere (your draft is kept)"),
        ("undelivered", "no reply", "? no reply (your draft is kept)"),
        ("refused", "line\nfeed\x1b[2J", "✗ refused: line feed␛[2J (your draft is kept)"),
    ],
)
def test_the_foot_tells_the_fate_of_what_was_sent_whatever_is_chosen(
    state: State, words: str, text: str, chosen: list[Chosen]
) -> None:
    for is_open in (True, False):
        assert text_of(card.footing(THREE_QUESTIONS, chosen, delivery(state, words), is_open)) == text


@pytest.mark.parametrize(
    ("chosen", "is_open", "text"),
    [
        ([NOTHING] * 3, False, ""),
        ([NOTHING] * 3, True, "0 of 3 answered"),
        ([Chosen((), "  ")] * 3, True, "0 of 3 answered"),
        ([Chosen(("main",)), NOTHING, NOTHING], True, "1 of 3 answered · draft kept · not sent"),
        ([Chosen(("main",)), NOTHING, NOTHING], False, "draft kept · not sent"),
        ([Chosen(("main",)), Chosen((), "x"), Chosen((), "y")], True, "3 of 3 answered · draft kept · not sent"),
    ],
)
def test_the_foot_of_a_draft_says_that_it_is_one(chosen: list[Chosen], is_open: bool, text: str) -> None:
    assert text_of(card.footing(THREE_QUESTIONS, chosen, None, is_open)) == text


def test_of_a_single_answer_no_count_is_told() -> None:
    assert text_of(card.footing(SHAPES["one choice"], [Chosen(("main",))], None, True)) == "draft kept · not sent"
