"""Every recorded frame, played to a whole cockpit in time order: after each one it shows what was said last."""

from pathlib import Path

import pytest

from client.recorded_mothership import STREAM, RecordedMothership, recorded_mothership
from client.recorded_player import ANOTHER_READER, Player, note_question, player
from client.samples import key
from colonizer_client.errors import Refusal
from colonizer_client.mothership.http import open_transport
from colonizer_client.mothership.replies import Reply
from colonizer_config.token import Token
from recorded import Json, rows

pytestmark = pytest.mark.anyio

SOCKETS = rows("sockets")

NOT_PLAYED = {
    5: "a place beyond the end of a log, where the client never is; were it there, it would ask from its beginning",
    22: "no face opens terminals",
    23: "no face opens terminals",
}
"""Numbers of rows that are no part of what the client hears, and why."""


async def test_colonies_that_really_ran_are_shown_as_they_were_at_every_moment(tmp_path: Path) -> None:
    live = rows("live")
    async with player(tmp_path, "first") as first, player(tmp_path, "second") as second:
        await second.hear(STREAM, None, {"type": "sessions", "sessions": []})
        step = live[0]["step"]
        for row in live:
            if row["step"] != step:
                step = row["step"]
                await first.judge()
            await (second if row.get("socket") in ANOTHER_READER else first).play(row)
        await first.judge()
        assert first.played + second.played == len(live) == 2433


@pytest.mark.parametrize("row", SOCKETS, ids=[f"{row['n']} {row['case']}" for row in SOCKETS])
async def test_a_recorded_socket_is_shown_as_it_was(tmp_path: Path, row: Json) -> None:
    if "refused" in row:
        async with recorded_mothership(tmp_path / "s") as mothership:
            assert await refusal(mothership, row) == (row["refused"]["status"], words(row["refused"]))
        return
    if row["n"] in NOT_PLAYED:
        return
    async with player(tmp_path, "one") as one:
        frames = [step["recv"] for step in row["frames"] if "recv" in step]
        if row["path"] == STREAM:
            await one.hear(STREAM, None, {"type": "sessions", "sessions": []})
            await play_all(one, row, None)
            return
        colony = row["path"].split("/")[3]
        for frame in frames:
            note_question(one.mothership, colony, frame)
        session = next(frame["session"] for frame in frames if frame["type"] == "session")
        await one.hear(STREAM, None, {"type": "sessions", "sessions": [session]})
        one.cockpit.open(key(colony))
        await play_all(one, row, colony)
        await one.judge()


async def play_all(one: Player, row: Json, colony: str | None) -> None:
    path = row["path"].partition("?")[0]
    await one.mothership.line(path)
    for step in row["frames"]:
        if "recv" in step:
            await one.hear(path, colony, step["recv"])
        elif "send" in step and colony is not None:
            await one.tell(colony, step["send"])


async def refusal(mothership: RecordedMothership, row: Json) -> tuple[int, str]:
    """Status and words with which the client ends that tries to open the socket."""
    mothership.reply_once("WS", row["path"].partition("?")[0], row["refused"])
    transport = await open_transport(mothership.address, Token("0" * 63 + "1"))
    try:
        with pytest.raises(Refusal) as refused:
            async with transport.socket(row["path"]):
                pass
    finally:
        await transport.close()
    return refused.value.status, str(refused.value)


def words(refused: Json) -> str:
    """The words of a refusal, in JSON or plain."""
    with pytest.raises(Refusal) as caught:
        Reply(refused["status"], refused["text"].encode()).body_of_success()
    return str(caught.value)
