"""The demo agent: a script without a model that shows what working with a colony is like.

Speaks the runner contract (spec 8) on stdio. It is run by path, as `python -I demo.py` in a worktree, so it stands
alone: one file and the standard library only, and little of that, because a person is waiting for its first word.
"""

from __future__ import annotations

import json
import os
import select
import subprocess
import sys
import time
from contextlib import suppress

TYPE_CHECKING = False  # what `typing` says; importing it takes longer than reading a repository
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import TypeAlias

    Value: TypeAlias = "Json | list[Value] | str | float | bool | None"
    Json: TypeAlias = "dict[str, Value]"

DELTA_SHARE = 1 / 8
"""Parts of a text follow each other faster than other events."""
DELTA_WORDS = 3
READ_LIMIT_BYTES = 1024 * 1024
README_LIMIT_BYTES = 256 * 1024
SHOWN_NAMES = 12
MEMORY = ".demo-agent.json"

GUIDE, MAP, CHANGELOG = "A guide for agents", "A map of the files", "A changelog"
LINK, LANGUAGES, COMMITS = "Link it from the README", "Count the languages", "Name the latest commits"
NOTHING = "Nothing was chosen, so this note is all that I add."
DEFAULT_TITLE = "Add a first document"

STEMS = {GUIDE: "AGENTS", MAP: "FILES", CHANGELOG: "CHANGELOG"}
"""What the new file is called, by the first answer."""

LANGUAGE_OF = {
    **{"py": "Python", "rs": "Rust", "go": "Go", "java": "Java", "rb": "Ruby", "ex": "Elixir", "exs": "Elixir"},
    **{"js": "JavaScript", "jsx": "JavaScript", "mjs": "JavaScript", "ts": "TypeScript", "tsx": "TypeScript"},
    **{"c": "C", "h": "C", "cc": "C++", "cpp": "C++", "hpp": "C++", "cs": "C#", "swift": "Swift", "kt": "Kotlin"},
    **{"php": "PHP", "lua": "Lua", "sh": "Shell", "sql": "SQL", "html": "HTML", "css": "CSS", "md": "Markdown"},
    **{"json": "JSON", "yaml": "YAML", "yml": "YAML", "toml": "TOML", "rst": "reStructuredText", "txt": "Text"},
}


class Interrupted(Exception):
    """The person wants the turn to end."""


class ShutDown(Exception):
    """The mothership wants the agent to end, or is gone."""


class ChangedMeanwhile(Exception):
    """Somebody else wrote where the demo wanted to."""


