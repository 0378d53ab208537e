"""Colony kernels, each behind a tab: where it is hot, what the gate said, who is trusted, what it cost."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from textual.app import ComposeResult
from textual.containers import Horizontal, Vertical
from textual.timer import Timer
from textual.widgets import TextArea

from colonizer_client.identity import EndpointName
from colonizer_client.kernel.view import Condition, KernelView
from colonizer_client.snapshot import Topics
from colonizer_tui.intents import SubjectWanted
from colonizer_tui.keys import Hint, hints_of
from colonizer_tui.present.kernel import frame, sought
from colonizer_tui.present.line import EMPTY, Line, width_of
from colonizer_tui.present.view import View
from colonizer_tui.widgets.find_bar import FindBar
from colonizer_tui.widgets.ink import ink_of
from colonizer_tui.widgets.keys_to import give_keys, has_keys
from colonizer_tui.widgets.lines import Lines
from colonizer_tui.widgets.tab_rows import TabRows
from colonizer_tui.workspaces.workspace import NARROW, Workspace

if TYPE_CHECKING:
    from colonizer_tui.panes.kernel.attack import AttackPane
    from colonizer_tui.panes.kernel.every_pane import EveryPane
    from colonizer_tui.panes.kernel.heatmap import HeatPane
    from colonizer_tui.panes.kernel.kernel_list import AnyPane

ATTACK_PAUSE_S = 0.15
"""So long no key follows before a plan is attacked."""


class KernelWorkspace(Workspace):
    """Tabs of kernels, tabs of panes, one pane; what there is to say of its selected row beside or below it.

    A pane is made when it is looked at for the first time.
    """

    DEFAULT_CSS = """
    KernelWorkspace { layout: vertical; }
    KernelWorkspace #kernel-tabs { height: 2; }
    KernelWorkspace #kernel-body { height: 1fr; }
    KernelWorkspace #kernel-main { height: 1fr; width: 1fr; }
    KernelWorkspace #kernel-side { display: none; width: 42%; height: 1fr; padding: 0 1; border-left: solid $edge; }
    KernelWorkspace.detail #kernel-side { display: block; }
    KernelWorkspace #kernel-welcome { display: none; padding: 1 2; height: 1fr; }
    KernelWorkspace.unknown #kernel-body, KernelWorkspace.unknown #kernel-caption { display: none; }
    KernelWorkspace.unknown #kernel-foot { display: none; }
    KernelWorkspace.unknown #kernel-welcome { display: block; }
    KernelWorkspace.narrow #kernel-body { layout: vertical; }
    KernelWorkspace.narrow #kernel-side { width: 1fr; height: 60%; border-left: none; border-top: solid $edge; }
    KernelWorkspace #kernel-main { layout: horizontal; }
    KernelWorkspace.narrow #kernel-main { layout: vertical; }
    KernelWorkspace AttackPane { border-left: solid $edge; }
    KernelWorkspace.narrow PlanField { height: 32%; }
    KernelWorkspace.narrow AttackPane { border-left: none; border-top: solid $edge; }
    KernelWorkspace .away { display: none; }
    """

    panes: "EveryPane"
    """All panes, from when the workspace is mounted."""

    pane: "AnyPane"
    """The pane in front."""

    def __init__(self, *, id: str | None = None) -> None:  # noqa: A002  # Textual's name
        super().__init__(id=id)
        self._wanted: EndpointName | None = None
        self._attacking: Timer | None = None
        self._auto: Mapping[EndpointName, float] = {}
        self._tabs = TabRows(self._go_to_tab, id="kernel-tabs")
        self._banner, self._welcome = Lines(), Lines(id="kernel-welcome")
        self._caption, self._detail, self._foot = Lines(id="kernel-caption"), Lines(), Lines(id="kernel-foot")
        self._main = Vertical(id="kernel-main")
        self._find_bar = FindBar(closed=lambda: give_keys(self.pane))

    def compose(self) -> ComposeResult:
        """The frame; the panes come into it."""
        from colonizer_tui.panes.kernel.every_pane import EveryPane

        self.panes = EveryPane()
        self.pane = self.heatmap
        yield self._tabs
        yield self._banner
        yield self._caption
        with Horizontal(id="kernel-body"):
            yield self._main
            with Vertical(id="kernel-side"):
                yield self._detail
        yield self._welcome
        yield self._find_bar
        yield self._foot

    @property
    def heatmap(self) -> "HeatPane":
        """The heatmap."""
        return self.panes.heatmap

    @property
    def attack(self) -> "AttackPane":
        """The attacks on a plan."""
        return self.panes.attack

    @property
    def kernel(self) -> KernelView | None:
        """The kernel in front."""
        kernels = self.view.snapshot.kernels
        wanted = None if self._wanted is None else kernels.get(self._wanted)
        return wanted or next(iter(kernels.values()), None)

    def show(self, view: View, topics: Topics) -> None:
        """Shows a moment."""
        del topics
        self.view = view
        kernel = self.kernel
        self.set_class(self.room < NARROW, "narrow")
        is_unknown = kernel is None or kernel.status is None or kernel.condition is Condition.CONSENT_NEEDED
        self.set_class(is_unknown, "unknown")
        self.set_class(self.pane.HAS_DETAIL, "detail")
        self._bring_in(self.pane)
        self.pane.is_narrow = self.has_class("narrow")
        if kernel is not None:
            self.pane.show(kernel, view)
        self._show_frame(kernel)

    def show_auto_ticks(self, every_s: Mapping[EndpointName, float]) -> None:
        """Tells which kernels tick by themselves, and how often."""
        self._auto = every_s
        self._show_frame(self.kernel)

    def focus_first(self) -> None:
        """The pane in front."""
        self._bring_in(self.pane)
        give_keys(self.pane)

    def bring(self, pane: "AnyPane") -> None:
        """Brings a pane to the front."""
        self._find_bar.close()
        self.pane = pane
        for other in self.panes.by_title.values():
            other.set_class(other is not pane, "away")
        self.attack.field.set_class(pane is not self.attack, "away")
        self.show(self.view, Topics())
        give_keys(pane)
        self.call_after_refresh(lambda: self.show(self.view, Topics()))

    @property
    def shows_pruning(self) -> bool:
        """Whether the pruning report is in front."""
        return self.pane is self.panes.pruning

    @property
    def begun(self) -> Mapping[str, str]:
        """What a form begins with, by its fields: the selected agent, or the selected place."""
        return {"agent" if self.pane is self.panes.agents else "target": self.pane.subject}

    def show_verdict(self, number: int) -> None:
        """Brings the gate log to the front, and there the verdict with this number as soon as it is known."""
        self.panes.gate_log.select_new(number)
        self.bring(self.panes.gate_log)

    def bring_kernel(self, name: EndpointName) -> None:
        """Brings a kernel to the front."""
        self._wanted = name
        self.show(self.view, Topics())

    def hints(self) -> Sequence[Hint]:
        """What helps most in the pane in front."""
        if has_keys(self._find_bar):
            return self._find_bar.hints()
        if has_keys(self.attack.field):
            return Hint("back", "to the attacks, text is kept"), Hint("next_pane")
        kernel = self.kernel
        others = hints_of("next_kernel") if len(self.view.snapshot.kernels) > 1 else ()
        if kernel is None:
            return hints_of("fleet", "connections")
        if kernel.condition is Condition.CONSENT_NEEDED:
            return (Hint("answer", "read it, agree"), *others, *hints_of("fleet"))
        again = (Hint("resume", "ask again"),) if kernel.condition is not Condition.LIVE else ()
        if kernel.status is None:
            return (*again, *others, *hints_of("fleet"))
        first, more = self.pane.hints()[:1], self.pane.hints()[1:]
        return (
            *again,
            *first,
            *hints_of("next_pane"),
            *more,
            *hints_of("propose", "record", "tick"),
            *others,
            *hints_of("auto_tick"),
            *(hints_of("deposit", "calm_down") if kernel.capabilities.has_operator_calls else ()),
        )

    def do_next_pane(self) -> None:
        """The next pane."""
        self._step(1)

    def do_previous_pane(self) -> None:
        """The previous pane."""
        self._step(-1)

    def do_next_kernel(self) -> None:
        """The next kernel."""
        self._step_kernel(1)

    def do_previous_kernel(self) -> None:
        """The previous kernel."""
        self._step_kernel(-1)

    def do_find(self) -> bool:
        """Opens the find bar of the heatmap; False in another pane."""
        if self.pane is not self.heatmap:
            return False
        self._find_bar.open()
        return True

    def do_back(self) -> bool:
        """To now, then to all places, then to the heatmap; False where all of this is so."""
        if has_keys(self.attack.field):
            give_keys(self.attack)
        elif self.pane is self.heatmap and self.heatmap.is_in_the_past:
            self.heatmap.go_to_now()
        elif self.pane is self.heatmap and self.heatmap.sought:
            self._find_bar.close()
            self.heatmap.look_for(sought.parse(""))
        elif self.pane is not self.heatmap:
            self.bring(self.heatmap)
        else:
            return False
        self._show_frame(self.kernel)
        return True

    def on_find_bar_sought(self, event: FindBar.Sought) -> None:
        """Filters while typing."""
        event.stop()
        self.heatmap.look_for(sought.parse(event.text))
        self._show_frame(self.kernel)

    def on_keyed_list_moved(self) -> None:
        """Tells of the row under the cursor."""
        self._show_frame(self.kernel)

    def on_subject_wanted(self, event: SubjectWanted) -> None:
        """Shows the agent or the place that a warning is about."""
        event.stop()
        is_agent = self.kernel is not None and event.subject in self.kernel.agents
        pane = self.panes.agents if is_agent else self.heatmap
        self.bring(pane)
        pane.select(event.subject)

    def on_text_area_changed(self, event: TextArea.Changed) -> None:
        """Attacks what is typed when no key followed for a moment."""
        event.stop()
        if self._attacking is not None:
            self._attacking.stop()
        self._attacking = self.set_timer(ATTACK_PAUSE_S, self._attack_plan)

    def _bring_in(self, pane: "AnyPane") -> None:
        """Makes a pane part of the screen, the first time."""
        if not pane.is_attached and self._main.is_attached:
            self._main.mount(*((self.attack.field,) if pane is self.attack else ()), pane)

    def _attack_plan(self) -> None:
        self.attack.attack()
        self._show_frame(self.kernel)

    def _step(self, step: int) -> None:
        panes = list(self.panes.by_title.values())
        self.bring(panes[(panes.index(self.pane) + step) % len(panes)])

    def _step_kernel(self, step: int) -> None:
        names, kernel = list(self.view.snapshot.kernels), self.kernel
        if kernel is not None:
            self.bring_kernel(names[(names.index(kernel.name) + step) % len(names)])

    def _go_to_tab(self, spot: tuple[str, str]) -> None:
        kind, name = spot
        if kind == frame.KERNEL:
            self.bring_kernel(EndpointName(name))
        else:
            self.bring(self.panes.by_title[name])

    def _show_frame(self, kernel: KernelView | None) -> None:
        if not self.is_attached:
            return
        glyphs, width = ink_of(self).glyphs, max(self.room - 1, 20)
        self._welcome.set_lines(frame.welcome(kernel, self.view, max(min(self.room, 100) - 5, 20), glyphs))
        if kernel is None:
            self._tabs.set_rows([])
            return
        told = frame.facts(kernel, self._auto.get(kernel.name), self.view.now, glyphs)
        room = width - width_of(told) - 1
        kernels = frame.kernel_tabs(self.view.snapshot.kernels, kernel.name, room, glyphs)
        snapshot = self.view.snapshot
        offered = len(snapshot.offers) if snapshot.offers_for == kernel.name else 0
        counts = {self.panes.cautions.TITLE: len(kernel.cautions), self.panes.offers.TITLE: offered}
        panes = frame.pane_tabs(list(self.panes.by_title), self.pane.TITLE, counts, width)
        self._tabs.set_rows([(kernels, told), (panes, self._filter())])
        self._banner.set_lines(frame.banner(kernel, self.view, width))
        self._caption.set_lines([self.pane.caption(width)])
        self._detail.set_lines(self.pane.detail(max(self._detail.size.width - 1, 20)) if self.pane.HAS_DETAIL else [])
        self._foot.set_lines(self.pane.foot(width))

    def _filter(self) -> Line:
        """What the heatmap is filtered by."""
        return EMPTY if self.pane is not self.heatmap else frame.filtered(self.heatmap.sought, self.heatmap.order)
