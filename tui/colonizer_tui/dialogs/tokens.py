"""The scoped tokens of a mothership, for its owner: seen, made and revoked; and a new one, shown once."""

from collections.abc import Awaitable, Callable, Mapping, Sequence

from textual import events
from textual.app import ComposeResult

from colonizer_client.errors import ClientError
from colonizer_client.identity import EndpointName
from colonizer_client.mothership.models import TokenRecord
from colonizer_config.value import Value
from colonizer_tui.dialogs.dialog import Dialog, above_keys, box_width
from colonizer_tui.intents import Copied, desk_of
from colonizer_tui.present import tokens
from colonizer_tui.present.footer import KeyHint
from colonizer_tui.present.line import EMPTY, Line, Span, line, wrap
from colonizer_tui.widgets.keyed_list import KeyedList
from colonizer_tui.widgets.keys_to import give_keys
from colonizer_tui.widgets.lines import Lines

_NO_TOKENS = (
    "There are no tokens but the owner's. One that you make is for a script or a phone, and may do only what you say."
)


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
            self._words, self._is_fault = "" if records else _NO_TOKENS, False
        self._draw()

    def _draw(self) -> None:
        width = self._list.size.width
        title = line(Span("Tokens ", "strong"), Span(f"of {self._endpoint}", "info"))
        role = "danger" if self._is_fault else "muted"
        texts: list[Line] = [(Span(part, role),) for part in wrap(self._words, width)]
        self.set_lines("tokens-title", [title, EMPTY, *(texts if self._words else [tokens.caption(width - 2)])])
        record = self._list.record
        hints = (
            KeyHint(self._work.shown("add"), "make one"),
            KeyHint(self._work.shown("clean_up"), "revoke", "" if record else "there is none"),
            KeyHint("esc", "back"),
        )
        whole = () if record is None else tokens.whole(record, width - 1)
        foot = tuple(piece for hint in hints for piece in hint.pieces())
        self.set_lines("tokens-foot", [EMPTY, *whole, EMPTY, foot])

    def on_keyed_list_moved(self, event: KeyedList.Moved) -> None:
        """Tells all of the token under the cursor."""
        event.stop()
        self._draw()


_KEEP_IT = "It is shown this once and kept nowhere here."

_CLOSE_ANYWAY = "Nothing was copied, and it cannot be shown again.\nesc once more closes this."

ONCE_WIDTH = 76
"""A token has room in one line, in a terminal of 80 columns too, so that it can be marked with the mouse as well."""


class ShownOnce(Dialog[None]):
    """A new token, which nobody can show again. It is copied by the key of all copying, and kept by nothing here."""

    DEFAULT_CSS = """
    ShownOnce #dialog-box { width: 76; }
    """

    def __init__(self, name: str, secret: str, shown: Callable[[str], str]) -> None:
        """`shown` tells the key of an action."""
        super().__init__()
        self._named, self._secret, self._shown = name, secret, shown
        self._is_copied = self._asked = False

    def parts(self) -> ComposeResult:
        """One block of lines, which can have the keys."""
        block = Lines(id="once-text")
        block.can_focus = True
        yield block

    def on_mount(self) -> None:
        """Shows the token."""
        give_keys(self.query_one("#once-text"))
        self._draw()

    def on_resize(self) -> None:
        """Wraps the text anew."""
        self._draw()

    def take_key(self, event: events.Key) -> bool:
        """Esc closes it; it asks once where nothing was copied."""
        if event.key != "escape":
            return False
        if self._is_copied or self._asked:
            self.dismiss(None)
        else:
            self._asked = True
            self._draw()
        return True

    async def do_copy(self) -> None:
        """The token."""
        await desk_of(self).copy(Copied(f"the token {self._named}", self._secret, self._copied))

    def _copied(self) -> None:
        self._is_copied, self._asked = True, False
        self._draw()

    def _draw(self) -> None:
        width = box_width(self, ONCE_WIDTH)
        shown: list[Line] = [line(Span("The new token ", "strong"), Span(self._named, "info")), EMPTY]
        shown += [(Span(part, "attention-strong"),) for part in wrap(self._secret, width)]
        shown.append(EMPTY)
        shown += [(Span(part, "muted"),) for part in wrap(_KEEP_IT, width)]
        if self._asked:
            shown += [(Span(part, "danger"),) for part in wrap(_CLOSE_ANYWAY, width)]
        copies = (Span(self._shown("copy"), "key"), Span(" copy again   " if self._is_copied else " copy   ", "muted"))
        keys = line(*copies, Span("esc", "key"), Span(" close", "muted"))
        self.set_lines("once-text", above_keys(self, shown, [EMPTY, keys]))
