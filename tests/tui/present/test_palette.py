"""The palette's list: what is in it, in which order, and what is found."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from colonizer_client.snapshot import HubEvent, Snapshot, fold
from colonizer_tui.keys import ACTIONS, keymap
from colonizer_tui.present import palette
from colonizer_tui.present.fuzzy import Pattern
from colonizer_tui.present.line import width_of
from colonizer_tui.present.palette import BEST, Catalogue, Search
from colonizer_tui.present.states import Glyphs
from colonizer_tui.present.view import Digests, View
from moments import HQ, NOW, colony, every_state, silent

REASONS = {action.name: "" for action in ACTIONS} | {"resume": "it is running", "fold": "nothing here does that"}
WORKSPACES = ["Fleet", "Needs you", "Colony", "Kernel", "Connections"]


def view_of(*events: HubEvent) -> View:
    snapshot, topics = fold(Snapshot(), [*every_state(), *events])
    return Digests().view(snapshot, topics, NOW)


def catalogue(begins_with: str = "places", view: View | None = None) -> Catalogue:
    return Catalogue(begins_with, keymap({}), REASONS, view or view_of(), Glyphs())


def titles(needle: str, begins_with: str = "places") -> list[str]:
    listed = catalogue(begins_with)
    search = Search(listed, needle)
    search.step(len(listed))
    return [listed[place].title for place in search.best()]


def test_places_come_first_then_colonies_by_need_then_actions() -> None:
    shown = titles("")
    assert shown[:8] == [*WORKSPACES, "local", "hq", "lab"]
    assert shown[8:11] == ["Tried the same denied call", "Another workspace asks", "Choose how to release"]
    assert shown[-1] == "fold"


def test_actions_come_first_where_they_are_asked_for_and_what_does_nothing_now_last_of_them() -> None:
    listed = catalogue("actions")
    actions = [entry for entry in map(listed.__getitem__, range(len(listed))) if entry.kind == "action"]
    assert [listed[place].kind for place in range(len(actions))] == ["action"] * len(actions)
    assert [entry.reason for entry in actions if entry.reason] == ["it is running", "nothing here does that"]
    assert [bool(entry.reason) for entry in actions] == sorted(bool(entry.reason) for entry in actions)


def test_every_action_and_every_colony_is_there_once() -> None:
    view = view_of()
    listed = catalogue(view=view)
    entries = [listed[place] for place in range(len(listed))]
    named = [entry.name for entry in entries if entry.kind in ("action", "workspace")]
    colonies = [entry.colony for entry in entries if entry.colony is not None]
    assert sorted(named) == sorted(action.name for action in ACTIONS)
    assert (len(colonies), set(colonies)) == (len(view.snapshot.colonies), set(view.snapshot.colonies))


@pytest.mark.parametrize(
    ("needle", "first"),
    [
        ("needs", "Needs you"),
        ("conn", "Connections"),
        ("rocket", "Another workspace asks"),
        ("a1b2c3d4", "Greet the world"),
        ("widgets 325", "Greet the world"),
        ("notes", "Tidy the changelog"),
        ("hq", "hq"),
        ("stop", "stop"),
        ("quit", "quit"),
    ],
)
def test_what_is_meant_is_found_first(needle: str, first: str) -> None:
    assert titles(needle)[0] == first


def test_what_fits_alike_stays_in_its_order() -> None:
    shown = titles("acme/widgets")
    assert shown[:2] == ["Tried the same denied call", "Choose how to release"]


@given(st.text(alphabet="acehostw 12#", max_size=6), st.integers(1, 30))
def test_in_steps_the_same_is_found_as_at_once(needle: str, step: int) -> None:
    listed = catalogue()
    at_once, in_steps = Search(listed, needle), Search(listed, needle)
    at_once.step(len(listed))
    while not in_steps.is_done:
        in_steps.step(step)
    assert in_steps.best() == at_once.best()


@given(st.text(alphabet="acehostw 12#", min_size=1, max_size=6))
def test_typing_on_finds_the_same_as_typing_it_at_once(needle: str) -> None:
    listed = catalogue()
    typed = Search(listed, "")
    for end in range(1, len(needle) + 1):
        typed = typed.narrowed(needle[:end])
        typed.step(len(listed))
    at_once = Search(listed, needle)
    at_once.step(len(listed))
    assert typed.best() == at_once.best()


def test_of_very_many_only_the_best_are_kept() -> None:
    snapshot, _ = fold(Snapshot(), every_state())
    many = {one.key: one for one in (colony(f"{n:08x}", "running", 1, title=f"Task {n}") for n in range(1_000))}
    listed = catalogue(view=View(Snapshot(endpoints=snapshot.endpoints, colonies=many)))
    search = Search(listed, "task")
    search.step(len(listed))
    assert len(search.found) >= 1_000
    assert len(search.best()) == BEST
    assert listed[search.best()[0]].title == "Task 0"


@pytest.mark.parametrize("width", [20, 40, 70, 94, 160])
def test_each_row_fills_its_width(width: int) -> None:
    listed = catalogue(view=view_of(silent(HQ)))
    pattern = Pattern("e")
    for place in range(len(listed)):
        fit = pattern.fit(listed.folded_text(place))
        if fit is not None:
            assert width_of(palette.row(listed[place], fit, width)) == width


def test_the_letters_that_fit_are_marked_in_title_and_place() -> None:
    listed = catalogue()
    search = Search(listed, "greet widg")
    search.step(len(listed))
    [place] = search.best()
    row = palette.row(listed[place], search.fit(place), 94)
    assert [piece.text for piece in row if piece.role == "match"] == ["Greet", "widg"]


def test_an_action_that_does_nothing_now_says_why_in_the_place_of_what_it_does() -> None:
    listed = catalogue("actions")
    search = Search(listed, "resume")
    search.step(len(listed))
    row = palette.row(listed[search.best()[0]], search.fit(search.best()[0]), 80)
    assert "it is running" in "".join(piece.text for piece in row)
    assert {piece.role for piece in row if piece.text.strip() in ("it is running", "r")} == {"key-off"}
