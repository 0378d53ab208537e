"""What a person types: drafts of any number of lines, and what they search for."""

from typing import cast

import pytest
from textual import events
from textual.widget import Widget

from colonizer_tui.widgets.draft_field import LIMIT_BYTES, DraftField, MessageField
from colonizer_tui.widgets.find_bar import FindBar
from tui.widgets.bare import Bare, Numbered

pytestmark = pytest.mark.anyio


def pasted(field: Widget, text: str) -> None:
    field.post_message(events.Paste(text))


async def test_what_is_typed_is_the_text_and_ctrl_j_a_line_feed() -> None:
    field = DraftField()
    async with Bare(field).run_test() as pilot:
        field.focus()
        await pilot.press("a", "ctrl+j", "1")
        assert field.text == "a\n1"


async def test_a_paste_stays_one_draft_with_its_line_feeds_and_without_what_steers_a_terminal() -> None:
    field = DraftField()
    async with Bare(field).run_test() as pilot:
        field.focus()
        pasted(field, "one\r\ntwo\rthree\tx\x1b[201~\x1b]52;c;aGk=\x07\u202efour\ud800")
        await pilot.pause()
        assert field.text == "one\ntwo\nthree\tx[201~]52;c;aGk=four\ufffd"


async def test_a_paste_takes_the_place_of_what_is_selected() -> None:
    field = DraftField()
    async with Bare(field).run_test() as pilot:
        field.set_text("good morning")
        field.focus()
        await pilot.pause()
        field.select_all()
        pasted(field, "bye")
        await pilot.pause()
        assert field.text == "bye"
        field.select_all()
        await pilot.press("ctrl+j")
        assert field.text == "\n"


async def test_too_long_a_paste_is_told_and_changes_nothing() -> None:
    field = DraftField()
    app = Bare(field)
    async with app.run_test() as pilot:
        field.set_text("kept")
        pasted(field, "é" * (LIMIT_BYTES // 2))
        await pilot.pause()
        assert field.text == "kept"
        ((words, markup),) = cast("list[tuple[str, bool]]", app.said)
        assert words.startswith("50,000 characters are too many")
        assert not markup


async def test_a_paste_up_to_the_limit_is_taken_whole() -> None:
    field = DraftField()
    async with Bare(field).run_test() as pilot:
        pasted(field, "x" * LIMIT_BYTES)
        await pilot.pause()
        assert len(field.text) == LIMIT_BYTES


async def test_the_same_text_leaves_the_cursor_where_it_is() -> None:
    field = DraftField()
    async with Bare(field).run_test():
        field.set_text("one two")
        assert field.cursor_location == (0, 7)
        field.move_cursor((0, 2))
        field.set_text("one two")
        assert field.cursor_location == (0, 2)


@pytest.mark.parametrize(("text", "height"), [("", 1), ("a", 1), ("a\nb", 2), ("a\n" * 40, 8)])
async def test_a_field_grows_with_its_text_to_a_limit(text: str, height: int) -> None:
    field = DraftField()
    async with Bare(field).run_test(size=(40, 20)) as pilot:
        field.set_text(text)
        await pilot.pause()
        await pilot.pause()
        assert field.size.height == height


async def test_enter_sends_from_the_field_of_a_message() -> None:
    sent: list[str] = []
    field = MessageField(lambda: sent.append(field.text))
    async with Bare(field).run_test():
        field.set_text("go on")
        field.do_enter()
        assert sent == ["go on"]
        assert field.text == "go on"


class Seeking(Bare):
    """Notes what is searched for."""

    def on_find_bar_sought(self, event: FindBar.Sought) -> None:
        self.said.append(event.text)


async def test_what_is_typed_is_searched_for_at_once() -> None:
    bar = FindBar(lambda: None)
    app = Seeking(bar)
    async with app.run_test() as pilot:
        assert not bar.display
        bar.open()
        assert app.focused is bar
        await pilot.press("a", "1")
        await pilot.pause()
        assert (app.said, bar.display) == (["a", "a1"], True)


async def test_enter_keeps_what_is_searched_for_and_gives_the_keys_back() -> None:
    view = Numbered(3)
    bar = FindBar(lambda: view.screen.set_focus(view))
    app = Seeking(view, bar)
    async with app.run_test() as pilot:
        bar.open()
        await pilot.press("a")
        bar.do_enter()
        await pilot.pause()
        assert (bar.value, bar.has_class("shown"), app.focused) == ("a", False, view)


async def test_enter_on_nothing_closes_the_bar() -> None:
    closed: list[bool] = []
    bar = FindBar(lambda: closed.append(True))
    async with Seeking(bar).run_test() as pilot:
        bar.open()
        bar.do_enter()
        await pilot.pause()
        assert (bar.has_class("shown"), closed) == (False, [True])


async def test_back_drops_what_is_searched_for() -> None:
    closed: list[bool] = []
    bar = FindBar(lambda: closed.append(True))
    app = Seeking(bar)
    async with app.run_test() as pilot:
        bar.open()
        await pilot.press("a")
        await pilot.pause()
        bar.do_back()
        await pilot.pause()
        assert (bar.value, bar.has_class("shown"), closed) == ("", False, [True])
        assert app.said[0] == "a"
        assert set(app.said[1:]) == {""}
