"""Kernels by plain commands: what they know, what they judge, and what is asked before others are touched."""

import json
import os
import sys
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from cli.test_kernel_serve import serving_http
from colonizer_cli.columns import cut
from colonizer_client.audit import first_break
from colonizer_config.paths import Paths
from colonizer_config.settings import load
from loopback_fleet import sign_in
from plain_command import Done, colonizer
from real_engine import real_engine
from scripted_mothership import Reply, scripted_mothership
from typed_terminal import typed

EVIL = "pkg.\x1b[2Jevil\n\u202etxt"
PROPOSAL = ("--agent", "ant", "--action", "patch_file", "--rationale", "it drops the last line")
PLAN = {"title": "delete all", "steps": ["rm"], "rationale": "it is faster"}


@pytest.fixture(autouse=True)
def own_program(monkeypatch: pytest.MonkeyPatch) -> None:
    """Makes processes that commands start run this very program."""
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(filter(None, sys.path)))


def asked(*argv: str, code: int = 0, stdin: str | None = None) -> str:
    """What a kernel command prints."""
    done = colonizer("kernel", *argv, stdin=stdin)
    assert (done.exit, done.stderr) == (code, ""), done
    return done.stdout


def told(*argv: str, code: int = 0, stdin: str | None = None) -> Any:
    """What it prints as JSON."""
    return json.loads(asked(*argv, "--json", code=code, stdin=stdin))


def outcome(agent: str, target: str, *passed: str) -> tuple[str, ...]:
    words = ("--agent", agent, "--action", "patch_file", "--target", target, "--outcome", "as it came")
    return ("record", *words, *(passed or ("--failed",)))


def test_a_person_reads_the_local_kernel_and_has_actions_judged() -> None:
    with real_engine():
        assert colonizer("kernel", "heat") == Done(0, "", "no traces\n")
        assert colonizer("kernel", "agents") == Done(0, "", "no agents\n")
        for _ in range(2):
            assert told(*outcome("ant", "pkg.parser"))["role"] == "sandbox"
        assert asked(*outcome("bee", EVIL, "--passed", "--feedback", "1")).endswith(
            "bee has trust 0.17, role sandbox\n"
        )
        _check_heat()
        _check_status()
        _check_agents()
        _check_verdict()
        assert colonizer("kernel", "prune").stderr == "nothing to prune\n"
        assert told("prune")["total_candidates"] == 0
        _check_review()
        assert colonizer("kernel", "record", *PROPOSAL[:4], "--target", "x", "--outcome", "y").exit == 2


def _check_heat() -> None:
    heading, first, second = asked("heat").splitlines()
    assert heading.split() == ["hazard", "success", "failure", "risk", "need", "depends", "human", "place"]
    assert first.split() == ["!!", "6.0", "-", "6.0", "-", "-", "1.0", "-", "pkg.parser"]
    assert second.endswith("  pkg.␛[2Jevil ⟨U+202E⟩txt")
    assert second.split()[:2] == ["-", "2.2"]
    field = told("heat", "--top", "1")
    assert (field["kernel"], field["tick"], field["whole"], len(field["places"])) == ("local", 0, True, 1)
    assert field["places"][0]["location"] == "pkg.parser"
    assert field["places"][0]["failure"] == field["places"][0]["hazard"]
    # What is moved on fades by the kernel's own law.
    assert told("tick")["tick_count"] == 1
    assert asked("heat", "--top", "1").splitlines()[1].split()[0] == "!"


def _check_status() -> None:
    lines = asked("status").splitlines()
    assert lines[0].startswith("kernel            local (colonizer-kernel ")
    assert lines[0].endswith(", rules of seed)")
    assert "tick              1, 4 traces" in lines
    assert "roles             sandbox 2" in lines
    assert "                  failed  -0.13  ant: patch_file pkg.parser" in lines
    assert told("status")["role_distribution"] == {"sandbox": 2}


