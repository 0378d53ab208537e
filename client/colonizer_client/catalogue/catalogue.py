"""The tools of all servers as one caller sees them: looked through, found, and called."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import TYPE_CHECKING

from colonizer_client.catalogue.access import Reachable
from colonizer_client.catalogue.cards import ToolCard
from colonizer_client.catalogue.pool import Pool
from colonizer_client.catalogue.ranking import Ranking
from colonizer_client.catalogue.schemas import objection
from colonizer_client.errors import BadRequest, ClientError, NotOffered
from colonizer_client.identity import EndpointName
from colonizer_client.text import safe_line
from colonizer_config.endpoints import Endpoint
from colonizer_config.value import Value

if TYPE_CHECKING:
    from colonizer_client.catalogue.server import Heard

Result = Mapping[str, object]
"""A tool's result as it came, raw."""


class CatalogueCall(Value):
    """One call of a tool of another server, before it is made."""

    card: ToolCard
    arguments: Mapping[str, object]

    @property
    def endpoint(self) -> EndpointName:
        """The real endpoint."""
        return self.card.endpoint

    @property
    def tool(self) -> str:
        """What the server calls the tool, safe to show."""
        return self.card.tool

    @property
    def given(self) -> Mapping[str, object]:
        """What a person is shown of it, and what their word is bound to, beside endpoint and tool."""
        return {"arguments": self.arguments}

    @property
    def is_write(self) -> bool:
        """Whether it may change something."""
        return not self.card.is_read


Gate = Callable[[CatalogueCall, Callable[[], Awaitable[Result]]], Awaitable[Result]]
"""What every call goes through: it makes the call or refuses it, and yields the result."""


class Domain(Value):
    """One server, and what could be learnt of it now."""

    endpoint: Endpoint
    cards: tuple[ToolCard, ...] = ()
    problem: ClientError | None = None
    """Why its tools are not here."""

    def is_called(self, word: str) -> bool:
        """Whether a caller who says this means it: its name, its kind, or one of its tags."""
        return word in (self.endpoint.name, self.endpoint.kind.value, *self.endpoint.tags)


class Catalogue:
    """The catalogue of one caller. `servers` yields those that there are now."""

    def __init__(self, pool: Pool, servers: Callable[[], Sequence[Reachable]]) -> None:
        self._pool = pool
        self._servers = servers
        self._ranking = Ranking(())
        self._ranked: tuple[tuple[ToolCard, ...], ...] = ()

    async def domains(self, word: str | None = None) -> tuple[Domain, ...]:
        """Every server with its tools, or those that the word means; a dead one hides no other.

        Raises:
            NotOffered: The word means none.
        """
        servers = [one for one in self._servers() if word is None or Domain(one.endpoint).is_called(word)]
        if not servers and word is not None:
            known = ", ".join(one.endpoint.name for one in self._servers()) or "none"
            raise NotOffered(f"there is no domain {safe_line(word, limit=60)}; there are: {known}")
        return tuple(await asyncio.gather(*map(self._domain, servers)))

    def best(self, domains: Sequence[Domain], query: str, limit: int, *, writes: bool) -> tuple[ToolCard, ...]:
        """The cards of these domains that the words fit best; those that may change something only with `writes`."""
        listed = tuple(domain.cards for domain in domains)
        if len(listed) != len(self._ranked) or any(map(lambda a, b: a is not b, listed, self._ranked)):
            self._ranked, self._ranking = listed, Ranking([card for cards in listed for card in cards])
        return self._ranking.best(query, limit, lambda card: writes or card.is_read)

    async def card(self, name: str) -> ToolCard:
        """The tool of that name.

        Raises:
            NotOffered: There is none.
            ClientError: Its server cannot be asked.
        """
        endpoint, slash, tool = name.partition("/")
        server = next((one for one in self._servers() if one.endpoint.name == endpoint), None)
        if not slash or server is None:
            raise NotOffered(
                f"there is no tool {safe_line(name, limit=100)}: names are DOMAIN/TOOL, as search_tools says"
            )
        for card in await self._pool.server(server).tools():
            if card.tool == tool:
                return card
        raise NotOffered(f"{endpoint} has no tool {safe_line(tool, limit=100)}: look with search_tools")

    async def call(self, call: CatalogueCall, heard: "Heard", gate: Gate) -> Result:
        """The result of a call. Every call goes through here, and through the gate.

        Raises:
            NotOffered: The tool cannot be called.
            BadRequest: The arguments are not as its schema wants them.
            ClientError: What the gate or the server refuses.
        """
        card = call.card
        if card.fault:
            raise NotOffered(f"it cannot be called: {card.fault}")
        if words := objection(card.schema, call.arguments):
            raise BadRequest(f"the arguments do not fit: {words}")
        server = next(one for one in self._servers() if one.endpoint.name == call.endpoint)
        return await gate(call, lambda: self._pool.server(server).call(card, call.arguments, heard))

    async def _domain(self, server: Reachable) -> Domain:
        try:
            return Domain(server.endpoint, await self._pool.server(server).tools())
        except ClientError as problem:
            return Domain(server.endpoint, problem=problem)
