from hypothesis import given
from hypothesis import strategies as st

from colonizer_client.mothership.log import REMEMBERED, Place, Verdict


def taken(place: Place, *seqs: int, is_live: bool = True) -> list[Verdict]:
    return [place.judge(seq, float(seq), is_live=is_live) for seq in seqs]


def test_numbers_that_follow_each_other_are_taken() -> None:
    place = Place()
    assert taken(place, 1, 2, 3) == [Verdict.TAKE] * 3
    assert place.seq == 3


def test_what_was_had_is_dropped() -> None:
    place = Place()
    taken(place, 1, 2, 3)
    assert taken(place, 2, 3, 1, 3) == [Verdict.DROP] * 4
    assert place.seq == 3


def test_a_gap_is_asked_for_once_and_lost_when_it_stays() -> None:
    place = Place()
    taken(place, 1, 2)
    assert taken(place, 5) == [Verdict.GAP]
    assert place.seq == 2, "what comes after the gap comes again"
    assert taken(place, 5, 6) == [Verdict.LOST, Verdict.TAKE]
    assert place.missing == (3, 4)


def test_a_gap_that_is_filled_when_it_is_asked_for_leaves_no_trace() -> None:
    place = Place()
    assert taken(place, 1, 4) == [Verdict.TAKE, Verdict.GAP]
    assert taken(place, 2, 3, 4, 5, is_live=False) == [Verdict.TAKE] * 4
    assert place.missing is None
    assert taken(place, 8) == [Verdict.GAP], "a later gap is asked for again"


def test_a_hole_at_the_end_of_the_log_is_a_hole() -> None:
    place = Place()
    taken(place, 1, 2)
    assert place.replayed(2) is Verdict.TAKE
    assert place.replayed(0) is Verdict.TAKE
    assert place.replayed(4) is Verdict.GAP
    assert place.replayed(4) is Verdict.LOST
    assert (place.seq, place.missing) == (4, (3, 4))


def test_a_number_that_comes_with_another_time_is_of_a_log_that_began_anew() -> None:
    place = Place()
    taken(place, 1, 2, 3)
    assert place.judge(2, 99.0, is_live=True) is Verdict.RESTART
    assert place.judge(2, 99.0, is_live=False) is Verdict.RESTART


def test_an_old_number_among_live_events_is_of_a_log_that_began_anew() -> None:
    place = Place()
    taken(place, *range(1, REMEMBERED + 10))
    assert place.judge(1, 1.0, is_live=True) is Verdict.RESTART
    assert place.judge(1, 1.0, is_live=False) is Verdict.DROP


def test_what_is_remembered_of_a_log_does_not_grow_with_it() -> None:
    place = Place()
    taken(place, *range(1, 5 * REMEMBERED))
    assert len(place._times) == REMEMBERED  # pyright: ignore[reportPrivateUsage]  # the bound is the point


def test_another_run_begins_at_its_first_number() -> None:
    place = Place()
    assert place.start_run(1)
    taken(place, 1, 2)
    assert not place.start_run(1)
    assert place.seq == 2
    assert place.start_run(2)
    assert (place.epoch, place.seq, place.missing) == (2, 0, None)
    assert taken(place, 1) == [Verdict.TAKE]
    assert place.start_run(1), "an earlier number is another run too"


def test_a_page_of_history_begins_where_it_says() -> None:
    place = Place()
    place.start_at(301)
    assert taken(place, 301, 302) == [Verdict.TAKE] * 2
    place.start_at(1)
    assert place.seq == 302
    empty = Place()
    empty.start_at(0)
    assert taken(empty, 1) == [Verdict.TAKE]


@given(st.lists(st.integers(1, 30), max_size=60))
def test_what_is_taken_rises_and_every_hole_is_named(seqs: list[int]) -> None:
    place, had, lost = Place(), list[int](), set[int]()
    for seq in seqs:
        verdict = place.judge(seq, float(seq), is_live=False)
        if verdict is Verdict.LOST and place.missing is not None:
            lost |= set(range(place.missing[0], place.missing[1] + 1))
        if verdict in (Verdict.TAKE, Verdict.LOST):
            had.append(seq)
    assert had == sorted(set(had))
    assert set(had) | lost == set(range(1, place.seq + 1))
    assert not set(had) & lost
