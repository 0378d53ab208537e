"""Hostile text in each string of all that was recorded, in turn: what the client makes of it is safe to show.

One schema is walked once: equal places in replies to one route, and in frames of one type, count as one.
"""

import json
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any, cast

from client.hand_clock import HandClock
from client.hostile import ATTACKS, is_shown_safely, spoilt_in
from client.planted import Path, in_groups, marked, paths, planted, replaced
from client.recorded_calls import call_of, plain_call, route_of
from client.samples import HQ
from colonizer_client.errors import ClientError, Refusal
from colonizer_client.identity import ColonyId
from colonizer_client.mothership import calls, decode, frames, stream, wire
from colonizer_client.mothership.calls import Call
from colonizer_client.mothership.recorder import Recorder
from colonizer_client.mothership.replies import Reply, json_of
from colonizer_client.transcript import Transcript
from recorded import Json, replies, rows

SHORTEST_LIMIT = 100
"""Shown texts are cut to this many characters at the least; what was cut off would not have been tried."""

GROUPS = in_groups(ATTACKS, SHORTEST_LIMIT)

Read = Callable[[bytes], object]
"""Gives all that may be drawn of a body."""


def test_no_string_of_a_recorded_reply_brings_anything_that_acts_or_hides() -> None:
    assert found_in(recorded_replies()) == (set(), 3_326)


def test_no_string_of_a_recorded_frame_brings_anything_that_acts_or_hides() -> None:
    assert found_in(recorded_frames()) == (set(), 1_046)


def test_no_string_of_a_reply_of_the_local_engine_brings_anything_that_acts_or_hides() -> None:
    colony = ColonyId("c0ffee00")
    local: list[tuple[Call[Any], Any]] = [
        (calls.local_repositories(), [{"name": "a/b", "path": "/x", "remote": "git@x"}]),
        (calls.leftovers(colony), {"uncommitted": ["a.py"], "unmerged_commits": 1}),
        (calls.engine_state(), {"version": "1", "pid": 1, "log": "/x"}),
    ]
    assert found_in((call.path, body, reader_of(call, 200, "application/json")) for call, body in local) == (set(), 14)


def test_no_plain_text_in_the_place_of_json_brings_anything_that_acts_or_hides() -> None:
    tried = 0
    for request, response in replies():
        for text in GROUPS if "text" in response else ():
            call = call_of(request) or plain_call(request, response).reading(refusal)
            body = (response["text"][:20] + text).encode("utf-8", "surrogatepass")
            read = reader_of(call, response["status"], response["content_type"] or "")
            assert is_shown_safely(read(body)), request
            tried += 1
    assert tried == 550


def test_no_string_in_the_wire_log_acts_or_hides() -> None:
    seen: dict[str, Any] = {name: value for name, value, _ in (*recorded_replies(), *recorded_frames())}
    recorder = Recorder(HandClock())
    for value in seen.values():
        for text in GROUPS:
            spoilt = {text: replaced(value, partial(str, text))}
            body = json.dumps(spoilt).encode()
            recorder.exchanged("POST", f"/{text}", text, duration_s=0.1, sent=spoilt, heard=body)
            recorder.frame(f"/{text}", body)
            recorder.frame(f"/{text}", text, is_sent=True)
            assert is_shown_safely(recorder.passages[-3:])
    assert recorder.version == 1_845


def found_in(bodies: "Iterator[tuple[str, Any, Read]]") -> tuple[set[str], int]:
    """Where something got through, and how many places were tried."""
    wrong: set[str] = set()
    tried: set[tuple[str, Path]] = set()
    for name, value, read in bodies:
        for path in set(paths(value)):
            if (name, path) in tried:
                continue
            tried.add((name, path))
            body = marked(value, path)
            for text in GROUPS:
                if spoilt := spoilt_in(read(planted(body, text))):
                    wrong.add(f"{name} {path}: {spoilt[0]!a}")
    return wrong, len(tried)


def recorded_replies() -> Iterator[tuple[str, Any, Read]]:
    for request, response in replies():
        call = call_of(request) or plain_call(request, response).reading(refusal)
        name = f"{route_of(request)} {response['status']}"
        kind = response["content_type"] or ""
        if "json" in response:
            yield name, response["json"], reader_of(call, response["status"], kind)


def refusal(reply: Reply) -> None:
    """Reads what the client has no use for, but for its refusals."""
    json_of(reply)


def reader_of(call: Call[Any], status: int, content_type: str) -> Read:
    """What the client makes of a reply's body."""

    def read(body: bytes) -> object:
        try:
            outcome: object = call.read(Reply(status, body, content_type))
        except ClientError as problem:
            outcome = [problem, decode.holder(problem.body) if isinstance(problem, Refusal) else None]
        return used(cast("Json", outcome)) if isinstance(outcome, dict) else outcome

    return read


def used(raw: Json) -> object:
    """What is drawn of a reply that a call gives raw."""
    said = Transcript()
    for numbered in map(frames.numbered, wire.mappings(raw.get("events"))):
        if numbered is not None and numbered.event is not None:
            said.apply(numbered.event)
    return [list(said), wire.word(wire.mapping(raw.get("sandbox")).get("provider"))]


def recorded_frames() -> Iterator[tuple[str, Any, Read]]:
    live = (row["frame"] for row in rows("live") if row.get("dir") == "in" and "frame" in row)
    asked = (step["recv"] for row in rows("sockets") for step in row.get("frames", ()) if "recv" in step)
    for frame in (*asked, *live):
        if isinstance(frame, dict):
            yield f"frame {cast('Json', frame).get('type')}", frame, read_frame


def read_frame(body: bytes) -> object:
    """What the client makes of a frame, on either kind of socket."""
    drawn: list[object] = []
    for read in (stream.frame, frames.frame):
        try:
            drawn.append(read(HQ, body))
        except ClientError as problem:
            drawn.append(problem)
    match drawn[-1]:
        case frames.Numbered(event=event) if event is not None:
            said = Transcript()
            said.apply(event)
            drawn.append(list(said))
        case _:
            pass
    return drawn
