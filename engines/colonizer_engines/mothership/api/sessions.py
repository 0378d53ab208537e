"""Routes of colonies that read or change one of them (spec 3.1, 3.2)."""

from collections.abc import Iterable, Iterator, Mapping
from itertools import islice

from starlette.responses import Response

from colonizer_engines.lenient_json import encode
from colonizer_engines.mothership.api.bodies import (
    Field,
    count,
    flag,
    read_json,
    read_optional_json,
    shaped,
    target,
    targets,
    text,
)
from colonizer_engines.mothership.api.replies import empty_reply, json_reply, raw_json, with_more, with_result
from colonizer_engines.mothership.api.routes import Call
from colonizer_engines.mothership.colony import Colony
from colonizer_engines.mothership.diagnosis import diagnose
from colonizer_engines.mothership.diff import DiffError, diff
from colonizer_engines.mothership.errors import Refusal
from colonizer_engines.mothership.lifecycle import PRIORITY_LIMIT
from colonizer_engines.mothership.repositories import RepositoryError
from colonizer_engines.mothership.transcript import page, recent_events
from colonizer_engines.mothership.wire import as_object
from colonizer_engines.mothership.worktrees import commits

PAGE_DEFAULT, PAGE_LIMIT = 20, 100
LOG_PAGE_DEFAULT, LOG_PAGE_LIMIT = 200, 1000

_NEW_SESSION: Mapping[str, Field] = {
    "repo": Field(text, required=True),
    "issue": Field(count, nullable=True),
    "title": Field(text),
    "instructions": Field(text),
    "autopilot": Field(flag, nullable=True),
    "autofix": Field(flag, nullable=True),
    "automerge": Field(flag, nullable=True),
    "verify": Field(text, nullable=True),
    "allow_duplicate": Field(flag),
    "queue_behind_holder": Field(flag),
    "allow_epic": Field(flag),
    "supply_chain": Field(target, nullable=True),
    "supply_chain_targets": Field(targets),
    "model_tier": Field(text, nullable=True),
    "model_override": Field(text, nullable=True),
    "subagent_model_override": Field(text, nullable=True),
    "claude_account": Field(text, nullable=True),
    "agent_module": Field(text, nullable=True),
    "after": Field(text, nullable=True),
    "stack": Field(flag),
    "origin": Field(text, nullable=True),
    "external_ref": Field(text, nullable=True),
    "host": Field(text, nullable=True),
    "serialize": Field(flag, nullable=True),
}


async def list_sessions(call: Call) -> Response:
    """GET `/api/sessions`: all that the caller may see, newest first; a page of them where it asks for one."""
    query = call.request.query_params
    colonies = _filtered(_visible(call), query)
    if "limit" not in query and "cursor" not in query:
        return raw_json(_array(call, colonies))
    limit = _page_limit(query.get("limit"))
    if "cursor" in query:
        colonies = _after(colonies, query["cursor"])
    found = list(islice(colonies, limit + 1))
    more = found[limit - 1].id if len(found) > limit else None
    return raw_json(b'{"sessions":' + _array(call, found[:limit]) + b',"next_cursor":' + encode(more) + b"}")


async def get_session(call: Call) -> Response:
    """GET `/api/sessions/{id}`: the Session, its last events and what its status means."""
    mothership = call.mothership
    colony = mothership.fleet.get(call.colony)
    session = mothership.fleet.shown(colony)
    recent = recent_events(mothership.store, colony.id, colony.epoch)
    why = diagnose(colony, session, recent, mothership.clock.now(), mothership.fleet.health.failing)
    more: dict[str, object] = {"recent_events": recent} if recent else {}
    return with_more(session, more if why is None else {**more, "diagnosis": why})


async def launch(call: Call) -> Response:
    """POST `/api/sessions`: the new colony."""
    body = shaped(await read_json(call.request), "NewSession", _NEW_SESSION)
    key = call.request.headers.get("idempotency-key")
    session = await call.mothership.launches.launch(body, call.caller, key, _agent_env(call, body))
    return json_reply(session)


