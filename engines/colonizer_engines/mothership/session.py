"""The Session object, as the wire has it, and what its statuses mean (spec 1.2, 1.6)."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, NewType

import msgspec
from msgspec import UNSET, UnsetType

ColonyId = NewType("ColonyId", str)
"""Eight hexadecimal characters."""

Status = Literal[
    "queued",
    "blocked",
    "starting",
    "running",
    "waiting_for_answer",
    "idle",
    "publishing",
    "pr_opened",
    "merged",
    "closed",
    "no_changes",
    "parked",
    "stopped",
    "failed",
]

_LIVE: tuple[Status, ...] = ("starting", "running", "waiting_for_answer", "idle")
LIVE = frozenset(_LIVE)
"""An agent works or waits, and a slot is taken."""

_TERMINAL: tuple[Status, ...] = ("pr_opened", "merged", "closed", "no_changes", "stopped", "failed")
TERMINAL = frozenset(_TERMINAL)

_HOLDING: tuple[Status, ...] = (*_LIVE, "queued", "blocked", "publishing", "pr_opened")
ISSUE_HOLDING = frozenset(_HOLDING)
"""A second launch on the same issue is refused while one of these is there (spec 1.2)."""

Json = Mapping[str, object]


UNTITLED = "Open session"
"""The title of a colony that was given neither a title nor an issue (spec 1.6)."""


@dataclass(frozen=True, slots=True)
class Note:
    """A message of a person that waits for the next run."""

    text: str
    id: str


@dataclass(frozen=True, slots=True, kw_only=True)
class AnsweredQuestion:
    """One decision on record, as the Session shows it."""

    question_id: str
    header: str
    question: str
    answer: object
    """As it was sent: a label, a list of labels, or free text."""
    response: str | UnsetType = UNSET
    answered_at: str


@dataclass(frozen=True, slots=True)
class BootPhase:
    """One step of a start that is done."""

    name: str
    ms: int


@dataclass(frozen=True, slots=True)
class BootTiming:
    """How long the steps of the last start took; the total once it is over."""

    total_ms: int | UnsetType = UNSET
    phases: tuple[BootPhase, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Session:
    """One colony, as every client sees it: the fields of spec 1.6 in the order of the published program.

    `None` is written as null, `UNSET` leaves the key out.
    """

    id: ColonyId
    repo: str
    org: str
    issue: int | None = None
    issue_title: str = ""
    instructions: str = ""
    status: Status = "stopped"
    branch: str
    base: str | None = None
    parent: str | UnsetType = UNSET
    stack: bool = False
    stack_fork: str | UnsetType = UNSET
    launched_by_token: str | UnsetType = UNSET
    external_ref: str | UnsetType = UNSET
    idempotency_key: str | UnsetType = UNSET
    origin: str | UnsetType = UNSET
    auto_note: str | UnsetType = UNSET
    retry_of: str | UnsetType = UNSET
    placement: str | UnsetType = UNSET
    worktree: str
    git_admin_dir: str | None = None
    sandbox: str = "none"
    mesh: Json | None = None
    local_port: int | None = None
    preview_port: int | UnsetType = UNSET
    agent: str = ""
    autopilot: bool = True
    autofix: bool | UnsetType = UNSET
    automerge: bool | UnsetType = UNSET
    fix_for: Json | UnsetType = UNSET
    pr_url: str | None = None
    merged_at: str | UnsetType = UNSET
    pr_draft_base_red: bool = False
    pr_opened_at: str | UnsetType = UNSET
    ci_state: str | UnsetType = UNSET
    changed_paths: Sequence[str] | UnsetType = UNSET
    summary: str | UnsetType = UNSET
    publish_stage: str | UnsetType = UNSET
    publishing_holds_slot: bool = False
    needs_rebase: bool = False
    rebase_orphaned: bool = False
    unseen_failure: bool = False
    queued_behind: str | UnsetType = UNSET
    claim_wait: Literal[True] | UnsetType = UNSET
    priority: int | UnsetType = UNSET
    verify: str | UnsetType = UNSET
    verification: Json | UnsetType = UNSET
    error: str | None = None
    blocked_reason: str | UnsetType = UNSET
    pr_rewrite_nudged: Literal[True] | UnsetType = UNSET
    publish_resume_pending: Literal[True] | UnsetType = UNSET
    cost_usd: float | None = None
    model_usage: Json | UnsetType = UNSET
    model_tier: str | UnsetType = UNSET
    model_override: str | UnsetType = UNSET
    subagent_model_override: str | UnsetType = UNSET
    claude_account: str | UnsetType = UNSET
    model_routing: Json | UnsetType = UNSET
    allowed_providers: Sequence[str] | UnsetType = UNSET
    allowed_models: Sequence[str] | UnsetType = UNSET
    sensitivity: str | UnsetType = UNSET
    model_substitutions: Sequence[Json] | UnsetType = UNSET
    routed_cost_usd: float | None = None
    routed_tokens: int | None = None
    host_disk_bytes: int | None = None
    cleaned_up: bool = False
    keep_worktree: bool = False
    attention: Json | None = None
    parked: Json | UnsetType = UNSET
    suspended: Json | UnsetType = UNSET
    run_end_cause: str | UnsetType = UNSET
    hold_resumes: int = 0
    hold_cause: str | UnsetType = UNSET
    hold_cause_repeats: int = 0
    verify_fix_rounds: int = 0
    provider_retries: int = 0
    agent_session: str | UnsetType = UNSET
    pending_answer: Json | UnsetType = UNSET
    prewarm: Json | UnsetType = UNSET
    pending_notes: tuple[Note, ...] | UnsetType = UNSET
    answered_questions: tuple[AnsweredQuestion, ...] | UnsetType = UNSET
    auto_fixes: Sequence[Json] | UnsetType = UNSET
    operator: Sequence[Json] | UnsetType = UNSET
    switch_note: str | UnsetType = UNSET
    resume_note: str | UnsetType = UNSET
    secret_fix_rounds: int = 0
    push_conflict_rounds: int = 0
    supply_chain: Json | UnsetType = UNSET
    supply_chain_targets: Sequence[Json] | UnsetType = UNSET
    superseded: Json | UnsetType = UNSET
    last_activity_at: str | None = None
    boot_timing: BootTiming | None = None
    boot_cpus: int | None = None
    boot_memory: str | None = None
    boot_image: str | UnsetType = UNSET
    boot_root_disk: str | UnsetType = UNSET
    app_slot: str | None = None
    boot_attempt_started_at: int | UnsetType = UNSET
    failure_class: str | UnsetType = UNSET
    retry_at: str | UnsetType = UNSET
    boot_retries: int = 0
    config: Json | UnsetType = UNSET
    created_at: str
    updated_at: str

    @property
    def live(self) -> bool:
        """Whether an agent works or waits in it."""
        return self.status in LIVE

    @property
    def holds_slot(self) -> bool:
        """Whether it takes one of the places for colonies that work at the same time (spec 1.2)."""
        if self.status == "publishing":
            return self.publishing_holds_slot
        asleep = bool(self.suspended) and not (self.prewarm and self.prewarm.get("started_at"))
        return self.live and not asleep

    @property
    def terminal(self) -> bool:
        """Whether nothing more happens to it by itself."""
        return self.status in TERMINAL

    @property
    def effective_priority(self) -> int:
        """Its place in the queue: higher starts first (spec 3.2); there are no settings of an org here."""
        return 0 if self.priority is UNSET else self.priority

    @property
    def total_cost_usd(self) -> float:
        """What it cost so far, for a token's budget; unknown counts as nothing."""
        return (self.cost_usd or 0.0) + (self.routed_cost_usd or 0.0)


def branch_name(colony: ColonyId, issue: int | None) -> str:
    """The branch of a colony's worktree (spec 8.6)."""
    return f"colonizer/session-{colony}" if issue is None else f"colonizer/issue-{issue}-{colony}"


def decode_session(record: object) -> Session:
    """The Session of a decoded record; fields that it lacks take their defaults.

    Raises:
        msgspec.ValidationError: A field has the wrong type, or a required one is missing.
    """
    return msgspec.convert(record, Session)
