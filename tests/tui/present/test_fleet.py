"""The list of colonies: its orders, its columns at each width, and what a search finds."""

from collections.abc import Mapping
from typing import Any

import pytest
from msgspec.structs import replace

from colonizer_client.identity import EndpointName
from colonizer_client.mothership.models import Attention, Colony
from colonizer_client.snapshot import EndpointChanged, HubEvent, QuestionRead, Snapshot, Topics, fold
from colonizer_tui.present import fleet
from colonizer_tui.present.line import width_of
from colonizer_tui.present.states import Glyphs, look
from colonizer_tui.present.view import Digests, View
from moments import HQ, LAB, LOCAL, NOW, RELEASE, colony, endpoint, every_state, key_of, question, silent

MOUNTAIN = "A title that is longer than any column, 日本語 and 🚀 included, and that goes on and on and on"


def view_of(*events: HubEvent) -> View:
    snapshot, topics = fold(Snapshot(), events)
    return Digests().view(snapshot, topics, NOW)


def listed(*colonies: Colony) -> View:
    snapshot = Snapshot(endpoints={HQ: endpoint(HQ)}, colonies={one.key: one for one in colonies})
    return Digests().view(snapshot, Topics(endpoints=frozenset({HQ})), NOW)


def order_of(name: str, view: View) -> list[str]:
    return [str(key.colony) for key in fleet.in_order(name, view, view.snapshot.colonies.values())]


def shown(one: Colony, view: View, width: int = 80) -> str:
    return "".join(piece.text for piece in fleet.row(one, view, fleet.columns(width, view), Glyphs()))


def test_what_needs_a_person_comes_first_then_what_works_then_the_rest_by_its_last_change() -> None:
    view = listed(
        colony("rest-old", "merged", 30),
        colony("works-old", "running", 1, created_at=NOW - 900),
        colony("rest-new", "stopped", 20),
        colony("stalled", "running", 5, attention=Attention("stalled", NOW - 300)),
        colony("works-new", "publishing", 2, created_at=NOW - 800),
        colony("asks", "waiting_for_answer", 10),
        colony("held", "running", 1, attention=Attention("control_defeat", NOW - 60)),
        colony("failed", "failed", 50, unseen_failure=True),
    )
    assert order_of("state", view) == [
        "held", "asks", "failed", "stalled", "works-new", "works-old", "rest-new", "rest-old",
    ]  # fmt: skip


def test_questions_come_by_risk_and_then_the_oldest_first() -> None:
    asking = [colony(name, "waiting_for_answer", 5) for name in ("young", "old", "risky")]
    asked = [question(minutes=5), question(minutes=50), question(minutes=1, risk="publish_affecting")]
    events: list[HubEvent] = [
        EndpointChanged(endpoint(HQ)),
        *(QuestionRead(one.key, its) for one, its in zip(asking, asked, strict=True)),
    ]
    snapshot, _ = fold(replace(Snapshot(), colonies={one.key: one for one in asking}), events)
    view = Digests().view(snapshot, Topics(endpoints=frozenset({HQ})), NOW)
    assert order_of("state", view) == ["risky", "old", "young"]


def test_the_place_of_a_colony_that_works_does_not_change_with_each_sign_of_life() -> None:
    first, second = colony("1", "running", 3, created_at=NOW - 900), colony("2", "running", 1, created_at=NOW - 999)
    before = order_of("state", listed(first, second))
    assert order_of("state", listed(first, replace(second, last_activity_at=NOW))) == before == ["1", "2"]


@pytest.mark.parametrize(
    ("order", "expected"),
    [
        ("change", ["b", "c", "a"]),
        ("cost", ["c", "a", "b"]),
        ("host", ["c", "b", "a"]),  # by repository, then by issue
        ("title", ["a", "b", "c"]),
    ],
)
def test_a_chosen_order_is_by_one_thing(order: str, expected: list[str]) -> None:
    view = listed(
        colony("a", "idle", 30, cost_usd=0.0, title="alpha", repo="z/z"),
        colony("b", "merged", 10, cost_usd=None, title="Beta", repo="a/a", issue=12),
        colony("c", "running", 20, cost_usd=7.0, title="gamma", repo="a/a", issue=2),
    )
    assert order_of(order, view) == expected


@pytest.mark.parametrize("order", fleet.ORDERS)
def test_every_order_holds_every_colony_once(order: str) -> None:
    view = view_of(*every_state())
    keys = fleet.in_order(order, view, view.snapshot.colonies.values())
    assert sorted(keys) == sorted(view.snapshot.colonies)


