"""Whatever a kernel answers, nothing of it acts on a terminal, and one bad row costs no other."""

from collections.abc import Callable, Iterator
from itertools import product
from typing import Any, cast

import pytest

from client.hostile import ATTACKS, WRONG, drawn_texts, is_shown_safely
from colonizer_client.errors import ClientError, RateLimited, ToolFailed, Unreadable
from colonizer_client.kernel import calls, changes, decode
from colonizer_client.kernel.models import DepositOrder, OutcomeOrder, ProposalOrder, SignalType
from colonizer_client.kernel.replies import Reply, value_of
from colonizer_engines.kernel.kernel import Kernel
from colonizer_engines.kernel.operator_calls import OPERATOR_CALLS, read
from colonizer_engines.kernel.rules import SEED
from colonizer_engines.kernel.tools import call
from colonizer_engines.lenient_json import encode

KEPT = frozenset({"signal_type", "signal_types", "decision", "recommendation", "type", "key", "tick_count"})
"""Words that a reply cannot be read without: an attack in their place makes it unreadable, and no more."""

ORDER = ("ant", "patch_file", "a.b", "the parser drops the last line", "git revert HEAD, then test")


def replies() -> Iterator[tuple[str, Callable[[object], object], Any]]:
    """One filled answer of each tool of a real kernel, and how it is read."""
    kernel = Kernel(SEED)
    wanted: list[calls.Call[Any]] = [
        calls.propose(ProposalOrder(*ORDER)),
        calls.record(OutcomeOrder("ant", "patch_file", "a.b", "done", False, 1.0)),
        calls.tick(),
        calls.profile("ant"),
        calls.query("a.b", SignalType.FAILURE),
        calls.falsify({"action_type": "delete", "target": "a.b"}),
        calls.pruning_report(),
        calls.status(),
        calls.deposit(DepositOrder("a.b", SignalType.NEED, 1.0, evidence={"by": "a person"})),
        calls.matrix(),
        calls.changes_after(0),
        calls.profiles(),
        calls.consequences(),
        calls.protections(("a.b",)),
        calls.calm_down("why not"),
    ]
    for one in wanted:
        kind = OPERATOR_CALLS.get(one.tool)
        value = call(kernel, one.tool, one.arguments) if kind is None else read(kind, one.arguments).value(kernel)
        yield one.tool, one.read, decoded(value)
    candidate = {"module_path": "a.b", "last_used": 1.0, "call_count": 1, "duplicate_of": None, "reason": "old"}
    report = {"candidates": [{**candidate, "confidence": 0.5}], "total_candidates": 1, "generated_at": 2.0}
    yield "colony_pruning_report", decode.pruning_report, report


def decoded(value: object) -> Any:
    return value_of(Reply(text=encode(value).decode()))


REPLIES = tuple(replies())


def spoilt(value: Any, attack: object, *, also_keys: bool, is_kept: bool = False) -> Any:
    """The value with every text of it replaced by an attack."""
    match value:
        case str():
            return value if is_kept else attack
        case dict():
            return {
                (f"{name}{attack}" if also_keys and name not in KEPT else name): spoilt(
                    inner, attack, also_keys=False, is_kept=name in KEPT
                )
                for name, inner in cast("dict[str, object]", value).items()
            }
        case list():
            return [
                spoilt(inner, attack, also_keys=also_keys, is_kept=is_kept) for inner in cast("list[object]", value)
            ]
        case _:
            return value


@pytest.mark.parametrize("attack", ATTACKS)
def test_no_text_of_a_reply_acts_on_a_terminal(attack: str) -> None:
    read = 0
    for _, reader, value in REPLIES:
        found = reader(decoded(spoilt(value, attack, also_keys=False)))
        assert is_shown_safely(found), list(drawn_texts(found))
        read += 1
        for keyed in ("budget_usage", "role_distribution", "evidence", "protections"):
            rows = cast("dict[str, Any]", value if isinstance(value, dict) else {})
            if keyed in rows:
                found = reader(decoded({**rows, keyed: spoilt(rows[keyed], attack, also_keys=True)}))
                assert is_shown_safely(found), list(drawn_texts(found))
    assert read == len(REPLIES)


def test_a_value_of_a_wrong_type_makes_a_reply_unreadable_at_most() -> None:
    for _, reader, value in REPLIES:
        for wrong in WRONG:
            harmless(reader, wrong)
            for at in places(value):
                harmless(reader, replaced(value, at, wrong))


def harmless(reader: Callable[[object], object], value: object) -> None:
    try:
        found = reader(value)
    except Unreadable as problem:
        found = problem
    assert is_shown_safely(found)


def places(value: Any) -> Iterator[tuple[object, ...]]:
    """The way to every value within; of a list to its first one alone."""
    inner: dict[object, Any] = {}
    match value:
        case dict():
            inner = cast("dict[object, Any]", value)
        case [first, *_]:
            inner = {0: first}
        case _:
            pass
    for key, found in inner.items():
        yield (key,)
        yield from ((key, *rest) for rest in places(found))


def replaced(value: Any, at: tuple[object, ...], wrong: object) -> Any:
    if not at:
        return wrong
    copy: Any = value.copy()
    copy[at[0]] = replaced(value[at[0]], at[1:], wrong)
    return copy


def test_one_bad_row_costs_no_other() -> None:
    good = {"key": "a:b:risk", "location": "a", "signal_type": "b:risk", "strength": 2.0, "updated_at": 1.0}
    summary = {"total_signals": 3, "top_signals": [{"key": 5}, {**good, "strength": "much"}, good, "x"]}
    found = decode.status({"tick_count": 3, "pheromone_summary": summary})
    assert [(top.place.raw, top.signal) for top in found.top] == [("a:b", SignalType.RISK)]
    rows = [
        {"type": "ticked", "number": 1, "tick": 1, "at": 1.0},
        {"type": "marked", "number": 2, "tick": 1, "at": 1.0},
    ]
    page = changes.changes({"changes": [*rows, {"type": "of tomorrow", "number": 3}], "last": 3})
    assert [change.number for change in page.changes] == [1, 2, 3]


@pytest.mark.parametrize(("is_error", "attack"), product((True, False), ATTACKS))
def test_an_error_in_whatever_form_is_said_in_safe_words(is_error: bool, attack: str) -> None:
    forms: list[Any] = [
        {"error": attack},
        [{"error": attack}],
        {"result": {"error": attack}},
        {"result": {"result": [{"error": attack}]}},
    ]
    if is_error:
        envelope = {"code": attack, "message": attack, "field_errors": [{"field": attack, "constraint": attack}]}
        forms = [envelope, {"result": envelope}, attack]
    for form in forms:
        for reply in (
            Reply(text=encode(form).decode(), is_error=is_error),
            Reply(structured=form, is_error=is_error),
        ):
            with pytest.raises(ClientError) as caught:
                value_of(reply)
            assert isinstance(caught.value, ToolFailed)
            assert is_shown_safely(caught.value)
    with pytest.raises(RateLimited):
        value_of(Reply(text='{"code": "RATE_LIMITED", "message": "later"}', is_error=True))
