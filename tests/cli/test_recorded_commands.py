"""What the published program printed, and with which code it ended, for the same replies of the same mothership."""

import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import cast

import pytest

from colonizer_client.text import has_hidden_characters, safe_text
from plain_command import colonizer
from scripted_mothership import Reply, scripted_mothership

Json = dict[str, object]

RECORDED = Path(__file__).parents[1] / "data/recorded"


def read(name: str) -> list[Json]:
    return [json.loads(line) for line in (RECORDED / name).read_text(encoding="utf-8").splitlines()]


ROWS = read("commands.jsonl")
REPLIES = read("command_replies.jsonl")

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
            cast("int", reply["status"]), str(reply["text"]), cast("str | None", reply.get("content_type"))
        )
        for reply in used
    }


def key(reply: Json) -> tuple[str, str]:
    return str(reply["method"]), str(reply["path"])


def mothership_host(argument: str, port: str) -> str:
    return f"localhost:{port}" if argument == "localhost:7878" else argument


def expected_stdout(row: Json) -> str:
    """What was recorded, but for an unknown cost, which the published program takes for nothing."""
    stdout = str(row["stdout"])
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


def test_hostile_text_was_among_what_was_recorded() -> None:
    printed = "".join(str(row["stdout"]) for row in ROWS)
    assert re.search("\x1b.*‮", printed, re.DOTALL)
