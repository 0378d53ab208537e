"""The selected colony at a glance: status and why, question, changes, last events."""

from collections.abc import Iterator

from colonizer_client.attention import waiting_since
from colonizer_client.mothership.models import Colony, OpenQuestion
from colonizer_client.mothership.status import Risk
from colonizer_client.snapshot import DiffState, EndpointState, Health
from colonizer_tui.keys import Keymap
from colonizer_tui.present import abilities, states, words
from colonizer_tui.present.line import EMPTY, Line, Span, column, line, width_of, wrap
from colonizer_tui.present.states import Glyphs
from colonizer_tui.present.view import View

RISK_ROLES = {
    Risk.READ_ONLY: "muted",
    Risk.WORKSPACE_WRITE: "",
    Risk.PUBLISH_AFFECTING: "attention",
    Risk.CREDENTIAL_ADJACENT: "danger",
    Risk.UNKNOWN: "danger-strong",
}
LABEL_WIDTH = 8
RECENT_EVENTS_SHOWN = 6
CHANGED_FILES_SHOWN = 8
OPTIONS_SHOWN = 9


def lines(colony: Colony, view: View, width: int, glyphs: Glyphs) -> list[Line]:
    """Everything that the inspector shows, from top to bottom."""
    endpoint = view.snapshot.endpoint_of(colony.key)
    question = view.snapshot.questions.get(colony.key)
    shown = [heading(colony, glyphs)]
    shown += [(Span(text, "strong"),) for text in wrap(colony.title, width, 3)]
    shown += _sentence_lines(colony, view, width)
    shown += _facts(colony, endpoint, question, width, glyphs)
    if question is not None:
        refusal = abilities.refusal("answer", colony, endpoint, question)
        shown += _question(question, width, glyphs, opens="" if refusal else view.shown("answer"))
    shown += _changed(view.snapshot.diffs.get(colony.key), width, glyphs, view.shown("diff"))
    shown += _last(colony, view, width, glyphs)
    return shown


def heading(colony: Colony, glyphs: Glyphs) -> Line:
    """Id, host and repository in one line."""
    del glyphs
    issue = f" #{colony.issue}" if colony.issue is not None else ""
    return line(
        Span(colony.shown_id, "muted"), "  ", Span(colony.key.endpoint, "info"), "  ", Span(colony.repo + issue, "")
    )


def sentence(colony: Colony, view: View) -> tuple[str, str]:
    """What the colony is doing and why, in one sentence, and its role."""
    endpoint = view.snapshot.endpoint_of(colony.key)
    question = view.snapshot.questions.get(colony.key)
    look = states.look(colony, question)
    if endpoint is not None and endpoint.health is not Health.LIVE and endpoint.as_of is not None:
        old = words.duration(view.now - endpoint.as_of)
        return f"{look.word} as of {old} ago: {endpoint.name} does not answer", "stale"
    now = view.server_now(colony.key)
    return _words_of(colony, question, now, view.keymap), look.role


def rule(title: str, width: int, glyphs: Glyphs) -> Line:
    """A section's heading."""
    bar = glyphs["rule"]
    start = f"{bar} {title} "
    return Span(f"{bar} ", "faint"), Span(title, "muted"), Span(f" {bar * max(width - len(start), 0)}", "faint")


def _words_of(colony: Colony, question: OpenQuestion | None, now: float, keymap: Keymap) -> str:
    waited = words.duration(now - waiting_since(colony, question))
    attention = colony.attention
    if attention is not None and attention.is_security_hold and not colony.is_terminal:
        return f"held for {waited}: {attention.detail or attention.reason.replace('_', ' ')}"
    match colony.status:
        case "waiting_for_answer" if colony.answered_while_suspended:
            return "answered · resumes when a slot is free"
        case "waiting_for_answer":
            things = (
                "" if question is None or len(question.prompts) < 2 else f" · it asks {len(question.prompts)} things"
            )
            return f"waiting for you · {waited}{things}"
        case "failed":
            return f"failed: {colony.error.partition(chr(10))[0] or 'no reason given'}"
        case "queued":
            return f"queued{_reason(colony)}"
        case "blocked":
            return f"blocked: {colony.blocked_reason or 'by its parent'}"
        case "parked":
            return _parked_words(colony, now)
        case "stopped":
            if colony.superseded is not None and not colony.superseded.kept:
                return f"stopped · covered by {colony.superseded.pr_url}"
            return f"stopped{': ' + colony.error.partition(chr(10))[0] if colony.error else ' · its worktree is kept'}"
        case "running" | "starting" | "idle":
            return _live_words(colony, now, keymap)
        case _:
            return f"{colony.status.replace('_', ' ')} · {words.age(now - colony.changed_at)} ago"


def _live_words(colony: Colony, now: float, keymap: Keymap) -> str:
    if colony.attention is not None:
        reason = colony.attention.reason.replace("_", " ")
        return f"{reason}{': ' + colony.attention.detail if colony.attention.detail else ''}"
    if colony.status == "idle":
        return f"its turn is over: {keymap.shown('message')} writes to it" + (
            f" · {colony.error.partition(chr(10))[0]}" if colony.error else ""
        )
    quiet = "" if colony.last_activity_at is None else f" · last sign {words.age(now - colony.last_activity_at)} ago"
    return f"{colony.status}{quiet}"


