"""What a new engine does with what an earlier one left (local decisions on the engine's life)."""

import asyncio
from dataclasses import replace

from colonizer_engines.mothership.colony import Colony
from colonizer_engines.mothership.fleet import Change, Fleet
from colonizer_engines.mothership.lifecycle import stop_in
from colonizer_engines.mothership.runner import end_leftover

KILLED = "the engine was killed while this colony ran; its worktree is kept: resume it to go on"
STOPPED = "the engine was stopped while this colony ran; its worktree is kept: resume it to go on"
PUBLISHING = "the harness restarted while publishing; the worktree is intact, publish again"


async def recover(fleet: Fleet) -> None:
    """Ends the agents that an earlier engine left, so that two writers never share a worktree, and says so.

    A colony that was being started goes back into the queue, one that was at work is stopped with the reason.
    """
    colonies = list(fleet.colonies())
    for colony in colonies:
        mark = colony.process
        if mark is not None:
            await asyncio.to_thread(end_leftover, mark.pid, mark.started_at, colony.id)
    with fleet.change() as change:
        for colony in colonies:
            _settle(change, colony)


def _settle(change: Change, colony: Colony) -> None:
    settled = colony if colony.process is None else replace(colony, process=None)
    session = colony.session
    if session.status == "starting" and session.git_admin_dir is None:
        change.put(replace(settled, session=replace(session, status="queued")))
        change.log(colony.id, "the engine ended while this colony was being started; it is queued again")
    elif session.live and not session.suspended:
        stop_in(change, settled, KILLED)
        change.log(colony.id, KILLED, "warn")
    elif session.status == "publishing":
        change.put(replace(settled, session=replace(session, status="failed", error=PUBLISHING, unseen_failure=True)))
    elif settled is not colony:
        change.put(settled)
