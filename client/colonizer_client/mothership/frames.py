"""The frames of a colony's log (spec 3.3), and the events that they carry (spec 4).

An event of a type that we do not know is no event to us, as the specification asks.
"""

import json
from collections.abc import Callable, Mapping
from typing import TypeAlias

from colonizer_client.errors import Unreadable
from colonizer_client.identity import EndpointName, QuestionId
from colonizer_client.mothership import decode, wire
from colonizer_client.mothership.events import (
    RUNNER_STATES,
    Answered,
    Asked,
    BlockKey,
    Event,
    Noted,
    QuestionClosed,
    Speaker,
    Stamp,
    StateChanged,
    TextDelta,
    TextFinal,
    Thought,
    ToolCalled,
    ToolReturned,
    TurnEnded,
    UserSaid,
)
from colonizer_client.mothership.models import Colony
from colonizer_config.value import Value

Fields: TypeAlias = Mapping[str, object]


class RunEpoch(Value):
    """The number of the colony's current run."""

    epoch: int


class SessionFrame(Value):
    """The colony as it is now."""

    colony: Colony


class Hosted(Value):
    """A line of the mothership's own log of the colony; it has no number and comes again at each connection."""

    note: Noted


class Numbered(Value):
    """An event of the log with its number. `event` is None for a type that we do not draw."""

    seq: int
    at: float | None
    event: Event | None


class History(Value):
    """What lies before the newest page (spec 3.3): where the next older page starts, if there is one."""

    has_more: bool
    oldest_seq: int
    epoch: int
    offset: int


class ReplayDone(Value):
    """What follows is live. `seq` is the highest number sent, or the cursor that was asked for."""

    seq: int


Reader: TypeAlias = Callable[[Stamp, Fields], Event | None]
"""Makes an event of a frame of one type; None where its content means nothing to us."""

Frame: TypeAlias = RunEpoch | SessionFrame | Hosted | Numbered | History | ReplayDone


def frame(endpoint: EndpointName, text: str | bytes) -> Frame | None:
    """The frame of one socket message, None for one that means nothing to us.

    Raises:
        Unreadable: It is no JSON object.
    """
    fields = wire.maybe_mapping(wire.parse(text.encode("utf-8", "surrogatepass") if isinstance(text, str) else text))
    if fields is None:
        raise Unreadable("a frame that is no JSON object")
    match fields.get("type"):
        case "run_epoch":
            return RunEpoch(wire.integer(fields.get("epoch")) or 1)
        case "session":
            return SessionFrame(decode.colony(endpoint, fields.get("session")))
        case "harness_log":
            return Hosted(_host_log(_stamp(fields), fields))
        case "history":
            return history(fields)
        case "replay_done":
            return ReplayDone(wire.integer(fields.get("seq")) or 0)
        case _:
            return numbered(fields)


def numbered(fields: Fields) -> Numbered | None:
    """The numbered event of a parsed frame, None where it has no number."""
    seq = wire.integer(fields.get("seq"))
    if seq is None:
        return None
    kind = fields.get("type")
    stamp = _stamp(fields)
    reader = _READERS.get(kind) if isinstance(kind, str) else None
    if reader is None:
        return Numbered(seq, stamp.at, None)
    try:
        return Numbered(seq, stamp.at, reader(stamp, fields))
    except Unreadable as problem:
        note = Noted(stamp, "unreadable", "warn", f"an unreadable {kind} event: {problem}")
        return Numbered(seq, stamp.at, note)


def history(fields: Fields) -> History:
    """Where a page of the log starts, from a `history` frame or a reply of the paged log."""
    return History(
        has_more=wire.flag(fields.get("has_more")),
        oldest_seq=wire.integer(fields.get("oldest_seq")) or 0,
        epoch=wire.integer(fields.get("epoch")) or 1,
        offset=wire.integer(fields.get("offset")) or 0,
    )


