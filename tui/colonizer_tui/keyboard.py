"""Takes each key to its end before the next one is looked at.

Textual hands a key from queue to queue: to the widget that has the focus at that moment, then outwards. Keys that come
faster than the queues move would be handed to what had the focus before, and mean something else there. Here a key's
whole effect, a change of focus or an opened dialog included, is there when the next key is taken.
"""

import asyncio
from collections.abc import Callable, Sequence
from inspect import isawaitable

from textual import events
from textual.screen import Screen
from textual.widget import Widget
from textual.widgets import Input, TextArea

from colonizer_tui.dialogs.dialog import Dialog
from colonizer_tui.keys import Keymap

FIELD_ACTIONS = frozenset({"send", "back", "next_pane", "previous_pane", "quit", "suspend"})
"""What a key still does while text is typed; every other key is the field's own."""

DIALOG_ACTIONS = frozenset({"quit"})
"""What of the program's keys still counts over a dialog."""

DRAIN_S = 1.0
"""How long a field is waited for that still has typed letters before it."""


class Keyboard:
    """Finds who a key is for, and has it done."""

    def __init__(self, keymap: Keymap, outer: Callable[[], Sequence[object]]) -> None:
        self._actions = {key: action.name for action in keymap.actions.values() for key in action.keys}
        self._outer = outer
        """Who is asked after the widget with the focus and what it lies in, from the inside outwards."""

    async def take(self, event: events.Key, screen: "Screen[object]") -> bool:
        """Whether the key was ours; one that is not goes the way of Textual's own keys."""
        focused = screen.focused
        in_field = isinstance(focused, Input | TextArea)
        if focused is not None and in_field:
            if event.is_printable:
                return False
            await _drain(focused)
        if isinstance(screen, Dialog) and await _done(screen.take_key(event)):
            return True
        name = self._actions.get(event.key, "")
        if in_field and name not in FIELD_ACTIONS and not hasattr(focused, f"do_{name}"):
            return False
        return await self._act(name, event, focused, screen)

    async def _act(self, name: str, event: events.Key, focused: Widget | None, screen: "Screen[object]") -> bool:
        inner: list[object] = [] if focused is None else [*focused.ancestors_with_self[:-1]]
        if event.character is not None and event.character in "123456789":
            picking: Callable[[int], None] | None = getattr(focused, "pick", None)
            if picking is not None:
                picking(int(event.character))
                return True
        is_dialogs = isinstance(screen, Dialog) and name not in DIALOG_ACTIONS
        outer: Sequence[object] = () if is_dialogs else self._outer()
        for node in (*inner, *outer):
            doing = getattr(node, f"do_{name}", None)
            if doing is not None:
                await _done(doing())
                return True
        return isinstance(screen, Dialog)


async def _done(result: object) -> object:
    return await result if isawaitable(result) else result


async def _drain(field: Widget) -> None:
    """Returns when the field has taken all letters that were typed before."""
    taken = asyncio.Event()
    field.call_next(taken.set)
    try:
        async with asyncio.timeout(DRAIN_S):
            await taken.wait()
    except TimeoutError:
        return
