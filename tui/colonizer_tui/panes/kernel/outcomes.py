"""The outcomes that a kernel remembers."""

from collections.abc import Sequence

from colonizer_client.kernel.models import Consequence
from colonizer_client.kernel.view import Condition, KernelView
from colonizer_tui.intents import TextViewed
from colonizer_tui.keys import Hint
from colonizer_tui.panes.kernel.kernel_list import KernelList
from colonizer_tui.present.kernel import outcomes
from colonizer_tui.present.line import Line

GAP = "gap before "
"""Begins the key of the row that stands where older ones may be missing."""


class OutcomeList(KernelList[str]):
    """Outcomes, the newest first."""

    TITLE = "Outcomes"
    NOTHING = "No outcome is known yet: without outcomes no agent's trust moves."
    HELPS = (("record", "records what came of an action"),)
    HAS_DETAIL = True

    def __init__(self) -> None:
        super().__init__()
        self._outcomes: dict[str, Consequence] = {}

    @property
    def outcome(self) -> Consequence | None:
        """The selected outcome."""
        return None if self.selected is None else self._outcomes.get(self.selected)

    @property
    def subject(self) -> str:
        """The target of the selected outcome."""
        return "" if self.outcome is None else self.outcome.target.raw

    def follow(self, had: KernelView) -> None:
        """Takes new outcomes."""
        if had.consequences is self.kernel.consequences:
            return
        self._outcomes = {one.id: one for one in reversed(self.kernel.consequences)}
        rows: list[str] = []
        for one in self._outcomes.values():
            rows += [one.id, GAP + one.id] if one.has_gap_before else [one.id]
        self.set_rows(rows)

    def row_line(self, key: str) -> Line:
        """An outcome's row, or that of a gap."""
        one = self._outcomes.get(key)
        if one is None:
            return outcomes.gap()
        is_stale = self.kernel.condition is not Condition.LIVE
        return outcomes.row(one, self.text_width - 1, self.glyphs, is_stale=is_stale)

    def caption(self, width: int) -> Line:
        """The names of the columns."""
        del width
        return outcomes.caption(self.text_width - 1)

    def detail(self, width: int) -> Sequence[Line]:
        """The selected outcome whole."""
        return () if self.outcome is None else outcomes.detail(self.outcome, self.now, width, self.glyphs)

    def hints(self) -> Sequence[Hint]:
        """What helps with an outcome."""
        return (Hint("view", reason="" if self.outcome else "no outcome is selected"),)

    def do_view(self) -> None:
        """What happened, nothing cut."""
        if self.outcome is not None:
            self.post_message(TextViewed(f"Outcome of {self.outcome.action}", self.outcome.outcome))