class Wire:
    """Events out, commands in; commands are heard while it waits between two events."""

    def __init__(self, pace_s: float, run: str) -> None:
        self.messages: list[str] = []
        """Texts that were accepted and not worked on yet."""
        self._answers: dict[str, Json] = {}
        self._pace_s = pace_s
        self._run = run
        self._count = 0
        self._unread = b""

    def emit(self, kind: str, body: Json, agent: Json | None = None) -> None:
        """Tells one event; `agent` is the settler that it is of."""
        event: Json = {"type": kind, **body, **({"agent": agent} if agent else {})}
        sys.stdout.write(json.dumps(event) + "\n")
        sys.stdout.flush()

    def status(self, state: str) -> None:
        """Tells the state."""
        self.emit("status", {"state": state})

    def new_id(self, prefix: str) -> str:
        """An id that no other run of this colony has."""
        self._count += 1
        return f"{prefix}-{self._run}-{self._count}"

    def pause(self, share: float = 1) -> None:
        """Lets the pace pass and does what comes in meanwhile.

        Raises:
            Interrupted: That came in.
            ShutDown: That came in.
        """
        deadline = time.monotonic() + self._pace_s * share
        self.listen(0)
        while (left := deadline - time.monotonic()) > 0:
            self.listen(left)

    def listen(self, seconds: float | None) -> None:
        """Does what comes in next, or nothing after the time; None waits for ever."""
        if b"\n" not in self._unread:
            if not select.select([0], [], [], seconds)[0]:
                return
            received = os.read(0, 65536)
            if not received:
                raise ShutDown
            self._unread += received
        while b"\n" in self._unread:
            line, _, self._unread = self._unread.partition(b"\n")
            self._obey(read_object(line))

    def _obey(self, command: Json) -> None:
        kind = command.get("type")
        if kind == "shutdown":
            raise ShutDown
        if kind == "interrupt":
            raise Interrupted
        if kind == "user_message":
            text = str(command.get("text") or "")
            self.emit("user_message", {"id": command.get("id"), "text": text})
            self.messages.append(text)
        elif kind == "answer":
            self._answers[str(command.get("question_id"))] = command
        elif kind == "set_model":
            self.emit("log", {"level": "warn", "message": "the demo agent has no model, so none can be chosen"})

    def say(self, text: str, agent: Json | None = None) -> None:
        """Streams a text, then tells it as a whole."""
        block: Json = {"message_id": self.new_id("m"), "block_index": 0}
        words = text.split(" ")
        for start in range(0, len(words), DELTA_WORDS):
            part = " ".join(words[start : start + DELTA_WORDS])
            self.emit("assistant_text_delta", {**block, "delta": f" {part}" if start else part}, agent)
            self.pause(DELTA_SHARE)
        self.emit("assistant_text", {**block, "text": text}, agent)
        self.pause()

    def use_tool(self, name: str, given: Json, work: Callable[[str], str], agent: Json | None = None) -> bool:
        """Whether the work succeeded; it gets the id of the call and gives the output."""
        call = self.new_id("tc")
        told: Json = {"message_id": self.new_id("m"), "tool_call_id": call, "name": name, "input": given}
        self.emit("tool_call", told, agent)
        failed = True
        output = "interrupted"
        try:
            self.pause()
            output = work(call)
            failed = False
        except (OSError, ChangedMeanwhile) as problem:
            output = str(problem)
        finally:
            self.emit("tool_result", {"tool_call_id": call, "output": output, "is_error": failed}, agent)
        self.pause()
        return not failed

    def ask(self, prompt: Json, risk: str) -> Json:
        """The answer to this very question, as the command that brought it; to be confirmed once it is kept."""
        question = self.new_id("q")
        self.emit("question", {"question_id": question, "risk": risk, "questions": [prompt]})
        self.status("waiting_for_answer")
        try:
            while question not in self._answers:
                self.listen(None)
        except Interrupted:
            # A result for the question's own id tells everybody that it is over.
            output = "the turn was interrupted"
            self.emit("tool_result", {"tool_call_id": question, "output": output, "is_error": True})
            raise
        command = self._answers.pop(question)
        for late in self._answers:
            self.emit("log", {"level": "warn", "message": f"nobody waits for an answer to {late}"})
        self._answers.clear()
        return command

    def confirm(self, answer: Json) -> None:
        """Tells that the answer was taken."""
        told: Json = {"answers": answer.get("answers") or {}, "response": answer.get("response")}
        self.emit("question_answered", {"question_id": answer.get("question_id"), **told})
        self.status("working")


class Memory:
    """The demo's place in its script, kept in the out folder so that a later run goes on from there."""

    def __init__(self, out: str | None) -> None:
        self._path = os.path.join(out, MEMORY) if out else None
        self._kept: Json = {}
        if self._path:
            with suppress(OSError), open(self._path, "rb") as file:
                self._kept = read_object(file.read())

    def get(self, name: str) -> Value:
        """What is kept under the name, or None."""
        return self._kept.get(name)

    def put(self, name: str, value: Value) -> None:
        """Keeps the value, for this run only where the folder cannot be written."""
        self._kept[name] = value
        if not self._path:
            return
        try:
            with open(self._path + ".new", "w", encoding="utf-8") as file:
                file.write(json.dumps(self._kept))
            os.replace(self._path + ".new", self._path)
        except OSError as problem:
            print(f"cannot keep my place in the script: {problem}", file=sys.stderr)


