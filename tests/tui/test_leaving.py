"""What leaving the cockpit at any moment leaves behind."""

import gc
from pathlib import Path

import pytest

from moments import still_app

pytestmark = pytest.mark.anyio


async def test_work_whose_turn_did_not_come_leaves_no_complaint_on_the_terminal(tmp_path: Path) -> None:
    begun: list[str] = []

    async def work() -> None:
        begun.append("work")

    app = still_app(tmp_path, [])
    async with app.run_test():
        app.start(work)
        app.workers.cancel_all()
    gc.collect()  # Python complains of a coroutine that nobody awaited when it goes, and warnings are errors here
    assert begun == []
