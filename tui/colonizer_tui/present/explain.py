"""What a colony's status means: what, why, since when, what comes next, and why it needs you or does not.

One case for each status and each reason of the specification (spec 1.2, 1.4, 1.5, 13.1).
"""

from collections.abc import Iterator, Mapping

from colonizer_client.attention import Ground, LeftOut, ground, left_out, waiting_since
from colonizer_client.mothership.models import Attention, Colony, OpenQuestion
from colonizer_client.snapshot import EndpointState, Health
from colonizer_client.text import safe_line
from colonizer_config.value import Value
from colonizer_tui.keys import Keymap
from colonizer_tui.present import abilities, states, words
from colonizer_tui.present.line import EMPTY, Line, Span, column, line, wrap
from colonizer_tui.present.states import Glyphs
from colonizer_tui.present.view import View

LABEL_WIDTH = 9
ERROR_LINES = 6
"""Lines of an error; `v` in the opened colony shows the log that led to it."""


class Case(Value):
    """A status, or a reason for attention."""

    what: str
    next: str
    """What happens by itself."""


STATUSES: Mapping[str, Case] = {
    "queued": Case(
        "It waits for a slot. Nothing of it runs yet.",
        "It starts by itself when a slot is free: the higher priority first, then the older one.",
    ),
    "blocked": Case(
        "It builds on another colony, which is paused, or has ended without a merge.",
        "It goes back into the queue when that one runs again. If that one is gone, it builds on the default branch.",
    ),
    "starting": Case(
        "Its worktree is made and its machine starts.",
        "The agent begins when that is done. Where it fails for a passing reason, it is tried again.",
    ),
    "running": Case("The agent works.", "It goes on until it asks you something or its turn is over."),
    "waiting_for_answer": Case(
        "The agent has asked you something and waits.",
        "Nothing until it is answered. After a while its machine may be put to sleep; the answer wakes it.",
    ),
    "idle": Case(
        "The agent's turn is over. It waits for a message and keeps its slot.",
        "Nothing, or after a while the mothership parks it.",
    ),
    "publishing": Case(
        "The mothership commits its work, pushes the branch and opens the pull request.",
        "It ends as pr open, as no changes, or as failed with the reason.",
    ),
    "pr_opened": Case(
        "Its pull request is open, and the mothership watches it.",
        "It becomes merged or closed together with its pull request.",
    ),
    "merged": Case("Its pull request is merged.", "Nothing: it is done."),
    "closed": Case(
        "Its pull request was closed without being merged.",
        "Nothing, unless the pull request is opened again: then it is pr open again.",
    ),
    "no_changes": Case("Publishing found nothing to publish.", "Nothing: it is done."),
    "parked": Case(
        "The mothership has set it aside. Its worktree is kept; it has no slot.", "Nothing until it is resumed."
    ),
    "stopped": Case(
        "It has ended: somebody stopped it, or its machine went away. Its worktree is kept.",
        "Nothing until it is resumed.",
    ),
    "failed": Case("It has ended with an error.", "Nothing until it is resumed."),
}

UNHEARD_OF = Case(
    "A state that this program does not know. The word is the mothership's.", "That is for the mothership to say."
)

_UNTIL_YOU_ACT = "Nothing until you act."

