"""From a mothership's JSON to models (spec 1.6, 3.1). Rows are read one by one: a bad one never costs the others."""

from collections.abc import Mapping, Sequence
from typing import Any, cast

import msgspec
from msgspec.structs import replace

from colonizer_client.errors import Unreadable
from colonizer_client.identity import ColonyId, ColonyKey, EndpointName, QuestionId
from colonizer_client.mothership import wire
from colonizer_client.mothership.models import (
    AnsweredQuestion,
    Attention,
    Colony,
    ColonyDetail,
    Diff,
    FileChange,
    Holder,
    Leftovers,
    LocalRepository,
    OpenQuestion,
    Option,
    Parked,
    Prompt,
    RecentEvent,
    Standing,
    Superseded,
    TokenRecord,
)
from colonizer_client.mothership.status import Risk


class _Session(msgspec.Struct):
    """The keys of a session that we read; any type is taken, since each field is judged by itself."""

    id: Any = None
    repo: Any = None
    org: Any = None
    issue: Any = None
    issue_title: Any = None
    instructions: Any = None
    status: Any = None
    branch: Any = None
    base: Any = None
    agent: Any = None
    autopilot: Any = None
    sandbox: Any = None
    created_at: Any = None
    updated_at: Any = None
    last_activity_at: Any = None
    cost_usd: Any = None
    routed_cost_usd: Any = None
    pr_url: Any = None
    ci_state: Any = None
    error: Any = None
    attention: Any = None
    parked: Any = None
    superseded: Any = None
    suspended: Any = None
    pending_answer: Any = None
    unseen_failure: Any = None
    claim_wait: Any = None
    queued_behind: Any = None
    blocked_reason: Any = None
    git_admin_dir: Any = None
    cleaned_up: Any = None
    pending_notes: Any = None


class _Page(msgspec.Struct):
    """The keys of a page of sessions that we read."""

    sessions: msgspec.Raw


class _Frame(msgspec.Struct):
    """The key of a frame that holds a session."""

    session: msgspec.Raw


ID_LIMIT = 200
"""Ids have 8 characters; one beyond this, or with characters that cannot be shown, is no id that we could send back."""

_FIELDS = _Session.__struct_fields__
_ROWS = msgspec.json.Decoder(list[msgspec.Raw])
_PAGE = msgspec.json.Decoder(_Page)
_ROW = msgspec.json.Decoder(_Session)
_FRAME = msgspec.json.Decoder(_Frame)


class Rows:
    """Reads the lists of one mothership. A row that is word for word as in the list before is not decoded again."""

    def __init__(self, endpoint: EndpointName) -> None:
        self._endpoint = endpoint
        self._had: dict[int | None, Colony] = {}
        """By the hash of the row's words; none of rows that had to be parsed with the whole list."""

    def read(self, body: bytes) -> tuple[tuple[Colony, ...], int]:
        """As `colonies`."""
        rows = _session_rows(body)
        had, self._had = self._had, {}
        readable: list[Colony] = []
        for row in rows:
            words = hash(row) if isinstance(row, bytes) else None
            colony = had.get(words) or _colony_or_none(self._endpoint, row)
            if colony is not None:
                readable.append(colony)
                self._had[words] = colony
        self._had.pop(None, None)
        return tuple(readable), len(rows) - len(readable)


def colonies(endpoint: EndpointName, body: bytes) -> tuple[tuple[Colony, ...], int]:
    """The rows of a list in either shape, bare array or page (spec 3.1), and how many of them were unreadable.

    Raises:
        Unreadable: The body is neither.
    """
    return Rows(endpoint).read(body)


def colony(endpoint: EndpointName, value: object) -> Colony:
    """The colony of a parsed session object.

    Raises:
        Unreadable: It is no object, or has no id.
    """
    fields = wire.maybe_mapping(value)
    if fields is None:
        raise Unreadable("a session that is no object")
    return _colony(endpoint, _Session(**{name: fields.get(name) for name in _FIELDS}))


