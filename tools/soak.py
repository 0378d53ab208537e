"""Runs the storms of the tests many times over, on all cores: one line of JSON for each, and a failure for any toll.

Run by `make soak`. The seeds are fixed, and begin with those of `make test`; a storm that failed is named by its seed.
"""

import json
import logging
import multiprocessing
import os
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from pathlib import Path

from client.answer_storm import weather_answers
from client.approval_storm import weather_approvals
from client.drop_storm import DROPS_EACH, weather_drops
from client.toll import Toll

RUNS = 10_000
CHUNK = 50
"""Storms that share a database."""

Weather = Callable[[Sequence[int], Path], Toll]


def main() -> int:
    """Runs as many of each storm as the first argument says; the exit code says whether something went wrong."""
    runs = int(sys.argv[1]) if len(sys.argv) > 1 else RUNS
    answers = soak("answers", weather_answers, range(runs))
    drops = soak("socket drops", weather_drops, range(-(-runs // DROPS_EACH)))
    approvals = soak("approvals", weather_approvals, range(runs))
    return 0 if answers and drops and approvals else 1


def soak(name: str, weather: Weather, seeds: range) -> bool:
    """Whether storms of these seeds cost nothing; says so on one line."""
    started, toll = time.monotonic(), Toll()
    chunks = [seeds[start : start + CHUNK] for start in range(0, len(seeds), CHUNK)]
    with ProcessPoolExecutor(os.cpu_count(), multiprocessing.get_context("spawn")) as processes:
        for one in processes.map(partial(in_new_folder, weather), chunks):
            toll.add(one)
    figures = {
        "storm": name,
        "runs": toll.runs,
        "lost": toll.lost,
        "doubled": toll.doubled,
        "misdirected": toll.misdirected,
        "seconds": round(time.monotonic() - started, 1),
        "failed_seeds": toll.failed,
        "faults": dict(toll.faults.most_common()),
    }
    print(json.dumps(figures), flush=True)
    return toll.is_clean


def in_new_folder(weather: Weather, seeds: Sequence[int]) -> Toll:
    """The toll of these seeds, their files in a folder that goes with them."""
    # That a server wrote to a socket that had broken is what these storms are about.
    logging.getLogger("asyncio").setLevel(logging.ERROR)
    with tempfile.TemporaryDirectory() as folder:
        return weather(seeds, Path(folder))


if __name__ == "__main__":
    sys.exit(main())