REASONS: Mapping[str, Case] = {
    "stalled": Case(
        "It should be at work and has shown no sign of life for a while.",
        "The mothership nudges the agent a few times.",
    ),
    "nudges_exhausted": Case("The agent was nudged as often as is allowed and did not go on.", _UNTIL_YOU_ACT),
    "waiting_for_answer": Case("Its question has been open for long.", "Nothing until it is answered."),
    "turn_lost_after_subagent": Case("A settler ended, and the agent's turn did not go on after it.", _UNTIL_YOU_ACT),
    "autopilot_held": Case(
        "Autopilot did not publish: its last turn did not end cleanly, or its work was not verified.",
        "Nothing until the next message. A second hold for the same cause fails the colony.",
    ),
    "verify_failed_repeatedly": Case(
        "Its work was not verified, and the agent has used up its attempts to mend it.", _UNTIL_YOU_ACT
    ),
    "hold_timeout": Case(
        "It was held, and nobody acted in time.",
        "It comes back by itself after 1 h, then after 3 h, then after 9 h. Unanswered it fails after that.",
    ),
    "hold_parked_unanswered": Case(
        "It was parked with its question open: too risky to be answered without a person.",
        "Nothing until it is answered; the answer resumes it.",
    ),
    "provider_quota_exhausted": Case(
        "The provider of its model has no quota left for it.", "It goes on when the quota is there again."
    ),
    "provider_retry": Case(
        "The provider of its model failed.", "It is tried again by itself, after 1, 5 and 15 minutes as a rule."
    ),
    "provider_outage": Case(
        "The provider of its model has been failing for longer.",
        "It is tried again by itself. A person is due only where that lasts for hours.",
    ),
    "waiting_for_account": Case(
        "The sign-in of the account that it uses has ended.",
        "It goes on when somebody signs that account in again, on the mothership.",
    ),
    "agent_failed": Case("The agent's program could not be started.", _UNTIL_YOU_ACT),
    "model_error": Case("Its model answered with an error.", "While it works it recovers by itself as a rule."),
    "idle_timeout": Case("It was parked for sitting idle; nothing is wrong with it.", "Nothing until it is resumed."),
    "control_defeat": Case(
        "It may have got past one of its controls.", "Nothing clears this but a message of yours, or its end."
    ),
    "exec_policy_loop": Case(
        "It keeps trying commands that the policy forbids.", "Nothing clears this but a message of yours, or its end."
    ),
    "looping": Case("The agent does the same thing again and again.", "Progress of the agent clears this by itself."),
    "operator_escalation": Case("The mothership's own operator could not mend it and asks for you.", _UNTIL_YOU_ACT),
    "judge_unreachable": Case(
        "The judge that may answer questions on its own cannot be reached.",
        "The question stays open until you answer it, or the judge is there again.",
    ),
    "no_push_access": Case("The mothership may not push to this repository.", _UNTIL_YOU_ACT),
    "repo_pr_rate_limit": Case(
        "This repository has had all pull requests that it may have today.", "It can be published tomorrow."
    ),
    "repo_cache_corruption_unrecoverable": Case(
        "The mothership's copy of this repository is damaged and could not be mended.", _UNTIL_YOU_ACT
    ),
}

SECURITY = Case("A security hold of the mothership.", "Nothing clears this but a message of yours, or its end.")
UNKNOWN_REASON = Case("The mothership marks it, for a reason that this program does not know.", _UNTIL_YOU_ACT)

GROUNDS: Mapping[Ground, str] = {
    Ground.UNSEEN_FAILURE: "It needs you: it failed, and nobody has opened it yet. To open it is enough to end that.",
    Ground.ENDED: "It does not need you: it has ended.",
    Ground.ANSWERED: "It does not need you: it is answered, and goes on when a slot is free.",
    Ground.ASKS: "It needs you: it waits for your answer.",
    Ground.NOTHING: "It does not need you: it neither asks nor is marked by the mothership.",
    Ground.RECOVERING: "It does not need you: an error of the model counts only once it no longer works.",
    Ground.IDLE: "It does not need you: being parked for sitting idle does not count.",
    Ground.ATTENTION: "It needs you: the mothership has marked it, and this mark counts.",
}

LEFT_OUT: Mapping[LeftOut, str] = {
    LeftOut.CASCADE: "Needs you leaves it out all the same: it failed only because the colony that it builds on did.",
    LeftOut.OVERTAKEN: "Needs you leaves it out all the same: a newer colony is at work on the same issue.",
    LeftOut.OLDER: "Needs you leaves it out all the same: a newer colony of the same issue stands for both.",
    LeftOut.OLD_QUESTION: "Needs you has one row for it and all others that nobody answered for three days.",
}


ACTS: Mapping[str, str] = {
    "answer": "answer it",
    "message": "write to the agent",
    "interrupt": "stop the agent's turn, not the colony",
    "stop": "stop it; worktree and branch are kept",
    "resume": "start its next run",
    "keep": "keep it, so that it can be resumed",
    "publish": "publish its work as a pull request",
    "diff": "read its changes",
    "clean_up": "remove its worktree; the branch stays",
}
"""What the keys do to a colony."""


