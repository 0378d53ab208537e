"""The local engine by plain commands: it starts where it is needed, hosts colonies, and is told to end."""

import json
import os
import signal
import sys
from collections.abc import Callable, Generator, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, cast

import pytest

from colonizer_config.paths import Paths, make_private
from colonizer_config.private_file import write_private
from colonizer_config.version import __version__
from colonizer_engines.daemon.lock import engine_lock
from plain_command import LIMIT_S, Done, colonizer, process, started
from real_git import Clone, new_clone
from scripted_mothership import Reply, scripted_mothership
from served_mothership import PUPPET, say, task

Json = dict[str, object]


@pytest.fixture
def clone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Clone]:
    """A repository that the person stands in; the engine that the test starts ends with it."""
    made = new_clone(tmp_path / "widgets", {"README.md": "# Widgets\n", "src/app.py": "print('hello')\n"})
    monkeypatch.chdir(made.path)
    yield made
    colonizer("engine", "stop", "--yes")


@pytest.fixture
def puppet(clone: Clone) -> Clone:
    """The same, with the agent that does what its task says."""
    command = json.dumps([sys.executable, "-I", "-S", str(PUPPET)])
    settings = Paths.from_environment().settings
    settings.parent.mkdir(parents=True)
    settings.write_text(
        f'[agents.puppet]\ncommand = {command}\nenv = ["PUPPET_KEY", "PUPPET_ABSENT"]\n\n[local]\nsandbox = "none"\n',
        encoding="utf-8",
    )
    return clone


@contextmanager
def following(colony: str) -> Generator[Callable[[str], Json]]:
    """Gives the next event of a type of the colony's log, as `logs -f` prints it."""
    with started("logs", colony, "-f", "--json") as logs:

        def following_event(kind: str) -> Json:
            for line in cast("IO[str]", logs.stdout):
                event = cast("Json", json.loads(line))
                if event["type"] == kind:
                    return event
            raise AssertionError(f"the log ended without {kind}: {cast('IO[str]', logs.stderr).read()}")

        yield following_event
        logs.send_signal(signal.SIGINT)
        assert logs.wait(LIMIT_S) == 0


def launched(*argv: str, **environment: str) -> str:
    done = colonizer("launch", *argv, "--json", **environment)
    assert done.exit == 0, done.stderr
    return str(json.loads(done.stdout)["id"])


def test_a_colony_is_launched_answered_read_applied_and_stopped(clone: Clone) -> None:
    colony = launched("Say hello")
    with following(colony) as next_event:
        for answer in ("1", "1", "A title of my own"):
            next_event("question")
            assert colonizer("answer", colony, answer) == Done(0, f"answer sent to {colony}\n", "")
            next_event("question_answered")
        next_event("turn_end")
    stat = colonizer("diff", colony, "--stat").stdout.splitlines()
    assert stat[-1].endswith("across 2 files")
    clone.git("apply", "--check", input_file(process("diff", colony).stdout, clone.path.parent / "patch"))
    assert colonizer("stop", f"local/{colony}") == Done(0, f"colony {colony}: stopped\n", "")
    assert colonizer("stop", colony) == Done(0, f"colony {colony}: already_stopped\n", "")
    assert colonizer("resume", colony).stdout.startswith(f"colony {colony} resumed (")


def input_file(text: str, path: Path) -> str:
    path.write_text(text, encoding="utf-8")
    return str(path)


def test_one_argument_that_is_no_repository_is_the_task_for_the_one_stood_in(puppet: Clone) -> None:
    del puppet
    launched("x y")
    [row] = json.loads(colonizer("list", "--json").stdout)
    assert (row["endpoint"], row["repo"], row["instructions"]) == ("local", "local/widgets", "x y")


def test_a_repository_named_alone_has_no_task_and_the_one_stood_in_is_made_known(puppet: Clone) -> None:
    puppet.git("remote", "add", "origin", "git@github.com:acme/widgets.git")
    launched("acme/widgets")
    [row] = json.loads(colonizer("list", "--json").stdout)
    assert (row["repo"], row["instructions"]) == ("acme/widgets", "")


