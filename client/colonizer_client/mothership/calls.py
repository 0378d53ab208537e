"""The requests that a mothership understands, each paired with the reader of its reply.

Nothing here does I/O: a transport sends a `Call` and gives the `Reply` to its reader. Ids and names are
percent-encoded; an empty one, or one with a slash, can be part of no request (the published program would otherwise
answer `colony_status ../tokens` with its token list).
"""

from collections.abc import Callable, Mapping
from typing import Generic, Protocol, TypeVar
from urllib.parse import quote, urlencode

from msgspec import field

from colonizer_client.answers import AnswerBody
from colonizer_client.errors import BadRequest, Unreadable
from colonizer_client.identity import ColonyId, EndpointName
from colonizer_client.mothership import decode, wire
from colonizer_client.mothership.models import (
    Colony,
    ColonyDetail,
    Delivered,
    Diff,
    LaunchOrder,
    Leftovers,
    LocalRepository,
    OpenQuestion,
    Standing,
    TokenOrder,
    TokenRecord,
)
from colonizer_client.mothership.replies import Reply, json_of, read_of
from colonizer_config.errors import SecretError
from colonizer_config.token import Token
from colonizer_config.value import Value

PART_LIMIT = 1000
"""No id and no name is as long; a URL cannot be of any length."""

T = TypeVar("T")
U = TypeVar("U")


class Call(Value, Generic[T]):
    """A request and how its reply is read. `body` is sent as JSON where it is not None."""

    method: str
    path: str
    read: Callable[[Reply], T]
    body: object | None = None
    headers: Mapping[str, str] = field(default_factory=dict[str, str])

    def reading(self, read: Callable[[Reply], U]) -> "Call[U]":
        """The same request with another reader."""
        return Call(self.method, self.path, read, self.body, self.headers)

    def as_json(self) -> "Call[object]":
        """The same request, its reply taken as plain JSON: raw, never to be drawn."""
        return self.reading(json_of)


class Ask(Protocol):
    """Runs calls against one mothership."""

    async def __call__(self, call: Call[T], /) -> T:
        """The call's result; raises ClientError."""
        ...


def standing() -> Call[Standing]:
    """What the token may do: the first call of every session, since it tells a good token from a bad one."""
    return Call("GET", "/api/tokens/self", lambda reply: decode.standing(json_of(reply)))


def orgs_switched_off() -> Call[frozenset[str]]:
    """The organisations in which nothing is to be done. Only an owner's token may ask."""

    def read(reply: Reply) -> frozenset[str]:
        rows = wire.mappings(json_of(reply))
        return frozenset(
            wire.raw(row.get("org")) for row in rows if wire.mapping(row.get("settings")).get("enabled") is False
        )

    return Call("GET", "/api/orgs", read)


def server_version() -> Call[str]:
    """The server's version, such as `0.2.23`."""
    return Call(
        "GET", "/api/version", lambda reply: wire.line(wire.mapping(json_of(reply)).get("version"), 100).lstrip("v")
    )


def colonies(endpoint: EndpointName, rows: decode.Rows | None = None) -> Call[tuple[tuple[Colony, ...], int]]:
    """All colonies, newest first, and the number of rows that could not be read; `rows` remembers the list before."""
    rows = rows or decode.Rows(endpoint)
    return Call("GET", "/api/sessions", lambda reply: read_of(reply, rows.read))


def colony(endpoint: EndpointName, colony_id: ColonyId) -> Call[ColonyDetail]:
    """One colony with its recent events and diagnosis."""
    return Call("GET", _session(colony_id), lambda reply: decode.detail(endpoint, json_of(reply)))


def question(colony_id: ColonyId) -> Call[OpenQuestion | None]:
    """The open question, None when nothing is asked (204)."""
    return Call("GET", _session(colony_id, "question"), _question_or_none)


def open_question_as_json(colony_id: ColonyId) -> Call[object]:
    """The open question, raw; None when nothing is asked (204)."""
    return question(colony_id).reading(lambda reply: None if reply.status == 204 else json_of(reply))


def answer(colony_id: ColonyId, body: AnswerBody) -> Call[None]:
    """Answers the open question. A second answer to the same one gets a 409."""
    return Call("POST", _session(colony_id, "answer"), _nothing, body.to_json())


def message(colony_id: ColonyId, message_id: str, text: str) -> Call[Delivered]:
    """Says something to the agent. The id makes a repetition harmless."""
    return Call("POST", _session(colony_id, "messages"), _delivered, {"id": message_id, "text": text})