def framed(endpoint: EndpointName, body: bytes) -> Colony:
    """The colony of a frame that holds a session, the rest of the frame left unread.

    Raises:
        Unreadable: The frame is no JSON, or the session has no id.
    """
    try:
        return _colony(endpoint, _ROW.decode(_FRAME.decode(body).session))
    except (msgspec.MsgspecError, RecursionError):
        return colony(endpoint, wire.mapping(wire.parse(body)).get("session"))


def detail(endpoint: EndpointName, value: object) -> ColonyDetail:
    """The colony with what only the answer for one colony holds.

    Raises:
        Unreadable: It is no object, or has no id.
    """
    fields = wire.mapping(value)
    return ColonyDetail(
        colony=colony(endpoint, value),
        instructions=wire.text(fields.get("instructions"), 20_000),
        diagnosis=wire.line(wire.mapping(fields.get("diagnosis")).get("text")),
        recent=tuple(map(_recent, wire.mappings(fields.get("recent_events")))),
        answered=tuple(map(_answered, wire.mappings(fields.get("answered_questions")))),
    )


def open_question(value: object) -> OpenQuestion:
    """The open question, from `GET …/question` or from a `question` event.

    Raises:
        Unreadable: It has no id, so that no answer could name it.
    """
    fields = wire.mapping(value)
    question_id = fields.get("question_id")
    if not isinstance(question_id, str):
        raise Unreadable("a question without an id")
    raw = wire.sequence(fields.get("questions"))
    return OpenQuestion(
        question_id=QuestionId(question_id),
        risk=Risk.from_wire(fields.get("risk")),
        prompts=tuple(map(_prompt, wire.mappings(raw))),
        raw=raw,
        is_blocking=wire.flag(fields.get("blocking")) or fields.get("kind") == "exec_policy",
    )


def asked(question: OpenQuestion, at: float | None) -> OpenQuestion:
    """The question with the time of its event."""
    return replace(question, asked_at=at)


def with_event(question: OpenQuestion, event: OpenQuestion) -> OpenQuestion:
    """The question as the server serves it, with what only its event tells."""
    return replace(question, asked_at=event.asked_at, is_blocking=event.is_blocking)


def diff(value: object) -> Diff:
    """A colony's diff."""
    fields = wire.mapping(value)
    return Diff(
        base=wire.line(fields.get("base")),
        files=tuple(
            FileChange(
                wire.line(file.get("path")),
                wire.integer(file.get("added")) or 0,
                wire.integer(file.get("removed")) or 0,
            )
            for file in wire.mappings(fields.get("files"))
        ),
        added=wire.integer(fields.get("added")) or 0,
        removed=wire.integer(fields.get("removed")) or 0,
        text=wire.text(fields.get("diff")),
        truncated=wire.flag(fields.get("truncated")),
    )


def standing(value: object) -> Standing:
    """What a token may do.

    Raises:
        Unreadable: Neither a scope nor an owner is named.
    """
    fields = wire.mapping(value)
    is_owner = wire.flag(fields.get("owner"))
    scope = wire.word(fields.get("scope"))
    if not is_owner and not scope:
        raise Unreadable("the token's standing names no scope")
    return Standing(
        is_owner=is_owner,
        scope="owner" if is_owner else scope,
        name=wire.line(fields.get("name"), wire.TITLE_LIMIT),
        orgs=wire.words(fields.get("orgs")),
        repos=wire.words(fields.get("repos")),
        max_concurrent=wire.integer(fields.get("max_concurrent")),
        budget_usd_per_day=wire.number(fields.get("budget_usd_per_day")),
    )


