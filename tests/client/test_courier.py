from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from client.asked_mothership import AskedMothership
from client.hand_clock import HastyClock
from client.samples import HQ, key, prompt, question_body
from colonizer_client import courier as courier_module
from colonizer_client.answers import Chosen, dismissal, from_card
from colonizer_client.courier import ANSWER_ATTEMPTS, LATE_PAUSES_S, MESSAGE_ATTEMPTS, Courier, Record, whose
from colonizer_client.errors import ClientError, NoReply, SignInNeeded, StoreError, Unreachable
from colonizer_client.mothership import decode, wire
from colonizer_client.mothership.models import OpenQuestion
from colonizer_client.outbox import Delivery, Outbox
from colonizer_client.store import Store

pytestmark = pytest.mark.anyio

QUESTION = question_body("q-1", prompt("Which?", "a", "b"))


class Face:
    """A face with an outbox, a courier, and a note of all that it was told."""

    def __init__(self, store: Store) -> None:
        self.clock = HastyClock()
        self.outbox = Outbox(store, self.clock)
        self.told: list[Delivery] = []
        self.courier = Courier(self.outbox, self.told.append, self.clock)

    @property
    def states(self) -> list[str]:
        return [delivery.state for delivery in self.told]

    def answer(self, label: str = "a", body: dict[str, Any] = QUESTION, asked_at: float | None = None) -> Delivery:
        asked: OpenQuestion = decode.asked(decode.open_question(body), asked_at)
        return self.outbox.put_answer(key(), asked, from_card(asked, [Chosen((label,))] * len(asked.prompts)))


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    opened = Store(tmp_path / "cockpit.db")
    yield opened
    opened.close()


@pytest.fixture
def face(store: Store) -> Face:
    return Face(store)


@pytest.fixture
def mothership() -> AskedMothership:
    return AskedMothership(QUESTION)


def only(mothership: AskedMothership, route: str, *faults: str | None) -> None:
    """The first calls of one route fail so, one after the other; all others go well."""
    left = list(faults)
    mothership.fault = lambda method, asked: left.pop(0) if asked == route and left else None


# Answers.


async def test_an_answer_that_is_taken_is_confirmed(face: Face, mothership: AskedMothership) -> None:
    settled = await face.courier.deliver(face.answer(), mothership)
    assert (settled.state, settled.words) == ("confirmed", "delivered")
    assert face.states == ["sending", "confirmed"]
    assert [taken["answers"] for taken in mothership.taken] == [{"Which?": "a"}]
    assert mothership.asked == {"answer": 1}


@pytest.mark.parametrize("status", ["400", "403", "404", "422", "429"])
async def test_an_answer_that_is_refused_is_settled_with_the_servers_words(
    face: Face, mothership: AskedMothership, status: str
) -> None:
    only(mothership, "answer", status)
    settled = await face.courier.deliver(face.answer(), mothership)
    assert (settled.state, settled.words) == ("refused", "words")
    assert mothership.asked["answer"] == 1
    assert mothership.taken == []


async def test_an_answer_under_a_refused_token_waits_and_was_no_attempt(
    face: Face, mothership: AskedMothership
) -> None:
    put = face.answer()
    only(mothership, "answer", "401")
    with pytest.raises(SignInNeeded):
        await face.courier.deliver(put, mothership)
    assert face.states == ["sending", "queued"]
    settled = await face.courier.deliver(put, mothership)
    assert (settled.state, settled.attempts) == ("confirmed", 1)


async def test_an_answer_that_could_not_be_sent_waits_and_was_no_attempt(
    face: Face, mothership: AskedMothership
) -> None:
    put = face.answer()
    only(mothership, "answer", *["unsent"] * 5)
    for _ in range(5):
        with pytest.raises(Unreachable):
            await face.courier.deliver(put, mothership)
    settled = await face.courier.deliver(put, mothership)
    assert (settled.state, settled.attempts) == ("confirmed", 1)
    assert len(mothership.taken) == 1