async def get_question(call: Call) -> Response:
    """GET `…/question`: what is asked, or no body."""
    question = call.mothership.fleet.get(call.colony).question
    return empty_reply() if question is None else json_reply(question.wire())


async def answer(call: Call) -> Response:
    """POST `…/answer`."""
    await call.mothership.conversation.answer(call.colony, await read_json(call.request), call.caller)
    return empty_reply()


async def message(call: Call) -> Response:
    """POST `…/messages`."""
    body = await read_json(call.request)
    status, reply = await call.mothership.conversation.message(call.colony, body, call.caller)
    return json_reply(reply, status)


async def stop(call: Call) -> Response:
    """POST `…/stop`."""
    result, session = await call.mothership.lifecycle.stop(call.colony)
    return with_result(result, session)


async def resume(call: Call) -> Response:
    """POST `…/resume`; our faces may send `agent_env`."""
    call.mothership.fleet.get(call.colony)
    body = await read_optional_json(call.request)
    return json_reply(call.mothership.lifecycle.resume(call.colony, _agent_env(call, body)))


async def keep(call: Call) -> Response:
    """POST `…/keep`."""
    return json_reply(call.mothership.lifecycle.keep(call.colony))


async def publish(call: Call) -> Response:
    """POST `…/publish`: always refused, until it is built."""
    call.mothership.lifecycle.check_publish(call.colony, call.mothership.given.writes_blocked)
    return empty_reply()


async def prewarm(call: Call) -> Response:
    """POST `…/prewarm`: there is never anything to warm."""
    call.mothership.fleet.get(call.colony)
    return empty_reply()


async def seen(call: Call) -> Response:
    """POST `…/seen`."""
    call.mothership.lifecycle.seen(call.colony)
    return empty_reply()


async def clean_up(call: Call) -> Response:
    """POST `…/cleanup`."""
    return json_reply(await call.mothership.lifecycle.clean_up(call.colony))


async def retain(call: Call) -> Response:
    """POST `…/retain`."""
    call.mothership.fleet.get(call.colony)
    body = shaped(await read_json(call.request), "Retain", {"keep": Field(flag)})
    return json_reply(call.mothership.lifecycle.retain(call.colony, body.get("keep") is not False))


async def delete(call: Call) -> Response:
    """DELETE `/api/sessions/{id}`: record, log, worktree and artifacts go, the branch stays."""
    deleted = await call.mothership.lifecycle.delete(call.colony)
    return json_reply(
        {"deleted": deleted, "leftover": None, "archived": None, "purged_bundles": 0, "purge_error": None}
    )


async def get_diff(call: Call) -> Response:
    """GET `…/diff`."""
    colony = call.mothership.fleet.get(call.colony)
    if colony.worktree is None:
        raise Refusal(409, "this colony has no worktree to diff: it never booted, or it was cleaned up")
    try:
        found = await diff(colony.worktree)
    except DiffError as problem:
        raise Refusal(409, str(problem)) from problem
    return json_reply(
        {
            "id": colony.id,
            "repo": colony.session.repo,
            "base": colony.session.base,
            "files": found.files,
            "added": found.added,
            "removed": found.removed,
            "diff": found.text,
            "truncated": found.truncated,
        }
    )


async def get_commits(call: Call) -> Response:
    """GET `…/commits`: what the colony committed in its worktree."""
    colony = call.mothership.fleet.get(call.colony)
    try:
        shas = () if colony.worktree is None else await commits(colony.worktree)
    except RepositoryError as problem:
        raise Refusal(409, str(problem)) from problem
    read_at = call.mothership.fleet.change_moment()
    links = [{"sha": sha, "previous": (), "orphaned": False, "recorded_at": read_at} for sha in shas]
    return json_reply({"commits": links})


