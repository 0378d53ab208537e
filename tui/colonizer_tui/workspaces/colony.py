"""One colony whole: its transcript, its changes, and a line to write to it."""

from collections.abc import Sequence

from textual.app import ComposeResult
from textual.containers import Horizontal, Vertical
from textual.timer import Timer
from textual.widgets import TextArea

from colonizer_client.identity import ColonyKey
from colonizer_client.snapshot import Topics
from colonizer_client.text import safe_line
from colonizer_tui.intents import MessageSent, desk_of
from colonizer_tui.keys import Hint, hints_of
from colonizer_tui.panes.diff import DiffPane
from colonizer_tui.panes.transcript import TranscriptPane
from colonizer_tui.present import card, inspector, links, states, words
from colonizer_tui.present.digest import colony_name
from colonizer_tui.present.line import Line, Span, line, spread
from colonizer_tui.present.transcript import whole_text
from colonizer_tui.present.view import View
from colonizer_tui.widgets.draft_field import MessageField
from colonizer_tui.widgets.find_bar import FindBar
from colonizer_tui.widgets.ink import ink_of
from colonizer_tui.widgets.keys_to import give_keys, has_keys
from colonizer_tui.widgets.lines import Lines
from colonizer_tui.workspaces.workspace import NARROW, Workspace

DRAFT_DELAY_S = 0.2

_PLACEHOLDER = "message to the agent"
_NOT_NOW = "its host does not answer; what you type is kept as a draft"


