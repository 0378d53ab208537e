"""How Connections and the dialogs of hosts look, in every state that their other pictures do not show."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest
from syrupy.assertion import SnapshotAssertion
from textual.pilot import Pilot
from textual.screen import Screen

from colonizer_client.identity import EndpointName
from colonizer_client.mothership.models import Standing, TokenRecord
from colonizer_client.mothership.recorder import Recorder
from colonizer_client.snapshot import EndpointChanged, Health, HubEvent
from colonizer_tui.dialogs.tokens import ShownOnce, Tokens, TokenWork
from colonizer_tui.dialogs.wire_log import WireLog
from colonizer_tui.keys import keymap
from moments import HQ, LAB, LOCAL, NOW, StillClock, endpoint, every_state, silent, still_app
from pictures import SIZES, pressing, seen_from_all_sides
from real_engine import settled, until
from still_hosts import StillHosts

LIMITED = Standing(
    is_owner=False,
    scope="operate",
    name="ci",
    orgs=("acme",),
    repos=("beta/rocket",),
    max_concurrent=3,
    budget_usd_per_day=2.5,
)
REFUSED = "http://hq.tailnet:7878: Connection refused"
SSH_WORDS = "ssh to me@lab: Host key verification failed."
WITH_LIMITS = endpoint(
    HQ,
    standing=LIMITED,
    token_place="keyring",
    is_polled=True,
    fault=f"nothing answers on {REFUSED}",
    fault_at=NOW - 600,
)
OTHER = endpoint(
    HQ,
    version="0.1.9",
    notice="it came back as another version: 0.1.9 after 0.2.23"
    " · none of the colonies known before is there: it may be another mothership",
)
BEHIND_SSH = endpoint(LAB, address="ssh://me@lab", health=Health.SILENT, error=SSH_WORDS, retry_at=NOW + 4, since=NOW)


def many(number: int = 40) -> list[HubEvent]:
    """More hosts than a screen holds, in every state."""
    kinds: list[dict[str, Any]] = [
        {},
        {"health": Health.SILENT, "error": "it took too long"},
        {"health": Health.SIGNED_OUT, "error": "missing or invalid API token", "standing": None},
        {"skew_s": 86_400.0},
        {"health": Health.CONNECTING, "as_of": None, "standing": None, "latency_s": None},
    ]
    names = [EndpointName(f"host-{place}") for place in range(number)]
    return [EndpointChanged(endpoint(name, **kinds[place % len(kinds)])) for place, name in enumerate(names)]


STATES: dict[str, tuple[Sequence[HubEvent], list[str]]] = {
    "limits": ([EndpointChanged(WITH_LIMITS)], ["7"]),
    "another mothership": ([EndpointChanged(OTHER)], ["7"]),
    "older mothership": ([EndpointChanged(endpoint(HQ, standing=None, version="", is_polled=True))], ["7"]),
    "behind ssh": ([EndpointChanged(BEHIND_SSH)], ["7"]),
    "many": ([EndpointChanged(endpoint(LOCAL)), *many()], ["7", *"jjj"]),
    "sign in": (every_state(), ["7", "j", "l", *"secret"]),
    "no keyring": (every_state(), ["7", "j", "l", *"secret", "enter"]),
    "add": (every_state(), ["7", "A", *"lab2", "tab", *"lab2.tailnet", "tab", *"secret"]),
    "edit": (every_state(), ["7", "j", "E", "tab", "x"]),
    "remove": ([*every_state(), silent(HQ)], ["7", "j", "X"]),
    "sign out": (every_state(), ["7", "j", "O"]),
}


TWO_SIZES = {size: SIZES[size] for size in ("80x24", "120x30")}


@pytest.mark.anyio
@pytest.mark.parametrize("state", STATES, ids=lambda name: name.replace(" ", "-"))
async def test_connections_look_as_they_did(state: str, snapshot: SnapshotAssertion, tmp_path: Path) -> None:
    events, keys = STATES[state]
    app = still_app(tmp_path, events, hosts=StillHosts(has_keyring=False))
    assert not await seen_from_all_sides(app, pressing(app, keys), snapshot, TWO_SIZES)


def recorded() -> Recorder:
    """A log of a connection that comes about, works and is refused something."""
    recorder = Recorder(StillClock())
    recorder.exchanged("GET", "/api/tokens/self", "200", duration_s=0.018, heard=b'{"owner": true, "scope": "owner"}')
    recorder.exchanged("GET", "/api/version", "200", duration_s=0.004, heard=b'{"version": "v0.2.23"}')
    recorder.socket("/api/stream", "open")
    recorder.frame("/api/stream", '{"type": "sessions", "sessions": [' + '{"id": "5e6f7a8b"},' * 900 + "]}")
    problem = "no answer from http://hq.tailnet:7878: it took too long"
    recorder.exchanged("GET", "/api/sessions/5e6f7a8b/diff", problem, duration_s=30.0, is_fault=True)
    body = {"question_id": "q-1", "answers": {"Which base?": "main"}, "token": "5e" * 32}
    answer = b'{"error": "a different question is open now"}'
    path = "/api/sessions/5e6f7a8b/answer"
    recorder.exchanged("POST", path, "409", duration_s=0.021, sent=body, heard=answer, is_fault=True)
    return recorder


def token(name: str, scope: str, days: float, **limits: Any) -> TokenRecord:
    """A token that was made so many days ago."""
    known: dict[str, Any] = {"orgs": (), "repos": (), "created_at": NOW - days * 86_400, "last_used_at": None, **limits}
    return TokenRecord(id_raw=name, id=f"tok_{name}", name=name, scope=scope, **known)


TOKENS = (
    token("ci", "launch", 40, repos=("acme/widgets",), max_concurrent=3, budget_usd_per_day=5.0, last_used_at=NOW - 60),
    token("phone", "operate", 2),
    token("a dashboard with a long name", "read", 0.01, orgs=("acme", "beta", "a-very-long-organisation")),
)


def token_work(*records: TokenRecord) -> TokenWork:
    """The work of a dialog that only shows."""

    async def read() -> Sequence[TokenRecord]:
        return records

    async def nothing(*_: object) -> None: ...

    return TokenWork(read, nothing, nothing, lambda: NOW, keymap({}).shown)


DIALOGS: dict[str, Callable[[], Screen[None]]] = {
    "wire log": lambda: WireLog(HQ, recorded(), keymap({}).shown),
    "wire log, nothing yet": lambda: WireLog(HQ, Recorder(StillClock()), keymap({}).shown),
    "tokens": lambda: Tokens(HQ, token_work(*TOKENS)),
    "tokens, none": lambda: Tokens(HQ, token_work()),
    "a new token": lambda: ShownOnce("ci", f"col_{'5e' * 32}", keymap({}).shown),
}


@pytest.mark.anyio
@pytest.mark.parametrize("dialog", DIALOGS, ids=lambda name: name.replace(",", "").replace(" ", "-"))
async def test_a_dialog_of_a_host_looks_as_it_did(dialog: str, snapshot: SnapshotAssertion, tmp_path: Path) -> None:
    app = still_app(tmp_path, every_state())

    async def open_it(pilot: Pilot[None]) -> None:
        await until(pilot, lambda: app.deck.view.snapshot is app.cockpit.snapshot)
        opened = DIALOGS[dialog]()
        await app.push_screen(opened)
        if isinstance(opened, WireLog):
            await until(pilot, lambda: opened.is_up_to_date)
        await settled(pilot)

    assert not await seen_from_all_sides(app, open_it, snapshot, TWO_SIZES)