def read_object(text: bytes) -> Json:
    """The JSON object that the text is, or an empty one."""
    try:
        value: Value = json.loads(text)
    except (ValueError, RecursionError):
        return {}
    return value if isinstance(value, dict) else {}


class Repository:
    """What the demo sees of the repository: the names of its files and its last commits, both bounded."""

    def __init__(self) -> None:
        *names, cut = run_git("ls-files", "-z").split(b"\0")
        log = run_git("log", "-5", "--format=%h %s").decode(errors="replace")
        self.names = [name.decode(errors="replace") for name in names]
        self.commits = [plain(line) for line in log.splitlines()]
        self.count = f"more than {plural(len(names))}" if cut else plural(len(names))

    def languages(self) -> list[tuple[str, int]]:
        """Languages, else endings, with their number of files, the commonest first."""
        return counted([language(name) for name in self.names])

    def places(self) -> list[tuple[str, int]]:
        """Top folders and files with their number of files, the largest first."""
        return counted([plain(top) + slash for top, slash, _ in (name.partition("/") for name in self.names)])

    def readme(self) -> tuple[str, str] | None:
        """The tracked README and its text, if a line can be added to it."""
        named = [name for name in self.names if name.lower().partition(".")[0] == "readme" and "/" not in name]
        for name in sorted(named, key=lambda name: (not name.lower().endswith(".md"), name)):
            if os.path.isfile(name) and not os.path.islink(name):
                with suppress(OSError, UnicodeDecodeError), open(name, encoding="utf-8", newline="") as file:
                    text = file.read(README_LIMIT_BYTES)
                    if len(text) < README_LIMIT_BYTES and "\0" not in text:
                        return name, text
        return None


