"""What a person does to a colony: stop, resume, keep, clean up, delete, move in the queue (spec 3.1, 3.2)."""

from collections.abc import Mapping
from dataclasses import replace

from msgspec import UNSET

from colonizer_engines.mothership.agents import Environments
from colonizer_engines.mothership.boot import Folders, remove_files
from colonizer_engines.mothership.colony import Colony
from colonizer_engines.mothership.errors import Refusal, StorageFull
from colonizer_engines.mothership.fleet import Change, Fleet
from colonizer_engines.mothership.repositories import RepositoryError
from colonizer_engines.mothership.runs import Runs
from colonizer_engines.mothership.scheduler import Scheduler
from colonizer_engines.mothership.session import ColonyId, Session, Status

PRIORITY_LIMIT = 1_000_000
PRIORITY_OF_RESUMED = 5
PRIORITY_OF_FRONT = 10

NOT_RESUMABLE = "this colony can't be resumed: it has to be stopped or parked and still have its worktree"

_RESUMABLE: frozenset[Status] = frozenset({"stopped", "failed", "parked"})
_BUSY_WITH_FILES: frozenset[Status] = frozenset({"publishing", "queued", "blocked", "parked"})
_PUBLISHABLE: frozenset[Status] = frozenset(
    {"running", "waiting_for_answer", "idle", "stopped", "failed", "no_changes", "parked"}
)

_COVERED_BY: Mapping[str, str] = {
    "supply_chain": "the same supply-chain target",
    "issue": "the same issue",
    "files": "overlapping files",
}


