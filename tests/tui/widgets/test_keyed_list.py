"""A list whose selection stays on its row, whatever happens around it."""

from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from colonizer_tui.widgets.keyed_list import KeyedList
from tui.widgets.bare import Bare, Names, on_screen

pytestmark = pytest.mark.anyio
TEN = tuple("abcdefghij")


class Noted(Bare):
    """Notes what a list tells."""

    def on_keyed_list_moved(self, event: KeyedList.Moved) -> None:
        self.said.append(("moved", event.list.selected))

    def on_keyed_list_opened(self, event: KeyedList.Opened) -> None:
        self.said.append(("opened", event.list.selected))


@pytest.mark.parametrize(
    "after",
    [
        ("x", "y", *TEN),
        tuple(reversed(TEN)),
        ("e",),
        ("a", "e", "j"),
        (*TEN, "z"),
    ],
)
async def test_the_selection_stays_on_its_row(after: Sequence[str]) -> None:
    names = Names()
    async with Bare(names).run_test(size=(20, 5)):
        names.set_keys(TEN)
        names.select("e")
        names.set_keys(after)
        assert (names.selected, names.keys[names.cursor]) == ("e", "e")
        assert names.top <= names.cursor < names.top + names.page


@pytest.mark.parametrize(
    ("after", "selected"),
    [(("a", "b", "c", "d", "f", "g"), "f"), (("a", "b"), "b"), (("x", "y", "z", "a", "b"), "b")],
)
async def test_where_the_selected_row_is_gone_the_one_in_its_place_is_selected(
    after: Sequence[str], selected: str
) -> None:
    names = Names()
    app = Noted(names)
    async with app.run_test(size=(20, 5)) as pilot:
        names.set_keys(TEN)
        names.select("e")
        await pilot.pause()
        app.said.clear()
        names.set_keys(after)
        await pilot.pause()
        assert names.selected == selected
        assert app.said == [("moved", selected)]


async def test_nothing_is_told_where_only_rows_around_the_selection_change() -> None:
    names = Names()
    app = Noted(names)
    async with app.run_test(size=(20, 5)) as pilot:
        names.set_keys(TEN)
        names.select("e")
        await pilot.pause()
        app.said.clear()
        names.set_keys(("x", *TEN, "y"))
        await pilot.pause()
        assert app.said == []


async def test_the_rows_in_sight_stay_where_they_are_when_rows_come_in_above() -> None:
    names = Names()
    app = Bare(names)
    async with app.run_test(size=(20, 4)) as pilot:
        names.set_keys(TEN)
        names.select("f")
        await pilot.pause()
        before = on_screen(pilot)
        names.set_keys(("x", "y", *TEN))
        await pilot.pause()
        assert [row.rstrip("┃ ") for row in on_screen(pilot)] == [row.rstrip("┃ ") for row in before]


async def test_an_emptied_list_has_no_selection_and_takes_the_first_row_later() -> None:
    names = Names()
    app = Bare(names)
    async with app.run_test(size=(20, 5)) as pilot:
        names.set_keys(TEN)
        names.select("e")
        names.set_keys(())
        await pilot.pause()
        assert (names.selected, names.cursor, on_screen(pilot)) == (None, 0, [""] * 5)
        names.do_down()
        names.do_last()
        assert names.selected is None
        names.set_keys(TEN)
        assert names.selected == "a"


async def test_a_row_that_is_not_there_is_not_selected() -> None:
    names = Names()
    async with Bare(names).run_test(size=(20, 5)):
        names.set_keys(TEN)
        assert names.select("z") is False
        assert names.selected == "a"


async def test_moving_stops_at_both_ends() -> None:
    names = Names()
    async with Bare(names).run_test(size=(20, 4)):
        names.set_keys(TEN)
        moves: list[str | None] = []
        for step in (
            names.do_up, names.do_down, names.do_page_down, names.do_last, names.do_down, names.do_page_up,
            names.do_first, names.do_page_up,
        ):  # fmt: skip
            step()
            moves.append(names.selected)
        assert moves == ["a", "b", "e", "j", "j", "g", "a", "a"]


async def test_the_selection_is_in_sight_after_the_window_became_smaller() -> None:
    names = Names()
    async with Bare(names).run_test(size=(20, 10)) as pilot:
        names.set_keys(TEN)
        names.select("i")
        await pilot.resize_terminal(20, 4)
        await pilot.pause()
        assert names.selected == "i"
        assert names.top <= names.cursor < names.top + names.page


async def test_a_click_selects_and_a_second_one_opens() -> None:
    names = Names()
    app = Noted(names)
    async with app.run_test(size=(20, 5)) as pilot:
        names.set_keys(TEN)
        names.top = 3
        await pilot.pause()
        await pilot.click(names, offset=(2, 1))
        assert names.selected == "e"
        app.said.clear()
        await pilot.click(names, offset=(2, 1), times=2)
        await pilot.pause()
        assert app.said == [("opened", "e")]


async def test_a_click_below_the_last_row_selects_nothing() -> None:
    names = Names()
    async with Bare(names).run_test(size=(20, 5)) as pilot:
        names.set_keys(("a", "b"))
        await pilot.click(names, offset=(2, 4))
        assert names.selected == "a"


async def test_the_mark_shows_only_where_the_keys_go() -> None:
    names = Names()
    app = Bare(names)
    async with app.run_test(size=(20, 3)) as pilot:
        names.set_keys(("a", "b"))
        await pilot.pause()
        assert on_screen(pilot)[:2] == [" a", " b"]
        names.focus()
        await pilot.pause()
        assert on_screen(pilot)[:2] == ["▌a", " b"]
        names.do_down()
        await pilot.pause()
        assert on_screen(pilot)[:2] == [" a", "▌b"]


@given(st.lists(st.lists(st.sampled_from(TEN), unique=True), min_size=1, max_size=6), st.data())
def test_there_is_a_selection_exactly_where_there_are_rows(orders: list[list[str]], data: st.DataObject) -> None:
    names = Names()
    for order in orders:
        before = names.selected
        names.set_keys(tuple(order))
        if not order:
            assert names.selected is None
        else:
            assert names.keys[names.cursor] == names.selected
            assert names.selected == before or before not in order
