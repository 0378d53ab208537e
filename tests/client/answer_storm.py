"""Answers in a storm, in simulated time: a network, an agent and other clients that do their worst, from one seed.

What became of each answer is judged by what the mothership passed on to its agent, once everything has arrived.
"""

import asyncio
import json
import random
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NoReturn, TypeVar

from client.asked_mothership import AskedMothership, route_of
from client.samples import HQ, Json, prompt, question_body
from client.simulated_time import LoopClock, run_simulated
from client.toll import Toll
from colonizer_client.answers import Chosen, from_card
from colonizer_client.errors import NoReply, Unreachable
from colonizer_client.identity import ColonyId, ColonyKey, EndpointName
from colonizer_client.mothership import decode, wire
from colonizer_client.mothership.calls import Call
from colonizer_client.mothership.carrier import Carrier
from colonizer_client.mothership.replies import Reply
from colonizer_client.mothership.transport import REQUEST_TIMEOUT_S
from colonizer_client.outbox import Delivery, Outbox
from colonizer_client.store import Store

T = TypeVar("T")

ON_THE_WAY = ("request lost", "reply lost", "delayed")
AROUND = ("second key press", "second client", "question replaced", "epoch changed", "faces killed")
FAULTS = (*ON_THE_WAY, *AROUND)
"""Each storm has at least one of them for sure, by its seed, and more by chance."""

OTHER_FAULTS = ("unsent", "500", "500 though taken", "429")
DELAY_S = 40.0
CALM_S = 150.0
"""From here on the network fails no more, so that whatever can be settled is."""

END_S = 900
"""What is not settled by then is lost."""

STOPPED_AT_LEAST_S = 5.0
"""A run does not start within the time that a reply takes."""

ELSEWHERE = EndpointName("elsewhere")
"""The mothership's name on the other person's machine."""


@dataclass(eq=False)
class Asking:
    """A question as it was asked at one time."""

    body: Json
    asked_at: float | None
    taken: list[tuple[str, str]] = field(default_factory=list[tuple[str, str]])
    """Whose answers went on to the agent, and which."""


@dataclass(eq=False)
class Person:
    """Somebody with a card in front of them: what they pressed, on which question, and the faces that send it."""

    storm: "AnswerStorm"
    endpoint: EndpointName
    faces: int
    label: str
    asking: Asking | None = None
    pressed: list[Delivery] = field(default_factory=list[Delivery])

    def __post_init__(self) -> None:
        self.key = ColonyKey(self.endpoint, self.storm.colony)
        self.start()

    def start(self) -> None:
        """Starts the faces; each has its own outbox and carrier, over the one store."""
        self.outboxes = [Outbox(self.storm.store, self.storm.clock) for _ in range(self.faces)]
        self.carriers = [self.carrier(outbox) for outbox in self.outboxes]
        self.running = [asyncio.create_task(carrier.run()) for carrier in self.carriers]

    def carrier(self, outbox: Outbox) -> Carrier:
        return Carrier(self.endpoint, lambda: outbox, self.ask, lambda _: None, lambda _: None, self.storm.clock)

    async def kill(self) -> None:
        """Ends all faces as a power failure does."""
        for task in self.running:
            task.cancel()
        await asyncio.wait(self.running)
        gone = "UPDATE outbox SET claimant = '1 1.00 gone' WHERE claimant != '' AND endpoint = ? AND colony = ?"
        self.storm.store.write(lambda db: db.execute(gone, self.key))

    def press(self) -> None:
        """Answers the card in one of the faces; it is drawn until another question is asked."""
        asking = self.asking = self.asking or self.storm.open
        if asking is None or asking is not self.storm.askings[-1]:
            return
        question = decode.asked(decode.open_question(asking.body), asking.asked_at)
        face = self.storm.chance.randrange(self.faces)
        body = from_card(question, [Chosen((self.label,))])
        put = self.outboxes[face].put_answer(self.key, question, body)
        if put.id not in {delivery.id for delivery in self.pressed}:
            self.pressed.append(put)
        self.carriers[face].fill()

    async def ask(self, call: Call[T], /) -> T:
        """Sends a request, and waits as long as the transport does."""
        fault = self.storm.fault_for(self, call)
        if fault == "unsent":
            raise Unreachable("nothing answers")
        try:
            async with asyncio.timeout(REQUEST_TIMEOUT_S):
                return call.read(await self.storm.carry(self, call, fault))
        except TimeoutError:
            raise NoReply("it took too long") from None

    def fates(self) -> list[Delivery]:
        """What was pressed, as it stands."""
        stored = (self.outboxes[0].get(delivery.id) for delivery in self.pressed)
        return [delivery for delivery in stored if delivery is not None]

    def toll(self) -> Toll:
        """What the server's record says of this person's answers, against what the person was told."""
        mine = self.asking
        if mine is None:
            return Toll()
        taken = [asking for asking in self.storm.askings for who, _ in asking.taken if who == self.endpoint]
        arrived = [asking for asking in taken if asking.body == mine.body]
        on_record = any(
            value == self.label
            for asking in self.storm.askings
            if asking.body == mine.body
            for _, value in asking.taken
        )
        fates = self.fates()
        told = {delivery.state for delivery in fates}
        unsettled = sum(not delivery.is_settled for delivery in fates) + len(self.pressed) - len(fates)
        is_told_otherwise = (bool(arrived) and "confirmed" not in told) or ("confirmed" in told and not on_record)
        return Toll(
            lost=unsettled + is_told_otherwise,
            doubled=max(len(arrived) - 1, 0),
            misdirected=len(taken) - len(arrived),
        )