class Lifecycle:
    """Stops, resumes and removes colonies."""

    def __init__(
        self, fleet: Fleet, runs: Runs, scheduler: Scheduler, environments: Environments, folders: Folders
    ) -> None:
        self._fleet = fleet
        self._runs = runs
        self._scheduler = scheduler
        self._environments = environments
        self._folders = folders
        self._losing_files: set[ColonyId] = set()
        """Colonies whose worktree is being removed: no agent may come up in it."""

    # Stop and go

    async def stop(self, colony_id: str) -> tuple[str, Session]:
        """`stopped` or `already_stopped`, and the Session, once no agent of the colony is there any more.

        Raises:
            Refusal: 409, it is publishing.
        """
        colony = self._fleet.get(colony_id)
        if colony.session.status == "publishing":
            raise Refusal(409, "session is not running")
        if colony.session.terminal:
            await self._runs.end(colony.id)
            return "already_stopped", self._fleet.shown(colony)
        try:
            self._record_stop(colony)
        except StorageFull:
            # It may be this very agent that fills the disk, and nobody may depend on room to end it.
            await self._runs.end(colony.id)
            self._record_stop(self._fleet.get(colony_id))
        await self._runs.end(colony.id)
        return "stopped", self._fleet.shown(self._fleet.find(colony.id) or colony)

    def _record_stop(self, colony: Colony) -> None:
        with self._fleet.change() as change:
            stop_in(change, colony, None)
            if colony.session.live:
                change.log(colony.id, "stopping: ending the agent (the worktree is kept)")

    def resume(self, colony_id: str, agent_env: Mapping[str, str]) -> Session:
        """The Session, `starting` or `queued`, in its next run.

        Raises:
            Refusal: 409, its state does not allow it.
        """
        colony = self._fleet.get(colony_id)
        self._environments.give(colony.id, agent_env)
        if colony.session.status == "queued" and agent_env:
            # It waits for what its agent needs, and here it comes.
            self._scheduler.begin()
            self._scheduler.tick()
            return self._fleet.get(colony_id).session
        check_resumable(colony)
        if colony.id in self._losing_files:
            raise Refusal(409, NOT_RESUMABLE)
        return self.go_on(colony)

    def go_on(self, colony: Colony, resume_note: str | None = None) -> Session:
        """The Session of a colony that may be resumed, in its next run."""
        before = colony.session
        queued = replace(
            before,
            status="queued",
            priority=PRIORITY_OF_RESUMED if before.priority is UNSET else before.priority,
            error=None,
            attention=None,
            unseen_failure=False,
            mesh=None,
            local_port=None,
            preview_port=UNSET,
            suspended=UNSET,
            prewarm=UNSET,
            parked=UNSET,
            run_end_cause=UNSET,
            boot_timing=None,
            retry_at=UNSET,
            failure_class=UNSET,
            boot_retries=0,
            resume_note=before.resume_note if resume_note is None else resume_note,
        )
        starts = self._scheduler.starts_now(queued, self._scheduler.settings())
        session = self._scheduler.starting(replace(queued, priority=before.priority)) if starts else queued
        with self._fleet.change() as change:
            change.restart_log(colony.id)
            change.put_session(session)
            change.log(colony.id, "resuming on the kept worktree" if starts else "queued until a slot is free")
        if starts:
            self._scheduler.start_agent(colony.id)
        self._scheduler.begin()
        return self._fleet.get(colony.id).session

    # Marks

    def keep(self, colony_id: str) -> Session:
        """The Session, kept although other work covers it.

        Raises:
            Refusal: 409, nothing covers it, or it is kept already.
        """
        session = self._fleet.get(colony_id).session
        if not session.superseded or session.superseded.get("kept"):
            raise Refusal(409, "this colony is not superseded; there is nothing to keep")
        return self._put(replace(session, superseded={**session.superseded, "kept": True}))

    def seen(self, colony_id: str) -> None:
        """Notes that somebody looked at the failure."""
        session = self._fleet.get(colony_id).session
        if session.unseen_failure:
            self._put(replace(session, unseen_failure=False))

    def retain(self, colony_id: str, keep: bool) -> Session:
        """The Session, with its worktree kept or not."""
        return self._put(replace(self._fleet.get(colony_id).session, keep_worktree=keep))

    def check_publish(self, colony_id: str, writes_blocked: bool) -> None:
        """Never returns: publishing is not built yet.

        Raises:
            Refusal: 409, in the order of spec 3.1.
        """
        colony = self._fleet.get(colony_id)
        if writes_blocked:
            raise Refusal(
                409,
                "external writes are blocked (COLONIZER_NO_EXTERNAL_EFFECTS / COLONIZER_NO_WRITE); unset it to publish",
            )
        session = colony.session
        if session.status not in _PUBLISHABLE or session.suspended or colony.worktree is None:
            raise Refusal(409, "this session can't be published right now")
        raise Refusal(409, "publishing is not built yet in the local mothership")

    # Removal

    async def clean_up(self, colony_id: str) -> Session:
        """The Session, its worktree and artifacts gone; the branch stays.

        Raises:
            Refusal: 409, it is not over yet; 500, something cannot be removed.
        """
        session = self._fleet.get(colony_id).session
        if session.live or session.status in _BUSY_WITH_FILES:
            raise Refusal(409, "stop the session first")
        await self._remove_files(session.id)
        self._environments.forget(session.id)
        return self._put(replace(self._fleet.get(colony_id).session, cleaned_up=True, host_disk_bytes=None))

    async def delete(self, colony_id: str) -> ColonyId:
        """The id of the colony, of which nothing but the branch is left.

        Raises:
            Refusal: 409, it is not over yet; 500, something cannot be removed.
        """
        session = self._fleet.get(colony_id).session
        if session.live or session.status == "publishing":
            raise Refusal(409, "stop the colony first")
        if not session.terminal:
            await self.stop(colony_id)
        await self._remove_files(session.id)
        self._environments.forget(session.id)
        with self._fleet.change() as change:
            change.remove(session.id)
        return session.id

    async def _remove_files(self, colony: ColonyId) -> None:
        if colony in self._losing_files:
            raise Refusal(409, "its files are being removed already")
        self._losing_files.add(colony)
        try:
            await self._runs.end(colony)
            await remove_files(self._fleet.get(colony), self._folders)
        except RepositoryError as problem:
            raise Refusal(500, str(problem)) from problem
        finally:
            self._losing_files.discard(colony)

    # The queue

    def to_front(self, colony_id: str) -> Session:
        """The Session, before all others of the queue."""
        others = self._others_in_queue(colony_id)
        return self._prioritised(colony_id, max([*others, 0, PRIORITY_OF_FRONT]) + 1, "moved to the front of the queue")

    def to_back(self, colony_id: str) -> Session:
        """The Session, behind all others of the queue."""
        others = self._others_in_queue(colony_id)
        return self._prioritised(colony_id, min([*others, 0]) - 1, "moved to the back of the queue")

    def prioritise(self, colony_id: str, priority: int | None) -> Session:
        """The Session with this priority of its own, or with none."""
        self._others_in_queue(colony_id)
        if priority is not None:
            return self._prioritised(colony_id, priority, None)
        with self._fleet.change() as change:
            change.put_session(replace(self._fleet.get(colony_id).session, priority=UNSET))
            change.log(ColonyId(colony_id), "queue priority cleared; it follows its org again")
        return self._fleet.get(colony_id).session

    def _others_in_queue(self, colony_id: str) -> list[int]:
        if self._fleet.get(colony_id).session.status != "queued":
            raise Refusal(409, "only a queued colony has a place in the queue; this one is not queued")
        queued = self._fleet.in_status("queued")
        return [colony.session.effective_priority for colony in queued if colony.id != colony_id]

    def _prioritised(self, colony_id: str, priority: int, moved: str | None) -> Session:
        words = f"queue priority set to {priority}" if moved is None else f"{moved} (priority {priority})"
        with self._fleet.change() as change:
            change.put_session(replace(self._fleet.get(colony_id).session, priority=priority))
            change.log(ColonyId(colony_id), words)
        return self._fleet.get(colony_id).session

    def _put(self, session: Session) -> Session:
        with self._fleet.change() as change:
            change.put_session(session)
        return self._fleet.get(session.id).session


def check_resumable(colony: Colony) -> None:
    """Nothing, where the colony may be resumed.

    Raises:
        Refusal: 409, it may not.
    """
    session = colony.session
    asleep = session.status == "waiting_for_answer" and bool(session.suspended)
    if not (session.status in _RESUMABLE or asleep) or colony.worktree is None:
        raise Refusal(409, NOT_RESUMABLE)
    covered = session.superseded
    if covered and not covered.get("kept"):
        why = _COVERED_BY.get(str(covered.get("reason")), str(covered.get("reason")))
        raise Refusal(
            409,
            f"superseded by {covered.get('pr_url')}: {why} — this colony's work was covered;"
            " Keep it first to start it anyway",
        )


def stop_in(change: Change, colony: Colony, error: str | None) -> None:
    """Stops the colony as part of a change; `error` says why nobody asked for it."""
    session = replace(
        colony.session,
        status="stopped",
        error=colony.session.error if error is None else error,
        attention=None,
        suspended=UNSET,
        pending_answer=UNSET,
        prewarm=UNSET,
        parked=UNSET,
        run_end_cause=UNSET,
        blocked_reason=UNSET,
    )
    change.put(replace(colony, session=session).with_unheard_as_notes())