def _check_agents() -> None:
    _, first, second = asked("agents").splitlines()
    assert " ".join(first.split()) == "0.17 sandbox 1 0 repair_ant, 1 passed outcome and 3 proposals bee"
    assert " ".join(second.split()).startswith("0.00 sandbox 0 ")
    assert " ".join(second.split()).endswith(" repair_ant, 5 passed outcomes and 3 proposals ant")
    assert [row["agent_id"] for row in told("agents", "bee")] == ["bee"]


def _check_verdict() -> None:
    for _ in range(3):
        refused = asked("propose", *PROPOSAL, "--target", "pkg.parser", code=7)
        assert refused.startswith("refuse: score 0.00, patch_file pkg.parser\n")
    for _ in range(5):
        asked(*outcome("ant", "pkg.other", "--passed", "--feedback", "1"))
    lines = asked("propose", *PROPOSAL, "--target", "pkg.parser", code=7).splitlines()
    assert lines[0].startswith("hold: score 0.6")
    assert "score             budget       0.3000 of 0.30" in lines
    assert "                  risk         0.1500 of 0.30" in lines
    assert any(line.startswith("to do             ") for line in lines)
    assert any(line.startswith("would execute if  ") for line in lines)
    verdict = told("propose", *PROPOSAL, "--target", "pkg.new", "--rollback", "git revert", "--evidence", "[1]")
    assert verdict["decision"] == "execute"


def _check_review() -> None:
    assert told("falsify", "-", code=7, stdin=json.dumps(PLAN))["recommendation"] == "hold"
    lines = asked("falsify", "-", code=7, stdin=json.dumps(PLAN)).splitlines()
    assert lines[0].startswith("hold: mean severity 0.45, gravest 0.45")
    assert lines[1].split()[:3] == ["!", "high", "no_rollback"]
    assert lines[-1].startswith("not found: ")


def test_a_plan_that_cannot_be_read_is_told_with_its_place(tmp_path: Path) -> None:
    rows = (
        (b'{"a": 1,\n "b" 2}', ", line 2, column 6: this is not JSON: Expecting ':' delimiter"),
        (b"", ", line 1, column 1: this is not JSON: Expecting value"),
        (b'{\n"a": "\xff"}', ", line 2, column 7: this is not UTF-8"),
        (b'["a"]', ": a plan is a JSON object: {…}"),
        (b'{"a": NaN}', ": JSON has no NaN"),
        (b"[" * 100_000, ": this JSON is nested too deeply, or holds an endless number"),
        (b'{"a": ' + b"9" * 5000 + b"}", ": this JSON is nested too deeply, or holds an endless number"),
    )
    file = tmp_path / "plan.json"
    for content, words in rows:
        file.write_bytes(content)
        assert colonizer("kernel", "falsify", str(file)) == Done(2, "", f"colonizer: {file}{words}\n")
    assert colonizer("kernel", "falsify", "-", stdin="{").stderr.startswith("colonizer: stdin, line 1, column 2: ")
    missing = tmp_path / "none.json"
    assert colonizer("kernel", "falsify", str(missing)).stderr == (
        f"colonizer: cannot read {missing}: No such file or directory\n"
    )


def test_a_kernel_is_one_of_the_settings() -> None:
    done = colonizer("kernel", "status", "--kernel", "lab")
    assert done == Done(2, "", "colonizer: there is no kernel called lab; known here: local\n")


