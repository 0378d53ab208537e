"""The form in which a colony is launched."""

import os
import re
from collections.abc import Sequence

from textual import events
from textual.app import ComposeResult
from textual.containers import Horizontal
from textual.widgets import Input, TextArea

from colonizer_client.identity import EndpointName
from colonizer_client.mothership.models import LaunchOrder
from colonizer_config.value import Value
from colonizer_tui.dialogs.dialog import Dialog, above_keys, box_width, field_label, shortened
from colonizer_tui.present.line import EMPTY, Line, Span, column, line, wrap
from colonizer_tui.widgets.draft_field import DraftField
from colonizer_tui.widgets.keys_to import give_keys
from colonizer_tui.widgets.lines import Lines

LABEL_WIDTH = 11
ERROR_LINES = 6
SHORT = 28
"""In a lower terminal the task has fewer lines."""

OTHER_LINES = 8
"""Title, fields and choices without the task."""


class LaunchDefaults(Value):
    """What the form starts with."""

    endpoint: EndpointName
    order: LaunchOrder
    """What stands in the fields."""
    error: str = ""
    """Why the mothership refused this order."""
    agents: Sequence[str] = ()
    """Agents that the person configured for the local engine, its default first."""
    is_local: bool = True
    notes: Sequence[str] = ()
    """What to know before pressing ctrl+s: confinement, uncommitted work."""


