"""Motherships that are added, moved, renamed and removed while the cockpit runs, and their tokens."""

from pathlib import Path

import pytest

from client.cockpits import Direct, connected, is_live, is_signed_out, until
from client.fleet_server import FleetServer, fleet_server
from client.hand_clock import HandClock
from client.samples import HQ, key
from colonizer_client.errors import SignInNeeded, Unreachable
from colonizer_client.identity import ColonyKey, EndpointName
from colonizer_client.mothership.models import TokenOrder
from colonizer_client.snapshot import EndpointState

pytestmark = pytest.mark.anyio


async def test_a_removed_mothership_takes_its_rows_along_and_is_asked_no_more(
    server: FleetServer, tmp_path: Path, clock: HandClock
) -> None:
    server.put("a")
    async with connected(Direct(server.address), tmp_path, clock) as cockpit:
        await until(cockpit, lambda now: key("a") in now.colonies)
        cockpit.drafts.keep_message(key("a"), "half a word")
        cockpit.open(key("a"))
        await server.until_followed("/api/sessions/a/events")
        cockpit.remove(HQ)
        assert (dict(cockpit.snapshot.endpoints), dict(cockpit.snapshot.colonies)) == ({}, {})
        await server.until(lambda: not server.sockets)
        cockpit.close(key("a"))
        asked = len(server.asked)
        clock.move(3600)
        with pytest.raises(Unreachable):
            cockpit.reconnect(HQ)
        assert (len(server.asked), dict(cockpit.snapshot.transcripts)) == (asked, {})
        assert cockpit.drafts.message(key("a")) == "half a word"


async def test_a_mothership_at_another_address_shows_no_row_of_the_one_before(
    server: FleetServer, tmp_path: Path, clock: HandClock
) -> None:
    server.put("old")
    async with fleet_server(tmp_path / "other") as other, connected(Direct(server.address), tmp_path, clock) as cockpit:
        await until(cockpit, lambda now: key("old") in now.colonies)
        cockpit.open(key("both"))
        other.put("new")
        cockpit.add(EndpointState(HQ, "elsewhere"), Direct(other.address))
        assert set(cockpit.snapshot.colonies) == set()
        snapshot = await until(cockpit, is_live)
        assert (set(snapshot.colonies), snapshot.endpoints[HQ].address) == ({key("new")}, "elsewhere")
        await other.until_followed("/api/sessions/both/events")
        await server.until(lambda: not server.sockets)
        server.put("late")
        other.put("newer")
        snapshot = await until(cockpit, lambda now: len(now.colonies) == 2)
        assert set(snapshot.colonies) == {key("new"), key("newer")}


async def test_what_was_typed_for_a_mothership_goes_along_with_its_new_name(
    server: FleetServer, tmp_path: Path, clock: HandClock
) -> None:
    lab = EndpointName("lab")
    moved = ColonyKey(lab, key("a").colony)
    async with connected(Direct(server.address, failure=Unreachable("down")), tmp_path, clock) as cockpit:
        cockpit.drafts.keep_message(key("a"), "half a word")
        cockpit.drafts.keep_message(moved, "of a mothership that had this name long ago")
        sent = cockpit.say(key("a"), "whole words")
        cockpit.rename(HQ, lab)
        server.replies["POST", "/api/sessions/a/messages"] = (200, {"id": sent.id})
        cockpit.add(EndpointState(lab, "lab"), Direct(server.address))
        await until(cockpit, lambda now: now.deliveries[sent.id].is_settled)
        assert cockpit.snapshot.deliveries[sent.id].key == moved
        assert cockpit.drafts.message(moved) == "half a word"
        assert cockpit.drafts.message(key("a")) == ""


async def test_a_live_connection_is_made_anew_with_the_token_that_is_kept_now(
    server: FleetServer, tmp_path: Path, clock: HandClock
) -> None:
    server.put("a")
    connector = Direct(server.address)
    async with connected(connector, tmp_path, clock) as cockpit:
        await until(cockpit, is_live)
        connector.failure = SignInNeeded("no token is kept", status=401)
        cockpit.reconnect(HQ)
        snapshot = await until(cockpit, is_signed_out)
        assert set(snapshot.colonies) == {key("a")}, "what was known stays, dated"
        await server.until(lambda: not server.sockets)


async def test_tokens_are_listed_made_and_revoked_by_their_owner(
    server: FleetServer, tmp_path: Path, clock: HandClock
) -> None:
    row = {"id": "tok_1", "name": "ci", "scope": "read", "max_concurrent": 3, "budget_usd_per_day": 2.5}
    server.replies["GET", "/api/tokens"] = (200, [row])
    server.replies["POST", "/api/tokens"] = (200, {"token": "col_" + "5e" * 32, **row})
    server.replies["DELETE", "/api/tokens/tok_1"] = (200, {"ok": True})
    async with connected(Direct(server.address), tmp_path, clock) as cockpit:
        await until(cockpit, is_live)
        (listed,) = await cockpit.tokens(HQ)
        assert (listed.name, listed.max_concurrent, listed.budget_usd_per_day) == ("ci", 3, 2.5)
        made = await cockpit.mint_token(HQ, TokenOrder("ci", "read"))
        assert made.reveal().startswith("col_")
        await cockpit.revoke_token(HQ, listed)
    assert server.count("DELETE /api/tokens/tok_1") == 1
