"""Who has claimed a row of the cockpit's database, told so that another process knows whether that one still lives."""

import os
import uuid


def new_claimant() -> str:
    """A name for one claimer in this process, which no later process with the same id shares."""
    return f"{_process_name(os.getpid())} {uuid.uuid4().hex[:8]}"


def is_alive(claimant: str) -> bool:
    """Whether the process of a claimer is still there."""
    import psutil

    pid, _, started = claimant.rpartition(" ")[0].partition(" ")
    try:
        process = psutil.Process(int(pid))
        # The time moves a little when the machine's clock is corrected.
        is_same = abs(process.create_time() - float(started)) < 2
        return is_same and process.status() != psutil.STATUS_ZOMBIE
    except (psutil.Error, ValueError):
        return False


def _process_name(pid: int) -> str:
    import psutil  # needed with the first claim, not for the first picture

    return f"{pid} {psutil.Process(pid).create_time():.2f}"
