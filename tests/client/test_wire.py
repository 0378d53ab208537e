import json
import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from colonizer_client.errors import Unreadable
from colonizer_client.mothership import wire

ANYTHING = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(st.characters(codec=None), max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner, max_size=3),
    max_leaves=8,
)


@pytest.mark.parametrize(
    ("body", "value"),
    [
        (b'{"a": 1}', {"a": 1}),
        (b'"\\ud800"', "\ud800"),
        (b'"\xff"', "\ufffd"),
        (b"[1e999]", [math.inf]),
        (b'{"a": 1, "a": 2}', {"a": 2}),
        (b"18446744073709551615", 2**64 - 1),
        (b"[" + b"1" * 5000 + b"]", [None]),
        (b" null ", None),
    ],
)
def test_json_is_read_even_where_it_is_odd(body: bytes, value: object) -> None:
    assert wire.parse(body) == value


def test_a_number_that_is_none_is_read_as_one() -> None:
    assert math.isnan(wire.parse(b"NaN"))  # type: ignore[arg-type]  # the value is a float


@pytest.mark.parametrize(
    "body", [b"", b"{", b"<html>", b"[" * 100_000, b"[" * 5000 + b"]" * 5000, b'{"a":' * 200 + b"1" + b"}" * 200]
)
def test_what_is_no_json_or_nested_beyond_reason_is_unreadable(body: bytes) -> None:
    with pytest.raises(Unreadable):
        wire.parse(body)


def test_reasonable_nesting_is_read() -> None:
    depth = wire.DEPTH_LIMIT
    assert wire.parse(b"[" * depth + b"]" * depth)
    with pytest.raises(Unreadable):
        wire.parse(b"[" * (depth + 1) + b"]" * (depth + 1))
    wide = json.dumps([{"a": [1]}] * 1000).encode()
    assert len(wire.sequence(wire.parse(wide))) == 1000


def test_the_words_of_an_unreadable_body_are_safe_and_short() -> None:
    with pytest.raises(Unreadable) as caught:
        wire.parse(b"\x1b]0;owned\x07" + b"x" * 5000)
    assert "\x1b" not in str(caught.value)
    assert len(str(caught.value)) < 300


@given(ANYTHING)
def test_no_reader_raises_on_any_value(value: object) -> None:
    assert isinstance(wire.mapping(value), dict)
    assert isinstance(wire.raw(value), str)
    assert wire.line(value).isprintable()
    assert wire.word(value).isprintable()
    assert wire.shown(value).isprintable()
    assert isinstance(wire.text(value), str)
    assert wire.flag(value) is (value is True)
    assert all(isinstance(each, str) for each in wire.words(value))
    assert all(isinstance(each, dict) for each in wire.mappings(value))
    assert len(wire.sequence(value)) >= len(wire.mappings(value))
    assert (wire.maybe_mapping(value) is None) is (not isinstance(value, dict))
    number = wire.number(value)
    assert number is None or math.isfinite(number)
    integer = wire.integer(value)
    assert integer is None or abs(integer) <= 2**64
    assert wire.moment(value) is None or isinstance(value, str)


@pytest.mark.parametrize(
    ("value", "read"),
    [
        (0, 0),
        (-5, -5),
        (2**63, 2**63),
        (2**64 - 1, 2**64 - 1),
        (2**64, None),
        (-(2**63) - 1, None),
        (True, None),
        (1.0, None),
    ],
)
def test_an_integer_has_at_most_64_bits(value: object, read: int | None) -> None:
    assert wire.integer(value) == read


@pytest.mark.parametrize(
    ("value", "read"),
    [
        (1, 1.0),
        (0.5, 0.5),
        (True, None),
        (math.inf, None),
        (math.nan, None),
        (10**400, None),
        ("1", None),
        (None, None),
    ],
)
def test_a_number_is_finite(value: object, read: float | None) -> None:
    assert wire.number(value) == read


@pytest.mark.parametrize(
    ("text", "read"),
    [
        ("2026-11-30T10:01:50Z", 1796032910.0),
        ("2026-11-30T10:01:50.216995682Z", 1796032910.216995),
        ("2026-11-30T10:01:50+00:00", 1796032910.0),
        ("2026-11-30T10:01:50-00:00", 1796032910.0),
        ("2026-11-30T15:31:50+05:30", 1796032910.0),
        ("2026-12-01T10:00:50+23:59", 1796032910.0),
        ("2026-11-30T10:01:50", None),
        ("2026-11-30", None),
        ("2026-11-30T10:01:60Z", None),
        ("yesterday", None),
        ("", None),
        ("2026-11-30T10:01:50Z" + " " * 100, None),
        (1796032910, None),
    ],
)
def test_a_moment_is_an_rfc_3339_string_with_its_zone(text: object, read: float | None) -> None:
    found = wire.moment(text)
    assert (None if found is None else round(found, 6)) == read


def test_a_shown_value_is_a_string_or_a_whole_number() -> None:
    assert wire.shown(7) == "7"
    assert wire.shown("a\nb") == "a b"
    assert wire.shown([1]) == wire.shown(None) == wire.shown(1.5) == ""


def test_equal_words_are_held_once() -> None:
    first, second = wire.word("".join(["run", "ning"])), wire.word("".join(["runn", "ing"]))
    assert first is second
    assert len(wire.word("x" * 1000)) <= 101
