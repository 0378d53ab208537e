"""One question for many colonies, then how far it is, then how it went with each."""

import asyncio
from collections import defaultdict
from collections.abc import Awaitable, Callable, Sequence

from textual import events
from textual.app import ComposeResult

from colonizer_client.errors import ClientError, Unreachable
from colonizer_client.identity import ColonyKey, EndpointName
from colonizer_client.mothership.models import Colony
from colonizer_tui.dialogs.dialog import Dialog, box_width
from colonizer_tui.present import bulk
from colonizer_tui.present.bulk import Fate, Item, Plan, Stage
from colonizer_tui.present.line import EMPTY, Line, Span, line, spread, wrap
from colonizer_tui.present.words import count
from colonizer_tui.widgets.ink import ink_of
from colonizer_tui.widgets.keys_to import give_keys
from colonizer_tui.widgets.line_view import LineView
from colonizer_tui.widgets.lines import Lines

WIDTH = 90

AT_ONCE = 4
"""How many requests each host is given at a time; a slow host holds up no other."""


class BulkLines(LineView):
    """The colonies, scrolled through."""

    DEFAULT_CSS = """
    BulkLines { height: auto; max-height: 1fr; background: $panel; }
    """

    def __init__(self) -> None:
        super().__init__(id="bulk-lines")
        self.ground = "panel"
        self._lines: Sequence[Line] = ()

    def set_lines(self, lines: Sequence[Line]) -> None:
        """Shows other lines, scrolled as before."""
        is_higher = len(lines) != len(self._lines)
        self._lines = lines
        if is_higher:
            self.refresh(layout=True)
        self.repaint_changed()

    def get_content_height(self, container: object, viewport: object, width: int) -> int:
        """As many rows as there are lines, where there is room."""
        del container, viewport, width
        return len(self._lines)

    def line_count(self) -> int:
        """As many lines as there is to say."""
        return len(self._lines)

    def line_at(self, index: int) -> Line:
        """One line."""
        return self._lines[index]

    @property
    def below(self) -> int:
        """How many lines lie below what is in sight."""
        return max(self.line_count() - self.top - self.page, 0)


class Bulk(Dialog[frozenset[ColonyKey]]):
    """The colonies that it was done to. Only `y` begins; esc leaves, and calls off what has not begun."""

    DEFAULT_CSS = """
    Bulk #dialog-box { width: 90; }
    """

    def __init__(
        self,
        plan: Plan,
        do: Callable[[Colony], Awaitable[object]],
        find_losses: Callable[[Colony], Awaitable[Sequence[str]]] | None = None,
    ) -> None:
        """`do` raises ClientError where it fails; `find_losses` finds what has to be read before a yes counts."""
        super().__init__()
        self._plan, self._do, self._find_losses = plan, do, find_losses
        self._read = 0
        self._lanes: defaultdict[EndpointName, asyncio.Semaphore] = defaultdict(lambda: asyncio.Semaphore(AT_ONCE))
        if find_losses is not None and plan.items:
            plan.stage = Stage.READING

    def parts(self) -> ComposeResult:
        """What is asked, the colonies, the keys."""
        yield Lines(id="bulk-title")
        yield BulkLines()
        yield Lines(id="bulk-foot")

    def on_mount(self) -> None:
        """The list can be scrolled through."""
        give_keys(self.query_one(BulkLines))
        self._draw()
        if self._plan.stage is Stage.READING:
            self.run_worker(self._read_losses())

    def on_resize(self) -> None:
        """Wraps the names anew."""
        self._draw()
        self.call_after_refresh(self._draw)

    def take_key(self, event: events.Key) -> bool:
        """Only `y` begins, and only when all that would be lost can be read."""
        self.call_after_refresh(self._draw)
        plan = self._plan
        match event.key:
            case "y" if plan.stage is Stage.ASKING and plan.items:
                plan.stage = Stage.DOING
                self.run_worker(self._do_all())
            case "escape" if plan.stage in (Stage.DOING, Stage.ENDING):
                plan.stage = Stage.ENDING
            case "escape" | "n":
                self.dismiss(plan.done)
            case "enter" if plan.stage is Stage.DONE:
                self.dismiss(plan.done)
            case _:
                return False
        return True

    async def _read_losses(self) -> None:
        async with asyncio.TaskGroup() as tasks:
            for item in self._plan.items:
                tasks.create_task(self._read_of(item))
        self._plan.stage = Stage.ASKING
        self._draw()

    async def _read_of(self, item: Item) -> None:
        find = self._find_losses
        async with self._lanes[item.colony.key.endpoint]:
            if find is not None:
                item.losses = await find(item.colony)
        self._read += 1
        self._draw()

    async def _do_all(self) -> None:
        async with asyncio.TaskGroup() as tasks:
            for item in self._plan.items:
                tasks.create_task(self._do_to(item))
        self._plan.stage = Stage.DONE
        self._draw()
        self.call_after_refresh(self._draw)  # how much is below is known once the fates have their lines

    async def _do_to(self, item: Item) -> None:
        async with self._lanes[item.colony.key.endpoint]:
            if self._plan.stage is not Stage.DOING:
                return
            item.fate = Fate.UNDERWAY
            self._draw()
            try:
                await self._do(item.colony)
            except ClientError as problem:
                unsent = ": nothing was sent" if isinstance(problem, Unreachable) else ""
                item.fate, item.error = Fate.FAILED, f"{problem}{unsent}"
            else:
                item.fate = Fate.DONE
        self._draw()

    def _draw(self) -> None:
        plan, width = self._plan, box_width(self, WIDTH)
        role = "danger-strong" if plan.deed.is_danger and plan.items else "strong"
        self.set_lines("bulk-title", [(Span(bulk.title(plan), role),), EMPTY])
        shown = self.query_one(BulkLines)
        shown.set_lines(bulk.lines(plan, width - 1, ink_of(self).glyphs))
        is_asked = plan.stage in (Stage.READING, Stage.ASKING) and bool(plan.items)
        stays = [*((Span(part, "muted"),) for part in wrap(plan.deed.stays, width)), EMPTY] if is_asked else []
        below = (Span(f"{count(shown.below, 'more line')} below  j", "attention"),) if shown.below else ()
        self.set_lines("bulk-foot", [EMPTY, *stays, spread(self._keys(), below, width)])

    def _keys(self) -> Line:
        plan, many = self._plan, len(self._plan.items)
        match plan.stage:
            case Stage.READING:
                return line(
                    Span(f"looking for what would be lost… {self._read:,} of {many:,}   ", "dim"), *_key("esc", "back")
                )
            case Stage.ASKING:
                yes = _key("y", f"{plan.deed.verb} {many:,}   ") if many else ()
                return line(*yes, *_key("esc", "back, nothing is done"))
            case Stage.DOING:
                return line(*_key("esc", "calls off what has not begun"))
            case Stage.ENDING:
                return line(Span("waiting for what is under way…", "dim"))
            case Stage.DONE:
                return line(*_key("esc", "back"))


def _key(key: str, words: str) -> Line:
    return Span(key, "key"), Span(f" {words}", "muted")