def test_an_unknown_repository_and_a_task_outside_of_any_are_refused(
    puppet: Clone, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    del puppet
    monkeypatch.chdir(tmp_path)
    words = "colonizer: other/one is not known here; add it with: colonizer repo add PATH\n"
    assert colonizer("launch", "other/one", "x") == Done(1, "", words)
    done = colonizer("launch", "x y")
    assert (done.exit, done.stdout) == (1, "")
    assert f"{tmp_path} is not in a git repository" in done.stderr


def test_an_agent_gets_the_variables_that_its_settings_name_from_who_launches_and_from_who_resumes(
    puppet: Clone,
) -> None:
    del puppet
    steps = task(["env", "PUPPET_KEY"], ["env", "OTHER"])
    colony = launched("local/widgets", steps, PUPPET_KEY="first", PUPPET_ABSENT="x", OTHER="secret")
    with following(colony) as next_event:
        assert next_event("env")["value"] == "first"
        assert next_event("env")["value"] is None
    colonizer("stop", colony)
    colonizer("resume", colony, PUPPET_KEY="again", PUPPET_ABSENT="x")
    with following(colony) as next_event:
        assert next_event("env")["value"] == "again"


def test_what_an_agent_lacks_is_said_by_its_status(puppet: Clone) -> None:
    del puppet
    launched("local/widgets", "x", PUPPET_KEY="only one of two")
    [row] = json.loads(colonizer("list", "--json").stdout)
    assert row["status"] == "queued"
    assert "PUPPET_ABSENT" in json.dumps(row)


def test_repositories_are_added_listed_and_forgotten_but_no_other_folder(clone: Clone, tmp_path: Path) -> None:
    other = new_clone(tmp_path / "other")
    refused = colonizer("repo", "add", str(tmp_path))
    assert (refused.exit, refused.stdout) == (1, "")
    assert "not in a git repository" in refused.stderr
    assert colonizer("repo", "list") == Done(0, "", "no repositories\n")
    added = colonizer("repo", "add", ".")
    assert added == Done(0, f"repository local/widgets added ({clone.path})\n", "")
    assert colonizer("repo", "add", str(other.path), "--as", "acme/other").exit == 0
    listed = colonizer("repo", "list").stdout.splitlines()
    assert sorted(listed) == [
        f"{'acme/other':24}  {other.path}",
        f"{'local/widgets':24}  {clone.path}",
    ]
    assert {row["name"] for row in json.loads(colonizer("repo", "list", "--json").stdout)} == {
        "acme/other",
        "local/widgets",
    }
    gone = "repository acme/other forgotten; nothing on disk was changed\n"
    assert colonizer("repo", "remove", "acme/other") == Done(0, gone, "")
    assert colonizer("repo", "remove", "acme/other").exit == 4
    assert other.path.is_dir()


def test_a_host_named_in_the_environment_does_not_lead_local_commands_astray(clone: Clone) -> None:
    del clone
    assert colonizer("repo", "list", COLONIZER_BIND="127.0.0.1:1").exit == 0
    assert colonizer("engine", "status", COLONIZER_BIND="not a host!").exit == 0


def test_a_map_that_the_local_engine_has_not_is_no_map(clone: Clone) -> None:
    del clone
    done = colonizer("map", "acme/widgets")
    assert (done.exit, done.stdout) == (4, "")


def test_the_engine_says_that_it_rests_and_that_it_runs(clone: Clone) -> None:
    del clone
    paths = Paths.from_environment()
    places = f"socket    {paths.socket(paths.engine)}\nfolder    {paths.engine.root}\n"
    assert colonizer("engine", "status") == Done(1, f"engine    not running\n{places}", "")
    assert json.loads(colonizer("engine", "status", "--json").stdout)["running"] is False
    assert colonizer("engine", "logs") == Done(0, "", "no engine has run here yet\n")
    assert colonizer("engine", "stop") == Done(0, "", "the local engine does not run\n")
    colonizer("repo", "list")
    done = colonizer("engine", "status")
    assert done.exit == 0
    labels = [line.split()[0] for line in done.stdout.splitlines()]
    assert labels == ["engine", "pid", "version", "since", "colonies", "socket", "folder"]
    facts = json.loads(colonizer("engine", "status", "--json").stdout)
    assert facts["running"] is True
    os.kill(facts["pid"], 0)
    assert f"process {facts['pid']}" in colonizer("engine", "logs").stdout


def test_the_log_of_the_engine_is_followed_to_its_end(clone: Clone) -> None:
    del clone
    colonizer("repo", "list")
    with started("engine", "logs", "-f") as logs:
        assert logs.stdout is not None
        assert "runs, process" in logs.stdout.readline()
        colonizer("engine", "stop", "--yes")
        assert "in order" in logs.stdout.readline()
        logs.send_signal(signal.SIGINT)
        assert logs.wait(LIMIT_S) == 0


def test_a_log_of_the_engine_obeys_nothing_in_it(clone: Clone) -> None:
    del clone
    log = Paths.from_environment().engine.log
    log.parent.mkdir(parents=True)
    log.write_bytes(b"one\x1b[2J\rtwo\xff\n")
    assert colonizer("engine", "logs").stdout == "one␛[2J␍two\ufffd\n"


def test_stopping_the_engine_names_what_would_end_and_needs_a_yes(puppet: Clone) -> None:
    del puppet
    colony = launched("local/widgets", task(say("status", state="working")), PUPPET_KEY="x", PUPPET_ABSENT="x")
    with following(colony) as next_event:
        next_event("heard")
    done = colonizer("engine", "stop", stdin="")
    assert (done.exit, done.stdout) == (2, "")
    assert colony in done.stderr
    assert "worktrees stay" in done.stderr
    assert colonizer("engine", "status").exit == 0
    assert colonizer("engine", "stop", "--yes") == Done(0, "the local engine has ended\n", "")
    assert colonizer("engine", "status").exit == 1
    [row] = json.loads(colonizer("list", "--json").stdout)
    assert row["status"] == "stopped"


def test_an_engine_with_nothing_to_do_is_stopped_without_a_question(clone: Clone) -> None:
    del clone
    colonizer("repo", "list")
    assert colonizer("engine", "stop") == Done(0, "the local engine has ended\n", "")


def test_an_engine_that_does_not_answer_is_named_and_not_taken_for_none(clone: Clone) -> None:
    del clone
    folder = Paths.from_environment().engine
    folder.root.mkdir(parents=True)
    with engine_lock(folder.lock, "0.0.1"):
        done = colonizer("engine", "status")
        assert (done.exit, done.stdout.splitlines()[0]) == (1, "engine    stuck: it has the folder and does not answer")
        assert colonizer("engine", "stop").exit == 1


def test_an_engine_that_cannot_start_says_why(clone: Clone) -> None:
    del clone
    folder = Paths.from_environment().engine
    folder.root.mkdir(parents=True)
    folder.token.mkdir()
    done = colonizer("repo", "list")
    assert (done.exit, done.stdout) == (1, "")
    assert done.stderr.startswith("colonizer: the local engine cannot be started: ")


def test_an_engine_of_another_version_is_used_and_named(clone: Clone) -> None:
    del clone
    paths = Paths.from_environment()
    replies = {
        ("GET", "/api/version"): Reply.json({"version": "v0.0.9"}),
        ("GET", "/api/sessions"): Reply.json([{"id": "a"}]),
        ("GET", "/api/status"): Reply.json({"account_alerts": []}),
        ("GET", "/api/tokens"): Reply.json([]),
    }
    make_private(paths.runtime)
    write_private(paths.engine.token, "0" * 64)
    with scripted_mothership(replies, paths.socket(paths.engine)):
        words = f"the running engine has version 0.0.9, this is {__version__}: `colonizer engine stop`\n"
        assert colonizer("token", "list").stderr == f"{words}no tokens\n"
        done = colonizer("list")
        assert (done.stdout.split()[:2], done.stderr) == (["local", "a"], words)
    paths.socket(paths.engine).unlink()
