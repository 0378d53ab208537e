"""One pane of each kind. Loaded after the first picture: nobody may ever look at a kernel."""

from collections.abc import Mapping

from colonizer_tui.panes.kernel.agents import AgentList
from colonizer_tui.panes.kernel.attack import AttackPane
from colonizer_tui.panes.kernel.budgets import BudgetList
from colonizer_tui.panes.kernel.cautions import CautionList
from colonizer_tui.panes.kernel.gate_log import GateLog
from colonizer_tui.panes.kernel.heatmap import HeatPane
from colonizer_tui.panes.kernel.kernel_list import AnyPane
from colonizer_tui.panes.kernel.offers import OfferList
from colonizer_tui.panes.kernel.outcomes import OutcomeList
from colonizer_tui.panes.kernel.pruning import PruningPane


class EveryPane:
    """The panes of the kernel workspace."""

    def __init__(self) -> None:
        self.heatmap, self.gate_log, self.agents = HeatPane(), GateLog(), AgentList()
        self.pruning, self.attack, self.cautions = PruningPane(), AttackPane(), CautionList()
        self.offers = OfferList()
        panes = (
            self.heatmap, self.gate_log, self.agents, OutcomeList(), self.offers, BudgetList(), self.pruning,
            self.attack, self.cautions,
        )  # fmt: skip
        self.by_title: Mapping[str, AnyPane] = {pane.TITLE: pane for pane in panes}
        """All of them, in order."""
