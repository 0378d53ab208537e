"""Storms of faults by fixed seeds; `make soak` runs many more of each."""

from pathlib import Path

import pytest

from client import answer_storm, approval_storm, drop_storm
from client.answer_storm import weather_answers
from client.approval_storm import weather_approvals
from client.drop_storm import DROPS_EACH, weather_drops
from client.toll import Toll

RUNS = 200
"""Of each storm: fault-injected answers, drops of a socket, and calls that wait for a person."""

PARTS = 5
"""Of which each storm's tests are made, so that they run in parallel."""

LOST_ONCE = (346, 6161, 7481)
"""Seeds of storms of answers that found faults, beyond the first `RUNS`."""


def part(number: int, seeds: int) -> range:
    return range(number * seeds // PARTS, (number + 1) * seeds // PARTS)


@pytest.mark.parametrize("number", range(PARTS))
def test_no_answer_is_lost_doubled_or_misdirected_whatever_fails(tmp_path: Path, number: int) -> None:
    toll = weather_answers(part(number, RUNS), tmp_path)
    assert toll == Toll(runs=RUNS // PARTS, faults=toll.faults)
    assert toll.faults.keys() >= set(answer_storm.FAULTS)


def test_what_once_was_lost_in_a_storm_is_lost_no_more(tmp_path: Path) -> None:
    assert weather_answers(LOST_ONCE, tmp_path).failed == []


@pytest.mark.parametrize("number", range(PARTS))
def test_no_event_is_lost_doubled_or_misdirected_however_the_sockets_drop(tmp_path: Path, number: int) -> None:
    toll = weather_drops(part(number, RUNS // DROPS_EACH), tmp_path)
    assert toll == Toll(runs=RUNS // PARTS, faults=toll.faults)
    assert toll.faults["sockets opened again"] >= toll.runs
    assert {fault.split(",")[0] for fault in toll.faults} >= set(drop_storm.KINDS)


@pytest.mark.parametrize("number", range(PARTS))
def test_no_call_is_carried_out_twice_or_without_approval_whoever_meets(tmp_path: Path, number: int) -> None:
    toll = weather_approvals(part(number, RUNS), tmp_path)
    assert toll == Toll(runs=RUNS // PARTS, faults=toll.faults)
    assert toll.faults.keys() >= set(approval_storm.MET)
