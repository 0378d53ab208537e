"""Plays what was recorded to a whole cockpit, and judges whether it shows what was said last."""

import asyncio
import json
from collections.abc import AsyncGenerator, Iterable, Iterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import parse_qs

from msgspec.structs import replace

from client.cockpits import connected, until
from client.hand_clock import LONG_S, HandClock
from client.recorded_calls import call_of, differences, misread, moment, plain_call
from client.recorded_mothership import STREAM, Counting, Line, RecordedMothership, events_of, recorded_mothership
from client.samples import key
from colonizer_client.cockpit import Cockpit
from colonizer_client.errors import ClientError
from colonizer_client.mothership.models import Colony
from colonizer_client.snapshot import Snapshot
from colonizer_client.text import safe_text
from colonizer_client.transcript import Entry, Kind
from recorded import Json

LONGER_THAN_ANY_PAUSE_S = 20.0

ANOTHER_READER = ("page", "old")
"""Sockets of a colony that was followed already: a second cockpit has them."""

INTERRUPT = {"type": "interrupt"}
"""The one command that the client sends over an events socket. Answers and messages it sends by requests, which a
mothership checks and which can be repeated (spec 13.1); what followed them in the recording is played all the same."""

NOT_PLAYED = {"terminal": "no face opens terminals", "host": "it was done outside the mothership's API"}
"""Kinds of rows that are no part of what the client hears, and why."""

CLOSING = {"question_answered", "question_closed", "tool_result"}


@dataclass
class Said:
    """What the mothership said last, kept beside the cockpit by simpler means."""

    sessions: dict[str, Json] = field(default_factory=dict[str, Json])
    runs: dict[str, list[Json]] = field(default_factory=dict[str, list[Json]])
    """By colony, the events of the run that is shown."""
    epochs: dict[str, int] = field(default_factory=dict[str, int])

    def note(self, colony: str, frame: Json) -> None:
        """Notes a frame of a colony's events socket."""
        match frame["type"]:
            case "run_epoch":
                if self.epochs.get(colony) != frame["epoch"]:
                    self.runs[colony] = []
                self.epochs[colony] = frame["epoch"]
            case "session":
                self.note_session(frame["session"])
            case _ if "seq" in frame and frame["type"] != "replay_done":
                run = self.runs[colony]
                if not any(had["seq"] == frame["seq"] for had in run):
                    run.append(frame)
            case _:
                pass

    def note_session(self, session: Json) -> None:
        """Notes a session, unless one on another socket, which is newer by the mothership's own clock, overtook it."""
        had = self.sessions.get(session["id"])
        if had is None or not is_later(had, session):
            self.sessions[session["id"]] = session

    def lacks(self, colony: str, frame: Json) -> bool:
        """Whether events before this one were not recorded."""
        run = self.runs.get(colony, [])
        return run != [] and frame["type"] != "replay_done" and frame.get("seq", 0) > run[-1]["seq"] + 1


def is_later(one: Json, other: Json) -> bool:
    """Whether a session is of a later moment than another one."""
    moments = [moment(session["updated_at"]) or 0.0 for session in (one, other)]
    return moments[0] > moments[1]


