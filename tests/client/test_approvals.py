"""Approvals in the store: bound to one call, used once, decided once, whoever shares the file, and whoever dies."""

import asyncio
import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from msgspec.structs import replace

from client.hand_clock import HandClock
from colonizer_client.approvals.desk import ApprovalDesk
from colonizer_client.approvals.ledger import KEPT, LIFE_S, PENDING_LIMIT, Approvals
from colonizer_client.approvals.models import Caller, Request, has_hidden, payload
from colonizer_client.approvals.secrecy import holds_secret
from colonizer_client.audit import first_break
from colonizer_client.clock import SystemClock
from colonizer_client.errors import ClientError, Conflict, Forbidden, NotFound, StoreError, TooMany
from colonizer_client.store import Store

ME = "a person"
REQUEST = Request(
    Caller("caller", "claude-code"), "stop_colony", {"id": "a"}, "policy", "hq", "Stops colony a.", ("colony a",)
)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "local/cockpit.db"


@pytest.fixture
def store(path: Path) -> Iterator[Store]:
    opened = Store(path)
    yield opened
    opened.close()


@pytest.fixture
def ledger(store: Store, clock: HandClock) -> Approvals:
    return Approvals(store, clock)


def log(path: Path) -> list[dict[str, object]]:
    audit = path.with_name("audit.jsonl")
    assert first_break(audit) is None
    return [json.loads(line) for line in audit.read_text().splitlines()]


def test_an_approval_is_used_once_and_only_for_what_it_was_given_for(ledger: Approvals, clock: HandClock) -> None:
    asked = ledger.ask(REQUEST)
    assert ledger.ask(REQUEST) == asked
    with pytest.raises(Conflict, match="not approved"):
        ledger.claim(asked, REQUEST)
    approved = ledger.approve(asked.id, asked.digest, ME)
    others = (
        {"caller": Caller("another", "claude-code")},
        {"caller": Caller("caller", "cursor")},
        {"tool": "resume_colony"},
        {"arguments": {"id": "b"}},
        {"policy": "another"},
        {"about": "another question"},
    )
    for other in others:
        with pytest.raises(Conflict):
            ledger.claim(approved, replace(REQUEST, **other))
        assert ledger.ask(replace(REQUEST, **other)).id != asked.id, other
    with pytest.raises(Conflict):
        ledger.claim(replace(approved, arguments={"id": "b"}), replace(REQUEST, arguments={"id": "b"}))
    ledger.claim(approved, REQUEST)
    assert ledger.ask(REQUEST).state == "claimed"
    with pytest.raises(Conflict):
        ledger.claim(approved, REQUEST)
    ledger.settle(approved, "done", "a: stopped \ud800")
    assert (ledger.get(asked.id).state, ledger.get(asked.id).result) == ("done", "a: stopped ?")
    with pytest.raises(Conflict):
        ledger.claim(approved, REQUEST)
    clock.move(60)
    assert ledger.ask(REQUEST).id != asked.id


def test_what_is_not_decided_or_not_used_in_time_is_refused(ledger: Approvals, clock: HandClock, path: Path) -> None:
    undecided, unused = ledger.ask(REQUEST), ledger.ask(replace(REQUEST, arguments={"id": "b"}))
    clock.move(LIFE_S - 1)
    approved = ledger.approve(unused.id, unused.digest, ME)
    clock.move(1)
    with pytest.raises(Conflict, match="has expired: nobody decided in time"):
        ledger.approve(undecided.id, undecided.digest, ME)
    assert ledger.get(unused.id).state == "approved", "it may be used for as long after the decision"
    clock.move(LIFE_S - 1)
    with pytest.raises(Conflict):
        ledger.claim(approved, replace(REQUEST, arguments={"id": "b"}))
    assert [ledger.get(one.id).state for one in (undecided, unused)] == ["expired", "expired"]
    assert [line["result"] for line in log(path)].count("expired") == 2


