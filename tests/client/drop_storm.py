"""Sockets that drop, over real ones, from one seed: what the cockpit shows is judged by the whole of each log.

The fleet's socket and those of two logs break in the middle of a frame, at the handshake, or after a frame; what is
sent meanwhile comes twice, or not, or from long ago, and runs end and begin.
"""

import asyncio
import random
from collections import Counter
from collections.abc import AsyncGenerator, Iterable
from contextlib import asynccontextmanager, suppress
from pathlib import Path

from client.breaking_relay import BreakingRelay, breaking_relay
from client.cockpits import Direct, connected, until
from client.fleet_server import FleetServer, Log, fleet_server
from client.hand_clock import HastyClock
from client.samples import Json, key
from client.toll import Toll
from colonizer_client.cockpit import Cockpit
from colonizer_client.snapshot import Phase, Snapshot
from colonizer_config.address import SocketAddress

DROPS_EACH = 20
"""Drops in the life of one cockpit."""

COLONIES = ("a", "b")
FLEET = "/api/stream"
KINDS = ("in a frame", "at the handshake", "after a frame", "at once", "epoch changed")
EVENTS_KEPT = 150
"""A run ends before its log is longer than the page that is read at first."""


def events_of(colony: str) -> str:
    return f"/api/sessions/{colony}/events"


