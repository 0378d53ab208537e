"""The calls of agents that wait for the person, above the needs of colonies."""

from collections.abc import Sequence

from colonizer_client.approvals.models import Approval
from colonizer_tui.intents import desk_of
from colonizer_tui.keys import Hint
from colonizer_tui.present import approvals
from colonizer_tui.present.line import Line
from colonizer_tui.present.view import View
from colonizer_tui.widgets.keyed_list import KeyedList


class ApprovalList(KeyedList[str]):
    """One row for each call, the oldest first; a row is named by the approval's id."""

    DEFAULT_CSS = "ApprovalList { height: auto; max-height: 40%; }"

    def __init__(self, *, id: str | None = None) -> None:  # noqa: A002  # Textual's name
        super().__init__(id=id)
        self._view = View()
        self._approvals: dict[str, Approval] = {}

    @property
    def approval(self) -> Approval | None:
        """The selected call."""
        return None if self.selected is None else self._approvals.get(self.selected)

    def show(self, view: View) -> None:
        """Shows a moment."""
        self._view = view
        self._approvals = {approval.id: approval for approval in view.snapshot.approvals}
        if list(self._approvals) != list(self.keys):
            self.set_keys(list(self._approvals))
            self.refresh(layout=True)
        self.repaint_changed()

    def get_content_height(self, container: object, viewport: object, width: int) -> int:
        """One row for each call."""
        del container, viewport, width
        return len(self._approvals)

    def row_line(self, key: str) -> Line:
        """A call's row."""
        found = self._approvals.get(key)
        return () if found is None else approvals.row(found, self._view.now, self.text_width - 1, self.glyphs)

    def hints(self) -> Sequence[Hint]:
        """What can be done with a call."""
        return Hint("enter", "read it, decide"), Hint("next_pane", "to the colonies")

    async def do_enter(self) -> None:
        """Shows it whole, and takes the person's word."""
        if self.approval is not None:
            await desk_of(self).decide(self.approval)

    async def do_answer(self) -> None:
        """Shows it whole, and takes the person's word."""
        await self.do_enter()

    async def on_keyed_list_opened(self, event: KeyedList.Opened) -> None:
        """Shows the one that was clicked twice."""
        event.stop()
        await self.do_enter()
