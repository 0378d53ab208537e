"""Finding by some letters: what fits, how well, and where the letters stand."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from colonizer_tui.present.fuzzy import Pattern, folded, marked
from colonizer_tui.present.line import Span


def places(needle: str, text: str) -> tuple[int, ...] | None:
    fit = Pattern(needle).fit(folded(text))
    return None if fit is None else fit.places


@pytest.mark.parametrize(
    ("needle", "text", "expected"),
    [
        ("flt", "Fleet", (0, 1, 4)),
        ("stop", "nonstop stop", (8, 9, 10, 11)),
        ("ab", "a xab", (3, 4)),
        ("wd12", "widgets #12", (0, 2, 9, 10)),
        ("release choose", "Choose how to release", (*range(6), *range(14, 21))),
        ("", "anything", ()),
        ("xyz", "xy", None),
        ("ba", "ab", None),
    ],
)
def test_the_letters_stand_together_where_they_can(needle: str, text: str, expected: tuple[int, ...] | None) -> None:
    assert places(needle, text) == expected


@pytest.mark.parametrize(
    ("needle", "better", "worse"),
    [
        ("stop", "stop the colony", "nonstop"),
        ("stop", "stop", "start the operation"),
        ("np", "next pane", "snippet"),
        ("flo", "flock", "fleet and others"),
    ],
)
def test_whole_words_and_their_beginnings_fit_better(needle: str, better: str, worse: str) -> None:
    pattern = Pattern(needle)
    first, second = pattern.fit(better), pattern.fit(worse)
    assert first is not None
    assert second is not None
    assert first.score > second.score


@given(st.text(max_size=12), st.text(max_size=40))
def test_the_quick_test_and_the_careful_one_agree(needle: str, text: str) -> None:
    pattern, low = Pattern(needle), folded(text)
    assert pattern.fits(low) is (pattern.fit(low) is not None)


@given(st.text(max_size=40), st.data())
def test_letters_taken_from_a_text_in_their_order_find_it(text: str, data: st.DataObject) -> None:
    chosen = data.draw(st.lists(st.integers(0, max(len(text) - 1, 0)), unique=True).map(sorted))
    needle = "".join(text[place] for place in chosen if place < len(text))
    if not any(letter.isspace() for letter in needle):
        assert Pattern(needle).fits(folded(text))


@given(st.text(max_size=40))
def test_each_letter_stays_in_its_place_in_lower_case(text: str) -> None:
    assert len(folded(text)) == len(text)


@given(st.lists(st.text(max_size=5), max_size=4), st.sets(st.integers(-3, 25)))
def test_marking_changes_roles_and_no_text(texts: list[str], at: set[int]) -> None:
    shown = marked(tuple(Span(text, "plain") for text in texts), sorted(at), "match")
    whole = "".join(texts)
    assert "".join(piece.text for piece in shown) == whole
    roles = [piece.role for piece in shown for _ in piece.text]
    assert roles == ["match" if place in at else "plain" for place in range(len(whole))]


def test_no_text_takes_long() -> None:
    """Each letter is gone to once: a pattern that went back would not end in a lifetime."""
    assert not Pattern("ab" * 20 + "x").fits("ab" * 20_000)
