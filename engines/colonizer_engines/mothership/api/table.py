"""Every route of the embedded mothership: its method, path, least scope and handler (spec 2.3, 3)."""

from colonizer_engines.mothership.api import access, artifacts, local, overview, sessions
from colonizer_engines.mothership.api.event_socket import watch_events
from colonizer_engines.mothership.api.fleet_stream import stream
from colonizer_engines.mothership.api.queues import get_queues
from colonizer_engines.mothership.api.routes import SOCKET, Route
from colonizer_engines.mothership.tokens import Scope

_ONE = "/api/sessions/{id}"

ROUTES: tuple[Route, ...] = (
    Route("GET", "/api/status", Scope.ANYBODY, overview.get_status),
    Route("GET", "/api/version", Scope.READ, overview.get_version),
    Route("GET", "/api/tokens/self", Scope.READ, access.who_am_i),
    Route("GET", "/api/tokens", Scope.OWNER, access.list_tokens),
    Route("POST", "/api/tokens", Scope.OWNER, access.make_token),
    Route("DELETE", "/api/tokens/{token}", Scope.OWNER, access.revoke_token),
    Route("GET", "/api/sessions", Scope.READ, sessions.list_sessions),
    Route("POST", "/api/sessions", Scope.LAUNCH, sessions.launch),
    Route("GET", _ONE, Scope.READ, sessions.get_session),
    Route("DELETE", _ONE, Scope.OWNER, sessions.delete),
    Route("GET", f"{_ONE}/question", Scope.READ, sessions.get_question),
    Route("POST", f"{_ONE}/answer", Scope.OPERATE, sessions.answer),
    Route("POST", f"{_ONE}/messages", Scope.OPERATE, sessions.message),
    Route("POST", f"{_ONE}/stop", Scope.OPERATE, sessions.stop),
    Route("POST", f"{_ONE}/resume", Scope.OPERATE, sessions.resume),
    Route("POST", f"{_ONE}/keep", Scope.OPERATE, sessions.keep),
    Route("POST", f"{_ONE}/prewarm", Scope.OPERATE, sessions.prewarm),
    Route("POST", f"{_ONE}/publish", Scope.LAUNCH, sessions.publish),
    Route("POST", f"{_ONE}/seen", Scope.READ, sessions.seen),
    Route("POST", f"{_ONE}/cleanup", Scope.OWNER, sessions.clean_up),
    Route("POST", f"{_ONE}/retain", Scope.OWNER, sessions.retain),
    Route("POST", f"{_ONE}/move-to-front", Scope.OWNER, sessions.move_to_front),
    Route("POST", f"{_ONE}/move-to-back", Scope.OWNER, sessions.move_to_back),
    Route("POST", f"{_ONE}/priority", Scope.OWNER, sessions.set_priority),
    Route("GET", f"{_ONE}/diff", Scope.READ, sessions.get_diff),
    Route("GET", f"{_ONE}/commits", Scope.READ, sessions.get_commits),
    Route("GET", f"{_ONE}/files", Scope.READ, artifacts.list_files),
    Route("GET", f"{_ONE}/files/{{name}}/content", Scope.READ, artifacts.get_content),
    Route("GET", f"{_ONE}/events", Scope.READ, sessions.get_log_page),
    Route(SOCKET, f"{_ONE}/events", Scope.READ, watch_events),
    Route(SOCKET, "/api/stream", Scope.OWNER, stream),
    Route("GET", "/api/queues", Scope.READ, get_queues),
    Route("GET", "/api/maps/{owner}/{name}", Scope.READ, overview.get_map),
    Route("GET", "/api/hosts", Scope.OWNER, overview.get_hosts),
    Route("GET", "/api/orgs", Scope.OWNER, overview.get_orgs),
    Route("GET", "/api/repos", Scope.OWNER, overview.get_repos),
    Route("GET", "/api/storage", Scope.OWNER, overview.get_storage),
    Route("GET", "/api/local/repos", Scope.OWNER, local.list_repositories, private=True),
    Route("POST", "/api/local/repos", Scope.OWNER, local.add_repository, private=True),
    Route("DELETE", "/api/local/repos/{owner}/{name}", Scope.OWNER, local.forget_repository, private=True),
    Route("GET", "/api/local/sessions/{id}/leftovers", Scope.OWNER, local.get_leftovers, private=True),
)
