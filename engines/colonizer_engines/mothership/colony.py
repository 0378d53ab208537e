"""A colony as the embedded mothership keeps it: the Session that everyone sees, and what only the engine needs."""

from dataclasses import dataclass, replace
from pathlib import Path

from msgspec import UNSET

from colonizer_engines.mothership.question import DECISIONS_KEPT, Answer, Decision, OpenQuestion
from colonizer_engines.mothership.session import AnsweredQuestion, ColonyId, Note, Session
from colonizer_engines.mothership.worktrees import Worktree


@dataclass(frozen=True, slots=True)
class Origin:
    """Where a colony starts from: a repository, and its branch and commit at launch."""

    git_dir: str
    top: str
    branch: str
    commit: str


@dataclass(frozen=True, slots=True)
class ProcessMark:
    """An agent's process group, so that a later engine finds it again."""

    pid: int
    started_at: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Colony:
    """One colony. What is in memory is what is on disk."""

    session: Session
    epoch: int = 1
    """The number of its current run; grows at each resume."""
    question: OpenQuestion | None = None
    decisions: tuple[Decision, ...] = ()
    origin: Origin | None = None
    """None for a colony that another program made."""
    start_commit: str | None = None
    process: ProcessMark | None = None
    unheard_messages: tuple[Note, ...] = ()
    """Accepted, and not yet echoed by the agent: a run that ends turns them into notes for the next one."""
    unheard_answers: tuple[Answer, ...] = ()
    """Accepted, and not yet confirmed by the agent: the next run is told about them first."""

    @property
    def id(self) -> ColonyId:
        """Its id."""
        return self.session.id

    @property
    def worktree(self) -> Worktree | None:
        """Its worktree, or None where it has none: it never started, or it was cleaned up."""
        session = self.session
        if session.git_admin_dir is None or session.cleaned_up:
            return None
        admin = Path(session.git_admin_dir)
        return Worktree(
            path=Path(session.worktree),
            git_dir=Path(self.origin.git_dir) if self.origin else admin.parent.parent,
            admin_dir=admin,
            branch=session.branch,
            base=session.base or "",
            start_commit=self.start_commit or "",
        )

    def with_decisions(self, made: tuple[Decision, ...]) -> "Colony":
        """The colony with these decisions on record too; the Session shows all of them."""
        decisions = (*self.decisions, *made)[-DECISIONS_KEPT:]
        shown = tuple(
            AnsweredQuestion(
                question_id=decision.question_id,
                header=decision.header,
                question=decision.question,
                answer=decision.choice,
                response=decision.response or UNSET,
                answered_at=decision.answered_at,
            )
            for decision in decisions
        )
        return replace(
            self, decisions=decisions, session=replace(self.session, answered_questions=shown if shown else UNSET)
        )

    def with_unheard_as_notes(self) -> "Colony":
        """The colony whose run is over: what the agent never echoed waits for the next run."""
        if not self.unheard_messages:
            return self
        # A note carries the client's own id, a message on its way to the agent the one with the prefix.
        notes = (replace(note, id=note.id.removeprefix("u-")) for note in self.unheard_messages)
        session = replace(self.session, pending_notes=(*(self.session.pending_notes or ()), *notes))
        return replace(self, session=session, unheard_messages=())