def token_record(value: object) -> TokenRecord:
    """A scoped token as its owner sees it."""
    fields = wire.mapping(value)
    return TokenRecord(
        id_raw=wire.raw(fields.get("id")),
        id=wire.line(fields.get("id"), 40),
        name=wire.line(fields.get("name"), wire.TITLE_LIMIT),
        scope=wire.word(fields.get("scope")),
        orgs=wire.words(fields.get("orgs")),
        repos=wire.words(fields.get("repos")),
        created_at=wire.moment(fields.get("created_at")),
        last_used_at=wire.moment(fields.get("last_used_at")),
        max_concurrent=wire.integer(fields.get("max_concurrent")),
        budget_usd_per_day=wire.number(fields.get("budget_usd_per_day")),
    )


def holder(body: Mapping[str, object]) -> Holder | None:
    """Who holds the issue, from the body of a refused launch; None where the refusal has another cause."""
    fields = wire.maybe_mapping(body.get("duplicate"))
    if fields is None:
        return None
    return Holder(
        kind=wire.word(fields.get("kind")),
        colony=wire.line(fields.get("colony"), 40),
        status=wire.word(fields.get("status")),
        pr_url=wire.line(fields.get("pr_url")),
        what=wire.line(fields.get("what"), 100),
        can_queue=wire.flag(fields.get("queueable")),
    )


def local_repository(value: object) -> LocalRepository:
    """A repository of the local engine."""
    fields = wire.mapping(value)
    return LocalRepository(
        name=wire.line(fields.get("name")), name_raw=wire.raw(fields.get("name")), path=wire.line(fields.get("path"))
    )


def leftovers(value: object) -> Leftovers:
    """What a worktree of the local engine holds that exists nowhere else."""
    fields = wire.mapping(value)
    return Leftovers(
        uncommitted=tuple(map(wire.line, wire.sequence(fields.get("uncommitted")))),
        unmerged_commits=wire.integer(fields.get("unmerged_commits")) or 0,
    )


def _session_rows(body: bytes) -> Sequence[bytes | object]:
    try:
        listed = _PAGE.decode(body).sessions if body.lstrip()[:1] == b"{" else body
        return list(map(bytes, _ROWS.decode(listed)))
    except (msgspec.MsgspecError, RecursionError):
        value = wire.parse(body)
    rows = wire.mapping(value).get("sessions", value)
    if not isinstance(rows, list):
        raise Unreadable(f"not a list of colonies: {wire.excerpt(body)}")
    return cast(Sequence[object], rows)


def _colony_or_none(endpoint: EndpointName, row: bytes | object) -> Colony | None:
    try:
        if isinstance(row, bytes):
            try:
                return _colony(endpoint, _ROW.decode(row))
            except (msgspec.MsgspecError, RecursionError):
                return colony(endpoint, wire.parse(row))
        return colony(endpoint, row)
    except Unreadable:
        return None


def _colony(endpoint: EndpointName, session: _Session) -> Colony:
    if not isinstance(session.id, str) or not 0 < len(session.id) <= ID_LIMIT or not session.id.isprintable():
        raise Unreadable("a session without a usable id")
    repo_raw = wire.raw(session.repo)
    repo = wire.word(repo_raw)
    known_costs = [cost for cost in map(wire.number, (session.cost_usd, session.routed_cost_usd)) if cost is not None]
    created_at = wire.moment(session.created_at) or 0.0
    return Colony(
        key=ColonyKey(endpoint, ColonyId(session.id)),
        shown_id=wire.line(session.id, 40),
        repo_raw=repo if repo == repo_raw else repo_raw,
        repo=repo,
        org=wire.word(session.org) or wire.word(repo.partition("/")[0]),
        issue=wire.integer(session.issue),
        title=_title(session),
        status=wire.word(session.status) or "stopped",  # spec 1.2: a record without a status reads as stopped
        branch=wire.line(session.branch, wire.TITLE_LIMIT),
        base=wire.word(session.base),
        agent=wire.word(session.agent),
        autopilot=wire.flag(session.autopilot),
        sandbox=wire.line(session.sandbox, wire.TITLE_LIMIT),
        created_at=created_at,
        updated_at=wire.moment(session.updated_at) or created_at,
        last_activity_at=wire.moment(session.last_activity_at),
        cost_usd=wire.number(sum(known_costs)) if known_costs else None,
        pr_url=wire.line(session.pr_url),
        ci_state=wire.word(session.ci_state),
        error=wire.text(session.error, 20_000),
        attention=_attention(wire.maybe_mapping(session.attention)),
        parked=_parked(wire.maybe_mapping(session.parked)),
        superseded=_superseded(wire.maybe_mapping(session.superseded)),
        suspended=isinstance(session.suspended, dict),
        answered_while_suspended=isinstance(session.pending_answer, dict),
        unseen_failure=wire.flag(session.unseen_failure),
        waits_for_claim=wire.flag(session.claim_wait),
        queued_behind=wire.line(session.queued_behind, wire.TITLE_LIMIT),
        blocked_reason=wire.line(session.blocked_reason),
        has_worktree=isinstance(session.git_admin_dir, str),
        cleaned_up=wire.flag(session.cleaned_up),
        pending_notes=len(wire.sequence(session.pending_notes)),
    )


