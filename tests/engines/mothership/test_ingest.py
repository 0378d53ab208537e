"""Whatever an agent says: the engine records it, and nothing else happens to it."""

import json
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as some

from colonizer_engines.lenient_json import encode
from colonizer_engines.mothership.clock import SystemClock
from colonizer_engines.mothership.colony import Colony
from colonizer_engines.mothership.diagnosis import diagnose
from colonizer_engines.mothership.fleet import Fleet
from colonizer_engines.mothership.ingest import RunFacts, absorb
from colonizer_engines.mothership.session import ColonyId, Session
from colonizer_engines.mothership.store import Store
from colonizer_engines.mothership.transcript import page, recent_events, run_summary

ONE = ColonyId("a1b2c3d4")

odd_keys = some.sampled_from(["id", "question", "input_tokens"])
odd = some.one_of(
    some.none(),
    some.booleans(),
    some.integers(),
    some.sampled_from([10**400, -(10**400), float("nan"), float("inf"), "\ud800", "", "x" * 500, "q1", "initial"]),
    some.floats(),
    some.text(),
)
anything = some.recursive(
    odd,
    lambda inner: some.lists(inner, max_size=3) | some.dictionaries(some.text(max_size=5) | odd_keys, inner),
    max_leaves=6,
)
states = some.sampled_from(["working", "idle", "waiting_for_answer", "exited", "error", "resting"]) | anything
ids = some.sampled_from(["q1", "q2", "\ud800"]) | anything
prompts = some.lists(
    some.fixed_dictionaries({}, optional={"question": anything, "header": anything, "options": anything}) | anything,
    max_size=3,
)
FIELDS: dict[str, dict[str, some.SearchStrategy[object]]] = {
    "status": {"state": states, "detail": anything},
    "user_message": {"id": some.sampled_from(["initial", "u-m", "watchdog-1"]) | anything, "text": anything},
    "question": {
        "question_id": ids,
        "questions": prompts | anything,
        "risk": anything,
        "kind": anything,
        "blocking": anything,
    },
    "question_answered": {"question_id": ids, "answers": anything, "response": anything},
    "question_closed": {"question_id": ids},
    "tool_call": {"tool_call_id": ids, "name": anything, "agent": anything},
    "tool_result": {"tool_call_id": ids, "output": anything, "is_error": anything, "agent": anything},
    "turn_end": {"is_error": anything, "cost_usd": anything, "model_usage": anything, "result": anything},
    "agent_session": {"session_id": anything},
    "model_changed": {"model": anything},
    "memory_proposal": {"origin": anything, "title": anything},
    "assistant_text": {"text": anything, "agent": anything, "seq": anything, "ts": anything, "a_seq": anything},
    "odd": {"anything": anything, "origin": anything},
}
events = some.one_of(
    *(some.fixed_dictionaries({"type": some.just(kind)}, optional=dict(fields)) for kind, fields in FIELDS.items())
)


@contextmanager
def fleet() -> Generator[Fleet]:
    with TemporaryDirectory() as folder:
        store = Store.open(Path(folder) / "m.db")
        found = Fleet(store, SystemClock())
        session = Session(
            id=ONE, repo="a/b", org="a", branch="x", worktree="/w", status="running", created_at="x", updated_at="x"
        )
        with found.change() as change:
            change.put(Colony(session=session))
        yield found
        store.close()


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(some.lists(events, max_size=12))
def test_no_event_can_stop_the_engine_or_get_lost(said: list[dict[str, object]]) -> None:
    with fleet() as found:
        facts = RunFacts()
        for event in said:
            with found.change() as change:
                absorb(change, ONE, event, facts)
        colony = found.get(ONE)
        rows = found.store.events_after(ONE, 1, 0, 1000)
        assert [row.seq for row in rows] == list(range(1, len(rows) + 1))
        stored = [json.loads(row.body) for row in rows]
        assert [event["type"] for event in stored if event.get("reason") is None] == [event["type"] for event in said]
        # Whatever was stored can be read again by the next engine, and shown.
        again = Fleet(found.store, SystemClock()).get(ONE)
        assert encode(again) == encode(colony)
        recent = recent_events(found.store, ONE, 1)
        diagnose(colony, found.shown(colony), recent, SystemClock().now(), storage_failing=False)
        encode(run_summary(found.store, ONE, 1))
        encode(page(found.store, ONE, 1, None, 5).facts())
        assert colony.session.status in ("running", "idle", "waiting_for_answer")
