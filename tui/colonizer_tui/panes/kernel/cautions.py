"""The warnings about a kernel."""

from collections.abc import Sequence

from colonizer_client.kernel.view import Caution, KernelView
from colonizer_tui.intents import SubjectWanted
from colonizer_tui.keys import Hint
from colonizer_tui.panes.kernel.kernel_list import KernelList
from colonizer_tui.present.kernel import cautions
from colonizer_tui.present.line import Line
from colonizer_tui.widgets.keyed_list import KeyedList


class CautionList(KernelList[tuple[str, str]]):
    """Warnings, the gravest first. A row's key is its kind and its subject."""

    TITLE = "Warnings"
    NOTHING = "There is nothing to warn of."

    def __init__(self) -> None:
        super().__init__()
        self._cautions: dict[tuple[str, str], Caution] = {}

    @property
    def caution(self) -> Caution | None:
        """The selected warning."""
        return None if self.selected is None else self._cautions.get(self.selected)

    @property
    def subject(self) -> str:
        """What the selected warning is about."""
        return "" if self.caution is None or self.caution.subject is None else self.caution.subject.raw

    def follow(self, had: KernelView) -> None:
        """Takes what changed."""
        if had.cautions is not self.kernel.cautions or had.name != self.kernel.name:
            self._cautions = {
                (one.kind.value, "" if one.subject is None else one.subject.raw): one for one in self.kernel.cautions
            }
            self.set_rows(list(self._cautions))

    def row_line(self, key: tuple[str, str]) -> Line:
        """A warning's row."""
        one = self._cautions.get(key)
        return () if one is None else cautions.row(one, self.view.now, self.text_width - 1, self.glyphs)

    def foot(self, width: int) -> Sequence[Line]:
        """What helps against the selected one."""
        return cautions.foot(self.caution, width)

    def hints(self) -> Sequence[Hint]:
        """What helps with a warning."""
        return (Hint("enter", "go there", reason="" if self.subject else "it is about the whole kernel"),)

    def do_enter(self) -> None:
        """Goes to what it is about."""
        if self.subject:
            self.post_message(SubjectWanted(self.subject))

    def on_keyed_list_opened(self, event: KeyedList.Opened) -> None:
        """Goes to what the warning that was clicked twice is about."""
        event.stop()
        self.do_enter()