def stop(endpoint: EndpointName, colony_id: ColonyId) -> Call[tuple[Colony, bool]]:
    """Stops the colony; its worktree is kept. The flag says whether it had ended already."""

    def read(reply: Reply) -> tuple[Colony, bool]:
        value = json_of(reply)
        return decode.colony(endpoint, value), wire.mapping(value).get("result") == "already_stopped"

    return Call("POST", _session(colony_id, "stop"), read)


def resume(endpoint: EndpointName, colony_id: ColonyId, agent_env: Mapping[str, str] | None = None) -> Call[Colony]:
    """Starts or queues a new run of the colony. `agent_env` is for the local engine's private socket only."""
    body = {"agent_env": dict(agent_env)} if agent_env else None
    return Call("POST", _session(colony_id, "resume"), _colony_reader(endpoint), body)


def keep(endpoint: EndpointName, colony_id: ColonyId) -> Call[Colony]:
    """Keeps a superseded colony, so that it may be resumed."""
    return Call("POST", _session(colony_id, "keep"), _colony_reader(endpoint))


def clean_up(endpoint: EndpointName, colony_id: ColonyId) -> Call[Colony]:
    """Removes the colony's worktree and artifacts. The branch stays."""
    return Call("POST", _session(colony_id, "cleanup"), _colony_reader(endpoint))


def publish(endpoint: EndpointName, colony_id: ColonyId) -> Call[Colony]:
    """Publishes the colony's work as a pull request."""
    return Call("POST", _session(colony_id, "publish"), _colony_reader(endpoint))


def seen(colony_id: ColonyId) -> Call[None]:
    """Marks a failure as looked at."""
    return Call("POST", _session(colony_id, "seen"), _nothing)


def prewarm(colony_id: ColonyId) -> Call[None]:
    """Asks for a suspended colony to be brought back before its question is answered."""
    return Call("POST", _session(colony_id, "prewarm"), _nothing)


def diff(colony_id: ColonyId) -> Call[Diff]:
    """The colony's changes."""
    return Call("GET", _session(colony_id, "diff"), lambda reply: decode.diff(json_of(reply)))


def launch(endpoint: EndpointName, order: LaunchOrder) -> Call[Colony]:
    """Starts a colony. Keys that the order leaves out are the mothership's to fill."""
    body: dict[str, object] = {
        "repo": order.repo,
        "issue": order.issue,
        "instructions": order.task,
        "autopilot": order.autopilot,
        "model_override": order.model,
        "subagent_model_override": order.subagent_model,
        "allow_duplicate": order.allow_duplicate,
        "queue_behind_holder": order.queue_behind_holder,
        "allow_epic": order.allow_epic,
        "supply_chain": None
        if order.supply_chain is None
        else {"package": order.supply_chain[0], "advisory": order.supply_chain[1]},
    }
    if order.agent is not None:
        body["agent_module"] = order.agent
    if order.agent_env:
        body["agent_env"] = dict(order.agent_env)
    headers = {"Idempotency-Key": order.idempotency_key} if order.idempotency_key else {}
    return Call("POST", "/api/sessions", _colony_reader(endpoint), body, headers)


def launch_as_json(body: Mapping[str, object]) -> Call[object]:
    """Starts a colony by exactly these fields (spec 5.4), the reply raw; None where it has no body (204)."""
    return Call("POST", "/api/sessions", lambda reply: None if reply.status == 204 else json_of(reply), dict(body))


def log_page(
    colony_id: ColonyId, *, limit: int, before: int | None = None, epoch: int | None = None, offset: int | None = None
) -> Call[Mapping[str, object]]:
    """A page of the colony's log, oldest event first (spec 3.3): raw frames under `events`, with paging fields."""
    query = {"limit": limit, "before": before, "epoch": epoch, "offset": offset}
    given = urlencode({name: value for name, value in query.items() if value is not None})
    return Call("GET", f"{_session(colony_id, 'events')}?{given}", lambda reply: wire.mapping(json_of(reply)))


def tokens() -> Call[tuple[TokenRecord, ...]]:
    """The scoped tokens, for the owner."""
    return Call("GET", "/api/tokens", lambda reply: tuple(map(decode.token_record, wire.sequence(json_of(reply)))))


