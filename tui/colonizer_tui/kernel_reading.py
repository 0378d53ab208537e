"""What is read for the screen of kernels: the one in front is watched, and its rows in sight are sampled first."""

import asyncio
from collections.abc import Mapping, Sequence
from functools import partial

from colonizer_client.cockpit import Cockpit
from colonizer_client.errors import ClientError
from colonizer_client.identity import EndpointName
from colonizer_client.kernel.models import SIGNAL_TYPES
from colonizer_client.kernel.view import KernelView
from colonizer_tui.deck import Deck
from colonizer_tui.dialogs.page import Page
from colonizer_tui.face import Face
from colonizer_tui.intents import PlaceOpened
from colonizer_tui.present.kernel import place as places
from colonizer_tui.present.line import Line
from colonizer_tui.widgets.ink import ink_of


class KernelReading:
    """Keeps what is on the screen of a kernel fresh."""

    def __init__(self, deck: Deck, cockpit: Cockpit, face: Face) -> None:
        self._deck = deck
        self._cockpit = cockpit
        self._face = face
        self._watched: EndpointName | None = None
        self._first: Sequence[str] = ()
        self._attack: asyncio.Task[object] | None = None

    def follow(self) -> None:
        """Watches the kernel in front, and no other one."""
        kernel = self._deck.kernel.kernel if self._deck.workspace is self._deck.kernel else None
        name = None if kernel is None else kernel.name
        if name != self._watched:
            watched, self._watched, self._first = self._watched, name, ()
            if watched is not None:
                self._cockpit.kernels.unwatch(watched)
            if name is not None:
                self._face.attempt(partial(self._cockpit.kernels.watch, name))
        if kernel is not None and not kernel.capabilities.has_operator_calls:
            self._sample_first(kernel)

    def _sample_first(self, kernel: KernelView) -> None:
        in_sight = self._deck.kernel.heatmap.in_sight
        if in_sight != self._first:
            self._first = in_sight
            self._face.attempt(partial(self._cockpit.kernels.sample_first, kernel.name, in_sight))

    def attack(self, kernel: EndpointName, plan: Mapping[str, object]) -> None:
        """Attacks a plan, and no longer the one before."""
        if self._attack is not None:
            self._attack.cancel()
        self._face.start(partial(self._review, kernel, plan))

    async def _review(self, kernel: EndpointName, plan: Mapping[str, object]) -> None:
        self._attack = asyncio.current_task()
        try:
            review = await self._cockpit.kernels.falsify(kernel, plan)
        except ClientError as problem:
            self._deck.kernel.attack.reviewed(None, str(problem))
        else:
            self._deck.kernel.attack.reviewed(review, "")

    async def open_place(self, opened: PlaceOpened) -> None:
        """Shows everything about a place at once, and again with the evidence that is read meanwhile."""

        def make(width: int) -> Sequence[Line]:
            pane = self._deck.kernel.heatmap
            place = self._cockpit.snapshot.kernels[opened.kernel].places.get(opened.place)
            return () if place is None else places.page(place, pane.moment, width, ink_of(self._deck).glyphs)

        page = Page("the place", "v", make)
        await self._face.open(page)
        self._face.start(partial(self._read_evidence, opened, page))

    async def _read_evidence(self, opened: PlaceOpened, page: Page) -> None:
        kernel = self._cockpit.snapshot.kernels.get(opened.kernel)
        place = None if kernel is None else kernel.places.get(opened.place)
        if place is None:
            return
        for signal in SIGNAL_TYPES:
            cell = place.cell(signal)
            if cell is not None and not cell.newest.strength:
                continue
            try:
                await self._cockpit.kernels.query(opened.kernel, opened.place, signal)
            except ClientError:
                return
            page.make_anew()
