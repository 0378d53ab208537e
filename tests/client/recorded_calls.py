"""The calls of ours that a recorded request stands for, and whether what came of its reply is what was recorded."""

import re
from collections.abc import Callable
from datetime import datetime
from typing import Any, cast
from urllib.parse import parse_qs

from client.samples import HQ
from colonizer_client.answers import AnswerBody
from colonizer_client.errors import ClientError, Conflict, Forbidden, NotFound, Refusal, ServerFault, SignInNeeded
from colonizer_client.identity import ColonyId
from colonizer_client.mothership import calls
from colonizer_client.mothership.calls import Call
from colonizer_client.mothership.models import (
    Colony,
    ColonyDetail,
    Delivered,
    Diff,
    LaunchOrder,
    OpenQuestion,
    Standing,
    TokenOrder,
    TokenRecord,
)
from colonizer_client.mothership.replies import Reply, json_of
from colonizer_client.text import safe_text
from recorded import Json

SESSION = "/api/sessions/([^/?]+)"

Made = Callable[[re.Match[str], Json], Call[Any]]


def _id(found: re.Match[str]) -> ColonyId:
    return ColonyId(found[1])


def _page(found: re.Match[str], _: Json) -> Call[Any]:
    asked = {name: int(values[0]) for name, values in parse_qs(found[2]).items()}
    return calls.log_page(_id(found), limit=asked["limit"])


def _launch(_: re.Match[str], body: Json) -> Call[Any]:
    order = LaunchOrder(str(body.get("repo")), task=str(body.get("instructions", "")), autopilot=body.get("autopilot"))
    return calls.launch(HQ, order)


def _answer(found: re.Match[str], body: Json) -> Call[Any]:
    return calls.answer(
        _id(found),
        AnswerBody(
            str(body.get("question_id")), body.get("answers") or {}, body.get("response"), body.get("questions")
        ),
    )


def _mint(_: re.Match[str], body: Json) -> Call[Any]:
    order = TokenOrder(str(body.get("name")), str(body.get("scope")))
    return calls.mint_token(order).as_json()  # words stand in the place of the token that was recorded


ROUTES: list[tuple[str, str, Made]] = [
    ("GET", "/api/tokens/self", lambda _, body: calls.standing()),
    ("GET", "/api/tokens", lambda _, body: calls.tokens()),
    ("POST", "/api/tokens", _mint),
    ("DELETE", "/api/tokens/([^/]+)", lambda found, body: calls.revoke_token(found[1])),
    ("GET", "/api/status", lambda _, body: calls.server_status()),
    ("GET", "/api/maps/([^/]+/[^/]+)", lambda found, body: calls.repository_map(found[1])),
    ("GET", r"/api/sessions(?:\?.*)?", lambda _, body: calls.colonies(HQ)),
    ("POST", "/api/sessions", _launch),
    ("GET", SESSION, lambda found, body: calls.colony(HQ, _id(found))),
    ("GET", f"{SESSION}/question", lambda found, body: calls.question(_id(found))),
    ("POST", f"{SESSION}/answer", _answer),
    (
        "POST",
        f"{SESSION}/messages",
        lambda found, body: calls.message(_id(found), str(body.get("id")), str(body.get("text"))),
    ),
    ("POST", f"{SESSION}/stop", lambda found, body: calls.stop(HQ, _id(found))),
    ("POST", f"{SESSION}/resume", lambda found, body: calls.resume(HQ, _id(found))),
    ("POST", f"{SESSION}/keep", lambda found, body: calls.keep(HQ, _id(found))),
    ("POST", f"{SESSION}/cleanup", lambda found, body: calls.clean_up(HQ, _id(found))),
    ("POST", f"{SESSION}/seen", lambda found, body: calls.seen(_id(found))),
    ("POST", f"{SESSION}/prewarm", lambda found, body: calls.prewarm(_id(found))),
    ("POST", f"{SESSION}/publish", lambda found, body: calls.publish(HQ, _id(found))),
    ("GET", f"{SESSION}/diff", lambda found, body: calls.diff(_id(found))),
    ("GET", rf"{SESSION}/events\?(.*)", _page),
]