@pytest.mark.parametrize("fault", ["reply lost", "500", "503"])
async def test_an_answer_whose_reply_is_lost_is_confirmed_by_the_record(
    face: Face, mothership: AskedMothership, fault: str
) -> None:
    if fault != "reply lost":
        mothership.before = lambda method, route: mothership.answered_elsewhere("a") if route == "question" else None
    only(mothership, "answer", fault)
    settled = await face.courier.deliver(face.answer(), mothership)
    assert (settled.state, settled.words) == ("confirmed", "the server has it on record")
    assert face.states == ["sending", "unsure", "confirmed"]
    assert (mothership.asked["answer"], len(mothership.taken)) == (1, 1)


@pytest.mark.parametrize("fault", ["request lost", "500", "302"])
async def test_an_answer_that_was_lost_is_sent_once_more_while_its_question_is_open(
    face: Face, mothership: AskedMothership, fault: str
) -> None:
    put = face.answer()
    only(mothership, "answer", fault)
    settled = await face.courier.deliver(put, mothership)
    assert (settled.state, settled.attempts) == ("confirmed", 2)
    assert (mothership.asked["answer"], len(mothership.taken)) == (2, 1)


async def test_an_answer_that_is_lost_twice_is_left_to_the_person(face: Face, mothership: AskedMothership) -> None:
    only(mothership, "answer", *["request lost"] * ANSWER_ATTEMPTS)
    settled = await face.courier.deliver(face.answer(), mothership)
    assert (settled.state, settled.attempts) == ("undelivered", ANSWER_ATTEMPTS)
    assert mothership.asked["answer"] == ANSWER_ATTEMPTS
    assert (await face.courier.deliver(face.answer(), mothership)).state == "confirmed", "the person may send it again"


async def test_an_answer_that_arrives_late_after_all_is_confirmed_though_its_repetition_is_refused(
    face: Face, mothership: AskedMothership
) -> None:
    only(mothership, "answer", "request lost")
    mothership.before = lambda method, route: mothership.answered_elsewhere("a") if route == "answer" else None
    settled = await face.courier.deliver(face.answer(), mothership)
    assert settled.state == "confirmed"
    assert len(mothership.taken) == 1


async def test_an_answer_that_arrives_after_it_was_given_up_twice_is_confirmed(
    face: Face, mothership: AskedMothership
) -> None:
    only(mothership, "answer", "request lost", "request lost")

    def arrive(method: str, route: str) -> None:
        if route == "question" and len(face.clock.pauses) == len(LATE_PAUSES_S) - 1:
            mothership.answered_elsewhere("a")

    mothership.before = arrive
    settled = await face.courier.deliver(face.answer(), mothership)
    assert (settled.state, len(mothership.taken)) == ("confirmed", 1)


async def test_an_answer_that_the_server_itself_failed_to_take_is_not_waited_for(
    face: Face, mothership: AskedMothership
) -> None:
    only(mothership, "answer", "500", "500")
    assert (await face.courier.deliver(face.answer(), mothership)).state == "undelivered"
    assert face.clock.pauses == []


@pytest.mark.parametrize("refusal", ["403", "429"])
async def test_an_answer_whose_repetition_is_refused_may_have_arrived_before(
    face: Face, mothership: AskedMothership, refusal: str
) -> None:
    only(mothership, "answer", "request lost", refusal)

    def arrive(method: str, route: str) -> None:
        if face.clock.pauses:
            mothership.answered_elsewhere("a")

    mothership.before = arrive
    settled = await face.courier.deliver(face.answer(), mothership)
    assert (settled.state, mothership.asked["answer"]) == ("confirmed", 2)


async def test_an_answer_whose_repetition_is_refused_and_that_never_arrives_is_refused(
    face: Face, mothership: AskedMothership
) -> None:
    only(mothership, "answer", "request lost", "429")
    settled = await face.courier.deliver(face.answer(), mothership)
    assert (settled.state, settled.words, mothership.taken) == ("refused", "words", [])


def asks_again_at_once(mothership: AskedMothership) -> None:
    """An answered question is asked anew, word by word and with its id."""

    def ask_again(method: str, route: str) -> None:
        if route == "question" and mothership.asked["question"] == 1:
            mothership.open = QUESTION

    mothership.before = ask_again


