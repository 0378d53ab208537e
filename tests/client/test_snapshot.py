from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from client.samples import HQ, colony, key, question
from colonizer_client.identity import ColonyId, ColonyKey, EndpointName
from colonizer_client.mothership.models import ColonyDetail, OpenQuestion
from colonizer_client.outbox import Delivery
from colonizer_client.snapshot import (
    DELIVERIES_KEPT,
    LATE_FRAME_S,
    READINGS_KEPT,
    ColoniesListed,
    ColonyChanged,
    ColonyRemoved,
    DeliveryChanged,
    DetailRead,
    DiffChanged,
    DiffState,
    EndpointChanged,
    EndpointRemoved,
    EndpointState,
    HubEvent,
    QuestionRead,
    Snapshot,
    Topics,
    TranscriptChanged,
    TranscriptState,
    fold,
)
from colonizer_client.transcript import Transcript

WAITING = colony("a", status="waiting_for_answer")
RUNNING = colony("a", status="running")


def after(*events: HubEvent, before: Snapshot | None = None) -> Snapshot:
    return fold(before or Snapshot(), events)[0]


def detail(of: str = "a") -> ColonyDetail:
    return ColonyDetail(colony(of), "", "", (), ())


def delivery(number: int, state: Any = "confirmed") -> Delivery:
    return Delivery(f"d{number}", key("a"), "message", {"text": "x"}, state)


def test_a_list_replaces_what_was_known_of_its_mothership_and_of_no_other() -> None:
    other = replace(colony("z"), key=ColonyKey(EndpointName("other"), ColonyId("z")))
    known = after(
        ColonyChanged(other),
        ColonyChanged(WAITING),
        QuestionRead(key("a"), question()),
        DetailRead(key("a"), detail()),
        DiffChanged(key("a"), DiffState()),
        TranscriptChanged(key("a"), TranscriptState(Transcript())),
    )
    snapshot, topics = fold(known, [ColoniesListed(HQ, (colony("b"),))])
    assert set(snapshot.colonies) == {other.key, key("b")}
    assert not (snapshot.questions)
    assert not (snapshot.details)
    assert not (snapshot.diffs)
    assert not (snapshot.transcripts)
    assert topics == Topics(colonies=frozenset({key("a"), key("b")}), opened=frozenset({key("a")}))


def test_a_removed_colony_takes_all_that_was_read_of_it_along() -> None:
    known = after(ColonyChanged(WAITING), QuestionRead(key("a"), question()), DetailRead(key("a"), detail()))
    snapshot, topics = fold(known, [ColonyRemoved(key("a"))])
    assert snapshot == Snapshot()
    assert key("a") in topics.colonies
    assert key("a") in topics.opened


def test_a_removed_endpoint_takes_its_colonies_along() -> None:
    known = after(EndpointChanged(EndpointState(HQ, "hq:7878")), ColonyChanged(RUNNING))
    snapshot, topics = fold(known, [EndpointRemoved(HQ)])
    assert snapshot == Snapshot()
    assert topics == Topics(frozenset({HQ}), frozenset({key("a")}), frozenset({key("a")}))


def test_what_changes_nothing_is_no_topic_and_the_same_snapshot() -> None:
    known = after(ColonyChanged(RUNNING))
    snapshot, topics = fold(
        known,
        [ColonyChanged(colony("a", status="running")), ColoniesListed(HQ, (RUNNING,)), QuestionRead(key("a"), None)],
    )
    assert snapshot is known
    assert not topics


@pytest.mark.parametrize(
    ("seconds", "is_taken"),
    [(0, True), (5, True), (-0.5, False), (1 - LATE_FRAME_S, False), (-LATE_FRAME_S, True), (-3600, True)],
)
def test_a_frame_that_another_socket_overtook_is_left_out_unless_the_clock_was_set_back(
    seconds: float, is_taken: bool
) -> None:
    late = replace(RUNNING, status="idle", updated_at=RUNNING.updated_at + seconds)
    assert (after(ColonyChanged(RUNNING), ColonyChanged(late)).colonies[key("a")].status == "idle") is is_taken


def test_a_list_is_always_taken() -> None:
    late = replace(RUNNING, status="idle", updated_at=RUNNING.updated_at - 1)
    assert after(ColonyChanged(RUNNING), ColoniesListed(HQ, (late,))).colonies[key("a")].status == "idle"


def test_a_question_shows_only_on_a_colony_that_may_ask() -> None:
    asks = QuestionRead(key("a"), question())
    assert after(ColonyChanged(WAITING), asks).questions == {key("a"): question()}
    assert after(ColonyChanged(WAITING), asks, QuestionRead(key("a"), None)).questions == {}
    assert after(ColonyChanged(WAITING), asks, ColonyChanged(RUNNING)).questions == {}
    assert after(ColonyChanged(RUNNING), asks).questions == {}, "it was on its way while the colony went on"
    assert after(asks).questions == {}, "of a colony that is gone"
    stopped = replace(WAITING, status="stopped")
    assert after(ColonyChanged(WAITING), asks, ColoniesListed(HQ, (stopped,))).questions == {}


