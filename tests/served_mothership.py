"""An embedded mothership in this process, served over a real socket, with agents that do what a test tells them."""

import asyncio
import json
import os
import sys
from collections.abc import AsyncGenerator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, cast

import httpx
import msgspec
import websockets
from websockets.asyncio.client import ClientConnection, unix_connect

from colonizer_config.errors import SettingsError
from colonizer_config.settings import AgentSettings, LocalSettings, SandboxChoice, Settings
from colonizer_engines.daemon.listeners import private_socket, tcp_port
from colonizer_engines.daemon.server import Listener
from colonizer_engines.host_names import HostNames
from colonizer_engines.mothership.api.door import Door
from colonizer_engines.mothership.api.presence import Presence
from colonizer_engines.mothership.api.routes import Table
from colonizer_engines.mothership.api.table import ROUTES
from colonizer_engines.mothership.boot import Folders
from colonizer_engines.mothership.clock import Clock, SystemClock
from colonizer_engines.mothership.mothership import Circumstances, Mothership
from colonizer_engines.mothership.store import Store
from colonizer_engines.mothership.tokens import digest, new_token
from real_git import Clone, new_clone

PUPPET = Path(__file__).parent / "data/agents/puppet.py"
OWNER = "0" * 63 + "1"
SOON_S = 20
"""What happens in these tests happens at once; a test that waits longer has found a fault."""

Json = dict[str, Any]
Step = Sequence[object]


class HandClock:
    """A clock that a test moves."""

    def __init__(self) -> None:
        self.time = datetime(2026, 11, 30, 12, tzinfo=UTC)
        self._sleepers: list[tuple[datetime, asyncio.Event]] = []

    def now(self) -> datetime:
        return self.time

    def monotonic(self) -> float:
        return self.time.timestamp()

    async def sleep(self, seconds: float) -> None:
        woken = asyncio.Event()
        self._sleepers.append((self.time + timedelta(seconds=seconds), woken))
        await woken.wait()

    def move(self, seconds: float) -> None:
        self.time += timedelta(seconds=seconds)
        for due, woken in self._sleepers:
            if due <= self.time:
                woken.set()
        self._sleepers = [sleeper for sleeper in self._sleepers if not sleeper[1].is_set()]


def puppet(*env: str) -> AgentSettings:
    return AgentSettings((sys.executable, "-I", "-S", str(PUPPET)), env=env)


def settings(*, max_parallel: int = 3, agents: Mapping[str, AgentSettings] | None = None) -> Settings:
    return Settings(
        agents={"puppet": puppet()} if agents is None else agents,
        local=LocalSettings(max_parallel=max_parallel, sandbox=SandboxChoice.NONE),
    )


def task(*steps: Step) -> str:
    return json.dumps(list(steps))


def say(kind: str, /, **body: object) -> Step:
    return ["say", {"type": kind, **body}]


def asks(question_id: str, /, *texts: str, **more: object) -> tuple[Step, Step]:
    """The steps of an agent that asks."""
    prompts = [
        {
            "question": text,
            "header": f"About {text}",
            "multi_select": False,
            "options": [{"label": "Yes"}, {"label": "No"}],
        }
        for text in texts
    ]
    return (
        say("question", question_id=question_id, questions=prompts, **more),
        say("status", state="waiting_for_answer"),
    )


@dataclass
class Served:
    mothership: Mothership
    http: httpx.AsyncClient
    clone: Clone
    socket: Path
    current: list[Settings]
    presence: Presence
    ended: asyncio.Event
    """Set when the engine is over."""

    def set(self, changed: Settings) -> None:
        self.current[0] = changed

    def token(self, scope: str, **limits: object) -> str:
        secret, record = new_token(
            {"name": f"a {scope} token", "scope": scope, **limits}, "2026-11-30T12:00:00.000000Z"
        )
        with self.mothership.store.transaction():
            self.mothership.store.put_token(digest(secret), record)
        self.mothership.tokens.add(digest(secret), record)
        return secret

    async def call(
        self, method: str, path: str, body: object = None, *, token: str | None = OWNER, **headers: str
    ) -> httpx.Response:
        sent = {name.replace("_", "-"): value for name, value in headers.items()}
        if token is not None:
            sent["authorization"] = f"Bearer {token}"
        content = None if body is None else json.dumps(body)
        if body is not None:
            sent.setdefault("content-type", "application/json")
        return await self.http.request(method, path, content=content, headers=sent)

    async def get(self, path: str, **more: str) -> Json:
        reply = await self.call("GET", path, **more)
        assert reply.status_code == 200, reply.text
        return cast("Json", reply.json())

    async def launch(self, *steps: Step, **body: object) -> str:
        """The id of a new colony whose agent does these steps."""
        text = task(*steps)
        fields = {"repo": "local/clone", "title": "A task", "instructions": text, "autopilot": False, **body}
        reply = await self.call("POST", "/api/sessions", fields)
        assert reply.status_code == 200, reply.text
        return cast("str", reply.json()["id"])

    def session(self, colony: str) -> Json:
        return cast("Json", json.loads(json.dumps(_plain(self.mothership, colony))))

    async def until(self, holds: Callable[[], bool]) -> None:
        """Waits for a change after which the condition holds."""
        with self.mothership.fleet.reading() as reader:
            async with asyncio.timeout(SOON_S):
                while not holds():
                    await reader.take()

    async def status(self, colony: str, *statuses: str) -> None:
        fleet = self.mothership.fleet
        await self.until(lambda: (found := fleet.find(colony)) is not None and found.session.status in statuses)

    async def said(self, colony: str, kind: str, **expected: object) -> Json:
        """The first event of the colony's current run with these fields, once it is stored."""
        owner = self.mothership.fleet.get(colony)
        with self.mothership.fleet.watching(owner.id) as watcher:
            watcher.caught_up = True
            async with asyncio.timeout(SOON_S):
                while True:
                    found = next((e for e in self.events(colony, kind) if expected.items() <= e.items()), None)
                    if found is not None:
                        return found
                    await watcher.take()

    def events(self, colony: str, *kinds: str) -> list[Json]:
        owner = self.mothership.fleet.get(colony)
        rows = self.mothership.store.events_after(owner.id, owner.epoch, 0, 100_000)
        return [json.loads(row.body) for row in rows if not kinds or row.type in kinds]

    def log(self, colony: str) -> list[str]:
        owner = self.mothership.fleet.get(colony)
        return [json.loads(line)["message"] for line in self.mothership.store.last_log_lines(owner.id, 1000)]

    @asynccontextmanager
    async def connect(self, path: str, token: str = OWNER) -> AsyncGenerator[ClientConnection, None]:
        headers = {"authorization": f"Bearer {token}"}
        uri = f"ws://local{path}"
        async with unix_connect(str(self.socket), uri=uri, additional_headers=headers, max_size=None) as connection:
            yield connection

    async def answer(self, colony: str, question_id: str, **answers: object) -> httpx.Response:
        body = {"question_id": question_id, "answers": answers, "response": None}
        return await self.call("POST", f"/api/sessions/{colony}/answer", body)