def _title(session: _Session) -> str:
    title = wire.line(session.issue_title, wire.TITLE_LIMIT)
    if title and title != "Open session":
        return title
    task = wire.line(session.instructions, wire.TITLE_LIMIT)
    issue = wire.integer(session.issue)
    return task or title or ("Untitled" if issue is None else f"Issue #{issue}")


def _attention(fields: Mapping[str, object] | None) -> Attention | None:
    if fields is None:
        return None
    detail_words = fields.get("detail") or fields.get("summary") or fields.get("message")
    return Attention(
        reason=wire.word(fields.get("reason")) or "unknown",
        since=wire.moment(fields.get("since")),
        detail=wire.line(detail_words),
        resumes_at=wire.moment(fields.get("retry_at")) or wire.moment(fields.get("reset_at")),
    )


def _parked(fields: Mapping[str, object] | None) -> Parked | None:
    if fields is None:
        return None
    return Parked(
        reason=wire.word(fields.get("reason")),
        at=wire.moment(fields.get("at")),
        resumes_at=wire.moment(fields.get("resets_at")),
        on_question=fields.get("question_risk") is not None,
    )


def _superseded(fields: Mapping[str, object] | None) -> Superseded | None:
    if fields is None:
        return None
    return Superseded(
        reason=wire.word(fields.get("reason")),
        pr_url=wire.line(fields.get("pr_url")),
        at=wire.moment(fields.get("at")),
        kept=wire.flag(fields.get("kept")),
    )


def _prompt(fields: Mapping[str, object]) -> Prompt:
    text_raw = wire.raw(fields.get("question"))
    return Prompt(
        text=wire.text(text_raw, 20_000),
        text_raw=text_raw,
        header=wire.line(fields.get("header"), wire.TITLE_LIMIT),
        options=tuple(
            Option(
                label=wire.line(option.get("label")),
                label_raw=wire.raw(option.get("label")),
                description=wire.line(option.get("description")),
                preview=wire.text(option.get("preview"), 20_000),
            )
            for option in wire.mappings(fields.get("options"))
        ),
        multi_select=wire.flag(fields.get("multi_select")),
    )


def _answered(fields: Mapping[str, object]) -> AnsweredQuestion:
    return AnsweredQuestion(
        QuestionId(wire.raw(fields.get("question_id"))),
        wire.raw(fields.get("question")),
        fields.get("answer"),
        wire.moment(fields.get("answered_at")),
    )


def _recent(fields: Mapping[str, object]) -> RecentEvent:
    return RecentEvent(
        seq=wire.integer(fields.get("seq")) or 0,
        at=wire.moment(fields.get("ts")),
        kind=wire.word(fields.get("type")),
        summary=wire.line(fields.get("summary")),
    )