@dataclass
class Player:
    """Plays rows to a cockpit and judges what it shows."""

    mothership: RecordedMothership
    connector: Counting
    cockpit: Cockpit
    clock: HandClock
    said: Said = field(default_factory=Said)
    played: int = 0

    async def play(self, row: Json) -> None:
        kind, colony = row["kind"], row.get("colony")
        if kind == "http":
            await self.ask(row["request"], row["response"])
        elif kind not in NOT_PLAYED:
            path = STREAM if kind == "stream" else events_of(str(colony))
            match row["dir"]:
                case "open" if kind == "stream":
                    await self.mothership.line(path)
                case "open":
                    await self.follow(str(colony), row)
                case "in" if self.said.lacks(str(colony), row["frame"]):
                    await self.leave_a_hole(str(colony), row["frame"])
                case "in":
                    await self.hear(path, colony, row["frame"])
                case "out":
                    await self.tell(str(colony), row["frame"])
                case _:
                    self.mothership.end(path)
        self.played += 1

    async def follow(self, colony: str, row: Json) -> None:
        """Opens the colony, or waits until the client comes again by itself, and judges from where it asks."""
        if key(colony) not in self.cockpit.snapshot.transcripts:
            self.cockpit.open(key(colony))
        line = await self.come_again(events_of(colony))
        recorded, ours = parse_qs(row["path"].partition("?")[2]), parse_qs(line.query)
        if row["socket"] not in ANOTHER_READER:
            assert (ours["since"], ours["epoch"]) == (recorded["since"], recorded["epoch"])

    async def hear(self, path: str, colony: str | None, frame: Json) -> None:
        if colony is not None:
            self.said.note(colony, frame)
            note_question(self.mothership, colony, frame)
        elif frame["type"] == "sessions":
            self.said.sessions = {session["id"]: session for session in frame["sessions"]}
        elif frame["type"] == "session":
            self.said.note_session(frame["session"])
        elif frame["type"] == "session_removed":
            del self.said.sessions[frame["id"]]
        await self.mothership.send(path, frame)
        assert self.misread() == []

    async def come_again(self, path: str) -> Line:
        """The socket of a path, once the client's pause before it tries again is over."""
        async with asyncio.timeout(LONG_S):
            while path not in self.mothership.lines:
                self.clock.move(LONGER_THAN_ANY_PAUSE_S)
                await asyncio.sleep(0)
        return self.mothership.lines[path]

    async def leave_a_hole(self, colony: str, frame: Json) -> None:
        """Sends what comes after events that were not recorded: the client asks for them, and gets the same again."""
        path, last = events_of(colony), self.said.runs[colony][-1]["seq"]
        (await self.mothership.line(path)).outgoing.put_nowait(json.dumps(frame))
        await self.mothership.until(lambda: path not in self.mothership.lines)
        line = await self.come_again(path)
        assert parse_qs(line.query)["since"] == [str(last)]
        await self.mothership.send(path, {"type": "run_epoch", "epoch": self.said.epochs[colony]})
        await self.hear(path, colony, frame)
        shown = [entry.title for entry in self.cockpit.snapshot.transcripts[key(colony)].transcript]
        assert f"events {last + 1} to {frame['seq'] - 1} are missing from the log" in shown

    async def tell(self, colony: str, frame: object) -> None:
        if frame == INTERRUPT:
            await self.cockpit.interrupt(key(colony))
            await self.mothership.until(lambda: self.mothership.heard and self.mothership.heard[-1] == frame)

    async def ask(self, request: Json, response: Json) -> None:
        """Makes the recorded request by the client, as a face does where one does it."""
        call = call_of(request) or plain_call(request, response)
        self.mothership.reply_once(call.method, call.path, response)
        outcome: object
        try:
            outcome = await self.connector.opened[-1].run(call)
        except ClientError as problem:
            outcome = problem
        assert differences(response, outcome) == "", request

    def misread(self) -> list[str]:
        """What the cockpit shows otherwise than it was said."""
        colonies = self.cockpit.snapshot.colonies
        if {shown.colony for shown in colonies} != set(self.said.sessions):
            return [f"{sorted(colonies)}, not {sorted(self.said.sessions)}"]
        return [
            word for colony, session in self.said.sessions.items() for word in misread(colonies[key(colony)], session)
        ]

    async def judge(self) -> None:
        """Waits until the open questions are known, and compares the transcripts with what was said."""
        await until(self.cockpit, self.knows_the_questions)
        for colony, run in self.said.runs.items():
            shown = list(flat(self.cockpit.snapshot.transcripts[key(colony)].transcript))
            assert drawn(shown) == expected(run), colony

    def knows_the_questions(self, snapshot: Snapshot) -> bool:
        asked = {colony.key.colony: self.mothership.asked_by.get(colony.key.colony) for colony in asking(snapshot)}
        known = {found.colony: question for found, question in snapshot.questions.items()}
        return {colony: raw["question_id"] for colony, raw in asked.items() if raw is not None} == {
            colony: question.question_id for colony, question in known.items()
        }