def test_details_and_diffs_that_were_read_longest_ago_are_forgotten() -> None:
    names = [f"c{number}" for number in range(READINGS_KEPT + 3)]
    events: list[HubEvent] = [DetailRead(key(name), detail(name)) for name in names]
    events += [DiffChanged(key(name), DiffState()) for name in names]
    events.insert(READINGS_KEPT, DetailRead(key("c0"), detail("c0")))
    snapshot = after(*events)
    assert len(snapshot.details) == len(snapshot.diffs) == READINGS_KEPT
    assert key("c0") in snapshot.details
    assert key("c1") not in snapshot.details
    assert key("c0") not in snapshot.diffs
    assert key(names[-1]) in snapshot.diffs


def test_settled_deliveries_beyond_some_are_forgotten_and_unsettled_ones_never() -> None:
    open_ones = [delivery(number, "queued") for number in range(5)]
    settled = [delivery(number) for number in range(5, DELIVERIES_KEPT * 2)]
    snapshot, topics = fold(Snapshot(), [DeliveryChanged(each) for each in (*open_ones, *settled)])
    assert len(snapshot.deliveries) <= DELIVERIES_KEPT
    assert all(each.id in snapshot.deliveries for each in (*open_ones, settled[-1]))
    assert settled[0].id not in snapshot.deliveries
    assert topics.colonies == {key("a")}


def test_a_transcript_that_is_let_go_is_gone() -> None:
    known = after(TranscriptChanged(key("a"), TranscriptState(Transcript())))
    snapshot, topics = fold(known, [TranscriptChanged(key("a"), None)])
    assert snapshot.transcripts == {}
    assert topics.opened == {key("a")}


def test_an_endpoint_is_found_by_its_colony() -> None:
    state = EndpointState(HQ, "hq:7878")
    assert after(EndpointChanged(state)).endpoint_of(key("a")) is state
    assert Snapshot().endpoint_of(key("a")) is None


@pytest.mark.parametrize(("skew", "now"), [(None, 100.0), (0.5, 100.0), (-1.9, 100.0), (30.0, 130.0), (-30.0, 70.0)])
def test_times_are_by_the_servers_clock_where_it_differs(skew: float | None, now: float) -> None:
    assert EndpointState(HQ, "hq", skew_s=skew).server_now(100.0) == now


KEYS = st.sampled_from(["a", "b"])
QUESTIONS: st.SearchStrategy[OpenQuestion | None] = st.sampled_from([None, question("q-1"), question("q-2")])


def changed(of: str, status: str, at: float) -> HubEvent:
    return ColonyChanged(replace(colony(of, status=status), updated_at=at))


def followed(of: str, there: bool) -> HubEvent:
    return TranscriptChanged(key(of), TranscriptState(Transcript()) if there else None)


EVENTS: st.SearchStrategy[HubEvent] = st.one_of(
    st.builds(changed, KEYS, st.sampled_from(["running", "waiting_for_answer"]), st.sampled_from([100.0, 101.0])),
    KEYS.map(lambda of: ColonyRemoved(key(of))),
    st.lists(KEYS, unique=True).map(lambda ids: ColoniesListed(HQ, tuple(map(colony, ids)))),
    st.builds(QuestionRead, KEYS.map(key), QUESTIONS),
    KEYS.map(lambda of: DetailRead(key(of), detail(of))),
    st.builds(DiffChanged, KEYS.map(key), st.builds(DiffState, is_loading=st.booleans())),
    st.builds(followed, KEYS, st.booleans()),
    st.builds(delivery, st.integers(0, 3), st.sampled_from(["queued", "confirmed"])).map(DeliveryChanged),
    st.sampled_from(["", "down"]).map(lambda error: EndpointChanged(EndpointState(HQ, "hq", error=error))),
    st.just(EndpointRemoved(HQ)),
)


def tables(snapshot: Snapshot) -> list[dict[Any, Any]]:
    return [
        dict(table)
        for table in (
            snapshot.endpoints,
            snapshot.colonies,
            snapshot.questions,
            snapshot.details,
            snapshot.diffs,
            snapshot.transcripts,
            snapshot.deliveries,
        )
    ]


@given(st.lists(EVENTS, max_size=30), st.integers(0, 30))
def test_a_fold_changes_no_snapshot_and_folds_alike_in_one_go_and_in_two(events: list[HubEvent], at: int) -> None:
    middle, first = fold(Snapshot(), events[:at])
    kept = tables(middle)
    end, second = fold(middle, events[at:])
    assert tables(middle) == kept
    at_once, topics = fold(Snapshot(), events)
    assert tables(at_once) == tables(end)
    assert topics == first | second


@given(st.lists(EVENTS, max_size=30), st.lists(EVENTS, max_size=30))
def test_whatever_changed_is_in_the_topics(before: list[HubEvent], events: list[HubEvent]) -> None:
    known = after(*before)
    snapshot, topics = fold(known, events)

    def changed(old: Any, new: Any) -> set[Any]:
        return {name for name in {*old, *new} if old.get(name) != new.get(name)}

    assert changed(known.endpoints, snapshot.endpoints) <= topics.endpoints
    assert changed(known.colonies, snapshot.colonies) | changed(known.questions, snapshot.questions) <= topics.colonies
    opened = [
        (known.details, snapshot.details),
        (known.diffs, snapshot.diffs),
        (known.transcripts, snapshot.transcripts),
    ]
    assert set().union(*(changed(old, new) for old, new in opened)) <= topics.opened
    assert changed(known.deliveries, snapshot.deliveries) <= topics.deliveries
