"""The card in which a person answers: every question of a prompt, in place."""

from collections.abc import Callable, Hashable, Mapping, Sequence

from textual.app import ComposeResult
from textual.containers import VerticalScroll
from textual.timer import Timer
from textual.widget import Widget
from textual.widgets import TextArea

from colonizer_client.answers import Chosen
from colonizer_client.attention import waiting_since
from colonizer_client.identity import ColonyKey
from colonizer_client.mothership.models import OpenQuestion
from colonizer_client.outbox import Delivery
from colonizer_tui.intents import CardSent, TextViewed, desk_of
from colonizer_tui.keys import Hint
from colonizer_tui.present import abilities, card
from colonizer_tui.present.card import Spot
from colonizer_tui.present.line import Line, Span, line, spread
from colonizer_tui.present.view import View
from colonizer_tui.widgets.draft_field import DraftField
from colonizer_tui.widgets.ink import ink_of
from colonizer_tui.widgets.keys_to import give_keys, has_keys
from colonizer_tui.widgets.lines import Lines

DRAFT_DELAY_S = 0.2
"""How long after a key the draft is stored; keys in between are stored together."""


class CardPane(Widget, can_focus=True):
    """Shows one colony's question. Digits pick options only after the person opened it, which gives it the focus."""

    DEFAULT_CSS = """
    CardPane { layout: vertical; height: 1fr; padding: 0 1; }
    CardPane VerticalScroll { height: 1fr; scrollbar-size: 0 0; background: $background; }
    CardPane .other { padding: 0 0 0 6; display: none; }
    CardPane .other.shown { display: block; }
    CardPane #card-foot { height: 1; }
    """

    def __init__(self) -> None:
        super().__init__()
        self.left: Callable[[], None] = lambda: None
        """Called when the card gives the keys back."""
        self._key: ColonyKey | None = None
        self._question: OpenQuestion | None = None
        self._chosen: list[Chosen] = []
        self._kept: tuple[Chosen, ...] = ()
        """What was stored last."""
        self._spot = Spot()
        self._view = View()
        self._saving: Timer | None = None
        self._labels: Mapping[Hashable, str] = {}

        self._head, self._foot = Lines(), Lines(id="card-foot")
        self._body = VerticalScroll(can_focus=False)
        self._prompts: list[Lines] = []
        self._fields: list[DraftField] = []
        """Lines and a field for each prompt; more than that where an earlier card had more."""

    def compose(self) -> ComposeResult:
        """Head, the prompts with a field each, and the foot."""
        yield self._head
        yield self._body
        yield self._foot

    @property
    def question(self) -> OpenQuestion | None:
        """The question that the card shows."""
        return self._question

    def draft_text(self) -> str:
        """What is written in the field of the prompt under the cursor."""
        return self._fields[self._spot.prompt].text if self._fields else ""

    @property
    def is_open(self) -> bool:
        """Whether the keys go to the card."""
        return has_keys(self) or self._field_in_focus() is not None

    def hints(self) -> Sequence[Hint]:
        """What helps while the card is open."""
        missing = self._missing()
        reason = "" if missing is None else "a question is not answered yet"
        if self._field_in_focus() is not None:
            return Hint("send", reason=reason), Hint("back", "to the options")
        count = self._option_count(self._spot.prompt) + 1
        send = Hint("enter", "send") if self._enter_sends() else Hint("send", reason=reason)
        picking = (Hint(keys=f"1-{min(count, 9)}", label="pick"), Hint(keys="j k", label="move")) if count > 1 else ()
        return send, *picking, Hint("view"), Hint("back")

    def show(self, key: ColonyKey, question: OpenQuestion, view: View) -> None:
        """Shows a question. Another one than before closes the card: keys meant for the old one reach nothing."""
        self._view = view
        is_other = self._question is None or self._key != key or self._question.fingerprint != question.fingerprint
        if is_other:
            if self._question is not None and self.is_open:
                self.withdraw("it asks something else now", view)
            self.store_draft()
            self._key, self._question = key, question
            self._kept = desk_of(self).card_draft(key, question)
            self._chosen = list(self._kept)
            self._spot = self._spot_of(next((at for at, given in enumerate(self._chosen) if given.is_empty), 0))
            self._make_prompts(len(self._chosen))
        self.draw()

    def spots(self) -> Sequence[Hashable]:
        """The options of the prompt under the cursor, and the other prompts, while the card is open."""
        if not self.is_open:
            return ()
        here = self._spot.prompt
        return [
            Spot(place, option)
            for place in range(len(self._chosen))
            for option in range(self._last_row(place) + 1 if place == here else 1)
        ]

    def label(self, labels: Mapping[Hashable, str]) -> None:
        """Draws a label over the first cells of each of these spots, and none over others."""
        self._labels = labels
        self.draw()

    def jump_to(self, spot: Hashable) -> None:
        """Goes to an option or a prompt, and picks nothing."""
        give_keys(self)
        if isinstance(spot, Spot):
            self._spot = spot
            self.draw()
            self.call_after_refresh(self._scroll_to_spot)

    def withdraw(self, why: str, view: View) -> None:
        """Gives the keys back because what was asked is asked no more; says why, unless it was answered here."""
        self._view = view
        if self._delivery() is None:
            desk_of(self).tell(f"{why}; your draft is kept", tone="refusal")
        self.left()

    def open(self) -> None:
        """Takes the keys; where an answer in words was begun, or there are no options, its field takes them."""
        give_keys(self)
        if self._spot.option >= self._option_count(self._spot.prompt):
            self._edit(self._spot.prompt)

    def on_focus(self) -> None:
        """The card is open."""
        self.call_later(self.draw)

    def on_blur(self) -> None:
        """The card may be closed."""
        self.call_later(self.draw)

    def on_resize(self) -> None:
        """The texts are wrapped anew."""
        self.draw()

    def draw(self) -> None:
        """Draws what changed."""
        question, key = self._question, self._key
        colony = None if key is None else self._view.snapshot.colonies.get(key)
        if question is None or colony is None or not self.is_mounted or not self.size.width:
            return
        width = self.size.width - 2
        waited = self._view.server_now(colony.key) - waiting_since(colony, question)
        refusal = abilities.refusal("answer", colony, self._view.snapshot.endpoint_of(colony.key), question)
        self._head.set_lines(card.heading(colony, question, waited, refusal, width))
        spot = self._spot if self.is_open else None
        for place in range(len(self._chosen)):
            self._draw_prompt(question, place, spot, width)
        self._draw_foot(question, refusal, width)

    def pick(self, number: int) -> None:
        """Picks the option with this number, of the prompt under the cursor."""
        self._pick(number - 1)

    def do_down(self) -> None:
        """The next option, or the next prompt after the last."""
        self._move(1)

    def do_up(self) -> None:
        """The option before, or the last one of the prompt before."""
        self._move(-1)

    def do_enter(self) -> None:
        """Picks what is under the cursor; where that is picked and is all there is to answer, sends it."""
        if self._enter_sends():
            self.do_send()
        else:
            self._pick(self._spot.option)

    def do_send(self) -> None:
        """Sends the card."""
        question, key = self._question, self._key
        if question is None or key is None:
            return
        if self._is_on_its_way():
            desk_of(self).tell("it is on its way already", tone="refusal")
            return
        self._take_all_typed()  # the fields may not have told of the last letters yet
        missing = self._missing()
        if missing is not None:
            self._spot = Spot(missing)
            give_keys(self)
            self.draw()
            which = f"question {missing + 1} is" if len(self._chosen) > 1 else "it is"
            words = f"{which} not answered yet: pick an option, or write something else"
            desk_of(self).tell(words, tone="refusal")
            return
        self.store_draft()
        give_keys(self)  # out of the field: what is typed from now on is no part of the answer
        self.post_message(CardSent(key, question, tuple(self._chosen)))

    def do_back(self) -> None:
        """From a field to the options, from the options back to where the card was opened."""
        if self._field_in_focus() is not None:
            give_keys(self)
        else:
            self.store_draft()
            self.left()

    def do_view(self) -> None:
        """The whole card in the viewer."""
        if self._question is not None:
            self.post_message(TextViewed(f"what {self._asker()} asks", card.whole_text(self._question)))

    def on_text_area_changed(self, event: TextArea.Changed) -> None:
        """What is typed is part of the draft."""
        event.stop()
        place = self._place_of(event.text_area)
        if place is not None and place < len(self._chosen) and self._take_typed(place):
            self._changed()

    def store_draft(self) -> None:
        """Keeps what was chosen and typed since the last time."""
        if self._saving is not None:
            self._saving.stop()
            self._saving = None
        if self._key is None or self._question is None:
            return
        self._take_all_typed()
        chosen = tuple(self._chosen)
        if chosen != self._kept and desk_of(self).keep_card_draft(self._key, self._question, chosen):
            self._kept = chosen

    def _draw_prompt(self, question: OpenQuestion, place: int, spot: Spot | None, width: int) -> None:
        glyphs, chosen = ink_of(self).glyphs, self._chosen[place]
        lines = self._prompts[place]
        if question.prompts:
            lines.set_lines(card.prompt_lines(question, place, chosen, spot, width, glyphs, self._labels))
            has_options = bool(question.prompts[place].options)
        else:
            lines.set_lines(card.no_prompts_lines(width))
            has_options = False
        field = self._fields[place]
        is_here = spot is not None and spot.prompt == place
        at_other = is_here and spot is not None and spot.option >= self._option_count(place)
        field.set_class(field.has_focus or (is_here and bool(chosen.other)) or (at_other and not has_options), "shown")

    def _draw_foot(self, question: OpenQuestion, refusal: str, width: int) -> None:
        status = card.footing(question, self._chosen, self._delivery(), self.is_open)
        keys: Line = ()
        if self.is_open:
            is_ready = self._missing() is None
            count = f" {len(self._chosen)}" if len(self._chosen) > 1 else ""
            key = self._view.shown("enter" if self._enter_sends() else "send")
            keys = line(
                Span(key, "key" if is_ready else "key-off"), Span(f" send{count}", "muted" if is_ready else "key-off")
            )
        elif not refusal:
            keys = line(Span(self._view.shown("answer"), "key"), Span(" answer", "muted"))
        self._foot.set_lines([spread(status, keys, width)])

    def _take_all_typed(self) -> None:
        for place in range(len(self._chosen)):
            self._take_typed(place)

    def _take_typed(self, place: int) -> bool:
        """Takes what stands in a prompt's field into the choice; whether that changed it."""
        text, given = self._fields[place].text, self._chosen[place]
        if text == given.other:
            return False
        labels = given.labels if self._is_multi(place) or not text.strip() else ()
        self._chosen[place] = Chosen(labels, text)
        return True

    def _make_prompts(self, count: int) -> None:
        """Has lines and a field for each prompt.

        Those of earlier cards are used again, and hidden where there are more of them: removing them takes a while, in
        which the next moment may have to be drawn.
        """
        while len(self._fields) < count:
            field = DraftField(placeholder="in your own words")
            field.add_class("other")
            self._prompts.append(Lines())
            self._fields.append(field)
            self._body.mount(self._prompts[-1], field)
        for lines, field in zip(self._prompts, self._fields, strict=True):
            lines.set_lines([])
            field.remove_class("shown")
        for field, given in zip(self._fields, self._chosen, strict=False):
            field.set_text(given.other)
        self._body.scroll_home(animate=False)

    def _asker(self) -> str:
        colony = None if self._key is None else self._view.snapshot.colonies.get(self._key)
        return "it" if colony is None else f"{colony.title} ({colony.shown_id})"

    def _spot_of(self, place: int) -> Spot:
        """Where the cursor goes in a prompt: to what is chosen of it, to the first option where nothing is."""
        given, question = self._chosen[place], self._question
        if given.other or question is None or not question.prompts:
            return Spot(place, self._option_count(place))
        labels = [option.label_raw for option in question.prompts[place].options]
        return Spot(place, next((at for at, label in enumerate(labels) if label in given.labels), 0))

    def _enter_sends(self) -> bool:
        """Whether enter sends: what would go out is what the cursor stands on, and nothing that is half typed."""
        question = self._question
        if question is None or not question.is_single_choice or not has_keys(self):
            return False
        options, spot = question.prompts[0].options, self._spot.option
        return spot < len(options) and options[spot].label_raw in self._chosen[0].labels

    def _missing(self) -> int | None:
        """The place of the first prompt without an answer."""
        return next((place for place, given in enumerate(self._chosen) if given.is_empty), None)

    def _pick(self, option: int) -> None:
        question = self._question
        if question is None or self._is_on_its_way():
            return
        place, count = self._spot.prompt, self._option_count(self._spot.prompt)
        if option >= count:
            if option == count:
                self._spot = Spot(place, count)
                self._edit(place)
            return
        self._spot = Spot(place, option)
        label, given = question.prompts[place].options[option].label_raw, self._chosen[place]
        if self._is_multi(place):
            labels = tuple(kept for kept in given.labels if kept != label)
            self._chosen[place] = Chosen(labels if label in given.labels else (*given.labels, label), given.other)
        else:
            self._chosen[place] = Chosen((label,))
            self._fields[place].set_text("")
            if place + 1 < len(self._chosen) and self._chosen[place + 1].is_empty:
                self._spot = Spot(place + 1)
        self._changed()

    def _move(self, rows: int) -> None:
        place, option = self._spot.prompt, self._spot.option + rows
        if option < 0:
            if place == 0:
                return
            place -= 1
            option = self._last_row(place)
        elif option > self._last_row(place):
            if place + 1 >= len(self._chosen):
                return
            place, option = place + 1, 0
        self._spot = Spot(place, option)
        self.draw()
        self.call_after_refresh(self._scroll_to_spot)

    def _edit(self, place: int) -> None:
        field = self._fields[place]
        field.add_class("shown")
        give_keys(field)
        self.draw()

    def _changed(self) -> None:
        if self._saving is not None:
            self._saving.stop()
        self._saving = self.set_timer(DRAFT_DELAY_S, self.store_draft)
        self.draw()
        self.call_after_refresh(self._scroll_to_spot)

    def _scroll_to_spot(self) -> None:
        self._prompts[self._spot.prompt].scroll_visible(animate=False)

    def _delivery(self) -> Delivery | None:
        """The newest delivery that answers this very question, asked at this very time."""
        question = self._question
        if question is None:
            return None
        ours = [
            delivery
            for delivery in self._view.snapshot.deliveries.values()
            if delivery.key == self._key and delivery.answers(question)
        ]
        return max(ours, key=lambda delivery: delivery.created_at, default=None)

    def _is_on_its_way(self) -> bool:
        delivery = self._delivery()
        return delivery is not None and (not delivery.is_settled or delivery.state == "confirmed")

    def _option_count(self, place: int) -> int:
        return 0 if self._question is None or not self._question.prompts else len(self._question.prompts[place].options)

    def _last_row(self, place: int) -> int:
        """The row of the free text: after the last option."""
        return self._option_count(place)

    def _is_multi(self, place: int) -> bool:
        question = self._question
        return question is not None and bool(question.prompts) and question.prompts[place].multi_select

    def _field_in_focus(self) -> DraftField | None:
        return next((field for field in self._fields if has_keys(field)), None)

    def _place_of(self, field: TextArea) -> int | None:
        return next((place for place, ours in enumerate(self._fields) if ours is field), None)