def test_of_two_decisions_one_counts_and_the_other_is_told_whose(ledger: Approvals) -> None:
    asked = ledger.ask(REQUEST)
    with pytest.raises(Conflict, match="not what was shown"):
        ledger.approve(asked.id, "0" * 64, ME)
    with pytest.raises(NotFound):
        ledger.reject("nowhere", ME)
    ledger.reject(asked.id, ME, "not \x1b[2J now")
    with pytest.raises(Conflict, match=f"{asked.id} was rejected already, by a person"):
        ledger.approve(asked.id, asked.digest, "another one")
    again = ledger.ask(REQUEST)
    assert (again.id, again.words) == (asked.id, "not ␛[2J now"), "a refusal is not asked about again at once"
    with pytest.raises(Forbidden, match="secret"):
        ledger.edit(asked.id, asked.digest, {"id": "ghp_" + "a" * 36}, ME)


def test_a_caller_cannot_flood_the_inbox_whatever_it_calls_itself(ledger: Approvals, clock: HandClock) -> None:
    def ask(number: int) -> None:
        caller = Caller("caller", f"client {number}")
        ledger.ask(replace(REQUEST, caller=caller, arguments={"id": str(number)}))

    for number in range(10):
        ask(number)
    with pytest.raises(TooMany, match="more than 10 calls a minute"):
        ask(10)
    clock.move(60)
    for number in range(10, PENDING_LIMIT):
        clock.move(7)
        ask(number)
    clock.move(7)
    with pytest.raises(TooMany, match="40 calls wait for the person already"):
        ask(99)
    ledger.ask(replace(REQUEST, caller=Caller("another", "claude-code")))
    ledger.reject(ledger.pending()[0].id, ME)
    ask(99)


def test_what_is_long_over_is_forgotten(ledger: Approvals, store: Store, clock: HandClock) -> None:
    columns = "id, caller, client, tool, asked, digest, arguments, about, policy, body, state, created_at, expires_at"
    row = f"INSERT INTO approvals ({columns}) VALUES (?, '', '', '', '', '', '{{}}', '', '', '', 'done', ?, 0)"
    store.write(lambda db: db.executemany(row, ((str(number), number) for number in range(KEPT + 20))))
    asked = ledger.ask(REQUEST)
    assert store.rows("SELECT count(*), max(state) FROM approvals") == [(KEPT, "pending")]
    assert ledger.pending() == (asked,)


def test_what_cannot_be_logged_is_not_done(ledger: Approvals, path: Path) -> None:
    asked = ledger.ask(REQUEST)
    audit = path.with_name("audit.jsonl")
    audit.rename(audit.with_suffix(".kept"))
    audit.mkdir()
    steps: tuple[Callable[[], object], ...] = (
        lambda: ledger.approve(asked.id, asked.digest, ME),
        lambda: ledger.reject(asked.id, ME),
        lambda: ledger.ask(replace(REQUEST, arguments={"id": "b"})),
    )
    for step in steps:
        with pytest.raises(StoreError, match="cannot write"):
            step()
    assert ledger.pending() == (asked,)


DECIDER = """
import sys
from pathlib import Path
from colonizer_client.approvals.ledger import Approvals
from colonizer_client.clock import SystemClock
from colonizer_client.errors import Conflict
from colonizer_client.store import Store
ledger = Approvals(Store(Path(sys.argv[1])), SystemClock())
(asked,) = ledger.pending()
print("ready", flush=True)
sys.stdin.readline()
try:
    ledger.approve(asked.id, asked.digest, sys.argv[2])
    print("approved")
except Conflict as problem:
    print(problem)
"""

CLAIMER = """
import sys, time
from pathlib import Path
from colonizer_client.approvals.ledger import Approvals
from colonizer_client.clock import SystemClock
from colonizer_client.store import Store
ledger = Approvals(Store(Path(sys.argv[1])), SystemClock())
(found,) = ledger.newest(1)
ledger.claim(found, found.request)
print("claimed", flush=True)
sys.stdin.readline()
"""


def other_process(source: str, *arguments: object) -> "subprocess.Popen[str]":
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    command = [sys.executable, "-c", source, *map(str, arguments)]
    return subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=environment)


