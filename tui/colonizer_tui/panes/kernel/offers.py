"""What colonies came to, offered to be recorded in the kernel that the settings name."""

from collections.abc import Sequence

from colonizer_client.kernel.bridge import Offer
from colonizer_client.kernel.view import KernelView
from colonizer_tui.intents import desk_of
from colonizer_tui.keys import Hint
from colonizer_tui.panes.kernel.kernel_list import KernelList
from colonizer_tui.present.kernel import offers
from colonizer_tui.present.line import Line
from colonizer_tui.widgets.keyed_list import KeyedList


class OfferList(KernelList[str]):
    """Offers, the oldest first. Nothing is recorded before the person says so."""

    TITLE = "Offers"
    NOTHING = "No colony has ended since you last settled what they came to."
    HAS_DETAIL = True

    def __init__(self) -> None:
        super().__init__()
        self._offers: dict[str, Offer] = {}

    @property
    def offer(self) -> Offer | None:
        """The selected offer."""
        return None if self.selected is None else self._offers.get(self.selected)

    @property
    def subject(self) -> str:
        """The target of the selected offer."""
        return "" if self.offer is None else self.offer.target

    def follow(self, had: KernelView) -> None:
        """Takes the offers as they are now; only the chosen kernel has some."""
        del had
        snapshot = self.view.snapshot
        found = snapshot.offers if self._is_chosen else ()
        self._offers = {offer.id: offer for offer in found}
        self.set_rows(list(self._offers))

    @property
    def _is_chosen(self) -> bool:
        return self.view.snapshot.offers_for == self.kernel.name

    def empty_lines(self) -> Sequence[Line]:
        """Why there is none, and where offers are set up."""
        if not self._is_chosen:
            return offers.of_another(self.view.snapshot.offers_for, self.text_width - 4)
        return super().empty_lines()

    def row_line(self, key: str) -> Line:
        """An offer's row."""
        offer = self._offers.get(key)
        return () if offer is None else offers.row(offer, self.view.now, self.text_width - 1)

    def caption(self, width: int) -> Line:
        """The names of the columns."""
        del width
        return offers.caption(self.text_width - 1)

    def detail(self, width: int) -> Sequence[Line]:
        """The selected offer whole."""
        return () if self.offer is None else offers.detail(self.offer, width)

    def hints(self) -> Sequence[Hint]:
        """What can be done with an offer."""
        nothing = "" if self.offer else "there is no offer"
        return Hint("enter", "record it", reason=nothing), Hint("clean_up", "dismiss it", reason=nothing)

    async def do_enter(self) -> None:
        """Records it, after asking."""
        if self.offer is not None:
            await desk_of(self).record_offer(self.kernel, self.offer)

    async def do_clean_up(self) -> None:
        """Makes it no more, after asking."""
        if self.offer is not None:
            await desk_of(self).dismiss_offer(self.kernel, self.offer)

    async def on_keyed_list_opened(self, event: KeyedList.Opened) -> None:
        """Records the one that was clicked twice, after asking."""
        event.stop()
        await self.do_enter()