NOT_ASKED = {
    "pages, which are for browsers, and routes that are none": {
        *("GET /", "PATCH /api/sessions", "GET /api/sessions/", "GET /api/nothing-here", "GET /api/usage"),
        *("GET /api/quota", "GET /api/needs", "GET /api/feed/needs"),
    },
    "what is about the mothership and not about its colonies": {
        *("GET /api/activity", "GET /api/archive", "GET /api/attention", "GET /api/chat", "GET /api/chat/approvals"),
        *("GET /api/decisions", "GET /api/findings", "GET /api/fleet", "GET /api/handoff", "GET /api/history/search"),
        *("GET /api/hosts", "GET /api/loops", "POST /api/loops", "GET /api/maps/acme/widgets/files"),
        *("GET /api/memory/proposals", "GET /api/merge-train", "GET /api/models", "GET /api/modules"),
        *("PUT /api/modules/sandbox", "PUT /api/modules/watchdog", "GET /api/orgs", "GET /api/providers"),
        *("GET /api/queues", "GET /api/repos", "GET /api/spend", "POST /api/admin/drain"),
    },
    "what of a colony no face shows or does": {
        *("DELETE …", "GET …/behind", "GET …/commits", "GET …/egress", "GET …/files", "GET …/files/pr.md/content"),
        *("GET …/files/none/content", "GET …/files/report.txt/content", "GET …/files/..%2Fissue.json/content"),
        *("GET …/findings", "GET …/handoff", "GET …/transcript", "POST …/move-to-back", "POST …/move-to-front"),
        *("POST …/priority", "POST …/retain", "POST …/retry"),
    },
}
"""What the client asks no mothership for. The replies are read as plain JSON or text, and their refusals in full."""

REFUSALS: dict[int, type[Refusal]] = {401: SignInNeeded, 403: Forbidden, 404: NotFound, 409: Conflict}


def call_of(request: Json) -> Call[Any] | None:
    """The call that makes such a request, None where the client has none."""
    body = request.get("json")
    for method, route, made in ROUTES:
        found = re.fullmatch(route, request["path"])
        if found is not None and request["method"] == method:
            return made(found, cast("Json", body) if isinstance(body, dict) else {})
    return None


def route_of(request: Json) -> str:
    """Method and route, without the query and the colony's id."""
    path = request["path"].partition("?")[0]
    return f"{request['method']} {re.sub(r'^/api/sessions/[0-9a-f]{8}', '…', path)}"


def plain_call(request: Json, response: Json) -> Call[Any]:
    """A call for what the client asks of no mothership yet."""

    def text(reply: Reply) -> str:
        return reply.body_of_success().decode()

    return Call(request["method"], request["path"], json_of if "json" in response else text)


def differences(response: Json, outcome: object) -> str:
    """What of a reply was misread or lost; empty where nothing was."""
    status = response["status"]
    raw: Any = response.get("json")
    if status >= 400:
        return _refusal(status, response, outcome)
    if isinstance(outcome, ClientError):
        return f"raised {outcome!r}"
    match outcome:
        case Colony():
            return "; ".join(misread(outcome, raw))
        case (Colony() as colony, bool() as had_ended):
            fate = [] if had_ended is (raw["result"] == "already_stopped") else ["another fate"]
            return "; ".join([*misread(colony, raw), *fate])
        case (tuple(), int()):
            colonies, unreadable = cast("tuple[tuple[Colony, ...], int]", outcome)
            listed = cast("list[Json]", raw if isinstance(raw, list) else raw["sessions"])
            if unreadable or len(colonies) != len(listed):
                return "another list"
            return "; ".join(word for each, one in zip(colonies, listed, strict=True) for word in misread(each, one))
        case ColonyDetail():
            lost = [] if len(outcome.recent) == len(raw.get("recent_events", [])) else ["recent events"]
            return "; ".join([*misread(outcome.colony, raw), *lost])
        case OpenQuestion():
            return "" if list(outcome.raw) == raw["questions"] else "another question"
        case Diff():
            facts = [(file.path, file.added, file.removed) for file in outcome.files]
            expected = [(safe_text(file["path"]), file["added"], file["removed"]) for file in raw["files"]]
            wrong = (
                facts != expected or outcome.text != safe_text(raw["diff"]) or outcome.truncated is not raw["truncated"]
            )
            return "another diff" if wrong else ""
        case Delivered():
            return "" if (outcome.message_id, outcome.duplicate) == (raw["id"], raw["duplicate"]) else "another message"
        case Standing():
            return "" if (outcome.is_owner, outcome.scope) == (raw["owner"], raw["scope"]) else "another standing"
        case tuple():
            tokens = cast("tuple[TokenRecord, ...]", outcome)
            return "" if [token.id_raw for token in tokens] == [token["id"] for token in raw] else "other tokens"
        case None:
            return "" if status == 204 or raw is not None else "nothing"
        case _:
            return "" if outcome == response.get("json", response.get("text", "")) else "another value"


