"""Routes of the private socket alone: repositories on this machine, and the engine itself."""

from collections.abc import Mapping
from pathlib import Path
from typing import Protocol

from starlette.responses import Response

from colonizer_engines.mothership.api.bodies import Field, read_json, shaped, text
from colonizer_engines.mothership.api.replies import json_reply
from colonizer_engines.mothership.api.routes import Call, Route
from colonizer_engines.mothership.errors import Refusal
from colonizer_engines.mothership.repositories import RepositoryError
from colonizer_engines.mothership.store import KnownRepository
from colonizer_engines.mothership.tokens import Scope
from colonizer_engines.mothership.worktrees import leftovers

_ADDED: Mapping[str, Field] = {"path": Field(text, required=True), "name": Field(text, nullable=True)}


class EngineControl(Protocol):
    """The process that hosts the mothership."""

    def report(self) -> Mapping[str, object]:
        """What it says of itself."""
        ...

    def stop(self) -> None:
        """Has it end in order."""
        ...


async def list_repositories(call: Call) -> Response:
    """GET `/api/local/repos`: `[{name, path}]`."""
    return json_reply([_shown(repository) for repository in call.mothership.repositories.all()])


async def add_repository(call: Call) -> Response:
    """POST `/api/local/repos` `{path, name?}`: `{name, path}`; adding one again changes nothing."""
    body = shaped(await read_json(call.request), "LocalRepository", _ADDED)
    path = Path(str(body["path"]))
    if not path.is_absolute():
        raise Refusal(400, "the path has to be absolute")
    name = body.get("name")
    return json_reply(_shown(await call.mothership.repositories.add(path, None if name is None else str(name))))


async def forget_repository(call: Call) -> Response:
    """DELETE `/api/local/repos/{owner}/{name}`."""
    name = f"{call.parameters['owner']}/{call.parameters['name']}"
    call.mothership.repositories.forget(name)
    return json_reply({"deleted": name})


async def get_leftovers(call: Call) -> Response:
    """GET `/api/local/sessions/{id}/leftovers` → `{uncommitted: [path], unmerged_commits}`: what cleaning up loses."""
    colony = call.mothership.fleet.get(call.colony)
    if colony.worktree is None:
        return json_reply({"uncommitted": [], "unmerged_commits": 0})
    try:
        return json_reply(await leftovers(colony.worktree))
    except RepositoryError as problem:
        raise Refusal(409, str(problem)) from problem


def engine_routes(engine: EngineControl) -> list[Route]:
    """The routes that are about the process."""

    async def report(call: Call) -> Response:
        return json_reply(engine.report())

    async def stop(call: Call) -> Response:
        engine.stop()
        return json_reply({"stopping": True}, 202)

    return [
        Route("GET", "/api/local/engine", Scope.OWNER, report, private=True),
        Route("POST", "/api/local/engine/stop", Scope.OWNER, stop, private=True),
    ]


def _shown(repository: KnownRepository) -> dict[str, str]:
    return {"name": repository.name, "path": repository.top}
