"""Everything that one agent started, and its end.

An agent's runner leads a session and a process group of its own, but what it starts can leave both (`setsid`). What no
child sheds by itself is its environment: every agent has its colony's id there (`COLONIZER_SESSION_ID`), so a process
belongs to the family that its group, its session or this id names.
"""

import os
import signal
import time
from contextlib import suppress

import psutil

COLONY_VARIABLE = "COLONIZER_SESSION_ID"

_END_TIMEOUT_S = 5.0
_RESCAN_S = 0.01
_SAME_START_S = 0.005
"""Half a tick of the kernel's start times."""


def signal_family(leader: int | None, colony: str, number: signal.Signals) -> bool:
    """Whether anybody was there to get the signal.

    Args:
        leader: the process id whose group and session are meant; None for neither.
        colony: the id that the processes have in their environment; empty for none.
        number: what to send. SIGKILL reaches the group at one instant, so that no fork of a member escapes it.
    """
    members = _members(leader, colony)
    if number is signal.SIGKILL and leader is not None and any(_in_group(member.pid, leader) for member in members):
        with suppress(OSError):
            os.killpg(leader, number)
    for member in members:
        with suppress(psutil.Error):
            member.send_signal(number)
    return bool(members)


def end_family(leader: int | None, colony: str, timeout_s: float = _END_TIMEOUT_S) -> bool:
    """Whether anybody was there; nobody is when this returns, unless the kernel does not let go of them in time."""
    deadline = time.monotonic() + timeout_s
    found = False
    # A member can have forked between the scan and the signal: only an empty scan is the end.
    while signal_family(leader, colony, signal.SIGKILL):
        found = True
        if time.monotonic() > deadline:
            break
        time.sleep(_RESCAN_S)
    return found


def end_leftover(pid: int, started_at: float, colony: str = "") -> bool:
    """Whether an earlier engine left something of this runner; it has ended then.

    A process that merely got the same process id later is never touched: the leader is known by its start time or by
    the colony's id, a group whose leader is gone by the colony's id in its members' environment.

    Args:
        pid: the runner's process id, as `Runner.pid` had it.
        started_at: the runner's start, as `Runner.started_at` had it.
        colony: the runner's `COLONIZER_SESSION_ID`; with it, what left the group is found as well.
    """
    return end_family(pid if _is_leader(pid, started_at, colony) else None, colony)


def _is_leader(pid: int, started_at: float, colony: str) -> bool:
    """Whether the group and session of this id are those of the runner that started at that time."""
    try:
        leader = psutil.Process(pid)
        return abs(leader.create_time() - started_at) < _SAME_START_S or _is_of(leader, colony)
    except psutil.NoSuchProcess:
        # The kernel gives an id to nobody while a group of that id lives, so one marked member speaks for all.
        return any(_is_of(member, colony) or (not colony and _mark(member) != "") for member in _members(pid, ""))


def _members(leader: int | None, colony: str) -> list[psutil.Process]:
    """The live processes of the family; this process itself is never one of them."""
    found: list[psutil.Process] = []
    for pid in psutil.pids():
        if pid == os.getpid():
            continue
        with suppress(psutil.Error):
            process = psutil.Process(pid)
            belongs = (leader is not None and _in_group(pid, leader)) or _is_of(process, colony)
            if belongs and process.status() != psutil.STATUS_ZOMBIE:
                found.append(process)
    return found


def _in_group(pid: int, leader: int) -> bool:
    try:
        return leader in (os.getsid(pid), os.getpgid(pid))
    except OSError:
        return False


def _is_of(process: psutil.Process, colony: str) -> bool:
    return colony != "" and _mark(process) == colony


def _mark(process: psutil.Process) -> str:
    try:
        return process.environ().get(COLONY_VARIABLE, "")
    except (psutil.Error, OSError):
        return ""
