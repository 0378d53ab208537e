from collections.abc import Iterator
from pathlib import Path

import pytest

from client.hand_clock import HandClock
from client.samples import key, prompt, question
from colonizer_client.answers import Chosen
from colonizer_client.drafts import Drafts
from colonizer_client.errors import StoreError
from colonizer_client.mothership import decode
from colonizer_client.store import Store

ASKED = question("q-1", prompt("One?", "a", "b"), prompt("Two?"))
CHOSEN = (Chosen(("a",), "because \ud800"), Chosen())


@pytest.fixture
def drafts(tmp_path: Path) -> Iterator[Drafts]:
    store = Store(tmp_path / "cockpit.db")
    yield Drafts(store, HandClock())
    store.close()


def test_a_message_is_kept_until_it_is_emptied(drafts: Drafts) -> None:
    assert drafts.message(key("a")) == ""
    drafts.keep_message(key("a"), "half a\nsent")
    drafts.keep_message(key("b"), "another")
    assert drafts.message(key("a")) == "half a\nsent"
    drafts.keep_message(key("a"), "")
    assert drafts.message(key("a")) == ""
    assert drafts.message(key("b")) == "another"


def test_a_card_is_kept_over_a_restart(tmp_path: Path) -> None:
    first = Store(tmp_path / "cockpit.db")
    Drafts(first, HandClock()).keep_card(key(), ASKED, CHOSEN)
    first.close()
    second = Store(tmp_path / "cockpit.db")
    drafts = Drafts(second, HandClock())
    assert drafts.card(key(), ASKED) == CHOSEN
    assert drafts.has_card(key(), ASKED)
    second.close()


def test_each_question_has_its_own_card(drafts: Drafts) -> None:
    drafts.keep_card(key(), ASKED, CHOSEN)
    another = question("q-1", prompt("One?", "a", "b"), prompt("Three?"))
    assert drafts.card(key(), another) == (Chosen(), Chosen())
    assert not drafts.has_card(key(), another)
    assert not drafts.has_card(key("other"), ASKED)


def test_a_card_that_was_emptied_or_delivered_is_forgotten(drafts: Drafts) -> None:
    drafts.keep_card(key(), ASKED, CHOSEN)
    drafts.keep_card(key(), ASKED, (Chosen(), Chosen()))
    assert not drafts.has_card(key(), ASKED)
    drafts.keep_card(key(), ASKED, CHOSEN)
    drafts.forget_card(key(), ASKED.fingerprint)
    assert not drafts.has_card(key(), ASKED)
    drafts.forget_card(key(), ASKED.fingerprint)


def test_a_card_has_one_entry_for_each_prompt_and_at_least_one(drafts: Drafts) -> None:
    drafts.keep_card(key(), ASKED, (Chosen(("a",)),))
    assert drafts.card(key(), ASKED) == (Chosen(("a",)), Chosen())
    bare = decode.open_question({"question_id": "q-2", "questions": []})
    assert drafts.card(key(), bare) == (Chosen(),)
    drafts.keep_card(key(), bare, (Chosen(other="go on"),))
    assert drafts.card(key(), bare) == (Chosen(other="go on"),)


@pytest.mark.parametrize(
    "body", ["{not json", "5", "[5, null, {}]", '[{"labels": "a", "other": 5}]', '{"labels": ["a"]}']
)
def test_a_damaged_draft_is_an_empty_one(drafts: Drafts, body: str) -> None:
    drafts.keep_message(key(), "x")
    drafts.keep_card(key(), ASKED, CHOSEN)
    drafts.store.write(lambda db: db.execute("UPDATE drafts SET body = ?", (body,)))
    assert drafts.card(key(), ASKED) == (Chosen(), Chosen())
    assert drafts.message(key()) == ""


def test_a_draft_that_cannot_be_kept_says_so(drafts: Drafts) -> None:
    drafts.store.rows("PRAGMA max_page_count = 1")
    with pytest.raises(StoreError):
        drafts.keep_message(key(), "x" * 100_000)
