"""Who may do what: the answers of the published program's guard, given alike by ours."""

import json
from collections.abc import AsyncGenerator
from pathlib import Path
from typing import cast

import pytest

from recorded import rows
from served_mothership import OWNER, Served, served

pytestmark = pytest.mark.anyio

ROWS = [row for row in rows("http") if row.get("guard")]
"""All that need no state: any mothership with the same tokens answers them alike."""


@pytest.fixture
async def mothership(tmp_path: Path) -> AsyncGenerator[Served, None]:
    async with served(tmp_path, over_tcp=True, know=False) as found:
        yield found


def secret_of(mothership: Served, name: str) -> str:
    """A token like the one that the row was recorded with."""
    if name == "owner":
        return OWNER
    limits: dict[str, dict[str, object]] = {
        "globex": {"scope": "operate", "orgs": ["globex"]},
        "onerepo": {"scope": "launch", "repos": ["acme/widgets"]},
        "reader": {"scope": "read"},
        "operator": {"scope": "operate"},
        "launcher": {"scope": "launch"},
    }
    return mothership.token(**cast("dict[str, str]", limits[name]))


@pytest.mark.parametrize("row", ROWS, ids=[f"{row['n']} {row['case']}" for row in ROWS])
async def test_a_recorded_request_gets_the_recorded_answer(mothership: Served, row: dict[str, object]) -> None:
    request = cast("dict[str, object]", row["request"])
    expected = cast("dict[str, object]", row["response"])
    headers = {
        name.lower(): value.replace("<owner token>", OWNER)
        for name, value in cast("dict[str, str]", request.get("headers", {})).items()
    }
    if row["as"] is not None:
        headers["authorization"] = f"Bearer {secret_of(mothership, cast('str', row['as']))}"
    content = request.get("raw")
    if "json" in request:
        content = json.dumps(request["json"])
    if content is not None:
        headers["content-type"] = "application/json"
    reply = await mothership.http.request(
        cast("str", request["method"]), cast("str", request["path"]), headers=headers, content=cast("str", content)
    )
    assert reply.status_code == expected["status"], reply.text
    assert reply.headers.get("content-type", "") == (expected["content_type"] or "")
    if "json" in expected:
        assert reply.json() == expected["json"]
    else:
        assert reply.text.startswith(up_to_the_field(cast("str", expected.get("text", ""))))


def up_to_the_field(text: str) -> str:
    """What of a framework's words is the same everywhere: all but what it says after the field's name."""
    if text.startswith("Failed to parse"):
        return text.partition(": ")[0]
    if not text.startswith("Failed to deserialize"):
        return text
    target, found, words = text.partition("type: ")
    if words.startswith("missing field"):
        return target + found + words.partition(" at line")[0]
    return target + found + words.partition(":")[0]
