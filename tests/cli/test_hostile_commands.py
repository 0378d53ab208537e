"""Every recorded command, each string of its replies made to steer the terminal, seen as the bytes that it gets."""

import json
import sys
from contextlib import ExitStack
from pathlib import Path
from typing import cast

from client.hostile import hidden
from client.planted import Node, replaced
from hostile_fleet import Words, hostile, plain
from real_terminal import real_terminal
from recorded import Json, rows
from scripted_mothership import Reply, scripted_mothership

COMMANDS = [row for row in rows("command_runs") if "--wait" not in row["argv"]]
"""Those that wait would wait for a word that a hostile server never says."""

REPLIES = rows("command_replies")

ALL_IN_ONE = """
import json, os, sys
from colonizer_cli.main import main

sys.stdin = open(os.devnull)
for host, argv in json.load(open(sys.argv.pop())):
    os.environ["COLONIZER_BIND"] = host
    sys.argv = ["colonizer", *argv]
    try:
        main()
        print("ended with 0")
    except SystemExit as end:
        print("ended with", end.code)
"""
"""The program, begun anew for each command in one process."""


def test_no_recorded_command_steers_the_terminal_that_it_prints_to(tmp_path: Path) -> None:
    words, jobs = hostile(), tmp_path / "jobs"
    with ExitStack() as motherships:
        orders = [
            (motherships.enter_context(scripted_mothership(script(row, words))).host, without_host(row["argv"]))
            for row in COMMANDS
        ]
        jobs.write_text(json.dumps(orders))
        argv = ("/usr/bin/env", "COLONIZER_TOKEN=t", sys.executable, "-c", ALL_IN_ONE, str(jobs))
        with real_terminal(*argv, rows=200, columns=200) as terminal:
            assert terminal.ended() == 0
            printed = terminal.raw.decode().replace("\r\n", "\n")
    assert printed.count("ended with") == len(COMMANDS) > 80
    assert hidden(printed.replace("\n", " ")) == []
    for sign in (
        "␛]52;",
        "␛]8;;",
        "␛[2J",
        "⟨U+009B⟩31m",
        "⟨U+202E⟩",
        "⟨U+200B⟩",
        "⟨U+DFFF⟩",
        "␈",
        "\\u202e",
        "\\u009b",
    ):
        assert sign in printed


def script(row: Json, words: Words) -> dict[tuple[str, str], Reply]:
    """What the command's mothership answers: what was recorded, with other texts."""
    used: list[Json] = [REPLIES[exchange["reply"]] for exchange in row["http"]]
    return {(reply["method"], reply["path"]): spoilt(reply, words) for reply in used}


def spoilt(reply: Json, words: Words) -> Reply:
    if reply.get("content_type") != "application/json":
        return Reply(reply["status"], plain(words()), reply.get("content_type"))
    body = replaced(cast("Node", json.loads(reply["text"])), words)
    return Reply(reply["status"], json.dumps(body), "application/json")


def without_host(argv: list[str]) -> list[str]:
    at = argv.index("--host") if "--host" in argv else len(argv)
    return argv[:at] + argv[at + 2 :]
