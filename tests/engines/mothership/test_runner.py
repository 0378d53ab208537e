"""A real agent's process, from its start to its end, with real pipes and signals."""

import asyncio
import gc
import json
import os
import shutil
import signal
import socket
import subprocess
import sys
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from textwrap import dedent

import psutil
import pytest

from colonizer_engines.mothership.runner import Event, Patience, Runner, RunnerError, RunnerExit, RunnerStart

pytestmark = pytest.mark.anyio

QUICK = Patience(shutdown_s=0.2, terminate_s=2, kill_s=1000, linger_s=0.2)
PATIENT = Patience(shutdown_s=1000, linger_s=0.2)

PRELUDE = """
import json, os, signal, subprocess, sys, time
def say(kind, **body):
    print(json.dumps({"type": kind, **body}), flush=True)
"""


def agent(folder: Path, source: str, **environment: str) -> RunnerStart:
    argv = (sys.executable, "-I", "-S", "-c", PRELUDE + dedent(source))
    return RunnerStart(argv, folder, {"PATH": os.environ["PATH"], **environment})


@asynccontextmanager
async def running(start: RunnerStart, patience: Patience = QUICK) -> AsyncGenerator[Runner, None]:
    async with asyncio.timeout(30):
        runner = await Runner.start(start, patience)
        try:
            yield runner
        finally:
            await runner.shut_down()


async def everything(runner: Runner) -> list[Event]:
    return [event async for batch in runner.batches() for event in batch]


async def first(runner: Runner, kind: str) -> Event:
    async for batch in runner.batches():
        for event in batch:
            if event["type"] == kind:
                return event
    raise AssertionError(f"no {kind} came")


async def end_of(start: RunnerStart) -> RunnerExit:
    async with running(start) as runner:
        return await runner.wait()


def is_alive(pid: int) -> bool:
    try:
        return psutil.Process(pid).status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False


async def test_events_and_commands_go_both_ways(tmp_path: Path) -> None:
    source = """
    for line in sys.stdin:
        command = json.loads(line)
        if command["type"] == "shutdown":
            break
        say("user_message", id=command["id"], text=command["text"])
    say("status", state="exited")
    """
    async with running(agent(tmp_path, source), PATIENT) as runner:
        hard = "a\nb \u2028 \ud83d 😀"
        assert await runner.send({"type": "user_message", "id": "initial", "text": hard})
        echo = await first(runner, "user_message")
        assert echo == {"type": "user_message", "id": "initial", "text": hard.replace("\ud83d", "?")}
        ended = await runner.shut_down()
        assert await everything(runner) == [{"type": "status", "state": "exited"}]
        assert (ended, ended.words) == (RunnerExit(0, None, ""), "exit code 0")


async def test_the_agent_gets_its_folder_its_environment_and_nothing_else(tmp_path: Path) -> None:
    source = """
    with open("/proc/self/environ") as environment:
        given = environment.read()
    leads = os.getpid() == os.getsid(0) == os.getpgid(0)
    say("seen", cwd=os.getcwd(), environment=given, leads=leads)
    """
    listing = "import os; print(*sorted(os.listdir('/proc/self/fd')))"
    environment = {"COLONIZER_SESSION_ID": f"{tmp_path}/id", "ODD": "ü=\n"}
    async with running(agent(tmp_path, source, **environment)) as runner:
        seen = await first(runner, "seen")
    assert seen["cwd"] == str(tmp_path)
    assert seen["environment"] == f"PATH={os.environ['PATH']}\0COLONIZER_SESSION_ID={tmp_path}/id\0ODD=ü=\n\0"
    assert seen["leads"] is True
    async with running(RunnerStart((sys.executable, "-I", "-S", "-c", listing), tmp_path, {})) as runner:
        (line,) = await everything(runner)
    assert str(line["message"]).endswith(": 0 1 2 3")  # the fourth is the listing's own


async def test_a_broken_pipe_ends_a_program_of_the_agent(tmp_path: Path) -> None:
    start = RunnerStart(("sh", "-c", "yes | head -n 1; trap"), tmp_path, {"PATH": os.environ["PATH"]})
    async with running(start) as runner:
        assert [event["message"] for event in await everything(runner)] == ["agent runner wrote a non-event line: y"]