def reason_case(reason: str) -> Case:
    """What a reason for attention, or for being parked, means."""
    known = REASONS.get(reason)
    if known is not None:
        return known
    return SECURITY if Attention(reason).is_security_hold else UNKNOWN_REASON


def explanation(colony: Colony, view: View, keymap: Keymap, width: int, glyphs: Glyphs) -> list[Line]:
    """All that can be said of the colony's status, in lines of at most `width` cells."""
    endpoint = view.snapshot.endpoint_of(colony.key)
    question = view.snapshot.questions.get(colony.key)
    shown = [*_heading(colony, question, view, width, glyphs), EMPTY]
    for label, text, role in _parts(colony, question, view):
        shown += _part(label, text, role, width)
    possible = [*_possible(colony, question, endpoint, keymap, width)]
    if possible:
        shown += [EMPTY, (Span("you can", "muted"),), *possible]
    return shown


def _heading(colony: Colony, question: OpenQuestion | None, view: View, width: int, glyphs: Glyphs) -> Iterator[Line]:
    yield from ((Span(part, "strong"),) for part in wrap(colony.title, width, 3))
    issue = f" #{colony.issue}" if colony.issue is not None else ""
    yield line(Span(f"{colony.shown_id}  {colony.key.endpoint}  {colony.repo}{issue}", "muted"))
    yield EMPTY
    look = states.last_look(colony, question, view.snapshot.endpoint_of(colony.key))
    since = _since(colony, question)
    ago = words.duration(view.server_now(colony.key) - since)
    yield line(
        Span(f"{glyphs[look.glyph]} ", look.role),
        Span(look.word, look.role),
        Span(f"  for {ago}, since {words.moment(since, view.now)}", "muted"),
    )


def _since(colony: Colony, question: OpenQuestion | None) -> float:
    if colony.status == "parked" and colony.parked is not None and colony.parked.at is not None:
        return colony.parked.at
    if colony.status in ("queued", "blocked"):
        return colony.created_at
    if colony.status == "waiting_for_answer" or (colony.attention is not None and not colony.is_terminal):
        return waiting_since(colony, question)
    return colony.updated_at


def _parts(colony: Colony, question: OpenQuestion | None, view: View) -> Iterator[tuple[str, str, str]]:
    """Label, text and role of each part."""
    endpoint = view.snapshot.endpoint_of(colony.key)
    if states.is_stale(endpoint):
        yield "as of", _silence(endpoint, view), "attention"
    yield "what", _what(colony, question), ""
    for text in _why(colony, question):
        yield "why", text, ""
    detail = view.snapshot.details.get(colony.key)
    if detail is not None and detail.diagnosis:
        yield str(colony.key.endpoint), detail.diagnosis, "muted"
    is_stale = states.is_stale(endpoint)
    if is_stale:
        yield "next", _way_back(endpoint, view), ""
    yield "" if is_stale else "next", _next(colony, view.server_now(colony.key)), ""
    found = ground(colony)
    seen = f"When last seen: {GROUNDS[found][0].lower()}{GROUNDS[found][1:]}" if is_stale else GROUNDS[found]
    yield "needs you", seen, "attention" if found.needs_you else "muted"
    if found.needs_you:
        among = [other for key, other in view.snapshot.colonies.items() if key.endpoint == colony.key.endpoint]
        why_not = left_out(colony, among, view.server_now(colony.key))
        if why_not is not None:
            yield "", LEFT_OUT[why_not], "muted"


def _silence(endpoint: EndpointState | None, view: View) -> str:
    if endpoint is None:
        return "Its host is no longer connected: this is what was known last."
    old = "" if endpoint.as_of is None else f"{words.duration(view.now - endpoint.as_of)} ago. "
    error = f" ({safe_line(endpoint.error)})" if endpoint.error else ""
    return f"{old}{endpoint.name} does not answer{error}: what follows is how it was when last seen."


def _way_back(endpoint: EndpointState | None, view: View) -> str:
    """How its host is heard of again."""
    if endpoint is None:
        return "Nothing is heard of it until its host is added again."
    place = f"in Connections ({view.shown('connections')})"
    if endpoint.health is Health.SIGNED_OUT:
        return f"Nothing is heard of it until you sign in: {view.shown('sign_in')} {place}."
    wait = "" if endpoint.retry_at is None else f" in {words.duration(endpoint.retry_at - view.now)}"
    return f"{endpoint.name} is asked again{wait}; {view.shown('resume')} {place} asks now."


