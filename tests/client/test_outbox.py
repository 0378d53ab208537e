import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from msgspec.structs import replace

from client.hand_clock import HandClock
from client.samples import HQ, key, prompt, question
from colonizer_client.answers import Chosen, from_card
from colonizer_client.errors import OnItsWay, StoreError
from colonizer_client.identity import EndpointName
from colonizer_client.outbox import Delivery, Outbox
from colonizer_client.store import Store

ASKED = question("q-1", prompt("Which?", "a", "b", multi_select=True))
BODY = from_card(ASKED, [Chosen(("a", "b"), "more")])
OTHER_BODY = from_card(ASKED, [Chosen(("b",))])


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    opened = Store(tmp_path / "cockpit.db")
    yield opened
    opened.close()


@pytest.fixture
def outbox(store: Store) -> Outbox:
    return Outbox(store, HandClock())


def claimed(outbox: Outbox, delivery: Delivery) -> Delivery:
    mine = outbox.claim(delivery)
    assert mine is not None
    return mine


def test_what_is_put_in_is_there_after_a_restart_word_for_word(tmp_path: Path) -> None:
    first = Store(tmp_path / "cockpit.db")
    put = Outbox(first, HandClock()).put_answer(key(), ASKED, BODY)
    said = Outbox(first, HandClock()).put_message(key(), "hello \ud800")
    first.close()
    second = Store(tmp_path / "cockpit.db")
    answer, message = Outbox(second, HandClock()).unsettled(HQ)
    assert answer.id == put.id
    assert answer.answer().to_json() == BODY.to_json()
    assert (answer.kind, answer.state, answer.fingerprint, answer.text) == ("answer", "queued", ASKED.fingerprint, "")
    assert (message.id, message.kind, message.text, message.fingerprint) == (said.id, "message", "hello \ud800", "")
    second.close()


def test_an_answer_that_sends_no_questions_along_sends_none_later(outbox: Outbox) -> None:
    from colonizer_client.answers import AnswerBody

    bare = AnswerBody("q-1", {"Which?": "a"}, "a")
    assert outbox.put_answer(key(), ASKED, bare).answer().to_json() == bare.to_json()


def test_an_answer_is_not_one_to_the_same_question_asked_again_later(outbox: Outbox) -> None:
    first = replace(ASKED, asked_at=1_000.0)
    given = outbox.put_answer(key(), first, BODY)
    assert given.answers(first)
    assert given.answers(ASKED)  # when it was asked is not known yet
    assert not given.answers(replace(ASKED, asked_at=2_000.0))
    assert not given.answers(question("q-2", prompt("Which?", "a", "b", multi_select=True)))


def test_a_second_enter_is_the_first_one(outbox: Outbox) -> None:
    first = outbox.put_answer(key(), ASKED, BODY)
    assert outbox.put_answer(key(), ASKED, BODY) == first
    mine = claimed(outbox, first)
    assert outbox.put_answer(key(), ASKED, BODY).id == mine.id
    assert len(outbox.unsettled(HQ)) == 1


def test_another_answer_to_a_question_waits_until_the_first_is_settled(outbox: Outbox, store: Store) -> None:
    first = outbox.put_answer(key(), ASKED, BODY)
    other_face = Outbox(store, HandClock())
    with pytest.raises(OnItsWay):
        other_face.put_answer(key(), ASKED, OTHER_BODY)
    outbox.settle(claimed(outbox, first), "refused", "no")
    assert other_face.put_answer(key(), ASKED, OTHER_BODY).id != first.id


def test_answers_to_other_questions_and_messages_are_deliveries_of_their_own(outbox: Outbox) -> None:
    ids = {
        outbox.put_answer(key(), ASKED, BODY).id,
        outbox.put_answer(key("b"), ASKED, BODY).id,
        outbox.put_answer(key(), question("q-2"), BODY).id,
        outbox.put_message(key(), "same").id,
        outbox.put_message(key(), "same").id,
    }
    assert len(ids) == 5


def test_what_is_unsettled_comes_in_the_order_in_which_it_was_put_in(outbox: Outbox) -> None:
    put = [outbox.put_message(key(colony), text) for colony, text in (("a", "1"), ("b", "2"), ("a", "3"))]
    assert outbox.unsettled(HQ) == put
    assert outbox.unsettled(EndpointName("other")) == []
    assert outbox.next_for(key("a")) == put[0]
    outbox.settle(claimed(outbox, put[0]), "confirmed", "delivered")
    assert outbox.next_for(key("a")) == put[2]
    assert outbox.next_for(key("c")) is None


def test_a_delivery_is_claimed_by_one_face(outbox: Outbox, store: Store) -> None:
    put = outbox.put_message(key(), "x")
    mine = claimed(outbox, put)
    assert (mine.state, mine.attempts) == ("sending", 1)
    assert Outbox(store, HandClock()).claim(put) is None
    again = claimed(outbox, put)
    assert (again.state, again.attempts) == ("unsure", 1), "what became of our own, when its task was ended, is unknown"