@pytest.mark.parametrize(
    ("argv", "words"),
    [
        (("no-such-program-anywhere",), "No such file or directory: no-such-program-anywhere"),
        (("./plain",), "Permission denied: ./plain"),
        (("./broken",), "Exec format error: ./broken"),
        (("a\0b",), "embedded null byte"),
        ((), "its command is empty"),
    ],
)
async def test_a_command_that_cannot_run_is_refused_with_the_reason(
    argv: tuple[str, ...], words: str, tmp_path: Path
) -> None:
    broken = tmp_path / "broken"
    broken.write_bytes(b"\x7fELF nothing")
    broken.chmod(0o755)
    (tmp_path / "plain").write_text("no program")
    gc.collect()  # what earlier tests left open is not counted
    before = len(os.listdir("/proc/self/fd"))
    with pytest.raises(RunnerError) as refused:
        await Runner.start(RunnerStart(argv, tmp_path, {"PATH": os.environ["PATH"], "SECRET": "hunter2"}))
    assert str(refused.value) == f"cannot start agent runner: {words}"
    assert len(os.listdir("/proc/self/fd")) <= before


async def test_a_missing_folder_is_named(tmp_path: Path) -> None:
    with pytest.raises(RunnerError, match=f"cannot start agent runner: No such file or directory: {tmp_path}/gone"):
        await Runner.start(agent(tmp_path / "gone", ""))


async def test_lines_outside_the_contract_become_warnings(tmp_path: Path) -> None:
    source = """
    print("plain words", flush=True)
    print(file=sys.stderr)
    say("status", state="idle")
    sys.stdout.write('{"type": "unfinished"')
    """
    async with running(agent(tmp_path, source)) as runner:
        assert await everything(runner) == [
            {"type": "log", "level": "warn", "message": "agent runner wrote a non-event line: plain words"},
            {"type": "status", "state": "idle"},
            {
                "type": "log",
                "level": "warn",
                "message": 'agent runner wrote a non-event line: {"type": "unfinished"',
            },
        ]


async def test_each_stream_keeps_its_order_and_loses_nothing_in_a_flood(tmp_path: Path) -> None:
    source = """
    import threading
    def flood(stream, line):
        for number in range(20_000):
            stream.write(line % number)
        stream.flush()
    other = threading.Thread(target=flood, args=(sys.stderr, "%d\\n"))
    other.start()
    flood(sys.stdout, '{"type": "n", "number": %d}\\n')
    other.join()
    """
    sizes: list[int] = []
    events: list[Event] = []
    async with running(agent(tmp_path, source)) as runner:
        async for batch in runner.batches():
            sizes.append(len(batch))
            events += batch
    assert [event["number"] for event in events if event["type"] == "n"] == list(range(20_000))
    assert [event["message"] for event in events if event["type"] == "log"] == [str(n) for n in range(20_000)]
    assert max(sizes) == 256


async def test_what_was_written_together_is_taken_together(tmp_path: Path) -> None:
    async with running(
        agent(tmp_path, r"""sys.stdout.write('{"type":"a"}\n{"type":"b"}\n{"type":"c"}\n')""")
    ) as runner:
        batches = [[event["type"] for event in batch] async for batch in runner.batches()]
    assert batches == [["a", "b", "c"]]


