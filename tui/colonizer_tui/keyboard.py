"""Takes each key to its end before the next one is looked at.

Textual hands a key from queue to queue: to the widget that has the focus at that moment, then outwards. Keys that come
faster than the queues move would be handed to what had the focus before, and mean something else there. Here a key's
whole effect, a change of focus or an opened dialog included, is there when the next key is taken.
"""

import asyncio
from collections.abc import Callable, Sequence
from inspect import isawaitable
from typing import cast

from textual import events
from textual.app import App
from textual.screen import Screen
from textual.widget import Widget
from textual.widgets import Input, TextArea

from colonizer_tui.dialogs.dialog import Dialog
from colonizer_tui.keys import Keymap

FIELD_ACTIONS = frozenset({"send", "back", "next_pane", "previous_pane", "palette", "jump", "quit", "suspend"})
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
        field = focused if isinstance(focused, Input | TextArea) else None
        if field is not None:
            if event.is_printable:
                return False
            await _drain(field)
        if isinstance(screen, Dialog) and await _done(screen.take_key(event)):
            return True
        name = self._actions.get(event.key, "")
        if field is not None and name not in FIELD_ACTIONS and not hasattr(field, f"do_{name}"):
            return await _edited(event, field, screen)
        return self._pick(event, focused) or await self.do(name, screen) or isinstance(screen, Dialog)

    def means(self, event: events.Key, name: str) -> bool:
        """Whether the key is an action's."""
        return self._actions.get(event.key) == name

    def can_do(self, name: str, screen: "Screen[object]") -> bool:
        """Whether anything that an action's key would reach now does something for it."""
        return any(hasattr(node, f"do_{name}") for node in self._reached(name, screen))

    async def do(self, name: str, screen: "Screen[object]") -> bool:
        """Has an action done by what its key reaches, from the inside outwards, whatever is being typed there.

        What has nothing to do for it says so by False, and the next one outwards is asked.
        """
        for node in self._reached(name, screen):
            doing = getattr(node, f"do_{name}", None)
            if doing is not None and await _done(doing()) is not False:
                return True
        return False

    def _reached(self, name: str, screen: "Screen[object]") -> list[object]:
        focused = screen.focused
        inner: list[object] = [] if focused is None else [*focused.ancestors_with_self[:-1]]
        is_dialogs = isinstance(screen, Dialog) and name not in DIALOG_ACTIONS
        return inner if is_dialogs else [*inner, *self._outer()]

    @staticmethod
    def _pick(event: events.Key, focused: Widget | None) -> bool:
        """Whether a digit picked something where it does."""
        picking: Callable[[int], None] | None = getattr(focused, "pick", None)
        if picking is None or event.character is None or event.character not in "123456789":
            return False
        picking(int(event.character))
        return True


async def _done(result: object) -> object:
    return await result if isawaitable(result) else result


async def _edited(event: events.Key, field: Widget, screen: "Screen[object]") -> bool:
    """Whether the key edits the field. It does so now: by Textual's own way it would reach what has the focus later."""
    active = screen.active_bindings.get(event.key)
    if active is None or active.node is not field or not active.enabled:
        return False
    app = cast(App[object], field.app)  # pyright: ignore[reportUnknownMemberType]  # Textual leaves its type open
    return await app.run_action(active.binding.action, field)


async def _drain(field: Widget) -> None:
    """Returns when the field has taken all letters that were typed before."""
    taken = asyncio.Event()
    field.call_next(taken.set)
    try:
        async with asyncio.timeout(DRAIN_S):
            await taken.wait()
    except TimeoutError:
        return
