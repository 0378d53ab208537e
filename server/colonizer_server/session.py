"""What one client's session is: which mothership it asks, with which token, and how far its tools reach."""

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
    resources_of: EndpointName = EndpointName("")
    """The mothership's name in the URIs of its resources; empty where none are offered."""

    def to_header(self) -> str:
        """The session as it is told to the engine with each request; the engine's own mothership goes without token."""
        told: dict[str, object] = {"scope": self.scope.word, "silence": self.silence, "resources_of": self.resources_of}
        if isinstance(self.server, HttpAddress):
            told |= {"mothership": self.server.base_url, "token": self.token.reveal()}
        else:
            told["agent_env"] = dict(self.agent_env)
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
        scope, silence = Scope.named(told.get("scope")), wire.line(told.get("silence"))
        resources_of = EndpointName(wire.line(told.get("resources_of")))
        if "mothership" not in told:
            given = wire.mapping(told.get("agent_env"))
            values = {name: value for name, value in given.items() if isinstance(value, str)}
            return cls(scope, own, own_token, silence, values, resources_of)
        server = parse_address(wire.raw(told.get("mothership")))
        if isinstance(server, SshAddress):
            raise AddressError("a mothership behind ssh is asked through the near end of its tunnel")
        return cls(scope, server, Token(wire.raw(told.get("token"))), silence, resources_of=resources_of)


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
