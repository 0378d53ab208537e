"""What a mothership tells, as values.

Texts named plainly are safe to show; what must go back to the server unchanged is kept beside them, with `raw` in its
name or as the id that it is, and is never drawn. Times are seconds since 1970 (UTC), money is US dollars, and `None`
means unknown: never zero.
"""

import hashlib
import json
from collections.abc import Mapping, Sequence

from colonizer_client.identity import ColonyKey, QuestionId
from colonizer_client.mothership.status import HOLDS_ISSUE, LIVE, TERMINAL, Risk
from colonizer_config.value import Value


class Attention(Value, gc=False):
    """Something about a colony that a person may have to look at (spec 1.4)."""

    reason: str
    since: float | None = None
    detail: str = ""
    resumes_at: float | None = None

    @property
    def is_security_hold(self) -> bool:
        """Whether the colony may have got past one of its controls, or near a secret."""
        return self.reason == "control_defeat" or any(
            word in self.reason for word in ("secret", "redact", "defeat", "security", "credential")
        )


class Parked(Value, gc=False):
    """Why a colony is set aside and when it comes back by itself."""

    reason: str
    at: float | None = None
    resumes_at: float | None = None
    on_question: bool = False
    """A question was open when it was parked: answering it resumes the colony."""


class Superseded(Value, gc=False):
    """A merge that covered this colony's work."""

    reason: str
    pr_url: str
    at: float | None = None
    kept: bool = False


class Colony(Value, gc=False):
    """One row of a mothership's list: what views and rules need of a session (spec 1.6)."""

    key: ColonyKey
    shown_id: str
    repo_raw: str
    repo: str
    org: str
    issue: int | None
    title: str
    status: str
    branch: str
    base: str
    agent: str
    autopilot: bool
    sandbox: str
    created_at: float
    updated_at: float
    last_activity_at: float | None
    cost_usd: float | None
    """The known parts of the cost together; None when no part is known."""
    pr_url: str
    ci_state: str
    error: str
    attention: Attention | None = None
    parked: Parked | None = None
    superseded: Superseded | None = None
    suspended: bool = False
    answered_while_suspended: bool = False
    unseen_failure: bool = False
    waits_for_claim: bool = False
    queued_behind: str = ""
    blocked_reason: str = ""
    has_worktree: bool = False
    cleaned_up: bool = False
    pending_notes: int = 0

    @property
    def is_live(self) -> bool:
        """Whether an agent process is there, or is about to be."""
        return self.status in LIVE

    @property
    def is_terminal(self) -> bool:
        """Whether nothing goes on by itself."""
        return self.status in TERMINAL

    @property
    def may_ask(self) -> bool:
        """Whether an open question of the colony can be answered.

        The status counts before the question: a stopped colony can still show one (spec 13.1).
        """
        if self.status == "waiting_for_answer":
            return not self.answered_while_suspended
        if self.status in ("starting", "running"):
            return self.suspended  # being brought back with its question (spec 13.2)
        return self.status == "parked" and self.parked is not None and self.parked.on_question

    @property
    def holds_issue(self) -> bool:
        """Whether a second launch on the same issue would be refused because of this colony."""
        return self.issue is not None and self.status in HOLDS_ISSUE

    @property
    def changed_at(self) -> float:
        """When something last happened, by the server's clock."""
        return max(self.updated_at, self.last_activity_at or 0.0)


class RecentEvent(Value):
    """A line of a colony's recent past, as the server summed it up."""

    seq: int
    at: float | None
    kind: str
    summary: str


class ColonyDetail(Value):
    """What only the answer for one colony holds (spec 1.6, `GET /api/sessions/{id}`)."""

    colony: Colony
    instructions: str
    diagnosis: str
    recent: tuple[RecentEvent, ...]
    answered: tuple["AnsweredQuestion", ...]


class AnsweredQuestion(Value):
    """A decision on record: one question of a card and its answer, both as the server keeps them."""

    question_id: QuestionId
    text_raw: str
    answer_raw: object
    answered_at: float | None


class Option(Value):
    """One choice. `label_raw` is what goes into the answer."""

    label: str
    label_raw: str
    description: str = ""
    preview: str = ""


class Prompt(Value):
    """One question of a card. `text_raw` is the key of its answer."""

    text: str
    text_raw: str
    header: str
    options: tuple[Option, ...]
    multi_select: bool = False


