"""A mothership with one colony that asks, as strict about answers as the real one, and a network that can fail."""

import json
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, TypeVar

from client.samples import Json, session
from colonizer_client.errors import NoReply, Unreachable
from colonizer_client.mothership.calls import Call
from colonizer_client.mothership.replies import Reply
from colonizer_client.mothership.wire import mapping

T = TypeVar("T")

Fault = Callable[[str, str], str | None]
"""For method and route: None, `unsent`, `request lost`, `reply lost`, or the status of an answer."""


def route_of(call: Call[Any]) -> str:
    """What a request asks of its colony."""
    return "/".join(call.path.split("?")[0].split("/")[4:]) or "session"


def no_fault(method: str, route: str) -> None:
    del method, route


@dataclass
class AskedMothership:
    open: Json | None = None
    """The open question, as `GET …/question` serves it."""
    status: str = "waiting_for_answer"
    records: list[Json] = field(default_factory=list[Json])
    taken: list[Json] = field(default_factory=list[Json])
    """Answers that were passed on to the agent, in their order, each with its question's body."""
    said: list[tuple[str, str]] = field(default_factory=list[tuple[str, str]])
    """Messages that were passed on to the agent: id and text."""
    fault: Fault = no_fault
    before: Callable[[str, str], None] = no_fault
    """What happens just before a request arrives."""
    is_gone: bool = False
    asked: Counter[str] = field(default_factory=Counter[str])
    moment: int = 0

    async def __call__(self, call: Call[T], /) -> T:
        route = route_of(call)
        self.asked[route] += 1
        fault = self.fault(call.method, route)
        if fault == "unsent":
            raise Unreachable("nothing answers")
        body = mapping(json.loads(json.dumps(call.body)))
        if fault == "request lost":
            raise NoReply("it took too long")
        if fault is not None and fault.isdigit():
            return call.read(Reply(int(fault), b'{"error": "words"}'))
        self.before(call.method, route)
        status, answer = self.answer(call.method, route, body)
        if fault == "reply lost":
            raise NoReply("it took too long")
        return call.read(Reply(status, b"" if answer is None else json.dumps(answer).encode()))

    def now(self) -> str:
        """A moment, later than all before."""
        self.moment += 1
        return f"2026-11-30T12:{self.moment // 60:02}:{self.moment % 60:02}Z"

    def answered_elsewhere(self, value: str) -> None:
        """Another client answers the open question."""
        if self.open is not None:
            self._take(dict.fromkeys((prompt["question"] for prompt in self.open["questions"]), value))

    def answer(self, method: str, route: str, body: Any) -> tuple[int, object]:
        """Status and body of the answer to a request that arrived."""
        if self.is_gone:
            return 404, {"error": "no such session"}
        match method, route:
            case "GET", "question":
                return (204, None) if self.open is None else (200, self.open)
            case "GET", "session":
                return 200, session(status=self.status, answered_questions=self.records)
            case "POST", "answer":
                return self._judge(body)
            case "POST", "messages":
                is_new = body["id"] not in dict(self.said)
                if is_new:
                    self.said.append((body["id"], body["text"]))
                return 200, {"id": f"u-{body['id']}", "duplicate": not is_new, "pending_notes": 0}
            case _:
                return 404, {"error": "no such API route"}

    def _judge(self, body: Any) -> tuple[int, object]:
        if self.status not in ("waiting_for_answer", "running"):
            return 409, {"error": f"the colony is {self.status} and cannot take an answer; resume it first"}
        if self.open is None:
            return 409, {"error": "no question is pending for this colony"}
        is_this = body["question_id"] == self.open["question_id"]
        if not is_this or ("questions" in body and body["questions"] != self.open["questions"]):
            return 409, {"error": "the colony is asking a different question now"}
        self._take(body["answers"])
        return 204, None

    def _take(self, answers: Json) -> None:
        assert self.open is not None
        self.taken.append({"question": self.open, "answers": answers})
        asked, answered_at = self.open["question_id"], self.now()
        self.records += [
            {"question_id": asked, "header": "", "question": text, "answer": value, "answered_at": answered_at}
            for text, value in answers.items()
        ]
        self.open = None
