"""What a real mothership answered and sent, for tests that read it."""

import json
from functools import cache
from pathlib import Path
from typing import Any

RECORDED = Path(__file__).parent.parent / "data/recorded"

Json = dict[str, Any]


@cache
def rows(name: str) -> tuple[Json, ...]:
    return tuple(json.loads(line) for line in (RECORDED / name).read_text(encoding="utf-8").splitlines())


@cache
def listed_sessions() -> tuple[Json, ...]:
    """One session in each state, as the list has them."""
    return next(tuple(row["response"]["json"]) for row in rows("fixture.jsonl") if row["case"] == "list")


@cache
def frames() -> tuple[Json, ...]:
    """Frames of events sockets and of the fleet stream, a few of each type, from colonies that really ran."""
    return tuple(row["frame"] for row in rows("live_frames.jsonl"))


@cache
def sessions() -> tuple[Json, ...]:
    """Sessions in every state that was recorded."""
    return listed_sessions() + tuple(frame["session"] for frame in frames() if frame["type"] == "session")


@cache
def questions() -> tuple[Json, ...]:
    """Replies of `GET …/question`."""
    return tuple(row["json"] for row in rows("live_replies.jsonl") if row["path"].endswith("/question"))


@cache
def pages() -> tuple[Json, ...]:
    """Pages of a log; the longer one mixes two runs."""
    return tuple(row["json"] for row in rows("live_replies.jsonl") if "/events?" in row["path"])


@cache
def details() -> tuple[Json, ...]:
    """Replies of `GET /api/sessions/{id}`."""
    return tuple(row["json"] for row in rows("live_replies.jsonl") if row["path"].count("/") == 3)