def _parked_words(colony: Colony, now: float) -> str:
    if colony.parked is None:
        return "parked"
    back = colony.parked.resumes_at
    when = f" · comes back in {words.duration(back - now)}" if back is not None and back > now else ""
    return f"parked: {colony.parked.reason.replace('_', ' ') or 'no reason given'}{when}"


def _reason(colony: Colony) -> str:
    if colony.queued_behind:
        return f" behind {colony.queued_behind}"
    return f": {colony.blocked_reason}" if colony.blocked_reason else ""


def _sentence_lines(colony: Colony, view: View, width: int) -> list[Line]:
    text, role = sentence(colony, view)
    return [(Span(part, role),) for part in wrap(text, width, 6)]


def _facts(
    colony: Colony, endpoint: EndpointState | None, question: OpenQuestion | None, width: int, glyphs: Glyphs
) -> Iterator[Line]:
    if states.is_unsandboxed(colony, endpoint):
        for text in wrap("not sandboxed: this agent can read and change what you can", width):
            yield (Span(text, "attention"),)
    yield EMPTY
    if question is not None:
        hangs = " · a tool call waits for it" if question.is_blocking else ""
        yield _fact("risk", question.risk.words + hangs, RISK_ROLES[question.risk])
    branch = f"{colony.branch} {glyphs['arrow']} {colony.base}" if colony.base else colony.branch
    if branch:
        yield _fact("branch", branch)
    yield _fact("agent", f"{colony.agent or words.UNKNOWN}{'  autopilot' if colony.autopilot else ''}")
    checks = colony.ci_state.replace("_", " ") or words.UNKNOWN
    cost = line(Span(column("cost", LABEL_WIDTH), "muted"), words.dollars(colony.cost_usd))
    yield (*cost, Span("   PR ", "muted"), Span(colony.pr_url or words.UNKNOWN), Span("   CI ", "muted"), Span(checks))
    if colony.pending_notes:
        yield _fact("notes", f"{words.count(colony.pending_notes, 'message')} kept for the next run")


def _fact(label: str, value: str, role: str = "") -> Line:
    return Span(column(label, LABEL_WIDTH), "muted"), Span(value, role)


def _question(question: OpenQuestion, width: int, glyphs: Glyphs, *, opens: str) -> Iterator[Line]:
    """`opens` is the key that opens the card, where it does."""
    yield EMPTY
    count = len(question.prompts)
    yield rule("question" if count < 2 else f"question 1 of {count}", width, glyphs)
    first = question.prompts[0] if question.prompts else None
    text = first.text if first is not None else "It asks without saying what; answer in your own words."
    for part in wrap(text, width, 6):
        yield (Span(part, "strong"),)
    options = first.options if first is not None else ()
    for option in options[:OPTIONS_SHOWN]:
        described = f"  {option.description}" if option.description else ""
        yield Span("  · ", "dim"), Span(option.label), Span(described, "muted")
    if len(options) > OPTIONS_SHOWN:
        yield Span("  · ", "dim"), Span(f"… and {len(options) - OPTIONS_SHOWN} more", "muted")
    yield Span("  · ", "dim"), Span("something else…" if first and first.options else "in your own words", "muted")
    if opens:
        told = line(Span(opens, "key"), Span(" opens the card", "muted"))
        yield (Span(" " * max(width - width_of(told), 0)), *told)


def _changed(state: DiffState | None, width: int, glyphs: Glyphs, shows_all: str) -> Iterator[Line]:
    if state is None:
        return
    if state.diff is None:
        if state.error or state.is_loading:
            yield EMPTY
            yield rule("changed", width, glyphs)
            for text in wrap(state.error or "reading the changes…", width)[:4]:
                yield (Span(text, "muted"),)
        return
    diff = state.diff
    yield EMPTY
    least = "at least " if diff.truncated else ""
    dated = "" if state.as_of is None else f" · as of {words.clock_to_the_second(state.as_of)}"
    when = " · reading…" if state.is_loading else dated
    yield rule(f"changed · {least}{words.count(len(diff.files), 'file')}{when}", width, glyphs)
    if not diff.files:
        yield (Span("nothing yet", "muted"),)
    for file in diff.files[:CHANGED_FILES_SHOWN]:
        counts = line(Span(f" +{file.added}", "added"), Span(f" {glyphs['minus']}{file.removed}", "removed"))
        room = width - width_of(counts)
        yield (Span(column(file.path, min(room, max(len(file.path), 1)))), *counts)
    if len(diff.files) > CHANGED_FILES_SHOWN:
        yield (Span(f"… and {len(diff.files) - CHANGED_FILES_SHOWN} more: {shows_all} shows all", "muted"),)


def _last(colony: Colony, view: View, width: int, glyphs: Glyphs) -> Iterator[Line]:
    detail = view.snapshot.details.get(colony.key)
    if detail is None:
        return
    if detail.diagnosis:
        yield EMPTY
        for text in wrap(detail.diagnosis, width, 2):
            yield (Span(text, "muted"),)
    if detail.recent:
        yield EMPTY
        yield rule("last", width, glyphs)
        recent = detail.recent[-RECENT_EVENTS_SHOWN:]
        room = min(max(len(event.kind) for event in recent), LABEL_WIDTH * 2 + 2)
        for event in reversed(recent):
            kind, summary = event.kind.replace("_", " "), event.summary
            if " " not in summary:
                summary = summary.replace("_", " ")  # a bare word of the protocol
            yield (
                Span(words.clock(event.at) + " ", "muted"),
                Span(column(kind, room) + " ", "dim"),
                Span("" if summary == kind else summary),
            )