def misread(colony: Colony, raw: Json) -> list[str]:
    """The names of what a colony shows otherwise than its session says."""
    costs = [raw[name] for name in ("cost_usd", "routed_cost_usd") if raw[name] is not None]
    attention, parked, superseded = raw["attention"], raw.get("parked"), raw.get("superseded")
    expected = {
        "key": (HQ, raw["id"]),
        "repo_raw": raw["repo"],
        "org": raw["org"],
        "issue": raw["issue"],
        "status": raw["status"],
        "branch": raw["branch"],
        "base": raw["base"] or "",
        "agent": raw["agent"],
        "autopilot": raw["autopilot"],
        "created_at": moment(raw["created_at"]),
        "updated_at": moment(raw["updated_at"]),
        "last_activity_at": moment(raw["last_activity_at"]),
        "cost_usd": sum(costs) if costs else None,
        "pr_url": raw["pr_url"] or "",
        "ci_state": raw.get("ci_state") or "",
        "error": raw["error"] or "",
        "attention": None if attention is None else (attention["reason"], moment(attention["since"])),
        "parked": None if parked is None else (parked["reason"], moment(parked["at"])),
        "superseded": None if superseded is None else (superseded["pr_url"], superseded["kept"]),
        "suspended": "suspended" in raw,
        "answered_while_suspended": "pending_answer" in raw,
        "unseen_failure": raw["unseen_failure"],
        "waits_for_claim": raw.get("claim_wait", False),
        "queued_behind": raw.get("queued_behind") or "",
        "blocked_reason": raw.get("blocked_reason") or "",
        "cleaned_up": raw["cleaned_up"],
        "pending_notes": len(raw.get("pending_notes", [])),
    }
    shown: dict[str, object] = {name: getattr(colony, name) for name in expected}
    if colony.attention is not None:
        shown["attention"] = (colony.attention.reason, colony.attention.since)
    if colony.parked is not None:
        shown["parked"] = (colony.parked.reason, colony.parked.at)
    if colony.superseded is not None:
        shown["superseded"] = (colony.superseded.pr_url, colony.superseded.kept)
    return [
        f"{raw['id']}.{name}: {shown[name]!r}, not {expected[name]!r}"
        for name in expected
        if shown[name] != expected[name]
    ]


def moment(text: str | None) -> float | None:
    """Seconds since 1970."""
    return None if text is None else datetime.fromisoformat(text[:26].rstrip("Z") + "+00:00").timestamp()


def _refusal(status: int, response: Json, outcome: object) -> str:
    if not isinstance(outcome, Refusal | ServerFault):
        return f"no refusal but {outcome!r}"
    kind = ServerFault if status >= 500 else REFUSALS.get(status, Refusal)
    given: Json = response.get("json") or {}
    said = given.get("error") or response.get("text", "").strip()
    is_page = "html" in (response["content_type"] or "")
    words_kept = str(outcome) == (f"{status}" if is_page or not said else safe_text(said)) or is_page or not said
    return "" if type(outcome) is kind and words_kept else f"{outcome!r} in place of {status} {said}"