def _stamp(fields: Fields) -> Stamp:
    agent = wire.maybe_mapping(fields.get("agent"))
    settler = None
    if agent is not None and isinstance(agent.get("id"), str):
        name = wire.line(agent.get("name") or agent.get("type"), 100)
        settler = Speaker(wire.raw(agent["id"]), name or "settler", wire.line(agent.get("description"), 300))
    return Stamp(
        seq=wire.integer(fields.get("seq")),
        at=wire.moment(fields.get("ts")),
        origin=wire.word(fields.get("origin")),
        settler=settler,
    )


def _block(fields: Fields) -> BlockKey:
    return wire.raw(fields.get("message_id")), wire.integer(fields.get("block_index")) or 0


def _state(stamp: Stamp, fields: Fields) -> Event | None:
    state = wire.word(fields.get("state"))
    return StateChanged(stamp, state, wire.line(fields.get("detail"))) if state in RUNNER_STATES else None


def _user_said(stamp: Stamp, fields: Fields) -> Event:
    return UserSaid(stamp, wire.raw(fields.get("id")), wire.text(fields.get("text")))


def _delta(stamp: Stamp, fields: Fields) -> Event:
    return TextDelta(stamp, _block(fields), wire.text(fields.get("delta")))


def _final(stamp: Stamp, fields: Fields) -> Event:
    return TextFinal(stamp, _block(fields), wire.text(fields.get("text")))


def _thought(stamp: Stamp, fields: Fields) -> Event:
    return Thought(stamp, _block(fields), wire.text(fields.get("text")))


_MAIN_ARGUMENTS = ("command", "file_path", "path", "pattern", "url", "query", "description", "prompt")


def _tool_called(stamp: Stamp, fields: Fields) -> Event:
    given = wire.mapping(fields.get("input"))
    main = next((given[name] for name in _MAIN_ARGUMENTS if isinstance(given.get(name), str)), None)
    if main is None:
        main = next((value for value in given.values() if isinstance(value, str)), "")
    return ToolCalled(
        stamp,
        call_id=wire.raw(fields.get("tool_call_id")),
        name=wire.line(fields.get("name"), 100) or "tool",
        argument=wire.line(main, 500),
        input=wire.text(_shown_json(given)) if given else "",
    )


def _tool_returned(stamp: Stamp, fields: Fields) -> Event:
    output = fields.get("output")
    denial = wire.mapping(fields.get("denial"))
    denied = ": ".join(filter(None, (wire.line(denial.get("class"), 100), wire.line(denial.get("hint"), 500))))
    return ToolReturned(
        stamp,
        call_id=wire.raw(fields.get("tool_call_id")),
        output=wire.text(output) if isinstance(output, str) or output is None else wire.text(_shown_json(output)),
        is_error=wire.flag(fields.get("is_error")),
        denial=denied,
    )


def _asked(stamp: Stamp, fields: Fields) -> Event:
    return Asked(stamp, decode.asked(decode.open_question(fields), stamp.at))


def _answered(stamp: Stamp, fields: Fields) -> Event:
    answers = wire.mapping(fields.get("answers"))
    return Answered(
        stamp,
        QuestionId(wire.raw(fields.get("question_id"))),
        tuple((wire.line(text), _shown_answer(value)) for text, value in answers.items()),
        wire.text(fields.get("response"), 20_000),
    )


def _closed(stamp: Stamp, fields: Fields) -> Event:
    return QuestionClosed(
        stamp, QuestionId(wire.raw(fields.get("question_id"))), wire.word(fields.get("reason")).replace("_", " ")
    )


def _turn_ended(stamp: Stamp, fields: Fields) -> Event:
    duration_ms = wire.number(fields.get("duration_ms"))
    return TurnEnded(
        stamp,
        is_error=wire.flag(fields.get("is_error")),
        result=wire.text(fields.get("result"), 20_000),
        run_cost_usd=wire.number(fields.get("cost_usd")),
        duration_s=None if duration_ms is None else duration_ms / 1000,
        models=tuple(wire.line(name, 100) for name in wire.mapping(fields.get("model_usage"))),
    )


