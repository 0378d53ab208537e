"""Tells what became of answers and messages, each once."""

from collections.abc import Callable

from colonizer_client.cockpit import Cockpit
from colonizer_client.outbox import Delivery
from colonizer_client.snapshot import Topics
from colonizer_tui.face import Face
from colonizer_tui.present import card
from colonizer_tui.present.view import View


class Fates:
    """Watches deliveries until they are settled."""

    def __init__(self, cockpit: Cockpit, face: Face) -> None:
        self._cockpit = cockpit
        self._face = face
        self._told: set[str] = set()

    def changed(self, view: View, topics: Topics) -> None:
        """Tells of the deliveries that were settled since the last moment."""
        for delivery_id in topics.deliveries:
            delivery = view.snapshot.deliveries.get(delivery_id)
            if delivery is not None and delivery.is_settled and delivery_id not in self._told:
                self._told.add(delivery_id)
                self._tell(delivery, view)

    def _tell(self, delivery: Delivery, view: View) -> None:
        is_good = delivery.state == "confirmed"
        if delivery.kind == "answer" and is_good:
            self._face.attempt(self._forgetting(delivery))
        if delivery.kind == "answer" or not is_good:
            colony = view.snapshot.colonies.get(delivery.key)
            name = str(delivery.key) if colony is None else colony.title
            words = "".join(piece.text for piece in card.delivery_words(delivery))
            self._face.tell(f"{words} · {name}", tone="news" if is_good else "fault")

    def _forgetting(self, delivery: Delivery) -> Callable[[], None]:
        """What was delivered is no draft any more."""
        return lambda: self._cockpit.drafts.forget_card(delivery.key, delivery.fingerprint)