async def get_log_page(call: Call) -> Response:
    """GET `…/events` without an upgrade: a page of the log."""
    colony = call.mothership.fleet.get(call.colony)
    query = call.request.query_params
    limit = min(max(whole(query.get("limit"), LOG_PAGE_DEFAULT), 1), LOG_PAGE_LIMIT)
    before = whole(query.get("before"), 0) or None
    epoch = whole(query.get("epoch"), 0) or colony.epoch
    found = page(call.mothership.store, colony.id, min(epoch, colony.epoch), before, limit)
    events = b"[" + b",".join(row.body for row in found.rows) + b"]"
    facts = encode({**found.facts(), "run_epoch": colony.epoch})
    return raw_json(b'{"events":' + events + b"," + facts[1:])


async def move_to_front(call: Call) -> Response:
    """POST `…/move-to-front`."""
    return json_reply(call.mothership.lifecycle.to_front(call.colony))


async def move_to_back(call: Call) -> Response:
    """POST `…/move-to-back`."""
    return json_reply(call.mothership.lifecycle.to_back(call.colony))


async def set_priority(call: Call) -> Response:
    """POST `…/priority`."""
    call.mothership.fleet.get(call.colony)
    body = as_object(await read_json(call.request))
    if body is None or "priority" not in body:
        raise Refusal(400, 'send {"priority": n}, or null to follow the org')
    priority = body["priority"]
    if priority is None:
        return json_reply(call.mothership.lifecycle.prioritise(call.colony, None))
    if isinstance(priority, bool) or not isinstance(priority, int) or abs(priority) > PRIORITY_LIMIT:
        raise Refusal(400, f"priority is a whole number from -{PRIORITY_LIMIT} to {PRIORITY_LIMIT}")
    return json_reply(call.mothership.lifecycle.prioritise(call.colony, priority))


def whole(value: str | None, otherwise: int) -> int:
    """The number that a query's value is, or `otherwise` where it is none."""
    return int(value) if value is not None and value.isascii() and value.isdigit() and len(value) < 19 else otherwise


def _agent_env(call: Call, body: Mapping[str, object]) -> Mapping[str, str]:
    """The values of the person's shell in the body: they come through the private socket only."""
    values = as_object(body.get("agent_env"))
    if call.transport != "private" or not call.caller.is_owner or values is None:
        return {}
    return {name: value for name, value in values.items() if isinstance(value, str) and "\0" not in value}


def _visible(call: Call) -> Iterator[Colony]:
    return (colony for colony in call.mothership.fleet.colonies() if call.caller.sees(colony.session.repo))


def _array(call: Call, colonies: Iterable[Colony]) -> bytes:
    return b"[" + b",".join(map(call.mothership.fleet.row, colonies)) + b"]"


def _filtered(colonies: Iterable[Colony], query: Mapping[str, str]) -> Iterator[Colony]:
    wanted: dict[str, str] = {}
    for name in ("external_ref", "origin"):
        if name in query:
            wanted[name] = query[name].strip()
            if not wanted[name]:
                raise Refusal(
                    400, f"`{name}` names nothing; send the value it filters on, or leave it out", code="invalid_input"
                )
    if not wanted:
        return iter(colonies)
    return (each for each in colonies if all(getattr(each.session, name) == value for name, value in wanted.items()))


def _page_limit(value: str | None) -> int:
    if value is None:
        return PAGE_DEFAULT
    try:
        number = int(value)
    except ValueError:
        raise Refusal(400, f"`limit` must be an integer between 1 and {PAGE_LIMIT}", code="invalid_input") from None
    return min(max(number, 1), PAGE_LIMIT)


def _after(colonies: Iterable[Colony], cursor: str) -> Iterator[Colony]:
    found = iter(colonies)
    if not any(colony.id == cursor for colony in found):
        raise Refusal(
            400,
            "`cursor` names no colony in this list; read a page and send back its `next_cursor`",
            code="invalid_input",
        )
    return found
