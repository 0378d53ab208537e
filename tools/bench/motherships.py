"""A program that is many motherships at once, each on a loopback port, with as many colonies and as much news as told.

It prints its ports, then takes commands on its standard input, one a line, and prints after each the number of the
next news, which all begin at 0:

    colonies RATE SECONDS    so many changes of colonies a second, over all hosts
    deltas RATE SECONDS      so many pieces of text a second, to every colony whose log is followed
    notes RATE SECONDS       so many lines of a log a second, to every colony whose log is followed
"""

import argparse
import asyncio
import json
import os
import random
import sys
import time
from collections.abc import Awaitable, Callable, MutableMapping
from contextlib import ExitStack
from functools import partial
from typing import Any, TypeAlias
from urllib.parse import parse_qs

from colonizer_engines.daemon.listeners import tcp_port
from colonizer_engines.daemon.server import Listener

Message: TypeAlias = MutableMapping[str, Any]
Receive: TypeAlias = Callable[[], Awaitable[Message]]
Send: TypeAlias = Callable[[Message], Awaitable[None]]
Json: TypeAlias = dict[str, Any]

STATUSES = ("running", "running", "queued", "stopped", "merged", "merged", "merged", "no_changes", "failed", "pr_open")
QUESTION: Json = {
    "question_id": "q-1",
    "risk": "workspace_write",
    "questions": [
        {
            "question": "Which base branch?",
            "header": "Base",
            "multi_select": False,
            "options": [{"label": label, "description": "to build on"} for label in ("main", "develop")],
        }
    ],
}
DAY_S = 86_400
TICK_S = 0.005
"""Messages due are sent together this often."""


def moment(at: float) -> str:
    return time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(at)) + f".{int(at % 1 * 1e6):06}Z"


class Mothership:
    """One host: its colonies, and who listens."""

    def __init__(self, number: int, colonies: int, events: int, is_wedged: bool) -> None:
        self.is_wedged = is_wedged
        self.events = events
        self.streams: set[asyncio.Queue[str]] = set()
        self.logs: dict[asyncio.Queue[str], str] = {}
        self.seq: dict[str, int] = {}
        now, chance = time.time(), random.Random(number)
        self.colonies = [self._colony(number, place, now, chance) for place in range(colonies)]

    def change(self, place: int, count: int) -> None:
        """Changes one colony and tells of it; its title counts the changes."""
        colony = self.colonies[place]
        colony["updated_at"] = moment(time.time())
        colony["issue_title"] = f"after {count}, {colony['id']}"
        frame = json.dumps({"type": "session", "session": colony})
        for queue in self.streams:
            queue.put_nowait(frame)

    def say(self, kind: str, count: int) -> None:
        """Adds an event to each log that is followed."""
        for queue, colony in self.logs.items():
            self.seq[colony] += 1
            queue.put_nowait(json.dumps(self._event(kind, self.seq[colony], f"piece {count} ")))

    async def __call__(self, scope: MutableMapping[str, Any], receive: Receive, send: Send) -> None:
        """One request or socket."""
        path = str(scope["path"])
        if self.is_wedged:
            await asyncio.Event().wait()
        elif scope["type"] == "websocket":
            await self._talk(path, scope["query_string"].decode(), receive, send)
        else:
            status, body = self._answer(path)
            content = b"" if body is None else json.dumps(body).encode()
            headers = [(b"content-type", b"application/json"), (b"content-length", str(len(content)).encode())]
            await send({"type": "http.response.start", "status": status, "headers": headers})
            await send({"type": "http.response.body", "body": content})

    def _answer(self, path: str) -> tuple[int, object]:
        match path.removeprefix("/api/").split("/"):
            case ["tokens", "self"]:
                return 200, {"owner": True, "scope": "owner", "orgs": [], "repos": []}
            case ["version"]:
                return 200, {"version": "v0.2.23"}
            case ["sessions"]:
                return 200, self.colonies
            case ["sessions", _, "question"]:
                return 200, QUESTION
            case ["sessions", _, "events"]:
                return 200, {"events": [], "has_more": False, "oldest_seq": None, "epoch": 1, "offset": 0}
            case ["sessions", _, "diff"]:
                return 200, diff(files=2_000, lines=50_000)
            case ["sessions", colony]:
                return 200, next(found for found in self.colonies if found["id"] == colony)
            case _:
                return 404, {"error": "no such route"}

    async def _talk(self, path: str, query: str, receive: Receive, send: Send) -> None:
        await receive()
        await send({"type": "websocket.accept"})
        queue: asyncio.Queue[str] = asyncio.Queue()
        if path == "/api/stream":
            await send({"type": "websocket.send", "text": json.dumps({"type": "sessions", "sessions": self.colonies})})
            self.streams.add(queue)
        else:
            colony = path.split("/")[3]
            for frame in self._opening(colony, int(parse_qs(query).get("limit", ["200"])[0])):
                await send({"type": "websocket.send", "text": json.dumps(frame)})
            self.logs[queue] = colony
        sending = asyncio.create_task(_send_on(queue, send))
        try:
            while (await receive())["type"] != "websocket.disconnect":
                pass
        finally:
            self.streams.discard(queue)
            self.logs.pop(queue, None)
            sending.cancel()

    def _opening(self, colony: str, limit: int) -> list[Json]:
        last = self.seq.setdefault(colony, self.events)
        oldest = max(last - limit, 0) + 1
        history = {"type": "history", "has_more": oldest > 1, "oldest_seq": oldest, "epoch": 1, "offset": oldest - 1}
        events = [self._event("log", seq, f"line {seq}") for seq in range(oldest, last + 1)]
        return [{"type": "run_epoch", "epoch": 1}, history, *events, {"type": "replay_done", "seq": last}]

    def _event(self, kind: str, seq: int, text: str) -> Json:
        event: Json = {"type": kind, "seq": seq, "ts": moment(time.time()), "origin": "agent"}
        if kind == "assistant_text_delta":
            # A text is as long as agents write them: two hundred pieces.
            return event | {"message_id": f"m{seq // 200}", "block_index": 0, "delta": text}
        return event | {"level": "info", "message": text}

    def _colony(self, number: int, place: int, now: float, chance: random.Random) -> Json:
        status = "waiting_for_answer" if place % 50 == 0 else STATUSES[place % len(STATUSES)]
        created = now - DAY_S * (1 + 30 * chance.random())
        return {
            "id": f"{number:02x}{place:06x}",
            "repo": f"acme/widgets-{place % 40}",
            "org": "acme",
            "issue": place if place % 3 else None,
            "issue_title": f"A task like many another one, number {place}",
            "instructions": "Do it",
            "status": status,
            "branch": f"colonizer/session-{number:02x}{place:06x}",
            "git_admin_dir": f"/clones/.git/worktrees/{number:02x}{place:06x}",
            "base": "main",
            "agent": "claude-code",
            "autopilot": False,
            "sandbox": "bwrap",
            "created_at": moment(created),
            "updated_at": moment(created + DAY_S * chance.random()),
            "cost_usd": round(chance.random() * 5, 2),
        }