async def test_an_agent_waits_while_nobody_takes_what_it_writes(tmp_path: Path) -> None:
    source = """
    import select, socket
    os.set_blocking(1, False)
    lines = [b'{"type": "n", "number": %d, "filler": "%s"}\\n' % (n, b"x" * 2000) for n in range(5000)]
    data, told = memoryview(b"".join(lines)), False
    while data:
        if select.select([], [1], [], None if told else 0.5)[1]:
            data = data[os.write(1, data[:65536]):]
        else:
            told = True
            witness = socket.socket(socket.AF_UNIX)
            witness.connect(sys.argv[1])
            witness.sendall(str(len(data)).encode())
            witness.close()
    """
    start = agent(tmp_path, source)
    with socket.socket(socket.AF_UNIX) as witness:
        witness.bind(str(tmp_path / "witness"))
        witness.listen()
        witness.setblocking(False)
        start = RunnerStart((*start.argv, str(tmp_path / "witness")), start.cwd, start.environment)
        async with running(start) as runner:
            loop = asyncio.get_running_loop()
            connection, _ = await loop.sock_accept(witness)
            with connection:
                unwritten = int(await loop.sock_recv(connection, 100))
            assert unwritten > 8_000_000  # of ten: only a bounded part was read ahead
            assert [event["number"] for event in await everything(runner)] == list(range(5000))


async def test_a_flood_lets_others_have_their_turn_between_batches(tmp_path: Path) -> None:
    turns = 0

    async def count_turns() -> None:
        nonlocal turns
        while True:
            turns += 1
            await asyncio.sleep(0)

    async with running(agent(tmp_path, "os.write(1, b'x\\n' * 30_000)")) as runner:
        await runner.wait()
        counting = asyncio.create_task(count_turns())
        before = -1
        async for _ in runner.batches():
            assert turns > before
            before = turns
        counting.cancel()


async def test_long_lines_and_endless_ones_do_not_stop_what_follows(tmp_path: Path) -> None:
    source = """
    sys.stdout.write("x" * 5_000_000 + "\\n")
    say("after")
    sys.stderr.write("y" * 50_000_000)
    """
    async with running(agent(tmp_path, source)) as runner:
        events = await everything(runner)
    assert sorted(str(event.get("message", event["type"]))[:50] for event in events) == [
        "after",
        "agent runner wrote a line over 256 KiB, cut: xxxxx",
        "agent runner wrote a line over 256 KiB, cut: yyyyy",
    ]


@pytest.mark.parametrize(
    ("source", "expected", "words"),
    [
        ("sys.exit(3)", RunnerExit(3, None, ""), "exit code 3"),
        ("os.kill(os.getpid(), 9)", RunnerExit(None, 9, ""), "killed by signal 9"),
        ("sys.exit('no key: set ONE')", RunnerExit(1, None, "no key: set ONE"), "exit code 1"),
        ("print('usage: agent'); say('status'); sys.exit(2)", RunnerExit(2, None, "usage: agent"), "exit code 2"),
        (
            "print('out'); [print(n, '\\033[2J', file=sys.stderr) for n in range(9)]",
            RunnerExit(0, None, "4  [2J | 5  [2J | 6  [2J | 7  [2J | 8  [2J"),
            "exit code 0",
        ),
    ],
)
async def test_an_exit_tells_how_and_the_last_words(
    source: str, expected: RunnerExit, words: str, tmp_path: Path
) -> None:
    ended = await end_of(agent(tmp_path, source))
    assert (ended, ended.words) == (expected, words)


async def test_last_words_are_bounded_and_keep_the_newest(tmp_path: Path) -> None:
    source = "[print(name * 100_000, file=sys.stderr) for name in 'ab']; sys.stderr.write('why')"
    ended = await end_of(agent(tmp_path, source))
    assert len(ended.last_words) == 500
    assert ended.last_words.startswith("…b")
    assert ended.last_words.endswith("b | why")


async def test_what_was_written_before_the_end_can_be_taken_after_it(tmp_path: Path) -> None:
    async with running(agent(tmp_path, "[say('n', number=n, filler='x' * 100) for n in range(300)]")) as runner:
        await runner.wait()
        assert [event["number"] for event in await everything(runner)] == list(range(300))


@pytest.mark.parametrize("leave", ["", "start_new_session=True"])
async def test_what_the_agent_left_running_ends_with_it(leave: str, tmp_path: Path) -> None:
    source = f"say('child', pid=subprocess.Popen(['sleep', '1000'], {leave}).pid)"
    async with running(agent(tmp_path, source, COLONIZER_SESSION_ID=str(tmp_path))) as runner:
        ended = await runner.wait()
        assert ended.code == 0
        child = await first(runner, "child")
        assert not is_alive(int(str(child["pid"])))


