"""What is done to hosts, each with the dialog that comes before it and the words that come after it."""

import asyncio
from collections.abc import Callable, Sequence
from functools import partial
from typing import TypeVar

from colonizer_client.cockpit import Cockpit
from colonizer_client.errors import ClientError
from colonizer_client.identity import EndpointName
from colonizer_client.snapshot import EndpointState
from colonizer_tui.dialogs.confirm import Confirm
from colonizer_tui.dialogs.form import PLAIN_FILE, Field, Filled, Form, Terms
from colonizer_tui.dialogs.wire_log import WireLog
from colonizer_tui.face import Face
from colonizer_tui.hosts import HostError, Hosts, Trial
from colonizer_tui.present import words
from colonizer_tui.present.line import Span, line

T = TypeVar("T")

PASTE = "paste it: a token, or a sign-in link that holds one"


class HostCommands:
    """The commands of the host keys. `shown` tells the key of an action."""

    def __init__(self, cockpit: Cockpit, face: Face, shown: Callable[[str], str]) -> None:
        self._cockpit = cockpit
        self._face = face
        self._shown = shown

    async def sign_in(self, hosts: Hosts, state: EndpointState) -> None:
        """Tries a token at the host's address, keeps it, and connects with it."""

        async def hand_over(filled: Filled) -> str:
            return await _kept(lambda: hosts.try_token(state.name, filled["token"]), filled)

        terms = Terms(
            title=line(Span("Sign in to ", "strong"), Span(f"{state.name} at {state.address}", "info")),
            yes="sign in",
            waiting=f"asking {state.address}…",
            notes=lambda filled: _before_sending(hosts, state.address),
        )
        told = await self._face.ask(Form(terms, [Field("token", PASTE, is_secret=True)], hand_over))
        if told is not None:
            self._face.attempt(lambda: self._cockpit.reconnect(state.name))
            self._face.tell(f"signed in to {state.name}: {told}")

    async def sign_out(self, hosts: Hosts, state: EndpointState) -> None:
        """Forgets the token of a host."""
        texts = [
            "Its token is forgotten here. The host takes it all the same until its owner revokes it there.",
            "The host stays in your list, and its colonies as they were last seen.",
        ]
        if await self._sure("Sign out?", state, texts, yes="sign out", is_danger=False):
            done = await self._try(partial(hosts.sign_out, state.name))
            if done is not None:
                self._face.attempt(lambda: self._cockpit.reconnect(state.name))
                self._face.tell(done)

    async def add(self, hosts: Hosts) -> EndpointName | None:
        """Adds a host once its token was tried; its name, None where the form was left."""

        async def hand_over(filled: Filled) -> tuple[str, str]:
            tried = partial(hosts.try_addition, filled["name"], filled["address"], filled["token"])
            return filled["name"], await _kept(tried, filled)

        terms = Terms(
            title=line(Span("Add a host", "strong")),
            yes="add",
            waiting="asking it…",
            notes=lambda filled: _before_sending(hosts, filled["address"]),
        )
        fields = [
            Field("name", "yours to choose, such as hq"),
            Field("address", "host[:port], https://… or ssh://…; a link has it"),
            Field("token", PASTE, is_secret=True),
        ]
        added = await self._face.ask(Form(terms, fields, hand_over))
        if added is None:
            return None
        name, told = added
        if await self._try(lambda: _done(hosts.apply), is_quick=True):
            self._face.tell(f"{name} is added: {told}")
        return EndpointName(name)

    async def edit(self, hosts: Hosts, state: EndpointState) -> EndpointName | None:
        """Gives a host another name or address; its name afterwards, None where the form was left."""

        async def hand_over(filled: Filled) -> str:
            await asyncio.to_thread(hosts.change, state.name, filled["name"], filled["address"])
            return filled["name"]

        def notes(filled: Filled) -> Sequence[Span]:
            if fault := hosts.fault(filled["address"]):
                return (Span(fault, "attention"),)
            if filled["address"] == state.address:
                return (Span("What you typed for its colonies, and its token, stay.", "muted"),)
            text = f"Another address has no token: you sign in again there. Saving forgets the one for {state.address}."
            return (Span(text, "attention"),)

        terms = Terms(
            title=line(Span("Edit ", "strong"), Span(state.name, "info")), yes="save", waiting="saving…", notes=notes
        )
        fields = [
            Field("name", "yours to choose", state.name),
            Field("address", "host[:port], https://… or ssh://…", state.address),
        ]
        name = await self._face.ask(Form(terms, fields, hand_over))
        if name is None:
            return None
        renamed = (state.name, name) if name != state.name else None
        await self._try(lambda: _done(partial(hosts.apply, renamed)), is_quick=True)
        return EndpointName(name)

    async def remove(self, hosts: Hosts, state: EndpointState) -> None:
        """Takes a host out of the settings, after naming what goes and what stays."""
        texts = [
            "Its token is forgotten here, unless another host of yours needs it.",
            "Its colonies go on without you; what you typed for them stays and is there when you add it again.",
        ]
        waiting = [
            delivery
            for delivery in self._cockpit.snapshot.deliveries.values()
            if delivery.key.endpoint == state.name and not delivery.is_settled
        ]
        if waiting:
            texts.insert(0, f"{words.count(len(waiting), 'answer or message', 'answers or messages')} will not arrive.")
        if await self._sure("Remove this host?", state, texts, yes="remove it"):
            done = await self._try(partial(hosts.remove, state.name))
            if done is not None:
                await self._try(lambda: _done(hosts.apply), is_quick=True)
                self._face.tell(done)

    async def wire_log(self, state: EndpointState) -> None:
        """Shows what goes over the wire, for as long as the dialog is open."""
        try:
            recorder = self._cockpit.record(state.name)
        except ClientError as problem:
            self._face.tell(str(problem), tone="fault")
            return
        try:
            await self._face.ask(WireLog(state.name, recorder, self._shown))
        finally:
            self._cockpit.stop_recording(state.name)

    async def _sure(
        self, title: str, state: EndpointState, texts: Sequence[str], *, yes: str, is_danger: bool = True
    ) -> bool:
        asked = Confirm(title, f"{state.name} · {state.address}", texts, yes=yes, is_danger=is_danger)
        return await self._face.ask(asked) is True

    async def _try(self, doing: Callable[[], T], *, is_quick: bool = False) -> T | None:
        """What was done; None where it was not, which the person is told."""
        try:
            return doing() if is_quick else await asyncio.to_thread(doing)
        except HostError as problem:
            self._face.tell(str(problem), tone="fault")
            return None


async def _kept(trying: Callable[[], Trial], filled: Filled) -> str:
    """What the token may do and where it is kept; nothing is kept where the form was left meanwhile."""
    trial = await asyncio.to_thread(trying)
    place = await asyncio.to_thread(trial.keep, PLAIN_FILE.name in filled)
    return f"{trial.told}, token kept in: {place}"


def _before_sending(hosts: Hosts, address: str) -> Sequence[Span]:
    told = hosts.fault(address) or hosts.warning(address)
    return (Span(told, "attention"),) if told else ()


def _done(doing: Callable[[], None]) -> bool:
    doing()
    return True
