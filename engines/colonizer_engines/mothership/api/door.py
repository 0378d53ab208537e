"""The ASGI application: who comes in, in the order of spec 2.2, and which handler answers."""

from typing import cast

from starlette.requests import ClientDisconnect, HTTPConnection, Request
from starlette.responses import Response
from starlette.types import Receive, Send
from starlette.types import Scope as AsgiScope
from starlette.websockets import WebSocket

from colonizer_engines.host_names import HostNames
from colonizer_engines.mothership.api.presence import Presence
from colonizer_engines.mothership.api.replies import empty_reply, refusal_reply
from colonizer_engines.mothership.api.routes import SOCKET, Answering, Call, Match, Table, Talking, Transport
from colonizer_engines.mothership.errors import Refusal, StorageFull, StoreError
from colonizer_engines.mothership.mothership import Mothership
from colonizer_engines.mothership.tokens import NOBODY, Caller, Scope

NO_TOKEN = "missing or invalid API token; run `colonizer open`"
WRONG_HOST = "Host not allowed (set COLONIZER_ALLOWED_HOSTS)"
NO_ROUTE = "no such API route"


class Door:
    """Answers every request of one transport."""

    def __init__(
        self,
        mothership: Mothership,
        table: Table,
        transport: Transport,
        presence: Presence,
        names: HostNames,
    ) -> None:
        self._mothership = mothership
        self._table = table
        self._transport: Transport = transport
        self._presence = presence
        self._names = names

    async def __call__(self, scope: AsgiScope, receive: Receive, send: Send) -> None:
        """One request or WebSocket."""
        if scope["type"] not in ("http", "websocket"):
            return
        is_socket = scope["type"] == "websocket"
        connection = WebSocket(scope, receive, send) if is_socket else Request(scope, receive)
        method = SOCKET if is_socket else str(scope["method"])
        with self._presence.client():
            response = await self._respond(connection, method)
            if response is None:
                return
            if isinstance(connection, WebSocket):
                await connection.send_denial_response(response)
            else:
                await response(scope, receive, send)

    async def _respond(self, connection: HTTPConnection, method: str) -> Response | None:
        """The response, or None where a WebSocket was served."""
        try:
            self._check_host(connection)
            match, caller = self._admit(connection, method)
            if match.route.begins_queue:
                self._mothership.scheduler.begin()
            call = Call(self._mothership, caller, connection, match.parameters, self._transport)
            if method == SOCKET:
                await cast("Talking", match.route.handler)(call)
                return None
            return await cast("Answering", match.route.handler)(call)
        except Refusal as refusal:
            return empty_reply(405) if refusal.status == 405 else refusal_reply(refusal)
        except ClientDisconnect:
            return None
        except StorageFull as problem:
            return refusal_reply(Refusal(507, f"the disk is full, and nothing was changed: {problem}"))
        except StoreError as problem:
            return refusal_reply(Refusal(500, str(problem)))

    def _check_host(self, connection: HTTPConnection) -> None:
        """Refuses a name that is not ours: a page of somebody else's whose name was made to point here."""
        if self._transport == "private":
            return
        if not self._names.allow_host(connection.headers.get("host", "")):
            raise Refusal(403, WRONG_HOST, plain=True)

    def _admit(self, connection: HTTPConnection, method: str) -> tuple[Match, Caller]:
        """The route and the caller, once both are found and fit each other."""
        raw_path = cast("bytes", connection.scope.get("raw_path") or connection.scope["path"].encode()).decode(
            "latin-1"
        )
        matches = self._table.matches(raw_path.partition("?")[0], self._transport)
        caller = self._caller(connection)
        wanted = "GET" if method == "HEAD" else method
        match = next((match for match in matches if match.route.method == wanted), None)
        if caller is None:
            if match is not None and match.route.scope is Scope.ANYBODY:
                return match, NOBODY
            raise Refusal(401, NO_TOKEN, plain=True)
        if not caller.is_owner and (method == "HEAD" or match is None or caller.scope < match.route.scope):
            shown = "GET" if method == SOCKET else method
            words = f"this API token's scope ({caller.scope.word}) does not cover {shown} {raw_path.partition('?')[0]}"
            raise Refusal(403, words, plain=True)
        if match is None:
            if any(match.route.method != SOCKET for match in matches):
                raise Refusal(405, "", plain=True)
            raise Refusal(404, NO_ROUTE)
        self._check_limits(match, caller)
        return match, caller

    def _check_limits(self, match: Match, caller: Caller) -> None:
        """Hides what lies outside a token's limits, as if it did not exist."""
        if caller.is_owner:
            return
        if match.route.subject == "session":
            colony = self._mothership.fleet.find(match.parameters["id"])
            if colony is None or not caller.sees(colony.session.repo):
                raise Refusal(404, "no such session", plain=True)
        elif match.route.subject == "map" and not caller.sees("/".join(match.parameters.values())):
            raise Refusal(404, "no such map", plain=True)

    def _caller(self, connection: HTTPConnection) -> Caller | None:
        header = connection.headers.get("authorization", "")
        if not header.startswith("Bearer "):
            return None
        return self._mothership.tokens.caller(header.removeprefix("Bearer ").strip())
