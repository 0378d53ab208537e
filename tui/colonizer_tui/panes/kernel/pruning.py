"""The pruning report of a kernel."""

from collections.abc import Sequence

from colonizer_client.kernel.models import Candidate
from colonizer_client.kernel.view import Condition, KernelView
from colonizer_tui.intents import Copied, desk_of
from colonizer_tui.keys import Hint
from colonizer_tui.panes.kernel.kernel_list import KernelList
from colonizer_tui.present.kernel import pruning
from colonizer_tui.present.line import Line, Span

RowKey = tuple[str, str]
"""Whether it is a candidate or kept, and its name."""

CANDIDATE, KEPT = "candidate", "kept"


class PruningPane(KernelList[RowKey]):
    """Candidates, the surest first; then what is kept, and why."""

    TITLE = "Pruning"
    NOTHING = "No report was made yet."
    HELPS = (("resume", "has the kernel look for modules that may go; nothing is removed"),)
    HAS_DETAIL = True

    def __init__(self) -> None:
        super().__init__()
        self._candidates: dict[str, Candidate] = {}

    def follow(self, had: KernelView) -> None:
        """Takes another report."""
        report = self.kernel.pruning
        if had.pruning is report and had.name == self.kernel.name:
            return
        self._candidates = {} if report is None else {one.place.raw: one for one in report.candidates}
        kept = () if report is None else report.protected
        self.set_rows([*((CANDIDATE, raw) for raw in self._candidates), *((KEPT, place) for place in kept)])

    @property
    def candidate(self) -> Candidate | None:
        """The selected candidate."""
        return self._candidates.get(self.selected[1]) if self.selected and self.selected[0] == CANDIDATE else None

    @property
    def subject(self) -> str:
        """The selected candidate's place."""
        return "" if self.candidate is None else self.candidate.place.raw

    def row_line(self, key: RowKey) -> Line:
        """A row."""
        kind, name = key
        width = self.text_width - 1
        one = self._candidates.get(name) if kind == CANDIDATE else None
        if one is not None:
            is_stale = self.kernel.condition is not Condition.LIVE
            return pruning.row(one, self.now, width, self.glyphs, is_stale=is_stale)
        return pruning.protected_row(name, self._why_kept(name), width, self.glyphs)

    def empty_lines(self) -> Sequence[Line]:
        """Why there is nothing."""
        return super().empty_lines() if self.kernel.pruning is None else ((Span("   Nothing may go.", "ok"),),)

    def caption(self, width: int) -> Line:
        """The names of the columns."""
        del width
        return pruning.caption(self.text_width - 1)

    def detail(self, width: int) -> Sequence[Line]:
        """The selected module whole."""
        if self.candidate is not None:
            return pruning.detail(self.candidate, self.now, width)
        if self.selected is not None:
            return pruning.protected_detail(self.selected[1], self._why_kept(self.selected[1]), width)
        return ()

    def foot(self, width: int) -> Sequence[Line]:
        """How old the report is."""
        report = self.kernel.pruning
        return () if report is None else pruning.foot(report, self.now, width)

    def hints(self) -> Sequence[Hint]:
        """What helps with a report."""
        nothing = "" if self.kernel.pruning else "there is no report yet"
        return Hint("resume", "make a report"), Hint("export", reason=nothing), Hint("copy", reason=nothing)

    async def do_copy(self) -> None:
        """Copies the report as Markdown."""
        if self.kernel.pruning is not None:
            text = pruning.markdown(self.kernel, self.kernel.pruning)
            await desk_of(self).copy(Copied("the pruning report", text))

    def _why_kept(self, place: str) -> str:
        report = self.kernel.pruning
        return "" if report is None else report.protected.get(place, "")