def _what(colony: Colony, question: OpenQuestion | None) -> str:
    if colony.status == "waiting_for_answer" and colony.answered_while_suspended:
        return "It was answered while its machine slept, and waits for a slot."
    text = STATUSES.get(colony.status, UNHEARD_OF).what
    if question is not None and question.is_blocking:
        text += " A tool call waits for the answer."
    if colony.suspended:
        sleeping = "Its machine sleeps" if colony.status == "waiting_for_answer" else "Its machine is being woken"
        text += f" {sleeping}."
    return text


def _why(colony: Colony, question: OpenQuestion | None) -> Iterator[str]:
    """The reasons that are known, each a text."""
    attention, parked = colony.attention, colony.parked
    if question is not None and question.prompts:
        many = len(question.prompts)
        first = f"It asks {many} things, first" if many > 1 else "It asks"
        yield f"{first}: {question.prompts[0].text}"
    if attention is not None and not colony.is_terminal:
        yield _reason(attention.reason, attention.detail)
    if parked is not None and colony.status == "parked" and (attention is None or parked.reason != attention.reason):
        yield _reason(parked.reason, "")
    if colony.superseded is not None:
        kept = "It is kept all the same." if colony.superseded.kept else "Keep it, if it should go on all the same."
        by = colony.superseded.pr_url or "another pull request"
        yield f"{by} covers its work ({_worded(colony.superseded.reason) or 'no reason given'}). {kept}"
    if colony.queued_behind:
        yield f"Colony {colony.queued_behind} holds its issue: one works on an issue at a time."
    if colony.blocked_reason:
        yield f"The mothership says: {colony.blocked_reason}"
    if colony.error and colony.status in ("stopped", "failed", "parked", "idle"):
        yield f"The mothership says: {colony.error}"


def _reason(reason: str, detail: str) -> str:
    told = f" The mothership says: {detail}" if detail else ""
    return f"{_worded(reason) or 'no reason given'}: {reason_case(reason).what}{told}"


def _next(colony: Colony, now: float) -> str:
    if colony.status == "waiting_for_answer" and colony.answered_while_suspended:
        return "It goes on with the answer when a slot is free."
    back = colony.parked.resumes_at if colony.parked is not None and colony.status == "parked" else None
    if back is None and colony.attention is not None:
        back = colony.attention.resumes_at
    if back is not None and back > now and not colony.is_terminal:
        return f"It comes back by itself in {words.duration(back - now)}, at {words.moment(back, now)}."
    if colony.attention is not None and not colony.is_terminal and colony.status != "waiting_for_answer":
        return reason_case(colony.attention.reason).next
    if colony.status == "parked" and colony.parked is not None and colony.parked.reason in REASONS:
        return REASONS[colony.parked.reason].next
    if colony.status == "queued" and colony.queued_behind:
        return f"It starts when colony {colony.queued_behind} no longer holds the issue."
    if colony.status == "idle" and colony.autopilot:
        return "With autopilot it publishes by itself, after a clean turn that wrote the text of its pull request."
    return STATUSES.get(colony.status, UNHEARD_OF).next


def _worded(reason: str) -> str:
    return reason.replace("_", " ")


def _part(label: str, text: str, role: str, width: int) -> Iterator[Line]:
    rows = wrap(text, max(width - LABEL_WIDTH - 1, 8), ERROR_LINES)
    for place, row in enumerate(rows):
        yield line(Span(column(label if not place else "", LABEL_WIDTH) + " ", "muted"), Span(row, role))


def _possible(
    colony: Colony, question: OpenQuestion | None, endpoint: EndpointState | None, keymap: Keymap, width: int
) -> Iterator[Line]:
    for name in abilities.ACTIONS:
        if not abilities.refusal(name, colony, endpoint, question):
            rows = wrap(ACTS[name], max(width - LABEL_WIDTH - 1, 8))
            for place, row in enumerate(rows):
                key = keymap.shown(name) if not place else ""
                yield line(Span(f"{key:>{LABEL_WIDTH}} ", "key"), Span(row, ""))
