"""What stands above the panes of a kernel: which kernels there are, which panes, and how the kernel is."""

from collections.abc import Hashable, Mapping, Sequence

from colonizer_client.identity import EndpointName
from colonizer_client.kernel.view import Condition, KernelView
from colonizer_config.value import Value
from colonizer_tui.present import words
from colonizer_tui.present.kernel.sought import Sought
from colonizer_tui.present.kernel.sparks import spark
from colonizer_tui.present.line import EMPTY, Line, Span, fit, labelled, line, spread, width_of, wrap
from colonizer_tui.present.states import Glyphs
from colonizer_tui.present.view import View

_LOOKS: Mapping[Condition, tuple[str, str]] = {
    Condition.IDLE: ("unknown", "muted"),
    Condition.CONSENT_NEEDED: ("asks", "attention-strong"),
    Condition.CONNECTING: ("underway", "active"),
    Condition.LIVE: ("live", "ok"),
    Condition.SILENT: ("silent", "attention"),
    Condition.SIGNED_OUT: ("no", "danger"),
}


PULSES_SHOWN = 8
KERNEL, PANE = "kernel", "pane"


class Tab(Value):
    """Something to go to."""

    spot: tuple[str, str]
    """Whether it is a kernel or a pane, and which one."""
    pieces: Line

    def drawn(self, label: str) -> Line:
        """With the letters to jump there."""
        return labelled(self.pieces, label)


def kernel_tabs(
    kernels: Mapping[EndpointName, KernelView], shown: EndpointName, width: int, glyphs: Glyphs
) -> Sequence[Tab]:
    """One tab for each kernel; where they do not fit, the one that is shown and how many there are."""
    tabs = [Tab((KERNEL, name), _kernel(kernel, name == shown, glyphs)) for name, kernel in kernels.items()]
    if sum(width_of(tab.pieces) for tab in tabs) <= width:
        return tabs
    at = next((place for place, tab in enumerate(tabs) if tab.spot[1] == shown), 0)
    count = Span(f" {at + 1} of {len(tabs)} ", "muted")
    return [Tab(tabs[at].spot, (*fit(tabs[at].pieces, max(width - len(count.text), 8)), count))]


def _kernel(kernel: KernelView, is_shown: bool, glyphs: Glyphs) -> Line:
    glyph, role = _LOOKS[kernel.condition]
    name = Span(f" {kernel.name} ", "tab-on" if is_shown else "tab-off")
    return name, Span(f"{glyphs[glyph]} ", role)


def pane_tabs(titles: Sequence[str], shown: str, counts: Mapping[str, int], width: int) -> Sequence[Tab]:
    """One tab for each pane, with how many there are of what needs a look; close together in little room."""
    told = {title: f"{number} " for title in titles if (number := counts.get(title))}
    is_tight = sum(len(title) + 2 + len(told.get(title, "")) for title in titles) > width
    tabs: list[Tab] = []
    for title in titles:
        is_shown = title == shown
        before = "" if is_tight and not is_shown and tabs else " "
        count = Span(told.get(title, ""), "tab-count" if is_shown else "attention-strong")
        tabs.append(Tab((PANE, title), (Span(f"{before}{title} ", "tab-on" if is_shown else "tab-off"), count)))
    return tabs


def facts(kernel: KernelView, auto_s: float | None, now: float, glyphs: Glyphs) -> Line:
    """The kernel in short, behind the course of the number of its traces."""
    if kernel.condition in (Condition.CONSENT_NEEDED, Condition.IDLE) or kernel.status is None:
        return (Span(kernel.link.address + " ", "dim"),)
    shown = [f"tick {kernel.tick:,}", _traces(kernel), words.count(len(kernel.places), "place")]
    sampling = kernel.sampling
    if not kernel.capabilities.has_operator_calls and sampling.sampled < sampling.cells:
        shown.append(f"{sampling.sampled * 100 // max(sampling.cells, 1)}% sampled")
    if kernel.condition is not Condition.LIVE and kernel.link.as_of is not None:
        shown.append(f"as of {words.age(now - kernel.link.as_of)} ago")
    auto: Line = (
        () if auto_s is None else (Span(f"ticks by itself every {auto_s:g}s", "attention-strong"), Span(" · ", "muted"))
    )
    course = [float(pulse.total_signals) for pulse in kernel.pulses[-PULSES_SHOWN:]]
    bars = spark(course, glyphs, max(course, default=0.0) or 1.0)
    return (*auto, Span(f"{bars} ", "dim"), Span(" · ".join(shown) + " ", "muted"))


def _traces(kernel: KernelView) -> str:
    """How many traces there are, and how many went with the last tick."""
    last = kernel.pulses[-1] if kernel.pulses else None
    total = 0 if last is None else last.total_signals
    gone = f" −{last.removed:,}" if last is not None and last.removed else ""
    return words.count(total, "trace") + gone


def row_of(tabs: Sequence[Tab], right: Line, labels: Mapping[Hashable, str], width: int) -> Line:
    """A line of tabs, with something at its right end where there is room for it."""
    left = tuple(piece for tab in tabs for piece in tab.drawn(labels.get(tab.spot, "")))
    return spread(left, right, width) if width_of(left) + width_of(right) < width else fit(left, width)


