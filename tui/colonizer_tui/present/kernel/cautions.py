"""What a person should look at in a kernel."""

from collections.abc import Mapping, Sequence

from colonizer_client.kernel.view import Caution, CautionKind
from colonizer_tui.present import words
from colonizer_tui.present.line import Line, Span, column, line, wrap
from colonizer_tui.present.states import Glyphs

GRAVE = frozenset({CautionKind.RESTARTED, CautionKind.GAP, CautionKind.FAILURES_BELOW_SUCCESS})
_KIND_WIDTH = 24

ADVICE: Mapping[CautionKind, str] = {
    CautionKind.RESTARTED: "What is shown from before is what we saw; the kernel itself does not know it any more.",
    CautionKind.RATE_LIMITED: "It goes on by itself, more slowly. Another client may ask it too often.",
    CautionKind.NO_OUTCOMES: "Have its outcomes recorded after each action: trust moves by nothing else.",
    CautionKind.NO_TICK: "Traces fade by ticks alone. Tick it, or have whoever runs it do so.",
    CautionKind.TRUST_STUCK: "Its actions are proposed, and nobody reports what came of them.",
    CautionKind.REPEATED_HOLD: "Do what the gate log lists as “to do”, or wait as many ticks as the heatmap says.",
    CautionKind.FAILURES_BELOW_SUCCESS: "Old success fades slowly and looks well: look at the failures.",
    CautionKind.GAP: "Everything since then is whole.",
}


def row(caution: Caution, now: float, width: int, glyphs: Glyphs) -> Line:
    """A warning's row."""
    role = "danger" if caution.kind in GRAVE else "attention"
    since = "" if caution.since is None else words.age(now - caution.since)
    subject = "" if caution.subject is None else f"{caution.subject.shown}: "
    return line(
        Span(f"{glyphs['hot']} ", role),
        Span(column(caution.kind.value, _KIND_WIDTH), role),
        Span(column(since, 5, right=True) + "  ", "muted"),
        Span(subject, "strong"),
        Span(caution.words),
    )


def foot(caution: Caution | None, width: int) -> Sequence[Line]:
    """What helps against the selected warning."""
    if caution is None:
        return ()
    told = f"{caution.words}. {ADVICE[caution.kind]}"
    return [(Span(f" {part}", "muted"),) for part in wrap(told, width - 2, 3)]
