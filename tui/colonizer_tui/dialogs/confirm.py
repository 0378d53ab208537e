"""Asks before something is done that cannot be taken back, naming its target and what stays."""

from collections.abc import Awaitable, Callable, Sequence

from textual import events
from textual.app import ComposeResult

from colonizer_tui.dialogs.dialog import Dialog, above_keys, box_width, shortened
from colonizer_tui.present.line import EMPTY, Line, Span, line
from colonizer_tui.widgets.lines import Lines

TARGET_LINES = 4
TEXT_LINES = 3
"""What names from outside may take, so that no name drives another one or the keys out of sight."""


class Confirm(Dialog[bool]):
    """True when the person says yes with `y`. Enter says neither: it may have been meant for something else."""

    def __init__(
        self,
        title: str,
        target: str,
        texts: Sequence[str],
        *,
        yes: str,
        is_danger: bool = True,
        first: Callable[[], Awaitable[Sequence[str]]] | None = None,
    ) -> None:
        """`first` finds what has to be read before a yes counts."""
        super().__init__()
        self._title, self._target, self._texts, self._yes, self._is_danger = title, target, texts, yes, is_danger
        self._first = first
        self._found: Sequence[str] = ()

    def parts(self) -> ComposeResult:
        """One block of lines."""
        yield Lines(id="confirm-text")

    def on_mount(self) -> None:
        """Shows the question."""
        self._draw()
        if self._first is not None:
            self.run_worker(self._find(self._first()))

    def on_resize(self) -> None:
        """Wraps the text anew."""
        self._draw()

    def take_key(self, event: events.Key) -> bool:
        """Only `y` says yes, and only to what can be read."""
        if event.key == "y" and self._first is not None:
            return True
        if event.key in ("y", "n"):
            self.dismiss(event.key == "y")
            return True
        return super().take_key(event)

    async def _find(self, first: Awaitable[Sequence[str]]) -> None:
        self._found = await first
        self._first = None
        self._draw()

    def _draw(self) -> None:
        width = box_width(self)
        shown: list[Line] = [(Span(self._title, "danger-strong" if self._is_danger else "strong"),), EMPTY]
        shown += [(Span(part, "strong"),) for part in shortened(self._target, width, TARGET_LINES)]
        if self._first is not None:
            shown.append((Span("looking for what would be lost…", "dim"),))
        for role, texts in (("", self._found), ("muted", self._texts)):
            shown += [(Span(part, role),) for text in texts for part in shortened(text, width, TEXT_LINES)]
        yes = () if self._first is not None else (Span("y", "key"), Span(f" {self._yes}   ", "muted"))
        keys = line(*yes, Span("esc", "key"), Span(" back, nothing is done", "muted"))
        self.set_lines("confirm-text", above_keys(self, shown, [EMPTY, keys]))