class OpenQuestion(Value):
    """What a colony waits for (spec 3.1, `GET …/question`)."""

    question_id: QuestionId
    risk: Risk
    prompts: tuple[Prompt, ...]
    raw: Sequence[object]
    """The list as it came, to be sent back unchanged: an altered one is refused as a different question."""
    asked_at: float | None = None
    is_blocking: bool = False
    """A tool call of the agent hangs on the answer."""

    @property
    def fingerprint(self) -> str:
        """Tells this question from another one with the same id in a later run."""
        text = json.dumps([self.question_id, self.raw], sort_keys=True, ensure_ascii=True)
        return hashlib.sha256(text.encode()).hexdigest()[:16]

    @property
    def is_single_choice(self) -> bool:
        """Whether the card holds exactly one question, with options, of which one is chosen."""
        return len(self.prompts) == 1 and bool(self.prompts[0].options) and not self.prompts[0].multi_select


class FileChange(Value):
    """A file of a diff with the lines added and removed in it."""

    path: str
    added: int
    removed: int


class Diff(Value):
    """A colony's changes against the point where it branched off (spec 3.1, `GET …/diff`)."""

    base: str
    files: tuple[FileChange, ...]
    added: int
    removed: int
    text: str
    """The unified diff, safe to show, line feeds kept."""
    truncated: bool
    """The server cut the text, and the counts hold only what it kept: they are at-least figures."""


class Standing(Value):
    """What our token may do (spec 2.4, `GET /api/tokens/self`)."""

    is_owner: bool
    scope: str
    name: str = ""
    orgs: tuple[str, ...] = ()
    repos: tuple[str, ...] = ()
    max_concurrent: int | None = None
    """The most unfinished colonies of the token; None where the server does not tell, or sets no limit."""
    budget_usd_per_day: float | None = None

    def covers(self, scope: str) -> bool:
        """Whether the token reaches routes that need `scope` (spec 2.3)."""
        order = ("read", "operate", "launch", "owner")
        return self.is_owner or (
            self.scope in order and scope in order and order.index(self.scope) >= order.index(scope)
        )


class TokenRecord(Value):
    """A scoped token as its owner sees it: never the token itself."""

    id_raw: str
    id: str
    name: str
    scope: str
    orgs: tuple[str, ...]
    repos: tuple[str, ...]
    created_at: float | None
    last_used_at: float | None
    max_concurrent: int | None = None
    budget_usd_per_day: float | None = None


class TokenOrder(Value):
    """The scoped token that is to be made (spec 2.4, `POST /api/tokens`). No orgs and no repos is no limit."""

    name: str
    scope: str
    orgs: tuple[str, ...] = ()
    repos: tuple[str, ...] = ()
    max_concurrent: int | None = None
    budget_usd_per_day: float | None = None


class Holder(Value):
    """Who already works on the issue of a refused launch (spec 3.1, the `duplicate` of a 409)."""

    kind: str
    colony: str
    status: str
    pr_url: str
    what: str
    can_queue: bool


class Delivered(Value):
    """A message that was taken. `pending_notes` > 0: it is kept for the colony's next run."""

    message_id: str
    duplicate: bool
    pending_notes: int


class LaunchOrder(Value):
    """What to start (spec 3.1, `POST /api/sessions`). Left-out values are the mothership's to choose."""

    repo: str
    task: str = ""
    issue: int | None = None
    agent: str | None = None
    model: str | None = None
    subagent_model: str | None = None
    autopilot: bool | None = None
    allow_duplicate: bool = False
    queue_behind_holder: bool = False
    allow_epic: bool = False
    supply_chain: tuple[str, str] | None = None
    """Package and advisory."""
    agent_env: Mapping[str, str] | None = None
    """Values of the variables that the agent's settings name; for the local engine's private socket only."""
    idempotency_key: str | None = None


class LocalRepository(Value):
    """A repository that the local engine knows (`/api/local/repos`)."""

    name: str
    name_raw: str
    path: str


class Leftovers(Value):
    """What a colony's worktree holds that exists nowhere else (`/api/local/sessions/{id}/leftovers`)."""

    uncommitted: tuple[str, ...]
    """Changed and new paths; a new folder ends in `/`."""
    unmerged_commits: int
    """Commits on the colony's branch that its base does not have. They stay when the worktree goes."""
