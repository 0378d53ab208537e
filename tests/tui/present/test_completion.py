"""What is suggested while a query is typed."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from colonizer_client.snapshot import Snapshot, fold
from colonizer_tui.present.completion import Vocabulary, completion, suggestions
from colonizer_tui.present.line import width_of
from colonizer_tui.present.query import parse
from colonizer_tui.present.view import Digests
from moments import NOW, every_state

snapshot, topics = fold(Snapshot(), every_state())
WORDS = Vocabulary(Digests().view(snapshot, topics, NOW))


def offered(text: str, cursor: int | None = None) -> tuple[str, ...]:
    return completion(text, len(text) if cursor is None else cursor, WORDS).candidates


def first_taken(text: str, cursor: int | None = None) -> tuple[str, int]:
    found = completion(text, len(text) if cursor is None else cursor, WORDS)
    return found.applied(text, found.candidates[0])


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", ("host:", "org:", "repo:", "status:", "needs:me", "cost>", "age<")),
        ("host:hq ", ("host:", "org:", "repo:", "status:", "needs:me", "cost>", "age<")),
        ("ho", ("host:",)),
        ("!ho", ("host:",)),
        ("needs:", ("me",)),
        ("host:", ("hq", "lab", "local")),
        ("host:l", ("lab", "local")),
        ("host:hq,l", ("lab", "local")),
        ("host:hq", ()),
        ("repo:rock", ("acme/rocket",)),
        ("repo:a", ("acme/rocket", "acme/widgets", "local/notes")),
        ("org:", ("acme",)),
        ("status:pr", ("pr_open", "pr_opened")),
        ("status:pr_open", ("pr_opened",)),
        ("status:nothing_like_it", ()),
        ("cost>", ("1", "5", "10", "50")),
        ("cost>3", ()),
        ("age<", ("10m", "1h", "1d", "1w")),
        ("age<3", ("3m", "3h", "3d", "3w")),
        ("greet", ()),
    ],
)
def test_what_fits_at_the_end_is_suggested(text: str, expected: tuple[str, ...]) -> None:
    assert offered(text) == expected


def test_states_that_a_colony_is_in_come_first() -> None:
    words = WORDS.of("status")
    assert words.index("running") < words.index("looping")


@pytest.mark.parametrize(
    ("text", "cursor", "expected"),
    [
        ("ho", 2, ("host:", 5)),
        ("!ho cost>5", 3, ("!host: cost>5", 6)),
        ("host:l cost>5", 6, ("host:lab cost>5", 8)),
        ("host:l,hq", 6, ("host:lab,hq", 8)),
        ("host:hq,l", 9, ("host:hq,lab", 11)),
        ("cost>5 ", 7, ("cost>5 host:", 12)),
    ],
)
def test_a_suggestion_takes_the_place_of_what_is_under_the_cursor(
    text: str, cursor: int, expected: tuple[str, int]
) -> None:
    assert first_taken(text, cursor) == expected


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("host:x", "no host begins with “x”: hq, lab, local"),
        ("repo:x", "no repository holds “x”: acme/rocket, acme/widgets, local/notes"),
        ("hots:x", parse("hots:x").problems[0]),
        ("cost>x greet", parse("cost>x").problems[0]),
    ],
)
def test_what_is_wrong_is_told_with_what_is_possible(text: str, told: str) -> None:
    assert completion(text, len(text), WORDS).problem == told


@given(st.text(alphabet='hostcage:<>!," \\hq19', max_size=20), st.integers(0, 20), st.integers(1, 100))
def test_each_suggestion_leaves_a_query_and_has_room(text: str, cursor: int, width: int) -> None:
    cursor = min(cursor, len(text))
    found = completion(text, cursor, WORDS)
    assert 0 <= found.start <= found.end <= len(text)
    for candidate in found.candidates:
        after, place = found.applied(text, candidate)
        assert after[place - len(candidate) : place] == candidate
    for chosen in (None, *range(len(found.candidates))):
        assert width_of(suggestions(found, chosen, width)) <= width


def test_the_suggestion_that_was_put_in_is_marked() -> None:
    shown = suggestions(completion("host:", 5, WORDS), 1, 80)
    assert [piece.text.strip() for piece in shown if piece.role == "tab-on"] == ["lab"]
