"""GET `/api/queues`: everything that waits, and what can be done about it (spec 3.2)."""

import platform
from collections.abc import Mapping

from starlette.responses import Response

from colonizer_engines.mothership.api.replies import json_reply
from colonizer_engines.mothership.api.routes import Call
from colonizer_engines.mothership.mothership import Mothership
from colonizer_engines.mothership.scheduler import queue_order
from colonizer_engines.mothership.session import Session

_HOLD_WORDS = ("secret", "redact", "defeat", "security", "credential")


async def get_queues(call: Call) -> Response:
    """GET `/api/queues`."""
    mothership = call.mothership
    name = platform.node() or "local"
    waiting = [colony.session for colony in mothership.fleet.colonies() if _waits(colony.session)]
    rows = [_row(mothership, session, name) for session in sorted(waiting, key=queue_order)]
    query = call.request.query_params
    depth = len(mothership.fleet.in_status("queued"))
    taken, ceiling = mothership.scheduler.slots_taken(), mothership.scheduler.settings().local.max_parallel
    return json_reply(
        {
            "rows": [row for row in rows if _wanted(row, query)],
            "hosts": [
                {
                    "name": name,
                    "reachable": True,
                    "slots_in_use": taken,
                    "slots_ceiling": ceiling,
                    "running": taken,
                    "parked": len(mothership.fleet.in_status("parked")) or None,
                    "queued": depth or None,
                    "queue_depth": depth,
                    "over_ceiling": taken > ceiling,
                }
            ],
            "draining": False,
            "external_writes_blocked": mothership.given.writes_blocked,
            "queue_depth": depth,
        }
    )


def _waits(session: Session) -> bool:
    return session.status in ("queued", "blocked", "parked", "waiting_for_answer") or session.attention is not None


def _row(mothership: Mothership, session: Session, host: str) -> dict[str, object]:
    reason, detail = _why(mothership, session)
    superseded = bool(session.superseded) and not (session.superseded or {}).get("kept")
    hold = _is_policy_hold(session)
    why_not: dict[str, str] = {}
    if session.status != "parked":
        why_not["resume"] = "only parked colonies can be resumed"
    elif superseded and not hold:
        why_not["resume"] = "superseded by a newer colony; Keep it first"
    if session.status == "publishing":
        why_not["stop"] = "it is publishing right now"
    elif session.terminal:
        why_not["stop"] = "already stopped"
    why_not["restart"] = (
        "on a release policy hold; release it from the colony's page first"
        if hold
        else "already on the current version"
    )
    return {
        "id": session.id,
        "org": session.org,
        "repo": session.repo,
        "issue": session.issue,
        "title": session.issue_title,
        "branch": session.branch,
        "host": host,
        "agent": session.agent,
        "status": session.status,
        "created_at": session.created_at,
        "priority": session.effective_priority,
        "reason": reason,
        "detail": detail,
        "attention": session.attention,
        "resumes_at": (session.parked or {}).get("resets_at"),
        "held": superseded,
        "policy_hold": hold,
        "actions": {action: action not in why_not for action in ("resume", "stop", "restart")},
        "why_not": why_not,
    }


def _why(mothership: Mothership, session: Session) -> tuple[object, object]:
    attention = None if session.attention is None else session.attention.get("reason")
    if session.status == "parked":
        return (session.parked or {}).get("reason"), session.error
    if session.status == "waiting_for_answer":
        return "waiting_for_answer", session.error
    if session.status == "blocked":
        return "blocked", session.blocked_reason or None
    if session.status == "queued":
        gate = mothership.scheduler.gate(session, mothership.scheduler.settings())
        return (attention, None) if gate is None else (gate.kind, gate.words)
    return attention, session.error


def _is_policy_hold(session: Session) -> bool:
    reason = "" if session.attention is None else str(session.attention.get("reason"))
    return any(word in reason for word in _HOLD_WORDS)


def _wanted(row: Mapping[str, object], query: Mapping[str, str]) -> bool:
    repo = str(row["repo"]).lower()
    asked = query.get("repo", "").lower()
    return (
        all(name not in query or row[name] == query[name] for name in ("host", "reason", "agent"))
        and (not asked or asked in (repo, repo.partition("/")[2]))
        and any(
            query.get("q", "").lower() in str(row[name]).lower() for name in ("repo", "issue", "title", "branch", "id")
        )
    )