def test_a_settled_or_unknown_delivery_is_nobodys(outbox: Outbox) -> None:
    put = outbox.put_message(key(), "x")
    outbox.settle(claimed(outbox, put), "confirmed", "delivered")
    assert outbox.claim(put) is None
    stored = outbox.get(put.id)
    assert stored is not None
    assert (stored.state, stored.words, stored.is_settled, stored.settled_at) == (
        "confirmed",
        "delivered",
        True,
        HandClock().time,
    )
    outbox_of_nothing = Delivery("unknown", key(), "message", {}, "queued")
    assert outbox.claim(outbox_of_nothing) is None
    assert outbox.get("unknown") is None


def test_what_was_not_sent_counts_as_no_attempt(outbox: Outbox, store: Store) -> None:
    put = outbox.put_message(key(), "x")
    back = outbox.take_back(claimed(outbox, put), "not there")
    assert (back.state, back.attempts, back.words) == ("queued", 0, "not there")
    again = outbox.put_back(claimed(outbox, back), "sent in vain")
    assert (again.state, again.attempts) == ("queued", 1)
    assert claimed(Outbox(store, HandClock()), again).attempts == 2, "another face may take what is queued"


def test_a_face_that_lost_a_delivery_cannot_settle_it(outbox: Outbox, store: Store) -> None:
    mine = claimed(outbox, outbox.put_message(key(), "x"))
    store.write(lambda db: db.execute("UPDATE outbox SET claimant = '1 1.00 gone'"))
    other_face = Outbox(store, HandClock())
    theirs = claimed(other_face, mine)
    assert theirs.state == "unsure"
    kept = outbox.settle(mine, "refused", "too late")
    assert (kept.state, kept.is_settled) == ("unsure", False)
    assert other_face.settle(theirs, "confirmed", "delivered").state == "confirmed"
    assert outbox.settle(mine, "refused", "too late").state == "confirmed"


@pytest.mark.parametrize("claimant", ["1 1.00 of-another-start", "999999999 1.00 x", "nonsense", "x y z", " "])
def test_what_a_face_that_is_gone_was_sending_is_unsure(outbox: Outbox, store: Store, claimant: str) -> None:
    put = outbox.put_message(key(), "x")
    claimed(outbox, put)
    store.write(lambda db: db.execute("UPDATE outbox SET claimant = ?", (claimant,)))
    mine = claimed(Outbox(store, HandClock()), put)
    assert (mine.state, mine.attempts) == ("unsure", 1)


def test_a_damaged_row_costs_no_other(outbox: Outbox, store: Store) -> None:
    damaged, whole = outbox.put_answer(key(), ASKED, BODY), outbox.put_message(key(), "x")
    store.write(lambda db: db.execute("UPDATE outbox SET body = '{not json' WHERE id = ?", (damaged.id,)))
    first, second = outbox.unsettled(HQ)
    assert (first.fingerprint, first.asked_at, first.answer().answers) == ("", None, {})
    assert second == whole


FACE = """
import sys
from pathlib import Path
from client.hand_clock import HandClock
from client.samples import HQ
from colonizer_client.outbox import Outbox
from colonizer_client.store import Store
outbox = Outbox(Store(Path(sys.argv[1])), HandClock())
for delivery in outbox.unsettled(HQ):
    mine = outbox.claim(delivery)
    print("none" if mine is None else mine.state, flush=True)
sys.stdin.read()
"""


def face(store: Store) -> "subprocess.Popen[str]":
    """A process that claims all that is in the outbox and then lives on, until it is killed or let go."""
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    return subprocess.Popen(
        [sys.executable, "-c", FACE, store.path],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        env=environment,
    )


def first_word(process: "subprocess.Popen[str]") -> str:
    assert process.stdout is not None
    return process.stdout.readline().strip()


def test_a_face_that_was_killed_between_claim_and_send_is_settled_by_the_next(outbox: Outbox, store: Store) -> None:
    put = outbox.put_answer(key(), ASKED, BODY)
    other = face(store)
    assert first_word(other) == "sending"
    assert outbox.claim(put) is None, "while it lives it is its own"
    assert outbox.put_answer(key(), ASKED, BODY).id == put.id
    other.send_signal(signal.SIGKILL)
    other.communicate(timeout=60)
    mine = claimed(outbox, put)
    assert (mine.state, mine.attempts) == ("unsure", 1)


def test_of_faces_that_claim_at_once_one_gets_it(outbox: Outbox, store: Store) -> None:
    outbox.put_message(key(), "x")
    faces = [face(store) for _ in range(4)]
    assert sorted(map(first_word, faces)) == ["none", "none", "none", "sending"]
    for other in faces:
        other.communicate(timeout=60)


def test_an_outbox_that_cannot_be_written_says_so_and_keeps_what_it_has(outbox: Outbox, store: Store) -> None:
    put = outbox.put_message(key(), "x")
    (pages,) = store.rows("PRAGMA page_count")[0]
    store.rows(f"PRAGMA max_page_count = {pages}")
    with pytest.raises(StoreError):
        outbox.put_message(key(), "y" * 100_000)
    assert outbox.unsettled(HQ) == [put]