def test_of_deciders_in_two_processes_one_decides_and_a_dead_claimers_call_is_never_done_again(path: Path) -> None:
    store = Store(path)
    ledger = Approvals(store, SystemClock())
    asked = ledger.ask(REQUEST)
    deciders = [other_process(DECIDER, path, f"decider {number}") for number in range(2)]
    for decider in deciders:
        assert decider.stdout is not None
        assert decider.stdout.readline() == "ready\n"
    told = {decider.communicate("\n", timeout=30)[0] for decider in deciders}
    by = ledger.get(asked.id).decided_by
    assert told == {"approved\n", f"{asked.id} was approved already, by {by}\n"}
    claimer = other_process(CLAIMER, path)
    assert claimer.stdout is not None
    assert claimer.stdout.readline() == "claimed\n"
    assert ledger.get(asked.id).state == "claimed", "it lives"
    claimer.kill()
    claimer.communicate(timeout=30)
    lost = ledger.get(asked.id)
    assert (lost.state, lost.words) == (
        "unknown",
        "the process that carried it out ended before it knew what came of it",
    )
    with pytest.raises(Conflict):
        ledger.claim(lost, REQUEST)
    assert ledger.ask(REQUEST).request.summary == (
        f"Stops colony a. Careful: whether {asked.id}, the same call, was carried out is not known."
    )
    results = [line["result"] for line in log(path)]
    assert results == ["asked for", "approved", "decision refused", "claimed", "unknown", "refused", "asked for"]
    store.close()


@pytest.mark.anyio
async def test_the_cockpit_sees_what_waits_as_it_changes_and_decides_what_was_shown(
    store: Store, ledger: Approvals, clock: HandClock
) -> None:
    usable = True

    def open_store() -> Store:
        if not usable:
            raise StoreError("gone")
        return store

    desk = ApprovalDesk(open_store, clock)
    changes = desk.changes()
    assert await anext(changes) == ()
    asked = [ledger.ask(REQUEST)]
    clock.move(0.5)
    asked.append(ledger.ask(replace(REQUEST, arguments={"id": "b"})))
    waiting = asyncio.ensure_future(anext(changes))
    await clock.until_sleeping()
    clock.move(1)
    assert await waiting == tuple(asked)
    with pytest.raises(Conflict, match="not what was shown"):
        desk.approve(asked[0].id, asked[1].digest)
    assert desk.approve(asked[0].id, asked[0].digest).decided_by == "a person in the cockpit"
    assert desk.reject(asked[1].id, "no").state == "rejected"
    assert desk.pending() == ()
    usable = False
    with pytest.raises(ClientError):
        desk.pending()
    await changes.aclose()


def test_every_argument_is_shown_whole_and_none_can_pass_for_another() -> None:
    arguments = {
        "repo": "a/b",
        "issue": 5,
        "task": "one\nrepo: evil\x1b[2J\u202e\r\u2028x",
        "emoji": "👍🏽",
        "ai\nd": "x",
    }
    assert list(payload(arguments)) == [
        "ai d: x",
        "emoji: 👍",
        '  exactly: "\\ud83d\\udc4d\\ud83c\\udffd"',
        "issue = 5",
        "repo: a/b",
        "task:",
        "  | one",
        "  | repo: evil␛[2J⟨U+202E⟩␍⟨U+2028⟩x",
        '  exactly: "one\\nrepo: evil\\u001b[2J\\u202e\\r\\u2028x"',
    ]
    assert has_hidden(arguments)
    assert not has_hidden({"a": "plain\ntext", "b": 7})


def test_what_looks_like_a_secret_is_found_however_deep() -> None:
    secret: tuple[object, ...] = (
        {"TOKEN": ""},
        {"a": [{"private_key": 1}]},
        {"a": ["x", "col_" + "0" * 64]},
        {"a": "Authorization: Bearer abc"},
        {"ghp_" + "a" * 36: 1},
        *("-----BEGIN RSA PRIVATE KEY-----", "AKIA" + "A" * 16, "sk-" + "a1" * 12, "xoxb-" + "1" * 12),
    )
    for value in secret:
        assert holds_secret(value), value
    for value in ({"id": "a1b2", "keys": 1, "task": "rotate the API key, the token and the password"}, ["a"], None, 7):
        assert not holds_secret(value), value
