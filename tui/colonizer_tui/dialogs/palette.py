"""Goes to a workspace, a host or a colony, or does an action, by some letters of its name."""

import asyncio
from collections.abc import Awaitable, Callable

from textual import events
from textual.app import ComposeResult
from textual.containers import Horizontal
from textual.widgets import Input

from colonizer_tui.dialogs.dialog import Dialog
from colonizer_tui.present import palette
from colonizer_tui.present.footer import KeyHint
from colonizer_tui.present.line import EMPTY, Line, Span, line, spread
from colonizer_tui.present.palette import Catalogue, Entry, Search
from colonizer_tui.widgets.keyed_list import KeyedList
from colonizer_tui.widgets.keys_to import give_keys
from colonizer_tui.widgets.lines import Lines

STEP = 250
"""How many entries are looked at before a key may come in between: some milliseconds."""

SHOWN_EVERY = 80
"""After how many steps what was found so far is shown."""


class Found(KeyedList[int]):
    """The entries that fit, by their places in the catalogue."""

    def __init__(self, catalogue: Catalogue) -> None:
        super().__init__(id="palette-list")
        self.can_focus = False
        self.ground = "panel"
        self._catalogue = catalogue
        self.search = Search(catalogue, "")

    def row_line(self, key: int) -> Line:
        """An entry's row."""
        return palette.row(self._catalogue[key], self.search.fit(key), self.text_width - 1)

    def empty_line(self) -> Line:
        """That nothing fits, or none so far."""
        words = f"nothing fits “{self.search.needle.strip()}”" if self.search.is_done else "still looking…"
        return (Span(f"   {words}", "muted"),)

    def ground_of(self, index: int) -> str:
        """The selected row has one, though the keys are in the field."""
        return "selection" if self.keys and self.keys[index] == self.selected else ""

    def line_at(self, index: int) -> Line:
        """A row, after the mark of the selection, though the keys are in the field."""
        shown = super().line_at(index)
        is_selected = bool(self.keys) and self.keys[index] == self.selected
        return (Span(self.glyphs["select"], "active"), *shown[1:]) if is_selected else shown


class PaletteField(Input):
    """What is typed; enter does what is selected."""

    def __init__(self, enter: Callable[[], Awaitable[None]]) -> None:
        super().__init__(compact=True, placeholder="some letters of a name", select_on_focus=False)
        self.cursor_blink = False
        self._enter = enter

    async def do_enter(self) -> None:
        """Does it."""
        await self._enter()


class Palette(Dialog[None]):
    """What is chosen is done after the dialog is gone, before the next key is looked at."""

    DEFAULT_CSS = """
    Palette #dialog-box { width: 100; height: 80%; padding: 0 1; }
    Palette #palette-line { height: 1; margin-bottom: 1; }
    Palette #palette-prompt { width: 2; }
    Palette Input { height: 1; border: none; padding: 0; background: $panel; width: 1fr; }
    Palette Input:focus { border: none; }
    Palette #palette-list { height: 1fr; background: $panel; }
    """

    def __init__(
        self, title: str, prompt: str, catalogue: Catalogue, choose: Callable[[Entry], Awaitable[None]]
    ) -> None:
        """`choose` does what an entry stands for."""
        super().__init__()
        self._title, self._prompt, self._catalogue, self._choose = title, prompt, catalogue, choose
        self._field = PaletteField(self.enter)
        self._list = Found(catalogue)
        self._has_moved = False
        """Whether the selection is the person's own, and stays, rather than the best."""

    def parts(self) -> ComposeResult:
        """Title, field, what fits, and the keys."""
        yield Lines(id="palette-title")
        with Horizontal(id="palette-line"):
            yield Lines(id="palette-prompt")
            yield self._field
        yield self._list
        yield Lines(id="palette-foot")

    def on_mount(self) -> None:
        """The field has the keys; nothing typed fits everything."""
        give_keys(self._field)
        self.set_lines("palette-title", [(Span(f" {self._title}", "strong"),)])
        self.set_lines("palette-prompt", [line(Span(self._prompt, "key"))])
        self._look_for(Search(self._catalogue, ""))

    def on_resize(self) -> None:
        """Draws the foot in the new width."""
        self.call_after_refresh(self._draw_foot)

    def take_key(self, event: events.Key) -> bool:
        """Moves among what fits; every letter is the field's."""
        moves: dict[str, Callable[[], None]] = {
            "down": self._list.do_down,
            "ctrl+n": self._list.do_down,
            "up": self._list.do_up,
            "ctrl+p": self._list.do_up,
            "pagedown": self._list.do_page_down,
            "pageup": self._list.do_page_up,
        }
        if event.key in moves:
            self._has_moved = True
            moves[event.key]()
            return True
        return super().take_key(event)

    async def enter(self) -> None:
        """Does what is selected, of what fits all that was typed."""
        self._look_for_typed()
        search = self._list.search
        if not search.is_done:
            search.step(len(self._catalogue))
            self._show(search)
        place = self._list.selected
        if place is not None:
            entry = self._catalogue[place]
            await self.dismiss(None)
            await self._choose(entry)

    def on_input_changed(self, event: Input.Changed) -> None:
        """Looks for what is typed."""
        event.stop()
        self._look_for_typed()

    def on_keyed_list_moved(self, event: KeyedList.Moved) -> None:
        """Nothing depends on what is selected."""
        event.stop()

    def on_keyed_list_opened(self, event: KeyedList.Opened) -> None:
        """A double click does it too."""
        event.stop()
        self.app.call_later(self.enter)  # pyright: ignore[reportUnknownMemberType]  # Textual leaves its type open

    def _look_for_typed(self) -> None:
        if self._field.value != self._list.search.needle:
            self._look_for(self._list.search.narrowed(self._field.value))

    def _look_for(self, search: Search) -> None:
        self._list.search = search
        search.step(STEP)
        self._has_moved = False
        self._show(search)
        self.run_worker(self._go_on(search), exclusive=True)

    async def _go_on(self, search: Search) -> None:
        """Looks through the rest, letting keys in between."""
        steps = 0
        while not search.is_done and search is self._list.search:
            await asyncio.sleep(0)
            search.step(STEP)
            steps += 1
            if not steps % SHOWN_EVERY:
                self._show(search)
        if steps and search is self._list.search:
            self._show(search)

    def _show(self, search: Search) -> None:
        best = search.best()
        self._list.set_keys(best)
        if best and not self._has_moved:
            self._list.select(best[0])
        self._draw_foot()

    def _draw_foot(self) -> None:
        counted = Span(palette.count(self._list.search, self._catalogue), "muted")
        enter = KeyHint("enter", "go", "" if self._list.keys else "nothing fits").pieces()
        keys = line(Span(" "), *enter, Span("esc", "key"), Span(" back", "muted"))
        self.set_lines("palette-foot", [EMPTY, spread(keys, line(counted, Span(" ")), self._list.size.width)])
