"""Numbers in words, at each border between two units."""

import math

import pytest

from colonizer_tui.present import words

MINUTE, HOUR, DAY = 60, 3_600, 86_400


@pytest.mark.parametrize(
    ("seconds", "shown"),
    [
        (-5, "0s"),
        (0, "0s"),
        (59.9, "59s"),
        (MINUTE, "1m"),
        (67 * MINUTE, "67m"),
        (90 * MINUTE - 1, "89m"),
        (90 * MINUTE, "1h"),
        (2 * HOUR - 1, "1h"),
        (2 * HOUR, "2h"),
        (48 * HOUR - 1, "47h"),
        (48 * HOUR, "2d"),
        (14 * DAY - 1, "13d"),
        (14 * DAY, "2w"),
        (3650 * DAY, "521w"),
    ],
)
def test_an_age_has_one_unit(seconds: float, shown: str) -> None:
    assert words.age(seconds) == shown


@pytest.mark.parametrize("days", [0, 1, 13, 14, 700])
def test_an_age_of_less_than_nineteen_years_fits_its_column(days: int) -> None:
    assert all(len(words.age(days * DAY + seconds)) <= 4 for seconds in (0, 59, 61, 3_599, 5_400, 86_399))


@pytest.mark.parametrize(
    ("seconds", "shown"),
    [
        (-1, "0 s"),
        (0, "0 s"),
        (59.9, "59 s"),
        (MINUTE, "1 min"),
        (HOUR - 1, "59 min"),
        (HOUR, "1 h"),
        (3 * HOUR + 5 * MINUTE, "3 h 5 min"),
        (DAY - 1, "23 h 59 min"),
        (DAY, "1 d"),
        (2 * DAY + 4 * HOUR, "2 d 4 h"),
    ],
)
def test_a_duration_has_two_units(seconds: float, shown: str) -> None:
    assert words.duration(seconds) == shown


@pytest.mark.parametrize(
    ("amount", "shown", "signed"),
    [
        (None, "—", "—"),
        (0.0, "0.00", "$0.00"),
        (0.004, "0.00", "$0.00"),
        (0.42, "0.42", "$0.42"),
        (999.994, "999.99", "$999.99"),
        (1234.5, "1,234.50", "$1,234.50"),
        (-1.5, "-1.50", "-$1.50"),
    ],
)
def test_money_is_told_to_the_cent_and_never_made_up(amount: float | None, shown: str, signed: str) -> None:
    assert (words.money(amount), words.dollars(amount)) == (shown, signed)


@pytest.mark.parametrize("at", [None, 0.0, 1_796_040_000.0, 1e30, -1e30, math.inf, math.nan])
def test_a_time_of_day_is_five_cells_wide_whatever_the_time(at: float | None) -> None:
    assert len(words.clock(at)) == 5


def test_a_time_of_day_is_local() -> None:
    assert words.clock(1_796_040_000.0) == "12:00"
    assert words.clock_to_the_second(1_796_040_000.0) == "12:00:00"


@pytest.mark.parametrize(
    ("number", "shown"), [(0, "0 files"), (1, "1 file"), (2, "2 files"), (12_345, "12,345 files"), (-1, "-1 files")]
)
def test_a_count_agrees_with_its_noun(number: int, shown: str) -> None:
    assert words.count(number, "file") == shown


def test_a_plural_of_its_own_is_used() -> None:
    assert words.count(2, "entry", "entries") == "2 entries"
    assert words.count(1, "entry", "entries") == "1 entry"
