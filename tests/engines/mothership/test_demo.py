"""The demo agent in real worktrees, driven as the mothership drives it."""

import asyncio
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import cast

import pytest

from colonizer_engines.mothership import demo
from colonizer_engines.mothership.runner import Event, Runner, RunnerExit, RunnerStart

pytestmark = pytest.mark.anyio

ADDITION, DETAILS, TITLE = "Addition", "Details", "Title"
FIRST: Mapping[str, object] = {ADDITION: demo.GUIDE, DETAILS: [demo.LINK], TITLE: "Say what is where"}
"""By header; text or labels answer, None dismisses the card."""


def git(folder: Path, *arguments: str) -> str:
    command = ["git", "-c", "user.name=a", "-c", "user.email=a@b", *arguments]
    return subprocess.run(command, cwd=folder, check=True, capture_output=True, text=True).stdout


class Place:
    """A worktree of a repository with these files, and a folder for artifacts."""

    def __init__(self, folder: Path, files: Mapping[str, bytes]) -> None:
        clone = folder / "clone"
        clone.mkdir(parents=True)
        git(clone, "init", "-q", "-b", "main")
        for name, content in files.items():
            (clone / name).parent.mkdir(parents=True, exist_ok=True)
            (clone / name).write_bytes(content)
        git(clone, "add", "--force", ".")
        git(clone, "commit", "-q", "--allow-empty", "-m", "Begin `all` | this")
        self.worktree = folder / "worktree"
        git(clone, "worktree", "add", "-q", "-b", "colonizer/session-1", str(self.worktree))
        self.out = folder / "out"
        self.out.mkdir()

    def status(self) -> dict[str, str]:
        lines = git(self.worktree, "-c", "core.quotePath=false", "status", "--porcelain", "-uall").splitlines()
        return {line[3:]: line[:2].strip() for line in lines}

    def diff(self) -> str:
        git(self.worktree, "add", "--intent-to-add", ".")
        return git(self.worktree, "diff")


SOURCE = {"README.md": b"# Here\n\nWords.\n", "src/app.py": b"print()\n", "src/lib.py": b"\n", "LICENSE": b"free\n"}


@pytest.fixture
def place(tmp_path: Path) -> Place:
    return Place(tmp_path, SOURCE)


class Stage:
    """A running demo agent and what it said."""

    def __init__(self, runner: Runner, answers: Mapping[str, object]) -> None:
        self.runner = runner
        self.events: list[Event] = []
        """What was looked at so far."""
        self.answers = answers
        self._coming = self._all()

    async def until(self, kind: str, **body: object) -> list[Event]:
        """What comes up to such an event; questions are answered on the way."""
        seen: list[Event] = []
        async for event in self._coming:
            seen.append(event)
            if event["type"] == kind and body.items() <= event.items():
                return seen
        raise AssertionError(f"no {kind} {body} came, but {self.events[-3:]}")

    async def until_many(self, count: int) -> None:
        """Looks at so many events."""
        while len(self.events) < count:
            await anext(self._coming)

    async def rest(self) -> None:
        """Looks at what comes until the agent is gone."""
        async for _ in self._coming:
            pass

    async def turn(self, text: str, message: str = "initial") -> list[Event]:
        await self.runner.send({"type": "user_message", "id": message, "text": text})
        return await self.until("turn_end") + await self.until("status", state="idle")

    async def _all(self) -> AsyncGenerator[Event, None]:
        async for batch in self.runner.batches():
            for event in batch:
                self.events.append(event)
                if event["type"] == "question":
                    await self._answer(event)
                yield event

    async def _answer(self, event: Event) -> None:
        (prompt,) = cast("list[dict[str, object]]", event["questions"])
        header = str(prompt["header"])
        if header not in self.answers:
            return
        choice = self.answers[header]
        answers = {} if choice is None else {str(prompt["question"]): choice}
        response = "not now" if choice is None else None
        command = {"type": "answer", "question_id": event["question_id"], "answers": answers, "response": response}
        await self.runner.send(command)


@asynccontextmanager
async def on_stage(
    place: Place, answers: Mapping[str, object] = FIRST, wrap: Sequence[str] = (), **environment: str
) -> AsyncGenerator[Stage, None]:
    argv = (*wrap, sys.executable, "-I", demo.__file__)
    variables = {"PATH": os.environ["PATH"], "COLONIZER_DEMO_PACE": "0", "COLONIZER_OUT_DIR": str(place.out)}
    async with asyncio.timeout(30):
        runner = await Runner.start(RunnerStart(argv, place.worktree, {**variables, **environment}))
        try:
            yield Stage(runner, answers)
        finally:
            await runner.shut_down()


