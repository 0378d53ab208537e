"""`colonizer approvals`: what waits is shown whole, decided by whoever saw it, and done by the agent that asked."""

import json
import os
import signal
import sys
from collections.abc import Mapping
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from colonizer_client.approvals.ledger import Approvals
from colonizer_client.approvals.models import CANNOT_HOLD_BACK, Approval, Caller, Request
from colonizer_client.clock import SystemClock
from colonizer_client.store import Store
from colonizer_config.paths import Paths
from plain_command import Done, colonizer
from real_engine import real_engine
from scripted_mothership import Reply, scripted_mothership
from spoken_server import spoken
from typed_terminal import typed

SELF = ("GET", "/api/tokens/self")
OPERATOR = Reply.json({"owner": False, "name": "operator", "scope": "operate", "orgs": [], "repos": []})
TASK = "Tidy up\nrepo: evil\x1b[2J\u202e"


@pytest.fixture(autouse=True)
def own_program(monkeypatch: pytest.MonkeyPatch) -> None:
    """Makes processes that commands start run this very program."""
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(filter(None, sys.path)))


def asked(tool: str = "launch_colony", **arguments: object) -> Approval:
    """A call that waits now."""
    with closing(Store(Paths.from_environment().engine.cockpit_db)) as store:
        caller = Caller("caller", "claude-code")
        request = Request(caller, tool, arguments, "policy", "hq", "Launches a colony.", ("repository a/b",))
        return Approvals(store, SystemClock()).ask(request)


def told(*argv: str) -> Any:
    done = colonizer("approvals", *argv, "--json")
    assert (done.exit, done.stderr) == (0, ""), done
    return json.loads(done.stdout)


def test_a_call_is_listed_shown_whole_and_approved_by_the_digest_that_was_shown() -> None:
    assert colonizer("approvals") == Done(0, "", "nothing waits for you\n")
    one = asked(repo="a/b", task=TASK)
    assert colonizer("approvals", "list").stdout.split()[:2] == [one.id, "pending"]
    shown = colonizer("approvals", "show", one.id).stdout
    assert "claude-code asks to call launch_colony\nLaunches a colony.\n  - repository a/b\n" in shown
    assert "  repo: a/b\n  task:\n    | Tidy up\n    | repo: evil␛[2J⟨U+202E⟩\n" in shown
    assert "CAREFUL: the arguments hold hidden characters" in shown
    assert f"digest {one.digest}\n{CANNOT_HOLD_BACK}\n" in shown
    row = told("show", one.id)
    assert (row["arguments"], row["digest"]) == ({"repo": "a/b", "task": TASK}, one.digest)
    assert (row["hidden_characters"], row["caution"]) == (True, CANNOT_HOLD_BACK)
    rows: Mapping[tuple[str, ...], tuple[int, str]] = {
        ("approve", one.id): (5, "colonizer: not approved: without a terminal, say --digest"),
        ("approve", one.id, "--json"): (5, "colonizer: not approved: without a terminal"),
        ("approve", one.id, "--digest", one.digest[:4]): (2, "--digest needs at least 8 characters"),
        ("approve", one.id, "--digest", "0" * 64): (5, "colonizer: this is not what was shown: look at it again"),
        ("edit", "nowhere"): (4, "colonizer: there is no approval nowhere"),
        ("approve", "nowhere", "--digest", "0" * 64): (4, "colonizer: there is no approval nowhere"),
    }
    for argv, (code, words) in rows.items():
        done = colonizer("approvals", *argv)
        assert (done.exit, words in done.stderr) == (code, True), done
    assert [waiting["id"] for waiting in told("list")] == [one.id], "it still waits"
    approved = colonizer("approvals", "approve", one.id, "--digest", one.digest[:12].upper())
    assert approved.stdout == f"{one.id} approved: it is carried out when the caller calls again\n"
    late = colonizer("approvals", "reject", one.id, "--reason", "too late")
    words = f"colonizer: {one.id} was approved already, by a person by a plain command\n"
    assert (late.exit, late.stderr) == (5, words)
    assert told("list") == []
    assert [row["state"] for row in told("list", "--all")] == ["approved"]