async def test_a_stranger_that_holds_the_pipes_does_not_hold_back_the_exit(tmp_path: Path) -> None:
    source = "say('child', pid=subprocess.Popen(['sleep', '1000'], start_new_session=True, env={}).pid)"
    async with running(agent(tmp_path, source)) as runner:
        ended = await runner.wait()
        (child,) = await everything(runner)
    psutil.Process(int(str(child["pid"]))).kill()
    assert ended.code == 0


async def test_sending_to_an_agent_that_does_not_read_never_blocks_and_ends_in_no(tmp_path: Path) -> None:
    async with running(agent(tmp_path, "time.sleep(1000)")) as runner:
        sent = 0
        while await runner.send({"type": "user_message", "id": "u-1", "text": "x" * 20_000}):
            sent += 1
            assert sent < 200
        assert sent > 10


async def test_sending_to_an_agent_that_is_gone_is_answered_with_no(tmp_path: Path) -> None:
    async with running(agent(tmp_path, "")) as runner:
        await runner.wait()
        assert not await runner.send({"type": "interrupt"})


async def test_sending_to_a_closed_pipe_is_answered_with_no(tmp_path: Path) -> None:
    async with running(agent(tmp_path, "os.close(0); say('closed'); time.sleep(1000)")) as runner:
        await first(runner, "closed")
        await runner.send({"type": "interrupt"})  # the write that finds out, unless it was noticed before
        assert not await runner.send({"type": "interrupt"})
        assert is_alive(runner.pid)


@pytest.mark.parametrize(
    ("source", "code", "killed_by"),
    [
        ("say('ready'); sys.exit(0 if 'shutdown' in sys.stdin.readline() else 1)", 0, None),
        ("say('ready'); sys.stdin.read(); sys.exit(4)", 4, None),
        ("signal.signal(15, lambda *_: sys.exit(5)); say('ready'); time.sleep(1000)", 5, None),
        ("say('ready'); time.sleep(1000)", None, signal.SIGTERM),
        ("signal.signal(15, signal.SIG_IGN); say('ready'); time.sleep(1000)", None, signal.SIGKILL),
        ("say('ready'); os.kill(os.getpid(), signal.SIGSTOP)", None, signal.SIGKILL),
    ],
)
async def test_shutting_down_asks_first_and_then_insists(
    source: str, code: int | None, killed_by: int | None, tmp_path: Path
) -> None:
    polite = killed_by is None and code != 5
    async with running(agent(tmp_path, source), PATIENT if polite else QUICK) as runner:
        await first(runner, "ready")
        ended = await runner.shut_down()
        assert (ended.code, ended.signal) == (code, killed_by)
        assert await runner.wait() == ended
        assert not psutil.pid_exists(runner.pid)


async def test_shutting_down_ends_the_children_of_the_agent_too(tmp_path: Path) -> None:
    source = """
    deaf = "import signal, time; signal.signal(15, signal.SIG_IGN); time.sleep(1000)"
    say("child", pid=subprocess.Popen([sys.executable, "-c", deaf]).pid)
    time.sleep(1000)
    """
    async with running(agent(tmp_path, source)) as runner:
        child = int(str((await first(runner, "child"))["pid"]))
        await runner.shut_down()
        assert not is_alive(child)


async def test_shutting_down_frees_an_agent_that_is_blocked_on_its_output(tmp_path: Path) -> None:
    source = """
    say("ready")
    for line in range(3000):
        say("filler", text="x" * 1000)
    sys.exit(0 if "shutdown" in sys.stdin.readline() else 1)
    """
    async with running(agent(tmp_path, source), PATIENT) as runner:
        await first(runner, "ready")
        assert (await runner.shut_down()).code == 0
        assert [event["type"] for event in await everything(runner)].count("filler") > 2000


async def test_a_shut_down_goes_on_when_its_caller_is_cancelled(tmp_path: Path) -> None:
    async with running(agent(tmp_path, "say('ready'); time.sleep(1000)")) as runner:
        await first(runner, "ready")
        caller = asyncio.create_task(runner.shut_down())
        await asyncio.sleep(0)
        caller.cancel()
        assert (await runner.wait()).signal == signal.SIGTERM


