"""A status that explains itself: the `diagnosis` of GET one Session (spec 1.6)."""

from collections.abc import Mapping, Sequence
from datetime import datetime

from colonizer_engines.mothership.clock import parse_rfc3339
from colonizer_engines.mothership.colony import Colony
from colonizer_engines.mothership.session import Session
from colonizer_engines.mothership.transcript import question_words

STUCK_AFTER_S = 15 * 60


def diagnose(
    colony: Colony, session: Session, recent: Sequence[Mapping[str, object]], now: datetime, storage_failing: bool
) -> dict[str, str] | None:
    """State and text, or None for a colony of which there is nothing to explain.

    Args:
        colony: The colony.
        session: Its Session as shown now.
        recent: Its last events in short, oldest first.
        now: The time.
        storage_failing: Whether nothing can be written down, so that agents are made to wait.
    """
    if session.status == "queued":
        return {"state": "queued", "text": _queued(session)}
    if not session.live:
        return None
    if storage_failing:
        return {"state": "stuck", "text": "paused: the disk is full, and what the agent says cannot be stored"}
    if session.status == "starting":
        return {"state": "booting", "text": _booting(session, now)}
    if session.status == "waiting_for_answer":
        asked = "" if colony.question is None else question_words(list(colony.question.questions))
        return {
            "state": "waiting_on_human",
            "text": f"waiting for an answer: {asked}" if asked else "waiting for an answer",
        }
    if session.status == "idle":
        held = session.attention is not None and session.attention.get("reason") == "autopilot_held"
        text = f"{'autopilot held' if held else 'idle'}, waiting for the next message"
        return {"state": "waiting_on_human", "text": text}
    return _working(session, recent, now)


def duration(seconds: float) -> str:
    """The span in the words of the wire: `45s`, `12m`, `3h 5m`, `2d 4h`."""
    whole = max(0, int(seconds))
    if whole < 60:
        return f"{whole}s"
    minutes, hours, days = whole // 60, whole // 3600, whole // 86400
    if minutes < 60:
        return f"{minutes}m"
    if hours < 24:
        return f"{hours}h {minutes % 60}m" if minutes % 60 else f"{hours}h"
    return f"{days}d {hours % 24}h" if hours % 24 else f"{days}d"


def _queued(session: Session) -> str:
    return f"queued: {session.blocked_reason}" if session.blocked_reason else "queued, waiting for a free slot"


def _booting(session: Session, now: datetime) -> str:
    since = session.boot_attempt_started_at or now.timestamp()
    spent = now.timestamp() - since
    phases = session.boot_timing.phases if session.boot_timing else ()
    if not phases:
        return f"booting for {duration(spent)}; first phase running"
    running = duration(spent - sum(phase.ms for phase in phases) / 1000)
    return f"booting for {duration(spent)}; {phases[-1].name} done, next phase running {running}"


def _working(session: Session, recent: Sequence[Mapping[str, object]], now: datetime) -> dict[str, str]:
    last = parse_rfc3339(session.last_activity_at or session.updated_at) or now
    silent = (now - last).total_seconds()
    if silent < STUCK_AFTER_S:
        return {"state": "working", "text": f"working (last activity {duration(silent)} ago)"}
    event = f"last event: {recent[-1]['type']}: {recent[-1]['summary']}" if recent else "no events yet"
    return {"state": "stuck", "text": f"no activity for {duration(silent)}; {event}"}
