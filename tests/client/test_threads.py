import asyncio
import subprocess
import sys
import threading

import pytest

from client.hand_clock import LONG_S
from colonizer_client.clock import SystemClock
from colonizer_client.threads import OwnThreads

pytestmark = pytest.mark.anyio


async def test_results_and_errors_come_back() -> None:
    loop = asyncio.get_running_loop()
    threads = OwnThreads()
    assert await loop.run_in_executor(threads, lambda: threading.current_thread().daemon)
    with pytest.raises(ZeroDivisionError):
        await loop.run_in_executor(threads, lambda: 1 // 0)


async def test_jobs_that_hang_keep_no_other_waiting() -> None:
    loop = asyncio.get_running_loop()
    threads, release = OwnThreads(), threading.Event()
    hanging = [loop.run_in_executor(threads, release.wait) for _ in range(50)]
    async with asyncio.timeout(LONG_S):
        assert await loop.run_in_executor(threads, lambda: "done") == "done"
    release.set()
    assert await asyncio.gather(*hanging) == [True] * 50


async def test_a_job_that_was_cancelled_before_it_began_does_not_run() -> None:
    ran = threading.Event()
    future = OwnThreads().submit(ran.set)
    future.result(LONG_S)
    assert ran.is_set()


def test_a_job_that_hangs_does_not_hold_up_the_end_of_the_program() -> None:
    program = (
        f"import sys; sys.path[:] = {sys.path!r}\n"
        "import asyncio, threading\n"
        "from colonizer_client.threads import OwnThreads\n"
        "async def main():\n"
        "    loop = asyncio.get_running_loop()\n"
        "    loop.set_default_executor(OwnThreads())\n"
        "    begun = threading.Event()\n"
        "    hanging = asyncio.ensure_future(asyncio.to_thread(lambda: (begun.set(), threading.Event().wait())))\n"
        "    await asyncio.to_thread(begun.wait)\n"
        "    hanging.cancel()\n"
        "asyncio.run(main())\n"
        "print('ended')\n"
    )
    run = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=60, check=True)
    assert (run.stdout, run.stderr) == ("ended\n", "")


async def test_the_machines_own_clock_goes_forward() -> None:
    clock = SystemClock()
    before, started = clock.now(), clock.monotonic()
    await clock.sleep(0)
    assert clock.now() >= before > 1_700_000_000
    assert clock.monotonic() >= started
