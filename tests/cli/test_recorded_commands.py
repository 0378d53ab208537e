"""What the published program printed, and with which code it ended, for the same replies of the same mothership."""

import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import cast

import pytest

from colonizer_cli.failures import ExitCode
from colonizer_client.text import has_hidden_characters, safe_text
from plain_command import colonizer
from recorded import Json, rows
from scripted_mothership import Reply, scripted_mothership

ROWS = rows("command_runs")
REPLIES = rows("command_replies")
COMMANDS = rows("commands")

UNTOLD, A_TOKEN = "<new token>", f"col_{'0' * 64}"
"""What stands in the recording in place of a token that was made, and a token."""

OTHERWISE = {
    "version": "ours is of our own version",
    "version cmd": "ours is of our own version",
    "loop list": "loops are not built",
    "handoff": "handing a colony over is not built; its wrong usage ends alike",
    "logs follow": "it goes on until it is interrupted: a test of following has it",
}
"""Recorded commands that are not run here, and why."""

OUR_WORDS = {"no mothership", "host 127.0.0.1", "host ::1", "host [::1]"}
"""What follows the last colon are the words of an HTTP library there, and ours here."""

CUT = {"list json": 15_000}
"""Of what it printed only the beginning was kept, and a colony near that end had a verdict by then."""

NOTHING_IS_SENT = {"status odd": (4, "colonizer: no such session\n")}
"""An id with a slash can be part of no request of ours; the published program sent it."""


@pytest.mark.parametrize("row", ROWS, ids=[str(row["case"]) for row in ROWS])
def test_a_command_prints_and_ends_as_recorded_where_a_host_is_named(row: Json) -> None:
    exchanges = cast("list[Json]", row["http"])
    with scripted_mothership(script(exchanges)) as mothership:
        argv = [mothership_host(argument, mothership.port) for argument in cast("list[str]", row["argv"])]
        done = colonizer(*argv, COLONIZER_BIND=mothership.host, COLONIZER_TOKEN="a-token")
    if row["case"] in NOTHING_IS_SENT:
        assert (done.exit, done.stderr) == NOTHING_IS_SENT[str(row["case"])]
        assert mothership.asked == []
        return
    as_json = "--json" in argv and done.exit == 0
    assert done.stdout == (escaped if as_json else shown)(expected_stdout(row))
    assert (done.exit, done.stderr) == (row["exit"], row["stderr"])
    assert [(asked.method, asked.path, asked.sent) for asked in mothership.asked] == [
        (*key(REPLIES[cast("int", exchange["reply"])]), exchange.get("sent")) for exchange in exchanges
    ]
    assert {asked.token for asked in mothership.asked} <= {"a-token"}


def script(exchanges: list[Json]) -> Mapping[tuple[str, str], Reply]:
    used = [REPLIES[cast("int", exchange["reply"])] for exchange in exchanges]
    return {
        key(reply): Reply(
            cast("int", reply["status"]),
            str(reply["text"]).replace(UNTOLD, A_TOKEN),
            cast("str | None", reply.get("content_type")),
        )
        for reply in used
    }


def key(reply: Json) -> tuple[str, str]:
    return str(reply["method"]), str(reply["path"])


def mothership_host(argument: str, port: str) -> str:
    return f"localhost:{port}" if argument == "localhost:7878" else argument


def expected_stdout(row: Json) -> str:
    """What was recorded, but for an unknown cost, which the published program takes for nothing."""
    stdout = str(row["stdout"]).replace(UNTOLD, A_TOKEN)
    exchanges = cast("list[Json]", row["http"])
    if row["argv"] == ["status", *cast("list[str]", row["argv"])[1:]] and stdout:
        detail = json.loads(str(REPLIES[cast("int", exchanges[0]["reply"])]["text"]))
        if detail["cost_usd"] is None:
            return stdout.replace("cost      $0.00\n", "cost      —\n")
    return stdout


def shown(text: str) -> str:
    return safe_text(text)


def escaped(text: str) -> str:
    """The same JSON, with escapes for the characters that a terminal could obey."""
    return "".join(
        json.dumps(character)[1:-1] if has_hidden_characters(character) and character != "\n" else character
        for character in text
    )


ALONE = [row for row in COMMANDS if row["case"] not in {str(run["case"]) for run in ROWS} | OTHERWISE.keys()]
"""Commands that need no mothership, or find none."""


@pytest.mark.parametrize("row", ALONE, ids=[str(row["case"]) for row in ALONE])
def test_a_command_that_reaches_no_mothership_prints_and_ends_as_recorded(row: Json, tmp_path: Path) -> None:
    (tmp_path / "empty").touch()
    argv = [str(argument).replace("/srv", str(tmp_path)) for argument in row["argv"]]
    token = {} if row["as"] is None else {"COLONIZER_TOKEN": "a-token"}
    done = colonizer(*argv, COLONIZER_BIND="127.0.0.1:1", COLONIZER_CONFIG_DIR=str(tmp_path / "none"), **token)
    assert (done.exit, done.stdout) == (row["exit"], row["stdout"])
    words = str(row["stderr"]).replace("/srv", str(tmp_path))
    if row["case"] in OUR_WORDS:
        words = words[: words.rindex(": error sending") + 2]
        assert done.stderr.startswith(words)
    elif row["exit"] != ExitCode.USAGE:  # the wording of wrong usage was not recorded
        assert done.stderr == words


def test_every_recorded_command_was_run_with_what_it_printed() -> None:
    runs = {str(run["case"]): run for run in ROWS}
    assert len(COMMANDS) == 81
    for row in COMMANDS:
        if (run := runs.get(str(row["case"]))) is not None:
            printed, recorded = steady(run["stdout"]), steady(row["stdout"])
            end = CUT.get(str(row["case"]))
            is_json = end is None and "--json" in row["argv"] and row["exit"] == 0 and row["argv"][0] != "logs"
            read = json.loads if is_json else str  # the keys of a map come in whatever order it was written
            assert read(printed[:end]) == read(recorded[:end]), row["case"]
            assert (run["exit"], run["stderr"]) == (row["exit"], row["stderr"]), row["case"]


def steady(printed: object) -> str:
    """What was printed, without times and without what was made during the run."""
    timeless = re.sub(r"\d{4}-\d\d-\d\dT[\d:.]+Z|(?<=\"host_disk_bytes\": )\d+", "T", str(printed))
    return re.sub(r"(colony|tok_|col_|\"id\": \")\s*[0-9a-f]{8,64}\b", r"\1", timeless)


def test_hostile_text_was_among_what_was_recorded() -> None:
    printed = "".join(str(row["stdout"]) for row in ROWS)
    assert re.search("\x1b.*‮", printed, re.DOTALL)