class ColonyWorkspace(Workspace):
    """Transcript beside diff; in a narrow terminal one of them, `tab` changes."""

    DEFAULT_CSS = """
    ColonyWorkspace { layout: vertical; }
    ColonyWorkspace #colony-panes { height: 1fr; }
    ColonyWorkspace #transcript-side { width: 1fr; height: 1fr; }
    ColonyWorkspace #diff-side { width: 1fr; height: 1fr; border-left: solid $edge; }
    ColonyWorkspace.narrow #diff-side { display: none; border-left: none; }
    ColonyWorkspace.narrow.diff #diff-side { display: block; }
    ColonyWorkspace.narrow.diff #transcript-side { display: none; }
    ColonyWorkspace #message-line { height: auto; max-height: 9; border-top: solid $edge; }
    ColonyWorkspace #message-prompt { width: 3; }
    ColonyWorkspace.none #colony-panes, ColonyWorkspace.none #message-line { display: none; }
    """

    def __init__(self, *, id: str | None = None) -> None:  # noqa: A002  # Textual's name
        super().__init__(id=id)
        self.transcript = TranscriptPane(id="transcript")
        self.diff = DiffPane(id="diff")
        self.field = MessageField(self.do_send, placeholder=_PLACEHOLDER)
        self._head, self._transcript_foot, self._diff_head = Lines(id="colony-head"), Lines(), Lines()
        self._pending, self._message_prompt = Lines(), Lines(id="message-prompt")
        self._find_bar = FindBar(closed=self._searched)
        self._key: ColonyKey | None = None
        self._saving: Timer | None = None
        self._kept = ""
        """The text of the message field as it was stored last."""

    def compose(self) -> ComposeResult:
        """Head, the two panes, the message line."""
        yield self._head
        with Horizontal(id="colony-panes"):
            with Vertical(id="transcript-side"):
                yield self.transcript
                yield self._transcript_foot
            with Vertical(id="diff-side"):
                yield self._diff_head
                yield self.diff
        yield self._pending
        yield self._find_bar
        with Horizontal(id="message-line"):
            yield self._message_prompt
            yield self.field

    @property
    def colony(self) -> ColonyKey | None:
        """The opened colony."""
        return self._key

    def open(self, key: ColonyKey, pane: str) -> None:
        """Opens a colony; its half-typed message is there again."""
        self.store_draft()
        if key != self._key:
            self._key = key
            self._kept = desk_of(self).message_draft(key)
            self.field.set_text(self._kept)
            self._find_bar.close()
        self.set_class(pane == "diff", "diff")
        give_keys(self.diff if pane == "diff" else self.transcript)

    def show(self, view: View, topics: Topics) -> None:
        """Shows a moment."""
        del topics
        self.view = view
        self.set_class(self.room < NARROW, "narrow")
        colony = None if self._key is None else view.snapshot.colonies.get(self._key)
        self.set_class(colony is None, "none")
        self._head.set_lines([self._head_line()])
        if self._key is None:
            return
        self.transcript.show(self._key, view)
        self.diff.show(self._key, view.snapshot.diffs.get(self._key))
        self._show_frame()

    def focus_first(self) -> None:
        """The pane in front."""
        if self._key is not None:
            give_keys(self.diff if self.has_class("diff") and self.has_class("narrow") else self.transcript)

    def hints(self) -> Sequence[Hint]:
        """What helps most in the pane with the keys."""
        if has_keys(self._find_bar):
            return self._find_bar.hints()
        if has_keys(self.field):
            return (Hint("enter", "send"), Hint(keys="ctrl+j", label="new line"), Hint("back", "back, text is kept"))
        if self._key is None:
            return hints_of("fleet", "needs_you", "colonize")
        match = (Hint("next_match"),) if self._find_bar.value else ()
        if has_keys(self.diff):
            nothing = "" if self.diff.has_changes else "there is nothing changed to read"
            there = ("next_hunk", "next_file", "fold", "find", "view")
            return (*match, *(Hint(name, reason=nothing) for name in there), *hints_of("next_pane", "back"))
        nothing = "" if self.transcript.has_entries else "there is nothing to read yet"
        reading = [Hint(name, reason=nothing) for name in ("fold", "find", "view")]
        return (
            *match,
            *hints_of("answer", "message", "diff"),
            reading[0],
            *hints_of("back", "interrupt", "stop", "resume", "explain"),
            *reading[1:],
        )

    def do_diff(self) -> None:
        """The changes get the keys."""
        self.set_class(True, "diff")
        give_keys(self.diff)

    def do_next_pane(self) -> None:
        """From transcript to diff to the message field and around."""
        if has_keys(self.transcript):
            self.do_diff()
        elif has_keys(self.diff):
            give_keys(self.field)
        else:
            self.set_class(False, "diff")
            give_keys(self.transcript)

    def do_previous_pane(self) -> None:
        """The other way around."""
        if has_keys(self.transcript):
            give_keys(self.field)
        elif has_keys(self.diff):
            self.set_class(False, "diff")
            give_keys(self.transcript)
        else:
            self.do_diff()

    def do_message(self) -> None:
        """The message field gets the keys."""
        give_keys(self.field)

    def do_send(self) -> None:
        """Sends the message."""
        if self._key is not None and self.field.text.strip():
            self._cancel_saving()
            self.post_message(MessageSent(self._key, self.field.text))

    def sent(self) -> None:
        """The message is on its way: the field is empty again."""
        self._kept = ""
        self.field.set_text("")

    async def do_browse(self) -> None:
        """Opens a link of the current entry, or the colony's pull request."""
        colony = None if self._key is None else self.view.snapshot.colonies.get(self._key)
        entry = self.transcript.entry if has_keys(self.transcript) else None
        texts = ("" if entry is None else whole_text(entry), "" if colony is None else colony.pr_url)
        await desk_of(self).browse(links.links(" ".join(texts)))

    def do_find(self) -> None:
        """Opens the find bar for the pane in front."""
        self._find_bar.open()

    def do_back(self) -> bool:
        """From the message field to the transcript, from a search to the whole text; False where there is neither."""
        if has_keys(self.field):
            self.store_draft()
            give_keys(self.transcript)
        elif self._find_bar.value:
            self._find_bar.close()
        else:
            return False
        return True

    def on_text_area_changed(self, event: TextArea.Changed) -> None:
        """Keeps what is typed."""
        event.stop()
        self._cancel_saving()
        self._saving = self.set_timer(DRAFT_DELAY_S, self.store_draft)

    def on_find_bar_sought(self, event: FindBar.Sought) -> None:
        """Marks what is searched for in both panes."""
        event.stop()
        needle = event.text.strip().lower()
        self.transcript.needle = self.diff.needle = needle
        self.transcript.repaint()
        self.diff.repaint()
        self._show_frame()

    def _searched(self) -> None:
        """The pane in front gets the keys back, at the first match."""
        pane = self.diff if self.has_class("diff") else self.transcript
        give_keys(pane)
        pane.needle = self._find_bar.value.strip().lower()
        if pane.needle:
            pane.do_next_match()

    def store_draft(self) -> None:
        """Keeps what was typed since the last time."""
        self._cancel_saving()
        text = self.field.text
        if self._key is not None and text != self._kept and desk_of(self).keep_message_draft(self._key, text):
            self._kept = text

    def _cancel_saving(self) -> None:
        if self._saving is not None:
            self._saving.stop()
            self._saving = None

    def _head_line(self) -> Line:
        colony = None if self._key is None else self.view.snapshot.colonies.get(self._key)
        if colony is None:
            gone = "this colony is gone" if self._key is not None else "no colony is opened"
            return line(
                Span(f" {gone}: ", "muted"), Span(self.view.shown("fleet"), "key"), Span(" shows them all", "muted")
            )
        question = self.view.snapshot.questions.get(colony.key)
        look = states.last_look(colony, question, self.view.snapshot.endpoint_of(colony.key))
        text, role = inspector.sentence(colony, self.view)
        transcript = self.view.snapshot.transcripts.get(colony.key)
        run = f" · run {transcript.epoch}" if transcript is not None and transcript.epoch > 1 else ""
        left = line(
            Span(f" {colony_name(colony)} ", "muted"),
            Span(colony.title, "strong"),
            Span("  "),
            Span(f"{ink_of(self).glyphs[look.glyph]} ", look.role),
            Span(text, role),
        )
        facts = f"{words.dollars(colony.cost_usd)} · {colony.key.endpoint}{run} "
        return spread(left, (Span(facts, "muted"),), self.size.width)

    def _show_frame(self) -> None:
        text, role = self.transcript.status()
        width = self.transcript.size.width
        left: Line = ()
        if self.transcript.needle:
            left = line(
                Span(f" {self.transcript.matches():,} entries match · ", "muted"),
                Span(self.view.shown("next_match"), "key"),
                Span(" next", "muted"),
            )
        self._transcript_foot.set_lines([spread(left, (Span(f"{text} ", role),), width)])
        self._diff_head.set_lines([(Span(" "), *self.diff.summary())])
        self._message_prompt.set_lines([self._prompt()])
        if self._key is not None:
            is_silent = states.is_stale(self.view.snapshot.endpoint_of(self._key))
            self.field.placeholder = _NOT_NOW if is_silent else _PLACEHOLDER
            self._pending.set_lines(_pending_lines(self.view, self._key))

    def _prompt(self) -> Line:
        return (Span(" > ", "key" if has_keys(self.field) else "dim"),)


def _pending_lines(view: View, key: ColonyKey) -> list[Line]:
    """Messages on their way, and the newest one that did not arrive."""
    state = view.snapshot.transcripts.get(key)
    ours = [
        delivery
        for delivery in view.snapshot.deliveries.values()
        if delivery.key == key
        and delivery.kind == "message"
        and delivery.state != "elsewhere"
        and not (state is not None and state.transcript.has_said(f"u-{delivery.id}"))
    ]
    waiting = [delivery for delivery in ours if not delivery.is_settled]
    newest = max((delivery for delivery in ours if delivery.is_settled), key=lambda one: one.created_at, default=None)
    shown = waiting if newest is None else [newest, *waiting]
    return [
        (Span(" you  ", "muted"), Span(safe_line(delivery.text, limit=60) + "  "), *card.delivery_words(delivery))
        for delivery in shown[-3:]
    ]