def diff(files: int, lines: int) -> Json:
    """A diff of so many files and lines."""
    each = lines // files - 5
    written: list[str] = []
    for number in range(files):
        path = f"src/part_{number % 40}/module_{number}.py"
        written += [
            f"diff --git a/{path} b/{path}",
            f"--- a/{path}",
            f"+++ b/{path}",
            f"@@ -1,{each // 2} +1,{each} @@",
        ]
        written += [f"{'+' if at % 2 else ' '}    value_{at} = compute({at}, 'text')  # why" for at in range(each + 1)]
    counts = [{"path": f"src/part_{n % 40}/module_{n}.py", "added": each // 2, "removed": 0} for n in range(files)]
    text = "\n".join(written) + "\n"
    return {"base": "main", "files": counts, "added": 1, "removed": 0, "diff": text, "truncated": False}


async def _send_on(queue: "asyncio.Queue[str]", send: Send) -> None:
    while True:
        await send({"type": "websocket.send", "text": await queue.get()})


async def _pace(rate: float, seconds: float, first: int, emit: Callable[[int], None]) -> int:
    """Calls `emit` with `first` and the numbers after it at this rate; the next number."""
    started, sent = time.monotonic(), 0
    while (passed := time.monotonic() - started) < seconds or sent < int(rate * seconds):
        for _ in range(int(rate * min(passed, seconds)) - sent):
            emit(first + sent)
            sent += 1
        await asyncio.sleep(TICK_S)
    return first + sent


async def _obey(hosts: list[Mothership]) -> None:
    reader = asyncio.StreamReader()
    await asyncio.get_running_loop().connect_read_pipe(lambda: asyncio.StreamReaderProtocol(reader), sys.stdin)
    chance = random.Random(1)
    live = [host for host in hosts if host.colonies and not host.is_wedged]

    def change(count: int) -> None:
        """Changes any colony; the last of fifty is the first one, which the list shows since it waits for an answer."""
        host = chance.choice(live)
        host.change(0 if count % 50 == 49 else chance.randrange(len(host.colonies)), count)

    def say(kind: str, count: int) -> None:
        for host in live:
            host.say(kind, count)

    emitters: dict[str, Callable[[int], None]] = {
        "colonies": change,
        "deltas": partial(say, "assistant_text_delta"),
        "notes": partial(say, "log"),
    }
    following = 0
    while line := await reader.readline():
        what, rate, seconds = line.decode().split()
        following = await _pace(float(rate), float(seconds), following, emitters[what])
        print(following, flush=True)


async def main() -> None:
    """Serves until its input ends."""
    parser = argparse.ArgumentParser()
    for name, default in (("hosts", 1), ("colonies", 0), ("events", 0), ("wedged", 0)):
        parser.add_argument(f"--{name}", type=int, default=default)
    asked = parser.parse_args()
    hosts = [Mothership(number, asked.colonies, asked.events, number < asked.wedged) for number in range(asked.hosts)]
    with ExitStack() as ports:
        opened = [ports.enter_context(tcp_port("127.0.0.1", 0)) for _ in hosts]
        serving = [asyncio.create_task(Listener(host).run_on(port)) for host, port in zip(hosts, opened, strict=True)]
        print(json.dumps([port.getsockname()[1] for port in opened]), flush=True)
        await _obey(hosts)
        del serving
        os._exit(0)  # clients that still hold on are no reason to wait


if __name__ == "__main__":
    asyncio.run(main())
