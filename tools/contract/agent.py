#!/usr/bin/env python3
"""A scripted agent without a model, which speaks the runner contract: JSON lines on stdin and stdout.

A line `script: STEP; STEP; …` of a message says what it does in that turn:

  say TEXT             streams TEXT, then gives it whole
  ask KIND [NAME]      asks one question of a kind (see QUESTIONS) and writes the answer into ANSWERS.md
  edit PATH TEXT       appends a line to a file
  slow SECONDS         streams for so long; it can be interrupted
  pr TITLE             writes the text of the pull request, the sign that the work can be published

A message without such a line is answered with a short text, and so is the first message of a run that goes on.
"""

import json
import os
import queue
import re
import sys
import threading
import time
import uuid
from collections.abc import Mapping
from pathlib import Path
from typing import Any

PACE_S = 0.02
OUT = Path(os.environ.get("AGENT_OUT") or os.environ["COLONIZER_OUT_DIR"])
Json = dict[str, Any]


class Interrupted(Exception):
    """The turn is to end."""


class Shutdown(Exception):
    """The agent is to end."""


def choice(label: str) -> Json:
    return {"label": label, "description": f"to take {label}"}


def prompt(text: str, header: str, *labels: str, several: bool = False) -> Json:
    return {"question": text, "header": header, "multi_select": several, "options": [*map(choice, labels)]}


def questions(kind: str, name: str) -> Json:
    """The event of a question of one kind."""
    single = prompt(f"Which base? ({name})", f"Base {name}", "main", "develop", "a new branch")
    multi = prompt(f"Which checks? ({name})", f"Checks {name}", "unit", "lint", "3", several=True)
    free = prompt(f"Which title? ({name})", f"Title {name}")
    command = prompt(f"Run `curl {name}`?", f"Command {name}", "Allow", "Deny")
    kinds: dict[str, Json] = {
        "single": {"risk": "workspace_write", "questions": [single]},
        "multi": {"risk": "read_only", "questions": [multi]},
        "text": {"risk": "publish_affecting", "questions": [free]},
        "cards": {"risk": "workspace_write", "questions": [single, multi, free]},
        "risky": {"risk": "credential_adjacent", "questions": [single]},
        "odd": {"risk": "somewhat_dangerous", "questions": [single]},
        "blocking": {"risk": "workspace_write", "questions": [single], "blocking": True},
        "exec": {"risk": "workspace_write", "questions": [command], "blocking": True, "kind": "exec_policy"},
    }
    return kinds[kind]


class Agent:
    """One run."""

    def __init__(self) -> None:
        self._inbox: queue.Queue[Json] = queue.Queue()
        self._messages: list[Json] = []
        self._answers: dict[str, Json] = {}
        self._count = 0
        self._cost = 0.0
        self._resumes = os.environ.get("COLONIZER_RESUME_SESSION")
        self._session = self._resumes or str(uuid.uuid4())
        self._run = uuid.uuid4().hex[:4]

    def live(self) -> None:
        """Works until it is told to end."""
        threading.Thread(target=self._listen, daemon=True).start()
        self._say("status", state="idle")
        try:
            while True:
                try:
                    self._heed(0.1)
                except Interrupted:
                    self._say("log", level="info", message="nothing to interrupt")
                while self._messages:
                    self._turn(self._messages.pop(0))
        except Shutdown:
            self._say("status", state="exited")

    def _listen(self) -> None:
        for line in sys.stdin:
            self._inbox.put(json.loads(line))
        self._inbox.put({"type": "shutdown"})

    def _say(self, kind: str, /, **body: object) -> None:
        print(json.dumps({"type": kind, **body}), flush=True)

    def _heed(self, seconds: float) -> None:
        """Takes what comes in for a while."""
        until = time.monotonic() + seconds
        while (left := until - time.monotonic()) > 0:
            try:
                command = self._inbox.get(timeout=left)
            except queue.Empty:
                return
            match command["type"]:
                case "shutdown":
                    raise Shutdown
                case "interrupt":
                    raise Interrupted
                case "user_message":
                    self._say("user_message", id=command["id"], text=command["text"])
                    self._messages.append(command)
                case "answer":
                    self._answers[command["question_id"]] = command
                case other:
                    self._say("log", level="warn", message=f"unknown command {other!r}")

    def _turn(self, message: Json) -> None:
        started = time.monotonic()
        self._say("status", state="working")
        self._say("agent_session", session_id=self._session)
        result = "done"
        try:
            for step in self._steps(message):
                verb, _, rest = step.strip().partition(" ")
                getattr(self, f"_do_{verb}")(rest)
        except Interrupted:
            result = "interrupted"
        self._cost += 0.0125
        duration_ms = int((time.monotonic() - started) * 1000)
        self._say("turn_end", is_error=False, result=result, cost_usd=self._cost, duration_ms=duration_ms)
        self._say("status", state="idle")

    def _steps(self, message: Json) -> list[str]:
        text = str(message["text"])
        if self._resumes and message["id"] == "initial":
            return ["say I go on where I was.", "edit RUNS.md another run"]
        found = re.search(r"(?m)^\s*script:[ \t]*(.+)$", text)
        return found[1].split(";") if found else [f"say You said: {text[:100]}"]

    def _new_id(self, prefix: str) -> str:
        self._count += 1
        return f"{prefix}-{self._run}-{self._count}"

    def _do_say(self, text: str) -> None:
        message = self._new_id("m")
        for piece in re.findall(r"\s*\S+", text):
            self._say("assistant_text_delta", message_id=message, block_index=0, delta=piece)
            self._heed(PACE_S)
        self._say("assistant_text", message_id=message, block_index=0, text=text)

    def _do_slow(self, seconds: str) -> None:
        self._do_say(" ".join(f"word{number}" for number in range(int(float(seconds) / PACE_S))))

    def _do_ask(self, rest: str) -> None:
        kind, _, name = rest.partition(" ")
        question, asked = self._new_id("q"), questions(kind, name or kind)
        if asked.get("blocking"):
            self._say("tool_call", message_id=self._new_id("m"), tool_call_id=question, name="Ask", input={})
        self._say("question", question_id=question, **asked)
        self._say("status", state="waiting_for_answer")
        try:
            while question not in self._answers:
                self._heed(0.1)
        except Interrupted:
            # The result of the question's own id tells everybody that it is over.
            self._say("tool_result", tool_call_id=question, output="interrupted", is_error=True)
            raise
        given = self._answers.pop(question)
        self._say("question_answered", question_id=question, answers=given["answers"], response=given.get("response"))
        if asked.get("blocking"):
            self._say("tool_result", tool_call_id=question, output="answered", is_error=False)
        self._say("status", state="working")
        self._append("ANSWERS.md", shown(given["answers"]))

    def _do_edit(self, rest: str) -> None:
        path, _, text = rest.partition(" ")
        self._append(path, text)

    def _do_pr(self, title: str) -> None:
        OUT.mkdir(parents=True, exist_ok=True)
        (OUT / "pr.md").write_text(f"{title}\n\nMade by the scripted agent.\n")

    def _append(self, path: str, line: str) -> None:
        call = self._new_id("t")
        self._say("tool_call", message_id=self._new_id("m"), tool_call_id=call, name="Edit", input={"file_path": path})
        with open(path, "a", encoding="utf-8") as file:
            file.write(f"{line}\n")
        self._say("tool_result", tool_call_id=call, output=f"appended to {path}", is_error=False)


def shown(answers: Mapping[str, object]) -> str:
    return json.dumps(answers, ensure_ascii=False)


if __name__ == "__main__":
    Agent().live()
