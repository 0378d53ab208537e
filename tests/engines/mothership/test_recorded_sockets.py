"""Sockets as they were recorded: the same frames in the same order, and the same refusals."""

import asyncio
import json
import subprocess
import sys
from pathlib import Path
from typing import cast

import pytest
from websockets.exceptions import InvalidStatus

from colonizer_engines.mothership.fixture import load
from recorded import rows
from served_mothership import OWNER, SOON_S, Json, Served, served

pytestmark = pytest.mark.anyio

DATA = Path(__file__).parents[2] / "data"
NOT_ALIKE = {
    "other rows drove the colony before": {8, 9, 15, 17},
    "the order of the fleet's sessions, and what it tells of hosts and orgs, is each mothership's own": {19, 25},
    "terminals are not built": {22, 23, 24},
}
"""Numbers of rows that ours plays otherwise, and why."""

ROWS = [row for row in rows("sockets") if row["n"] not in set().union(*NOT_ALIKE.values())]


@pytest.fixture(scope="module")
def state(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("fixture") / "state"
    subprocess.run([sys.executable, str(DATA / "mothership/fixture.py"), str(folder)], check=True)
    return folder


async def test_recorded_sockets_get_the_recorded_frames(tmp_path: Path, state: Path) -> None:
    async with served(
        tmp_path,
        recovering=False,
        running=False,
        know=False,
        fill=lambda store, out: load(state, store, out),
    ) as mothership:
        tokens = {"owner": OWNER, "reader": mothership.token("read"), "operator": mothership.token("operate")}
        for row in ROWS:
            token = tokens.get(cast("str", row["as"]), "nobody's")
            if "refused" in row:
                await refuse(mothership, row, token)
            else:
                await replay(mothership, row, token)


async def refuse(mothership: Served, row: Json, token: str) -> None:
    with pytest.raises(InvalidStatus) as refused:
        async with mothership.connect(row["path"], token):
            pass
    response = refused.value.response
    assert (response.status_code, (response.body or b"").decode()) == (row["refused"]["status"], row["refused"]["text"])


async def replay(mothership: Served, row: Json, token: str) -> None:
    async with mothership.connect(row["path"], token) as socket:
        for step in row["frames"]:
            if "send" in step:
                await socket.send(json.dumps(step["send"]))
                continue
            async with asyncio.timeout(SOON_S):
                frame = json.loads(await socket.recv())
            assert steady(frame) == steady(step["recv"]), row["case"]


def steady(frame: Json) -> Json:
    """The frame without times, and of a Session only which colony it is."""
    if frame["type"] == "session":
        return {"type": "session", "id": frame["session"]["id"], "status": frame["session"]["status"]}
    return {key: value for key, value in frame.items() if key != "ts"}
