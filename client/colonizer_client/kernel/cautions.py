"""What a person should look at in a kernel (kernel spec 19, panel 9). Pure: everything is in the view."""

from collections import Counter
from collections.abc import Iterator

from colonizer_client.kernel.models import Decision, SignalType
from colonizer_client.kernel.preset import HAZARD_LOW, MIN_PROPOSALS, START_TRUST
from colonizer_client.kernel.view import Caution, CautionKind, Cell, KernelView

RECENT_S = 3_600.0
"""So long a restart or missed changes are worth a warning."""

LIMITED_FOR_S = 60.0
"""So long a refusal for the rate of calls is."""

NO_TICK_S = 600.0
VERDICTS_WITHOUT_OUTCOME = 3
HOLDS_IN_A_ROW = 3
SUCCESS_HIGH = 3.0
SHOWN_OF_A_KIND = 5

_EXACT = 1e-9


def cautions_of(
    view: KernelView, now: float, *, limited_at: float | None, missed_at: float | None
) -> tuple[Caution, ...]:
    """The warnings, the gravest kind first; times are by our own clock."""
    return (
        *_restarted(view, now),
        *_gap(missed_at, now),
        *_limited(limited_at, now),
        *_failures_below_success(view),
        *_repeated_holds(view),
        *_no_outcomes(view),
        *_trust_stuck(view),
        *_no_tick(view, now),
    )


def _restarted(view: KernelView, now: float) -> Iterator[Caution]:
    last = next((pulse for pulse in reversed(view.pulses) if pulse.is_restart), None)
    if last is not None and now - last.at < RECENT_S:
        words = "its ticks or its period went back: it was restarted or calmed down, and forgot its traces"
        yield Caution(CautionKind.RESTARTED, words, since=last.at)


def _gap(missed_at: float | None, now: float) -> Iterator[Caution]:
    if missed_at is not None and now - missed_at < RECENT_S:
        yield Caution(CautionKind.GAP, "some of its changes were missed: history has holes", since=missed_at)


def _limited(limited_at: float | None, now: float) -> Iterator[Caution]:
    if limited_at is not None and now - limited_at < LIMITED_FOR_S:
        words = "it refuses calls for their number, ours and others' together: sampling waits"
        yield Caution(CautionKind.RATE_LIMITED, words, since=limited_at)


def _failures_below_success(view: KernelView) -> Iterator[Caution]:
    found = 0
    for place in view.places.values():
        failure = place.cell(SignalType.FAILURE)
        if failure is None or not _is_rising(failure):
            continue
        success = place.strength(SignalType.SUCCESS, view.tick, view.preset.law) or 0.0
        if success < SUCCESS_HIGH:
            continue
        words = f"success {success:.1f} hides failures that rise: {failure.newest.strength:.1f} now"
        yield Caution(CautionKind.FAILURES_BELOW_SUCCESS, words, place.name, failure.newest.at)
        found += 1
        if found == SHOWN_OF_A_KIND:
            return


def _is_rising(failure: Cell) -> bool:
    match failure.marks[-2:]:
        case (before, last):
            return last.strength >= HAZARD_LOW and last.strength > before.strength
        case _:
            return False


def _repeated_holds(view: KernelView) -> Iterator[Caution]:
    in_a_row: Counter[str] = Counter()
    for verdict in view.verdicts:
        held = verdict.decision is Decision.HOLD
        in_a_row[verdict.target.raw] = in_a_row[verdict.target.raw] + 1 if held else 0
    last = {verdict.target.raw: verdict for verdict in view.verdicts}
    for raw, times in in_a_row.most_common(SHOWN_OF_A_KIND):
        if times >= HOLDS_IN_A_ROW:
            words = f"held {times} times in a row: it needs what the gate asks for, or ticks"
            yield Caution(CautionKind.REPEATED_HOLD, words, last[raw].target, last[raw].at)


def _no_outcomes(view: KernelView) -> Iterator[Caution]:
    last_outcome = {row.agent.raw: row.recorded_at for row in view.consequences}
    waiting: Counter[str] = Counter()
    names = {verdict.agent.raw: verdict.agent for verdict in view.verdicts}
    for verdict in view.verdicts:
        waiting[verdict.agent.raw] += verdict.at > last_outcome.get(verdict.agent.raw, 0.0)
    for raw, times in waiting.most_common(SHOWN_OF_A_KIND):
        if times >= VERDICTS_WITHOUT_OUTCOME:
            words = f"{times} proposals without an outcome: its trust cannot move"
            yield Caution(CautionKind.NO_OUTCOMES, words, names[raw])


def _trust_stuck(view: KernelView) -> Iterator[Caution]:
    stuck = [
        agent
        for agent in view.agents.values()
        if agent.profile is not None
        and agent.profile.proposals >= MIN_PROPOSALS
        and abs(agent.profile.trust - START_TRUST) < _EXACT
    ]
    for agent in stuck[:SHOWN_OF_A_KIND]:
        yield Caution(
            CautionKind.TRUST_STUCK, f"trust never left {START_TRUST}: it gets outcomes from nobody", agent.name
        )


def _no_tick(view: KernelView, now: float) -> Iterator[Caution]:
    if not view.pulses or not view.pulses[-1].total_signals:
        return
    first = next(pulse for pulse in view.pulses if pulse.tick == view.tick)
    if now - first.at >= NO_TICK_S:
        words = "no tick for a while: no trace fades, and whatever is held stays held"
        yield Caution(CautionKind.NO_TICK, words, since=first.at)
