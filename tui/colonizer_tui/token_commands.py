"""What the owner of a host does with its scoped tokens."""

from collections.abc import Callable

from colonizer_client.cockpit import Cockpit
from colonizer_client.errors import ClientError
from colonizer_client.identity import EndpointName
from colonizer_client.mothership.models import TokenOrder, TokenRecord
from colonizer_client.snapshot import EndpointState
from colonizer_tui.dialogs.confirm import Confirm
from colonizer_tui.dialogs.form import Field, Filled, Form, Terms
from colonizer_tui.dialogs.tokens import ShownOnce, Tokens, TokenWork
from colonizer_tui.face import Face
from colonizer_tui.hosts import HostError
from colonizer_tui.present.line import Span, line

_SCOPE_WORDS = {
    "read": "read: sees colonies, logs and changes.",
    "operate": "operate: read, and answers, writes to, stops and resumes colonies.",
    "launch": "launch: operate, and launches and publishes colonies.",
}
"""Each scope and what it holds."""

_SCOPES = "read, operate or launch"


class TokenCommands:
    """The commands of the dialog with the tokens. `shown` tells the key of an action."""

    def __init__(self, cockpit: Cockpit, face: Face, shown: Callable[[str], str]) -> None:
        self._cockpit = cockpit
        self._face = face
        self._shown = shown

    async def show(self, state: EndpointState) -> None:
        """Shows the scoped tokens of a host to its owner."""

        async def mint() -> None:
            await self._face.begin(self._mint(state.name, dialog))

        async def revoke(record: TokenRecord) -> None:
            await self._face.begin(self._revoke(state, record, dialog))

        work = TokenWork(
            read=lambda: self._cockpit.tokens(state.name),
            mint=mint,
            revoke=revoke,
            now=lambda: state.server_now(self._cockpit.clock.now()),
            shown=self._shown,
        )
        dialog = Tokens(state.name, work)
        await self._face.ask(dialog)

    async def _mint(self, endpoint: EndpointName, dialog: Tokens) -> None:
        async def hand_over(filled: Filled) -> tuple[str, str]:
            made = await self._cockpit.mint_token(endpoint, _order(filled))
            return filled["name"], made.reveal()

        terms = Terms(
            title=line(Span("Make a token ", "strong"), Span(f"of {endpoint}", "info")),
            yes="make it",
            waiting=f"asking {endpoint}…",
            notes=lambda filled: (Span(_SCOPE_WORDS.get(filled["scope"], _SCOPES), "muted"),),
        )
        fields = [
            Field("name", "who uses it, such as ci"),
            Field("scope", "read, operate or launch", "read"),
            Field("orgs", "limits it to these, such as acme beta; else all"),
            Field("repos", "limits it to these, such as acme/widgets; else all"),
            Field("at_once", "the most unfinished colonies; else as many as it likes", label="at once"),
            Field("a_day", "the most that its colonies may cost; else no limit", label="$ a day"),
        ]
        made = await self._face.ask(Form(terms, fields, hand_over))
        if made is not None:
            await self._face.ask(ShownOnce(*made, self._shown))
        dialog.read_again()

    async def _revoke(self, state: EndpointState, record: TokenRecord, dialog: Tokens) -> None:
        texts = ["Whoever uses it is refused from now on, and what it has open is closed.", "It cannot be undone."]
        target = f"{state.name} · {record.name} · scope {record.scope} ({record.id})"
        if await self._face.ask(Confirm("Revoke this token?", target, texts, yes="revoke it")):
            try:
                await self._cockpit.revoke_token(state.name, record)
            except ClientError as problem:
                self._face.tell(str(problem), tone="fault")
            else:
                self._face.tell(f"the token {record.name} is revoked")
            dialog.read_again()


def _order(filled: Filled) -> TokenOrder:
    """The token as it was filled in.

    Raises:
        HostError: A field holds something else than it has to.
    """
    if not filled["name"]:
        raise HostError("name who uses it")
    if filled["scope"] not in _SCOPE_WORDS:
        raise HostError(f"a scope is {_SCOPES}")
    return TokenOrder(
        name=filled["name"],
        scope=filled["scope"],
        orgs=_several(filled["orgs"]),
        repos=_several(filled["repos"]),
        max_concurrent=_whole(filled["at_once"]),
        budget_usd_per_day=_amount(filled["a_day"]),
    )


def _several(text: str) -> tuple[str, ...]:
    return tuple(text.replace(",", " ").split())


def _whole(text: str) -> int | None:
    if not text:
        return None
    if not (text.isascii() and text.isdecimal()) or len(text) > 9 or not int(text):
        raise HostError("“at once” is a whole number from 1 on")
    return int(text)


def _amount(text: str) -> float | None:
    if not text:
        return None
    try:
        amount = float(text.removeprefix("$"))
    except ValueError:
        amount = 0.0
    if not 0 < amount < 1e9:
        raise HostError("“$ a day” is an amount of dollars")
    return amount