def test_what_was_changed_in_the_editor_is_what_is_approved(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    one = asked(repo="a/b", task="All of it", issue=7)

    def editing(change: str) -> Done:
        script = tmp_path / "editor.py"
        script.write_text(f"import json, pathlib, sys\nfile = pathlib.Path(sys.argv[1])\n{change}\n")
        monkeypatch.setenv("EDITOR", f"{sys.executable} {script}")
        return colonizer("approvals", "edit", one.id)

    def setting(**changes: object) -> str:
        return f"file.write_text(json.dumps({{**json.loads(file.read_text()), **{changes!r}}}))"

    refused = {
        "pass": "nothing was changed, and nothing decided",
        "file.write_text('')": "nothing was changed, and nothing decided",
        "sys.exit(3)": "the editor ended with 3: nothing was decided",
        "file.write_text('{')": "nothing was decided: this is no JSON",
        "file.write_text('[]')": "nothing was decided: the arguments are a JSON object",
        "file.unlink()": "what the editor left cannot be read",
        setting(repo="c/d"): "nothing was decided: repo says what the call is about, and cannot be changed",
        setting(issue="x"): 'failed to deserialize parameters: invalid type: string "x", expected u64',
        setting(token="x"): "nothing was decided: token is no argument of launch_colony",
        setting(task="ghp_" + "a" * 36): "this holds what looks like a secret",
    }
    for change, words in refused.items():
        done = editing(change)
        assert done.exit != 0, change
        assert words in done.stderr, (change, done)
    assert told("show", one.id)["state"] == "pending"
    done = editing(setting(task="A part"))
    assert done.stdout == (
        "  issue = 7\n  repo: a/b\n  task: A part\n"
        f"{one.id} approved as you changed it: it is carried out when the caller calls again\n"
    )
    row = told("show", one.id)
    assert (row["arguments"]["task"], row["asked_for"]["task"]) == ("A part", "All of it")
    shown = colonizer("approvals", "show", one.id).stdout
    assert shown.index("Asked for:\n  issue = 7\n  repo: a/b\n  task: All of it\n") < shown.index("Changed to:\n")


def test_on_a_terminal_a_call_is_shown_whole_before_it_is_asked_about() -> None:
    one = asked(repo="a/b")
    for answer, state in (("", "pending"), ("y", "approved")):
        with typed("approvals", "approve", one.id) as terminal:
            terminal.type("y")  # before anything was shown
            terminal.until("Approve this? [y/N] ")
            assert terminal.seen.index("repo: a/b") < terminal.seen.index("Approve this?")
            terminal.type(answer)
            assert terminal.end() == (0 if answer else 5)
        assert told("show", one.id)["state"] == state


def test_an_agents_call_waits_in_the_engine_over_its_death_and_is_done_once_it_is_approved() -> None:
    replies = {
        SELF: OPERATOR,
        ("GET", "/api/sessions/a"): Reply.json({"id": "a", "repo": "acme/widgets", "status": "running"}),
        ("POST", "/api/sessions/a/stop"): Reply.json({"id": "a", "result": "stopped"}),
    }
    with real_engine() as engine, scripted_mothership(replies) as mothership:
        named = {"COLONIZER_BIND": mothership.host, "COLONIZER_TOKEN": "a-token"}
        with spoken("mcp", "--approve", "writes", **named) as agent:
            agent.open()

            def stop() -> str:
                answer = agent.ask("tools/call", name="stop_colony", arguments={"id": "a"})
                return str(answer["result"]["content"][0]["text"])

            listed = agent.ask("tools/list")["result"]["tools"]
            assert "approval_status" in [tool["name"] for tool in listed]
            assert stop().startswith("Not done yet: this call waits")
            (row,) = told("list")
            assert (row["client"], row["tool"], row["arguments"]) == ("test", "stop_colony", {"id": "a"})
            assert row["mothership"].endswith(f"(http://{mothership.host})")
            os.kill(engine.pid(), signal.SIGKILL)
            told("approve", row["id"], "--digest", row["digest"])
            answer = agent.ask("tools/call", name="approval_status", arguments={"id": row["id"]})
            while "error" in answer:  # the engine was just dying
                answer = agent.ask("tools/call", name="approval_status", arguments={"id": row["id"]})
            assert json.loads(answer["result"]["content"][0]["text"])["state"] == "approved"
            assert stop() == "a: stopped"
            assert told("show", row["id"])["result"] == "a: stopped"
            assert stop().startswith("Not done yet")
            code, words = agent.end()
            assert code == 0
            assert words.decode().splitlines() == [
                "colonizer mcp: serving 9 of 10 tools at scope operate",
                "colonizer mcp: calls that change something wait for you: `colonizer approvals`",
            ]
        assert [one.path for one in mothership.asked if one.method == "POST"] == ["/api/sessions/a/stop"]


def test_where_approvals_cannot_be_kept_nothing_is_done_that_needs_one() -> None:
    root = Paths.from_environment().engine.root
    root.parent.mkdir(parents=True)
    root.touch()  # where a folder should be
    with scripted_mothership({SELF: OPERATOR, ("GET", "/api/sessions"): Reply.json([])}) as mothership:
        named = {"COLONIZER_BIND": mothership.host, "COLONIZER_TOKEN": "a-token"}
        with spoken("mcp", "--approve", "writes", **named) as agent:
            agent.open()
            listed = agent.ask("tools/call", name="list_colonies", arguments={})
            assert listed["result"]["content"][0]["text"] == "[]"
            stopped = agent.ask("tools/call", name="stop_colony", arguments={"id": "a"})["result"]
            assert stopped["isError"]
            assert stopped["content"][0]["text"].startswith("cannot open ")
        assert "POST" not in {one.method for one in mothership.asked}
