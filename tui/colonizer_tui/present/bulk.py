"""What is done to many colonies at once: what can be done to which of them, and how far it is."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum, auto

from colonizer_client.identity import ColonyKey
from colonizer_client.mothership.models import Colony
from colonizer_config.value import Value
from colonizer_tui.present import abilities
from colonizer_tui.present.line import EMPTY, Line, Span, wrap
from colonizer_tui.present.states import Glyphs
from colonizer_tui.present.view import View
from colonizer_tui.present.words import count


class Deed(Value):
    """Something that can be done to many colonies. An answer is given to one question only, and is none."""

    action: str
    verb: str
    doing: str
    done: str
    stays: str
    """What is kept, or what comes of it, in a sentence."""
    is_danger: bool = False


DEEDS: Mapping[str, Deed] = {
    deed.action: deed
    for deed in (
        Deed("stop", "stop", "stopping", "stopped", "Worktrees and branches are kept; they can be resumed."),
        Deed("resume", "resume", "resuming", "resumed", "Their next runs start, or wait in the queue."),
        Deed("keep", "keep", "keeping", "kept", "Kept, they can be resumed; nothing starts by itself."),
        Deed("clean_up", "clean up", "cleaning up", "cleaned up", "The files in their out folders are lost too.", True),
    )
}
"""By the action whose key does it."""


class Stage(Enum):
    """How far it is."""

    READING = auto()
    """What would be lost is looked for; no yes counts yet."""
    ASKING = auto()
    DOING = auto()
    ENDING = auto()
    """The person called it off: what is under way ends, nothing more begins."""
    DONE = auto()


class Fate(Enum):
    """How it went with one colony."""

    WAITING = auto()
    UNDERWAY = auto()
    DONE = auto()
    FAILED = auto()


@dataclass(slots=True)
class Item:
    """One colony of many."""

    colony: Colony
    losses: Sequence[str] = ()
    """What would be lost, in sentences."""
    fate: Fate = Fate.WAITING
    error: str = ""


@dataclass(slots=True)
class Plan:
    """What is to be done to which colonies, and to which not."""

    deed: Deed
    items: Sequence[Item]
    left_out: Sequence[tuple[Colony, str]] = ()
    """With the reason of each."""
    stage: Stage = field(default=Stage.ASKING)

    def with_fate(self, fate: Fate) -> Sequence[Item]:
        """Those with which it went so."""
        return [item for item in self.items if item.fate is fate]

    @property
    def done(self) -> frozenset[ColonyKey]:
        """What it was done to."""
        return frozenset(item.colony.key for item in self.with_fate(Fate.DONE))


def plan(action: str, colonies: Sequence[Colony], view: View) -> Plan:
    """What an action can be done to now."""
    reasons = [(colony, _refusal(action, colony, view)) for colony in colonies]
    items = [Item(colony, _losses(action, colony, view)) for colony, reason in reasons if not reason]
    return Plan(DEEDS[action], items, [(colony, reason) for colony, reason in reasons if reason])


def why_not(action: str, colonies: Sequence[Colony], view: View) -> str:
    """Why an action can be done to none of the colonies; empty where it can to one."""
    reasons = [_refusal(action, colony, view) for colony in colonies]
    return f"none of those that are marked: {reasons[0]}" if reasons and all(reasons) else ""


def count_of(action: str, colonies: Sequence[Colony], view: View) -> int:
    """To how many of the colonies an action can be done."""
    return sum(not _refusal(action, colony, view) for colony in colonies)


def title(plan: Plan) -> str:
    """What is asked, is going on, or came of it."""
    deed, many = plan.deed, count(len(plan.items), "colony", "colonies")
    if not plan.items:
        return f"There is nothing to {deed.verb}"
    ended = len(plan.with_fate(Fate.DONE)) + len(plan.with_fate(Fate.FAILED))
    match plan.stage:
        case Stage.READING | Stage.ASKING:
            return f"{deed.verb.capitalize()} {many}?"
        case Stage.DOING:
            return f"{deed.doing.capitalize()} {many}: {ended:,} of {len(plan.items):,}"
        case Stage.ENDING:
            return f"Called off: {ended:,} of {len(plan.items):,}, waiting for what is under way"
        case Stage.DONE:
            told = ", ".join(_results(plan))
            return told[:1].upper() + told[1:]


def lines(plan: Plan, width: int, glyphs: Glyphs) -> list[Line]:
    """Each colony with what would be lost, or with how it went; then those that are left out."""
    shown: list[Line] = []
    for item in plan.items:
        shown += _named(item.colony, _sign(item, glyphs), width)
        below = (item.error,) if item.error else item.losses if plan.stage in (Stage.READING, Stage.ASKING) else ()
        role = "danger" if item.error else "attention"
        shown += [(Span("     "), Span(part, role)) for text in below for part in wrap(text, width - 5, 3)]
    if plan.left_out:
        shown += [EMPTY] if shown else []
        shown.append((Span("Left out", "info"),))
    for colony, reason in plan.left_out:
        shown += _named(colony, Span(" "), width)
        shown += [(Span("     "), Span(part, "muted")) for part in wrap(reason, width - 5, 2)]
    return shown


def _named(colony: Colony, sign: Span, width: int) -> Iterator[Line]:
    name = f"{colony.key.endpoint} · {colony.repo} · {colony.title} ({colony.shown_id})"
    for place, part in enumerate(wrap(name, width - 3, 2)):
        yield (sign if not place else Span(" "), Span("  "), Span(part, "strong"))


def _sign(item: Item, glyphs: Glyphs) -> Span:
    match item.fate:
        case Fate.WAITING:
            return Span(" ")
        case Fate.UNDERWAY:
            return Span(glyphs["underway"], "active")
        case Fate.DONE:
            return Span(glyphs["yes"], "ok")
        case Fate.FAILED:
            return Span(glyphs["no"], "danger")


def _results(plan: Plan) -> Iterator[str]:
    done, failed, waiting = (len(plan.with_fate(fate)) for fate in (Fate.DONE, Fate.FAILED, Fate.WAITING))
    if done or not failed:
        yield f"{count(done, 'colony', 'colonies')} {plan.deed.done}"
    if failed:
        yield f"could not {plan.deed.verb} {failed:,}"
    if waiting:
        yield f"{waiting:,} not begun"


def _refusal(action: str, colony: Colony, view: View) -> str:
    snapshot = view.snapshot
    refusal = abilities.refusal(action, colony, snapshot.endpoint_of(colony.key), snapshot.questions.get(colony.key))
    if not refusal and action == "resume" and colony.superseded is not None and not colony.superseded.kept:
        return f"{colony.superseded.pr_url} covered its work: keep it first, or resume it by itself"
    return refusal


def _losses(action: str, colony: Colony, view: View) -> Sequence[str]:
    if action == "stop" and colony.key in view.snapshot.questions:
        return ("Its open question stays unanswered; your draft is kept.",)
    return ()
