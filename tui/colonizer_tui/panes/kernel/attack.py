"""Attacks a plan while it is typed."""

from collections.abc import Sequence

from colonizer_client.kernel.models import ATTACK_VECTORS, PlanReview
from colonizer_client.kernel.view import KernelView
from colonizer_tui.intents import TextViewed, desk_of
from colonizer_tui.keys import Hint
from colonizer_tui.panes.kernel.kernel_list import KernelList
from colonizer_tui.present.kernel import attack
from colonizer_tui.present.line import Line, text_of
from colonizer_tui.widgets.draft_field import DraftField
from colonizer_tui.widgets.keys_to import give_keys


class PlanField(DraftField):
    """The plan. Enter is a line feed."""

    DEFAULT_CSS = """
    PlanField { height: 1fr; max-height: 100%; width: 1fr; padding: 0 1; }
    """


class AttackPane(KernelList[str]):
    """The ten attacks as a check list, beside the plan."""

    TITLE = "Attack"
    NOTHING = ""

    def __init__(self) -> None:
        super().__init__()
        self.field = PlanField(id="kernel-plan")
        self.field.text = attack.TEMPLATE
        self.field.move_cursor((0, attack.TEMPLATE.index("\n")))
        self._review: PlanReview | None = None
        self._error = ""

    def follow(self, had: KernelView) -> None:
        """Another kernel judges anew."""
        self.set_rows([*ATTACK_VECTORS, *attack.others(self._review)])
        if had.name != self.kernel.name:
            self.attack()

    def attack(self) -> None:
        """Asks for the attacks on what is typed."""
        typed = attack.parse(self.field.text)
        self._error = typed.error
        if typed.is_blank:
            self._review = None
        elif typed.plan is not None:
            desk_of(self).attack_plan(self.kernel.name, typed.plan)
        self.repaint_changed()

    def reviewed(self, review: PlanReview | None, error: str) -> None:
        """Shows what came of it; after a failure the last review stays, dated by what is said of the failure."""
        self._error = error
        if review is not None:
            self._review = review
        self.set_rows([*ATTACK_VECTORS, *attack.others(self._review)])
        self.repaint_changed()
        self.post_message(self.Moved(self))

    def row_line(self, key: str) -> Line:
        """An attack's row."""
        return attack.row(key, self._review, self.text_width - 1, self.glyphs)

    def caption(self, width: int) -> Line:
        """How a plan is written."""
        return attack.caption(width, is_wide=not self.is_narrow)

    def foot(self, width: int) -> Sequence[Line]:
        """What the selected attack found, and what all amount to."""
        found = () if self._review is None or self.selected is None else self._review.of_vector(self.selected)
        return [*attack.advice(found, width, 2), *attack.outcome(self._review, self._error, width, self.glyphs)]

    def hints(self) -> Sequence[Hint]:
        """What helps with a plan."""
        return Hint("enter", "edit the plan"), Hint("view", "whole", reason="" if self._review else "no plan yet")

    def do_enter(self) -> None:
        """Edits the plan."""
        give_keys(self.field)

    def do_view(self) -> None:
        """Everything that was found."""
        if self._review is not None:
            lines = attack.advice(self._review.findings, 90, 1_000)
            self.post_message(TextViewed("Attacks on the plan", "\n".join(text_of(one) for one in lines)))
