"""Lines of cells: what is cut, wrapped, spread or shifted is never wider than asked, and nothing is lost unseen."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len

from colonizer_client.text import safe_text
from colonizer_tui.present.line import (
    Line,
    Span,
    column,
    cut,
    fit,
    highlight,
    line,
    skip,
    spread,
    width_of,
    wrap,
)

WIDE = ["日本語", "e\u0301tude", "a\u0301\u0302\u0303", "👨‍👩‍👧", "🚀", "한글", "ｆｕｌｌ", "½…·", "नमस्ते", "สวัสดี"]
pieces = st.one_of(
    st.sampled_from(WIDE),
    st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\n"), max_size=12),
    st.sampled_from([" ", "  ", "word", "averyverylongword", "\u0301", "\u200b"]),
)
rows = st.lists(pieces, max_size=8).map(lambda parts: safe_text("".join(parts)))
texts = st.lists(rows, max_size=4).map("\n".join)
lines = st.lists(st.builds(Span, rows, st.sampled_from(["", "strong"])), max_size=5).map(tuple)
widths = st.integers(0, 40)


def text_of(shown: Line) -> str:
    return "".join(piece.text for piece in shown)


@pytest.mark.parametrize(
    ("text", "width", "shown"),
    [
        ("fleet", 5, "fleet"),
        ("fleet", 4, "fle…"),
        ("fleet", 1, "…"),
        ("fleet", 0, ""),
        ("fleet", -3, ""),
        ("", 0, ""),
        ("日本", 4, "日本"),
        ("日本", 3, "日…"),
        ("日本", 2, "…"),
        ("日本", 1, "…"),
        ("e\u0301te", 2, "e\u0301…"),
        ("one two", 5, "one…"),
    ],
)
def test_a_cut_text_shows_that_it_was_cut(text: str, width: int, shown: str) -> None:
    assert cut(text, width) == shown


@given(rows, widths)
def test_a_cut_text_is_never_wider_than_asked_and_is_the_beginning_of_the_whole(text: str, width: int) -> None:
    shown = cut(text, width)
    assert cell_len(shown) <= width
    assert shown == text or text.startswith(shown.removesuffix("…").rstrip())


@given(rows, widths, st.booleans())
def test_a_column_is_exactly_as_wide_as_asked(text: str, width: int, right: bool) -> None:
    assert cell_len(column(text, width, right=right)) == width


def test_a_column_stands_at_its_side() -> None:
    assert column("3m", 4) == "3m  "
    assert column("3m", 4, right=True) == "  3m"


@given(lines, widths)
def test_a_fitted_line_is_never_wider_than_asked(whole: Line, width: int) -> None:
    shown = fit(whole, width)
    assert width_of(shown) <= width
    if width_of(whole) <= width:
        assert text_of(shown) == text_of(whole)


@given(lines, lines, widths)
def test_two_ends_fill_the_line_exactly_where_the_right_one_has_room(left: Line, right: Line, width: int) -> None:
    shown = spread(left, right, width)
    if width_of(right) < width:
        assert width_of(shown) == width
        assert text_of(shown).endswith(text_of(right))
    assert width_of(shown) <= width


@given(texts, st.integers(2, 40))
def test_wrapped_lines_are_never_wider_than_asked(text: str, width: int) -> None:
    assert all(cell_len(part) <= width for part in wrap(text, width))


@pytest.mark.parametrize("width", [-1, 0, 1])
def test_at_a_width_of_nothing_each_narrow_character_has_its_line(width: int) -> None:
    assert wrap("abc", width) == ("a", "b", "c")


@given(texts, st.integers(1, 40))
def test_wrapping_loses_nothing_but_blanks(text: str, width: int) -> None:
    assert "".join(wrap(text, width)).replace(" ", "") == text.replace("\n", "").replace(" ", "")


@given(texts, st.integers(1, 40))
def test_a_line_feed_is_always_a_new_line(text: str, width: int) -> None:
    assert len(wrap(text, width)) >= text.count("\n") + 1


@pytest.mark.parametrize(
    ("text", "width", "shown"),
    [
        ("", 10, ("",)),
        ("a\n\nb", 10, ("a", "", "b")),
        ("one two three", 7, ("one two", "three")),
        ("one two three", 8, ("one two", "three")),
        ("abcdefgh", 3, ("abc", "def", "gh")),
        ("to abcdefgh", 4, ("to", "abcd", "efgh")),
        ("    if x: return", 10, ("    if x:", "    return")),
        ("a  b", 10, ("a  b",)),
        ("日本語", 4, ("日本", "語")),
        ("  日本", 2, ("日", "本")),
        ("  日本", 3, (" 日", " 本")),
        ("abc \u0301", 3, ("abc", "\u0301")),
        ("\u0301 日本", 2, ("\u0301", "日", "本")),
    ],
)
def test_a_text_is_broken_between_words_where_that_is_possible(text: str, width: int, shown: tuple[str, ...]) -> None:
    assert wrap(text, width) == shown


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("one two", ("one", "two")),
        ("one two three", ("one", "two…")),
        ("one", ("one",)),
        ("one\n\nthree", ("one", "…")),
        ("one tw three", ("one", "tw…")),
        ("one 日本 three", ("one", "日…")),
    ],
)
def test_lines_that_are_left_out_are_told(text: str, shown: tuple[str, ...]) -> None:
    assert wrap(text, 4, 2) == shown


@given(texts, st.integers(2, 40))
def test_no_line_is_wider_because_others_are_left_out(text: str, width: int) -> None:
    shown = wrap(text, width, 2)
    assert len(shown) <= 2
    assert all(cell_len(part) <= width for part in shown)


@given(lines, widths)
def test_a_shifted_line_is_narrower_by_exactly_what_was_skipped(whole: Line, cells: int) -> None:
    assert width_of(skip(whole, cells)) == max(width_of(whole) - cells, 0)


@pytest.mark.parametrize("text", ["x" * 5_000_000, "日本" * 2_500_000], ids=["ascii", "wide"])
def test_of_a_line_of_megabytes_the_shown_part_is_found(text: str) -> None:
    whole = line("a", Span(text, "x"))
    assert width_of(fit(whole, 20)) == 20
    assert text_of(skip(whole, 3))[-5:] == text[-5:]
    assert text_of(fit(skip(whole, 3), 4)) == text_of(fit(line(text[2 if text[0] == "x" else 1 :]), 4))
    assert len(wrap(text, 20, 3)) == 3


@pytest.mark.parametrize(
    ("text", "cells", "shown"),
    [
        ("abc", 0, "abc"),
        ("abc", 1, "bc"),
        ("abc", 9, ""),
        ("日本", 2, "本"),
        ("日本", 1, " 本"),
        ("日\u0301本", 1, " 本"),
        ("e\u0301x", 1, "x"),
    ],
)
def test_half_of_a_wide_character_is_a_blank(text: str, cells: int, shown: str) -> None:
    assert text_of(skip(line(text), cells)) == shown


def test_a_shifted_line_keeps_its_roles() -> None:
    assert skip(line(Span("ab", "x"), Span("cd", "y")), 3) == (Span("d", "y"),)


@given(lines, st.text(min_size=1, max_size=3).map(str.lower))
def test_marking_what_is_found_changes_no_text(whole: Line, needle: str) -> None:
    assert text_of(highlight(whole, needle, "match")) == text_of(whole)


def test_every_occurrence_is_marked_whatever_its_case() -> None:
    marked = highlight(line(Span("Test a test", "x")), "test", "match")
    assert marked == (Span("Test", "match"), Span(" a ", "x"), Span("test", "match"))


def test_what_is_found_is_marked_beside_letters_whose_small_form_is_longer() -> None:
    marked = highlight(line("İstanbul test"), "test", "match")
    assert Span("test", "match") in marked