async def played(place: Place, answers: Mapping[str, object] = FIRST, **environment: str) -> list[Event]:
    async with on_stage(place, answers, **environment) as stage:
        return await stage.turn("Fix the login")


def of(events: Sequence[Event], kind: str) -> list[Event]:
    return [event for event in events if event["type"] == kind]


def headers(events: Sequence[Event]) -> list[str]:
    prompts = [cast("list[dict[str, object]]", event["questions"])[0] for event in of(events, "question")]
    return [str(prompt["header"]) for prompt in prompts]


async def test_the_first_options_change_two_files_one_of_them_new(place: Place) -> None:
    await played(place)
    assert place.status() == {"README.md": "M", "AGENTS.md": "??"}
    assert (
        (place.worktree / "README.md")
        .read_text()
        .endswith("Words.\n\nSee [AGENTS.md](AGENTS.md), which the demo agent added.\n")
    )
    assert "- `src/`: 2 files\n" in (place.worktree / "AGENTS.md").read_text()
    title, *body = (place.out / "pr.md").read_text().splitlines()
    assert title == "Say what is where"
    assert "- `AGENTS.md`" in body


async def test_every_choice_gives_a_diff_of_its_own(tmp_path: Path) -> None:
    variants: list[Mapping[str, object]] = [
        FIRST,
        *({**FIRST, ADDITION: choice} for choice in (demo.MAP, demo.CHANGELOG, "my own\nwords", None)),
        *({**FIRST, DETAILS: choice} for choice in ([demo.LANGUAGES], [demo.COMMITS], [], ["a word"], None)),
        {**FIRST, DETAILS: [demo.LINK, demo.LANGUAGES, demo.COMMITS, "a word"]},
        *({**FIRST, TITLE: choice} for choice in ("Another title", None)),
    ]
    diffs: list[str] = []
    for number, answers in enumerate(variants):
        place = Place(tmp_path / str(number), SOURCE)
        await played(place, answers)
        diffs.append(place.diff())
        assert (place.out / "pr.md").exists()
    nothing_else, dismissed = 7, 9
    assert diffs[nothing_else] == diffs[dismissed]
    assert len(set(diffs)) == len(diffs) - 1


async def test_the_turn_follows_the_contract(place: Place) -> None:
    async with on_stage(place) as stage:
        events = await stage.turn("Fix the login")
    kinds = [event["type"] for event in events]
    assert kinds[:5] == ["status", "user_message", "status", "model_changed", "agent_session"]
    assert kinds[-2:] == ["turn_end", "status"]
    assert events[1] == {"type": "user_message", "id": "initial", "text": "Fix the login"}
    assert of(events, "model_changed") == [{"type": "model_changed", "model": "demo", "previous": None}]
    assert [event["state"] for event in of(events, "status")] == [
        "idle",
        *("working", "waiting_for_answer") * 3,
        "working",
        "idle",
    ]
    for text in of(events, "assistant_text"):
        block = [
            delta["delta"] for delta in of(events, "assistant_text_delta") if delta["message_id"] == text["message_id"]
        ]
        assert "".join(cast("list[str]", block)) == text["text"]
    calls, results = of(events, "tool_call"), of(events, "tool_result")
    assert sorted(str(call["tool_call_id"]) for call in calls) == sorted(str(r["tool_call_id"]) for r in results)
    assert [result["is_error"] for result in results] == [False] * len(results)
    settlers = {str(cast("dict[str, object]", event["agent"])["id"]) for event in events if "agent" in event}
    assert settlers == {call["tool_call_id"] for call in calls if call["name"] == "Task"}
    assert "thinking" in kinds
    (end,) = of(events, "turn_end")
    assert (end["is_error"], end["cost_usd"]) == (False, 0.0)
    assert "model_usage" not in end


async def test_the_questions_are_of_three_kinds_and_explain_their_options(place: Place) -> None:
    events = await played(place)
    asked = [(event["risk"], cast("list[dict[str, object]]", event["questions"])) for event in of(events, "question")]
    assert [(risk, prompt["multi_select"]) for risk, (prompt,) in asked] == [
        ("read_only", False),
        ("workspace_write", True),
        ("publish_affecting", False),
    ]
    options = [cast("list[dict[str, str]]", prompt["options"]) for _, (prompt,) in asked]
    assert [len(each) for each in options] == [3, 3, 0]
    assert all(option["description"] for each in options for option in each)
    assert [bool(option["preview"]) for option in options[0]] == [True, False, False]


