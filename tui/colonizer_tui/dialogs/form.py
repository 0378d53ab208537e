"""A few fields that are filled in and handed over; what is wrong with them is said where they stand."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Generic, TypeVar

from textual import events
from textual.app import ComposeResult
from textual.containers import Horizontal
from textual.widgets import Input

from colonizer_client.errors import ClientError
from colonizer_config.value import Value
from colonizer_tui.dialogs.choice import Way
from colonizer_tui.dialogs.dialog import Dialog, above_keys, box_width, field_label
from colonizer_tui.hosts import HostError, NoKeyring
from colonizer_tui.present.line import EMPTY, Line, Span, line, wrap
from colonizer_tui.widgets.keys_to import give_keys
from colonizer_tui.widgets.lines import Lines
from colonizer_tui.widgets.secret_field import PlainField, SecretField

T = TypeVar("T")

LABEL_WIDTH = 13

PLAIN_FILE = Way("ctrl+f", "plain_file", "go on, keep it in that file")

Filled = Mapping[str, str]
"""What stands in the fields, by their names; a way that was offered and taken is there too."""


class Field(Value):
    """One thing to fill in."""

    name: str
    hint: str
    value: str = ""
    is_secret: bool = False
    label: str = ""
    """What stands before it, where that is not its name."""


class Terms(Value):
    """What a form says besides its fields."""

    title: Line
    yes: str
    """What ctrl+s does."""
    waiting: str
    """What is said while it is done."""
    notes: Callable[[Filled], Sequence[Span]] = lambda filled: ()
    """What to know of what stands in the fields now."""
    left: Callable[[Filled], None] = lambda filled: None
    """Takes what stands in the fields when the form is left, so that nothing that was typed is lost."""


class Form(Dialog[T], Generic[T]):
    """What came of handing it over. Until that has worked the form stays, with what is wrong."""

    DEFAULT_CSS = """
    Form .row { height: auto; }
    Form .label { width: 13; }
    Form Input { background: $background; width: 1fr; height: 1; border: none; padding: 0; }
    """

    def __init__(self, terms: Terms, fields: Sequence[Field], hand_over: Callable[[Filled], Awaitable[T]]) -> None:
        super().__init__()
        self._terms, self._fields, self._hand_over = terms, fields, hand_over
        self._error = ""
        self._offered: Way | None = None
        self._is_waiting = False

    def parts(self) -> ComposeResult:
        """A row for each field."""
        yield Lines(id="form-title")
        for field in self._fields:
            with Horizontal(classes="row"):
                yield Lines(id=f"label-{field.name}", classes="label")
                placeholder = field.hint  # always a literal of ours
                if field.is_secret:
                    yield SecretField(placeholder=placeholder, id=f"form-{field.name}")
                else:
                    yield PlainField(
                        field.value, placeholder=placeholder, id=f"form-{field.name}", divert=self._divert_link
                    )
        yield Lines(id="form-foot")

    def on_mount(self) -> None:
        """The first field that is empty is what is to be filled in."""
        empty = next((field for field in self._fields if not field.value), self._fields[0])
        give_keys(self._input(empty.name))
        self._draw()

    def on_resize(self) -> None:
        """Wraps the notes anew."""
        self._draw()

    def take_key(self, event: events.Key) -> bool:
        """The form's own keys, which no field takes."""
        last = self._input(self._fields[-1].name)
        if event.key == "ctrl+s" or (event.key == "enter" and self.focused is last):
            self._begin()
        elif event.key == "enter" and isinstance(self.focused, Input):
            self.focus_next()
        elif self._offered is not None and event.key == self._offered.key:
            self._begin(self._offered)
        elif event.key == "escape":
            self._terms.left(self._filled())
            return super().take_key(event)
        else:
            return super().take_key(event)
        return True

    def on_descendant_focus(self) -> None:
        """Another field is marked."""
        self._draw_labels()

    def on_input_changed(self, event: Input.Changed) -> None:
        """An error is gone as soon as something is changed."""
        event.stop()
        self._error, self._offered = "", None
        self._draw()

    def _input(self, name: str) -> Input:
        return self.query_one(f"#form-{name}", Input)

    def _filled(self) -> dict[str, str]:
        return {field.name: self._input(field.name).value.strip() for field in self._fields}

    def _divert_link(self, text: str) -> str:
        """Puts a sign-in link that was pasted where it would be seen into the field where it is not."""
        secret = next((field for field in self._fields if field.is_secret), None)
        if secret is not None and self.is_mounted:
            self._input(secret.name).value = text.strip()
        return ""

    def _begin(self, way: Way | None = None) -> None:
        if not self._is_waiting:
            filled = self._filled() | ({} if way is None else {way.name: "yes"})
            self._is_waiting, self._error, self._offered = True, "", None
            self._draw()
            self.run_worker(self._work(filled))

    async def _work(self, filled: Filled) -> None:
        try:
            result = await self._hand_over(filled)
        except (HostError, ClientError) as problem:
            self._error = str(problem)
            self._offered = PLAIN_FILE if isinstance(problem, NoKeyring) else None
            self._is_waiting = False
            self._draw()
        else:
            self.dismiss(result)

    def _draw_labels(self) -> None:
        for field in self._fields:
            label = field_label(self, field.label or field.name, self._input(field.name), LABEL_WIDTH)
            self.set_lines(f"label-{field.name}", [label])

    def _draw(self) -> None:
        width = box_width(self)
        self.set_lines("form-title", [self._terms.title, EMPTY])
        texts: list[Line] = [EMPTY]
        for note in self._terms.notes(self._filled()):
            texts += [(Span(part, note.role),) for part in wrap(note.text, width)]
        if self._error:
            role = "danger" if self._offered is None else "attention"
            texts += [EMPTY, *((Span(part, role),) for part in wrap(self._error, width))]
        if self._is_waiting:
            texts += [EMPTY, (Span(self._terms.waiting, "active"),)]
        self.set_lines("form-foot", above_keys(self, texts, [EMPTY, self._keys()], taken=len(self._fields) + 2))

    def _keys(self) -> Line:
        if self._is_waiting:
            return line(Span("esc", "key"), Span(" gives up", "muted"))
        offered = self._offered
        other = () if offered is None else (Span(offered.key, "key"), Span(f" {offered.words}   ", "muted"))
        more = (Span("tab", "key"), Span(" next field   ", "muted")) if len(self._fields) > 1 else ()
        yes = () if offered else (Span("ctrl+s", "key"), Span(f" {self._terms.yes}   ", "muted"))
        return line(
            *other, *yes, *more, Span("esc", "key"), Span(" back, nothing is kept" if offered else " back", "muted")
        )