async def test_an_answer_that_was_taken_is_not_given_to_the_same_question_asked_again(
    face: Face, mothership: AskedMothership
) -> None:
    only(mothership, "answer", "reply lost")
    asks_again_at_once(mothership)
    settled = await face.courier.deliver(face.answer(asked_at=wire.moment(mothership.now())), mothership)
    assert (settled.state, mothership.asked["answer"], len(mothership.taken)) == ("confirmed", 1, 1)


async def test_whether_an_answer_was_taken_is_left_to_the_person_where_the_record_may_be_of_an_earlier_run(
    face: Face, mothership: AskedMothership
) -> None:
    only(mothership, "answer", "reply lost")
    asks_again_at_once(mothership)
    settled = await face.courier.deliver(face.answer(asked_at=None), mothership)
    assert (settled.state, mothership.asked["answer"], len(mothership.taken)) == ("undelivered", 1, 1)


@pytest.mark.parametrize("fault", [None, "reply lost", "request lost"])
async def test_an_answer_to_a_question_that_somebody_else_answered_went_elsewhere(
    face: Face, mothership: AskedMothership, fault: str | None
) -> None:
    put = face.answer("a")
    mothership.answered_elsewhere("b")
    only(mothership, "answer", fault)
    settled = await face.courier.deliver(put, mothership)
    assert (settled.state, settled.words) == ("elsewhere", "answered elsewhere")
    assert len(mothership.taken) == 1


@pytest.mark.parametrize("fault", [None, "reply lost", "request lost"])
async def test_an_answer_never_reaches_the_question_that_took_the_place_of_its_own(
    face: Face, mothership: AskedMothership, fault: str | None
) -> None:
    put = face.answer("a")
    mothership.open = question_body("q-1", prompt("Delete everything?", "a", "b"))
    only(mothership, "answer", fault)
    settled = await face.courier.deliver(put, mothership)
    assert settled.state == "refused"
    assert "different question" in settled.words or "no longer asked" in settled.words
    assert mothership.taken == []
    assert mothership.open is not None


async def test_an_answer_to_a_question_that_was_only_closed_is_refused(face: Face, mothership: AskedMothership) -> None:
    put = face.answer("a")
    mothership.open = None
    settled = await face.courier.deliver(put, mothership)
    assert (settled.state, settled.words) == ("refused", "no question is pending for this colony")
    assert face.clock.pauses == [courier_module.RECORD_DELAY_S]


async def test_an_answer_to_a_stopped_colony_is_refused_in_the_servers_words(
    face: Face, mothership: AskedMothership
) -> None:
    mothership.status = "stopped"
    settled = await face.courier.deliver(face.answer(), mothership)
    assert (settled.state, settled.words) == (
        "refused",
        "the colony is stopped and cannot take an answer; resume it first",
    )


async def test_a_record_that_comes_a_moment_after_the_question_closed_is_waited_for(
    face: Face, mothership: AskedMothership
) -> None:
    only(mothership, "answer", "reply lost")

    def late(method: str, route: str) -> None:
        if route == "question" and mothership.asked["question"] == 1:
            mothership.records, kept[:] = [], mothership.records
        elif route == "session" and mothership.asked["session"] == 2:
            mothership.records = kept

    kept: list[dict[str, Any]] = []
    mothership.before = late
    settled = await face.courier.deliver(face.answer(), mothership)
    assert settled.state == "confirmed"
    assert mothership.asked["session"] == 2


@pytest.mark.parametrize("route", ["answer", "question", "session"])
async def test_an_answer_to_a_colony_that_is_gone_is_refused(
    face: Face, mothership: AskedMothership, route: str
) -> None:
    only(mothership, "answer", "reply lost")

    def go(method: str, asked: str) -> None:
        mothership.is_gone = mothership.is_gone or asked == route

    mothership.before = go
    settled = await face.courier.deliver(face.answer(), mothership)
    assert settled.state == "refused"
    assert settled.words == "the colony is gone"


