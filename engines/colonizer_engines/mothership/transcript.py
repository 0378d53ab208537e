"""Reading a colony's log: its last events in short, pages of it, and the summary of a run (spec 1.6, 3.3)."""

import unicodedata
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import cast

from colonizer_engines.mothership.session import ColonyId
from colonizer_engines.mothership.store import EventRow, Store
from colonizer_engines.mothership.wire import as_array, as_object, decode_object

RECENT_EVENTS = 20
SUMMARY_LIMIT = 200
"""Characters of one event's summary."""

_RECENT_BYTES = 64 * 1024
_RECENT_ROWS = 400
_LONGEST_PAGE = 4
"""A page that is extended to the start of its turn has at most this many times the events asked for."""
_SILENT = frozenset({"assistant_text_delta", "thinking"})
_END = 1 << 62


@dataclass(frozen=True, slots=True)
class Page:
    """A piece of the log, oldest event first; it may run over from one run into the next."""

    rows: tuple[EventRow, ...]
    has_more: bool
    """Whether older events are stored."""
    epoch: int
    """The run of the oldest event."""
    baseline_usage: object
    """The model usage before the page, in the run of its oldest event."""

    @property
    def oldest_seq(self) -> int | None:
        """The number of the oldest event."""
        return self.rows[0].seq if self.rows else None

    def facts(self) -> dict[str, object]:
        """What the wire says of a page besides its events."""
        oldest = self.oldest_seq
        return {
            "has_more": self.has_more,
            "oldest_seq": oldest,
            "epoch": self.epoch,
            "offset": 0 if oldest is None else oldest - 1,
            "baseline_usage": self.baseline_usage,
        }


def recent_events(store: Store, colony: ColonyId, epoch: int) -> list[dict[str, object]]:
    """The last things of the run that say something, oldest first (spec 1.6)."""
    shown: list[dict[str, object]] = []
    for row in store.events_before(colony, epoch, _END, _RECENT_ROWS, _RECENT_BYTES):
        if row.type in _SILENT:
            continue
        if len(shown) == RECENT_EVENTS:
            break
        event = decode_object(row.body)
        shown.append({"seq": row.seq, "ts": event.get("ts"), "type": row.type, "summary": summary(event)})
    return shown[::-1]


def summary(event: Mapping[str, object]) -> str:
    """One line that says what the event is about."""
    kind = event.get("type")
    found: object
    if kind in ("assistant_text", "user_message"):
        found = event.get("text")
    elif kind == "status":
        found = event.get("state")
    elif kind == "tool_call":
        found = event.get("name")
    elif kind == "tool_result":
        found = event.get("output")
    elif kind == "question":
        found = question_words(event.get("questions"))
    elif kind == "turn_end":
        found = event.get("result") or "ok"
    else:
        keys = ("text", "message", "state", "name", "result", "title")
        found = next((event[key] for key in keys if isinstance(event.get(key), str) and event[key]), None)
    text = str(found if isinstance(found, str) and found else kind)
    words = one_line(text)
    return words if len(words) <= SUMMARY_LIMIT else words[:SUMMARY_LIMIT] + "…"


def one_line(text: str) -> str:
    """The text without line ends and control characters."""
    return " ".join("".join(" " if unicodedata.category(letter) == "Cc" else letter for letter in text).split())


def question_words(prompts: object) -> str:
    """The texts of the prompts, or their headers, as one line."""
    found = [prompt for prompt in map(as_object, as_array(prompts) or ()) if prompt is not None]
    return one_line("; ".join(str(prompt.get("question") or prompt.get("header") or "") for prompt in found))


def page(store: Store, colony: ColonyId, epoch: int, before: int | None, limit: int, *, one_run: bool = False) -> Page:
    """The `limit` events before number `before` of the run `epoch`, and more so as to begin with a turn.

    Args:
        store: Where the log is.
        colony: Whose log.
        epoch: The run to begin in; earlier ones follow.
        before: The number to stay below; None is the end of the run.
        limit: How many events are asked for.
        one_run: Whether the page stays in this run.
    """
    rows = store.events_before(colony, epoch, _END if before is None else before, limit)
    oldest_epoch = epoch
    while len(rows) < limit and oldest_epoch > 1 and not one_run:
        oldest_epoch -= 1
        rows += store.events_before(colony, oldest_epoch, _END, limit - len(rows))
    while rows and rows[-1].type != "user_message" and len(rows) < limit * _LONGEST_PAGE:
        more = store.events_before(colony, rows[-1].epoch, rows[-1].seq, min(limit, limit * _LONGEST_PAGE - len(rows)))
        if not more:
            break
        start = next((place for place, row in enumerate(more) if row.type == "user_message"), len(more) - 1)
        rows += more[: start + 1]
    if not rows:
        return Page((), has_more=False, epoch=epoch, baseline_usage=None)
    oldest = rows[-1]
    earlier = bool(store.events_before(colony, oldest.epoch, oldest.seq, 1)) or any(
        store.last_seq(colony, number) for number in range(1, oldest.epoch)
    )
    return Page(tuple(rows[::-1]), earlier, oldest.epoch, _usage_before(store, oldest))


def run_summary(store: Store, colony: ColonyId, epoch: int) -> dict[str, object]:
    """What the whole run amounts to so far: the `summary` of the history frame (spec 3.3)."""
    last_seq = store.last_seq(colony, epoch)
    turn = _last(store, colony, epoch, "turn_end")
    brief = next(
        (
            event
            for row in store.events_of_type(colony, epoch, "user_message")
            if (event := decode_object(row.body)).get("id") == "initial"
        ),
        None,
    )
    status = _last(store, colony, epoch, "status")
    return {
        "last_seq": last_seq,
        "events": last_seq,
        "turns": store.count_events(colony, epoch, "turn_end"),
        "cost_usd": None if turn is None else turn.get("cost_usd"),
        "brief": brief,
        "model": (_last(store, colony, epoch, "model_changed") or {}).get("model"),
        "agent_state": None if status is None else {"state": status.get("state"), "detail": status.get("detail")},
        "settlers": _settlers(store.settler_events(colony, epoch)),
    }


def _settlers(rows: Iterable[EventRow]) -> list[dict[str, object]]:
    settlers: dict[str, dict[str, object]] = {}
    for row in rows:
        event = decode_object(row.body)
        agent = as_object(event.get("agent")) or {}
        name, description = agent.get("name"), agent.get("description")
        fresh = {
            "id": row.settler,
            "name": name,
            "description": description,
            "steps": 0,
            "errors": 0,
            "last_tool": None,
        }
        settler = settlers.setdefault(row.settler or "", fresh)
        if row.type == "tool_call":
            settler["steps"] = cast("int", settler["steps"]) + 1
            settler["last_tool"] = event.get("name")
        elif row.type == "tool_result" and event.get("is_error") is True:
            settler["errors"] = cast("int", settler["errors"]) + 1
    return list(settlers.values())


def _usage_before(store: Store, oldest: EventRow) -> object:
    turn = store.last_event(oldest.colony, oldest.epoch, "turn_end", oldest.seq)
    return None if turn is None else decode_object(turn.body).get("model_usage")


def _last(store: Store, colony: ColonyId, epoch: int, kind: str) -> dict[str, object] | None:
    row = store.last_event(colony, epoch, kind, _END)
    return None if row is None else decode_object(row.body)
