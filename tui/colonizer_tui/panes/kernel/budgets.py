"""The budgets of a kernel."""

from collections.abc import Sequence

from colonizer_client.kernel.view import Condition, KernelView
from colonizer_tui.panes.kernel.kernel_list import KernelList
from colonizer_tui.present.kernel import budgets
from colonizer_tui.present.line import Line


class BudgetList(KernelList[str]):
    """One bar for each dimension."""

    TITLE = "Budgets"
    NOTHING = "It tells of no budget."

    def follow(self, had: KernelView) -> None:
        """Takes what was used."""
        if had.status is not self.kernel.status and self.kernel.status is not None:
            self.set_rows([row.name for row in self.kernel.status.budgets.rows])

    def row_line(self, key: str) -> Line:
        """A budget's row."""
        status = self.kernel.status
        found = None if status is None else next((row for row in status.budgets.rows if row.name == key), None)
        if found is None:
            return ()
        is_stale = self.kernel.condition is not Condition.LIVE
        width = self.text_width - 1
        return budgets.row(found, width, self.glyphs, is_fed=self.kernel.budgets_are_fed, is_stale=is_stale)

    def caption(self, width: int) -> Line:
        """The names of the columns."""
        del width
        return budgets.caption(self.text_width - 1)

    def foot(self, width: int) -> Sequence[Line]:
        """How long the period lasts."""
        status = self.kernel.status
        return () if status is None else budgets.foot(self.kernel, status.budgets, self.now, width)