async def test_a_later_message_is_answered_with_one_line(place: Place) -> None:
    async with on_stage(place) as stage:
        await stage.turn("Fix the login")
        before = place.diff()
        events = await stage.turn("and\nnow?", "u-1")
    assert of(events, "user_message")[0]["id"] == "u-1"
    (text,) = of(events, "assistant_text")
    assert "I am a demo without a model, so I cannot act on “and now?”" in str(text["text"])
    assert "\n" not in str(text["text"])
    assert place.diff() == before


async def test_messages_that_come_during_a_turn_are_answered_after_it(place: Place) -> None:
    async with on_stage(place) as stage:
        await stage.runner.send({"type": "user_message", "id": "initial", "text": "Fix it"})
        await stage.turn("one more thing", "u-1")
        await stage.until("turn_end")
    assert [event["text"] for event in of(stage.events, "assistant_text") if "one more thing" in str(event["text"])]


async def test_the_task_is_quoted_in_one_sentence_without_anything_hidden(place: Place) -> None:
    task = "\n\n  Delete\x1b[2J \u202e`everything`\ud83d " + "now " * 100 + "\nsecond line"
    async with on_stage(place) as stage:
        events = await stage.turn(task)
    hello = str(of(events, "assistant_text")[0]["text"])
    assert "You asked for “Delete [2J 'everything' now now" in hello
    assert "second line" not in hello
    assert hello.isprintable()


async def test_an_answer_to_another_question_changes_nothing(place: Place) -> None:
    async with on_stage(place, {}) as stage:
        await stage.runner.send({"type": "user_message", "id": "initial", "text": "Fix it"})
        await stage.until("status", state="waiting_for_answer")
        (question,) = of(stage.events, "question")
        for question_id in ("q-0-0", question["question_id"]):
            await stage.runner.send({"type": "answer", "question_id": question_id, "answers": {}, "response": None})
        await stage.until("question_answered")
        confirmed = of(stage.events, "question_answered")
        assert [event["question_id"] for event in confirmed] == [question["question_id"]]
        assert "an answer to q-0-0" in str(of(stage.events, "log")[0]["message"])


async def test_an_interrupt_ends_the_turn_and_a_message_goes_on(place: Place) -> None:
    async with on_stage(place, {ADDITION: demo.GUIDE}) as stage:
        await stage.runner.send({"type": "user_message", "id": "initial", "text": "Fix it"})
        await stage.until("question_answered")
        await stage.until("question")
        await stage.runner.send({"type": "interrupt"})
        await stage.until("turn_end")
        question = of(stage.events, "question")[-1]
        assert of(stage.events, "tool_result")[-1]["tool_call_id"] == question["question_id"]
        assert of(stage.events, "turn_end")[-1]["result"] == "interrupted"
        stage.answers = FIRST
        events = await stage.turn("go on", "u-1")
    assert headers(events) == [DETAILS, TITLE]
    assert set(place.status()) == {"README.md", "AGENTS.md"}


async def test_an_interrupt_closes_the_tool_call_that_runs(place: Place) -> None:
    async with on_stage(place, COLONIZER_DEMO_PACE="0.001") as stage:
        await stage.runner.send({"type": "user_message", "id": "initial", "text": "Fix it"})
        await stage.until("tool_call")
        await stage.runner.send({"type": "interrupt"})
        await stage.until("turn_end")
    calls, results = of(stage.events, "tool_call"), of(stage.events, "tool_result")
    assert {call["tool_call_id"] for call in calls} <= {result["tool_call_id"] for result in results}


@pytest.mark.parametrize("moment", ["idle", "text", "question"])
async def test_a_shutdown_or_the_end_of_input_ends_it_at_any_moment(moment: str, place: Place) -> None:
    pace = "60" if moment == "text" else "0"
    async with on_stage(place, {}, COLONIZER_DEMO_PACE=pace) as stage:
        await stage.until("status", state="idle")
        if moment != "idle":
            await stage.runner.send({"type": "user_message", "id": "initial", "text": "Fix it"})
            await stage.until({"text": "assistant_text_delta", "question": "question"}[moment])
        ended = await stage.runner.shut_down()
        await stage.until("status", state="exited")
    assert ended == RunnerExit(0, None, "")


def test_the_end_of_input_alone_ends_it(place: Place) -> None:
    process = subprocess.run(
        [sys.executable, "-I", demo.__file__],
        cwd=place.worktree,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        check=True,
    )
    assert process.stdout.splitlines()[-1] == b'{"type": "status", "state": "exited"}'