def run_git(*arguments: str) -> bytes:
    """The beginning of what git prints; nothing where it cannot run."""
    try:
        with subprocess.Popen(["git", *arguments], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as process:
            assert process.stdout
            output = process.stdout.read(READ_LIMIT_BYTES)
            process.kill()
            return output
    except OSError:
        return b""


def plain(text: str, limit: int = 100) -> str:
    """The text on one line, without anything that would be more than text in a transcript or in Markdown."""
    words = " ".join("".join(c if c.isprintable() else " " for c in text).replace("`", "'").split())
    return words if len(words) <= limit else words[: limit - 1] + "…"


def plural(count: int) -> str:
    """So many files."""
    return "1 file" if count == 1 else f"{count:,} files"


def language(name: str) -> str:
    """What the file is written in, as its name tells."""
    end = os.path.splitext(name)[1].lstrip(".").lower()
    return LANGUAGE_OF.get(end) or (plain(f".{end} files") if end else "files without an ending")


def counted(things: Sequence[str]) -> list[tuple[str, int]]:
    """Each thing once with its number, the commonest first."""
    counts: dict[str, int] = {}
    for thing in things:
        counts[thing] = counts.get(thing, 0) + 1
    return sorted(counts.items(), key=lambda pair: (-pair[1], pair[0]))


def document(kind: str, details: Sequence[str], title: str, seen: Repository) -> str:
    """The text of the new file; a kind that is none of ours is the person's own words."""
    parts = [opening(kind, seen)]
    for detail in details:
        if detail == LANGUAGES:
            parts.append("## Languages\n\n" + table("language", seen.languages()))
        elif detail == COMMITS:
            parts.append("## Latest commits\n\n" + bullets(seen.commits or ["There are none yet."]))
        elif detail != LINK:
            parts.append(f"## Also\n\n{detail}\n")
    return "\n".join([*parts, f"---\n\nAdded by the demo agent for “{title}”.\n"])


def opening(kind: str, seen: Repository) -> str:
    """How a document of that kind begins."""
    if kind == MAP:
        return f"# Map of the files\n\nThere are {seen.count} here.\n\n" + table("place", seen.places())
    if kind == CHANGELOG:
        subjects = [commit.partition(" ")[2] for commit in seen.commits]
        return "# Changelog\n\n## Unreleased\n\n" + bullets(subjects or ["Nothing yet."])
    if kind != GUIDE:
        return f"# Notes\n\n{kind}\n"
    places = [f"`{place}`" + (f": {plural(count)}" if place.endswith("/") else "") for place, count in seen.places()]
    rules = [
        "Keep a change small, and say in its message why it is made.",
        "Read your own diff before you hand it over.",
    ]
    return (
        "# Guide for agents\n\nWhat somebody who works here for the first time should know.\n\n## What is where\n\n"
        f"{bullets(places[:8] or ['Nothing yet: this repository is empty.'])}\n## How to work here\n\n{bullets(rules)}"
    )


def bullets(lines: Sequence[str]) -> str:
    """A Markdown list."""
    return "".join(f"- {line}\n" for line in lines)


def table(head: str, rows: Sequence[tuple[str, int]]) -> str:
    """A Markdown table of the first twenty rows."""
    lines = "".join(f"| {name.replace('|', '/')} | {count} |\n" for name, count in rows[:20])
    return f"| {head} | files |\n|---|---|\n{lines}"


def plan_edits(kind: str, details: Sequence[str], title: str, seen: Repository) -> list[Value]:
    """What will be put at the end of which file, with the size in bytes that the file has before."""
    path = free_name(STEMS.get(kind, "NOTES"))
    edits: list[Value] = [{"path": path, "size": 0, "text": document(kind, details, title, seen)}]
    if LINK in details:
        readme, content = seen.readme() or (free_name("README"), None)
        link = f"[{path}]({path})" if readme.lower().endswith(".md") else path
        line = f"See {link}, which the demo agent added.\n"
        if content:
            line = f"\n{line}" if content.endswith("\n") else f"\n\n{line}"
        elif content is None:
            line = f"# {plain(os.environ.get('COLONIZER_REPO') or 'This repository')}\n\n{line}"
        line = line.replace("\n", "\r\n") if "\r\n" in (content or "") else line
        edits.append({"path": readme, "size": len((content or "").encode()), "text": line})
    return edits


def free_name(stem: str) -> str:
    """A name that no file has and git does not ignore."""
    names = [stem + end for end in (".md", "-2.md", "-3.md", ".txt", "", f"-{os.urandom(3).hex()}.md")]
    free = [name for name in names if not os.path.lexists(name)]
    ignored = run_git("check-ignore", "--", *free).decode().splitlines()
    return next((name for name in free if name not in ignored), free[0])


def write_once(path: str, size: int, text: str) -> None:
    """Puts the text after the first `size` bytes of the file, once, even if an earlier run died while it wrote.

    Raises:
        ChangedMeanwhile: Something else is there by now.
        OSError: It cannot be written.
    """
    addition = text.encode()
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_NONBLOCK, 0o644)
    with open(descriptor, "r+b") as file:
        file.seek(size)
        found = file.read(len(addition) + 1)
        if os.fstat(descriptor).st_size < size or not addition.startswith(found):
            raise ChangedMeanwhile(f"{path} was changed meanwhile, so I leave it alone")
        file.seek(size)
        file.write(addition)


def questions(seen: Repository) -> list[tuple[Json, str]]:
    """The three questions, each with its risk."""

    def option(label: str, description: str, preview: str | None = None) -> Value:
        return {"label": label, "description": description, "preview": preview}

    def prompt(header: str, text: str, options: list[Value], several: bool = False) -> Json:
        return {"header": header, "question": text, "multi_select": several, "options": options}

    kinds = [
        option(GUIDE, "What is where, and how to work here", document(GUIDE, [], DEFAULT_TITLE, seen)),
        option(MAP, "A table of the folders, with the number of their files"),
        option(CHANGELOG, "Begun with the latest commits"),
    ]
    details = [
        option(LINK, "One line at its end, so that people find the new file"),
        option(LANGUAGES, "A table of what the files are written in"),
        option(COMMITS, "The last five, with their ids"),
    ]
    return [
        (prompt("Addition", "What should I add to this repository?", kinds), "read_only"),
        (prompt("Details", "What else may I do?", details, several=True), "workspace_write"),
        (prompt("Title", "What should the title of the pull request be?", []), "publish_affecting"),
    ]