def test_a_command_runs_once_its_words_are_agreed_to_and_changes_what_is_shared_when_it_may(tmp_path: Path) -> None:
    serving = ("-m", "colonizer_cli.main", "kernel", "serve", "--data-dir")
    command = (sys.executable, *serving, str(tmp_path / "a kernel"))
    added = colonizer("connect", "add", "lab", "--kind", "kernel", "--env", "PYTHONPATH", "--", *command)
    assert (added.exit, added.stdout.startswith(f"lab added: {sys.executable} -m")) == (0, True)
    assert load(Paths.from_environment().settings).endpoints[0].command == command
    refused = colonizer("kernel", "status", "--kernel", "lab")
    assert (refused.exit, refused.stdout) == (3, "")
    assert f"  {sys.executable} {' '.join(serving)} '{tmp_path}/a kernel'\n" in refused.stderr
    assert "with these variables of yours: PYTHONPATH\n" in refused.stderr
    assert refused.stderr.endswith("in a terminal `colonizer connect test lab` asks\n")
    assert not (tmp_path / "a kernel").exists()
    assert "not running" in colonizer("connect", "list").stdout
    with typed("connect", "test", "lab") as testing:
        testing.until("[y/N] ")
        testing.type("y")
        testing.until("ok ")
        assert testing.end() == 0
    recording = (*outcome("ant", "pkg.parser"), "--kernel", "lab")
    unasked = colonizer("kernel", *recording)
    assert unasked == Done(2, "", "colonizer: nothing was done on lab; --yes does it without asking\n")
    assert told(*recording, "--yes")["status"] == "recorded"
    heat = colonizer("kernel", "heat", "--kernel", "lab")
    assert heat.stdout.splitlines()[1].split() == ["!", "3.0", "-", "3.0", "-", "-", "0.5", "-", "pkg.parser"]
    assert heat.stderr == "these are the places that the kernel's status names; there may be others\n"
    # Another word is another command.
    settings = Paths.from_environment().settings
    settings.write_text(settings.read_text(encoding="utf-8").replace("a kernel", "another"), encoding="utf-8")
    changed = colonizer("kernel", "agents", "--kernel", "lab")
    assert changed.exit == 3
    assert f"Before, you agreed to: {sys.executable}" in changed.stderr
    assert not (tmp_path / "another").exists()


def test_a_kernel_is_added_by_its_url_once_its_token_was_tried(tmp_path: Path) -> None:
    with serving_http("--data-dir", str(tmp_path / "kernel")) as (host, token_file):
        url, token = f"{host}/mcp", token_file.read_text(encoding="ascii").strip()
        adding = ("connect", "add", "lab", url, "--kind", "kernel", "--plain-file")
        assert colonizer(*adding, stdin="wr0ng\n").exit == 3
        assert not Paths.from_environment().settings.exists()
        added = colonizer(*adding, stdin=f"{token}\n")
        assert (added.exit, added.stderr) == (0, "")
        assert added.stdout.startswith(f"lab added: {url}, server colonizer-kernel ")
        assert added.stdout.endswith(", token kept in: plain file\n")
        assert token not in Paths.from_environment().settings.read_text(encoding="utf-8")
        rows = json.loads(colonizer("connect", "test", "lab", "--json").stdout)
        assert [(row["kind"], row["state"], row["address"]) for row in rows] == [("kernel", "ok", url)]
        assert told("status", "--kernel", "lab")["tick_count"] == 0
        # Any MCP server is added alike, and shows how much it has.
        other = colonizer("connect", "add", "any", url, "--kind", "mcp", "--plain-file", stdin=f"{token}\n")
        assert other.stdout.startswith(f"any added: {url}, server colonizer-kernel ")
        assert ", tools 8, token kept in: plain file\n" in other.stdout
        (row,) = json.loads(colonizer("connect", "test", "any", "--json").stdout)
        assert (row["kind"], row["state"]) == ("mcp", "ok")
        assert colonizer("connect", "remove", "any").exit == 0
        assert told("tick", "--kernel", "lab", "--yes")["tick_count"] == 1
        assert colonizer("connect", "login", "lab", "--plain-file", stdin="wr0ng\n").exit == 3
        assert colonizer("connect", "logout", "lab").exit == 0
        signed_out = colonizer("kernel", "status", "--kernel", "lab")
        assert signed_out.exit == 3
    assert colonizer("connect", "remove", "lab").exit == 0


