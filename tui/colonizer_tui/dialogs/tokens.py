"""The scoped tokens of a mothership, for its owner: seen, made and revoked; and a new one, shown once."""

from collections.abc import Awaitable, Callable, Mapping, Sequence

from textual import events
from textual.app import ComposeResult

from colonizer_client.errors import ClientError
from colonizer_client.identity import EndpointName
from colonizer_client.mothership.models import TokenRecord
from colonizer_config.value import Value
from colonizer_tui.dialogs.dialog import Dialog, box_width
from colonizer_tui.present import tokens
from colonizer_tui.present.line import EMPTY, Line, Span, line, wrap
from colonizer_tui.widgets.keyed_list import KeyedList
from colonizer_tui.widgets.keys_to import give_keys
from colonizer_tui.widgets.lines import Lines


class TokenList(KeyedList[str]):
    """One row for each token, by its id."""

    def __init__(self, now: Callable[[], float]) -> None:
        super().__init__(id="tokens-list")
        self.ground = "panel"
        self._now = now
        self._records: Mapping[str, TokenRecord] = {}

    @property
    def record(self) -> TokenRecord | None:
        """The one under the cursor."""
        return None if self.selected is None else self._records.get(self.selected)

    def take(self, records: Sequence[TokenRecord]) -> None:
        """Shows these tokens."""
        self._records = {record.id_raw: record for record in records}
        self.set_keys(list(self._records))

    def row_line(self, key: str) -> Line:
        """A token's row."""
        return tokens.row(self._records[key], self._now(), self.text_width - 1)


class TokenWork(Value):
    """What can be done with the tokens."""

    read: Callable[[], Awaitable[Sequence[TokenRecord]]]
    """Raises ClientError."""
    mint: Callable[[], Awaitable[None]]
    """Begins with a dialog; `Tokens.read_again` follows."""
    revoke: Callable[[TokenRecord], Awaitable[None]]
    now: Callable[[], float]
    """By the mothership's clock."""
    shown: Callable[[str], str]
    """The key of an action."""


class Tokens(Dialog[None]):
    """A list, read anew after each change."""

    DEFAULT_CSS = """
    Tokens #dialog-box { width: 96%; height: 80%; padding: 0 1; }
    Tokens TokenList { height: 1fr; background: $panel; }
    """

    def __init__(self, endpoint: EndpointName, work: TokenWork) -> None:
        super().__init__()
        self._endpoint, self._work = endpoint, work
        self._list = TokenList(work.now)
        self._words = "reading…"
        self._is_fault = False

    def parts(self) -> ComposeResult:
        """Title, list, foot."""
        yield Lines(id="tokens-title")
        yield self._list
        yield Lines(id="tokens-foot")

    def on_mount(self) -> None:
        """The list gets the keys."""
        give_keys(self._list)
        self.read_again()
        self.call_after_refresh(self._draw)

    def on_resize(self) -> None:
        """Sets the columns anew."""
        self.call_after_refresh(self._draw)

    def read_again(self) -> None:
        """Reads the tokens as they are now."""
        self.run_worker(self._read(), exclusive=True)

    async def do_add(self) -> None:
        """Makes a token."""
        await self._work.mint()

    async def do_clean_up(self) -> None:
        """Revokes the token under the cursor."""
        record = self._list.record
        if record is not None:
            await self._work.revoke(record)

    def take_key(self, event: events.Key) -> bool:
        """`q` closes it as `esc` does."""
        if event.key == "q":
            self.dismiss(None)
            return True
        return super().take_key(event)

    async def _read(self) -> None:
        try:
            records = await self._work.read()
        except ClientError as problem:
            self._words, self._is_fault = str(problem), True
        else:
            self._list.take(records)
            self._words, self._is_fault = "" if records else "There are no tokens but the owner's.", False
        self._draw()

    def _draw(self) -> None:
        width = self._list.size.width
        title = line(Span("Tokens ", "strong"), Span(f"of {self._endpoint}", "info"))
        role = "danger" if self._is_fault else "muted"
        texts: list[Line] = [(Span(part, role),) for part in wrap(self._words, width)]
        self.set_lines("tokens-title", [title, EMPTY, *(texts if self._words else [tokens.caption(width - 2)])])
        keys: list[Span] = []
        for action, label in (("add", "make one"), ("clean_up", "revoke")):
            keys += [Span(self._work.shown(action), "key"), Span(f" {label}   ", "muted")]
        self.set_lines("tokens-foot", [EMPTY, line(*keys, Span("esc", "key"), Span(" back", "muted"))])


_COPY_IT = (
    "It is shown this once and kept nowhere here: copy it now. Most terminals mark text with shift and the mouse."
)


class ShownOnce(Dialog[None]):
    """A new token, which nobody can show again. It is copied by hand, and kept by nothing here."""

    DEFAULT_CSS = """
    ShownOnce #dialog-box { width: 80; max-width: 100%; }
    """

    def __init__(self, name: str, secret: str) -> None:
        super().__init__()
        self._named, self._secret = name, secret
        self._asked = False

    def parts(self) -> ComposeResult:
        """One block of lines."""
        yield Lines(id="once-text")

    def on_mount(self) -> None:
        """Shows the token."""
        self._draw()

    def on_resize(self) -> None:
        """Wraps the text anew."""
        self._draw()

    def take_key(self, event: events.Key) -> bool:
        """`y` says that it is copied; esc asks once."""
        if event.key == "y" or (event.key == "escape" and self._asked):
            self.dismiss(None)
        elif event.key == "escape":
            self._asked = True
            self._draw()
        return True

    def _draw(self) -> None:
        width = box_width(self)
        shown: list[Line] = [line(Span("The new token ", "strong"), Span(self._named, "info")), EMPTY]
        # In one line where that is possible, so that it can be marked with the mouse.
        shown += [
            (Span(part, "attention-strong"),) for part in wrap(self._secret, max(min(74, self.size.width - 6), 10))
        ]
        shown.append(EMPTY)
        shown += [(Span(part, "muted"),) for part in wrap(_COPY_IT, width)]
        if self._asked:
            shown += [EMPTY, (Span("It cannot be shown again. esc once more closes this.", "danger"),)]
        self.set_lines("once-text", [*shown, EMPTY, line(Span("y", "key"), Span(" I have it", "muted"))])
