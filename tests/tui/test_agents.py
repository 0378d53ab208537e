"""Agents that misbehave, on a real engine and a real terminal: what a person reads, and what they can do about it."""

import json
import re
import sys
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path

import psutil
import pytest

from colonizer_client.mothership import calls, wire
from colonizer_client.mothership.models import Colony
from real_engine import LOCAL, RealEngine, is_alive, real_engine
from real_git import Clone, new_clone
from real_terminal import RealTerminal, cockpit

WORDS = """
import json, os, signal, sys, time

RUN = int(os.environ["COLONIZER_RUN"])

def say(kind, **body):
    print(json.dumps({"type": kind, **body}), flush=True)

def tell(text):
    say("assistant_text", message_id=text, block_index=0, text=text)

def heard():
    command = json.loads(sys.stdin.readline() or '{"type": "shutdown"}')
    if command["type"] == "user_message":
        say("user_message", id=command["id"], text=command["text"])
    return command

def live_on():
    say("turn_end", is_error=False)
    say("status", state="idle")
    while heard()["type"] != "shutdown":
        tell("I am here")
    say("status", state="exited")

"""
"""What every agent here knows of the contract."""


@pytest.fixture
def repository(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Clone:
    clone = new_clone(tmp_path / "notes", {"README.md": "# Notes\n"})
    monkeypatch.chdir(clone.path)
    return clone


@pytest.fixture
def engine(repository: Clone) -> Iterator[RealEngine]:
    with real_engine() as running:
        yield running


def agents_of(engine: RealEngine, terminal: RealTerminal, count: int) -> list[psutil.Process]:
    """The processes below the engine once they are so many: its git comes and goes among them."""
    found: list[psutil.Process] = []

    def are_so_many() -> bool:
        found[:] = psutil.Process(engine.pid()).children(recursive=True)
        return len(found) == count

    terminal.until(are_so_many, f"{count} processes below the engine")
    return found


def the_colony(engine: RealEngine) -> Colony:
    """The one that was launched last."""
    return engine.colonies()[0]


@contextmanager
def opened(engine: RealEngine) -> Generator[RealTerminal]:
    """The cockpit, which launches what `launch` says."""
    script = agent_script(engine)
    script.parent.mkdir(parents=True, exist_ok=True)
    command = json.dumps([sys.executable, "-I", "-S", str(script)])
    engine.paths.settings.write_text(f'[agents.odd]\ncommand = {command}\n\n[local]\nagent = "odd"\nsandbox = "none"\n')
    with cockpit() as terminal:
        terminal.shows("No colonies yet", "local ●")
        yield terminal


def agent_script(engine: RealEngine) -> Path:
    return engine.paths.config / "agent.py"


def launch(engine: RealEngine, terminal: RealTerminal, task: str, behaviour: str) -> None:
    """Launches a colony with an agent of this behaviour, on which the cursor of the list is then."""
    agent_script(engine).write_text(WORDS + behaviour)
    terminal.send("1c")
    terminal.shows("Colonize")
    terminal.send(f"{task}\x13")
    terminal.until(lambda: is_selected(terminal, task), f"{task} to be launched")


def is_selected(terminal: RealTerminal, title: str) -> bool:
    """Whether the cursor of the list is on the colony, and nothing lies over it."""
    rows = terminal.text.split("\n")
    return "Colonize on" not in terminal.text and any(row.startswith("▌") and title in row for row in rows)


def one_that_hears_nothing_is_stopped_and_gone_before_the_next_run_begins(
    engine: RealEngine, terminal: RealTerminal
) -> None:
    behaviour = """
others = [pid for pid in os.listdir("/proc") if pid.isdigit() and pid != str(os.getpid())]
def is_agent(pid):
    try:
        return sys.argv[0].encode() in open(f"/proc/{pid}/cmdline", "rb").read().split(b"\\0")
    except OSError:
        return False
alone = not any(map(is_agent, others))
if RUN == 1:
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    while True:
        time.sleep(60)
heard()
tell("alone" if alone else "not alone")
live_on()
"""
    launch(engine, terminal, "Hear nothing", behaviour)
    terminal.shows("running")
    (hanging,) = agents_of(engine, terminal, 1)
    terminal.send("s")
    terminal.shows("Stop this colony?")
    terminal.send("y")
    terminal.shows("is stopped", "stopped · its worktree is kept")
    terminal.send("r")
    terminal.shows("Resume this colony?")
    terminal.send("y")
    terminal.shows("idle")
    terminal.send("\r")
    terminal.shows("alone", "run 2")
    assert "not alone" not in terminal.text
    assert not is_alive(hanging)


def nonsense_is_quoted_in_the_log_and_its_agent_lives_on(engine: RealEngine, terminal: RealTerminal) -> None:
    behaviour = r"""
heard()
for line in (
    b"plain words", b"{", b"[1, 2]", b"\xff\xfe\x00 binary \x1b]0;a title\x07", b'{"type": 7}', b"[" * 5000,
    b'{"type": "status", "state": 9}', b'{"type": "question", "question_id": {}}', b"x" * 300_000,
    b'{"type": "turn_end", "cost_usd": "much"}', b'{"type": "tool_call", "input": 4, "name": []}',
    b'{"type": "of tomorrow", "seq": -1, "ts": 5}',
):
    os.write(1, line + b"\n")
live_on()
"""
    launch(engine, terminal, "Babble", behaviour)
    terminal.shows("its turn is over: m writes to it")
    terminal.send("\r")
    terminal.shows(
        "a non-event line: plain words",
        "a non-event line: [1, 2]",
        "binary ␛]0;a",
        'a non-event line: {"type": 7}',
        "ignored a malformed status event",
        "a line over 256 KiB, cut:",
    )
    terminal.send("mstill there?\r")
    terminal.shows("I am here")
    assert (the_colony(engine).status, the_colony(engine).cost_usd) == ("idle", None)


def test_agents_that_hear_nothing_or_talk_nonsense_can_be_stopped_or_written_to(engine: RealEngine) -> None:
    with opened(engine) as terminal:
        one_that_hears_nothing_is_stopped_and_gone_before_the_next_run_begins(engine, terminal)
        nonsense_is_quoted_in_the_log_and_its_agent_lives_on(engine, terminal)
    assert len(engine.colonies()) == 2


def has_reached(terminal: RealTerminal, number: int) -> bool:
    """Whether a line of this or a higher number is on the screen."""
    return any(int(found) >= number for found in re.findall(r"line ([0-9]+)", terminal.text))


def texts_of(engine: RealEngine) -> list[str]:
    """All texts in the log of the colony, oldest first."""
    pages: list[list[str]] = []
    before: int | None = None
    while before != 1:
        page = engine.ask(calls.log_page(the_colony(engine).key.colony, limit=1000, before=before))
        events = wire.mappings(page.get("events"))
        pages.append([wire.raw(event.get("text")) for event in events if event.get("type") == "assistant_text"])
        before = wire.integer(page.get("oldest_seq"))
    return [text for page in reversed(pages) for text in page]


def test_a_flood_of_events_leaves_the_keys_alive_and_the_log_whole(engine: RealEngine) -> None:
    flooding = """
heard()
say("status", state="working")
for number in range(18_000):
    line = f'{{"type":"assistant_text","message_id":"m{number}","block_index":0,"text":"line {number}"}}'
    sys.stdout.write(line + chr(10))
sys.stdout.flush()
live_on()
"""
    with opened(engine) as terminal:
        launch(engine, terminal, "Flood", flooding)
        terminal.shows("assistant text line ")
        terminal.send("\r")
        terminal.shows("message to the agent", "line ")
        for reached in range(0, 18_000, 6_000):
            terminal.until(partial(has_reached, terminal, reached), f"line {reached}")
            terminal.send("7")
            terminal.shows("followed live")
            terminal.send("3")
            terminal.shows("message to the agent", "line ")
        terminal.shows("line 17999", "turn over", "following")
        terminal.send("g")
        terminal.shows("lines below")
    assert texts_of(engine) == [f"line {number}" for number in range(18_000)]


def what_one_was_at_when_it_died_is_not_underway_any_more(engine: RealEngine, terminal: RealTerminal) -> None:
    behaviour = """
heard()
say("status", state="working")
say("assistant_text_delta", message_id="m", block_index=0, delta="half a sen")
say("tool_call", tool_call_id="t", name="Bash", input={"command": "make"})
os._exit(1)
"""
    launch(engine, terminal, "Die at work", behaviour)
    terminal.shows("failed: agent exited: exit code 1")
    terminal.send("\r")
    terminal.shows("half a sen", "✗ make", "its agent ended before", "agent exited: exit code 1")
    assert "▍" not in terminal.text
    agents_of(engine, terminal, 0)


def one_that_is_killed_from_outside_fails_with_the_signal_and_leaves_no_process(
    engine: RealEngine, terminal: RealTerminal
) -> None:
    behaviour = """
import subprocess
heard()
subprocess.Popen(["sleep", "600"])
say("status", state="working")
while True:
    time.sleep(60)
"""
    launch(engine, terminal, "Be killed", behaviour)
    terminal.shows("running · last sign")
    family = agents_of(engine, terminal, 2)
    family[0].kill()
    terminal.shows("failed: agent exited: killed by signal 9")
    terminal.send("2")
    terminal.shows("by urgency and risk", "failed: agent exited: killed by signal 9", "r resume")
    assert not any(map(is_alive, family))
    assert the_colony(engine).unseen_failure
    terminal.send("\r")
    terminal.until(lambda: not the_colony(engine).unseen_failure, "the failure to be seen")


def one_that_dies_while_it_asks_leaves_nothing_to_answer_and_asks_again_when_resumed(
    engine: RealEngine, terminal: RealTerminal
) -> None:
    behaviour = """
heard()
options = [{"label": "Yes"}, {"label": "No"}]
prompt = {"question": f"Really, {RUN}?", "header": "H", "multi_select": False, "options": options}
say("question", question_id=f"q{RUN}", questions=[prompt])
say("status", state="waiting_for_answer")
answer = heard()
tell("heard " + json.dumps(answer["answers"]))
live_on()
"""
    launch(engine, terminal, "Die asking", behaviour)
    terminal.shows("Really, 1?", "a opens the card")
    terminal.send("a1")
    terminal.shows("(•) 1 Yes", "draft kept")
    (agent,) = agents_of(engine, terminal, 1)
    agent.kill()
    terminal.shows("failed: agent exited: killed by signal 9", "your draft is kept")
    terminal.send("\ra")
    terminal.shows("it asks nothing: it is failed")
    terminal.send("r")
    terminal.shows("Resume this colony?")
    terminal.send("y")
    terminal.shows("Really, 2?", "a opens the card")
    terminal.send("a2\r")
    terminal.shows("delivered")
    detail = engine.ask(calls.colony(LOCAL, the_colony(engine).key.colony))
    assert [record.answer_raw for record in detail.answered] == ["No"]


def one_that_dies_at_once_says_why_and_can_be_resumed(engine: RealEngine, terminal: RealTerminal) -> None:
    behaviour = """
if RUN == 1:
    print("no key: set ODD_KEY", file=sys.stderr)
    sys.exit(3)
heard()
tell("with a key now")
live_on()
"""
    launch(engine, terminal, "Die at once", behaviour)
    terminal.shows("failed: agent exited: exit code 3: no key: set ODD_KEY", "Needs you 1", "r resume")
    assert the_colony(engine).status == "failed"
    agents_of(engine, terminal, 1)  # the one that was answered
    terminal.send("r")
    terminal.shows("Resume this colony?")
    terminal.send("y")
    terminal.shows("is resumed", "idle", "m writes to it")
    terminal.send("\r")
    terminal.shows("with a key now", "run 2")
    assert the_colony(engine).status == "idle"


def test_however_an_agent_dies_the_screen_says_why_and_it_can_be_resumed(engine: RealEngine) -> None:
    with opened(engine) as terminal:
        what_one_was_at_when_it_died_is_not_underway_any_more(engine, terminal)
        one_that_is_killed_from_outside_fails_with_the_signal_and_leaves_no_process(engine, terminal)
        one_that_dies_while_it_asks_leaves_nothing_to_answer_and_asks_again_when_resumed(engine, terminal)
        one_that_dies_at_once_says_why_and_can_be_resumed(engine, terminal)
    assert len(engine.colonies()) == 4