def chosen(command: Json, text: str) -> list[str]:
    """The labels or words given for the question with this text; none when the card was dismissed."""
    answers = command.get("answers")
    if command.get("response") or not isinstance(answers, dict):
        return []
    given = answers.get(text)
    words = given if isinstance(given, list) else [given]
    paragraphs = ["\n".join(plain(line, 500) for line in str(word or "").splitlines()[:50]).strip() for word in words]
    return [paragraph for paragraph in paragraphs if paragraph]


class Demo:
    """The script, and where it stands."""

    def __init__(self, wire: Wire, memory: Memory, out: str | None) -> None:
        self._wire = wire
        self._memory = memory
        self._out = out
        self._is_introduced = False

    def turn(self, message: str) -> None:
        """Works on the message, to the end of the turn."""
        started = time.monotonic()
        self._wire.status("working")
        self._introduce()
        failed = False
        try:
            if self._memory.get("over"):
                result = (
                    f"I am a demo without a model, so I cannot act on “{plain(message)}”. "
                    "My change is ready in the diff; for real work, add an agent to the settings."
                )
            else:
                failed, result = self._tour(message)
            self._wire.say(result)
        except Interrupted:
            result = "interrupted"
        else:
            self._memory.put("over", not failed)
        duration = round((time.monotonic() - started) * 1000)
        self._wire.emit("turn_end", {"is_error": failed, "result": result, "cost_usd": 0.0, "duration_ms": duration})
        self._wire.status("idle")

    def _introduce(self) -> None:
        if self._is_introduced:
            return
        self._is_introduced = True
        known = os.environ.get("COLONIZER_RESUME_SESSION") or self._memory.get("session")
        self._memory.put("session", known or f"demo-{os.urandom(4).hex()}")
        self._wire.emit("model_changed", {"model": "demo", "previous": None})
        self._wire.emit("agent_session", {"session_id": self._memory.get("session")})

    def _tour(self, task: str) -> tuple[bool, str]:
        """Whether the change failed, and the last words about it."""
        seen = Repository()
        if self._memory.get("greeted"):
            self._wire.say("I go on where I was.")
        else:
            self._greet(task)
            self._look(seen)
            self._memory.put("greeted", True)
        kinds, details, titles = [self._ask(prompt, risk) for prompt, risk in questions(seen)]
        edits = self._memory.get("edits")
        if not isinstance(edits, list):
            title = plain(titles[0], 70) if titles else DEFAULT_TITLE
            planned = plan_edits(kinds[0] if kinds else NOTHING, details, title, seen)
            edits = [*planned, *self._pull_request(title, planned)]
            self._memory.put("edits", edits)
        undone = [edit for edit in edits if not self._edit(edit)]
        if undone:
            return True, "I could not write everything; what went wrong is above. Send me a message, and I try again."
        names = " and ".join(f"`{path}`" for path in map(path_of, edits) if not os.path.isabs(path))
        return False, f"Done: {names}. Read the diff, send me a message, or stop me; my branch stays."

    def _greet(self, task: str) -> None:
        words = plain(next((line for line in task.splitlines() if line.strip()), ""), 160)
        asked = f" You asked for “{words}”, which takes a real agent." if words else ""
        self._wire.say(
            "Hello! I am the demo agent: a script without a model, so this costs nothing and no account is needed."
            f"{asked} What I can do is make a small, real change on a branch of its own, and you decide which."
        )

    def _look(self, seen: Repository) -> None:
        wire, names = self._wire, seen.names
        shown = "\n".join([*map(plain, names[:SHOWN_NAMES]), *(["…"] if len(names) > SHOWN_NAMES else [])])
        wire.use_tool("Bash", {"command": "git ls-files"}, lambda _: shown or "(no files)")
        log = "\n".join(seen.commits) or "(no commits)"

        def read_commits(call: str) -> str:
            reader: Json = {"id": call, "name": "reader", "description": "Read the latest commits"}
            wire.use_tool("Bash", {"command": "git log -5 --format='%h %s'"}, lambda _: log, reader)
            wire.say("These are the latest commits." if seen.commits else "There are no commits yet.", reader)
            return log

        wire.use_tool("Task", {"description": "Read the latest commits", "subagent_type": "reader"}, read_commits)
        thought = "A new file is a safe first change: it breaks nothing and is easy to review. Three things to ask."
        wire.emit("thinking", {"message_id": wire.new_id("m"), "block_index": 0, "text": thought})
        wire.pause()
        common = "".join(f", {count:,} of them {name}" for name, count in seen.languages()[:1])
        newest = f" The newest commit says “{seen.commits[0].partition(' ')[2]}”." if seen.commits else ""
        wire.say(f"I see **{seen.count}**{common}.{newest} Before I change anything, I have three questions.")

    def _ask(self, prompt: Json, risk: str) -> list[str]:
        header = str(prompt["header"])
        known = self._memory.get(header)
        if isinstance(known, list):
            return [str(word) for word in known]
        answer = self._wire.ask(prompt, risk)
        words = chosen(answer, str(prompt["question"]))
        self._memory.put(header, [*words])
        self._wire.confirm(answer)
        self._wire.pause()
        return words

    def _pull_request(self, title: str, edits: Sequence[Value]) -> list[Value]:
        """The text of the pull request as one more edit, the sign that the work can be published."""
        if self._out is None:
            return []
        body = bullets([f"`{path_of(edit)}`" for edit in edits])
        text = f"{title}\n\nThe demo agent changed:\n\n{body}\nIt has no model, so read this before you merge.\n"
        return [{"path": os.path.join(self._out, "pr.md"), "size": 0, "text": text}]

    def _edit(self, edit: Value) -> bool:
        """Whether the edit is done, now or earlier."""
        if not isinstance(edit, dict) or self._memory.get(f"wrote {path_of(edit)}"):
            return True
        path, size, text = path_of(edit), int(str(edit["size"])), str(edit["text"])

        def work(_: str) -> str:
            write_once(path, size, text)
            self._memory.put(f"wrote {path}", True)
            return f"{'added to' if size else 'created'} {path}"

        name, key = ("Edit", "new_string") if size else ("Write", "content")
        return self._wire.use_tool(name, {"file_path": path, key: text}, work)


def path_of(edit: Value) -> str:
    """Where the edit writes."""
    return str(edit["path"]) if isinstance(edit, dict) else ""


def pace_s() -> float:
    """Seconds between two events."""
    try:
        return max(0.0, min(float(os.environ["COLONIZER_DEMO_PACE"]), 60.0))
    except (KeyError, ValueError):
        return 0.4


def main() -> None:
    """Takes messages until the mothership lets go."""
    out = os.environ.get("COLONIZER_OUT_DIR")
    wire = Wire(pace_s(), os.environ.get("COLONIZER_RUN", "1"))
    demo = Demo(wire, Memory(out), out)
    try:
        wire.status("idle")
        while True:
            try:
                wire.listen(None)
            except Interrupted:
                wire.emit("log", {"level": "info", "message": "there is nothing to interrupt"})
            while wire.messages:
                demo.turn(wire.messages.pop(0))
    except ShutDown:
        wire.status("exited")
    except BrokenPipeError:
        os._exit(0)  # nobody listens any more: a normal exit would try to write once more


if __name__ == "__main__":
    main()