def tab_at(tabs: Sequence[Tab], column: int) -> tuple[str, str] | None:
    """What was clicked."""
    for tab in tabs:
        column -= width_of(tab.pieces)
        if column < 0:
            return tab.spot
    return None


def banner(kernel: KernelView, view: View, width: int) -> Sequence[Line]:
    """Why what is shown is not the kernel as it is now; nothing where it is."""
    if kernel.condition is Condition.LIVE:
        notice = kernel.link.notice
        return [(Span(f" {part}", "attention"),) for part in wrap(notice, max(width - 2, 20), 2)] if notice else []
    if kernel.status is None:
        return []
    role = _LOOKS[kernel.condition][1]
    again = _again(kernel, view)
    between = Span(" · ", "muted") if again else Span("")
    return [fit((Span(f" {kernel.health_words}", role), between, *again), width)]


def _again(kernel: KernelView, view: View) -> Line:
    """When it is tried again, and what tries it at once."""
    if kernel.condition not in (Condition.SILENT, Condition.SIGNED_OUT):
        return ()
    retry_at = kernel.link.retry_at
    wait = "" if retry_at is None or retry_at <= view.now else f"next try in {words.duration(retry_at - view.now)} · "
    return Span(wait, "muted"), Span(view.shown("resume"), "key"), Span(" asks now", "muted")


def welcome(kernel: KernelView | None, view: View, width: int, glyphs: Glyphs) -> Sequence[Line]:
    """What is said of a kernel of which nothing is known: what to press, and what will happen."""
    if kernel is None:
        told = "No kernel is configured. The embedded one is there as soon as the cockpit is connected."
        return [(Span(part, "muted"),) for part in wrap(told, width)]
    if kernel.condition is Condition.CONSENT_NEEDED:
        agree = line(Span(view.shown("answer"), "key"), Span(" reads it once more, and runs it if you agree", "muted"))
        return [*consent(kernel, width), EMPTY, agree]
    glyph, role = _LOOKS[kernel.condition]
    first = (
        Span(f"{glyphs[glyph]} ", role),
        Span(str(kernel.name), "strong"),
        Span(f"  {kernel.link.address}", "muted"),
    )
    shown: list[Line] = [first, EMPTY]
    shown += [(Span(part, role),) for part in wrap(kernel.health_words, width)]
    if again := _again(kernel, view):
        shown += [EMPTY, again]
    if kernel.condition in (Condition.CONNECTING, Condition.LIVE):
        told = "Its traces, verdicts, agents and budgets come here as soon as it answers."
        shown += [EMPTY, *((Span(part, "muted"),) for part in wrap(told, width))]
    return shown


def nothing_yet(told: str, helps: Sequence[tuple[str, str]], view: View) -> Sequence[Line]:
    """Why a pane is empty, and which keys change that."""
    shown: list[Line] = [EMPTY, (Span(f"   {told}", "strong"),)]
    for action, effect in helps:
        shown.append(line("   ", Span(f"{view.shown(action):<4}", "key"), Span(effect, "muted")))
    return shown


def consent(kernel: KernelView, width: int) -> Sequence[Line]:
    """The exact words of a command that waits for the person's word."""
    asked = kernel.consent
    if asked is None:
        return []
    is_other = bool(asked.before)
    shown: list[Line] = [
        (Span(f"{kernel.name} is a program that runs on this machine, as you.", "strong"),),
        *((Span(part, "muted"),) for part in wrap(_BEFORE_CHANGED if is_other else _BEFORE, width)),
        EMPTY,
        *_command(asked.command, asked.before, width),
    ]
    if asked.env:
        shown += [EMPTY, (Span("with the variables", "muted"),)]
        shown += [
            (Span(f"  {name}", "attention" if is_other and name not in asked.env_before else ""),) for name in asked.env
        ]
    if asked.hides_characters:
        told = "It holds characters that cannot be seen as they are: look closely at what is shown for them."
        shown += [EMPTY, *((Span(part, "danger-strong"),) for part in wrap(told, width))]
    if is_other and (asked.before, asked.env_before) != (asked.command, asked.env):
        shown += [EMPTY, (Span("agreed to before", "muted"),), *_command(asked.before, asked.before, width)]
    return shown


_BEFORE = "Nothing was started. It runs only after you agreed to these exact words:"
_BEFORE_CHANGED = "Its words are others than those that you agreed to. Nothing was started. It would run now:"


def _command(command: Sequence[str], before: Sequence[str], width: int) -> Sequence[Line]:
    """One word of the command on each line, nothing cut; what is new is marked."""
    shown: list[Line] = []
    for place, word in enumerate(command):
        is_new = bool(before) and (place >= len(before) or before[place] != word)
        first, *more = wrap(word or "(an empty word)", max(width - 4, 8)) or ("",)
        shown.append(
            (
                Span("  + " if is_new else "    ", "attention-strong"),
                Span(first, "attention-strong" if is_new else "strong"),
            )
        )
        shown += [(Span("    "), Span(part, "attention-strong" if is_new else "strong")) for part in more]
    return shown


def filtered(sought: Sought, order: str) -> Line:
    """By what the heatmap is filtered and ordered."""
    told = Span(f"by {order} ", "dim")
    return (Span("/ ", "key"), Span(f"{sought.text}  ", "strong"), told) if sought else (told,)