async def test_a_shut_down_without_patience_still_ends_the_agent(tmp_path: Path) -> None:
    async with running(agent(tmp_path, "say('ready'); time.sleep(1000)"), Patience(0, 0, 0, 0)) as runner:
        await first(runner, "ready")
        await runner.shut_down()
        assert await everything(runner) == []
        assert not is_alive(runner.pid)


async def test_two_that_shut_down_at_once_get_the_same_exit(tmp_path: Path) -> None:
    async with running(agent(tmp_path, "sys.stdin.read()"), PATIENT) as runner:
        one, other = await asyncio.gather(runner.shut_down(), runner.shut_down())
        assert one == other == RunnerExit(0, None, "")


@pytest.mark.parametrize("turns", [1, 2, 4, 8, 16])
async def test_a_start_that_is_cancelled_leaves_no_process(turns: int, tmp_path: Path) -> None:
    mark = str(tmp_path)
    others = asyncio.all_tasks()
    starting = asyncio.create_task(Runner.start(agent(tmp_path, "time.sleep(1000)", COLONIZER_SESSION_ID=mark)))
    for _ in range(turns):
        await asyncio.sleep(0)
    if not starting.cancel():  # on a busy machine it was quicker than these turns
        await starting.result().shut_down()
    async with asyncio.timeout(10):
        await asyncio.gather(*asyncio.all_tasks() - others, return_exceptions=True)
    assert not [process for process in psutil.process_iter() if has_in_environment(process, mark)]


def has_in_environment(process: psutil.Process, value: str) -> bool:
    try:
        return value in process.environ().values()
    except psutil.Error:
        return False


BWRAP = shutil.which("bwrap") or ""
IN_SANDBOX = (BWRAP, "--bind", "/", "/", "--proc", "/proc", "--unshare-pid", "--die-with-parent", "--new-session", "--")


def sandbox_works() -> bool:
    return bool(BWRAP) and subprocess.run([*IN_SANDBOX, "true"], capture_output=True, check=False).returncode == 0


@pytest.mark.skipif(not sandbox_works(), reason="bwrap does not work here")
@pytest.mark.parametrize("how", ["", "signal.signal(15, signal.SIG_IGN)"])
async def test_shutting_down_ends_an_agent_inside_a_sandbox(how: str, tmp_path: Path) -> None:
    mark = str(tmp_path)
    inside = agent(tmp_path, f"{how}; say('ready'); time.sleep(1000)".lstrip("; "), COLONIZER_SESSION_ID=mark)
    start = RunnerStart((*IN_SANDBOX, *inside.argv), inside.cwd, inside.environment)
    async with running(start) as runner:
        await first(runner, "ready")
        await runner.shut_down()
        assert not [process for process in psutil.process_iter() if has_in_environment(process, mark)]


ENGINE = """
import asyncio, json, sys
from pathlib import Path
from colonizer_engines.mothership.runner import Runner, RunnerStart
async def main():
    runner = await Runner.start(RunnerStart(tuple(json.loads(sys.argv[1])), Path.cwd(), {}))
    print(runner.pid, flush=True)
    await runner.wait()
asyncio.run(main())
"""


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux ties a process to its parent's life")
def test_an_agent_that_ignores_its_pipes_does_not_outlive_a_killed_engine(tmp_path: Path) -> None:
    argv = [sys.executable, "-c", "import time; time.sleep(1000)"]
    environment = {"PATH": os.environ["PATH"], "PYTHONPATH": os.pathsep.join(sys.path)}
    engine = subprocess.Popen(
        [sys.executable, "-c", ENGINE, json.dumps(argv)], stdout=subprocess.PIPE, cwd=tmp_path, env=environment
    )
    with engine:
        assert engine.stdout
        agent_pid = int(engine.stdout.readline())
        orphan = psutil.Process(agent_pid)
        assert is_alive(agent_pid)
        engine.kill()
    orphan.wait(timeout=10)
