"""Marks on the words of a diff that changed: the right ones, none where two lines have nothing in common, in bounds."""

from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from colonizer_tui.present.changed_words import HUNK_LIMIT, LINE_LIMIT, TOKENS_LIMIT, WORK_LIMIT, changed, marked
from colonizer_tui.present.line import Line, Span, text_of


def words(old: str, new: str) -> tuple[list[str], list[str]]:
    """The texts of what is gone and of what has come."""
    gone, come, _ = changed(old, new)
    return [old[piece.start : piece.end] for piece in gone], [new[piece.start : piece.end] for piece in come]


def drawn(lines: Sequence[str]) -> list[Line]:
    return marked(lines, [(Span(line[1:], "syntax-name"),) for line in lines])


def marks(line: Line) -> list[str]:
    return [piece.text for piece in line if "+" in piece.role]


CHANGES: Sequence[tuple[str, str, tuple[list[str], list[str]]]] = (
    ("    print('hello')", "    print('hello, world')", ([], [", world"])),
    ("return a + b", "return a - b", (["+"], ["-"])),
    ("def load(path):", "def load(path, limit):", ([], [", limit"])),
    ("total = first + last", "total = last + first", (["first", "last"], ["last", "first"])),
    ("the quick brown fox", "the slow red fox", (["quick brown"], ["slow red"])),
    ("same", "same", ([], [])),
    ("", "something new", ([], [])),
    ("one two three", "vier fünf sechs", ([], [])),
    ("    a", "        b", ([], [])),
    ("naïve café", "naïve cafés", (["café"], ["cafés"])),
)


@pytest.mark.parametrize(("old", "new", "found"), CHANGES)
def test_the_words_that_changed_are_found(old: str, new: str, found: tuple[list[str], list[str]]) -> None:
    assert words(old, new) == found


def test_lines_stand_for_each_other_in_their_order() -> None:
    hunk = [" keep", "-a = old", "-b = old", "+a = new", "+b = new", " keep", "+c = new"]
    shown = drawn(hunk)
    assert [marks(line) for line in shown] == [[], ["old"], ["old"], ["new"], ["new"], [], []]
    assert {piece.role for piece in shown[1]} == {"syntax-name", "syntax-name+removed-word"}
    assert {piece.role for piece in shown[3]} == {"syntax-name", "syntax-name+added-word"}


def test_a_remark_about_a_missing_line_feed_separates_nothing() -> None:
    shown = drawn(["-a = old", "\\ No newline at end of file", "+a = new"])
    assert [marks(line) for line in shown] == [["old"], [], ["new"]]


def test_a_line_that_was_only_added_is_not_compared_with_the_one_before_it() -> None:
    assert [marks(line) for line in drawn(["+a = new", "-a = old", " x"])] == [[], [], []]


@pytest.mark.parametrize("sign", ["-", "+", " ", ""])
def test_a_hunk_of_one_line_or_none_is_left_as_it_is(sign: str) -> None:
    assert drawn([f"{sign}word"]) == [(Span(f"{sign}word"[1:], "syntax-name"),)]
    assert drawn([]) == []


def test_where_too_much_changed_the_middle_is_marked_whole() -> None:
    old, new = ("begin " + " ".join(f"{word}{count}" for count in range(TOKENS_LIMIT)) for word in "ab")
    same = " the end of it, which stays as it is and is long enough to count" * 8
    gone, come, cost = changed(old + same, new + same)
    assert (len(gone), len(come), cost) == (1, 1, 0)


def test_a_line_of_data_is_not_compared() -> None:
    assert changed("a" * (LINE_LIMIT + 1), "b") == ((), (), 0)


def test_a_hunk_of_data_is_left_as_it_is() -> None:
    hunk = ["-a = old", "+a = new"] * (HUNK_LIMIT // 10)
    assert not any(marks(line) for line in drawn(hunk))
    assert any(marks(line) for line in drawn(hunk[:100]))


def test_the_work_in_one_hunk_is_bounded() -> None:
    start = "a beginning that both lines have, long enough to count: " * 2
    old, new = (start + " ".join(f"{word}{count} same" for count in range(12)) for word in "ab")
    _, _, cost = changed(old, new)
    assert cost > 0
    pairs = WORK_LIMIT // cost + 5
    shown = drawn([f"-{old}"] * pairs + [f"+{new}"] * pairs)
    assert len(marks(shown[0])) > 1
    assert len(marks(shown[pairs - 1])) == 1


LINES = st.lists(st.tuples(st.sampled_from("+- \\"), st.text("ab (,'é", max_size=20)).map("".join), max_size=20)


@given(LINES)
def test_marks_change_no_letter(lines: list[str]) -> None:
    assert [text_of(line) for line in drawn(lines)] == [line[1:] for line in lines]


@given(st.text("ab ,(é", max_size=30), st.text("ab ,(é", max_size=30))
def test_what_is_not_marked_is_the_same_on_both_sides(old: str, new: str) -> None:
    gone, come, _ = changed(old, new)
    if gone or come:
        rest_old = "".join(letter for at, letter in enumerate(old) if not any(s <= at < e for s, e in gone))
        rest_new = "".join(letter for at, letter in enumerate(new) if not any(s <= at < e for s, e in come))
        assert "".join(rest_old.split()) == "".join(rest_new.split())
