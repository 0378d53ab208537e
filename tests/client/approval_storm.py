"""Callers and deciders in a storm: threads over one real database, each with a connection of its own, from one seed.

What was done is judged by what the tool saw, against what the deciders were told that they had approved.
"""

import asyncio
import random
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterable
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeVar

from msgspec.structs import replace

from client.toll import Toll
from colonizer_client.approvals.ledger import LIFE_S, Approvals
from colonizer_client.approvals.models import Approval, Caller, Request, canonical, digest_of
from colonizer_client.errors import Conflict, TooMany
from colonizer_client.mothership.calls import Call
from colonizer_client.store import Store
from colonizer_config.address import SocketAddress
from colonizer_config.settings import Approve, McpSettings
from colonizer_config.token import Token
from colonizer_server.approver import Approver, Called
from colonizer_server.arguments import Arguments, Parameter
from colonizer_server.errors import ToolError
from colonizer_server.policy import SettingsInForce
from colonizer_server.scope import Scope
from colonizer_server.session import Session
from colonizer_server.tools import Mothership, Tool

T = TypeVar("T")

MET = ("carried out", "edited", "rejected", "policy changed")
"""What some of forty storms meet for sure; that deciders collide, callers die and time runs out, only most do."""

CALLS, LOOKS = 3, 4
"""How often a caller calls, and a decider looks."""

CLIENT = "storm"


@dataclass
class StormClock:
    """A clock that whoever wants to moves, on which one waits a little."""

    time: float

    def now(self) -> float:
        return self.time

    def monotonic(self) -> float:
        return time.monotonic()

    async def sleep(self, seconds: float) -> None:
        await asyncio.sleep(seconds / 100)


class ChangingSettings(SettingsInForce):
    """Settings that change while they are read."""

    def __init__(self) -> None:
        super().__init__(Path())
        self.approve = Approve.WRITES

    def now(self) -> McpSettings:
        return McpSettings(self.approve)