@pytest.mark.parametrize("is_ascii", [False, True])
@pytest.mark.parametrize("hosts", [[LOCAL], [LOCAL, HQ, LAB], [EndpointName("a-host-with-a-long-name"), HQ]])
@pytest.mark.parametrize("width", [20, 28, 36, 39, 40, 50, 60, 65, 66, 80, 120, 200])
def test_no_row_is_wider_than_the_list(width: int, hosts: list[EndpointName], is_ascii: bool) -> None:
    one = colony("1", "no_changes", 90, host=hosts[0], title=MOUNTAIN, issue=123_456, repo="acme/a-very-long-name")
    view = view_of(*(EndpointChanged(endpoint(name)) for name in hosts))
    view = replace(view, snapshot=replace(view.snapshot, colonies={one.key: one}), longest_name=40)
    cols = fleet.columns(width, view)
    assert width_of(fleet.row(one, view, cols, Glyphs(is_ascii))) <= width
    assert width_of(fleet.caption(cols)) <= width + 1  # a row follows the mark of the selection


@pytest.mark.parametrize("width", [39, 50, 66, 80, 200])
def test_the_state_and_the_age_are_whole_from_the_smallest_terminal_on(width: int) -> None:
    view = view_of(*every_state())
    for one in view.snapshot.colonies.values():
        texts = [piece.text.strip() for piece in fleet.row(one, view, fleet.columns(width, view), Glyphs())]
        state, age = texts[-3:-1] if width >= 66 else texts[-2:]
        assert state == look(one, view.snapshot.questions.get(one.key)).word
        assert age[-1] in "smhd"


def test_a_column_stands_below_its_name() -> None:
    view = view_of(*every_state())
    cols = fleet.columns(80, view)
    caption = "".join(piece.text for piece in fleet.caption(cols))
    one = view.snapshot.colonies[key_of("a1b2c3d4")]
    row = shown(one, view)
    for name, text in (("host", "hq"), ("colony", "widgets #325"), ("title", "Greet"), ("state", "running")):
        assert caption.index(name) == row.index(text) + 1, name  # the row follows the mark of the selection
    assert caption.rstrip().endswith("$")
    assert row.endswith("0.42")


@pytest.mark.parametrize(
    ("cost", "text"),
    [
        (None, "—"),
        (0.0, "0.00"),
        (999.99, "999.99"),
        (1_234.56, "1,235"),
        (99_999.4, "99,999"),
        (123_456.0, "123k"),
        (12_345_678.0, "12346k"),
    ],
)
def test_a_cost_is_never_cut_into_another_number(cost: float | None, text: str) -> None:
    view = view_of(*every_state())
    one = replace(view.snapshot.colonies[key_of("a1b2c3d4")], cost_usd=cost)
    assert shown(one, view).split()[-1] == text


def test_one_host_needs_no_column() -> None:
    assert fleet.columns(80, view_of(EndpointChanged(endpoint(HQ)))).host == 0
    assert fleet.columns(80, view_of(EndpointChanged(endpoint(HQ)), EndpointChanged(endpoint(LAB)))).host == 3


def test_a_row_of_a_silent_host_says_how_it_was_last() -> None:
    view = view_of(*every_state(), silent(HQ))
    assert "asks 3" in shown(view.snapshot.colonies[RELEASE], view)


@pytest.mark.parametrize(
    ("one", "age"),
    [
        (colony("1", "running", 3), "3m"),
        (colony("1", "queued", 5), "15m"),
        (colony("1", "blocked", 5), "15m"),
        (colony("1", "idle", 30, last_activity_at=NOW - 20), "20s"),
        (colony("1", "running", 3, attention=Attention("stalled", NOW - 7_200)), "2h"),
        (colony("1", "merged", -10), "0s"),
    ],
)
def test_an_age_counts_from_what_a_person_wants_to_know(one: Colony, age: str) -> None:
    assert shown(one, listed(one), 60).split()[-1] == age


def test_ages_count_by_the_clock_of_the_host() -> None:
    one = colony("1", "merged", -1)
    behind = endpoint(HQ, skew_s=120.0)
    view = Digests().view(
        Snapshot(endpoints={HQ: behind}, colonies={one.key: one}), Topics(endpoints=frozenset({HQ})), NOW
    )
    assert shown(one, view, 60).split()[-1] == "1m"


FOUND: Mapping[str, Any] = {
    "issue": 325,
    "title": "Greet the World",
    "repo": "acme/widgets",
    "branch": "colonizer/issue-325-a1b2",
}


@pytest.mark.parametrize(
    "needle",
    ["greet", "the world", "widgets", "acme/w", "a1b2c3d4", "hq", "#325", "widgets #325", "issue-325", "pr open"],
)
def test_a_search_finds_what_the_row_shows(needle: str) -> None:
    assert needle in fleet.found_text(colony("a1b2c3d4", "pr_opened", 1, **FOUND))


@pytest.mark.parametrize("needle", ["greets", "#326", "lab", "running", "widgets #32 "])
def test_a_search_finds_nothing_else(needle: str) -> None:
    assert needle not in fleet.found_text(colony("a1b2c3d4", "pr_opened", 1, **FOUND))