@pytest.mark.parametrize("route", ["question", "session"])
@pytest.mark.parametrize(
    ("fault", "error"), [("unsent", Unreachable), ("reply lost", NoReply), ("401", SignInNeeded), ("500", ClientError)]
)
async def test_an_answer_whose_fate_cannot_be_asked_stays_unsure_and_is_asked_for_later(
    face: Face, mothership: AskedMothership, route: str, fault: str, error: type[ClientError]
) -> None:
    put = face.answer()
    left = {"answer": "reply lost", route: fault}
    mothership.fault = lambda method, asked: left.pop(asked, None)
    with pytest.raises(error):
        await face.courier.deliver(put, mothership)
    assert face.states[-1] == "unsure"
    settled = await face.courier.deliver(put, mothership)
    assert (settled.state, len(mothership.taken)) == ("confirmed", 1)


async def test_a_dismissal_that_may_have_arrived_is_left_to_the_person_since_no_record_tells(
    face: Face, mothership: AskedMothership
) -> None:
    asked = decode.open_question(QUESTION)
    put = face.outbox.put_answer(key(), asked, dismissal(asked, "something else"))
    only(mothership, "answer", "reply lost")
    settled = await face.courier.deliver(put, mothership)
    assert settled.state == "undelivered"
    assert "not on the server's record" in settled.words


async def test_an_id_that_no_request_can_hold_is_refused_unsent(face: Face, mothership: AskedMothership) -> None:
    asked = decode.open_question(QUESTION)
    put = face.outbox.put_answer(key("../tokens"), asked, from_card(asked, [Chosen(("a",))]))
    assert (await face.courier.deliver(put, mothership)).state == "refused"
    assert not mothership.asked


async def test_a_delivery_of_another_face_is_reported_as_it_stands(store: Store, mothership: AskedMothership) -> None:
    first, second = Face(store), Face(store)
    put = first.answer()
    assert first.outbox.claim(put) is not None
    theirs = await second.courier.deliver(put, mothership)
    assert (theirs.state, second.states) == ("sending", ["sending"])
    assert not mothership.asked


async def test_a_store_that_fails_after_the_send_loses_no_answer(
    face: Face, store: Store, mothership: AskedMothership
) -> None:
    put = face.answer()

    def break_down(method: str, route: str) -> None:
        if route == "answer":
            store.rows("PRAGMA query_only = 1")

    mothership.before = break_down
    with pytest.raises(StoreError):
        await face.courier.deliver(put, mothership)
    store.rows("PRAGMA query_only = 0")
    settled = await face.courier.deliver(put, mothership)
    assert (settled.state, len(mothership.taken), mothership.asked["answer"]) == ("confirmed", 1, 1)


# Messages.


async def test_a_message_is_delivered_under_its_own_id(face: Face, mothership: AskedMothership) -> None:
    put = face.outbox.put_message(key(), "hello")
    assert (await face.courier.deliver(put, mothership)).words == "delivered"
    assert mothership.said == [(put.id, "hello")]


@pytest.mark.parametrize("fault", ["reply lost", "request lost", "500", "302"])
async def test_a_message_whose_reply_is_lost_is_sent_again_and_arrives_once(
    face: Face, mothership: AskedMothership, fault: str
) -> None:
    put = face.outbox.put_message(key(), "hello")
    only(mothership, "messages", fault, fault)
    states = [(await face.courier.deliver(put, mothership)).state for _ in range(3)]
    assert states == ["queued", "queued", "confirmed"]
    assert mothership.said == [(put.id, "hello")]


async def test_a_message_that_never_gets_a_reply_is_given_up(face: Face, mothership: AskedMothership) -> None:
    put = face.outbox.put_message(key(), "hello")
    only(mothership, "messages", *["request lost"] * 50)
    states = [(await face.courier.deliver(put, mothership)).state for _ in range(MESSAGE_ATTEMPTS)]
    assert states == ["queued"] * (MESSAGE_ATTEMPTS - 1) + ["undelivered"]


