"""What is made of all colonies together, and when it is made anew."""

import time
from collections.abc import Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from colonizer_client.identity import EndpointName
from colonizer_client.mothership.models import Colony
from colonizer_client.snapshot import (
    ColonyChanged,
    ColonyRemoved,
    EndpointChanged,
    EndpointRemoved,
    Health,
    HubEvent,
    QuestionRead,
    Snapshot,
    fold,
)
from colonizer_tui.present.digest import colony_name
from colonizer_tui.present.view import Digests, View
from moments import HQ, LAB, LOCAL, NOW, ROCKET, ROCKET_QUESTION, colony, endpoint, every_state, key_of

HOUR = 3_600.0
STATES = ("running", "waiting_for_answer", "failed", "stopped", "merged", "queued")


class Watcher:
    """Sees each moment as the application does."""

    def __init__(self) -> None:
        self.snapshot = Snapshot()
        self.digests = Digests()

    def after(self, *events: HubEvent, now: float = NOW) -> View:
        self.snapshot, topics = fold(self.snapshot, events)
        return self.digests.view(self.snapshot, topics, now)


@pytest.fixture
def in_new_york(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setenv("TZ", "EST5")
    time.tzset()
    yield
    monkeypatch.undo()
    time.tzset()


def of_today(name: str, cost: float | None, *, hours: float = 1, **changes: object) -> ColonyChanged:
    return ColonyChanged(replace(colony(name, "running", 1), cost_usd=cost, created_at=NOW - hours * HOUR, **changes))


def test_money_is_what_the_colonies_of_today_cost() -> None:
    view = Watcher().after(
        EndpointChanged(endpoint(HQ)), of_today("1", 1.5), of_today("2", 0.25), of_today("3", 8.0, hours=13)
    )
    assert (view.cost_today_usd, view.cost_is_partial) == (1.75, False)


def test_an_unknown_cost_makes_the_sum_a_least_one() -> None:
    view = Watcher().after(EndpointChanged(endpoint(HQ)), of_today("1", 1.5), of_today("2", None))
    assert (view.cost_today_usd, view.cost_is_partial) == (1.5, True)


def test_an_unknown_cost_of_yesterday_does_not() -> None:
    view = Watcher().after(EndpointChanged(endpoint(HQ)), of_today("1", 1.5), of_today("2", None, hours=30))
    assert (view.cost_today_usd, view.cost_is_partial) == (1.5, False)


def test_today_begins_at_local_midnight(in_new_york: None) -> None:
    del in_new_york  # noon in UTC is seven in the morning there
    view = Watcher().after(EndpointChanged(endpoint(HQ)), of_today("1", 1.0, hours=6), of_today("2", 2.0, hours=8))
    assert view.cost_today_usd == 1.0


def test_at_midnight_the_money_begins_anew_though_nothing_else_happens() -> None:
    watcher = Watcher()
    watcher.after(EndpointChanged(endpoint(HQ)), of_today("1", 1.5))
    assert watcher.after(now=NOW + 11.9 * HOUR).cost_today_usd == 1.5
    assert watcher.after(now=NOW + 12.1 * HOUR).cost_today_usd == 0


def test_a_question_that_nobody_answered_grows_old_though_nothing_else_happens() -> None:
    watcher = Watcher()
    unanswered = colony("1", "failed", 71.5 * 60, error="abandoned_question", unseen_failure=True)
    view = watcher.after(EndpointChanged(endpoint(HQ)), ColonyChanged(unanswered))
    assert [need.urgency.name for need in view.needs] == ["UNSEEN_FAILURE"]
    view = watcher.after(now=NOW + 2 * HOUR)
    assert [need.urgency.name for need in view.needs] == ["OLD_QUESTIONS"]


def test_needs_stay_the_same_object_until_something_bears_on_them() -> None:
    watcher = Watcher()
    first = watcher.after(*every_state()).needs
    assert watcher.after(now=NOW + 1).needs is first
    assert watcher.after(ColonyChanged(colony("new", "running", 0, host=LAB)), now=NOW + 1).needs is first
    asking = colony("new", "waiting_for_answer", 0, host=LAB)
    assert asking.key in {need.colony.key for need in watcher.after(ColonyChanged(asking), now=NOW + 2).needs}


@given(st.lists(st.tuples(st.integers(0, 5), st.sampled_from(STATES), st.booleans(), st.integers(0, 90)), max_size=40))
def test_a_view_made_change_by_change_is_the_one_made_at_once(
    changes: list[tuple[int, str, bool, int]],
) -> None:
    events: list[HubEvent] = [EndpointChanged(endpoint(HQ))]
    watcher = Watcher()
    seen = watcher.after(*events)
    for number, status, is_there, minutes in changes:
        made = colony(
            f"c{number}", status, minutes, issue=number % 2 or None, unseen_failure=minutes > 40, cost_usd=minutes / 10
        )
        event = ColonyChanged(made) if is_there else ColonyRemoved(made.key)
        events.append(event)
        seen = watcher.after(event)
    at_once = Watcher().after(*events)
    assert set(seen.needs) == set(at_once.needs)
    assert [need.order for need in seen.needs] == [need.order for need in at_once.needs]
    assert seen.needs_of == at_once.needs_of
    assert round(seen.cost_today_usd, 6) == round(at_once.cost_today_usd, 6)
    assert (seen.cost_is_partial, seen.longest_name) == (at_once.cost_is_partial, at_once.longest_name)


def test_needs_of_all_hosts_are_in_one_order() -> None:
    view = Watcher().after(
        EndpointChanged(endpoint(HQ)),
        EndpointChanged(endpoint(LAB)),
        ColonyChanged(colony("old", "waiting_for_answer", 50, host=LAB)),
        ColonyChanged(colony("young", "waiting_for_answer", 5, host=HQ)),
        ColonyChanged(colony("older", "waiting_for_answer", 90, host=HQ)),
    )
    assert [need.colony.key.colony for need in view.needs] == ["older", "old", "young"]
    assert view.needs_of == {need.colony.key for need in view.needs}


def test_a_question_that_was_read_changes_the_order() -> None:
    watcher = Watcher()
    first = watcher.after(
        EndpointChanged(endpoint(HQ)),
        ColonyChanged(colony("910be000", "waiting_for_answer", 1)),
        ColonyChanged(colony("other", "waiting_for_answer", 50)),
    )
    assert first.needs[0].colony.key == key_of("other")
    assert watcher.after(QuestionRead(ROCKET, ROCKET_QUESTION)).needs[0].colony.key == ROCKET


def test_a_removed_host_takes_its_needs_and_its_money_along() -> None:
    watcher = Watcher()
    watcher.after(EndpointChanged(endpoint(HQ)), of_today("1", 1.5, status="waiting_for_answer"))
    view = watcher.after(EndpointRemoved(HQ))
    assert (view.needs, view.cost_today_usd, view.longest_name) == ((), 0, 0)


@pytest.mark.parametrize("health", [Health.SILENT, Health.SIGNED_OUT, Health.CONNECTING])
def test_what_cannot_be_answered_now_is_not_counted_but_stays(health: Health) -> None:
    watcher = Watcher()
    view = watcher.after(*every_state())
    everyone = view.answerable
    assert everyone == len(view.needs) == 5
    view = watcher.after(EndpointChanged(endpoint(HQ, health=health)))
    assert (view.answerable, len(view.needs)) == (1, 5)


@pytest.mark.parametrize(
    ("one", "name"),
    [
        (colony("1", "idle", 1, repo="acme/widgets", issue=12), "widgets #12"),
        (colony("1", "idle", 1, repo="acme/widgets"), "widgets"),
        (colony("1", "idle", 1, repo="widgets", issue=0), "widgets #0"),
        (colony("1", "idle", 1, repo=""), ""),
    ],
)
def test_a_colony_is_called_by_its_repository_and_issue(one: Colony, name: str) -> None:
    assert colony_name(one) == name


def test_the_time_of_a_host_is_its_own() -> None:
    view = Watcher().after(EndpointChanged(endpoint(HQ, skew_s=90.0)), EndpointChanged(endpoint(LAB, skew_s=1.9)))
    assert view.server_now(key_of("a", HQ)) == NOW + 90
    assert view.server_now(key_of("a", LAB)) == NOW
    assert view.server_now(key_of("a", LOCAL)) == NOW
    assert view.server_now(key_of("a", EndpointName("gone"))) == NOW
