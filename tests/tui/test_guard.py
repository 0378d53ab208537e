"""The last wall before the terminal."""

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len
from rich.segment import ControlType, Segment
from rich.style import Style
from textual.color import Color

from colonizer_tui.guard import ControlGuard
from colonizer_tui.printable import printable

GROUND = Color(0, 0, 0)
DIRECTIONS = "\u061c\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069"
odd = st.text(
    st.one_of(
        st.characters(exclude_categories=["Cs"]),
        st.sampled_from("\x00\x07\x08\t\n\r\x1b\x7f\x85\x9b\x9d\u2028" + DIRECTIONS),
    )
)
surrogates = st.text(st.characters(categories=["Cs", "Ll"]))


def guarded(text: str, style: Style | None = None) -> list[Segment]:
    return ControlGuard().apply([Segment(text, style)], GROUND)


def is_dangerous(character: str) -> bool:
    return unicodedata.category(character) in ("Cc", "Cs", "Zl", "Zp") or character in DIRECTIONS


@given(st.one_of(odd, surrogates))
def test_no_control_reaches_the_terminal_and_nothing_shifts(text: str) -> None:
    (segment,) = guarded(text)
    assert not any(map(is_dangerous, segment.text))
    segment.text.encode()  # which half a character could not be
    assert cell_len(segment.text) == cell_len(text)


@given(odd)
def test_what_is_harmless_stays(text: str) -> None:
    (segment,) = guarded(text)
    assert segment.text == "".join(character for character in text if not is_dangerous(character))


@pytest.mark.parametrize("text", ["", "plain", "日本語", "🚀", "e\u0301", "👨‍👩‍👧", "│─┃▌", "a\u200bb", "नमस्ते"])
def test_ordinary_text_is_the_same(text: str) -> None:
    (segment,) = guarded(text, Style(bold=True))
    assert segment == Segment(text, Style(bold=True))


def test_a_line_without_anything_to_remove_is_the_same_list() -> None:
    line = [Segment("a", Style(bold=True)), Segment("b")]
    assert ControlGuard().apply(line, GROUND) is line


def test_a_link_is_removed_and_the_rest_of_the_style_stays() -> None:
    (segment,) = guarded("here", Style(bold=True, link="file:///etc/passwd"))
    assert segment.style is not None
    assert (segment.style.link, segment.style.bold) == (None, True)


def test_what_the_application_itself_does_with_the_terminal_passes() -> None:
    control = Segment("\x1b[H", None, [(ControlType.HOME,)])
    assert ControlGuard().apply([control, Segment("\x1b[H")], GROUND) == [control, Segment("[H")]


@given(st.one_of(odd, surrogates))
def test_what_is_printed_outside_keeps_its_line_feeds_and_nothing_else_that_acts(text: str) -> None:
    shown = printable(text)
    assert not any(is_dangerous(character) for character in shown if character not in "\n\t")
    assert shown.count("\n") == text.count("\n")
    shown.encode()
