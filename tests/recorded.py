"""What the published program answered, sent and printed, for tests that read it.

`http` and `sockets` were asked of one colony in every state, `live` of colonies that really ran, in time order.
`commands` holds plain commands; `command_runs` more of them, each with the requests that it made, whose replies are in
`command_replies`. `mcp` holds what it said as an MCP server, one row for each run of it.
`kernel/calls` and `kernel/internal` are of the program behind the colony kernel: calls of its tools, and of its parts.
`kernel/seed` is what its specification prints of each tool: description, schemas, and an example of a call.
"""

import gzip
import json
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

RECORDED = Path(__file__).parent / "data/recorded"

Json = dict[str, Any]


@cache
def rows(name: str) -> tuple[Json, ...]:
    with gzip.open(RECORDED / f"{name}.jsonl.gz", "rt", encoding="utf-8") as lines:
        return tuple(map(json.loads, lines))


def replies() -> Iterator[tuple[Json, Json]]:
    """Every request over HTTP and its response."""
    for row in (*rows("http"), *rows("live")):
        if "request" in row:
            yield row["request"], row["response"]


@cache
def listed_sessions() -> tuple[Json, ...]:
    """One session in each state, as the list has them."""
    return next(tuple(row["response"]["json"]) for row in rows("http") if row["case"] == "list")


@cache
def frames() -> tuple[Json, ...]:
    """Frames of events sockets, and what the fleet stream told of single colonies, from colonies that really ran."""
    received = [row for row in rows("live") if row.get("dir") == "in" and row["kind"] in ("frame", "stream")]
    return tuple(
        row["frame"]
        for row in received
        if row["kind"] == "frame" or row["frame"]["type"] in ("session", "session_removed")
    )


@cache
def sessions() -> tuple[Json, ...]:
    """Sessions in every state that was recorded."""
    return listed_sessions() + tuple(frame["session"] for frame in frames() if frame["type"] == "session")


@cache
def questions() -> tuple[Json, ...]:
    """Replies of `GET …/question`."""
    return tuple(
        response["json"]
        for request, response in replies()
        if request["path"].endswith("/question") and response["status"] == 200
    )


@cache
def pages() -> tuple[Json, ...]:
    """Pages of a log; the longer one mixes two runs."""
    return tuple(response["json"] for request, response in replies() if "/events?" in request["path"])


@cache
def details() -> tuple[Json, ...]:
    """Replies of `GET /api/sessions/{id}`."""
    return tuple(
        response["json"]
        for request, response in replies()
        if request["method"] == "GET"
        and request["path"].count("/") == 3
        and response["status"] == 200
        and request["path"].startswith("/api/sessions/")
    )