@pytest.mark.parametrize("status", ["400", "403", "404", "409", "413"])
async def test_a_message_that_is_refused_is_settled_with_the_servers_words(
    face: Face, mothership: AskedMothership, status: str
) -> None:
    only(mothership, "messages", status)
    settled = await face.courier.deliver(face.outbox.put_message(key(), "hello"), mothership)
    assert (settled.state, settled.words) == ("refused", "words")


async def test_a_message_of_a_face_that_died_is_sent_again_and_arrives_once(
    store: Store, mothership: AskedMothership
) -> None:
    first, second = Face(store), Face(store)
    put = first.outbox.put_message(key(), "hello")
    only(mothership, "messages", "reply lost")
    mine = first.outbox.claim(put)
    assert mine is not None
    store.write(lambda db: db.execute("UPDATE outbox SET claimant = '1 1.00 gone'"))
    assert (await second.courier.deliver(put, mothership)).state == "queued"
    assert (await second.courier.deliver(put, mothership)).state == "confirmed"
    assert mothership.said == [(put.id, "hello")]


async def test_a_message_that_is_kept_for_the_next_run_says_so(face: Face) -> None:
    async def ask(call: Any, /) -> Any:
        from colonizer_client.mothership.replies import Reply

        return call.read(Reply(202, b'{"id": "x", "duplicate": false, "pending_notes": 2}'))

    settled = await face.courier.deliver(face.outbox.put_message(key(), "hello"), ask)
    assert (settled.state, settled.words) == ("confirmed", "kept as a note for its next run")


# The record.


def detail(*records: dict[str, Any]) -> Any:
    return decode.detail(HQ, {"id": "c0ffee00", "answered_questions": list(records)})


def record(question_id: str, text: str, answer: object, at: str = "2026-11-30T12:00:00Z") -> dict[str, Any]:
    return {"question_id": question_id, "question": text, "answer": answer, "answered_at": at}


@pytest.mark.parametrize(
    ("records", "found"),
    [
        ([], Record.NONE),
        ([record("q-2", "Which?", "a")], Record.NONE),
        ([record("q-1", "Which?", "a")], Record.OURS),
        ([record("q-1", "Which?", "b")], Record.ANOTHER),
        ([record("q-1", "Which?", ["a"])], Record.ANOTHER),
        ([record("q-1", "Another?", "a")], Record.ANOTHER),
        ([record("q-1", "Which?", "a", "2026-11-30T11:59:00Z")], Record.NONE),
        ([record("q-1", "Which?", "b", "2026-11-30T11:59:00Z"), record("q-1", "Which?", "a")], Record.OURS),
        ([record("q-1", "Which?", "a"), record("q-1", "Which?", "b")], Record.OURS),
        ([record("q-1", "Which?", "b"), record("q-1", "Which?", "a")], Record.ANOTHER),
        ([record("q-1", "Which?", "a", "not a time")], Record.OURS),
        ([record("q-1", "Other?", "x"), record("q-1", "Which?", "a")], Record.OURS),
    ],
)  # fmt: skip
async def test_ours_is_the_same_question_with_the_same_values_since_it_was_asked(
    face: Face, records: list[dict[str, Any]], found: Record
) -> None:
    noon = wire.moment("2026-11-30T12:00:00Z")
    assert whose(face.answer("a", asked_at=noon), detail(*records)) is found


async def test_the_newest_answer_counts_where_it_is_not_known_when_the_question_was_asked(face: Face) -> None:
    put, records = face.answer("a"), [record("q-1", "Which?", "b"), record("q-1", "Which?", "a")]
    assert whose(put, detail(*records)) is Record.OURS
    assert whose(put, detail(*reversed(records))) is Record.ANOTHER


async def test_several_questions_are_ours_only_together(face: Face) -> None:
    both = question_body("q-1", prompt("One?", "a"), prompt("Two?", "a", multi_select=True))
    put = face.answer("a", both)
    assert whose(put, detail(record("q-1", "One?", "a"), record("q-1", "Two?", ["a"]))) is Record.OURS
    assert whose(put, detail(record("q-1", "One?", "a"))) is Record.ANOTHER
    assert whose(put, detail(record("q-1", "One?", "a"), record("q-1", "Two?", ["b"]))) is Record.ANOTHER
