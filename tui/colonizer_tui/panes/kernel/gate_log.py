"""The gate log of a kernel."""

from collections.abc import Sequence

from colonizer_client.kernel.models import Verdict
from colonizer_client.kernel.view import Condition, KernelView
from colonizer_tui.intents import Copied, TextViewed, desk_of
from colonizer_tui.keys import Hint
from colonizer_tui.panes.kernel.kernel_list import KernelList
from colonizer_tui.present.kernel import verdicts
from colonizer_tui.present.line import Line, text_of
from colonizer_tui.widgets.keyed_list import KeyedList


class GateLog(KernelList[int]):
    """Verdicts, the newest first. Who looks at the newest one goes on to newer ones."""

    TITLE = "Gate log"
    NOTHING = "No verdict is known yet."
    HELPS = (("propose", "asks the gate; what it says, and why, stands here"),)
    HAS_DETAIL = True

    def __init__(self) -> None:
        super().__init__()
        self._verdicts: dict[int, Verdict] = {}
        self._wanted: int | None = None

    def follow(self, had: KernelView) -> None:
        """Takes new verdicts."""
        if had.verdicts is self.kernel.verdicts:
            return
        is_first = self.selected is None or (bool(self.keys) and self.selected == self.keys[0])
        self._verdicts = {verdict.number: verdict for verdict in reversed(self.kernel.verdicts)}
        self.set_rows(list(self._verdicts))
        if is_first and self.keys:
            self.select(self.keys[0])
        if self._wanted is not None and self.select(self._wanted):
            self._wanted = None

    def select_new(self, number: int) -> None:
        """Puts the cursor on a verdict as soon as it is in the list."""
        self._wanted = None if self.select(number) else number

    @property
    def verdict(self) -> Verdict | None:
        """The selected verdict."""
        return None if self.selected is None else self._verdicts.get(self.selected)

    @property
    def subject(self) -> str:
        """The target of the selected verdict."""
        return "" if self.verdict is None else self.verdict.target.raw

    def row_line(self, key: int) -> Line:
        """A verdict's row."""
        verdict = self._verdicts.get(key)
        is_stale = self.kernel.condition is not Condition.LIVE
        return () if verdict is None else verdicts.row(verdict, self.text_width - 1, self.glyphs, is_stale=is_stale)

    def caption(self, width: int) -> Line:
        """The names of the columns."""
        del width
        return verdicts.caption(self.text_width - 1)

    def detail(self, width: int) -> Sequence[Line]:
        """The selected verdict whole."""
        if self.verdict is None:
            return ()
        return verdicts.detail(self.verdict, width, self.glyphs, is_low=self.is_narrow)

    def hints(self) -> Sequence[Hint]:
        """What helps with a verdict."""
        nothing = "" if self.verdict else "there is no verdict yet"
        return Hint("view", reason=nothing), Hint("copy", "copy to-do", reason=nothing)

    def do_enter(self) -> None:
        """The verdict, nothing cut."""
        self.do_view()

    def do_view(self) -> None:
        """The verdict, nothing cut."""
        if self.verdict is not None:
            text = "\n".join(text_of(one) for one in verdicts.detail(self.verdict, 90, self.glyphs))
            self.post_message(TextViewed(f"Verdict on {self.verdict.action}", text))

    async def do_copy(self) -> None:
        """Copies what is to be done before the action is proposed again."""
        if self.verdict is not None:
            asked = self.verdict.required_evidence
            text = "\n".join(f"- [ ] {item.replace('_', ' ')}" for item in asked) or self.verdict.reason
            await desk_of(self).copy(Copied("what the gate asks for" if asked else "the gate's reason", text))

    def on_keyed_list_opened(self, event: KeyedList.Opened) -> None:
        """Opens what was clicked twice."""
        event.stop()
        self.do_view()