class Launch(Dialog[LaunchOrder]):
    """The order as it was filled in. What is left empty is the mothership's to choose."""

    DEFAULT_CSS = """
    Launch .row { height: auto; }
    Launch .label { width: 11; }
    Launch Input, Launch DraftField { background: $background; width: 1fr; }
    Launch Input { height: 1; border: none; padding: 0; }
    Launch DraftField { min-height: 4; max-height: 8; }
    Launch.short DraftField { min-height: 2; max-height: 2; }
    """

    def __init__(self, defaults: LaunchDefaults) -> None:
        super().__init__()
        self._defaults = defaults
        self.filled = defaults.order
        """What stood in the fields when the form was left."""
        self._autopilot = defaults.order.autopilot
        self._agent = _place(defaults.order.agent, defaults.agents)
        self._error = defaults.error
        self._repo_is = "owner/name, or a folder" if defaults.is_local else "owner/name"

    def parts(self) -> ComposeResult:
        """A field for each thing that can be chosen."""
        order = self._defaults.order
        issue = "" if order.issue is None else str(order.issue)
        yield Lines(id="launch-title")
        yield from self._row("repo", _field("repo", order.repo, self._repo_is))
        yield from self._row("task", DraftField(placeholder="what should be done?", id="launch-task"))
        yield from self._row("issue", _field("issue", issue, "number, or empty"))
        yield from self._row("model", _field("model", order.model or "", "the agent's own choice"))
        yield Lines(id="launch-choices")
        yield Lines(id="launch-foot")

    def on_mount(self) -> None:
        """The task is what is to be written."""
        task = self.query_one("#launch-task", DraftField)
        task.set_text(self._defaults.order.task)
        for field in self.query(Input):
            field.cursor_blink = False
        give_keys(task if self._defaults.order.repo else self.query_one("#launch-repo", Input))
        self._draw()

    def on_resize(self) -> None:
        """Wraps the notes anew."""
        self._draw()

    def take_key(self, event: events.Key) -> bool:
        """The form's own keys, which no field takes."""
        match event.key:
            case "ctrl+s":
                self._launch()
            case "ctrl+a" if len(self._defaults.agents) > 1:
                self._agent = (self._agent + 1) % len(self._defaults.agents)
                self._draw()
            case "ctrl+o":
                self._autopilot = {None: True, True: False, False: None}[self._autopilot]
                self._draw()
            case "enter" if isinstance(self.focused, Input):
                self.focus_next()
            case _:
                self.filled = self._filled_in()
                return super().take_key(event)
        return True

    def on_descendant_focus(self) -> None:
        """Another field is marked."""
        for name in ("repo", "task", "issue", "model"):
            field = self.query_one(f"#launch-{name}")
            self.set_lines(f"label-{name}", [field_label(self, name, field, LABEL_WIDTH)])

    def on_input_changed(self, event: Input.Changed) -> None:
        """An error is gone as soon as something is changed."""
        event.stop()
        self._forget_error()

    def on_text_area_changed(self, event: TextArea.Changed) -> None:
        """As a changed field."""
        event.stop()
        self._forget_error()

    def _forget_error(self) -> None:
        # Fields also tell of the text that they were made with.
        if self._error and self._filled_in() != self.filled:
            self._error = ""
            self._draw()

    def _row(self, name: str, field: Input | DraftField) -> ComposeResult:
        with Horizontal(classes="row"):
            label = Lines(id=f"label-{name}")
            label.add_class("label")
            yield label
            yield field

    def _launch(self) -> None:
        order = self.filled = self._filled_in()
        issue = self._typed("issue").removeprefix("#")
        is_folder = self._defaults.is_local and folder_of(order.repo)
        if not is_folder and not re.fullmatch("[^/]+/[^/]+", order.repo):
            self._refuse(f"the repository is {self._repo_is}", "#launch-repo")
        elif issue and not issue.isdecimal():
            self._refuse("an issue is a number", "#launch-issue")
        elif not order.task and not issue:
            self._refuse("say what should be done, or name an issue", "#launch-task")
        else:
            self.dismiss(order)

    def _filled_in(self) -> LaunchOrder:
        issue = self._typed("issue").removeprefix("#")
        return LaunchOrder(
            repo=self._typed("repo"),
            task=self.query_one("#launch-task", DraftField).text.strip(),
            issue=int(issue) if issue.isdecimal() else None,
            model=self._typed("model") or None,
            agent=self._defaults.agents[self._agent] if self._agent else None,
            autopilot=self._autopilot,
        )

    def _typed(self, name: str) -> str:
        return self.query_one(f"#launch-{name}", Input).value.strip()

    def _refuse(self, words: str, field: str) -> None:
        self._error = words
        give_keys(self.query_one(field))
        self._draw()

    def _draw(self) -> None:
        width = box_width(self)
        is_short = self.size.height < SHORT
        self.set_class(is_short, "short")
        where = self._defaults.endpoint
        title = line(Span("Colonize ", "strong"), Span(f"on {where}", "info"))
        self.set_lines("launch-title", [title, EMPTY])
        self.set_lines("launch-choices", [EMPTY, *self._choices()])
        if self._error:  # in the place of the notes, which have been read by now
            notes: list[Line] = [(Span(part, "danger"),) for part in shortened(self._error, width, ERROR_LINES)]
        else:
            notes = [(Span(part, "muted"),) for note in self._defaults.notes for part in wrap(note, width)]
        keys = line(
            Span("ctrl+s", "key"), Span(" launch   ", "muted"), Span("tab", "key"), Span(" next field   ", "muted")
        )
        foot = [EMPTY, (*keys, Span("esc", "key"), Span(" back, it is kept", "muted"))]
        taken = (2 if is_short else 4) + OTHER_LINES
        self.set_lines("launch-foot", above_keys(self, [EMPTY, *notes], foot, taken))

    def _choices(self) -> list[Line]:
        agents = self._defaults.agents
        shown: list[Line] = []
        if agents:
            agent = agents[self._agent] if self._agent else f"{agents[0]} (the default)"
            change = (Span("   ctrl+a", "key"), Span(" change", "muted")) if len(agents) > 1 else ()
            shown.append(line(Span(column(" agent", LABEL_WIDTH), "muted"), agent, *change))
        choice = {None: "the mothership's choice", True: "on: it publishes by itself after a clean turn", False: "off"}
        shown.append(
            line(
                Span(column(" autopilot", LABEL_WIDTH), "muted"),
                choice[self._autopilot],
                Span("   ctrl+o", "key"),
                Span(" change", "muted"),
            )
        )
        return shown


def folder_of(repo: str) -> str:
    """The absolute path, where a repository is given by its folder; empty otherwise."""
    return os.path.abspath(os.path.expanduser(repo)) if repo.startswith(("/", "~", ".")) else ""


def _field(name: str, value: str, placeholder: str) -> Input:
    return Input(value, placeholder=placeholder, id=f"launch-{name}", compact=True)


def _place(agent: str | None, agents: Sequence[str]) -> int:
    """Where the agent stands; the first place is the mothership's default."""
    return agents.index(agent) if agent is not None and agent in agents else 0
