"""Every recorded reply over HTTP, given to the client by a real server: none is dropped, misread or raised."""

from collections.abc import AsyncGenerator
from pathlib import Path

import pytest

from client.recorded_calls import NOT_ASKED, call_of, differences, plain_call, route_of
from client.recorded_mothership import RecordedMothership, recorded_mothership
from colonizer_client.errors import ClientError
from colonizer_client.mothership.http import HttpTransport, open_transport
from colonizer_config.token import Token
from recorded import Json, replies, rows

pytestmark = pytest.mark.anyio


@pytest.fixture
async def mothership(tmp_path: Path) -> AsyncGenerator[RecordedMothership, None]:
    async with recorded_mothership(tmp_path / "s") as made:
        yield made


async def test_every_reply_to_a_request_is_read_as_what_it_is(mothership: RecordedMothership) -> None:
    transport = await open_transport(mothership.address, Token("0" * 63 + "1"))
    wrong: dict[str, str] = {}
    try:
        for row in rows("http"):
            if found := await misread(mothership, transport, row):
                wrong[f"row {row['n']}: {row['case']}"] = found
    finally:
        await transport.close()
    assert wrong == {}
    assert len(mothership.requests) == len(rows("http")) == 275


async def misread(mothership: RecordedMothership, transport: HttpTransport, row: Json) -> str:
    """What the client made of a reply that is not so; empty where all is."""
    request, response = row["request"], row["response"]
    call = call_of(request) or plain_call(request, response)
    mothership.reply_once(call.method, call.path, response)
    try:
        outcome: object = await transport.run(call)
    except ClientError as problem:
        outcome = problem
    return differences(response, outcome)


def test_what_the_client_has_no_call_for_is_named() -> None:
    unasked = {route_of(request) for request, _ in replies() if call_of(request) is None}
    assert unasked == set().union(*NOT_ASKED.values())