class DropStorm:
    """One cockpit that follows two logs of one mothership, over a relay that breaks."""

    def __init__(self, seed: int, server: FleetServer, relay: BreakingRelay, cockpit: Cockpit) -> None:
        self.chance = random.Random(seed)
        self.server = server
        self.relay = relay
        self.cockpit = cockpit
        self.kinds = [KINDS[(seed * DROPS_EACH + number) % len(KINDS)] for number in range(DROPS_EACH)]
        self.holes: dict[str, str] = {}
        """Where a number is left out of what is sent, for each colony: once live, or once in a repetition."""
        self.said = 0
        self.met = Counter[str]()

    async def weather(self) -> Toll:
        self.server.edit = self.mangled
        for colony in COLONIES:
            self.rename(colony)
            self.say(colony)
            self.cockpit.open(key(colony))
        toll = Toll()
        await self.settle()
        for kind in self.kinds:
            await self.drop(kind)
            await self.settle()
            toll.add(self.toll())
        toll.faults = self.met + Counter({"sockets opened again": self.relay.opened - len(COLONIES) - 1})
        return toll

    async def settle(self) -> None:
        """Lets the cockpit catch up; what it lacks after that is lost."""
        with suppress(TimeoutError):
            await until(self.cockpit, self.is_whole)

    # What happens.

    async def drop(self, kind: str) -> None:
        self.holes = {colony: self.chance.choice(["", "live", "repeated"]) for colony in COLONIES}
        line = self.chance.choice([line for line in self.relay.held if kind != "epoch changed" or line.path != FLEET])
        self.met[f"{kind}, {'fleet' if line.path == FLEET else 'log'}"] += 1
        await self.say_some()
        match kind:
            case "in a frame":
                line.cut(self.chance.randrange(1, 100))
            case "at the handshake":
                line.cut()
                self.relay.cuts[line.path] = self.chance.sample(range(1, 250), self.chance.choice([1, 2]))
            case "after a frame":
                self.server.end(line.path, self.chance.choice([1000, 1001, 1011, 1012]))
            case "epoch changed":
                self.begin_run(line.path.split("/")[3])
            case _:
                line.cut()
        await self.say_some()
        for colony in COLONIES:
            if len(self.server.logs[colony].events) > EVENTS_KEPT:
                self.begin_run(colony)
            self.holes[colony] = self.holes[colony].replace("live", "")
            self.say(colony)
            self.rename(colony)

    def begin_run(self, colony: str) -> None:
        self.server.end(events_of(colony))
        self.server.logs[colony] = Log(epoch=self.server.logs[colony].epoch + 1)
        self.say(colony)

    async def say_some(self) -> None:
        for _ in range(self.chance.randrange(5)):
            self.say(self.chance.choice(COLONIES))
            if self.chance.random() < 0.2:
                self.rename(self.chance.choice(COLONIES))
            for _ in range(self.chance.randrange(4)):
                await asyncio.sleep(0)

    def rename(self, colony: str) -> None:
        """Changes what the fleet's socket tells of a colony."""
        self.said += 1
        self.server.put(colony, issue_title=f"{colony} has title {self.said}")

    def say(self, colony: str) -> None:
        """Appends to the log; those who follow are sent it once, twice, or not at all."""
        self.said += 1
        log, path = self.server.logs.setdefault(colony, Log()), events_of(colony)
        text = f"{colony} {log.epoch} {self.said}"
        event = {"type": "user_message", "id": text, "text": text, "origin": "user", "ts": self.server.now()}
        log.events.append({**event, "seq": len(log.events) + 1})
        if self.holes.get(colony) == "live" and self.chance.random() < 0.5:
            self.holes[colony] = ""
            self.met["number left out, live"] += 1
            return
        self.server.push(path, log.events[-1])
        if self.chance.random() < 0.3:
            self.met["number repeated, live"] += 1
            self.server.push(path, self.chance.choice(log.events[-5:]))

    def mangled(self, path: str, frames: list[Json]) -> list[Json]:
        """What a new socket of a log is sent, with numbers from before its place, twice, and one left out."""
        colony = path.split("/")[3] if path.startswith("/api/sessions/") else ""
        numbered = [frame for frame in frames if "seq" in frame and frame["type"] != "replay_done"]
        if not colony or not numbered:
            return frames
        head = [frame for frame in frames if "seq" not in frame]
        older = self.server.logs[colony].events[: numbered[0]["seq"] - 1][-self.chance.choice([1, 5]) :]
        out = [copy for frame in numbered for copy in [frame] * self.chance.choice([1, 1, 2])]
        if self.holes.get(colony) == "repeated":
            self.holes[colony] = ""
            self.met["number left out, repeated"] += 1
            lost = self.chance.choice(numbered)
            out = [frame for frame in out if frame is not lost]
        return [*head, *older, *out, frames[-1]]

    # What is judged.

    def is_whole(self, snapshot: Snapshot) -> bool:
        return all(
            (now := snapshot.transcripts.get(key(colony))) is not None
            and now.phase is Phase.LIVE
            and self.shown(snapshot, colony) == self.texts(colony)
            and self.title(snapshot, colony) == self.server.sessions[colony]["issue_title"]
            for colony in COLONIES
        )

    def texts(self, colony: str) -> list[str]:
        return [event["text"] for event in self.server.logs[colony].events]

    def shown(self, snapshot: Snapshot, colony: str) -> list[str]:
        now = snapshot.transcripts.get(key(colony))
        return [] if now is None else [entry.body or entry.title for entry in now.transcript]

    def title(self, snapshot: Snapshot, colony: str) -> str | None:
        found = snapshot.colonies.get(key(colony))
        return None if found is None else found.title

    def toll(self) -> Toll:
        toll, snapshot = Toll(runs=1), self.cockpit.snapshot
        for colony in COLONIES:
            texts, shown = self.texts(colony), self.shown(snapshot, colony)
            toll.lost += (Counter(texts) - Counter(shown)).total()
            toll.lost += self.title(snapshot, colony) != self.server.sessions[colony]["issue_title"]
            toll.doubled += sum(count - 1 for count in Counter(shown).values())
            toll.misdirected += len(set(shown) - set(texts)) or [text for text in texts if text in shown] != shown
        return toll


@asynccontextmanager
async def storm(seed: int, folder: Path) -> AsyncGenerator[DropStorm, None]:
    near, far = folder / "r", folder / "s"
    async with (
        fleet_server(far) as server,
        breaking_relay(near, far) as relay,
        connected(Direct(SocketAddress(near)), folder, HastyClock()) as cockpit,
    ):
        yield DropStorm(seed, server, relay, cockpit)


def weather_drops(seeds: Iterable[int], folder: Path) -> Toll:
    """The toll of the storms of these seeds, of `DROPS_EACH` drops each."""

    async def weather(seed: int) -> Toll:
        async with storm(seed, folder) as made:
            return await made.weather()

    toll = Toll()
    for seed in seeds:
        one = asyncio.run(weather(seed))
        one.failed += [] if one.is_clean else [seed]
        toll.add(one)
    return toll