class AnswerStorm:
    """One colony that asks, one person who answers, and everything that can come between."""

    def __init__(self, seed: int, store: Store) -> None:
        self.chance = random.Random(seed)
        self.store = store
        self.colony = ColonyId(f"storm-{seed}")
        self.clock = LoopClock()
        self.named = FAULTS[seed % len(FAULTS)]
        self.due = [self.named] if self.named in ON_THE_WAY else []
        self.mothership = AskedMothership()
        self.askings: list[Asking] = []
        self.open: Asking | None = None
        self.on_their_way = 0
        """Answers that were sent and have neither arrived nor got lost."""
        self.met = Counter[str]()
        self.tasks: set[asyncio.Task[None]] = set()
        self.power = asyncio.Lock()
        self.answer_earlier()
        self.ask_another()
        self.me = Person(self, HQ, faces=2, label="a")
        self.rival = Person(self, ELSEWHERE, faces=1, label=self.chance.choice("bba"))

    async def weather(self) -> Toll:
        """The storm from the first key press until everything is settled and has arrived."""
        self.me.press()
        for fault, strike in self.strikes().items():
            for _ in range((fault == self.named) + (self.chance.random() < 0.25)):
                self.spawn(self.after(self.moment(), fault, strike))
        for _ in range(END_S):
            if self.is_settled() and not self.tasks:
                break
            await asyncio.sleep(1)
        for person in (self.me, self.rival):
            await person.kill()
        toll = Toll(runs=1, faults=self.met)
        toll.add(self.me.toll())
        toll.add(self.rival.toll())
        return toll

    def strikes(self) -> Mapping[str, Callable[[], object]]:
        """What happens around the network."""
        return {
            "second key press": self.me.press,
            "second client": self.rival.press,
            "question replaced": self.replace_question,
            "epoch changed": lambda: self.spawn(self.change_epoch()),
            "faces killed": lambda: self.spawn(self.kill_faces()),
        }

    def moment(self) -> float:
        """At once, in the time of the first request, around its time-out, or any time."""
        uniform = self.chance.uniform
        return self.chance.choice([0, uniform(0, 4), uniform(0, 4), uniform(25, 45), uniform(0, 120)])

    async def after(self, seconds: float, fault: str, strike: Callable[[], object]) -> None:
        await asyncio.sleep(seconds)
        if not self.is_settled():
            self.met[fault] += 1
        strike()

    def spawn(self, work: Any) -> None:
        task = asyncio.create_task(work)
        self.tasks.add(task)
        task.add_done_callback(self.tasks.discard)

    def is_settled(self) -> bool:
        return all(delivery.is_settled for person in (self.me, self.rival) for delivery in person.fates())

    # The network.

    def fault_for(self, person: Person, call: Call[Any]) -> str | None:
        """What happens to a request."""
        is_answer = call.method == "POST"
        if is_answer and person is self.me and self.due:
            fault: str | None = self.due.pop()
        elif self.clock.monotonic() > CALM_S or self.chance.random() < 0.55:
            fault = None
        else:
            fault = self.chance.choice([*ON_THE_WAY, *OTHER_FAULTS])
        if is_answer and fault is not None:
            self.met[fault] += 1
        return fault

    async def carry(self, person: Person, call: Call[Any], fault: str | None) -> Reply:
        """The reply to a request, unless it comes too late or never."""
        is_answer = call.method == "POST"
        self.on_their_way += is_answer
        try:
            await asyncio.sleep(self.latency())
            match fault:
                case "request lost":
                    await self.silence()
                case "delayed":
                    self.on_their_way += is_answer
                    self.spawn(self.arrive_late(person, call))
                    await nothing()
                case "500" | "429":
                    return Reply(int(fault), b'{"error": "words"}')
                case _:
                    reply = self.arrive(person, call)
        finally:
            self.on_their_way -= is_answer
        if fault == "reply lost":
            await self.silence()
        if fault == "500 though taken":
            return Reply(500, b'{"error": "words"}')
        await asyncio.sleep(self.latency())
        return reply

    def latency(self) -> float:
        return self.chance.choice([0.001, self.chance.uniform(0, 2)])

    async def silence(self) -> NoReturn:
        """The connection breaks, or nothing comes until the time is over."""
        if self.chance.random() < 0.5:
            raise NoReply("the connection broke")
        await nothing()

    async def arrive_late(self, person: Person, call: Call[Any]) -> None:
        await asyncio.sleep(DELAY_S)
        self.arrive(person, call)
        self.on_their_way -= call.method == "POST"

    def arrive(self, person: Person, call: Call[Any]) -> Reply:
        """The request reaches the mothership, which answers at once."""
        asking, before = self.open, len(self.mothership.taken)
        body = wire.mapping(json.loads(json.dumps(call.body)))
        status, answer = self.mothership.answer(call.method, route_of(call), body)
        if asking is not None and len(self.mothership.taken) > before:
            (value,) = self.mothership.taken[-1]["answers"].values()
            asking.taken.append((person.endpoint, value))
            self.open = None
        return Reply(status, b"" if answer is None else json.dumps(answer).encode())

    # The agent, and the people.

    def answer_earlier(self) -> None:
        """Leaves an answer to a question of an earlier run on record, whose id comes again."""
        if self.chance.random() < 0.5:
            self.mothership.open = question_body("q-1", prompt("Before?", "a", "b"))
            self.mothership.answered_elsewhere("a")

    def ask_another(self) -> None:
        """Asks something else, often under an id that was had before, as in a new run."""
        question_id = self.chance.choice(["q-1", "q-1", "q-2"])
        self.put(question_body(question_id, prompt(f"Question {len(self.askings)}?", "a", "b")))

    def put(self, body: Json) -> None:
        at = wire.moment(self.mothership.now())
        self.open = Asking(body, at if self.chance.random() < 0.9 else None)
        self.askings.append(self.open)
        self.mothership.open = body

    def replace_question(self) -> None:
        if self.mothership.status != "stopped":
            self.ask_another()

    async def change_epoch(self) -> None:
        """Stops the colony and resumes it: the next run asks anew, the same or something else."""
        self.mothership.status, self.mothership.open, self.open = "stopped", None, None
        await asyncio.sleep(STOPPED_AT_LEAST_S + self.chance.uniform(0, 30))
        self.mothership.status = "waiting_for_answer"
        last = self.askings[-1]
        if self.chance.random() < 0.5:
            self.ask_another()
        elif not last.taken:
            self.open, self.mothership.open = last, last.body
        elif not self.on_their_way and last.asked_at is not None:
            # What is on its way twice, to be taken by a question and by its twin, can be told apart by nobody.
            self.put(last.body)

    async def kill_faces(self) -> None:
        async with self.power:
            await self.me.kill()
            await asyncio.sleep(self.chance.uniform(0, 10))
            self.me.start()


async def nothing() -> NoReturn:
    """Waits until the transport gives up."""
    await asyncio.Event().wait()
    raise AssertionError


def weather_answers(seeds: Iterable[int], folder: Path) -> Toll:
    """The toll of the storms of these seeds."""

    async def weather(seed: int) -> Toll:
        return await AnswerStorm(seed, store).weather()

    toll = Toll()
    store = Store(folder / "cockpit.db")
    for seed in seeds:
        one = run_simulated(weather(seed))
        one.failed += [] if one.is_clean else [seed]
        toll.add(one)
    store.close()
    return toll
