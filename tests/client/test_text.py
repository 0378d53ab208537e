import sys
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from colonizer_client.text import CUT_MARK, MARKS_KEPT, has_hidden_characters, joined, safe_line, safe_text

ANY_TEXT = st.text(st.characters(codec=None), max_size=60) | st.text(
    st.sampled_from("ab \t\n\r\x1b[\x07\x9b\u200b\u200c\u200d\u202e\u2028\ufe0f\u0301\u0489ی人👩🏽\U000e0041\ud800é"),
    max_size=40,
)


FORBIDDEN = frozenset({"Cc", "Cf", "Zl", "Zp", "Co", "Cs", "Cn"})
"""Categories of characters of which no text keeps any."""


def is_safe(text: str) -> bool:
    marks = 0
    for character in text:
        if character != "\n" and unicodedata.category(character) in FORBIDDEN:
            return False
        marks = marks + 1 if unicodedata.category(character) in ("Mn", "Me") else 0
        if marks > MARKS_KEPT:
            return False
    return True


def test_every_control_is_shown_and_none_is_left() -> None:
    for character in map(chr, range(sys.maxunicode + 1)):
        if unicodedata.category(character) == "Cc" and character not in "\t\n":
            shown = safe_text(f"a{character}b")
            assert (shown[0], shown[-1], len(shown) > 2, is_safe(shown)) == ("a", "b", True, True), repr(character)


@pytest.mark.parametrize(
    ("raw", "shown"),
    [
        ("\x1b[31mred\x1b[0m", "␛[31mred␛[0m"),
        ("\x1b]52;c;AAAA\x07", "␛]52;c;AAAA␇"),
        ("\x9b2J", "⟨U+009B⟩2J"),
        ("\x7f", "␡"),
        ("\x00", "␀"),
        ("a\rb", "a␍b"),
        ("a\bb", "a␈b"),
        ("\u202egnp.exe", "⟨U+202E⟩gnp.exe"),
        ("\u2066x\u2069", "⟨U+2066⟩x⟨U+2069⟩"),
        ("a\u200bb", "a⟨U+200B⟩b"),
        ("\ufeffa", "⟨U+FEFF⟩a"),
        ("a\u2028b\u2029c", "a⟨U+2028⟩b⟨U+2029⟩c"),
        ("\ud800", "⟨U+D800⟩"),
        ("\ue000", "⟨U+E000⟩"),
        ("\U000e0041", "⟨U+E0041⟩"),
        ("\u0378", "⟨U+0378⟩"),
        ("a\u00a0b\u3000c", "a b c"),
        ("a\u034fb", "a⟨U+034F⟩b"),
        ("\u3164", "⟨U+3164⟩"),
        ("a\U000e0100", "a⟨U+E0100⟩"),
        ("a\ufe0f", "a⟨U+FE0F⟩"),
    ],
)
def test_what_could_act_or_hide_is_a_visible_sign(raw: str, shown: str) -> None:
    assert safe_text(raw) == shown
    assert safe_line(raw) == shown.strip()


@pytest.mark.parametrize(
    ("raw", "shown"),
    [
        ("❤️", "❤"),
        ("1️⃣", "1⃣"),
        ("👍🏽", "👍"),
        ("👩‍👩‍👧", "👩👩👧"),
        ("🏳️‍🌈", "🏳🌈"),
        ("a\u200db", "a⟨U+200D⟩b"),
    ],
)
def test_an_emoji_loses_what_gives_it_another_width_in_each_terminal(raw: str, shown: str) -> None:
    assert safe_text(raw) == shown


def test_persian_and_hindi_keep_their_letters_without_signs_between_them() -> None:
    assert safe_text("می\u200cخواهم") == "میخواهم"
    assert safe_text("क्\u200dष") == "क्ष"
    assert safe_text("می\u200c") == "می⟨U+200C⟩"
    assert safe_text("می\u200c\u200cخ") == "می⟨U+200C⟩⟨U+200C⟩خ"


@pytest.mark.parametrize("mark", ["\u0301", "\u0489", "\u0e47", "\u064b", "\u05b0", "\u20dd"])
def test_marks_do_not_pile_up_over_the_lines_around(mark: str) -> None:
    assert safe_text("a" + mark * 500) == "a" + mark * MARKS_KEPT
    assert safe_text("ก" + mark * MARKS_KEPT) == "ก" + mark * MARKS_KEPT


def test_marks_of_different_scripts_pile_up_no_better() -> None:
    assert is_safe(safe_text("a" + "\u0301\u0e47\u064b\u05b0" * 50))


def test_tabs_become_blanks_and_line_feeds_stay() -> None:
    assert safe_text("a\tb\r\n\tc\n") == "a   b\n    c\n"


@pytest.mark.parametrize(
    ("raw", "shown"),
    [
        ("  plain  ", "plain"),
        ("one\ntwo", "one two"),
        ("one \n\t two", "one two"),
        ("a\r\nb", "a b"),
        ("a\rb\r", "a␍b␍"),
        ("\n\n", ""),
        ("a  b", "a  b"),
        ("a\u2028\nb", "a⟨U+2028⟩ b"),
        ("\u00a0x\u00a0", "x"),
    ],
)
def test_a_line_is_one_line(raw: str, shown: str) -> None:
    assert safe_line(raw) == shown


def test_a_limit_counts_what_came_and_says_that_it_cut() -> None:
    assert safe_text("abcdef", limit=3) == "abc" + CUT_MARK
    assert safe_text("abc", limit=3) == "abc"
    assert safe_line("\x1b" * 10, limit=2) == "␛␛" + CUT_MARK
    assert safe_text("", limit=0) == ""


@given(ANY_TEXT)
def test_no_text_keeps_a_forbidden_character(text: str) -> None:
    assert is_safe(safe_text(text))
    line = safe_line(text)
    assert is_safe(line)
    assert "\n" not in line


@given(ANY_TEXT)
def test_what_is_safe_stays_as_it_is(text: str) -> None:
    assert safe_text(safe_text(text)) == safe_text(text)
    assert safe_line(safe_line(text)) == safe_line(text)


@given(st.text(st.characters(min_codepoint=32, max_codepoint=126), max_size=50))
def test_plain_text_is_unchanged(text: str) -> None:
    assert safe_text(text) == text
    assert safe_line(text) == text.strip(" ")


@given(st.lists(ANY_TEXT, max_size=6))
def test_a_text_that_comes_in_pieces_is_as_safe(pieces: list[str]) -> None:
    assert is_safe(joined(map(safe_text, pieces)))


def test_a_sequence_that_is_split_over_two_pieces_stays_neutral() -> None:
    assert joined(map(safe_text, ("\x1b", "]0;title\x07"))) == "␛]0;title␇"
    assert joined(("a\u0301\u0301\u0301", "\u0301\u0301\u0301b")) == "a\u0301\u0301\u0301b"


@pytest.mark.parametrize("text", ["\x1b[2J", "a\u200bb", "\u202ex", "a\ufe0fb", "\u3164", "a\U000e0100", "\ud800"])
def test_hidden_characters_are_found(text: str) -> None:
    assert has_hidden_characters(text)


@pytest.mark.parametrize(
    "text", ["plain", "two\nlines\tand a tab", "nb\u00a0sp", "❤️", "👩‍👩‍👧", "می\u200cخواهم", "é人"]
)
def test_ordinary_text_has_no_hidden_characters(text: str) -> None:
    assert not has_hidden_characters(text)


def test_a_long_line_of_blanks_is_read_in_one_go() -> None:
    assert safe_line(" " * 200_000 + "\x01") == "␁"