def test_nobody_to_tell_is_no_error(place: Place) -> None:
    read_end, write_end = os.pipe()
    os.close(read_end)
    process = subprocess.run(
        [sys.executable, "-I", demo.__file__], cwd=place.worktree, stdout=write_end, stderr=subprocess.PIPE, check=False
    )
    os.close(write_end)
    assert (process.returncode, process.stderr) == (0, b"")


async def test_commands_that_make_no_sense_are_passed_over(place: Place) -> None:
    async with on_stage(place) as stage:
        await stage.runner.send({"type": "from_the_future"})
        await stage.runner.send({"type": "interrupt"})
        await stage.runner.send({"type": "set_model", "model": "big"})
        await stage.turn("Fix it")
    assert [event["message"] for event in of(stage.events, "log")] == [
        "there is nothing to interrupt",
        "the demo agent has no model, so none can be chosen",
    ]


@pytest.mark.parametrize("share", range(10))
async def test_a_run_that_is_killed_anywhere_is_gone_on_with_and_asks_nothing_twice(share: int, tmp_path: Path) -> None:
    undisturbed, killed = Place(tmp_path / "undisturbed", SOURCE), Place(tmp_path / "killed", SOURCE)
    whole = await played(undisturbed)
    async with on_stage(killed, COLONIZER_DEMO_PACE="0.004") as stage:
        await stage.runner.send({"type": "user_message", "id": "initial", "text": "Fix the login"})
        await stage.until_many(len(whole) * share // 10)
        os.kill(stage.runner.pid, signal.SIGKILL)
        await stage.rest()
        settled = headers(stage.events)[: len(of(stage.events, "question_answered"))]
    events = await played(killed, COLONIZER_RUN="2")
    assert not set(settled) & set(headers(events))
    assert killed.diff() == undisturbed.diff()
    assert (killed.out / "pr.md").read_text() == (undisturbed.out / "pr.md").read_text()


async def test_a_run_after_the_last_one_repeats_nothing_and_keeps_its_session(place: Place) -> None:
    first = await played(place)
    before = place.diff()
    second = await played(place, COLONIZER_RUN="2")
    assert place.diff() == before
    assert headers(second) == []
    assert of(second, "agent_session") == of(first, "agent_session")


async def test_a_resumed_session_keeps_the_id_that_it_is_given(place: Place) -> None:
    events = await played(place, COLONIZER_RESUME_SESSION="known-1")
    assert of(events, "agent_session") == [{"type": "agent_session", "session_id": "known-1"}]


@pytest.mark.parametrize(
    "kept", [b"", b"[]", b"\xff", b"{" * 100_000, b'{"greeted": true, "edits": 5, "Addition": "x"}']
)
async def test_a_memory_that_cannot_be_read_is_no_memory(kept: bytes, place: Place) -> None:
    (place.out / demo.MEMORY).write_bytes(kept)
    await played(place)
    assert set(place.status()) == {"README.md", "AGENTS.md"}


def test_a_text_is_put_at_its_place_once(tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_bytes(b"before")
    for _ in range(2):
        demo.write_once(str(path), 6, " after ü")
        assert path.read_bytes() == b"before after \xc3\xbc"


@pytest.mark.parametrize("cut", range(10))
def test_a_text_that_was_written_in_part_is_completed(cut: int, tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_bytes(b"before" + " after ü".encode()[:cut])
    demo.write_once(str(path), 6, " after ü")
    assert path.read_bytes() == b"before after \xc3\xbc"


@pytest.mark.parametrize("content", [b"bef", b"before something else", b"before after and more"])
def test_a_file_that_somebody_changed_meanwhile_is_left_alone(content: bytes, tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_bytes(content)
    with pytest.raises(demo.ChangedMeanwhile):
        demo.write_once(str(path), 6, " after")
    assert path.read_bytes() == content


def test_a_link_is_never_written_through(tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to(tmp_path / "target")
    with pytest.raises(OSError, match="symbolic link"):
        demo.write_once(str(tmp_path / "link"), 0, "words")
    assert not (tmp_path / "target").exists()


ODD: Mapping[str, Mapping[str, bytes]] = {
    "without files": {},
    "without a README": {"a.c": b""},
    "of binaries": {"a.bin": bytes(range(256)), "README": bytes(range(256))},
    "of strange names": {"ü\n|`x/\x1b[2J.py": b"", "-rf": b"", " ": b"", "README.md": b"x"},
    "with everything there": {"AGENTS.md": b"mine\n", "AGENTS-2.md/x": b"", "README.rst": b"Here\n====\n"},
    "that ignores Markdown": {".gitignore": b"*.md\n", "a.py": b""},
    "that ignores all": {".gitignore": b"*\n", "README.md": b"words\n"},
    "with a huge README": {"README.md": b"x" * 300_000},
    "with an empty README": {"README": b""},
}


@pytest.mark.parametrize("files", ODD.values(), ids=ODD.keys())
async def test_the_first_options_work_in_a_repository(files: Mapping[str, bytes], tmp_path: Path) -> None:
    place = Place(tmp_path, files)
    events = await played(place)
    assert of(events, "turn_end")[-1]["is_error"] is False
    changed = place.status()
    if files.get(".gitignore") != b"*\n":
        assert len(changed) == 2
        assert "??" in changed.values()
    for name, content in files.items():
        assert (place.worktree / name).read_bytes().startswith(content)


async def test_the_ends_of_lines_of_a_readme_are_kept(tmp_path: Path) -> None:
    place = Place(tmp_path, {"README.md": b"# Here\r\n\r\nno end"})
    await played(place)
    added = b"See [AGENTS.md](AGENTS.md), which the demo agent added.\r\n"
    assert (place.worktree / "README.md").read_bytes() == b"# Here\r\n\r\nno end\r\n\r\n" + added


async def test_a_readme_that_is_a_link_is_left_alone(tmp_path: Path) -> None:
    place = Place(tmp_path, {"words": b"mine\n"})
    (place.worktree / "README.md").symlink_to("words")
    git(place.worktree, "add", ".")
    await played(place)
    assert (place.worktree / "words").read_bytes() == b"mine\n"
    assert (place.worktree / "README-2.md").exists()


def track_many(worktree: Path) -> None:
    blob = git(worktree, "hash-object", "-w", "LICENSE").strip()
    index = "".join(f"100644 {blob}\tmany/file-{number:06}.py\n" for number in range(100_000))
    subprocess.run(["git", "update-index", "--index-info"], cwd=worktree, input=index, text=True, check=True)


async def test_a_hundred_thousand_files_are_counted_only_as_far_as_is_quick(place: Place) -> None:
    track_many(place.worktree)
    events = await played(place)
    assert any("I see **more than 5" in str(event["text"]) for event in of(events, "assistant_text"))
    assert (place.worktree / "AGENTS.md").exists()


async def test_it_works_where_there_is_no_git(place: Place) -> None:
    events = await played(place, PATH="/nowhere")
    assert any("I see **0 files**" in str(event["text"]) for event in of(events, "assistant_text"))
    assert (place.worktree / "AGENTS.md").exists()


async def test_it_works_without_a_folder_for_artifacts(place: Place) -> None:
    events = await played(place, COLONIZER_OUT_DIR=str(place.out / "gone"))
    assert of(events, "turn_end")[-1]["is_error"] is True
    assert "cannot keep my place" in str(of(events, "log")[0]["message"])
    assert set(place.status()) == {"README.md", "AGENTS.md"}


@pytest.mark.parametrize(
    ("given", "seconds"), [("0", 0), ("1.5", 1.5), ("-1", 0), ("9999", 60), ("soon", 0.4), ("", 0.4), (None, 0.4)]
)
def test_the_pace_comes_from_the_environment(
    given: str | None, seconds: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("COLONIZER_DEMO_PACE")
    if given is not None:
        monkeypatch.setenv("COLONIZER_DEMO_PACE", given)
    assert demo.pace_s() == seconds


def test_it_stands_alone(place: Place, tmp_path: Path) -> None:
    shutil.copy(demo.__file__, tmp_path / "alone.py")
    process = subprocess.run(
        [sys.executable, "-I", "-S", str(tmp_path / "alone.py")],
        cwd=place.worktree,
        stdin=subprocess.DEVNULL,
        check=False,
    )
    assert process.returncode == 0


BWRAP = shutil.which("bwrap") or ""
CONFINED = (BWRAP, "--ro-bind", "/", "/", "--dev", "/dev", "--proc", "/proc", "--unshare-pid", "--cap-drop", "ALL")


def sandbox_works() -> bool:
    return bool(BWRAP) and subprocess.run([*CONFINED, "true"], capture_output=True, check=False).returncode == 0


@pytest.mark.skipif(not sandbox_works(), reason="bwrap does not work here")
async def test_it_works_where_only_worktree_and_out_folder_can_be_written(place: Place) -> None:
    writable = [word for path in (place.worktree, place.out) for word in ("--bind", str(path), str(path))]
    async with on_stage(place, wrap=(*CONFINED, *writable, "--")) as stage:
        events = await stage.turn("Fix the login")
    assert of(events, "turn_end")[-1]["is_error"] is False
    assert set(place.status()) == {"README.md", "AGENTS.md"}
    assert (place.out / demo.MEMORY).exists()