def _host_log(stamp: Stamp, fields: Fields) -> Noted:
    level = wire.word(fields.get("level"))
    return Noted(
        stamp, "log", level if level in ("debug", "warn", "error") else "info", wire.line(fields.get("message"))
    )


def _model_changed(stamp: Stamp, fields: Fields) -> Event:
    previous = wire.line(fields.get("previous"), 100)
    model = wire.line(fields.get("model"), 100)
    return Noted(stamp, "model", "info", f"model {previous} → {model}" if previous else f"model {model}")


def _boundary(stamp: Stamp, fields: Fields) -> Event:
    kind = wire.word(fields.get("kind")).replace("_", " ")
    return Noted(stamp, "boundary", "warn", f"refused ({kind}): {wire.line(fields.get('detail'))}")


def _watchdog_turn_end(stamp: Stamp, fields: Fields) -> Event:
    after = wire.integer(fields.get("after_secs"))
    waited = "" if after is None else f", after {after} s"
    return Noted(stamp, "watchdog", "info", f"the watchdog closed a turn that never ended{waited}")


def _path_policy(stamp: Stamp, fields: Fields) -> Event:
    text = f"{wire.word(fields.get('policy'))} path: {wire.word(fields.get('access'))} {wire.line(fields.get('path'))}"
    return Noted(stamp, "path policy", "info", text)


def _card(words: str, title: str, *body: str, level: str = "info") -> Reader:
    """A reader for an event that is drawn as one line and unfolds to some of its fields."""

    def read(stamp: Stamp, fields: Fields) -> Event:
        given = map(fields.get, body)
        unfolded = "\n\n".join(filter(None, (wire.text(value, 20_000) or wire.shown(value) for value in given)))
        what = wire.shown(fields.get(title), 300)
        return Noted(stamp, words, level, f"{words}: {what}" if what else words, unfolded)

    return read


_READERS: Mapping[str, Reader] = {
    "status": _state,
    "user_message": _user_said,
    "assistant_text_delta": _delta,
    "assistant_text": _final,
    "thinking": _thought,
    "tool_call": _tool_called,
    "tool_result": _tool_returned,
    "question": _asked,
    "question_answered": _answered,
    "question_closed": _closed,
    "turn_end": _turn_ended,
    "log": _host_log,
    "model_changed": _model_changed,
    "memory_proposal": _card("proposed a memory note", "title", "content"),
    "vault_proposal": _card("proposed a vault note", "title", "reason", "body"),
    "finding": _card("reported a finding", "title", "body", "evidence"),
    "path_policy": _path_policy,
    "boundary": _boundary,
    "github_action": _card("asked the host to", "tool", "reason", "body"),
    "loop_next": _card("asks to run again", "reason"),
    "loop_stop": _card("asks to end its loop", "reason"),
    "verification": _card("verification", "verdict", "summary"),
    "screening": _card("screening", "outcome"),
    "promptdecode": _card("hidden characters in the prompt", "outcome", level="warn"),
    "watchdog_turn_end": _watchdog_turn_end,
    "validated": _card("finding confirmed", "title"),
    "rejected": _card("finding rejected", "title", "reason"),
    "fix_colony": _card("a colony fixes it", "title", "issue"),
    "review": _card("review", "title", "verdict"),
    "merged": _card("merged", "title", "pr"),
}


def _shown_answer(value: object) -> str:
    if isinstance(value, str):
        return wire.line(value)
    if several := wire.words(value, wire.LINE_LIMIT):
        return ", ".join(several)
    return "" if value is None else wire.line(_shown_json(value))


def _shown_json(value: object) -> str:
    return json.dumps(value, indent=2, ensure_ascii=False, default=str)
