"""What a colony put into its folder of artifacts (spec 3.1, files); an agent wrote it, so nothing in it is trusted."""

import os
import stat
from collections.abc import Generator
from contextlib import contextmanager
from email.message import Message
from itertools import islice
from pathlib import Path

from starlette.responses import Response

from colonizer_engines.mothership.api.replies import json_reply
from colonizer_engines.mothership.api.routes import Call
from colonizer_engines.mothership.errors import Refusal
from colonizer_engines.mothership.session import ColonyId

FILE_LIMIT_BYTES = 16 * 1024 * 1024
FILES_LIMIT = 10_000


async def list_files(call: Call) -> Response:
    """GET `…/files`: the top-level files, by name; hidden ones are the agent's own."""
    colony = call.mothership.fleet.get(call.colony)
    folder = call.mothership.given.folders.out_of(colony.id)
    try:
        with os.scandir(folder) as scan:
            entries = sorted(islice(scan, FILES_LIMIT), key=lambda entry: entry.name)
    except OSError:
        entries = []
    found = [entry for entry in entries if _may_be_named(entry.name) and entry.is_file(follow_symlinks=False)]
    return json_reply({"files": [_shown(colony.id, entry.name, entry.stat(follow_symlinks=False)) for entry in found]})


async def get_content(call: Call) -> Response:
    """GET `…/files/{name}/content`."""
    colony = call.mothership.fleet.get(call.colony)
    name = call.parameters["name"]
    if not _may_be_named(name):
        raise Refusal(404, f'"{name}" does not name an artifact', code="file_not_found")
    with _opened(call.mothership.given.folders.out_of(colony.id) / name) as descriptor:
        if descriptor is None:
            raise Refusal(404, f'no artifact named "{name}"', code="file_not_found")
        if os.fstat(descriptor).st_size > FILE_LIMIT_BYTES:
            raise Refusal(413, f'"{name}" is over {FILE_LIMIT_BYTES // 1024 // 1024} MiB', code="file_too_large")
        content = os.read(descriptor, FILE_LIMIT_BYTES)
    disposition = Message()
    disposition.add_header("content-disposition", "attachment", filename=name)
    headers = {"content-disposition": disposition["content-disposition"], "x-content-type-options": "nosniff"}
    return Response(content, 200, headers, media_type="application/octet-stream")


def _may_be_named(name: str) -> bool:
    return bool(name) and not name.startswith(".") and "/" not in name and "\0" not in name and name.isprintable()


@contextmanager
def _opened(path: Path) -> Generator[int | None]:
    """A descriptor of the file; None where it is no regular file, a link or a pipe for example."""
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError:
        yield None
        return
    try:
        yield descriptor if stat.S_ISREG(os.fstat(descriptor).st_mode) else None
    finally:
        os.close(descriptor)


def _shown(colony: ColonyId, name: str, facts: os.stat_result) -> dict[str, object]:
    return {
        "id": name,
        "object": "file",
        "container_id": f"cntr_{colony}",
        "filename": name,
        "bytes": facts.st_size,
        "created_at": int(facts.st_mtime),
    }
