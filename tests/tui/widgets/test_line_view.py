"""Lines that are drawn when they come into sight."""

import pytest
from textual import events
from textual.strip import Strip

from colonizer_tui.present.line import Line, line
from colonizer_tui.widgets.lines import Lines
from tui.widgets.bare import Bare, Numbered, on_screen

pytestmark = pytest.mark.anyio
MANY = 100_000


async def test_only_what_is_in_sight_is_asked_for() -> None:
    view = Numbered(MANY)
    app = Bare(view)
    async with app.run_test(size=(20, 10)) as pilot:
        await pilot.pause()
        assert set(view.asked) <= set(range(10))
        view.asked.clear()
        view.do_last()
        await pilot.pause()
        assert set(view.asked) == set(range(MANY - 10, MANY))
        assert len(view.asked) <= 30


async def test_steps_pages_and_ends_stay_in_bounds() -> None:
    view = Numbered(25)
    async with Bare(view).run_test(size=(20, 10)) as pilot:
        await pilot.pause()
        tops: list[int] = []
        for step in (
            view.do_up, view.do_down, view.do_page_down, view.do_page_down, view.do_page_down, view.do_down,
            view.do_page_up, view.do_first, view.do_last,
        ):  # fmt: skip
            step()
            tops.append(view.top)
        assert tops == [0, 1, 10, 15, 15, 15, 6, 0, 15]


async def test_what_is_on_the_screen_is_what_the_top_says() -> None:
    view = Numbered(25)
    app = Bare(view)
    async with app.run_test(size=(20, 4)) as pilot:
        view.top = 7
        await pilot.pause()
        assert [row.removesuffix("┃").rstrip() for row in on_screen(pilot)] == [f"line {n}" for n in range(7, 11)]


@pytest.mark.parametrize(("index", "top"), [(0, 0), (9, 5), (10, 5), (14, 5), (15, 6), (4, 4), (24, 15)])
async def test_a_line_is_brought_into_sight_by_the_least_scrolling(index: int, top: int) -> None:
    view = Numbered(25)
    async with Bare(view).run_test(size=(20, 10)) as pilot:
        await pilot.pause()
        view.top = 5
        view.show_line(index)
        assert view.top == top


async def test_content_that_shrinks_leaves_no_empty_screen() -> None:
    view = Numbered(100)
    app = Bare(view)
    async with app.run_test(size=(20, 10)) as pilot:
        view.do_last()
        await pilot.pause()
        view.count = 12
        view.repaint_changed()
        await pilot.pause()
        assert view.top == 2
        assert on_screen(pilot)[-1].startswith("line 11")
        view.count = 0
        view.repaint_changed()
        await pilot.pause()
        assert on_screen(pilot) == [""] * 10


async def test_a_larger_window_shows_more_and_the_last_line_stays_the_last() -> None:
    view = Numbered(30)
    app = Bare(view)
    async with app.run_test(size=(20, 10)) as pilot:
        view.do_last()
        await pilot.resize_terminal(20, 15)
        await pilot.pause()
        assert view.top == 15
        assert on_screen(pilot)[-1].startswith("line 29")


@pytest.mark.parametrize("size", [(1, 1), (2, 1), (1, 5), (3, 2)])
async def test_the_smallest_window_is_drawn(size: tuple[int, int]) -> None:
    app = Bare(Numbered(30))
    async with app.run_test(size=(20, 10)) as pilot:
        await pilot.resize_terminal(*size)
        await pilot.pause()
        assert len(on_screen(pilot)) == size[1]


async def test_only_rows_that_changed_are_drawn_anew() -> None:
    class Told(Numbered):
        def __init__(self) -> None:
            super().__init__(5)
            self.texts = ["a", "b", "c", "d", "e"]
            self.drawn: list[int] = []

        def line_at(self, index: int) -> Line:
            return line(self.texts[index])

        def render_line(self, y: int) -> Strip:
            self.drawn.append(y)
            return super().render_line(y)

    view = Told()
    async with Bare(view).run_test(size=(20, 5)) as pilot:
        await pilot.pause()
        view.drawn.clear()
        view.texts[3] = "other"
        view.repaint_changed()
        await pilot.pause()
        assert view.drawn == [3]
        view.repaint_changed()
        await pilot.pause()
        assert view.drawn == [3]


async def test_the_thumb_tells_how_much_there_is_where_only_the_end_grew() -> None:
    view = Numbered(5)
    app = Bare(view)
    async with app.run_test(size=(20, 10)) as pilot:
        await pilot.pause()
        assert not any("┃" in row for row in on_screen(pilot))
        view.count = 100
        view.repaint_changed()
        await pilot.pause()
        assert [place for place, row in enumerate(on_screen(pilot)) if "┃" in row] == [0]
        view.count = 20
        view.repaint_changed()
        await pilot.pause()
        assert [place for place, row in enumerate(on_screen(pilot)) if "┃" in row] == [0, 1, 2, 3, 4]


async def test_the_thumb_is_at_the_bottom_at_the_end() -> None:
    view = Numbered(MANY)
    app = Bare(view)
    async with app.run_test(size=(20, 10)) as pilot:
        view.do_last()
        await pilot.pause()
        assert [place for place, row in enumerate(on_screen(pilot)) if "┃" in row] == [9]


async def test_the_wheel_scrolls_what_is_under_it() -> None:
    view = Numbered(100)
    async with Bare(view).run_test(size=(20, 10)) as pilot:
        await pilot.pause()
        view.post_message(events.MouseScrollDown(view, 1, 1, 0, 0, 0, False, False, False))
        await pilot.pause()
        assert view.top == 3
        view.post_message(events.MouseScrollUp(view, 1, 1, 0, 0, 0, False, False, False))
        await pilot.pause()
        assert view.top == 0


async def test_fixed_lines_are_as_high_as_they_are_many_and_fill_their_width() -> None:
    head, below = Lines(), Numbered(50)
    app = Bare(head, below)
    async with app.run_test(size=(20, 6)) as pilot:
        head.set_lines([line("title"), line("日本語" * 10)])
        await pilot.pause()
        assert on_screen(pilot)[:3] == ["title", "日本語日本語日本語…", "line 0             ┃"]
        head.set_lines([])
        await pilot.pause()
        assert on_screen(pilot)[0].startswith("line 0")


async def test_the_same_lines_draw_nothing() -> None:
    class Counted(Lines):
        drawn = 0

        def render_line(self, y: int) -> Strip:
            self.drawn += 1
            return super().render_line(y)

    head = Counted()
    async with Bare(head).run_test(size=(20, 6)) as pilot:
        head.set_lines([line("title")])
        await pilot.pause()
        before = head.drawn
        head.set_lines([line("title")])
        await pilot.pause()
        assert head.drawn == before
        head.set_lines([line("other")])
        await pilot.pause()
        assert head.drawn == before + 1