def asking(snapshot: Snapshot) -> list[Colony]:
    return [colony for colony in snapshot.colonies.values() if colony.may_ask]


def note_question(mothership: RecordedMothership, colony: str, frame: Json) -> None:
    """Keeps what `GET …/question` would answer."""
    asked = mothership.asked_by.get(colony)
    if frame["type"] == "question":
        kept = ("question_id", "risk", "questions", "ts", "blocking", "kind")
        mothership.asked_by[colony] = {name: frame[name] for name in kept if name in frame}
    elif frame["type"] in CLOSING:
        closed = {frame.get("question_id"), frame.get("tool_call_id")}
        if asked is not None and asked["question_id"] in closed:
            del mothership.asked_by[colony]


def flat(entries: Iterable[Entry]) -> Iterator[Entry]:
    for entry in entries:
        yield entry
        yield from flat(entry.children)


DRAWN = {Kind.AGENT, Kind.THINKING, Kind.USER, Kind.QUESTION, Kind.TOOL, Kind.TURN}


def drawn(entries: list[Entry]) -> list[tuple[Kind, str]]:
    """What a transcript shows of the events, in whatever order."""
    said = [replace(entry, kind=Kind.USER) if is_message(entry) else entry for entry in entries]
    return sorted(((entry.kind, shown(entry)) for entry in said if entry.kind in DRAWN), key=str)


def shown(entry: Entry) -> str:
    """What of an entry is compared."""
    match entry.kind:
        case Kind.QUESTION:
            return entry.question.question_id if entry.question is not None else ""
        case Kind.TOOL:
            return f"{entry.title} {entry.result}"
        case Kind.TURN:
            return ""
        case _:
            return entry.body


def is_message(entry: Entry) -> bool:
    """Whether somebody said this to the agent: a person, or the mothership."""
    first_line = entry.body.partition("\n")[0]
    is_of_the_host = entry.kind is Kind.NOTICE and bool(first_line) and entry.title.endswith(f": {first_line}")
    return entry.kind is Kind.BRIEF or is_of_the_host


def expected(run: list[Json]) -> list[tuple[Kind, str]]:
    """What a transcript has to show of a run's events, found by simpler means."""
    found: list[tuple[Kind, str]] = []
    texts: dict[tuple[Kind, str], str] = {}
    results = {event["tool_call_id"]: event for event in reversed(run) if event["type"] == "tool_result"}
    for event in run:
        block = f"{event.get('agent')} {event.get('message_id')} {event.get('block_index')}"
        match event["type"]:
            case "assistant_text_delta":
                had = texts.get((Kind.AGENT, block), "")
                texts[Kind.AGENT, block] = had + event["delta"]
            case "assistant_text":
                texts[Kind.AGENT, block] = event["text"]
            case "thinking":
                texts[Kind.THINKING, block] = event["text"]
            case "user_message":
                found.append((Kind.USER, safe_text(event["text"])))
            case "question":
                found.append((Kind.QUESTION, event["question_id"]))
            case "turn_end":
                found.append((Kind.TURN, ""))
            case "tool_call":
                result = results.get(event["tool_call_id"], {"output": ""})
                found.append((Kind.TOOL, f"{event['name']} {denied(result)}{safe_text(result['output'])}"))
            case _:
                pass
    found += [(kind, safe_text(text)) for (kind, _), text in texts.items()]
    return sorted(found, key=str)


def denied(result: Json) -> str:
    denial = result.get("denial")
    return "" if denial is None else f"{denial['class']}: {denial['hint']}\n"


@asynccontextmanager
async def player(folder: Path, name: str) -> AsyncGenerator[Player, None]:
    folder = folder / name
    folder.mkdir()
    clock = HandClock()
    async with recorded_mothership(folder / "s") as mothership:
        connector = Counting(mothership.address, mothership=mothership)
        async with connected(connector, folder, clock) as cockpit:
            yield Player(mothership, connector, cockpit, clock)
