"""Git as the engine runs it: bounded, alone in its environment, and gone when nobody waits for it."""

import asyncio
import os
from pathlib import Path

import psutil
import pytest
from hypothesis import given
from hypothesis import strategies as st

from colonizer_engines.mothership.git import GitError, git, plain
from real_git import executable, new_clone

pytestmark = pytest.mark.anyio

EMPTY_BLOB = b"e69de29bb2d1d6434b8b29ae775ad8c2e48c5391\n"


def shell(script: str) -> tuple[str, ...]:
    """Arguments that make git run a script, as a child process of its own."""
    return "-c", f"alias.script=!{script}", "script"


def gone(pid: int) -> None:
    """Waits until a process that was not ours is gone."""
    try:
        psutil.Process(pid).wait(timeout=10)
    except psutil.NoSuchProcess:
        return


async def test_what_git_writes_is_returned(tmp_path: Path) -> None:
    clone = new_clone(tmp_path / "clone")
    assert await git("rev-parse", "--git-dir", repository=clone.git_dir) == f"{clone.git_dir}\n".encode()


async def test_a_refusal_carries_the_words_of_git_and_nothing_before_them(tmp_path: Path) -> None:
    with pytest.raises(GitError) as refusal:
        await git("rev-parse", "HEAD", cwd=tmp_path)
    assert str(refusal.value) == "not a git repository (or any of the parent directories): .git"


async def test_another_exit_code_can_be_an_answer(tmp_path: Path) -> None:
    clone = new_clone(tmp_path / "clone")
    assert await git("config", "--get", "no.such", repository=clone.git_dir, accept=(0, 1)) == b""
    with pytest.raises(GitError, match="git config ended with code 1"):
        await git("config", "--get", "no.such", repository=clone.git_dir)


async def test_words_of_git_are_one_printable_line_of_bounded_length() -> None:
    with pytest.raises(GitError) as refusal:
        await git("\x1b[2J\nno-such\u202ecommand" + "x" * 1000)
    words = str(refusal.value)
    assert words.isprintable()
    assert "no-such" in words
    assert len(words) <= 300


def test_a_sign_in_within_an_address_is_not_repeated() -> None:
    assert plain("cannot reach https://ada:s3cret@example.org/x.git") == "cannot reach https://example.org/x.git"


@given(st.text())
def test_every_text_becomes_one_printable_line(text: str) -> None:
    line = plain(text, 20)
    assert line.isprintable()
    assert len(line) <= 20


async def test_git_reads_nothing_from_the_standard_input() -> None:
    assert await git("hash-object", "--stdin") == EMPTY_BLOB


async def test_an_endless_output_is_read_up_to_its_limit_and_ended(tmp_path: Path) -> None:
    pid_file = tmp_path / "pid"
    output = await git(*shell(f"echo $$ > '{pid_file}'; exec yes"), limit_bytes=100_001)
    assert output == (b"y\n" * 50_001)[:100_001]
    gone(int(pid_file.read_text()))


async def test_an_endless_stream_of_complaints_neither_fills_the_memory_nor_blocks() -> None:
    with pytest.raises(GitError, match=r"^y y"):
        await git(*shell("yes | head -c 3000000 >&2; exit 3"))


async def test_a_git_that_takes_too_long_is_killed_with_its_children(tmp_path: Path) -> None:
    pid_file = tmp_path / "pid"
    with pytest.raises(GitError, match="took longer than 2 s"):
        await git(*shell(f"echo $$ > '{pid_file}'; exec sleep 1000"), timeout_s=2)
    gone(int(pid_file.read_text()))


async def test_a_git_that_nobody_waits_for_is_killed_with_its_children(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    waiting = asyncio.create_task(git(*shell(f"echo $$ > '{pipe}'; exec sleep 1000")))
    async with asyncio.timeout(10):
        pid = int(await asyncio.to_thread(pipe.read_text))
        waiting.cancel()
        with pytest.raises(asyncio.CancelledError):
            await waiting
    gone(pid)


async def test_a_child_that_outlives_git_with_its_pipes_is_killed_when_the_time_is_over(tmp_path: Path) -> None:
    pid_file = tmp_path / "pid"
    with pytest.raises(GitError, match="took longer"):
        await git(*shell(f"sleep 1000 & echo $! > '{pid_file}'"), timeout_s=2)
    gone(int(pid_file.read_text()))


async def test_git_sees_no_variable_of_the_engine_that_changes_what_it_does(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GIT_DIR", str(tmp_path))
    monkeypatch.setenv("GIT_EXTERNAL_DIFF", "false")
    monkeypatch.setenv("ANTHROPIC_API_KEY", "s3cret")
    monkeypatch.setenv("LANG", "de_DE.UTF-8")
    seen = (await git(*shell("env"))).decode().split("\n")
    assert not [
        line for line in seen if "s3cret" in line or line.startswith(("GIT_DIR=", "GIT_EXTERNAL_DIFF=", "LANG="))
    ]
    assert "LC_ALL=C" in seen


async def test_the_persons_configuration_is_read_only_where_it_is_asked_for(sealed_machine: Path) -> None:
    (sealed_machine / ".gitconfig").write_text("[some]\n\tkey = value\n", encoding="utf-8")
    assert await git("config", "--get", "some.key", cwd=sealed_machine, accept=(0, 1)) == b""
    assert await git("config", "--get", "some.key", cwd=sealed_machine, personal=True) == b"value\n"


async def test_a_program_that_lies_where_git_runs_is_not_taken_for_git(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    executable(tmp_path / "git", "echo planted")
    executable(tmp_path / "bin" / "git", "echo planted")
    monkeypatch.setenv("PATH", f".:bin::{os.environ['PATH']}")
    assert (await git("version", cwd=tmp_path)).startswith(b"git version")
    assert b"planted" not in await git(*shell("git version"), cwd=tmp_path)


async def test_a_machine_without_git_is_told_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(GitError, match="git is not installed"):
        await git("version")


async def test_a_folder_that_is_not_there_is_an_error_of_git(tmp_path: Path) -> None:
    with pytest.raises(GitError, match="git cannot be started in"):
        await git("version", cwd=tmp_path / "gone")
