"""What the panes of a kernel have in common: rows, and what the frame around them says of the selected one."""

from collections.abc import Hashable, Sequence
from typing import Any, ClassVar, TypeAlias, TypeVar

from colonizer_client.endpoint_state import EndpointState
from colonizer_client.identity import EndpointName
from colonizer_client.kernel.view import Condition, KernelView
from colonizer_tui.keys import Hint
from colonizer_tui.present.kernel import frame
from colonizer_tui.present.line import Line, Span
from colonizer_tui.present.view import View
from colonizer_tui.widgets.keyed_list import KeyedList

K = TypeVar("K", bound=Hashable)

NO_KERNEL = KernelView(EndpointState(EndpointName(""), "", "kernel"))


class KernelList(KeyedList[K]):
    """Rows about one kernel. It keeps its selection through every moment."""

    TITLE: ClassVar[str]
    NOTHING: ClassVar[str]
    """What is said where there is no row, of a kernel that answers."""
    HELPS: ClassVar[Sequence[tuple[str, str]]] = ()
    """The actions that change this, each with what it does."""
    HAS_DETAIL: ClassVar[bool] = False
    """There is more to say of a row than fits into it."""

    def __init__(self) -> None:
        super().__init__(id=f"kernel-{self.TITLE.lower().replace(' ', '-')}")
        self.kernel: KernelView = NO_KERNEL
        self.view: View = View()
        self.is_narrow = False
        """What there is to say of a row stands below the rows, not beside them."""
        self._drawn_width = 0

    def show(self, kernel: KernelView, view: View) -> None:
        """Shows a moment of a kernel; nothing is drawn where it is the same one."""
        # After each key the same moment is shown again: a row that the key changed was drawn by it.
        is_same = kernel is self.kernel and view is self.view and self.text_width == self._drawn_width
        had, self.kernel, self.view, self._drawn_width = self.kernel, kernel, view, self.text_width
        if not is_same:
            self.follow(had)
            self.repaint_changed()

    def follow(self, had: KernelView) -> None:
        """Brings the rows up to the kernel as it is now; `had` is what it was before."""
        raise NotImplementedError

    def set_rows(self, keys: Sequence[K]) -> None:
        """Takes other rows, where they are others."""
        if list(self.keys) != list(keys):
            self.set_keys(keys)

    def empty_lines(self) -> Sequence[Line]:
        """What stands in the place of rows: why there are none, and what to press."""
        if self.kernel.condition is not Condition.LIVE or self.kernel.status is None:
            return ((Span("   nothing is known of it yet", "muted"),),)
        return frame.nothing_yet(self.NOTHING, self.HELPS, self.view)

    def line_count(self) -> int:
        """One line for each row, else as many as there is to say."""
        return len(self.keys) or len(self.empty_lines())

    def line_at(self, index: int) -> Line:
        """A row, or what stands in the place of rows."""
        return super().line_at(index) if self.keys else self.empty_lines()[index]

    @property
    def now(self) -> float:
        """The time by the kernel's clock."""
        return self.kernel.link.server_now(self.view.now)

    @property
    def subject(self) -> str:
        """What the selected row is about, raw: the place or the agent that a form begins with."""
        return ""

    def caption(self, width: int) -> Line:
        """The names of the columns."""
        del width
        return ()

    def detail(self, width: int) -> Sequence[Line]:
        """The selected row whole."""
        del width
        return ()

    def foot(self, width: int) -> Sequence[Line]:
        """What stands below the rows."""
        del width
        return ()

    def hints(self) -> Sequence[Hint]:
        """What helps most in this pane."""
        return ()


AnyPane: TypeAlias = KernelList[Any]
