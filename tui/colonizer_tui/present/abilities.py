"""What can be done with a colony now, and why not."""

from collections.abc import Callable, Mapping

from colonizer_client.mothership.models import Colony, OpenQuestion
from colonizer_client.snapshot import EndpointState, Health

ALLOWED = ""

_SCOPES: Mapping[str, str] = {
    "answer": "operate",
    "message": "operate",
    "interrupt": "operate",
    "stop": "operate",
    "resume": "operate",
    "keep": "operate",
    "publish": "launch",
    "clean_up": "owner",
    "colonize": "launch",
    "tokens": "owner",
}
"""The least scope of an action's route (spec 2.3)."""


def host_refusal(action: str, endpoint: EndpointState | None) -> str:
    """Why the host takes no such action now; empty when it does."""
    if endpoint is None:
        return "its host is no longer connected"
    if endpoint.health is Health.SIGNED_OUT:
        return f"{endpoint.name} refuses the token: {endpoint.error}"
    if endpoint.health is not Health.LIVE:
        return f"{endpoint.name} does not answer: {endpoint.error or 'connecting'}"
    needed = _SCOPES.get(action)
    if needed is not None and endpoint.standing is not None and not endpoint.standing.covers(needed):
        return f"the token of {endpoint.name} has scope {endpoint.standing.scope}; this needs {needed}"
    return ALLOWED


def refusal(action: str, colony: Colony | None, endpoint: EndpointState | None, question: OpenQuestion | None) -> str:
    """Why the action is not possible on this colony now; empty when it is."""
    if colony is None:
        return "no colony is selected"
    judge = _JUDGES.get(action)
    if judge is None:
        return ALLOWED
    return judge(colony, question) or host_refusal(action, endpoint)


def _answer(colony: Colony, question: OpenQuestion | None) -> str:
    if colony.answered_while_suspended:
        return "it is answered; it goes on when a slot is free"
    if not colony.may_ask:
        return f"it asks nothing: it is {_state(colony)}"
    return ALLOWED if question is not None else "its question is not read yet"


def _message(colony: Colony, question: OpenQuestion | None) -> str:
    del question
    if colony.status in ("merged", "closed", "no_changes"):
        return f"it is {_state(colony)}: a message would go nowhere"
    if colony.status == "pr_opened":
        return "its pull request is open: comment there"
    if colony.status == "publishing":
        return "it is publishing and takes no message"
    return ALLOWED


def _interrupt(colony: Colony, question: OpenQuestion | None) -> str:
    del question
    if colony.status == "waiting_for_answer" and colony.suspended:
        return "no turn runs: it sleeps until it is answered"
    return ALLOWED if colony.status in ("running", "waiting_for_answer") else f"no turn runs: it is {_state(colony)}"


def _stop(colony: Colony, question: OpenQuestion | None) -> str:
    del question
    if colony.status == "publishing":
        return "it is publishing; that cannot be stopped"
    return f"it is {_state(colony)} already" if colony.is_terminal else ALLOWED


def _resume(colony: Colony, question: OpenQuestion | None) -> str:
    del question
    if colony.status in ("stopped", "failed", "parked"):
        if colony.has_worktree and not colony.cleaned_up:
            return ALLOWED
        if colony.cleaned_up and colony.pr_url:
            return ALLOWED
        return "its worktree is gone" if colony.cleaned_up else "it never had a worktree: launch it again"
    if colony.status == "pr_opened" and colony.cleaned_up and colony.pr_url:
        return ALLOWED
    if colony.status == "waiting_for_answer" and colony.suspended:
        return ALLOWED
    return f"it is {_state(colony)}: only a stopped, failed or parked colony is resumed"


def _keep(colony: Colony, question: OpenQuestion | None) -> str:
    del question
    if colony.superseded is None:
        return "no other work covers it: there is nothing to keep"
    return "it is kept already" if colony.superseded.kept else ALLOWED


def _publish(colony: Colony, question: OpenQuestion | None) -> str:
    del question
    if colony.pr_url and colony.status in ("pr_opened", "merged", "closed"):
        return "its pull request is there: o opens it in the browser"
    if colony.status not in PUBLISHABLE:
        return f"it is {_state(colony)} and cannot be published now"
    if colony.suspended:
        return "it sleeps until it is answered"
    if colony.cleaned_up:
        return "its worktree was cleaned up"
    return ALLOWED if colony.has_worktree else "it has no worktree yet"


def _diff(colony: Colony, question: OpenQuestion | None) -> str:
    del question
    if colony.cleaned_up:
        return "its worktree was cleaned up"
    return ALLOWED if colony.has_worktree else "it has no worktree yet"


def _clean_up(colony: Colony, question: OpenQuestion | None) -> str:
    del question
    if not colony.is_terminal:
        return f"stop it first: it is {_state(colony)}"
    if colony.cleaned_up:
        return "it is cleaned up already"
    return ALLOWED if colony.has_worktree else "there is nothing to clean up"


def _state(colony: Colony) -> str:
    return colony.status.replace("_", " ")


PUBLISHABLE = frozenset({"running", "waiting_for_answer", "idle", "stopped", "failed", "no_changes", "parked"})
"""From which status a colony can be published (spec 3.1)."""

ACTIONS = ("answer", "resume", "message", "diff", "publish", "keep", "interrupt", "stop", "clean_up")
"""The actions that depend on the selected colony, what helps most first."""

_JUDGES: Mapping[str, Callable[[Colony, OpenQuestion | None], str]] = {
    "answer": _answer,
    "message": _message,
    "interrupt": _interrupt,
    "stop": _stop,
    "resume": _resume,
    "keep": _keep,
    "publish": _publish,
    "diff": _diff,
    "clean_up": _clean_up,
}
