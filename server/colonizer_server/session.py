"""What one client's session is: which mothership it asks, with which token, and how far its tools reach."""

import hashlib
import json
from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager
from typing import TypeVar

from colonizer_client.errors import LinkError
from colonizer_client.identity import EndpointName
from colonizer_client.mothership import wire
from colonizer_client.mothership.calls import Call
from colonizer_client.mothership.transport import Server, Socket, Transport, words_of
from colonizer_config.address import HttpAddress, SocketAddress, SshAddress, parse_address
from colonizer_config.errors import AddressError
from colonizer_config.settings import Approve
from colonizer_config.token import Token
from colonizer_config.value import Value
from colonizer_server.scope import Scope
from colonizer_server.tools import Mothership

T = TypeVar("T")


class Session(Value):
    """A session, fixed when its client connects."""

    scope: Scope
    server: Server
    token: Token
    silence: str
    """What is said when the mothership does not answer, up to the reason."""
    agent_env: Mapping[str, str] = {}
    """Values of the person's shell for agents, where the mothership is the local engine's."""
    where: str = ""
    """What the person calls the mothership, with its address."""
    approve: Approve = Approve.NEVER
    """Which calls wait for the person, whatever the settings say; where those say more, that goes."""
    wait_s: float = 0.0
    """How long a call waits for the person's decision by itself; else it says that it has to be made again."""
    catalogue_env: Mapping[str, str] | None = None
    """Values of the person's shell for the servers of the catalogue; None where the session has no catalogue."""
    resources_of: EndpointName = EndpointName("")
    """The mothership's name in the URIs of its resources; empty where none are offered."""

    @property
    def caller_id(self) -> str:
        """The same for each session with this token at this mothership, telling nothing of the token."""
        return hashlib.sha256(f"caller\0{self.where}\0{self.token.reveal()}".encode()).hexdigest()[:16]

    def to_header(self) -> str:
        """The session as it is told to the engine with each request; the engine's own mothership goes without token."""
        told: dict[str, object] = {
            **{"scope": self.scope.word, "silence": self.silence},
            **{"where": self.where, "approve": self.approve, "wait_s": self.wait_s},
            "resources_of": self.resources_of,
        }
        if isinstance(self.server, HttpAddress):
            told |= {"mothership": self.server.base_url, "token": self.token.reveal()}
        else:
            told["agent_env"] = dict(self.agent_env)
        if self.catalogue_env is not None:
            told["catalogue_env"] = dict(self.catalogue_env)
        return json.dumps(told)

    @classmethod
    def from_header(cls, header: str, own: SocketAddress, own_token: Token) -> "Session":
        """The session that a carrier has told.

        Raises:
            AddressError: It names no mothership.
            SecretError: It brings no token that could be one.
            Unreadable: It is no JSON.
        """
        told = wire.mapping(wire.parse(header.encode()))
        server: Server = own
        if "mothership" in told:
            named = parse_address(wire.raw(told.get("mothership")))
            if isinstance(named, SshAddress):
                raise AddressError("a mothership behind ssh is asked through the near end of its tunnel")
            server = named
        return cls(
            scope=Scope.named(told.get("scope")),
            server=server,
            token=own_token if server is own else Token(wire.raw(told.get("token"))),
            silence=wire.line(told.get("silence")),
            agent_env=_texts(told.get("agent_env") if server is own else None),
            catalogue_env=_texts(told["catalogue_env"]) if "catalogue_env" in told else None,
            where=wire.line(told.get("where")),
            approve=_approve(told.get("approve")),
            wait_s=wire.number(told.get("wait_s")) or 0.0,
            resources_of=EndpointName(wire.line(told.get("resources_of"))),
        )


def _texts(value: object) -> Mapping[str, str]:
    return {name: text for name, text in wire.mapping(value).items() if isinstance(text, str)}


def _approve(word: object) -> Approve:
    """The policy of that name; what cannot be read may have meant the strictest."""
    try:
        return Approve(str(word)) if word is not None else Approve.NEVER
    except ValueError:
        return Approve.ALL


@asynccontextmanager
async def asking(session: Session) -> AsyncGenerator[Mothership]:
    """The session's mothership, over connections that last as long as this."""
    asker = _Asker(session)
    try:
        yield Mothership(asker, session.agent_env, asker.listen)
    finally:
        await asker.close()


class _Asker:
    def __init__(self, session: Session) -> None:
        self._session = session
        self._transport: Transport | None = None

    async def __call__(self, call: Call[T], /) -> T:
        try:
            return await (await self._connected()).run(call)
        except LinkError as problem:
            words = words_of(problem.__cause__ or problem)
            raise type(problem)(f"{self._session.silence}: {words}") from problem

    @asynccontextmanager
    async def listen(self, path: str) -> AsyncGenerator[Socket]:
        async with (await self._connected()).socket(path) as socket:
            yield socket

    async def close(self) -> None:
        if self._transport is not None:
            await self._transport.close()

    async def _connected(self) -> Transport:
        from colonizer_client.mothership.http import open_transport  # httpx is loaded by who asks something

        if self._transport is None:
            self._transport = await open_transport(self._session.server, self._session.token)
        return self._transport