def _plain(mothership: Mothership, colony: str) -> object:
    return msgspec.to_builtins(mothership.fleet.shown(mothership.fleet.get(colony)))


async def next_frame(connection: ClientConnection, *kinds: str) -> Json:
    """The next frame of one of these types; without any, the next frame."""
    async with asyncio.timeout(SOON_S):
        while True:
            frame = cast("Json", json.loads(await connection.recv()))
            if not kinds or frame["type"] in kinds:
                return frame


async def frames_until(connection: ClientConnection, kind: str) -> list[Json]:
    """All frames up to the first one of this type."""
    frames = [await next_frame(connection)]
    while frames[-1]["type"] != kind:
        frames.append(await next_frame(connection))
    return frames


async def until_closed(connection: ClientConnection) -> list[Json]:
    """What still comes before the server closes."""
    frames: list[Json] = []
    async with asyncio.timeout(SOON_S):
        with suppress(websockets.ConnectionClosed):
            while True:
                frames.append(json.loads(await connection.recv()))
    return frames


@asynccontextmanager
async def served(
    place: Path,
    *,
    given: Settings | None = None,
    clock: Clock | None = None,
    recovering: bool = True,
    running: bool = True,
    over_tcp: bool = False,
    agent_environment: Mapping[str, str] | None = None,
    writes_blocked: bool = False,
    fill: Callable[[Store, Path], None] = lambda store, out: None,
    know: bool = True,
) -> AsyncGenerator[Served, None]:
    """A mothership whose state is in `place`; called again with the same place, the next engine."""
    current = [given or settings()]
    folders = Folders(place / "data/worktrees", place / "data/out")
    (place / "data").mkdir(exist_ok=True)
    store = Store.open(place / "data/mothership.db")
    fill(store, folders.out)
    circumstances = Circumstances(
        folders=folders,
        read_settings=lambda: _read(current),
        owner_token=OWNER,
        version="0.0.1",
        own_environment={"PATH": os.environ["PATH"], "COLONIZER_DEMO_PACE": "0"},
        agent_environment=agent_environment or {},
        writes_blocked=writes_blocked,
        clock=clock or SystemClock(),
    )
    mothership = Mothership(store, circumstances)
    clone = Clone(place / "clone")
    if know:
        if not clone.path.exists():
            new_clone(clone.path)
        await mothership.repositories.add(clone.path)
    presence = Presence()
    door = Door(mothership, Table(ROUTES), "tcp" if over_tcp else "private", presence, HostNames())
    listener, stopping = Listener(door), asyncio.Event()
    path = place / "engine.sock"
    opened = tcp_port("127.0.0.1", 0) if over_tcp else private_socket(path)
    with opened as listening:
        port = cast("int", listening.getsockname()[1]) if over_tcp else 0
        transport = httpx.AsyncHTTPTransport(uds=None if over_tcp else str(path))
        base = f"http://127.0.0.1:{port}" if over_tcp else "http://local"
        async with httpx.AsyncClient(transport=transport, base_url=base, timeout=SOON_S) as http:
            engine = mothership.serve(stopping, recovering=recovering) if running else stopping.wait()
            colonies, serving = asyncio.create_task(engine), asyncio.create_task(listener.run_on(listening))
            ended = asyncio.Event()
            colonies.add_done_callback(lambda _: ended.set())
            try:
                yield Served(mothership, http, clone, path, current, presence, ended)
            finally:
                stopping.set()
                try:
                    await colonies
                finally:
                    mothership.fleet.end_all_feeds()
                    listener.stop()
                    await serving
                    store.close()


def _read(current: list[Settings]) -> Settings:
    if not current:
        raise SettingsError("the settings are gone")
    return current[0]


def tuned(given: Settings, **local: object) -> Settings:
    return msgspec.structs.replace(given, local=msgspec.structs.replace(given.local, **local))