@pytest.mark.parametrize(
    "argv",
    [
        ("hq", "hq.example", "--", "word"),
        ("hq", "hq.example", "--env", "NAME"),
        ("lab", "--kind", "kernel"),
        ("lab", "--kind", "kernel", "--env", "NAME", "https://lab.example/mcp"),
        ("lab", "--kind", "kernel", "https://lab.example/mcp?token=5ec7e7"),
        ("lab", "--kind", "mcp"),
    ],
    ids=" ".join,
)
def test_what_does_not_go_together_is_not_added(argv: tuple[str, ...]) -> None:
    done = colonizer("connect", "add", *argv, stdin="")
    assert (done.exit, done.stdout) == (2, "")
    assert "5ec7e7" not in done.stderr
    assert not Paths.from_environment().settings.exists()


@contextmanager
def fleet_with_a_bridge() -> Generator[Any]:
    """A function that gives the one colony of a mothership another status; its outcomes are offered to the kernel."""
    row = {
        "id": "c0ffee00",
        "repo": "acme/widgets",
        "instructions": EVIL,
        "agent": "ant",
        "created_at": "2020-01-01T00:00:00Z",
    }
    with scripted_mothership({}) as mothership, real_engine():
        sign_in(int(mothership.port))
        settings = Paths.from_environment().settings
        settings.write_text(f'{settings.read_text(encoding="utf-8")}\n[kernel]\nbridge = "local"\n', encoding="utf-8")

        def becomes(status: str) -> None:
            mothership.replies = {("GET", "/api/sessions"): Reply.json({"sessions": [row | {"status": status}]})}

        yield becomes


def test_how_a_colony_ended_is_recorded_when_a_person_accepts_it() -> None:
    off = colonizer("kernel", "offers")
    assert (off.exit, off.stdout) == (5, "")
    assert "no kernel is chosen" in off.stderr
    with fleet_with_a_bridge() as becomes:
        for status in ("merged", "running"):
            becomes(status)
            assert colonizer("kernel", "offers") == Done(0, "", "no offers for the kernel local\n")
        becomes("stopped")
        [line] = asked("offers").splitlines()
        offer, *_ = line.split()
        assert line.endswith("  ant           acme/widgets  colony c0ffee00 was stopped: pkg.␛[2Jevil ⟨U+202E⟩txt")
        [row] = told("offers")
        assert (row["id"], row["happened"], row["tests_passed"], row["run"]) == (offer, "stopped", None, 2)
        undecided = colonizer("kernel", "offers", "accept", offer)
        assert (undecided.exit, "say --passed or --failed" in undecided.stderr) == (2, True)
        assert asked("offers", "accept", offer, "--failed") == "recorded in local: ant has trust 0.00, role sandbox\n"
        again = colonizer("kernel", "offers", "accept", offer, "--failed")
        assert again == Done(5, "", "colonizer: this offer is recorded already\n")
        assert told("heat")["places"][0]["location"] == "acme/widgets"
        becomes("running")
        colonizer("kernel", "offers")
        becomes("failed")
        [row] = told("offers")
        assert (row["run"], row["tests_passed"]) == (3, False)
        assert asked("offers", "dismiss", row["id"]) == f"offer {row['id']} dismissed\n"
        assert told("offers") == []
        assert colonizer("kernel", "offers", "dismiss", "none").exit == 4
    log = Paths.from_environment().engine.root / "audit.jsonl"
    assert first_break(log) is None
    records = [json.loads(line) for line in log.read_text(encoding="utf-8").splitlines()]
    assert [record["result"] for record in records] == ["asked", "recorded", "dismissed"]
    assert records[0]["arguments"]["tests_passed"] is False


def test_a_line_is_cut_to_the_terminal_with_a_mark() -> None:
    for line, columns, shown in (
        ("abcdef", None, "abcdef"),
        ("abcdef", 6, "abcdef"),
        ("abcdef", 5, "abcd…"),
        ("日本語", 6, "日本語"),
        ("日本語", 5, "日本…"),
        ("日本語", 4, "日…"),
        ("e\u0301e\u0301e\u0301", 3, "e\u0301e\u0301e\u0301"),
        ("e\u0301e\u0301e\u0301", 2, "e\u0301…"),
        ("abc", 1, "…"),
    ):
        assert cut(line, columns) == shown, (line, columns)