def mint_token(order: TokenOrder) -> Call[Token]:
    """Makes a scoped token, which no server tells twice."""
    body = {
        "name": order.name,
        "scope": order.scope,
        "orgs": list(order.orgs),
        "repos": list(order.repos),
        "max_concurrent": order.max_concurrent,
        "budget_usd_per_day": order.budget_usd_per_day,
    }
    return Call("POST", "/api/tokens", _minted, body)


def revoke_token(token_id: str) -> Call[None]:
    """Revokes a scoped token."""
    return Call("DELETE", f"/api/tokens/{_part(token_id, 'token')}", _nothing)


def server_status() -> Call[Mapping[str, object]]:
    """The server's own state (spec 3.6), raw."""
    return Call("GET", "/api/status", lambda reply: wire.mapping(json_of(reply)))


def repository_map(repo: str) -> Call[object]:
    """The architecture map of `owner/name`, raw; its `map` is null where none is drawn."""
    return Call("GET", f"/api/maps/{_repo(repo)}", json_of)


def local_repositories() -> Call[tuple[LocalRepository, ...]]:
    """The repositories that the local engine knows. Private socket only."""
    return Call(
        "GET", "/api/local/repos", lambda reply: tuple(map(decode.local_repository, wire.sequence(json_of(reply))))
    )


def add_local_repository(path: str, name: str | None = None) -> Call[LocalRepository]:
    """Makes a repository known to the local engine. Private socket only."""
    body = {"path": path} if name is None else {"path": path, "name": name}
    return Call("POST", "/api/local/repos", lambda reply: decode.local_repository(json_of(reply)), body)


def remove_local_repository(name: str) -> Call[None]:
    """Makes the local engine forget a repository. Nothing on disk changes. Private socket only."""
    return Call("DELETE", f"/api/local/repos/{_repo(name)}", _nothing)


def leftovers(colony_id: ColonyId) -> Call[Leftovers]:
    """What cleaning up a colony of the local engine would lose. Private socket only."""
    path = f"/api/local{_session(colony_id, 'leftovers').removeprefix('/api')}"
    return Call("GET", path, lambda reply: decode.leftovers(json_of(reply)))


def engine_state() -> Call[Mapping[str, object]]:
    """What the local engine says of itself. Private socket only."""
    return Call("GET", "/api/local/engine", lambda reply: wire.mapping(json_of(reply)))


def stop_engine() -> Call[None]:
    """Ends the local engine in order. Private socket only."""
    return Call("POST", "/api/local/engine/stop", _nothing)


def stream_path() -> str:
    """The path of the fleet-wide socket (owner only, spec 3.5)."""
    return "/api/stream"


def events_path(colony_id: ColonyId, *, since: int, epoch: int, limit: int | None = None) -> str:
    """The path of a colony's events socket (spec 3.3)."""
    query: dict[str, int] = {"since": since, "epoch": epoch}
    if limit is not None:
        query["limit"] = limit
    return f"{_session(colony_id, 'events')}?{urlencode(query)}"


def _session(colony_id: ColonyId, *rest: str) -> str:
    return "/".join(("/api/sessions", _part(colony_id), *rest))


def _repo(name: str) -> str:
    owner, _, short = name.partition("/")
    return f"{_part(owner, 'repository')}/{_part(short, 'repository')}"


def _part(name: str, what: str = "session") -> str:
    if not name or "/" in name or name in (".", "..") or len(name) > PART_LIMIT:
        raise BadRequest(f"no such {what}")
    return quote(name, safe="", errors="surrogatepass")


def _nothing(reply: Reply) -> None:
    reply.body_of_success()


def _question_or_none(reply: Reply) -> OpenQuestion | None:
    return None if reply.status == 204 else decode.open_question(json_of(reply))


def _delivered(reply: Reply) -> Delivered:
    fields = wire.mapping(json_of(reply))
    return Delivered(
        message_id=wire.raw(fields.get("id")),
        duplicate=wire.flag(fields.get("duplicate")),
        pending_notes=wire.integer(fields.get("pending_notes")) or 0,
    )


def _minted(reply: Reply) -> Token:
    try:
        return Token(wire.raw(wire.mapping(json_of(reply)).get("token")))
    except SecretError as problem:
        raise Unreadable("the mothership made a token and tells none that can be used: revoke it") from problem


def _colony_reader(endpoint: EndpointName) -> Callable[[Reply], Colony]:
    return lambda reply: decode.colony(endpoint, json_of(reply))
