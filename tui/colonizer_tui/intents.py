"""What a person wants, as messages from the panes to the application. The panes do nothing themselves."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, Protocol, TypeAlias, cast

from textual.message import Message
from textual.widget import Widget

from colonizer_client.answers import Chosen
from colonizer_client.approvals.models import Approval
from colonizer_client.identity import ColonyKey, EndpointName
from colonizer_client.kernel.bridge import Offer
from colonizer_client.kernel.view import KernelView
from colonizer_client.mothership.models import OpenQuestion
from colonizer_config.value import Value
from colonizer_tui.present.links import Link

Tone: TypeAlias = Literal["news", "refusal", "fault"]
"""How words are meant: something happened; a key could do nothing, or text is still missing; something went wrong."""


@dataclass
class ColonySelected(Message):
    """Another colony is under the cursor."""

    key: ColonyKey


@dataclass
class CardSent(Message):
    """The card is to be sent."""

    key: ColonyKey
    question: OpenQuestion
    chosen: Sequence[Chosen]


@dataclass
class MessageSent(Message):
    """The message is to be sent."""

    key: ColonyKey
    text: str


@dataclass
class OlderWanted(Message):
    """The transcript was scrolled to its beginning."""

    key: ColonyKey


@dataclass
class TextViewed(Message):
    """A whole text is to be shown, nothing cut."""

    title: str
    text: str


@dataclass
class ReconnectWanted(Message):
    """A connection is to be tried again at once."""

    endpoint: EndpointName


@dataclass
class PlaceOpened(Message):
    """Everything about a place of a kernel is to be shown."""

    kernel: EndpointName
    place: str
    """Its raw name."""


@dataclass
class SubjectWanted(Message):
    """The place or the agent of a kernel with this raw name is to be shown."""

    subject: str


class Copied(Value):
    """A text to be copied."""

    what: str
    """What it is, in words for the person."""
    text: str
    done: Callable[[], None] = lambda: None
    """Called once it is copied."""


class Desk(Protocol):
    """What the panes ask the application for, and have at once.

    What gives the keys to another pane is here and not among the messages: the next key may be there already. So is
    what a pane has to say while its parents draw it, for a message sent then stops at the parent that draws.
    """

    def tell(self, words: str, *, tone: Tone = "news") -> None:
        """Shows words for a while."""
        ...

    def open_colony(self, key: ColonyKey, pane: str = "transcript") -> None:
        """Shows a colony whole; `pane` gets the keys: `transcript` or `diff`."""
        ...

    async def copy(self, copied: Copied) -> None:
        """Copies a text; a dialog that this needs has the keys afterwards."""
        ...

    async def browse(self, links: Sequence[Link]) -> None:
        """Opens one of these links in the browser, after asking."""
        ...

    def card_draft(self, key: ColonyKey, question: OpenQuestion) -> tuple[Chosen, ...]:
        """What was chosen and typed in this card before."""
        ...

    def keep_card_draft(self, key: ColonyKey, question: OpenQuestion, chosen: Sequence[Chosen]) -> bool:
        """Keeps what is chosen and typed in this card; the person is told where that fails."""
        ...

    def attack_plan(self, kernel: EndpointName, plan: Mapping[str, object]) -> None:
        """Has a kernel attack a plan, and no longer the one before; what comes of it is shown later."""
        ...

    async def decide(self, approval: Approval) -> None:
        """Shows a call of an agent whole, and takes the person's word on it."""
        ...

    async def record_offer(self, kernel: KernelView, offer: Offer) -> None:
        """Records what a colony came to in the kernel, after asking."""
        ...

    async def dismiss_offer(self, kernel: KernelView, offer: Offer) -> None:
        """Makes an offer no more, after asking."""
        ...

    def message_draft(self, key: ColonyKey) -> str:
        """What was typed to this colony before."""
        ...

    def keep_message_draft(self, key: ColonyKey, text: str) -> bool:
        """Keeps what is typed to this colony; the person is told where that fails."""
        ...


def desk_of(widget: Widget) -> Desk:
    """The application as this widget may ask it."""
    return cast(Desk, widget.app)  # pyright: ignore[reportUnknownMemberType]  # Textual leaves its type open
