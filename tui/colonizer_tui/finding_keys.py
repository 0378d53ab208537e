"""What the keys do that lead anywhere: the list of all that there is to go to and to do, and letters on the screen."""

from collections.abc import Callable

from colonizer_tui.deck import Deck
from colonizer_tui.dialogs.palette import Palette
from colonizer_tui.face import Face
from colonizer_tui.intents import desk_of
from colonizer_tui.keyboard import Keyboard
from colonizer_tui.present.palette import Catalogue, Entry, host_of
from colonizer_tui.widgets.ink import ink_of


class FindingKeys:
    """Goes where the person chooses, and does what they choose as its key does, where the keys were before."""

    def __init__(self, deck: Deck, face: Face, keyboard: Callable[[], Keyboard]) -> None:
        self._deck = deck
        self._face = face
        self._keyboard = keyboard

    async def do_go_to(self) -> None:
        """Finds workspaces, hosts and colonies, then actions."""
        await self._open("Go to", ":", "places")

    async def do_palette(self) -> None:
        """Finds actions, then workspaces, hosts and colonies."""
        await self._open("Commands", ">", "actions")

    def do_jump(self) -> None:
        """Puts letters on all that is in sight."""
        self._deck.jump.begin()

    async def _open(self, title: str, prompt: str, begins_with: str) -> None:
        keymap = self._deck.keymap
        reasons = {name: self._why_not(name) for name in keymap.actions if name not in ("go_to", "palette")}
        catalogue = Catalogue(begins_with, keymap, reasons, self._deck.view, ink_of(self._deck).glyphs)
        await self._face.open(Palette(title, prompt, catalogue, self._go_to))

    def _why_not(self, action: str) -> str:
        """Why an action's key does nothing now, where the keys are."""
        if not self._keyboard().can_do(action, self._deck.screen):
            return "nothing here does that"
        hinted = next((hint.reason for hint in self._deck.workspace.hints() if hint.action == action), "")
        return hinted or self._deck.why_not(action)

    async def _go_to(self, entry: Entry) -> None:
        keyboard, here = self._keyboard(), self._deck.screen
        if entry.colony is not None:
            desk_of(self._deck).open_colony(entry.colony)
        elif entry.kind == "host":
            self._deck.show_host(host_of(entry))
        elif keyboard.can_do(entry.name, here):
            await keyboard.do(entry.name, here)
        else:
            self._face.tell(f"{entry.title}: {entry.reason}", tone="refusal")
        self._deck.show_again()