@dataclass
class ApprovalStorm:
    """A tool, two callers with one token, two deciders, and everything that can come between."""

    seed: int
    path: Path
    done: list[str] = field(default_factory=list[str])
    """The digest of the arguments of each effect, as the tool saw them."""
    approved: list[tuple[str, str]] = field(default_factory=list[tuple[str, str]])
    """The id and the digest of each approval that a decider was told to have given."""
    rejected: list[str] = field(default_factory=list[str])
    killed: list[str] = field(default_factory=list[str])
    """The ids of those that were claimed by somebody who then died."""
    met: Counter[str] = field(default_factory=Counter[str])
    failed: list[BaseException] = field(default_factory=list[BaseException])

    def __post_init__(self) -> None:
        self.clock = StormClock(1_800_000_000.0 + self.seed * 10 * LIFE_S)
        self.settings = ChangingSettings()
        token = Token(f"storm-{self.seed}")
        self.session = Session(Scope.OPERATE, SocketAddress(self.path), token, "", {}, "hq", Approve.WRITES)
        parameters = (Parameter("text", "", required=True),)
        self.tool = Tool("write", Scope.OPERATE, "", parameters, self.work, "Write")

    async def work(self, mothership: Mothership, given: Arguments) -> str:
        del mothership
        self.done.append(digest_of(canonical(given.given)))
        await asyncio.sleep(0)
        return "written"

    def weather(self) -> Toll:
        """The storm, once all is over."""
        actors = (self.call, self.call, self.decide, self.decide, self.disturb)
        start = threading.Barrier(len(actors))
        threads = [
            threading.Thread(target=self.act, args=(actor, random.Random(self.seed * 10 + number), start))
            for number, actor in enumerate(actors)
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        if self.failed:
            raise self.failed[0]
        return self.toll()

    def act(
        self, actor: Callable[[Store, Approvals, random.Random], None], chance: random.Random, start: threading.Barrier
    ) -> None:
        try:
            with closing(Store(self.path)) as store:
                start.wait()
                actor(store, Approvals(store, self.clock), chance)
        except BaseException as problem:  # noqa: BLE001 - the thread that waits for it raises it
            self.failed.append(problem)
            start.abort()

    def call(self, store: Store, ledger: Approvals, chance: random.Random) -> None:
        """Calls again and again; waits by itself at times, and is killed at others right after it claimed."""
        asyncio.run(self.call_all(store, ledger, chance))

    async def call_all(self, store: Store, ledger: Approvals, chance: random.Random) -> None:
        mothership = Mothership(_nobody, {})
        for _ in range(CALLS):
            pause(chance)
            wait_s = chance.choice((0.0, 0.006))
            session = replace(self.session, wait_s=wait_s)
            approver = Approver(session, self.settings, lambda: store, self.clock)
            called = Called(self.tool, {"text": chance.choice("ab")}, CLIENT, _unheard)
            if chance.random() < 0.25:
                self.claim_and_die(store, ledger)
                continue
            try:
                self.met["carried out"] += "written" in await approver.run(called, mothership)
            except (Conflict, ToolError, TooMany) as problem:
                self.met[type(problem).__name__] += 1

    def claim_and_die(self, store: Store, ledger: Approvals) -> None:
        """Claims what is approved, and is never heard of again."""
        for approval in ledger.newest(10):
            request = approval.request
            if approval.state == "approved" and request.caller.id == self.session.caller_id:
                try:
                    ledger.claim(approval, request)
                except Conflict:
                    continue
                store.rows("UPDATE approvals SET claimant = '1 1.00 gone' WHERE id = ?", approval.id)
                self.killed.append(approval.id)
                self.met["killed"] += 1
                return

    def decide(self, store: Store, ledger: Approvals, chance: random.Random) -> None:
        """Decides whatever waits, not always on what is there."""
        del store
        for _ in range(LOOKS):
            for approval in ledger.pending():
                if approval.request.caller.id == self.session.caller_id:
                    self.decide_one(ledger, approval, chance.random())
            pause(chance)

    def decide_one(self, ledger: Approvals, approval: Approval, chance: float) -> None:
        try:
            if chance < 0.1:
                ledger.approve(approval.id, "0" * 64, CLIENT)
                raise AssertionError("something else than what was shown was approved")
            if chance < 0.25:
                ledger.reject(approval.id, CLIENT)
                self.rejected.append(approval.id)
                self.met["rejected"] += 1
            elif chance < 0.45:
                edited = ledger.edit(approval.id, approval.digest, {"text": "c"}, CLIENT)
                self.approved.append((edited.id, digest_of(canonical({"text": "c"}))))
                self.met["edited"] += 1
            else:
                ledger.approve(approval.id, approval.digest, CLIENT)
                self.approved.append((approval.id, approval.digest))
        except Conflict as problem:
            self.met["decided already"] += "already" in str(problem)

    def disturb(self, store: Store, ledger: Approvals, chance: random.Random) -> None:
        """Changes the policy and the time; at times somebody else asks for the same."""
        del store
        for _ in range(LOOKS):
            match chance.randrange(8):
                case 0:
                    self.settings.approve = chance.choice((Approve.ALL, Approve.WRITES))
                    self.met["policy changed"] += 1
                case 1 if chance.random() < 0.3:
                    self.clock.time += LIFE_S
                    self.met["expired"] += 1
                case 2:
                    other = Caller(self.session.caller_id + "-other", CLIENT)
                    ledger.ask(Request(other, "write", {"text": "a"}, "policy", "hq", ""))
                case _:
                    ledger.pending()
            pause(chance)

    def toll(self) -> Toll:
        """What the tool saw, against what the deciders were told, and what the store says in the end."""
        effects, given = Counter(self.done), Counter(digest for _, digest in self.approved)
        decisions = Counter([*(of for of, _ in self.approved), *self.rejected])
        with closing(Store(self.path)) as store:
            ledger = Approvals(store, self.clock)
            mine = [one for one in ledger.newest(1000) if one.request.caller.id == self.session.caller_id]
        states = Counter(one.state for one in mine)
        # Each effect is one row that says so; a claimer that died had none.
        untold = abs(states["done"] - len(self.done)) + states["claimed"] + abs(states["unknown"] - len(self.killed))
        over = {digest: count - given[digest] for digest, count in effects.items() if count > given[digest]}
        return Toll(
            runs=1,
            lost=untold,
            doubled=sum(over[digest] for digest in over if given[digest]) + sum(n - 1 for n in decisions.values()),
            misdirected=sum(over[digest] for digest in over if not given[digest]),
            faults=+self.met,
        )


def pause(chance: random.Random) -> None:
    """Lets the others go first, sometimes for as long as they take for a step."""
    time.sleep(chance.choice((0, 0.001, 0.003)))


async def _nobody(call: Call[T], /) -> T:
    del call
    raise AssertionError("the tool of a storm asks no mothership")


async def _unheard(progress: float, total: float | None = None, message: str | None = None) -> None:
    del progress, total, message


def weather_approvals(seeds: Iterable[int], folder: Path) -> Toll:
    """The toll of the storms of these seeds."""
    toll, path = Toll(), folder / "local/cockpit.db"
    Store(path).close()
    for seed in seeds:
        one = ApprovalStorm(seed, path).weather()
        one.failed += [] if one.is_clean else [seed]
        toll.add(one)
    return toll
